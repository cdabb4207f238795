subroutine daxpy(n, alpha, x, y)
  implicit none
  integer, intent(in) :: n
  double precision, intent(in) :: alpha, x(n)
  double precision, intent(inout) :: y(n)
  integer :: i
  do i = 1, n
     y(i) = y(i) + alpha * x(i)
  end do
end subroutine daxpy

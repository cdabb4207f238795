! The BLAS routine axpy in Fortran.
subroutine axpy(n, alpha, x, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: alpha, x(n)
  real(8), intent(inout) :: y(n)
  integer :: i
  do i = 1, n
    y(i) = y(i) + alpha * x(i)
  end do
end subroutine

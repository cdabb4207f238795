module linear
contains
  subroutine axpy(n, a, x, y)
    integer, intent(in) :: n
    real(8), intent(in) :: a, x(n)
    real(8), intent(inout) :: y(n)
    integer :: i
    do i = 1, n
      y(i) = y(i) + a * x(i)
    end do
  end subroutine
  subroutine solve(n, x, y)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n), y(n)
    call axpy(n, 2d0, x, y)
  end subroutine
end module

! Add alpha x y' to a matrix.
subroutine rank1(m, n, alpha, x, y, a) bind(c)
  use iso_c_binding
  integer(c_int), value :: m, n
  real(c_double), value :: alpha
  real(c_double), intent(in) :: x(m), y(n)
  real(c_double), intent(in out) :: a(m, n)
  integer :: i, j
  do j = 1, n
    do i = 1, m
      a(i, j) = a(i, j) + alpha * x(i) * y(j)
    end do
  end do
end subroutine

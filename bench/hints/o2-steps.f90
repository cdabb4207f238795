! rule: scalar-arithmetic
! options: -O2
! data: int int int
subroutine steps(a, b, c, n) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  integer(c_int) :: a(n), b(n), c(n)
  integer(c_long) :: i
  do i = 1, n - 1
    c(i) = a(i + 1) - a(i) + 4 * b(i)
  end do
end subroutine

! rule: extremum-chain
function largest(a, b, c, n) result(m) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  real(c_double) :: a(n), b(n), c(n), m
  integer(c_long) :: i
  m = a(1)
  do i = 2, n
    m = max(m, a(i))
  end do
end function

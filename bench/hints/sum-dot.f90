! rule: sum-chain
function dot(a, b, c, n) result(total) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  real(c_double) :: a(n), b(n), c(n), total
  integer(c_long) :: i
  total = 0
  do i = 1, n
    total = total + a(i) * b(i)
  end do
end function

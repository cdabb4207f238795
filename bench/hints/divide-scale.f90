! rule: invariant-divisor
subroutine scale(a, b, c, n, s) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  real(c_double), value :: s
  real(c_double) :: a(n), b(n), c(n)
  c = a / s
end subroutine

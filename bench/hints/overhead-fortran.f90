! rule: loop-overhead
subroutine add(a, b, c, n) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  real(c_double) :: a(n), b(n), c(n)
  c = a + b
end subroutine

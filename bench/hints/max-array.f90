! rule: extremum-chain
! options: -O3 -cpp
function largest(a, b, c, n) result(m) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  real(c_double) :: a(n), b(n), c(n), m
  integer(c_long) :: i
#ifdef CHANGED
  real(c_double) :: parts(16)
  parts = a(1:16)
  do i = 17, n, 16
    parts = max(parts, a(i : i + 15))
  end do
  m = maxval(parts)
#else
  m = a(1)
  do i = 2, n
    m = max(m, a(i))
  end do
#endif
end function

! rule: loop-overhead
! march: haswell
! mcpu: haswell
! options: -O2 -fno-tree-vectorize
! data: long long long
subroutine flags(a, b, c, n) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  integer(c_long) :: a(n), b(n), c(n), both, some
  integer(c_long) :: i
  both = 0
  some = 0
  do i = 1, n
    both = ior(both, iand(a(i), b(i)))
    some = ieor(some, a(i))
    c(i) = iand(a(i), b(i))
  end do
  c(1) = both + some
end subroutine

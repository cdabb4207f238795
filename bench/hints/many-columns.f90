! rule: many-arrays
! options: -O3 -cpp
subroutine relax(f, m)
  use iso_c_binding
  integer(c_long), value :: m
  real(c_double) :: f(m, 0:6), rho, u, v
  integer(c_long) :: i
#ifdef CHANGED
!GCC$ ivdep
#endif
  do i = 1, m
    rho = f(i,0) + f(i,1) + f(i,2) + f(i,3) + f(i,4) + f(i,5) + f(i,6)
    u = f(i,1) - f(i,2)
    v = f(i,3) - f(i,4)
    f(i,0) = 0.5d0 * f(i,0) + 0.2d0 * rho
    f(i,1) = 0.5d0 * f(i,1) + 0.05d0 * (rho + u)
    f(i,2) = 0.5d0 * f(i,2) + 0.05d0 * (rho - u)
    f(i,3) = 0.5d0 * f(i,3) + 0.05d0 * (rho + v)
    f(i,4) = 0.5d0 * f(i,4) + 0.05d0 * (rho - v)
    f(i,5) = 0.5d0 * f(i,5) + 0.05d0 * rho
    f(i,6) = 0.5d0 * f(i,6) + 0.05d0 * rho
  end do
end subroutine

subroutine kernel(a, b, c, n) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  real(c_double) :: a(n), b(n), c(n)
  interface
    subroutine relax(f, m)
      use iso_c_binding
      integer(c_long), value :: m
      real(c_double) :: f(m, 0:6)
    end subroutine
  end interface
  call relax(a, n / 7)
end subroutine

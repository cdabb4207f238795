! The red-black sweep of sweep.c in Fortran. With split = .true., the coefficients of the red cells are in a matrix of
! their own, one after the other.
module cells
  implicit none
  integer, parameter :: nx = 256, ny = 128, nz = 64, number = nx * ny * nz
  logical, parameter :: split = .false.
  double precision :: phi(number), su(number), residual
  double precision, allocatable :: am(:, :)
  integer :: red(number / 2), own(number / 2), reds
contains
  subroutine sweep()
    integer :: i, c, m
    double precision :: h, change, total
    total = 0
    do i = 1, reds
      c = red(i)
      m = c
      if (split) m = own(i)
      h = am(m, 1) * phi(c + 1) + am(m, 2) * phi(c - 1) + am(m, 3) * phi(c + nx) + am(m, 4) * phi(c - nx) &
        + am(m, 5) * phi(c + nx * ny) + am(m, 6) * phi(c - nx * ny) + su(c)
      change = 0.9d0 * (h / am(m, 7) - phi(c))
      phi(c) = phi(c) + change
      total = total + abs(change)
    end do
    residual = total
  end subroutine sweep
end module cells

program red_black
  use cells
  implicit none
  integer :: x, y, z, repeat
  allocate (am(number, 7))
  am = 1
  am(:, 7) = 6
  phi = 0
  su = 0
  reds = 0
  do z = 1, nz - 2
    do y = 1, ny - 2
      do x = 1 + mod(y + z, 2), nx - 2, 2
        reds = reds + 1
        red(reds) = (z * ny + y) * nx + x + 1
        own(reds) = reds
      end do
    end do
  end do
  phi(red(reds / 2)) = 1
  do repeat = 1, 20
    call sweep()
  end do
  print *, residual
end program red_black

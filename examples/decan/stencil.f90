! The product of stencil.c in Fortran. The arrays of a common block lie one after the other; pad > 0 puts 64 bytes more
! between them for each of its units.
module grid
  implicit none
  integer, parameter :: n = 64, pad = 0, size = n * n * n + 8 * pad
  double precision :: result(size), temp(size), acx(size), acy(size), acz(size), coeffd(size)
  common /arrays/ result, temp, acx, acy, acz, coeffd
contains
  subroutine product()
    integer :: i, j, k, row
    do k = 1, n - 2
      do j = 1, n - 2
        row = (k * n + j) * n + 1
        do i = row + 1, row + n - 2
          result(i) = temp(i) - (acx(i - 1) * temp(i - 1) + acx(i) * temp(i + 1) &
            + acy(i - n) * temp(i - n) + acy(i) * temp(i + n) &
            + acz(i - n * n) * temp(i - n * n) + acz(i) * temp(i + n * n)) / coeffd(i)
        end do
      end do
    end do
  end subroutine product
end module grid

program stencil
  use grid
  implicit none
  integer :: repeat
  temp = 1
  acx = 1
  acy = 1
  acz = 1
  coeffd = 8
  do repeat = 1, 100
    call product()
  end do
  print *, result(size / 2)
end program stencil

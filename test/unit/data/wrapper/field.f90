module field
  implicit none
  integer, parameter :: wp = kind(1.0d0)
  type :: grid
     real(wp), allocatable :: values(:, :)
  end type grid
contains
  pure real(wp) function mean(g)
    type(grid), intent(in) :: g
    mean = sum(g%values) / max(1, size(g%values))
  end function mean
end module field

subroutine smooth(g)
  use field, only: grid, wp
  implicit none
  type(grid), intent(inout) :: g
  integer :: i, j
  do j = 2, size(g%values, 2) - 1
     do i = 2, size(g%values, 1) - 1
        g%values(i, j) = 0.5_wp * (g%values(i - 1, j) + g%values(i + 1, j))
     end do
  end do
end subroutine smooth

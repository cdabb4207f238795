#define STEP 2
subroutine prefix(a, n)
  implicit none
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i
  do i = STEP, n
     a(i) = a(i) + a(i - 1)
  end do
end subroutine prefix

! rule: repeated-place
! options: -O2 -cpp
! data: sorted int int
subroutine totals(group, amount, total, n) bind(c, name="kernel")
  use iso_c_binding
  integer(c_long), value :: n
  integer(c_int) :: group(n), amount(n), total(0:63, 4)
  integer(c_long) :: i
#ifdef CHANGED
  do i = 1, n - 3, 4
    total(group(i) / 32, 1) = total(group(i) / 32, 1) + amount(i)
    total(group(i + 1) / 32, 2) = total(group(i + 1) / 32, 2) + amount(i + 1)
    total(group(i + 2) / 32, 3) = total(group(i + 2) / 32, 3) + amount(i + 2)
    total(group(i + 3) / 32, 4) = total(group(i + 3) / 32, 4) + amount(i + 3)
  end do
  total(:, 1) = total(:, 1) + total(:, 2) + total(:, 3) + total(:, 4)
#else
  do i = 1, n
    total(group(i) / 32, 1) = total(group(i) / 32, 1) + amount(i)
  end do
#endif
end subroutine

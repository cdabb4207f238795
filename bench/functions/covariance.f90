! Return the covariance of two samples with known means.
function covariance(n, x, y, mean_x, mean_y) result(value) bind(c)
  use iso_c_binding
  integer(c_int), value :: n
  real(c_double), intent(in) :: x(n), y(n)
  real(c_double), value :: mean_x, mean_y
  real(c_double) :: value
  value = sum((x - mean_x) * (y - mean_y)) / (n - 1)
end function

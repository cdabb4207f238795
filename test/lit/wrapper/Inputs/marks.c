double dot(const double *a, const double *b, long n) {
  double sum = 0;
  // incc: analyze name(inner) expect(cycles_per_element <= 2.5) expect(cycles < 1000)
  for (long i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}
void clear(double *a, long n) {
  for (long i = 0; i < n; ++i) // incc: analyze expect(cycels < 3)
    a[i] = 0;
}
void scale(double *restrict a, const double *b, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = 2 * b[i];
}

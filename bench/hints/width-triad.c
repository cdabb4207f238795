// rule: vector-width
void kernel(const double *a, const double *b, double *restrict c, long n, double s) {
  for (long i = 0; i < n; ++i)
    c[i] = a[i] + s * b[i];
}

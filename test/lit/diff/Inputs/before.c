void triad(double *restrict a, const double *restrict b, const double *restrict c, double x, long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + x * c[i];
}

double sum(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; i++)
    s += a[i];
  return s;
}

void square(float *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] = a[i] * a[i];
}

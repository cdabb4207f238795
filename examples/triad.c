// The STREAM triad: two loads, one fused multiply-add and one store per element.
void triad(double *restrict a, const double *restrict b, const double *restrict c, double s, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = b[i] + s * c[i];
}

// A first-order recurrence: each element waits for the one before.
void recurrence(double *restrict a, const double *restrict b, double s, long n) {
  for (long i = 1; i < n; ++i)
    a[i] = b[i] + s * a[i - 1];
}

// rule: invariant-divisor
void kernel(const double *a, const double *b, double *restrict c, long n, double s) {
#ifdef CHANGED
  double r = 1 / s;
  for (long i = 0; i < n; ++i)
    c[i] = a[i] * r;
#else
  for (long i = 0; i < n; ++i)
    c[i] = a[i] / s;
#endif
}

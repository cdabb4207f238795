// rule: invariant-divisor
void kernel(const double *a, double *b, double *c, long n, double s) {
#ifdef CHANGED
  double r = 1 / s;
  for (long i = 0; i < n; ++i)
    c[i] = a[i] * r + b[i] * r * b[i];
#else
  for (long i = 0; i < n; ++i)
    c[i] = a[i] / s + b[i] / s * b[i];
#endif
}

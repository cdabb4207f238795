// rule: strided
// data: double double double
void kernel(const double *a, const double *b, double *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i < n; ++i)
    c[i] = a[i] * a[i] + b[i] * b[i];
#else
  for (long i = 0; i < n; ++i)
    c[i] = a[2 * i] * a[2 * i] + a[2 * i + 1] * a[2 * i + 1];
#endif
}

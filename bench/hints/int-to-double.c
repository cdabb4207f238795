// rule: conversions
// data: int double double
void kernel(const int *a, const double *b, double *restrict c, long n) {
#ifdef CHANGED
  const double *x = b;
#else
  const int *x = a;
#endif
  for (long i = 0; i < n; ++i)
    c[i] = x[i] * b[i];
}

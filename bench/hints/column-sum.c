// rule: strided
// options: -O3 -ffast-math
void kernel(const double *a, const double *b, double *restrict c, long n) {
#ifdef CHANGED
  for (long j = 0; j < 32; ++j)
    c[j] = 0;
  for (long i = 0; i < 32; ++i)
    for (long j = 0; j < 32; ++j)
      c[j] += a[32 * i + j];
#else
  for (long j = 0; j < 32; ++j) {
    double sum = 0;
    for (long i = 0; i < 32; ++i)
      sum += a[32 * i + j];
    c[j] = sum;
  }
#endif
}

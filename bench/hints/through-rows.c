// rule: stored-accumulator
// options: -O3 -ffast-math
// n: 1024
void kernel(const double *a, const double *b, double *c, long n) {
  for (long i = 0; i < 32; ++i)
#ifdef CHANGED
  {
    double sum = c[i];
    for (long j = 0; j < 32; ++j)
      sum += a[32 * i + j] * b[j];
    c[i] = sum;
  }
#else
    for (long j = 0; j < 32; ++j)
      c[i] += a[32 * i + j] * b[j];
#endif
}

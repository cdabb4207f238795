// rule: register-blocking
// n: 1024
__attribute__((noinline)) static void add(const double *restrict a, const double *restrict f, double *restrict y, long rows, long n) {
#ifdef CHANGED
  for (long i = 0; i < rows; i += 4)
    for (long j = 0; j < n; ++j)
      y[j] += f[i] * a[i * n + j] + f[i + 1] * a[(i + 1) * n + j] + f[i + 2] * a[(i + 2) * n + j] + f[i + 3] * a[(i + 3) * n + j];
#else
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < n; ++j)
      y[j] += f[i] * a[i * n + j];
#endif
}
void kernel(const double *a, const double *b, double *c, long n) { add(a, b, c, n >> 7, n >> 3); }

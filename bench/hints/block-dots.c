// rule: register-blocking
// options: -O3
// n: 2048
__attribute__((noinline)) static void multiply(const double *restrict a, const double *restrict x, double *restrict y, long rows, long n) {
#ifdef CHANGED
  for (long i = 0; i < rows; i += 4) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (long j = 0; j < n; ++j) {
      s0 += a[i * n + j] * x[j];
      s1 += a[(i + 1) * n + j] * x[j];
      s2 += a[(i + 2) * n + j] * x[j];
      s3 += a[(i + 3) * n + j] * x[j];
    }
    y[i] = s0, y[i + 1] = s1, y[i + 2] = s2, y[i + 3] = s3;
  }
#else
  for (long i = 0; i < rows; ++i) {
    double s = 0;
    for (long j = 0; j < n; ++j)
      s += a[i * n + j] * x[j];
    y[i] = s;
  }
#endif
}
void kernel(const double *a, const double *b, double *c, long n) { multiply(a, b, c, n >> 7, n >> 4); }

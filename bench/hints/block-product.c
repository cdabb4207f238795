// rule: register-blocking
// n: 32768
__attribute__((noinline)) static void product(const double *restrict a, const double *restrict b, double *restrict c, long n) {
  for (long i = 0; i < n; ++i)
#ifdef CHANGED
    for (long k = 0; k < n; k += 4) {
      double a0 = a[i * n + k], a1 = a[i * n + k + 1], a2 = a[i * n + k + 2], a3 = a[i * n + k + 3];
      for (long j = 0; j < n; ++j)
        c[i * n + j] += a0 * b[k * n + j] + a1 * b[(k + 1) * n + j] + a2 * b[(k + 2) * n + j] + a3 * b[(k + 3) * n + j];
    }
#else
    for (long k = 0; k < n; ++k)
      for (long j = 0; j < n; ++j)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
#endif
}
void kernel(const double *a, const double *b, double *c, long n) { product(a, b, c, n >> 10); }

// rule: failing-check
// n: 262144
__attribute__((noinline)) static void jordan(double *a, long n) {
  for (long k = 0; k < n; ++k)
    for (long i = 0; i < n; ++i) {
      if (i == k)
        continue;
#ifdef CHANGED
      double x = a[i * n + k];
#else
#define x a[i * n + k]
#endif
#if defined CHANGED && defined __clang__
#pragma clang loop vectorize(assume_safety)
#endif
      for (long j = 0; j < n; ++j)
        a[i * n + j] -= 1e-9 * x * a[k * n + j];
    }
}

void kernel(double *a, const double *b, double *c, long n) { jordan(a, n >> 12); }

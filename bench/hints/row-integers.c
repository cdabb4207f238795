// rule: failing-check
// data: int int int
// n: 262144
__attribute__((noinline)) static void integers(int *d, int n) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i) {
#ifdef CHANGED
      int x = d[i * n + k];
#endif
#if defined CHANGED && defined __clang__
#pragma clang loop vectorize(assume_safety)
#endif
      for (int j = 0; j < n; ++j) {
#ifdef CHANGED
        int t = x + d[k * n + j];
#else
        int t = d[i * n + k] + d[k * n + j];
#endif
        d[i * n + j] = t < d[i * n + j] ? t : d[i * n + j];
      }
    }
}

void kernel(int *a, const double *b, double *c, long n) { integers(a, n >> 12); }

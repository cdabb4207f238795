// rule: failing-check
// n: 262144
__attribute__((noinline)) static void paths(double *d, long n) {
  for (long k = 0; k < n; ++k)
    for (long i = 0; i < n; ++i) {
#ifdef CHANGED
      double x = d[i * n + k];
#endif
#if defined CHANGED && defined __clang__
#pragma clang loop vectorize(assume_safety)
#endif
      for (long j = 0; j < n; ++j) {
#ifdef CHANGED
        double t = x + d[k * n + j];
#else
        double t = d[i * n + k] + d[k * n + j];
#endif
        if (t < d[i * n + j])
          d[i * n + j] = t;
      }
    }
}

void kernel(double *a, const double *b, double *c, long n) { paths(a, n >> 12); }

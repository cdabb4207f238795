// rule: short-trips
// trip: inner=27,outer=76
// n: 2048
__attribute__((noinline)) static void scale(double *restrict y, const double *restrict x, long rows, long columns) {
  for (long i = 0; i < rows; ++i) {
#if defined CHANGED && defined __clang__
#pragma clang loop interleave(disable)
#endif
    for (long j = 0; j < columns; ++j)
      y[i * columns + j] = 2 * x[i * columns + j];
  }
}

void kernel(const double *a, const double *b, double *c, long n) { scale(c, a, n / 27, (n >> 11) * 27); }

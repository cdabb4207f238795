// rule: short-trips
// trip: inner=13,outer=157
// options: -O3 -ffast-math
// n: 2048
__attribute__((noinline)) static void dots(double *restrict y, const double *restrict x, const double *restrict z,
                                           long rows, long columns) {
  for (long i = 0; i < rows; ++i) {
    double sum = 0;
#if defined CHANGED && defined __clang__
#pragma clang loop interleave(disable)
#endif
    for (long j = 0; j < columns; ++j)
      sum += z[j] * x[i * columns + j];
    y[i] = sum;
  }
}

void kernel(const double *a, const double *b, double *c, long n) { dots(c, a, b, n / 13, (n >> 11) * 13); }

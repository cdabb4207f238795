// rule: short-trips
// trip: inner=21,outer=97
// data: float float float
// n: 2048
__attribute__((noinline)) static void add(float *restrict y, const float *restrict x, float s, long rows, long columns) {
  for (long i = 0; i < rows; ++i) {
#if defined CHANGED && defined __clang__
#pragma clang loop interleave(disable)
#endif
    for (long j = 0; j < columns; ++j)
      y[i * columns + j] += s * x[i * columns + j];
  }
}

void kernel(const float *a, const float *b, float *c, long n, double s) { add(c, a, s, n / 21, (n >> 11) * 21); }

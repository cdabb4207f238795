// rule: register-blocking
// options: -O3 -ffast-math
// data: float float float
// n: 32768
__attribute__((noinline)) static void filter(const float *restrict x, const float *restrict w, float *restrict y, long n, long taps) {
#ifdef CHANGED
  for (long i = 0; i < n; i += 4) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (long j = 0; j < taps; ++j) {
      s0 += w[j] * x[i + j];
      s1 += w[j] * x[i + 1 + j];
      s2 += w[j] * x[i + 2 + j];
      s3 += w[j] * x[i + 3 + j];
    }
    y[i] = s0, y[i + 1] = s1, y[i + 2] = s2, y[i + 3] = s3;
  }
#else
  for (long i = 0; i < n; ++i) {
    float s = 0;
    for (long j = 0; j < taps; ++j)
      s += w[j] * x[i + j];
    y[i] = s;
  }
#endif
}
void kernel(const float *a, const float *b, float *c, long n) { filter(a, b, c, n >> 8, n >> 7); }

// rule: memory-chain
// data: float float float
void kernel(const float *a, float *b, float *c, long n) {
#ifdef CHANGED
  float low = b[0], high = c[0];
  for (long i = 1; i < n; ++i) {
    b[i] = low = 0.5f * low + a[i];
    c[i] = high = 0.25f * high - a[i];
  }
#else
  for (long i = 1; i < n; ++i) {
    b[i] = 0.5f * b[i - 1] + a[i];
    c[i] = 0.25f * c[i - 1] - a[i];
  }
#endif
}

// rule: memory-chain
// options: -O2
// data: float float float
void kernel(const float *a, const float *b, float *c, long n, double s) {
  float k = b[0] * 0.1f;
#ifdef CHANGED
  float last = c[0];
  for (long i = 1; i < n; ++i) {
    last = k * last + a[i];
    c[i] = last;
  }
#else
  for (long i = 1; i < n; ++i)
    c[i] = k * c[i - 1] + a[i];
#endif
}

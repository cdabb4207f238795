// rule: conversions
// n: 2048
// data: float float float
void kernel(const float *a, const float *b, float *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i < n; ++i)
    c[i] = 0.3f * a[i] + 1.1f * b[i];
#else
  for (long i = 0; i < n; ++i)
    c[i] = 0.3 * a[i] + 1.1 * b[i];
#endif
}

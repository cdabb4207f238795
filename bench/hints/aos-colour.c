// rule: strided
// data: float float float
void kernel(const float *a, const float *b, float *restrict c, long n) {
#ifdef CHANGED
  for (long i = 0; i < n; ++i)
    c[i] = 0.3f * a[i] + 0.6f * a[n + 40 + i] + 0.1f * a[2 * n + 80 + i];
#else
  for (long i = 0; i < n; ++i)
    c[i] = 0.3f * a[4 * i] + 0.6f * a[4 * i + 1] + 0.1f * a[4 * i + 2];
#endif
}

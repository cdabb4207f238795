// rule: gather
// data: float index float
void kernel(const float *a, const int *b, float *restrict c, long n) {
#ifdef CHANGED /* a: what the indices choose, copied before the first of many calls */
  for (long i = 0; i < n; ++i)
    c[i] += a[i] * c[n + i];
#else
  for (long i = 0; i < n; ++i)
    c[i] += a[b[i] & 63] * c[n + i];
#endif
}

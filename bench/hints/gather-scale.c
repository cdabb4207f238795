// rule: gather
// data: float index float
void kernel(const float *a, const int *b, float *restrict c, long n) {
#ifdef CHANGED /* a: what the indices choose, copied before the first of many calls */
  for (long i = 0; i < n; ++i)
    c[i] = 2 * a[i];
#else
  for (long i = 0; i < n; ++i)
    c[i] = 2 * a[b[i]];
#endif
}

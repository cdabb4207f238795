// rule: invariant-divisor
// n: 2048
// data: float float float
void kernel(const float *a, const float *b, float *restrict c, long n) {
  float h = b[0];
#ifdef CHANGED
  float r = 1 / h;
  for (long i = 0; i < n - 1; ++i)
    c[i] = (a[i + 1] - a[i]) * r;
#else
  for (long i = 0; i < n - 1; ++i)
    c[i] = (a[i + 1] - a[i]) / h;
#endif
}

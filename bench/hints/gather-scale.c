// rule: gather
// data: float index float
void kernel(const float *a, const int *b, float *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = 2 * a[b[i]];
}

// rule: vector-width
// n: 2048
// data: float float float
void kernel(const float *a, const float *b, float *restrict c, long n) {
  for (long i = 0; i < n; ++i) {
    float x = a[i];
    c[i] = ((((x * 0.5f + 0.25f) * x + 0.125f) * x + 1.0f) * x + 0.75f) * x + b[i];
  }
}

// rule: instruction-set
// march:
// n: 2048
// data: float float float
void kernel(const float *a, const float *b, float *c, int n) {
  for (int i = 0; i < n; ++i)
    c[i] = ((a[i] * 0.5f + 0.25f) * a[i] + 0.125f) * a[i] + 1.0f;
}

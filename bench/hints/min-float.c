// rule: extremum-chain
// n: 2048
// data: float float float
float kernel(const float *a, const float *b, float *c, long n) {
  float m = 1e30f;
  for (long i = 0; i < n; ++i)
    if (a[i] < m)
      m = a[i];
  return m;
}

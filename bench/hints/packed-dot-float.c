// rule: sum-chain-packed
// options: -O3 -ffast-math
// n: 2048
// data: float float float
float kernel(const float *a, const float *b, float *c, long n) {
  float sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

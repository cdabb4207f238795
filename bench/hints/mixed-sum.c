// rule: conversions
// options: -O3 -ffast-math
// n: 2048
// data: float float float
float kernel(const float *a, const float *b, float *c, long n) {
#ifdef CHANGED
  float sum = 0;
#else
  double sum = 0;
#endif
  for (long i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return (float)sum;
}

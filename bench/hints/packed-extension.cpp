// rule: sum-chain-packed
// n: 2048
// data: float float float
typedef float vector __attribute__((vector_size(32)));
extern "C" float kernel(const float *a, const float *b, float *c, long n) {
  const vector *x = reinterpret_cast<const vector *>(a), *y = reinterpret_cast<const vector *>(b);
#ifdef CHANGED
  vector s0{}, s1{}, s2{}, s3{};
  for (long i = 0; i < n / 8; i += 4) {
    s0 += x[i] * y[i];
    s1 += x[i + 1] * y[i + 1];
    s2 += x[i + 2] * y[i + 2];
    s3 += x[i + 3] * y[i + 3];
  }
  vector sum = (s0 + s1) + (s2 + s3);
#else
  vector sum{};
  for (long i = 0; i < n / 8; ++i)
    sum += x[i] * y[i];
#endif
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

// rule: stored-accumulator
// data: float float float
// options: -O3 -fno-math-errno
struct result {
  float dot;
};
void kernel(const float *a, const float *b, struct result *c, long n) {
#ifdef CHANGED
  float sums[4] = {c->dot, 0, 0, 0};
  for (long i = 0; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k)
      sums[k] += a[i + k] * b[i + k];
  c->dot = sums[0] + sums[1] + sums[2] + sums[3];
#else
  for (long i = 0; i < n; ++i)
    c->dot += a[i] * b[i];
#endif
}

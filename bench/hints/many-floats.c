// rule: many-arrays
// data: float float float
#ifdef CHANGED
#define RESTRICT restrict
#else
#define RESTRICT
#endif
__attribute__((noinline)) static void combine(float *RESTRICT a, float *RESTRICT b, float *RESTRICT c,
                                              const float *RESTRICT u, const float *RESTRICT v,
                                              const float *RESTRICT w, long n) {
  for (long i = 0; i < n; ++i) {
    a[i] = u[i] + v[i];
    b[i] = v[i] - w[i];
    c[i] = w[i] * u[i];
  }
}

void kernel(float *a, float *b, float *c, long n) {
  n /= 2;
  combine(a, b, c, a + n + 40, b + n + 40, c + n + 40, n);
}

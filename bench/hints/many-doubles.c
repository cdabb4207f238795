// rule: many-arrays
#ifdef CHANGED
#define RESTRICT restrict
#else
#define RESTRICT
#endif
__attribute__((noinline)) static void combine(double *RESTRICT a, double *RESTRICT b, double *RESTRICT c,
                                              const double *RESTRICT u, const double *RESTRICT v,
                                              const double *RESTRICT w, long n) {
  for (long i = 0; i < n; ++i) {
    a[i] = u[i] + v[i];
    b[i] = v[i] - w[i];
    c[i] = w[i] * u[i];
  }
}

void kernel(double *a, double *b, double *c, long n) {
  n /= 2;
  combine(a, b, c, a + n + 40, b + n + 40, c + n + 40, n);
}

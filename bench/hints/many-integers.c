// rule: many-arrays
// data: int int int
#ifdef CHANGED
#define RESTRICT restrict
#else
#define RESTRICT
#endif
__attribute__((noinline)) static void combine(int *RESTRICT a, int *RESTRICT b, int *RESTRICT c,
                                              const int *RESTRICT u, const int *RESTRICT v,
                                              const int *RESTRICT w, long n) {
  for (long i = 0; i < n; ++i) {
    a[i] = u[i] + v[i];
    b[i] = v[i] - w[i];
    c[i] = w[i] ^ u[i];
  }
}

void kernel(int *a, int *b, int *c, long n) {
  n /= 2;
  combine(a, b, c, a + n + 40, b + n + 40, c + n + 40, n);
}

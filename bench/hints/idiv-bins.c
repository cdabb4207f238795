// rule: integer-division
// n: 2048
// data: int int int
void kernel(const unsigned *a, const unsigned *b, unsigned *restrict c, long n) {
  unsigned d = b[7];
#ifdef CHANGED
  double divisor = d;
  for (long i = 0; i < n; ++i)
    c[i] = a[i] - (unsigned)(a[i] / divisor) * d;
#else
  for (long i = 0; i < n; ++i)
    c[i] = a[i] % d;
#endif
}

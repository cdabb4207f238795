// rule: integer-division
// n: 2048
// data: int int int
void kernel(const int *a, const int *b, int *restrict c, long n) {
  int d = b[5];
#ifdef CHANGED
  double divisor = d;
  for (long i = 0; i < n; ++i)
    c[i] = (int)(a[i] / divisor);
#else
  for (long i = 0; i < n; ++i)
    c[i] = a[i] / d;
#endif
}

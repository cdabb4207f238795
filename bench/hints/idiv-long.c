// rule: integer-division
// data: long long long
void kernel(const long *a, const long *b, long *restrict c, long n) {
  long d = b[5];
#ifdef CHANGED
  double divisor = d;
  for (long i = 0; i < n; ++i)
    c[i] = (int)((int)a[i] / divisor);
#else
  for (long i = 0; i < n; ++i)
    c[i] = a[i] / d;
#endif
}

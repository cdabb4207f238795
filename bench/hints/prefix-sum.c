// rule: memory-chain
// options: -O2
void kernel(double *a, const double *b, double *c, long n) {
#ifdef CHANGED
  double last = c[0];
  for (long i = 1; i < n; ++i) {
    last += a[i];
    c[i] = last;
  }
#else
  for (long i = 1; i < n; ++i)
    c[i] = c[i - 1] + a[i];
#endif
}

// rule: memory-chain
// options: -O2
void kernel(const double *a, double *b, double *c, long n) {
#ifdef CHANGED
  double sum = *b, squares = *c;
  for (long i = 1; i < n; ++i) {
    sum += a[i];
    squares += a[i] * a[i];
  }
  *b = sum;
  *c = squares;
#else
  for (long i = 1; i < n; ++i) {
    *b += a[i];
    *c += a[i] * a[i];
  }
#endif
}

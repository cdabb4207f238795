// rule: sum-chain
// options: -O3
// data: double double double
double kernel(const double *a, const double *b, double *c, long n) {
  double product = 1;
#ifdef CHANGED
  double p = 1, q = 1, r = 1;
  for (long i = 0; i + 3 < n; i += 4) {
    product *= a[i];
    p *= a[i + 1];
    q *= a[i + 2];
    r *= a[i + 3];
  }
  product = product * p * q * r;
#else
  for (long i = 0; i < n; ++i)
    product *= a[i];
#endif
  return product;
}

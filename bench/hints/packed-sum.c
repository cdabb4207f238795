// rule: sum-chain-packed
// options: -O3 -ffast-math
double kernel(const double *a, const double *b, double *c, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[i];
  return sum;
}

// rule: sum-chain
double kernel(const double *a, const double *b, double *c, int n) {
  double sum = 1;
  for (int i = 0; i < n; ++i) {
    double d = a[i] - b[i];
    sum += d * d;
  }
  return sum;
}

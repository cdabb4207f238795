// rule: gather
// options: -O3 -ffast-math
// data: double index double
double kernel(const double *a, const int *b, double *c, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[b[i]];
  return sum;
}

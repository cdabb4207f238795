// rule: prefetch
// options: -O2
// memory: 134217728
// n: 16777216
// data: double anywhere double
double kernel(const double *a, const int *b, double *c, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i) {
#ifdef CHANGED
    __builtin_prefetch(&a[b[i + 64]]);
#endif
    double x = a[b[i]];
    sum += ((0.3 * x + 0.4) * x + 0.5) / (1 + x);
  }
  return sum;
}

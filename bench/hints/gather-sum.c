// rule: gather
// options: -O3 -ffast-math
// data: double index double
double kernel(const double *a, const int *b, double *c, long n) {
  double sum = 0;
#ifdef CHANGED /* c: what the indices choose, copied before the first of many calls */
  for (long i = 0; i < n; ++i)
    sum += c[i];
#else
  for (long i = 0; i < n; ++i)
    sum += a[b[i]];
#endif
  return sum;
}

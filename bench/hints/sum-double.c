// rule: sum-chain
double kernel(const double *a, const double *b, double *c, long n) {
#ifdef CHANGED
  double sums[4] = {0, 0, 0, 0};
  long i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k)
      sums[k] += a[i + k];
  double sum = sums[0] + sums[1] + sums[2] + sums[3];
  for (; i < n; ++i)
    sum += a[i];
  return sum;
#else
  double sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[i];
  return sum;
#endif
}

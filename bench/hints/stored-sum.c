// rule: stored-accumulator
void kernel(const double *a, const double *b, double *c, long n) {
#ifdef CHANGED
  double sums[4] = {*c, 0, 0, 0};
  for (long i = 0; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k)
      sums[k] += a[i + k];
  *c = sums[0] + sums[1] + sums[2] + sums[3];
#else
  for (long i = 0; i < n; ++i)
    *c += a[i];
#endif
}

// rule: stored-accumulator
// options: -O3 -ffast-math
void kernel(const double *a, const double *b, double *c, long n) {
#ifdef CHANGED
  double sum = *c;
  for (long i = 0; i < n; ++i)
    sum += a[i];
  *c = sum;
#else
  for (long i = 0; i < n; ++i)
    *c += a[i];
#endif
}

// rule: extremum-chain
double kernel(const double *a, const double *b, double *c, long n) {
#ifdef CHANGED
  double most[4] = {a[0], a[0], a[0], a[0]};
  long i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k)
      most[k] = a[i + k] > most[k] ? a[i + k] : most[k];
  double m = most[0];
  for (int k = 1; k < 4; ++k)
    m = most[k] > m ? most[k] : m;
  for (; i < n; ++i)
    m = a[i] > m ? a[i] : m;
  return m;
#else
  double m = a[0];
  for (long i = 1; i < n; ++i)
    m = a[i] > m ? a[i] : m;
  return m;
#endif
}

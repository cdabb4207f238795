// rule: recurrence
// options: -O3
// data: double double double
void kernel(const double *a, const double *b, double *restrict c, long n) {
  double x = b[0];
  long m = n / 4; // four polynomials
#ifdef CHANGED
  double r = 0, s = 0, t = 0, u = 0;
  for (long i = 0; i < m; ++i) {
    r = r * x + a[i];
    s = s * x + a[m + i];
    t = t * x + a[2 * m + i];
    u = u * x + a[3 * m + i];
  }
  c[0] = r, c[1] = s, c[2] = t, c[3] = u;
#else
  for (long k = 0; k < 4; ++k) {
    double r = 0;
    for (long i = 0; i < m; ++i)
      r = r * x + a[k * m + i];
    c[k] = r;
  }
#endif
}

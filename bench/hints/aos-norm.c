// rule: strided
// data: double double double
struct point {
  double x, y, z;
};
void kernel(const double *a, const double *b, double *restrict c, long n) {
#ifdef CHANGED
  const double *x = a, *y = a + n, *z = a + 2 * n;
  for (long i = 0; i < n; ++i)
    c[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
#else
  const struct point *p = (const struct point *)a;
  for (long i = 0; i < n; ++i)
    c[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
#endif
}

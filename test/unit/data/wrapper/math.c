#include <math.h>

double norm(const double *v, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += v[i] * v[i];
  return sqrt(s);
}

double horner(const double *c, int n, double x) {
  double r = c[n - 1];
  for (int i = n - 2; i >= 0; i--)
    r = r * x + c[i];
  return fabs(r) < 1e-300 ? 0 : r / (1 + fmin(r, x));
}

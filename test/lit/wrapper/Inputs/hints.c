#include <math.h>
double dot(const double *a, const double *b, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}
void roots(const double *a, double *restrict b, long n) {
  for (long i = 0; i < n; ++i)
    b[i] = sqrt(a[i]);
}
void scale(const double *a, double *restrict b, long n, double s) {
  for (long i = 0; i < n; ++i)
    b[i] = a[i] / s;
}

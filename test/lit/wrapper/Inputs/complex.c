#include <complex.h>

void product(double complex *restrict z, const double complex *x, const double complex *y, long n) {
  for (long i = 0; i < n; ++i)
    z[i] = x[i] * y[i];
}

/* The sum takes as long. */
double complex sum(const double complex *x, const double complex *y, long n) {
  double complex s = 0;
  for (long i = 0; i < n; ++i)
    s += x[i] * y[i];
  return s;
}

void quotient(double complex *restrict z, const double complex *x, const double complex *y, long n) {
  for (long i = 0; i < n; ++i)
    z[i] = x[i] / y[i];
}

// rule: math-call
#include <math.h>
double kernel(const double *a, const double *b, double *restrict c, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    sum += b[i] * sin(a[i]);
  return sum;
}

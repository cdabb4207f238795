// rule: complex-range
// options: -O3
// n: 1024
// data: float float float
#include <complex.h>
float kernel(const float complex *a, const float complex *b, float *c, long n) {
  float complex sum = 0;
  for (long i = 0; i < n; i++)
    sum += a[i] * conjf(b[i]);
  return crealf(sum) + cimagf(sum);
}

// rule: complex-range
// data: float float float
#include <complex.h>
void kernel(const float complex *a, const float complex *b, float complex *restrict c, long n, double s) {
  float complex factor = b[0];
  for (long i = 0; i < n; ++i)
    c[i] = factor * a[i];
}

// rule: complex-range
// n: 512
#include <complex.h>
void kernel(const double complex *a, const double complex *b, double complex *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = a[i] * b[i];
}

// rule: math-errno
// options: -O2
#include <math.h>
void kernel(const double *a, const double *b, double *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = sqrt(a[i]);
}

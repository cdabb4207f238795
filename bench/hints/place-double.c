// rule: code-placement
// mcpu: skylake-avx512
// data: double double double
#include <math.h>
void kernel(const double *a, const double *b, double *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = sqrt(a[i]);
}

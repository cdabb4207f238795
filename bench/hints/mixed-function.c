// rule: conversions
// options: -O3 -fno-math-errno
// n: 2048
// data: float float float
#include <math.h>
void kernel(const float *a, const float *b, float *restrict c, long n) {
  for (long i = 0; i < n; ++i)
#ifdef CHANGED
    c[i] = fabsf(a[i] - b[i]) * 0.1f + a[i];
#else
    c[i] = fabs(a[i] - b[i]) * 0.1 + a[i];
#endif
}

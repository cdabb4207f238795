// rule: math-errno
// n: 2048
// data: float float float
#include <math.h>
void kernel(const float *a, const float *b, float *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = b[i] * sqrtf(a[i]);
}

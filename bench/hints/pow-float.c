// rule: math-call
// data: float float float
#include <math.h>
void kernel(const float *a, const float *b, float *restrict c, long n) {
  for (long i = 0; i < n; ++i)
    c[i] = powf(a[i], b[i]);
}

// rule: extremum-call
// n: 2048
// data: float float float
#include <math.h>
void kernel(const float *a, const float *b, float *restrict c, long n) {
  for (long i = 0; i < n; i++)
    c[i] = fminf(fmaxf(a[i] + b[i], 1.75f), 2.0f);
}

// rule: extremum-call
// options: -O2
// data: float float float
#include <math.h>
void kernel(const float *x, const float *y, float *restrict out, long n) {
  float largest = x[0];
  for (long i = 1; i < n; i++)
    largest = fmaxf(largest, x[i]);
  for (long i = 0; i < n; i++)
    out[i] = x[i] - largest;
}

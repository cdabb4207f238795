// rule: math-errno
// n: 2048
// data: float byte byte
#include <math.h>
#include <stdint.h>
void kernel(const float *x, const int8_t *unused, int8_t *restrict q, long n, double scale) {
  float factor = 100 / (float)scale;
  for (long i = 0; i < n; i++) {
    int v = (int)lrintf(x[i] * factor);
    q[i] = (int8_t)(v > 127 ? 127 : v < -128 ? -128 : v);
  }
}

#include <math.h>
#include <stddef.h>

// Approximate the normal distribution function for prices of options (Abramowitz and Stegun, 26.2.19).
void normal_cdf(const float *x, float *p, size_t count) {
  for (size_t i = 0; i < count; i++) {
    float t = fabsf(x[i]);
    float d = 1 + t * (0.0498673470f + t * (0.0211410061f + t * (0.0032776263f +
              t * (0.0000380036f + t * (0.0000488906f + t * 0.0000053830f)))));
    d *= d;
    d *= d;
    d *= d;
    float tail = 0.5f / (d * d);
    p[i] = x[i] < 0 ? tail : 1 - tail;
  }
}

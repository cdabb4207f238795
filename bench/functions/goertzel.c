#include <stddef.h>

// Return the power of one frequency in a signal; coefficient is 2 cos(2 pi k / samples).
double goertzel(const float *signal, size_t samples, double coefficient) {
  double s1 = 0, s2 = 0;
  for (size_t i = 0; i < samples; i++) {
    double s = signal[i] + coefficient * s1 - s2;
    s2 = s1;
    s1 = s;
  }
  return s1 * s1 + s2 * s2 - coefficient * s1 * s2;
}

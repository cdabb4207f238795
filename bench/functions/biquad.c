#include <stddef.h>

typedef struct {
  float b0, b1, b2, a1, a2;
  float z1, z2;
} Biquad;

// Apply a second-order filter in transposed direct form II.
void biquad(Biquad *filter, const float *in, float *out, size_t samples) {
  float z1 = filter->z1, z2 = filter->z2;
  for (size_t i = 0; i < samples; i++) {
    float x = in[i];
    float y = filter->b0 * x + z1;
    z1 = filter->b1 * x - filter->a1 * y + z2;
    z2 = filter->b2 * x - filter->a2 * y;
    out[i] = y;
  }
  filter->z1 = z1;
  filter->z2 = z2;
}

#include <stddef.h>
#include <stdint.h>

// Fill an array with random numbers in [0, 1).
void xorshift_fill(uint64_t *state, double *out, size_t count) {
  uint64_t x = *state;
  for (size_t i = 0; i < count; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    out[i] = (x >> 11) * 0x1p-53;
  }
  *state = x;
}

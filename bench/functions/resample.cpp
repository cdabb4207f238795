#include <cstddef>
#include <cstdint>

// Resample audio by linear interpolation; positions have 16 fractional bits.
extern "C" void resample(const int16_t *in, int16_t *out, size_t samples, uint32_t step) {
  uint32_t position = 0;
  for (size_t i = 0; i < samples; ++i, position += step) {
    const int16_t *left = in + (position >> 16);
    const int fraction = position & 0xffff;
    out[i] = static_cast<int16_t>(left[0] + (((left[1] - left[0]) * (fraction >> 1)) >> 15));
  }
}

#include <stddef.h>
#include <stdint.h>

// Split interleaved RGB pixels into planes of BT.601 luma and chroma.
void rgb_to_yuv(const uint8_t *rgb, uint8_t *luma, uint8_t *u, uint8_t *v, size_t pixels) {
  for (size_t i = 0; i < pixels; i++) {
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    luma[i] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
    u[i] = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
    v[i] = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
  }
}

#include <stdint.h>

// Blur the inner pixels of a grey image with the mean of 3 by 3 pixels.
void box_blur(const uint8_t *in, uint8_t *out, int width, int height) {
  for (int y = 1; y < height - 1; y++) {
    for (int x = 1; x < width - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += in[(y + dy) * width + x + dx];
      out[y * width + x] = sum / 9;
    }
  }
}

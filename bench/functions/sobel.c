#include <stdint.h>
#include <stdlib.h>

// Find edges: the sum of the absolute horizontal and vertical gradients, limited to 255.
void sobel(const uint8_t *restrict in, uint8_t *restrict out, int width, int height) {
  for (int y = 1; y < height - 1; y++) {
    const uint8_t *above = in + (y - 1) * width, *row = above + width, *below = row + width;
    for (int x = 1; x < width - 1; x++) {
      int gx = above[x + 1] - above[x - 1] + 2 * (row[x + 1] - row[x - 1]) + below[x + 1] - below[x - 1];
      int gy = below[x - 1] + 2 * below[x] + below[x + 1] - above[x - 1] - 2 * above[x] - above[x + 1];
      int strength = abs(gx) + abs(gy);
      out[y * width + x] = strength > 255 ? 255 : strength;
    }
  }
}

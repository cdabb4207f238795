/* Encodes and decodes an image with libpng: `image SIDE REPEAT`. */
#include "png.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **values) {
  if (count != 3)
    return 2;
  unsigned side = atoi(values[1]);
  png_image image = {.version = PNG_IMAGE_VERSION, .width = side, .height = side, .format = PNG_FORMAT_RGBA};
  uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image)), *back = malloc(PNG_IMAGE_SIZE(image));
  size_t room = PNG_IMAGE_PNG_SIZE_MAX(image);
  void *encoded = malloc(room);
  if (!pixels || !back || !encoded)
    return 2;
  uint32_t noise = 1;
  for (unsigned y = 0; y < side; ++y)
    for (unsigned x = 0; x < side; ++x) {
      uint8_t *at = pixels + 4 * (y * side + x);
      noise = noise * 1664525u + 1013904223u;
      at[0] = (x * y >> 8) + (noise >> 30);
      at[1] = 255 * x / side;
      at[2] = (x ^ y) + (noise >> 24) % 5;
      at[3] = (x / 16 + y / 16) % 3 ? 255 : 128 + y % 64;
    }
  uint64_t sum = 0;
  for (int again = atoi(values[2]); again > 0; --again) {
    size_t size = room;
    if (!png_image_write_to_memory(&image, encoded, &size, 0, pixels, 0, 0))
      return 1;
    png_image read = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&read, encoded, size))
      return 1;
    read.format = again % 2 ? PNG_FORMAT_RGBA : PNG_FORMAT_GRAY;
    if (!png_image_finish_read(&read, 0, back, 0, 0))
      return 1;
    for (size_t i = 0; i < PNG_IMAGE_SIZE(read); ++i)
      sum = sum * 31 + back[i];
    sum += size;
  }
  printf("%llx\n", (unsigned long long)sum);
}

#include <stddef.h>
#include <stdint.h>

typedef struct { uint8_t r, g, b, a; } Pixel;

static uint8_t mix(unsigned over, unsigned under, unsigned alpha) {
  unsigned sum = over * alpha + under * (255 - alpha) + 128;
  return (sum + (sum >> 8)) >> 8;
}

// Draw one row of pixels over another.
void alpha_blend(const Pixel *over, Pixel *under, size_t pixels) {
  for (size_t i = 0; i < pixels; i++) {
    unsigned alpha = over[i].a;
    under[i].r = mix(over[i].r, under[i].r, alpha);
    under[i].g = mix(over[i].g, under[i].g, alpha);
    under[i].b = mix(over[i].b, under[i].b, alpha);
    under[i].a = mix(255, under[i].a, alpha);
  }
}

#include <stddef.h>

typedef struct { float r, g, b; } Rgb;
typedef struct { float h, s, v; } Hsv;

void rgb_to_hsv(const Rgb *in, Hsv *out, size_t pixels) {
  for (size_t i = 0; i < pixels; i++) {
    float r = in[i].r, g = in[i].g, b = in[i].b;
    float max = r > g ? (r > b ? r : b) : (g > b ? g : b);
    float min = r < g ? (r < b ? r : b) : (g < b ? g : b);
    float chroma = max - min;
    float hue = 0;
    if (chroma > 0) {
      if (max == r)
        hue = (g - b) / chroma;
      else if (max == g)
        hue = (b - r) / chroma + 2;
      else
        hue = (r - g) / chroma + 4;
    }
    out[i].h = hue < 0 ? 60 * hue + 360 : 60 * hue;
    out[i].s = max > 0 ? chroma / max : 0;
    out[i].v = max;
  }
}

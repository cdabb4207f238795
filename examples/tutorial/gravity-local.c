#include "gravity.h"
#include <math.h>

void attract(const struct bodies *body, long n, const struct vector *at, struct vector *sum) {
  float x = 0, y = 0, z = 0;
  for (long i = 0; i < n; ++i) {
    float dx = body[i].x - at->x;
    float dy = body[i].y - at->y;
    float dz = body[i].z - at->z;
    float r2 = dx * dx + dy * dy + dz * dz + 1e-6f;
    float f = body[i].mass / (r2 * sqrtf(r2));
    x += f * dx;
    y += f * dy;
    z += f * dz;
  }
  sum->x += x;
  sum->y += y;
  sum->z += z;
}

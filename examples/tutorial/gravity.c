#include "gravity.h"
#include <math.h>

void attract(const struct bodies *body, long n, const struct vector *at, struct vector *sum) {
  for (long i = 0; i < n; ++i) {
    float dx = body[i].x - at->x;
    float dy = body[i].y - at->y;
    float dz = body[i].z - at->z;
    float r2 = dx * dx + dy * dy + dz * dz + 1e-6;
    float f = body[i].mass / (r2 * sqrt(r2));
    sum->x += f * dx;
    sum->y += f * dy;
    sum->z += f * dz;
  }
}

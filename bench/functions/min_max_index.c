#include <stddef.h>

typedef struct { size_t min, max; } Extremes;

// Return the indices of the first smallest and the first largest value.
Extremes min_max_index(const float *values, size_t count) {
  Extremes at = {0, 0};
  for (size_t i = 1; i < count; i++) {
    if (values[i] < values[at.min])
      at.min = i;
    if (values[i] > values[at.max])
      at.max = i;
  }
  return at;
}

#include <stddef.h>
#include <stdint.h>

// Write the lengths of runs of equal values, and return how many runs there are.
size_t run_lengths(const uint8_t *values, size_t count, uint32_t *lengths) {
  size_t runs = 0, start = 0;
  for (size_t i = 1; i < count; i++) {
    if (values[i] != values[i - 1]) {
      lengths[runs++] = i - start;
      start = i;
    }
  }
  lengths[runs++] = count - start;
  return runs;
}

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Unpack numbers of `width` bits (at most 25), as in a column of a database.
void bit_unpack(const uint8_t *packed, uint32_t *out, size_t count, unsigned width) {
  uint32_t mask = (1u << width) - 1;
  size_t bit = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, packed + bit / 8, sizeof word);
    out[i] = word >> bit % 8 & mask;
    bit += width;
  }
}

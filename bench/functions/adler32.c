#include <stddef.h>
#include <stdint.h>

enum { BASE = 65521, BLOCK = 1024 };

uint32_t adler32(const uint8_t *data, size_t length) {
  uint32_t a = 1, b = 0;
  while (length > 0) {
    size_t block = length < BLOCK ? length : BLOCK;
    for (size_t i = 0; i < block; i++) {
      a += data[i];
      b += a;
    }
    a %= BASE;
    b %= BASE;
    data += block;
    length -= block;
  }
  return b << 16 | a;
}

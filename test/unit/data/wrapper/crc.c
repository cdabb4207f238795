#include <stdint.h>

static uint32_t table[256];

__attribute__((constructor)) static void fill(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++)
      c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
}

uint32_t crc32(const uint8_t *p, unsigned long n) {
  uint32_t c = ~0u;
  for (unsigned long i = 0; i < n; i++)
    c = table[(c ^ p[i]) & 255] ^ (c >> 8);
  return ~c;
}

#include <stddef.h>
#include <stdint.h>

uint32_t crc32(const uint32_t table[256], const uint8_t *data, size_t length) {
  uint32_t crc = 0xffffffff;
  while (length--)
    crc = table[(crc ^ *data++) & 0xff] ^ crc >> 8;
  return ~crc;
}

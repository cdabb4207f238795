#include <stddef.h>
#include <stdint.h>

static int digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

// Return the number of bytes decoded before an invalid digit.
size_t hex_decode(const char *text, uint8_t *out, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return i;
    out[i] = high << 4 | low;
  }
  return bytes;
}

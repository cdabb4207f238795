#include <stddef.h>

size_t count_lines(const char *text, size_t length) {
  size_t lines = 0;
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\n')
      lines++;
  return lines;
}

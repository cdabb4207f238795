// A search that leaves the loop early cannot be vectorised; a count can.
#include <cstddef>
#include <cstdint>

std::size_t find(const std::uint8_t *text, std::size_t size, std::uint8_t wanted) {
  for (std::size_t i = 0; i < size; ++i)
    if (text[i] == wanted)
      return i;
  return size;
}

std::size_t count(const std::uint8_t *text, std::size_t size, std::uint8_t wanted) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < size; ++i)
    found += text[i] == wanted;
  return found;
}

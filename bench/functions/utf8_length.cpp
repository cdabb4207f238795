#include <algorithm>
#include <string_view>

// Return the number of characters in UTF-8 text: its bytes that do not continue a character.
extern "C" std::size_t utf8_length(const char *text, std::size_t length) {
  const std::string_view view(text, length);
  return std::count_if(view.begin(), view.end(), [](unsigned char byte) { return (byte & 0xc0) != 0x80; });
}

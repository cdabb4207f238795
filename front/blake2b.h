//===- blake2b.h - The hash BLAKE2b (RFC 7693) ------------------*- C++ -*-===//

#ifndef INCC_FRONT_BLAKE2B_H
#define INCC_FRONT_BLAKE2B_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace incc {

/// BLAKE2b, as Python's hashlib.blake2b(digest_size=Size, key=Key) has it.
class Blake2b {
public:
  explicit Blake2b(size_t Size = 16, std::string_view Key = {});
  void add(std::string_view Text);
  /// Adds a text and its length, so that two texts are never taken for two others.
  void addField(std::string_view Text);
  /// The digest in hexadecimal; nothing can be added after it.
  std::string hex();

private:
  void compress(bool Last);

  uint64_t State[8];
  uint64_t Count = 0;
  size_t Size;
  size_t Filled = 0;
  unsigned char Block[128];
};

} // namespace incc

#endif

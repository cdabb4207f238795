//===- blake2b.h - The hash BLAKE2b (RFC 7693) ------------------*- C++ -*-===//

#ifndef INCC_FRONT_BLAKE2B_H
#define INCC_FRONT_BLAKE2B_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace incc {

/// The hash BLAKE2b. It computes the same digests as Python's hashlib.blake2b(digest_size=Size,
/// key=Key).
class Blake2b {
public:
  explicit Blake2b(size_t Size = 16, std::string_view Key = {});
  void add(std::string_view Text);
  /// Adds a text preceded by its length, so that two sequences of fields never hash alike by
  /// accident.
  void addField(std::string_view Text);
  /// Returns the digest in hexadecimal. Nothing can be added afterwards.
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

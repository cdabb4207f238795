#include <stddef.h>
#include <stdint.h>

static uint32_t rotate(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

// Hash words as MurmurHash3 does.
uint32_t murmur(const uint32_t *words, size_t count, uint32_t seed) {
  uint32_t hash = seed;
  for (size_t i = 0; i < count; i++) {
    uint32_t k = rotate(words[i] * 0xcc9e2d51, 15) * 0x1b873593;
    hash = rotate(hash ^ k, 13) * 5 + 0xe6546b64;
  }
  hash ^= count * 4;
  hash = (hash ^ hash >> 16) * 0x85ebca6b;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35;
  return hash ^ hash >> 16;
}

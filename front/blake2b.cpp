//===- blake2b.cpp - The hash BLAKE2b (RFC 7693) --------------------------===//

#include "blake2b.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace incc;

namespace {

constexpr uint64_t Start[8] = {0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B,
                               0xA54FF53A5F1D36F1, 0x510E527FADE682D1, 0x9B05688C2B3E6C1F,
                               0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179};

constexpr unsigned char Order[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                         {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                         {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                         {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                         {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                         {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                         {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                         {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                         {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                         {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

uint64_t load(const unsigned char *Bytes) {
  uint64_t Value = 0;
  for (int I = 7; I >= 0; --I)
    Value = Value << 8 | Bytes[I];
  return Value;
}

} // namespace

Blake2b::Blake2b(size_t Size, std::string_view Key) : Size(Size) {
  std::copy(std::begin(Start), std::end(Start), State);
  State[0] ^= 0x01010000 ^ Key.size() << 8 ^ Size;
  if (!Key.empty()) {
    add(Key);
    std::fill(Block + Filled, Block + sizeof Block, 0);
    Filled = sizeof Block;
  }
}

void Blake2b::add(std::string_view Text) {
  while (!Text.empty()) {
    // Only hex() knows which block is the last one, so a full block stays in the buffer until more
    // text arrives.
    if (Filled == sizeof Block)
      compress(/*Last=*/false);
    size_t Part = std::min(Text.size(), sizeof Block - Filled);
    memcpy(Block + Filled, Text.data(), Part);
    Filled += Part;
    Text.remove_prefix(Part);
  }
}

void Blake2b::addField(std::string_view Text) {
  add(std::to_string(Text.size()) + ":");
  add(Text);
}

void Blake2b::compress(bool Last) {
  Count += Filled;
  std::fill(Block + Filled, Block + sizeof Block, 0);
  Filled = 0;
  uint64_t M[16], V[16];
  for (int I = 0; I < 16; ++I)
    M[I] = load(Block + 8 * I);
  std::copy(State, State + 8, V);
  std::copy(std::begin(Start), std::end(Start), V + 8);
  V[12] ^= Count;
  if (Last)
    V[14] = ~V[14];
  auto mix = [&](int A, int B, int C, int D, uint64_t X, uint64_t Y) {
    V[A] += V[B] + X;
    V[D] = std::rotr(V[D] ^ V[A], 32);
    V[C] += V[D];
    V[B] = std::rotr(V[B] ^ V[C], 24);
    V[A] += V[B] + Y;
    V[D] = std::rotr(V[D] ^ V[A], 16);
    V[C] += V[D];
    V[B] = std::rotr(V[B] ^ V[C], 63);
  };
  for (int Round = 0; Round < 12; ++Round) {
    const unsigned char *S = Order[Round % 10];
    mix(0, 4, 8, 12, M[S[0]], M[S[1]]);
    mix(1, 5, 9, 13, M[S[2]], M[S[3]]);
    mix(2, 6, 10, 14, M[S[4]], M[S[5]]);
    mix(3, 7, 11, 15, M[S[6]], M[S[7]]);
    mix(0, 5, 10, 15, M[S[8]], M[S[9]]);
    mix(1, 6, 11, 12, M[S[10]], M[S[11]]);
    mix(2, 7, 8, 13, M[S[12]], M[S[13]]);
    mix(3, 4, 9, 14, M[S[14]], M[S[15]]);
  }
  for (int I = 0; I < 8; ++I)
    State[I] ^= V[I] ^ V[I + 8];
}

std::string Blake2b::hex() {
  compress(/*Last=*/true);
  static constexpr char Digits[] = "0123456789abcdef";
  std::string Result;
  for (size_t I = 0; I < Size; ++I) {
    unsigned char Byte = State[I / 8] >> 8 * (I % 8);
    Result += {Digits[Byte >> 4], Digits[Byte & 15]};
  }
  return Result;
}

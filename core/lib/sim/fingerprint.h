//===- fingerprint.h - The state of the machine as one number -------------===//
//
// A machine that is in a state in which it was before goes on as it did then, so
// that the cycles between need not be simulated again and again. Every component
// adds to the fingerprint all that it keeps from one cycle to the next, in terms
// that do not depend on when that is: cycles and iterations from now. Whoever
// adds a member that changes while the machine runs adds it there, too.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_FINGERPRINT_H
#define INCC_LIB_SIM_FINGERPRINT_H

#include <algorithm>
#include <cstdint>

namespace incc::sim {

/// 64 bits, so that two states that differ in anything have different ones for all purposes.
class Fingerprint {
public:
  /// `Cycle` has just been simulated; `Iteration` is the one that is counted from.
  Fingerprint(int64_t Cycle, int64_t Iteration) : Cycle(Cycle), Iteration(Iteration) {}

  void add(int64_t Number) {
    Hash = mixed(Hash ^ static_cast<uint64_t>(Number));
    ++Size;
  }
  /// Each of these takes a second number along, since one word has room for both.
  void iteration(int64_t Which, int32_t With = 0) { add(Which - Iteration, With); }
  /// A time that is compared with other times.
  void time(int64_t When, int32_t With = 0) { add(When - Cycle, With); }
  /// A time that something waits for: if it is over, it does not matter since when.
  void deadline(int64_t When, int32_t With = 0) { add(std::max<int64_t>(When - Cycle, 0), With); }
  /// Members of a set, whatever their order: the sum of their own fingerprints.
  void addToSet(const Fingerprint &Member) {
    Set += mixed(Member.value());
    Size += Member.Size;
  }

  Fingerprint member() const { return {Cycle, Iteration}; }
  int64_t cycle() const { return Cycle; }
  /// How many numbers went into it.
  int64_t size() const { return Size; }
  uint64_t value() const { return Hash + Set; }

private:
  void add(int64_t Number, int32_t With) {
    add(static_cast<int64_t>(static_cast<uint64_t>(Number) << 32 ^ static_cast<uint32_t>(With)));
  }
  static uint64_t mixed(uint64_t X) {
    X *= 0x9E3779B97F4A7C15; // 2^64 divided by the golden ratio: bits move up,
    return X ^ X >> 29;      // and down again.
  }

  int64_t Cycle, Iteration;
  uint64_t Hash = 0, Set = 0;
  int64_t Size = 0;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_FINGERPRINT_H

//===- fingerprint.h - The state of the machine as one number -------------===//
//
// The simulated machine is deterministic: once it is in a state that it was in
// before, it repeats what it did then, and the cycles in between need not be
// simulated again. simulate.cpp finds such repetitions by comparing fingerprints
// of the state.
//
// Every component has a member function addTo(Fingerprint &), which adds all that
// the component keeps from one cycle to the next. It adds times and iterations
// relative to now, so that the fingerprint does not depend on when the state
// occurs. A new member that changes while the machine runs must be added there.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_FINGERPRINT_H
#define INCC_LIB_SIM_FINGERPRINT_H

#include <algorithm>
#include <cstdint>

namespace incc::sim {

/// A 64-bit hash of the machine's state. Different states have different hashes for all practical
/// purposes.
class Fingerprint {
public:
  /// Starts a fingerprint at the end of `Cycle`. Iterations are counted from `Iteration`.
  Fingerprint(int64_t Cycle, int64_t Iteration) : Cycle(Cycle), Iteration(Iteration) {}

  /// Adds a number that does not depend on time.
  void add(int64_t Number) {
    Hash = mixed(Hash ^ static_cast<uint64_t>(Number));
    ++Size;
  }

  // The following take a second number `With`, because one word has room for both.

  /// Adds an iteration.
  void iteration(int64_t Which, int32_t With = 0) { add(Which - Iteration, With); }
  /// Adds a time that is compared with other times, so that times in the past differ.
  void time(int64_t When, int32_t With = 0) { add(When - Cycle, With); }
  /// Adds a time that something waits for. All times in the past are equal.
  void deadline(int64_t When, int32_t With = 0) { add(std::max<int64_t>(When - Cycle, 0), With); }

  /// Adds a member of an unordered set. The set contributes the sum of its members' fingerprints.
  void addToSet(const Fingerprint &Member) {
    Set += mixed(Member.value());
    Size += Member.Size;
  }
  /// Starts the fingerprint of a set's member.
  Fingerprint member() const { return {Cycle, Iteration}; }

  int64_t cycle() const { return Cycle; }
  /// The number of numbers that were added.
  int64_t size() const { return Size; }
  uint64_t value() const { return Hash + Set; }

private:
  void add(int64_t Number, int32_t With) {
    add(static_cast<int64_t>(static_cast<uint64_t>(Number) << 32 ^ static_cast<uint32_t>(With)));
  }
  static uint64_t mixed(uint64_t X) {
    X *= 0x9E3779B97F4A7C15; // 2^64 divided by the golden ratio moves bits up,
    return X ^ X >> 29;      // and the shift moves them down again.
  }

  int64_t Cycle, Iteration;
  uint64_t Hash = 0, Set = 0;
  int64_t Size = 0;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_FINGERPRINT_H

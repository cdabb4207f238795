//===- memory_queues.h - The load buffer and the store buffer -------------===//
//
// A load has an entry of the load buffer from its issue until it retires or, on
// some cores (`loads_leave_when_done`), until its data have arrived.
//
// A store has an entry of the store buffer from its issue until it is written to
// the first-level cache. Stores are written after they have retired, in program
// order; how many cycles the stores of an instruction take on that way is worked
// out before the run (store_commits.h). On some cores, no load starts in a cycle in
// which a store is written (`stores_stop_loads`).
//
// A full buffer stalls the renamer.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_MEMORY_QUEUES_H
#define INCC_LIB_SIM_MEMORY_QUEUES_H

#include "fingerprint.h"
#include "incc/kernel.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <utility>

namespace incc::sim {

/// The loads between their issue and their retirement or, on some cores, the arrival of their data.
class LoadQueue {
public:
  /// `Capacity`: 0 for no limit.
  explicit LoadQueue(int32_t Capacity) : Capacity(Capacity) {}

  /// Returns true if this many entries are free. An empty queue takes any instruction, so that none
  /// waits forever.
  bool hasRoom(int32_t Loads) const {
    return Capacity == 0 || Used == 0 || Used + Loads <= Capacity;
  }
  void enter(int32_t Loads) { Used += Loads; }
  void leave(int32_t Loads) { Used -= Loads; }
  /// Notes that one load leaves when its data arrive, `Latency` cycles after the current cycle.
  void leaveWhenDone(int64_t Cycle, int64_t Latency) {
    ++LeavingAt[static_cast<size_t>((Cycle + std::min<int64_t>(Latency, Horizon / 2)) % Horizon)];
    AnyLeaving = true;
  }
  /// Begins a cycle: loads whose data have arrived leave the queue.
  void cycle(int64_t Cycle) {
    if (AnyLeaving)
      leave(std::exchange(LeavingAt[static_cast<size_t>(Cycle % Horizon)], 0));
  }
  int32_t used() const { return Used; }
  int32_t capacity() const { return Capacity; }
  void addTo(Fingerprint &F) const;

private:
  static constexpr int64_t Horizon = 256;
  int32_t Capacity, Used = 0;
  bool AnyLeaving = false;
  std::array<int32_t, Horizon> LeavingAt{}; ///< Loads that leave, by cycle, in a ring.
};

/// Zen 3: a block of stores that changes only some bytes of a word reaches the cache
/// `store_word_cycles` later if that word was written in the last `store_word_window` cycles.
///
/// This was measured on Zen 3. A likely cause is that the cache keeps check bits for whole words,
/// so that the rest of the word has to be read before a part of it can be written.
class PartialWordRule {
public:
  PartialWordRule(int32_t Window, int32_t Delay) : Window(Window), Delay(Delay) {
    WrittenAt.fill(-MaxStoreWordWindow);
  }

  /// Returns by how many cycles a block that would be written at the end of cycle `Cycle` is late.
  /// `RewriteDistance` is the number of blocks between it and the last earlier block that wrote
  /// some of its incomplete words, 1 for the block right before it, or 0 if there is none.
  int32_t delay(int64_t Cycle, int32_t RewriteDistance) const {
    bool IsRecent = RewriteDistance > 0 &&
                    Cycle - WrittenAt[static_cast<size_t>(RewriteDistance - 1)] <= Window;
    return IsRecent ? Delay : 0;
  }
  /// Notes that blocks are written in `Cycles` consecutive cycles after `FreeAt`.
  void write(int64_t FreeAt, int32_t Cycles) {
    for (int32_t N = std::max(0, Cycles - Window); N < Cycles; ++N) {
      std::shift_right(WrittenAt.begin(), WrittenAt.end(), 1);
      WrittenAt.front() = FreeAt + N + 1;
    }
  }
  void addTo(Fingerprint &F) const;

private:
  int32_t Window, Delay;
  std::array<int64_t, MaxStoreWordWindow>
      WrittenAt; ///< The times of the last blocks, the latest first.
};

/// The stores between their issue and their arrival in the first-level cache.
class StoreQueue {
public:
  /// `Capacity` is 0 for no limit. With `StartsFull`, the queue is full at the beginning, as in the
  /// steady state of code that stores more than the cache takes. A run reaches that state only
  /// after many iterations, perhaps more than are simulated.
  StoreQueue(int32_t Capacity, bool StartsFull, PartialWordRule PartialWords)
      : Capacity(Capacity), PartialWords(PartialWords) {
    for (int32_t N = 0; StartsFull && N < Capacity; ++N) {
      enter(1);
      retire(0, 1, 1, 0);
    }
  }

  /// Returns true if this many entries are free. An empty queue takes any instruction.
  bool hasRoom(int32_t Stores) const {
    return Capacity == 0 || Used == 0 || Used + Stores <= Capacity;
  }
  void enter(int32_t Stores) { Used += Stores; }
  /// Sends an instruction's stores to the cache, after those that are on their way. They take
  /// `CommitCycles`. `RewriteDistance` is that of the first block (see PartialWordRule).
  void retire(int64_t Cycle, int32_t Stores, int32_t CommitCycles, int32_t RewriteDistance) {
    if (FreeAt < Cycle)
      FreeAt = IdleUntil = Cycle;
    FreeAt += PartialWords.delay(FreeAt + 1, RewriteDistance);
    PartialWords.write(FreeAt, CommitCycles);
    FreeAt += CommitCycles;
    Committing.emplace_back(FreeAt, Stores);
  }
  /// Begins a cycle: stores that are in the cache leave the queue.
  void cycle(int64_t Cycle) {
    for (; !Committing.empty() && Committing.front().first <= Cycle; Committing.pop_front())
      Used -= Committing.front().second;
  }
  /// Returns true if a store is written in the current cycle.
  bool isWriting(int64_t Cycle) const { return IdleUntil < Cycle && Cycle <= FreeAt; }
  int32_t used() const { return Used; }
  int32_t capacity() const { return Capacity; }
  void addTo(Fingerprint &F) const;

private:
  int32_t Capacity, Used = 0;
  PartialWordRule PartialWords;
  int64_t FreeAt = 0;    ///< The cycle at whose end the way to the cache is free.
  int64_t IdleUntil = 0; ///< The last cycle in which nothing was written.
  std::deque<std::pair<int64_t, int32_t>> Committing; ///< When stores arrive, and how many.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_MEMORY_QUEUES_H

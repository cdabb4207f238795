//===- memory_queues.h - Load and store buffers ----------------------------===//
//
// A load has an entry of the load buffer from its issue until it retires or, on
// some cores, until it has its data. A store has one of the store buffer until it
// is in the first-level cache, where stores go after they have retired, in program
// order, in the cycles that the program says (Program::CommitCycles). A block of which parts of
// words change that were just written waits (Program::Rewritten).
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

/// The loads from their issue until they retire or, on some cores, have their data.
class LoadQueue {
public:
  explicit LoadQueue(int32_t Capacity) : Capacity(Capacity) {}

  /// An instruction enters an empty queue in any case.
  bool hasRoom(int32_t Loads) const {
    return Capacity == 0 || Used == 0 || Used + Loads <= Capacity;
  }
  void enter(int32_t Loads) { Used += Loads; }
  void leave(int32_t Loads) { Used -= Loads; }
  /// One leaves when it has its data, so many cycles from a cycle that is not over.
  void leaveWhenDone(int64_t Cycle, int64_t Latency) {
    ++Done[static_cast<size_t>((Cycle + std::min<int64_t>(Latency, Horizon / 2)) % Horizon)];
    AnyDone = true;
  }
  /// Those that have their data leave the queue.
  void cycle(int64_t Cycle) {
    if (AnyDone)
      leave(std::exchange(Done[static_cast<size_t>(Cycle % Horizon)], 0));
  }
  int32_t used() const { return Used; }
  int32_t capacity() const { return Capacity; }
  void addTo(Fingerprint &F) const;

private:
  static constexpr int64_t Horizon = 256;
  int32_t Capacity, Used = 0;
  bool AnyDone = false;
  std::array<int32_t, Horizon> Done{}; ///< By cycle.
};

/// The stores from their issue until they are in the first-level cache.
class StoreQueue {
public:
  /// `Full`: as it is in the steady state of code that stores more than the cache takes; otherwise
  /// that state might not be reached while the code is watched. `Window`, `Wait`:
  /// Pipeline::StoreWordWindow and StoreWordCycles.
  StoreQueue(int32_t Capacity, bool Full, int32_t Window, int32_t Wait)
      : Capacity(Capacity), Window(Window), Wait(Wait) {
    Recent.fill(-MaxStoreWordWindow);
    for (int32_t N = 0; Full && N < Capacity; ++N) {
      enter(1);
      retire(0, 1, 1, 0);
    }
  }

  /// A store enters an empty queue in any case.
  bool hasRoom(int32_t Stores) const {
    return Capacity == 0 || Used == 0 || Used + Stores <= Capacity;
  }
  void enter(int32_t Stores) { Used += Stores; }
  /// `Rewritten`: how many blocks ago words were written of which this block has parts.
  void retire(int64_t Cycle, int32_t Stores, int32_t CommitCycles, int32_t Rewritten) {
    FreeAt = std::max(FreeAt, Cycle);
    if (Rewritten > 0 && FreeAt + 1 - Recent[static_cast<size_t>(Rewritten - 1)] <= Window)
      FreeAt += Wait;
    for (int32_t N = std::max(0, CommitCycles - Window); N < CommitCycles; ++N) {
      std::shift_right(Recent.begin(), Recent.end(), 1);
      Recent.front() = FreeAt + N + 1;
    }
    FreeAt += CommitCycles;
    Committing.emplace_back(FreeAt, Stores);
  }
  /// What is in the cache leaves the queue.
  void cycle(int64_t Cycle) {
    for (; !Committing.empty() && Committing.front().first <= Cycle; Committing.pop_front())
      Used -= Committing.front().second;
  }
  int32_t used() const { return Used; }
  int32_t capacity() const { return Capacity; }
  void addTo(Fingerprint &F) const;

private:
  int32_t Capacity, Used = 0;
  int32_t Window, Wait;
  int64_t FreeAt = 0;
  std::array<int64_t, MaxStoreWordWindow> Recent;     ///< When the last blocks were written.
  std::deque<std::pair<int64_t, int32_t>> Committing; ///< When, and how many.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_MEMORY_QUEUES_H

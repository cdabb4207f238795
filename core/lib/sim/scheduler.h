//===- scheduler.h - Entries of the schedulers ----------------------------===//
//
// A µop takes an entry of a scheduler when it is issued, is bound to a port of
// that scheduler, and leaves when it starts. A core has
//
//   - one scheduler for all ports, or several, each with its own entries and ports:
//     then a µop is bound to a port whose scheduler has room;
//   - perhaps a queue before some schedulers, in which µops wait in program order;
//     these are bound to ports when they leave the queue;
//   - perhaps sets of ports to which the renamer binds only so many µops a cycle.
//
// This file decides which scheduler and port a µop gets. Which of the µops at a
// port starts is decided by OldestFirst or ProgramOrder.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_SCHEDULER_H
#define INCC_LIB_SIM_SCHEDULER_H

#include "ports.h"
#include "program.h"
#include "uops.h"

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace incc::sim {

/// The core's schedulers and the queue before them.
class Scheduler {
public:
  /// With `UnlimitedPorts`, there is no queue, since µops do not wait for ports.
  Scheduler(const Program &P, UopPool &Pool, PortBinder &Binder, bool UnlimitedPorts);

  /// Returns true if all schedulers together have room for this many µops.
  bool hasRoom(int32_t Uops) const { return P.K.Rs == 0 || Waiting + Uops <= P.K.Rs; }
  bool anythingWaiting() const { return Waiting > 0; }
  /// The number of µops in schedulers and queue.
  int32_t waiting() const { return Waiting; }
  /// The entries in use, by scheduler.
  std::span<const int32_t> used() const { return EntriesUsed; }
  /// The number of µops in the queue.
  size_t queued() const { return Queue.size(); }
  /// The number of µops at each port. Not valid on an in-order core, where µops get their ports
  /// when they start.
  std::span<const int32_t> atPorts() const { return AtPort; }

  /// Begins the issue of a cycle.
  void newCycle();
  /// Returns true if the schedulers take the µops of an issue slot. A scheduler that has an entry
  /// left takes all of them, and so does a set of ports that may get another µop in this cycle.
  bool accepts(std::span<const int32_t> SlotUops) const;
  /// Takes a µop, into a scheduler or the queue.
  void enter(int32_t N, int32_t Slot);
  /// Moves µops from the queue to their schedulers, in order, at most as many as are issued in a
  /// cycle. Calls Entered(µop) for each.
  template <typename Fn> void leaveQueue(Fn Entered) {
    for (int32_t Left = P.K.IssueWidth; Left > 0 && !Queue.empty(); --Left) {
      int32_t N = Queue.front();
      if ((portsOf(N) & ~Full) == 0)
        return;
      Queue.pop_front();
      bind(N, P.K.IssueWidth - Left);
      Entered(N);
    }
  }
  /// Binds a µop that waits in a scheduler to another port of it.
  void rebind(int32_t From, int32_t To) {
    --AtPort[static_cast<size_t>(From)];
    ++AtPort[static_cast<size_t>(To)];
    Binder.rebind(From, To);
  }
  /// Frees the entry of a µop at a port, when it starts.
  void leave(int32_t Port);

private:
  uint64_t portsOf(int32_t N) const { return P.Uops[static_cast<size_t>(Pool[N].Static)].Ports; }
  bool waitsInQueue(uint64_t Allowed) const { return (Allowed & ~QueuedPorts) == 0; }
  void bind(int32_t N, int32_t Slot);

  const Program &P;
  UopPool &Pool;
  PortBinder &Binder;
  uint64_t QueuedPorts; ///< µops that can use only these ports wait in the queue.
  int32_t Waiting = 0;
  std::array<int32_t, 64> SchedulerOf; ///< By port; -1: a scheduler without a limit of its own.
  std::array<int32_t, 64> AtPort{};
  std::vector<int32_t> EntriesUsed; ///< By scheduler.
  uint64_t Full = 0;                ///< Ports whose schedulers have no entry left.
  std::vector<int32_t> Sent;        ///< µops bound in this cycle, by limited set of ports.
  uint64_t Served = 0;              ///< Ports in sets that have got all their µops of this cycle.
  std::deque<int32_t> Queue;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_SCHEDULER_H

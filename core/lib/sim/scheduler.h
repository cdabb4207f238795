//===- scheduler.h - Who is in the schedulers ------------------------------===//
//
// A µop enters a scheduler when it is issued, gets one of its ports then, and
// stays until it starts. A core has one scheduler, or some for a few ports each; of
// those each has its own number of entries, and a µop gets a port whose scheduler
// has room. Before some there is a queue, from which µops get on in order. Some
// ports get one µop a cycle only.
//
// Which of the µops that wait at a port starts is not decided here: see
// oldest_first.h and in_order.h.
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

class Scheduler {
public:
  /// Without limits of the ports there are none of schedulers of their own either.
  Scheduler(const Program &P, UopPool &Pool, PortBinder &Binder, bool UnlimitedPorts);

  /// Of the entries that all schedulers have together.
  bool hasRoom(int32_t Uops) const { return P.K.Rs == 0 || Waiting + Uops <= P.K.Rs; }
  bool anythingWaiting() const { return Waiting > 0; }
  int32_t waiting() const { return Waiting; }
  /// Entries in use, by scheduler; and in the queue.
  std::span<const int32_t> used() const { return EntriesUsed; }
  size_t queued() const { return Upstream.size(); }
  /// µops that wait for a port, by port; not of an in-order core, where they get theirs as they
  /// start.
  std::span<const int32_t> atPorts() const { return AtPort; }
  /// Before the issue of a cycle.
  void newCycle();
  /// Whether the schedulers take the µops of an issue slot. One that is not full takes them all.
  bool accepts(std::span<const int32_t> SlotUops) const;
  /// Takes a µop, or puts it into the queue.
  void enter(int32_t N, int32_t Slot);
  /// µops leave the queue in order, as many as are issued in a cycle; `Entered` is called with
  /// each.
  template <typename Fn> void leaveQueue(Fn Entered) {
    for (int32_t Left = P.K.IssueWidth; Left > 0 && !Upstream.empty(); --Left) {
      int32_t N = Upstream.front();
      if ((portsOf(N) & ~Full) == 0)
        return;
      Upstream.pop_front();
      bind(N, P.K.IssueWidth - Left);
      Entered(N);
    }
  }
  /// A µop leaves its port's scheduler, since it starts.
  void leave(int32_t Port);

private:
  uint64_t portsOf(int32_t N) const { return P.Uops[static_cast<size_t>(Pool[N].Static)].Ports; }
  bool waitsInQueue(uint64_t Allowed) const { return (Allowed & ~QueuedPorts) == 0; }
  void bind(int32_t N, int32_t Slot);

  const Program &P;
  UopPool &Pool;
  PortBinder &Binder;
  uint64_t QueuedPorts; ///< µops for these only wait in the queue.
  int32_t Waiting = 0;
  std::array<int32_t, 64> SchedulerOf; ///< By port; -1: one without a limit of its own.
  std::array<int32_t, 64> AtPort{};
  std::vector<int32_t> EntriesUsed; ///< By scheduler.
  uint64_t Full = 0;                ///< Ports whose scheduler takes no more.
  uint64_t Given = 0; ///< Of the ports that get one µop a cycle, those that got it in this one.
  std::deque<int32_t> Upstream; ///< In the queue.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_SCHEDULER_H

//===- backend.h - Reorder buffer, scheduler and execution ----------------===//

#ifndef INCC_LIB_SIM_BACKEND_H
#define INCC_LIB_SIM_BACKEND_H

#include "fingerprint.h"
#include "program.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace incc::sim {

constexpr int64_t Unknown = std::numeric_limits<int64_t>::max();

/// Chooses ports when µops are issued; see PortBinding.
class PortBinder {
public:
  explicit PortBinder(const Program &P);

  /// Before the issue of a cycle: what has left for its port in the cycle before counts no more.
  void newCycle();
  /// The port of a µop in an issue slot of this cycle.
  int32_t choose(uint64_t Allowed, int32_t Slot);
  void hasLeft(int32_t Port) { ++Leaving[Port]; }
  /// A µop that was bound to one port starts on another one.
  void moves(int32_t From, int32_t To) {
    --Bound[From];
    ++Bound[To];
  }
  /// As after the last µop of a cycle was bound.
  void addTo(Fingerprint &F) const;

private:
  int32_t leastLoaded(uint64_t Allowed) const;
  int32_t sixPorts(uint64_t Allowed, int32_t Slot) const;
  int32_t eightPorts(uint64_t Allowed, int32_t Slot) const;
  int32_t tenPorts(uint64_t Allowed, int32_t Slot);

  PortBinding Policy;
  size_t NumPorts;
  std::vector<uint64_t> Alternating;
  std::vector<int32_t> Turn; ///< By alternating set.
  int32_t MostAhead; ///< A port with so many µops more than another is no more taken in turn.
  int32_t Apart, SecondPortSlot, FirstPortSlot;
  uint64_t SlotSet;
  std::vector<int32_t> SlotPorts; ///< A row for each port of the set.
  size_t SlotsInRow = 1;
  std::array<int32_t, 64> Bound{};         ///< µops bound to each port and not executed.
  std::array<int32_t, 64> Use{}, Before{}; ///< As it stood at the start of this and the last cycle.
  std::array<int32_t, 64> Leaving{};
  std::vector<std::pair<uint64_t, int32_t>> SeenInCycle; ///< Port sets and how often, ten ports.
};

/// What leaves the machine with an issue slot; the stores then take `CommitCycles` on their way to
/// the cache.
struct Accesses {
  int32_t Loads = 0, Stores = 0, CommitCycles = 0;
};

/// In-order buffer of issue slots until they retire.
class ReorderBuffer {
public:
  ReorderBuffer(int32_t Size, int32_t RetireWidth);

  bool hasRoom(int32_t Slots) const { return Capacity == 0 || Tail - Head + Slots <= Capacity; }
  /// A new slot, to be followed by as many calls of executed() as `Pending`.
  int64_t push(int64_t Cycle, int32_t Pending, bool LastOfIteration, Accesses Memory = {});
  void executed(int64_t Slot, int64_t Done) {
    State &S = States[static_cast<size_t>(Slot) & Mask];
    --S.Pending;
    S.Done = std::max(S.Done, Done);
  }
  /// Retires in order what was executed by the cycle before. `Retired` is called with the place
  /// in the cycle of each slot that ends an iteration, `SlotRetired` with the number of every slot
  /// and the cycle in which its last result was there, `AccessesRetired` with its accesses.
  template <typename Fn, typename Each, typename Memory>
  void retire(int64_t Cycle, Fn Retired, Each SlotRetired, Memory AccessesRetired) {
    for (int32_t N = 0; N < RetireWidth && Head < Tail; ++N) {
      const State &S = States[static_cast<size_t>(Head) & Mask];
      if (S.Pending > 0 || S.Done + 1 >= Cycle)
        return;
      SlotRetired(Head++, S.Done + 1);
      if (S.Memory.Loads > 0 || S.Memory.Stores > 0)
        AccessesRetired(S.Memory);
      if (S.LastOfIteration)
        Retired(N);
    }
  }
  int64_t head() const { return Head; }
  void addTo(Fingerprint &F) const;
  bool empty() const { return Head == Tail; }

private:
  struct State {
    int64_t Done = 0;
    int32_t Pending = 0;
    bool LastOfIteration = false;
    Accesses Memory;
  };
  int32_t Capacity, RetireWidth;
  size_t Mask;
  std::vector<State> States;
  int64_t Head = 0, Tail = 0;
};

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
  void addTo(Fingerprint &F) const { F.add(Used); }

private:
  int32_t Capacity, Used = 0;
};

/// The stores from their issue until they are in the first-level cache.
class StoreQueue {
public:
  /// `Full`: as it is in the steady state of code that stores more than the cache takes; otherwise
  /// that state might not be reached while the code is watched.
  StoreQueue(int32_t Capacity, bool Full) : Capacity(Capacity) {
    for (int32_t N = 0; Full && N < Capacity; ++N) {
      enter(1);
      retire(0, 1, 1);
    }
  }

  /// A store enters an empty queue in any case.
  bool hasRoom(int32_t Stores) const {
    return Capacity == 0 || Used == 0 || Used + Stores <= Capacity;
  }
  void enter(int32_t Stores) { Used += Stores; }
  void retire(int64_t Cycle, int32_t Stores, int32_t CommitCycles) {
    FreeAt = std::max(FreeAt, Cycle) + CommitCycles;
    Committing.emplace_back(FreeAt, Stores);
  }
  /// What is in the cache leaves the queue.
  void cycle(int64_t Cycle) {
    for (; !Committing.empty() && Committing.front().first <= Cycle; Committing.pop_front())
      Used -= Committing.front().second;
  }
  void addTo(Fingerprint &F) const;

private:
  int32_t Capacity, Used = 0;
  int64_t FreeAt = 0;
  std::deque<std::pair<int64_t, int32_t>> Committing; ///< When, and how many.
};

/// The µops that wait for inputs and ports, the ports, and the values that flow between them.
class Backend {
public:
  Backend(const Program &P, Simulation &Counters, bool UnlimitedPorts = false,
          bool SteadyState = true);

  bool hasRoom(int32_t Uops) const { return Rs == 0 || Waiting + Uops <= Rs; }
  ReorderBuffer Rob;
  LoadQueue Loads;
  StoreQueue Stores;
  PortBinder Binder;

  /// The first instruction of an iteration is issued.
  void enterIteration(int64_t Iteration);
  /// Which optional µops of an instruction are issued.
  struct Issued {
    bool Move = false, Sync = false, Merge = false;
  };
  /// Connects the values of an instruction to their inputs.
  void enterInstruction(int32_t I, int64_t Iteration, int64_t Cycle, Issued Optional);
  /// Before the issue of a cycle.
  void newCycle();
  /// Whether the schedulers take the µops of an issue slot. One that is not full takes them all.
  bool accepts(std::span<const int32_t> SlotUops) const;
  /// Gives a µop to a scheduler, or to the queue before it.
  void issue(int32_t U, int64_t Iteration, int64_t Cycle, int32_t Slot, int64_t RobSlot);
  /// µops leave the queue in order, for the schedulers.
  void leaveQueue();
  /// Starts on each port the oldest µop that is ready.
  void dispatch(int64_t Cycle);
  /// Tells when a load that may be forwarded has its data, too.
  void watch(int32_t V, int64_t Iteration, int64_t RobSlot);

  bool anythingWaiting() const { return Waiting > 0; }
  /// Without reorder buffer, load and store queue and port binder. Iterations before `Retired` have
  /// retired.
  void addTo(Fingerprint &F, int64_t Retired) const;

  /// A µop that started; its inputs were there in cycle `Ready`.
  struct Started {
    int64_t Iteration;
    int32_t Uop, Port;
    int64_t Ready, Start;
  };
  std::vector<Started> *Record = nullptr;
  std::vector<StartedUop> *RecordUops = nullptr;

private:
  struct DynUop {
    int64_t Iteration = 0, Ready = 0, Earliest = 0, RobSlot = 0, Inputs = 0;
    uint64_t Order = 0;
    int32_t Static = -1; ///< -1: not in use.
    int32_t Missing = 0, Next = -1;
    int32_t Port = -1; ///< -1: in the queue before the schedulers.
    bool IsReady = false;
  };
  struct DynValue {
    int64_t Time = 0;
    int32_t Missing = 0;
    int32_t FirstWaiter = -1;
    bool Known = true;
  };
  /// Somebody who waits for a value: a µop, another value, or (neither) a slot of the reorder
  /// buffer.
  struct Waiter {
    int32_t Next, Uop;
    int64_t Value; ///< Or the slot.
    int32_t Latency;
  };

  DynValue &valueAt(int64_t Iteration, int32_t V) {
    return Values[(static_cast<size_t>(Iteration) & IterationMask) * NumValues +
                  static_cast<size_t>(V)];
  }
  /// The time of an input, Unknown if it is to come. What left the machine long ago was ready.
  DynValue *find(int64_t Iteration, const Input &In) {
    int64_t From = Iteration - In.Distance;
    if (From < 0 || From + static_cast<int64_t>(IterationMask) < Newest)
      return nullptr;
    return &valueAt(From, In.Value);
  }
  void addWaiter(DynValue &To, int32_t Uop, int64_t Value, int32_t Latency);
  void publish(DynValue &First);
  void schedule(int32_t Uop);
  std::span<const int32_t> portsInTurn();
  uint64_t oldestAt(int32_t Port) const {
    return Ports[static_cast<size_t>(Port)].Ready.front().first;
  }
  /// With a recorder: the input of a µop is ready at `Time`.
  void noteInput(int32_t Uop, const DynValue &From, int64_t Time);
  /// Starts what can go on in program order; see in_order.cpp.
  void dispatchInOrder(int64_t Cycle);
  /// Whether a µop at the head of the queue can go on; if so its port is one that is free.
  bool mayStart(DynUop &Dyn, int64_t Cycle) const;
  /// The µop takes its port now and executes `Stage` cycles later.
  void start(int32_t Uop, int64_t Cycle, int32_t Stage = 0);
  bool waitsInQueue(uint64_t Allowed) const {
    return (Allowed & ~P.P.WaitingPorts) == 0 && !UnlimitedPorts && !P.P.InOrder;
  }
  void bind(int32_t Uop, uint64_t Allowed, int32_t Slot);
  void makeReady(int32_t Uop);

  const Program &P;
  Simulation &Counters;
  bool UnlimitedPorts;
  int32_t Rs;
  int32_t Waiting = 0;
  size_t NumValues, IterationMask;
  int64_t Newest = -1;      ///< Iteration,
  int32_t LastEntered = -1; ///< and its last instruction so far.
  int64_t LongestWay = 0;   ///< The greatest latency and,
  int64_t FarthestBack = 0; ///< in iterations, distance between a value and what waits for it.
  int64_t Now = 0;
  uint64_t NextOrder = 0;
  std::vector<DynValue> Values;
  std::vector<DynUop> Pool;
  std::vector<std::vector<StartedUop::LateInput>> Late; ///< As Pool, with a recorder.
  int32_t FreeUop = -1;
  std::vector<Waiter> Waiters;
  int32_t FreeWaiter = -1;
  std::vector<int64_t> News;

  static constexpr int64_t Horizon = 256;
  std::array<int32_t, Horizon> LoadsDone{}; ///< By cycle, where they leave their queue then.
  std::array<int32_t, Horizon> Calendar;    ///< First µop that becomes ready in a cycle.
  struct PortState {
    std::vector<std::pair<uint64_t, int32_t>> Ready; ///< A heap, oldest first.
    int64_t FreeAt = 0;
  };
  std::deque<int32_t> InOrder; ///< µops in program order, where they start in it.
  std::array<PortState, 64> Ports;
  uint64_t Busy = 0; ///< Ports with ready µops.
  bool SharesUnits = false;
  std::array<int32_t, 64> InTurn;
  std::array<int32_t, 64> SchedulerOf; ///< By port; -1: one without a limit of its own.
  std::vector<int32_t> EntriesUsed;    ///< By scheduler.
  uint64_t Full = 0;                   ///< Ports whose scheduler takes no more.
  std::deque<int32_t> Upstream;        ///< In the queue before the schedulers.
  uint64_t Given = 0; ///< Of the ports that get one µop a cycle, those that got it in this one.
  std::array<int64_t, 64> HeldUntil{};
  /// By set of Pipeline::PickedFrom: until when each of its ways is taken.
  std::vector<std::vector<int64_t>> WaysUntil;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_BACKEND_H

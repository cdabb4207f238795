//===- values.h - The values that flow between µops -----------------------===//
//
// A dynamic value is what one instruction of one iteration produces. It is in one
// of two states:
//
//   pending   some µop that feeds it has not started, or some value that it
//             follows without a µop is pending itself;
//   resolved  its arrival time is known, which may lie in the future.
//
// A consumer (a µop, another value, or a slot of the reorder buffer) registers as
// a waiter of a pending value and is notified when the value is resolved, so that
// nothing polls values in every cycle.
//
// Values live in a ring that holds as many iterations as can be in flight. Values
// of iterations that have left the ring arrived long ago.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_VALUES_H
#define INCC_LIB_SIM_VALUES_H

#include "fingerprint.h"
#include "program.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace incc::sim {

/// The dynamic values and their waiters. A value has a number, its place in the ring.
class ValueNetwork {
public:
  explicit ValueNetwork(const Program &P);

  /// Begins an iteration, when its first instruction is issued.
  void enterIteration(int64_t Iteration) { NewestIteration = Iteration; }
  /// The optional µops of an instruction (InstructionPlan) that are issued.
  struct Issued {
    bool Move = false, Sync = false, Merge = false;
  };
  /// Connects the values of an instruction to their sources, when it is issued.
  void enterInstruction(int32_t I, int64_t Iteration, int64_t Cycle, Issued Optional);

  /// Connects a µop to one of its inputs. Calls Arrives(number of the value, arrival time) if the
  /// value is resolved. Otherwise the µop becomes a waiter, and the result is true.
  template <typename Fn> bool connect(int32_t Uop, int64_t Iteration, const Input &In, Fn Arrives) {
    Value *Source = lookUp(Iteration, In);
    if (!Source)
      return false;
    if (!Source->IsResolved) {
      addWaiter(*Source, Uop, -1, In.Latency);
      return true;
    }
    Arrives(numberOf(*Source), Source->Time + In.Latency);
    return false;
  }

  /// Makes a slot of the reorder buffer a waiter of a value. If the value is resolved already,
  /// stores its arrival time in `Time` and returns false.
  bool watch(int32_t V, int64_t Iteration, int64_t RobSlot, int64_t &Time) {
    Value &Watched = at(Iteration, V);
    Time = Watched.Time;
    if (!Watched.IsResolved)
      addWaiter(Watched, Waiter::RobSlot, RobSlot, 0);
    return !Watched.IsResolved;
  }

  /// Notes that a µop that feeds a value has started: the value arrives no earlier than `Time`, and
  /// later at the ports that `Delays` names. If this resolves the value, notifies the waiters by
  /// To.inputArrives(µop, number of the value, arrival time) and To.watchedArrives(slot, arrival
  /// time).
  template <typename Listener>
  void feed(int64_t Iteration, int32_t V, int64_t Time, uint32_t Delays, Listener &To) {
    Value &Fed = at(Iteration, V);
    Fed.delayUntil(Time, static_cast<uint16_t>(Delays));
    if (--Fed.MissingSources == 0)
      resolve(Fed, To);
  }

  /// Returns true if an input of a µop of this iteration has arrived in a cycle, apart from delays
  /// between ports.
  bool hasArrived(int64_t Iteration, const Input &In, int64_t Cycle) {
    const Value *V = lookUp(Iteration, In);
    return !V || (V->IsResolved && V->Time + In.Latency <= Cycle);
  }

  /// Calls Call(µop, latency) for each µop that waits for a value.
  template <typename Fn> void forEachWaiter(int64_t Iteration, int32_t V, Fn Call) {
    for (int32_t N = at(Iteration, V).FirstWaiter; N >= 0; N = Waiters[static_cast<size_t>(N)].Next)
      if (const Waiter &W = Waiters[static_cast<size_t>(N)]; W.Uop >= 0)
        Call(W.Uop, W.Latency);
  }

  /// Returns the delays between ports that hold for the consumers of a value, as bits.
  uint32_t delaysOf(size_t Number) const { return Values[Number].Delays; }
  /// Returns the index in Program::Values of the value with a number.
  int32_t staticOf(size_t Number) const { return static_cast<int32_t>(Number % NumValues); }
  /// Returns true if the value with a number belongs to this iteration.
  bool isOf(size_t Number, int64_t Iteration) const {
    return Number / NumValues == (static_cast<size_t>(Iteration) & IterationMask);
  }

  /// Adds the values that something may still wait for. Iterations before `Retired` have retired.
  void addTo(Fingerprint &F, int64_t Retired) const;

private:
  struct Value {
    int64_t Time = 0;           ///< When it arrives, as far as its sources have resolved.
    int32_t MissingSources = 0; ///< µops that have not started and values that are pending.
    int32_t FirstWaiter = -1;   ///< The head of a list in Waiters.
    bool IsResolved = true;
    /// The delays between ports that hold for its consumers, as bits. A value that follows another
    /// one without latency inherits that one's delays.
    uint16_t Delays = 0;

    /// Notes that the value arrives no earlier than `At`. The source that arrives last decides on
    /// the delays between ports.
    void delayUntil(int64_t At, uint16_t PortDelays) {
      if (At >= Time)
        Delays = At == Time ? Delays | PortDelays : PortDelays;
      Time = std::max(Time, At);
    }
  };
  struct Waiter {
    /// Values of `Uop` that stand for a waiter of another kind.
    static constexpr int32_t OtherValue = -1, RobSlot = -2;

    int32_t Next;    ///< In the list of the value's waiters, or of free entries.
    int32_t Uop;     ///< The number of the waiting µop, or one of the above.
    int64_t Target;  ///< The number of the waiting value, or the waiting slot.
    int32_t Latency; ///< Cycles from the value's arrival to that of the waiter's input.
  };

  Value &at(int64_t Iteration, int32_t V) {
    return Values[(static_cast<size_t>(Iteration) & IterationMask) * NumValues +
                  static_cast<size_t>(V)];
  }
  size_t numberOf(const Value &V) const { return static_cast<size_t>(&V - Values.data()); }
  /// Returns the value that an input of an iteration refers to, or nullptr if it arrived so long
  /// ago that it has left the ring.
  Value *lookUp(int64_t Iteration, const Input &In) {
    int64_t From = Iteration - In.Distance;
    if (From < 0 || From + static_cast<int64_t>(IterationMask) < NewestIteration)
      return nullptr;
    return &at(From, In.Value);
  }
  void addWaiter(Value &To, int32_t Uop, int64_t Target, int32_t Latency);

  /// Resolves a value and all values that this resolves in turn, and notifies their waiters.
  template <typename Listener> void resolve(Value &First, Listener &To) {
    Worklist.push_back(static_cast<int64_t>(numberOf(First)));
    while (!Worklist.empty()) {
      Value &Resolved = Values[static_cast<size_t>(Worklist.back())];
      Worklist.pop_back();
      Resolved.IsResolved = true;
      for (int32_t N = std::exchange(Resolved.FirstWaiter, -1); N >= 0;) {
        Waiter W = Waiters[static_cast<size_t>(N)];
        Waiters[static_cast<size_t>(N)].Next = std::exchange(FirstFreeWaiter, N);
        N = W.Next;
        if (W.Uop >= 0) {
          To.inputArrives(W.Uop, numberOf(Resolved), Resolved.Time + W.Latency);
        } else if (W.Uop == Waiter::OtherValue) {
          Value &Follower = Values[static_cast<size_t>(W.Target)];
          Follower.delayUntil(Resolved.Time + W.Latency, W.Latency == 0 ? Resolved.Delays : 0);
          if (--Follower.MissingSources == 0)
            Worklist.push_back(W.Target);
        } else {
          To.watchedArrives(W.Target, Resolved.Time);
        }
      }
    }
  }

  const Program &P;
  size_t NumValues, IterationMask;
  int64_t NewestIteration = -1;
  int32_t NewestInstruction = -1; ///< The last instruction that was entered.
  int64_t LongestLatency = 0;     ///< The greatest latency of any input, port delays included.
  int64_t LongestDistance = 0;    ///< The greatest distance of any input, in iterations.
  std::vector<Value> Values;      ///< The ring.
  std::vector<Waiter> Waiters;
  int32_t FirstFreeWaiter = -1;
  std::vector<int64_t> Worklist; ///< Numbers of values that resolve() has yet to handle.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_VALUES_H

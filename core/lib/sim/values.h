//===- values.h - The values that flow between µops ------------------------===//
//
// A value is known once all µops that feed it have started and all values that it
// follows are known: then its time is. Whoever needs it is told: a µop, another
// value, or a slot of the reorder buffer. So nobody asks every cycle. Values live
// in a ring of the iterations that can be in flight; what left it was ready long
// ago.
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

class ValueNetwork {
public:
  explicit ValueNetwork(const Program &P);

  /// The first instruction of an iteration is issued.
  void enterIteration(int64_t Iteration) { Newest = Iteration; }
  /// Which optional µops of an instruction are issued.
  struct Issued {
    bool Move = false, Sync = false, Merge = false;
  };
  /// Connects the values of an instruction to their inputs.
  void enterInstruction(int32_t I, int64_t Iteration, int64_t Cycle, Issued Optional);

  /// Connects a µop to one of its inputs. If that has a time, `Known` is called with the number of
  /// the value and when the input is there; else the µop is told later, and this is true.
  template <typename Fn> bool connect(int32_t Uop, int64_t Iteration, const Input &In, Fn Known) {
    Value *From = find(Iteration, In);
    if (!From)
      return false;
    if (!From->Known) {
      addWaiter(*From, Uop, -1, In.Latency);
      return true;
    }
    Known(numberOf(*From), From->Time + In.Latency);
    return false;
  }

  /// A slot of the reorder buffer is told when the value has its time, with what follows it; false
  /// if it has it now.
  bool watch(int32_t V, int64_t Iteration, int64_t RobSlot, int64_t &Time) {
    Value &From = at(Iteration, V);
    Time = From.Time;
    if (!From.Known)
      addWaiter(From, Slot, RobSlot, 0);
    return !From.Known;
  }

  /// A µop that feeds a value has started: the value is there no earlier than `Time`, and for some
  /// ports later, by `Delays`. If that is the last of them, those who wait are told by
  /// To.inputKnown(µop, number of the value, time of the input) and To.watchedKnown(slot, time of
  /// the value).
  template <typename Listener>
  void feed(int64_t Iteration, int32_t V, int64_t Time, uint32_t Delays, Listener &To) {
    Value &Fed = at(Iteration, V);
    Fed.comes(Time, static_cast<uint16_t>(Delays));
    if (--Fed.Missing == 0)
      publish(Fed, To);
  }

  /// Whether an input of a µop of this iteration is there in a cycle, but for delays between ports.
  bool isThere(int64_t Iteration, const Input &In, int64_t Cycle) {
    const Value *V = find(Iteration, In);
    return !V || (V->Known && V->Time + In.Latency <= Cycle);
  }

  /// The delays between ports (as bits) for those who need a value, by its number.
  uint32_t delaysOf(size_t Number) const { return Values[Number].Delays; }
  /// The value of the program that a number belongs to,
  int32_t staticOf(size_t Number) const { return static_cast<int32_t>(Number % NumValues); }
  /// and whether it is one of this iteration.
  bool isOf(size_t Number, int64_t Iteration) const {
    return Number / NumValues == (static_cast<size_t>(Iteration) & IterationMask);
  }

  /// Iterations before `Retired` have retired.
  void addTo(Fingerprint &F, int64_t Retired) const;

private:
  struct Value {
    int64_t Time = 0;
    int32_t Missing = 0; ///< µops and values without a time.
    int32_t FirstWaiter = -1;
    bool Known = true;
    /// Delays between ports for those who need it. A value that follows another one without delay
    /// has those of that one.
    uint16_t Delays = 0;

    /// It is there no earlier than `At`; what comes last says how late it is for others.
    void comes(int64_t At, uint16_t With) {
      if (At >= Time)
        Delays = At == Time ? Delays | With : With;
      Time = std::max(Time, At);
    }
  };
  struct Waiter {
    int32_t Next;
    int32_t Uop;   ///< Or one of the following,
    int64_t Which; ///< and which.
    int32_t Latency;
  };
  static constexpr int32_t OtherValue = -1, Slot = -2;

  Value &at(int64_t Iteration, int32_t V) {
    return Values[(static_cast<size_t>(Iteration) & IterationMask) * NumValues +
                  static_cast<size_t>(V)];
  }
  size_t numberOf(const Value &V) const { return static_cast<size_t>(&V - Values.data()); }
  /// What left the machine long ago was ready: nullptr.
  Value *find(int64_t Iteration, const Input &In) {
    int64_t From = Iteration - In.Distance;
    if (From < 0 || From + static_cast<int64_t>(IterationMask) < Newest)
      return nullptr;
    return &at(From, In.Value);
  }
  void addWaiter(Value &To, int32_t Uop, int64_t Which, int32_t Latency);

  template <typename Listener> void publish(Value &First, Listener &To) {
    News.push_back(static_cast<int64_t>(numberOf(First)));
    while (!News.empty()) {
      Value &Known = Values[static_cast<size_t>(News.back())];
      News.pop_back();
      Known.Known = true;
      for (int32_t W = std::exchange(Known.FirstWaiter, -1); W >= 0;) {
        Waiter Told = Waiters[static_cast<size_t>(W)];
        Waiters[static_cast<size_t>(W)].Next = std::exchange(FreeWaiter, W);
        W = Told.Next;
        if (Told.Uop >= 0) {
          To.inputKnown(Told.Uop, numberOf(Known), Known.Time + Told.Latency);
        } else if (Told.Uop == OtherValue) {
          Value &Next = Values[static_cast<size_t>(Told.Which)];
          Next.comes(Known.Time + Told.Latency, Told.Latency == 0 ? Known.Delays : 0);
          if (--Next.Missing == 0)
            News.push_back(Told.Which);
        } else {
          To.watchedKnown(Told.Which, Known.Time);
        }
      }
    }
  }

  const Program &P;
  size_t NumValues, IterationMask;
  int64_t Newest = -1;      ///< Iteration,
  int32_t LastEntered = -1; ///< and its last instruction so far.
  int64_t LongestWay = 0;   ///< The greatest latency and,
  int64_t FarthestBack = 0; ///< in iterations, distance between a value and what waits for it.
  std::vector<Value> Values;
  std::vector<Waiter> Waiters;
  int32_t FreeWaiter = -1;
  std::vector<int64_t> News;
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_VALUES_H

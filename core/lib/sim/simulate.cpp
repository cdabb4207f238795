//===- simulate.cpp - The pipeline, cycle by cycle ------------------------===//

#include "order.h"
#include "recorder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

using namespace incc;
using namespace incc::sim;

namespace {

/// How long a kernel is watched before its throughput is read off (Abel and Reineke, ICS 2022).
constexpr int64_t MinCycles = 500, MinIterations = 10;
/// Further iterations in search of one that retires in the same slot as the one in the middle.
constexpr int64_t MostFurtherIterations = 50;

/// When the last µop of an iteration retired, and as which of that cycle.
struct Retirement {
  int64_t Cycle;
  int32_t Slot;
};

/// The throughput between the iteration in the middle and the last one.
Rational readOff(const std::vector<Retirement> &Retired) {
  size_t Last = Retired.size(), Middle = Last / 2;
  return Rational(Retired[Last - 1].Cycle - Retired[Middle - 1].Cycle,
                  static_cast<int64_t>(Last - Middle));
}

/// The number of iterations after which retirement repeats itself throughout the second half, at
/// least three times; 0 without.
int32_t findPeriod(const std::vector<Retirement> &Retired) {
  size_t N = Retired.size(), Half = N / 2;
  for (size_t Period = 1; Period <= Half / 3; ++Period) {
    int64_t Cycles = Retired[N - 1].Cycle - Retired[N - 1 - Period].Cycle;
    size_t At = N;
    while (At > Half + Period && Retired[At - 1].Slot == Retired[At - 1 - Period].Slot &&
           Retired[At - 1].Cycle - Retired[At - 1 - Period].Cycle == Cycles)
      --At;
    if (At == Half + Period)
      return static_cast<int32_t>(Period);
  }
  return 0;
}

/// The components that a kernel runs through, in the order of a cycle.
struct Machine {
  Machine(const Program &P, const CodeLayout &Code, Simulation &Counters, bool UnlimitedPorts,
          bool SteadyState)
      : Back(P, Counters, UnlimitedPorts, SteadyState), Front(P, Code, Counters),
        Rename(P, Code, Front, Back, Counters) {}

  /// `Retired` and `SlotRetired` as for ReorderBuffer::retire.
  template <typename Fn, typename Each>
  void cycle(int64_t Cycle, Fn IterationRetired, Each SlotRetired) {
    Back.Rob.retire(Cycle, IterationRetired, SlotRetired, [&](const Accesses &Memory) {
      Back.Loads.leave(Memory.Loads);
      Back.Stores.retire(Cycle, Memory.Stores, Memory.CommitCycles);
    });
    Back.Stores.cycle(Cycle);
    Back.dispatch(Cycle);
    Back.leaveQueue();
    Rename.cycle(Cycle);
    Front.cycle(Cycle);
  }

  Backend Back;
  FrontEnd Front;
  Renamer Rename;
};

/// Finds out that the machine is in a state in which it was before, so that all that follows is
/// what followed then.
///
/// One state is remembered, and replaced by a later one now and then, further and further apart.
/// States are compared when an iteration has retired: first the parts that are small and tell most
/// of them apart.
class Repetition {
public:
  /// What was counted until the remembered state.
  struct Counts {
    int64_t Cycle = -1;
    size_t Retired = 0;
    Simulation Counters;
  };

  /// Whether the state after `Cycle`, in which an iteration retired, is the remembered one.
  bool found(const Machine &M, int64_t Cycle, size_t Retired, const Simulation &Counters) {
    if (Spent > Cycle * NumbersPerCycle)
      return false;
    int64_t Iterations = static_cast<int64_t>(Retired);
    bool Renews = Cycle > Then.Cycle + std::max(MinSpan, Cycle / 4);
    std::array<uint64_t, 3> State{};
    for (size_t Part = 0; Part < State.size(); ++Part) {
      Fingerprint F(Cycle, Iterations);
      if (Part == 0) {
        M.Front.addTo(F);
        M.Rename.addTo(F);
        M.Back.Binder.addTo(F);
      } else if (Part == 1) {
        M.Back.Rob.addTo(F);
        M.Back.Loads.addTo(F);
        M.Back.Stores.addTo(F);
      } else {
        M.Back.addTo(F, Iterations);
      }
      Spent += F.size();
      State[Part] = F.value();
      if (!Renews && State[Part] != StateThen[Part])
        return false;
    }
    if (State == StateThen)
      return true;
    Then = {Cycle, Retired, Counters};
    StateThen = State;
    return false;
  }

  const Counts &then() const { return Then; }

private:
  /// How much of the work of a cycle may go into looking for repetition.
  static constexpr int64_t NumbersPerCycle = 16;
  static constexpr int64_t MinSpan = 24;
  Counts Then;
  std::array<uint64_t, 3> StateThen{};
  int64_t Spent = 0;
};

/// Adds to the counters what was counted since `Then`, so many times.
void multiply(Simulation &Counters, const Simulation &Then, int64_t Times) {
  auto Add = [&](int64_t &Now, int64_t Before) { Now += Times * (Now - Before); };
  for (size_t N = 0; N < Counters.Uops.size(); ++N)
    Add(Counters.Uops[N], Then.Uops[N]);
  for (size_t N = 0; N < Counters.LostSlots.size(); ++N)
    Add(Counters.LostSlots[N], Then.LostSlots[N]);
  for (size_t N = 0; N < Counters.PortUops.size(); ++N)
    Add(Counters.PortUops[N], Then.PortUops[N]);
  Add(Counters.MovesEliminated, Then.MovesEliminated);
  Add(Counters.MovesExecuted, Then.MovesExecuted);
}

bool isSteady(const std::vector<Retirement> &Retired) {
  return Retired[Retired.size() - 1].Slot == Retired[Retired.size() / 2 - 1].Slot;
}

/// The whole run; ports are in the order that rules for them go by.
Simulation run(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options,
               Groundwork From) {
  Simulation Result;
  Program P(K, Pipe, std::move(From), Options.Assume);
  if (P.Entries.empty()) {
    if (Options.RecordEvents)
      Result.Trace = idleTimeline(K, Options.Iterations);
    return Result;
  }
  CodeLayout Code(P, Options.Loop, Options.Alignment < 0 ? Pipe.Alignment : Options.Alignment);
  Machine M(P, Code, Result, Options.Assume.UnlimitedPorts,
            /*SteadyState=*/Options.Iterations == 0 && !P.CommitCycles.empty());
  if (Options.Iterations > 0)
    M.Rename.LastIteration = Options.Iterations - 1;
  Recorder Log;
  if (Options.RecordEvents) {
    M.Back.Record = &Log.Started;
    M.Back.RecordUops = &Result.Started;
    M.Rename.Record = &Log.Issue;
  }
  int64_t Limit = Options.MaxCycles > 0
                      ? Options.MaxCycles
                      : 1'000'000 + 100'000 * static_cast<int64_t>(K.numInstructions());

  // The first half of the iterations must have filled the reorder buffer and emptied it again.
  int64_t WantedIterations =
      std::max<int64_t>(MinIterations, 4 * int64_t(K.Rob) / static_cast<int64_t>(P.Slots.size()));
  std::vector<Retirement> Retired;
  int64_t Cycle = 0, EnoughAt = 0;
  auto CheckLimit = [&] {
    if (Cycle >= Limit)
      throw std::runtime_error("the simulation was given up after " + std::to_string(Limit) +
                               " cycles and " + std::to_string(Retired.size()) + " iterations");
  };
  auto IsDone = [&] {
    int64_t Iterations = static_cast<int64_t>(Retired.size());
    if (Options.Iterations > 0)
      return Iterations >= Options.Iterations;
    if (Cycle < MinCycles || Iterations < WantedIterations)
      return false;
    if (EnoughAt == 0)
      EnoughAt = Iterations;
    return isSteady(Retired) || Iterations >= EnoughAt + MostFurtherIterations;
  };
  Repetition Repeats;
  bool Watches = Options.Iterations == 0 && !Options.RecordEvents && !Options.EveryCycle;
  for (bool Done = false; !Done; ++Cycle) {
    CheckLimit();
    size_t RetiredBefore = Retired.size();
    M.cycle(
        Cycle, [&](int32_t Slot) { Retired.push_back({Cycle, Slot}); },
        [&](int64_t Slot, int64_t Executed) {
          if (Options.RecordEvents)
            Log.retire(Slot, Cycle, Executed);
        });
    Done = IsDone();
    if (Done || !Watches || Retired.size() == RetiredBefore ||
        !Repeats.found(M, Cycle, Retired.size(), Result))
      continue;
    // The machine stands still while its iterations are written on,
    int64_t Now = Cycle, Span = Now - Repeats.then().Cycle;
    size_t Iterations = Retired.size() - Repeats.then().Retired;
    while (!Done) {
      ++Cycle;
      CheckLimit();
      for (;;) {
        Retirement Again = Retired[Retired.size() - Iterations];
        if (Again.Cycle + Span != Cycle)
          break;
        Retired.push_back({Cycle, Again.Slot});
      }
      Done = IsDone();
    }
    // and does what is left over of a whole repetition for the counters.
    multiply(Result, Repeats.then().Counters, (Cycle - Now) / Span);
    for (int64_t Left = (Cycle - Now) % Span; Left > 0; --Left)
      M.cycle(++Now, [](int32_t) {}, [](int64_t, int64_t) {});
  }
  Result.Cycles = Cycle;
  Result.Iterations = static_cast<int64_t>(Retired.size());
  if (Options.Iterations > 0) {
    Result.CyclesPerIteration = Rational(Cycle, Result.Iterations);
  } else if (int32_t Period = findPeriod(Retired)) {
    Result.Period = Period;
    Result.CyclesPerIteration =
        Rational(Retired.back().Cycle - Retired[Retired.size() - 1 - Period].Cycle, Period);
  } else {
    Result.CyclesPerIteration = readOff(Retired);
  }
  if (Options.RecordEvents) {
    Result.Trace = Log.collect(P, Result.Iterations);
    Log.link(P, Result.Started);
  }
  return Result;
}

} // namespace

bool incc::needsLoadAddresses(const Pipeline &P) { return P.BankBytes > 0; }

bool incc::needsStoreAddresses(const Pipeline &P) { return P.StoreCommitBytes > 0; }

Simulation incc::simulate(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options) {
  return simulate(K, Pipe, Options,
                  layGroundwork(K, needsLoadAddresses(Pipe), needsStoreAddresses(Pipe)));
}

Simulation incc::simulate(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options,
                          Groundwork From) {
  validate(K, Pipe);
  if (Options.Iterations < 0)
    throw std::invalid_argument("iterations: there are no fewer than none");
  PortOrder Order(Pipe);
  if (Order.isByNumber())
    return run(K, Pipe, Options, std::move(From));
  Kernel Ordered = K;
  Pipeline OrderedPipe = Pipe;
  Order.toPlaces(Ordered, OrderedPipe);
  Simulation Result = run(Ordered, OrderedPipe, Options, std::move(From));
  Order.toNumbers(Result);
  return Result;
}

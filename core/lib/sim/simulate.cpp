//===- simulate.cpp - The pipeline, cycle by cycle ------------------------===//

#include "order.h"
#include "recorder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

/// How long a kernel is watched before its throughput is read off (Abel and Reineke, ICS 2022).
constexpr int64_t MinCycles = 500, MinIterations = 10;
/// Further iterations in search of one that retires in the same slot as the one in the middle.
constexpr int64_t MostFurtherIterations = 50;
/// The run becomes so many times as long at most where its throughput cannot be the steady one.
constexpr int64_t MostTimesLonger = 3;
/// The last ones, in which the critical sequence is looked for.
constexpr int64_t SequenceIterations = 32;

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
      if (Memory.Stores > 0)
        Back.Stores.retire(Cycle, Memory.Stores, Memory.CommitCycles, Memory.Rewritten);
      Back.Registers.giveBack({Memory.General, Memory.Vector});
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

/// Cycles an iteration of the steady state, and after how many iterations the machine, or at least
/// what it retires, repeats itself; 0 if it was not seen to do so.
struct Throughput {
  Rational Cycles;
  int32_t Period = 0;
};

Throughput readThroughput(const std::vector<Retirement> &Retired, const Throughput &Repeated) {
  if (Repeated.Period > 0)
    return Repeated;
  if (int32_t Period = findPeriod(Retired))
    return {Rational(Retired.back().Cycle - Retired[Retired.size() - 1 - Period].Cycle, Period),
            Period};
  return {readOff(Retired)};
}

bool isSteady(const std::vector<Retirement> &Retired) {
  return Retired[Retired.size() - 1].Slot == Retired[Retired.size() / 2 - 1].Slot;
}

/// The whole run; ports are in the order that rules for them go by.
Simulation run(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options,
               Groundwork From) {
  Simulation Result;
  if (K.numInstructions() == 0) {
    Result.Iterations = Options.Iterations;
    if (Options.Pressure)
      Result.Counted.Why.ByResource.resize(static_cast<size_t>(K.NumColumns));
    Result.Counted.Schedulers.resize(Pipe.SchedulerEntries.size());
    Result.Counted.Buffers.resize(Options.Buffers.size());
    return Result;
  }
  Program P(K, Pipe, std::move(From), Options.Assume);
  // Instructions that go along with others, and no others: each takes a slot of its own then.
  if (P.Entries.empty() && Options.Statistics && Options.Iterations > 0) {
    Kernel Alone = K;
    std::ranges::fill(Alone.IssueSlots, 1);
    Groundwork Again = layGroundwork(Alone, needsLoadAddresses(Pipe), needsStoreAddresses(Pipe));
    return run(Alone, Pipe, Options, std::move(Again));
  }
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
  std::optional<Observer> Seen;
  if (Options.Statistics) {
    M.Back.Observed = &Seen.emplace(P, Options);
    M.Back.Registers.count();
  }
  int64_t Limit = Options.MaxCycles > 0
                      ? Options.MaxCycles
                      : 1'000'000 + 100'000 * static_cast<int64_t>(K.numInstructions());

  // The first half of the iterations must have filled the reorder buffer and emptied it again.
  int64_t WantedIterations =
      std::max<int64_t>(MinIterations, 4 * int64_t(K.Rob) / static_cast<int64_t>(P.Slots.size()));
  std::vector<Retirement> Retired;
  int64_t Cycle = 0, EnoughAt = 0, LookedAt = 0;
  auto CheckLimit = [&] {
    if (Cycle >= Limit)
      throw std::runtime_error("the simulation was given up after " + std::to_string(Limit) +
                               " cycles and " + std::to_string(Retired.size()) + " iterations");
  };
  Throughput Repeated;
  int64_t SkippedCycles = 0, SkippedIterations = 0;
  auto IsDone = [&] {
    int64_t Iterations = static_cast<int64_t>(Retired.size());
    if (Options.Iterations > 0)
      return Iterations >= Options.Iterations - SkippedIterations;
    if (Cycle < MinCycles || Iterations < WantedIterations ||
        std::exchange(LookedAt, Iterations) == Iterations)
      return false;
    if (EnoughAt == 0)
      EnoughAt = Iterations;
    bool Further = Iterations < EnoughAt + MostFurtherIterations;
    if (Further && !isSteady(Retired))
      return false;
    // Between any two iterations µops of older or younger ones are executed, too: a cycle or two if
    // they jostle for ports, more while work is still piling up in the schedulers.
    return Repeated.Period > 0 || readThroughput(Retired, Repeated).Cycles >= Options.AtLeast ||
           Iterations >= MostTimesLonger * EnoughAt + MostFurtherIterations;
  };
  Repetition Repeats;
  bool Shortens = !Options.RecordEvents && !Options.EveryCycle;
  bool Watches = Options.Iterations == 0 || Shortens;
  Statistics SeenThen;
  for (bool Done = false; !Done; ++Cycle) {
    CheckLimit();
    size_t RetiredBefore = Retired.size();
    M.cycle(
        Cycle, [&](int32_t Slot) { Retired.push_back({Cycle, Slot}); },
        [&](int64_t Slot, int64_t Executed) {
          if (Options.RecordEvents)
            Log.retire(Slot, Cycle, Executed);
          if (Seen)
            Seen->retired(Slot, Cycle, Executed);
        });
    if (Seen)
      M.Back.observe(Cycle);
    // How the first iterations go says little about the others.
    if (Options.Pressure && !M.Back.Record && Options.Iterations > 0 &&
        M.Rename.iteration() >= Options.Iterations - SkippedIterations - SequenceIterations) {
      M.Back.Record = &Log.Started;
      M.Back.RecordUops = &Result.Started;
    }
    Done = IsDone();
    if (Done || !Watches || Retired.size() == RetiredBefore ||
        static_cast<int64_t>(Retired.size()) < Options.EventIterations)
      continue;
    if (!Repeats.found(M, Cycle, Retired.size(), Result)) {
      if (Seen && Repeats.then().Cycle == Cycle)
        SeenThen = Seen->counted();
      continue;
    }
    // The machine stands still while its iterations are written on,
    int64_t Now = Cycle, Span = Now - Repeats.then().Cycle;
    size_t Iterations = Retired.size() - Repeats.then().Retired;
    Repeated = {Rational(Span, static_cast<int64_t>(Iterations)), static_cast<int32_t>(Iterations)};
    Watches = false;
    if (!Shortens)
      continue;
    if (Options.Iterations > 0) {
      // The iterations that it would repeat are left out: the last of those that it still begins is
      // the last of all, and the machine empties itself as it would behind that one.
      int64_t Further = M.Rename.LastIteration - M.Rename.iteration();
      if (Options.Pressure)
        Further -= SequenceIterations;
      int64_t Times = std::max<int64_t>(0, Further) / static_cast<int64_t>(Iterations);
      SkippedCycles = Times * Span;
      SkippedIterations = Times * static_cast<int64_t>(Iterations);
      M.Rename.LastIteration -= SkippedIterations;
      multiply(Result, Repeats.then().Counters, Times);
      if (Seen)
        Seen->multiply(SeenThen, Times);
      continue;
    }
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
  Cycle += SkippedCycles;
  Result.Cycles = Cycle;
  Result.Iterations = static_cast<int64_t>(Retired.size()) + SkippedIterations;
  if (Options.Iterations > 0) {
    Result.CyclesPerIteration = Rational(Cycle, Result.Iterations);
  } else {
    Throughput Found = readThroughput(Retired, Repeated);
    Result.CyclesPerIteration = Found.Cycles;
    Result.Period = Found.Period;
  }
  if (Options.RecordEvents) {
    Result.Trace = Log.collect(P, Result.Iterations);
    Log.link(P, Result.Started);
  }
  if (Seen)
    Result.Counted = Seen->finish(Cycle, Options.EventCycles);
  if (Options.Statistics && Options.Pressure) {
    Result.Counted.Sequence = Options.RecordEvents ? findSequence(Result.Started, [](int32_t) {})
                                                   : Log.findSequence(P, Result.Started);
    if (!Options.RecordEvents)
      Result.Started.clear();
  }
  return Result;
}

} // namespace

bool incc::needsLoadAddresses(const Pipeline &P) { return P.BankBytes > 0; }

bool incc::needsStoreAddresses(const Pipeline &P) { return P.StoreCommitBytes > 0; }

Simulation incc::simulate(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options) {
  Groundwork From = layGroundwork(K, needsLoadAddresses(Pipe), needsStoreAddresses(Pipe));
  const Assumptions &Assume = Options.Assume;
  if (Options.Iterations != 0 || Assume.UnlimitedPorts || Assume.NoRegisterDependencies ||
      Assume.NoMemoryDependencies)
    return simulate(K, Pipe, Options, std::move(From));
  SimulationOptions Bounded = Options;
  Bounded.AtLeast = findBounds(K, From).largest();
  return simulate(K, Pipe, Bounded, std::move(From));
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
  SimulationOptions OrderedOptions = Options;
  for (SimulationOptions::Buffer &B : OrderedOptions.Buffers)
    B.Ports = Order.places(B.Ports);
  Simulation Result = run(Ordered, OrderedPipe, OrderedOptions, std::move(From));
  Order.toNumbers(Result);
  return Result;
}

//===- simulate.cpp - Runs of the simulated machine -----------------------===//
//
// A run ends after a given number of iterations or when the throughput is
// steady. Once the machine has returned to an earlier state, repetitions are
// not simulated again:
//
//   - A run until the steady state extrapolates the cycles in which iterations
//     retire from the previous period, and multiplies the counters.
//   - A run of a given length skips whole periods: it reduces the iterations that
//     the renamer has yet to begin, and multiplies the counters. The machine then
//     drains as it would after the last iteration.
//
//===----------------------------------------------------------------------===//

#include "critical_sequence.h"
#include "incc/deadline.h"
#include "machine.h"
#include "order.h"
#include "recorder.h"
#include "steady_state.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

thread_local double Deadline = std::numeric_limits<double>::infinity();

/// Throws std::runtime_error if this thread's time is over.
void checkDeadline() {
  timespec Used;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Used) == 0 &&
      Used.tv_sec + 1e-9 * Used.tv_nsec > Deadline)
    throw std::runtime_error("the simulation was given up: its time is over");
}

/// The cycles between two looks at the clock, which take less than a millisecond.
constexpr int64_t ClockPeriod = 1024;

/// The least length of a run before its throughput is read (Abel and Reineke, ICS 2022).
constexpr int64_t MinCycles = 500, MinIterations = 10;
/// The most further iterations of a run in search of one that retires in the same slot as the one
/// in the middle.
constexpr int64_t MostFurtherIterations = 50;
/// The most times by which a run is extended whose throughput cannot be the steady one.
constexpr int64_t MostTimesLonger = 3;
/// The last iterations of a run, in which the critical sequence is searched.
constexpr int64_t SequenceIterations = 32;

/// Adds `Times` times the difference between the counters and `Then`.
void multiplyCounters(Simulation &Counters, const Simulation &Then, int64_t Times) {
  auto Add = [&](int64_t &Now, int64_t Before) { Now += Times * (Now - Before); };
  auto AddAll = [&](auto &Now, const auto &Before) {
    for (size_t N = 0; N < Now.size(); ++N)
      Add(Now[N], Before[N]);
  };
  AddAll(Counters.UopsBySource, Then.UopsBySource);
  AddAll(Counters.LostSlots, Then.LostSlots);
  AddAll(Counters.PortUops, Then.PortUops);
  Add(Counters.MovesEliminated, Then.MovesEliminated);
  Add(Counters.MovesExecuted, Then.MovesExecuted);
}

/// One run of a program.
class Run {
public:
  Run(const Program &P, const SimulationOptions &Options, Simulation &Result);

  /// Runs the program and fills the result.
  void run();

private:
  bool runCycle();
  bool isDone();
  bool isThroughputSteady();
  void checkLimit() const;
  void startRecording();
  bool isRepetition();
  void writeOnPeriods();
  void skipPeriods();
  void finish();

  Throughput throughput() const { return Repeated.Period > 0 ? Repeated : readThroughput(Retired); }
  int64_t numRetired() const { return static_cast<int64_t>(Retired.size()); }
  /// Returns true if the number of iterations was given.
  bool isCounted() const { return Options.Iterations > 0; }

  const Program &P;
  const SimulationOptions &Options;
  Simulation &Result;
  CodeLayout Code;
  Machine M;
  Recorder Log;
  std::optional<Observer> Statistics;
  int64_t MaxCycles;
  int64_t NeededIterations; ///< The iterations that a run until the steady state takes at least.
  bool Shortens;            ///< Repetitions are not simulated.

  int64_t Cycle = 0;
  std::vector<Retirement> Retired; ///< By iteration.
  int64_t EnoughAt = 0;            ///< The iterations with which the run was long enough.
  int64_t CheckedAt = 0;           ///< The iterations with which the throughput was looked at last.

  bool Watches; ///< The run has not been seen to repeat itself yet, and it matters.
  RepetitionDetector Repetitions;
  incc::Statistics StatisticsThen; ///< Those at the state that Repetitions remembers.
  Throughput Repeated;             ///< Known when the run repeats itself.
  int64_t SkippedCycles = 0, SkippedIterations = 0;
};

Run::Run(const Program &P, const SimulationOptions &Options, Simulation &Result)
    : P(P), Options(Options), Result(Result),
      Code(P, Options.Loop, Options.Alignment < 0 ? P.P.Alignment : Options.Alignment),
      M(P, Code, Result, Options.Assume.UnlimitedPorts,
        /*StoresAtLimit=*/Options.Iterations == 0 && P.Commits.isLimited()),
      MaxCycles(Options.MaxCycles > 0
                    ? Options.MaxCycles
                    : 1'000'000 + 100'000 * static_cast<int64_t>(P.K.numInstructions())),
      // The first half of the iterations must have filled the reorder buffer and emptied it again.
      NeededIterations(std::max<int64_t>(MinIterations, 4 * int64_t(P.K.Rob) /
                                                            static_cast<int64_t>(P.Slots.size()))),
      Shortens(!Options.RecordEvents && !Options.EveryCycle),
      Watches(Options.Iterations == 0 || Shortens) {
  Result.UncachedJumps = Code.uncachedJumps();
  if (isCounted())
    M.Rename.LastIteration = Options.Iterations - 1;
  if (Options.RecordEvents) {
    startRecording();
    M.Rename.Record = &Log.Issue;
  }
  if (Options.Statistics) {
    M.Back.Observed = &Statistics.emplace(P, Options);
    M.Back.Registers.startCounting();
  }
}

/// Records the µops that start from now on.
void Run::startRecording() {
  M.Back.Record = &Log.Started;
  M.Back.RecordUops = &Result.Started;
}

void Run::run() {
  for (bool Done = false; !Done; ++Cycle) {
    checkLimit();
    bool IterationRetired = runCycle();
    Done = isDone();
    // The iterations whose events are wanted must be simulated.
    if (Done || !Watches || !IterationRetired || numRetired() < Options.EventIterations ||
        !isRepetition() || !Shortens)
      continue;
    if (isCounted()) {
      skipPeriods();
    } else {
      writeOnPeriods();
      Done = true;
    }
  }
  finish();
}

void Run::checkLimit() const {
  if (Cycle % ClockPeriod == 0)
    checkDeadline();
  if (Cycle >= MaxCycles)
    throw std::runtime_error("the simulation was given up after " + std::to_string(MaxCycles) +
                             " cycles and " + std::to_string(Retired.size()) + " iterations");
}

/// Simulates a cycle, and returns true if an iteration retired in it.
bool Run::runCycle() {
  size_t RetiredBefore = Retired.size();
  M.cycle(
      Cycle, [&](int32_t Slot) { Retired.push_back({Cycle, Slot}); },
      [&](int64_t Slot, int64_t Executed) {
        if (Options.RecordEvents)
          Log.retire(Cycle, Executed);
        if (Statistics)
          Statistics->retired(Slot, Cycle, Executed);
      });
  if (Statistics)
    M.Back.observe(Cycle);
  // The critical sequence is that of the last iterations: the first ones are not typical.
  if (Options.Pressure && !M.Back.Record && isCounted() &&
      M.Rename.iteration() >= Options.Iterations - SkippedIterations - SequenceIterations)
    startRecording();
  return Retired.size() != RetiredBefore;
}

bool Run::isDone() {
  if (isCounted())
    return numRetired() >= Options.Iterations - SkippedIterations;
  if (Cycle < MinCycles || numRetired() < NeededIterations ||
      std::exchange(CheckedAt, numRetired()) == numRetired())
    return false;
  if (EnoughAt == 0)
    EnoughAt = numRetired();
  if (numRetired() < EnoughAt + MostFurtherIterations && !endsInSameSlot(Retired))
    return false;
  // Between any two iterations, µops of older or younger ones start, too: a cycle's worth or two if
  // they compete for ports, more while µops still pile up in the schedulers.
  return Repeated.Period > 0 || throughput().Cycles >= Options.LowerBound ||
         numRetired() >= MostTimesLonger * EnoughAt + MostFurtherIterations;
}

/// Returns true if the machine has returned to an earlier state.
bool Run::isRepetition() {
  if (!Repetitions.isRepetition(M, Cycle, Retired.size(), Result)) {
    if (Statistics && Repetitions.remembered().Cycle == Cycle)
      StatisticsThen = Statistics->counts();
    return false;
  }
  auto Period = static_cast<int32_t>(Retired.size() - Repetitions.remembered().Retired);
  Repeated = {Rational(Cycle - Repetitions.remembered().Cycle, Period), Period};
  Watches = false;
  return true;
}

/// Extrapolates the retirement of iterations until the run is done. The machine does not change.
void Run::writeOnPeriods() {
  int64_t Now = Cycle, Span = Now - Repetitions.remembered().Cycle;
  auto Period = static_cast<size_t>(Repeated.Period);
  for (bool Done = false; !Done; Done = isDone()) {
    ++Cycle;
    checkLimit();
    for (;;) {
      Retirement Earlier = Retired[Retired.size() - Period];
      if (Earlier.Cycle + Span != Cycle)
        break;
      Retired.push_back({Cycle, Earlier.Slot});
    }
  }
  multiplyCounters(Result, Repetitions.remembered().Counters, (Cycle - Now) / Span);
  // The counters of the rest, which is no whole period, are those of the machine.
  for (int64_t Left = (Cycle - Now) % Span; Left > 0; --Left)
    M.cycle(++Now, [](int32_t) {}, [](int64_t, int64_t) {});
}

/// Skips as many whole periods as the iterations that are still to begin contain.
void Run::skipPeriods() {
  int64_t Iterations = M.Rename.LastIteration - M.Rename.iteration();
  if (Options.Pressure)
    Iterations -= SequenceIterations;
  int64_t Times = std::max<int64_t>(0, Iterations) / Repeated.Period;
  SkippedCycles = Times * (Cycle - Repetitions.remembered().Cycle);
  SkippedIterations = Times * Repeated.Period;
  M.Rename.LastIteration -= SkippedIterations;
  multiplyCounters(Result, Repetitions.remembered().Counters, Times);
  if (Statistics)
    Statistics->multiply(StatisticsThen, Times);
}

void Run::finish() {
  Result.Cycles = Cycle + SkippedCycles;
  Result.Iterations = numRetired() + SkippedIterations;
  if (isCounted()) {
    Result.CyclesPerIteration = Rational(Result.Cycles, Result.Iterations);
  } else {
    Throughput Steady = throughput();
    Result.CyclesPerIteration = Steady.Cycles;
    Result.Period = Steady.Period;
  }
  if (Options.RecordEvents) {
    Result.Trace = Log.collect(P, Result.Iterations);
    Log.link(P, Result.Started);
  }
  if (!Statistics)
    return;
  Result.Stats = Statistics->finish(Result.Cycles, Options.EventCycles);
  if (!Options.Pressure)
    return;
  if (Options.RecordEvents) {
    Result.Stats.Sequence = findSequence(Result.Started, [](int32_t) {});
  } else {
    Result.Stats.Sequence = Log.findSequence(P, Result.Started);
    Result.Started.clear();
  }
}

/// Returns the result for a kernel without instructions.
Simulation emptyRun(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options) {
  Simulation Result;
  Result.Iterations = Options.Iterations;
  if (Options.Pressure)
    Result.Stats.Pressure.ByResource.resize(static_cast<size_t>(K.NumColumns));
  Result.Stats.Schedulers.resize(Pipe.SchedulerEntries.size());
  Result.Stats.Buffers.resize(Options.Buffers.size());
  return Result;
}

/// Simulates a kernel whose ports are numbered by their places in the model's order.
Simulation simulateOrdered(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options,
                           KernelInfo Info) {
  if (K.numInstructions() == 0)
    return emptyRun(K, Pipe, Options);
  Program P(K, Pipe, std::move(Info), Options.Assume);
  Simulation Result;
  if (!P.Entries.empty()) {
    Run(P, Options, Result).run();
    return Result;
  }
  // No instruction takes a slot, because each accompanies another one and there is none. For
  // statistics, each takes a slot of its own.
  if (Options.Statistics && Options.Iterations > 0) {
    Kernel WithSlots = K;
    std::ranges::fill(WithSlots.IssueSlots, 1);
    return simulateOrdered(
        WithSlots, Pipe, Options,
        computeKernelInfo(WithSlots, needsLoadAddresses(Pipe), needsStoreAddresses(Pipe)));
  }
  if (Options.RecordEvents)
    Result.Trace = idleTimeline(K, Options.Iterations);
  return Result;
}

} // namespace

bool incc::needsLoadAddresses(const Pipeline &P) { return P.BankBytes > 0 || P.AliasingBits > 0; }

bool incc::needsStoreAddresses(const Pipeline &P) {
  return P.StoreCommitBytes > 0 || P.AliasingBits > 0;
}

void incc::setDeadline(double Seconds) { Deadline = Seconds; }

Simulation incc::simulate(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options) {
  KernelInfo Info = computeKernelInfo(K, needsLoadAddresses(Pipe), needsStoreAddresses(Pipe));
  const Assumptions &Assume = Options.Assume;
  // A what-if simulation may be faster than the bounds.
  if (Options.Iterations != 0 || Assume.UnlimitedPorts || Assume.NoRegisterDependencies ||
      Assume.NoMemoryDependencies)
    return simulate(K, Pipe, Options, std::move(Info));
  SimulationOptions Bounded = Options;
  Bounded.LowerBound = findBounds(K, Info).largest();
  return simulate(K, Pipe, Bounded, std::move(Info));
}

Simulation incc::simulate(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options,
                          KernelInfo Info) {
  validate(K, Pipe);
  if (Options.Iterations < 0)
    throw std::invalid_argument("iterations: must be at least 0");
  PortOrder Order(Pipe);
  if (Order.isByNumber())
    return simulateOrdered(K, Pipe, Options, std::move(Info));
  Kernel Ordered = K;
  Pipeline OrderedPipe = Pipe;
  Order.toPlaces(Ordered, OrderedPipe);
  SimulationOptions OrderedOptions = Options;
  for (SimulationOptions::Buffer &B : OrderedOptions.Buffers)
    B.Ports = Order.places(B.Ports);
  Simulation Result = simulateOrdered(Ordered, OrderedPipe, OrderedOptions, std::move(Info));
  Order.toNumbers(Result);
  return Result;
}

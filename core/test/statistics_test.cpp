#include "incc/sim.h"

#include "builder.h"
#include "check.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace incc;
using namespace incc::test;

namespace {

Simulation coldRun(const Kernel &K, const Pipeline &P, int32_t Iterations, bool EveryCycle = false,
                   int32_t EventIterations = 0) {
  SimulationOptions Options;
  Options.Iterations = Iterations;
  Options.Statistics = true;
  Options.Pressure = true;
  Options.EventIterations = EventIterations;
  Options.EveryCycle = EveryCycle;
  return simulate(K, P, Options);
}

int64_t cyclesOf(const std::vector<int64_t> &Histogram) {
  return std::accumulate(Histogram.begin(), Histogram.end(), int64_t(0));
}

int64_t totalOf(const std::vector<int64_t> &Histogram) {
  int64_t Sum = 0;
  for (size_t Count = 0; Count < Histogram.size(); ++Count)
    Sum += static_cast<int64_t>(Count) * Histogram[Count];
  return Sum;
}

} // namespace

void incc::test::testStatistics() {
  // The µop is issued in cycle 0, starts in 1, has its result in 5 and retires in 6: seven cycles.
  Builder One;
  One.uop(0b11).result(1, {{1, 4}}).end();
  Pipeline P = plain(One.K);
  P.IssueToDispatch = 1;
  Simulation S = coldRun(One.K, P, 1, false, 1);
  CHECK(S.Stats.Cycles == 7 && S.Stats.Uops == 1);
  CHECK(S.Stats.Events.size() == 1);
  CHECK(S.Stats.Events[0].Dispatched == 0 && S.Stats.Events[0].Ready == 1);
  CHECK(S.Stats.Events[0].Started == 1 && S.Stats.Events[0].Executed == 5);
  CHECK(S.Stats.Events[0].Retired == 6);
  // Each further µop adds the four cycles of the chain, and the chain is the critical sequence.
  S = coldRun(One.K, P, 10);
  CHECK(S.Stats.Cycles == 7 + 9 * 4);
  const std::vector<SequenceStep> &Steps = S.Stats.Sequence;
  CHECK(Steps.size() == 2 && Steps[1].Cause == SequenceStep::Register);
  CHECK(Steps[1].IterationOffset == 1 && Steps[1].Cycles == 4 && Steps[1].Via == 1);
  CHECK(S.Stats.Pressure.Registers > 0 && S.Stats.Pressure.Resources == 0);

  // Six independent µops wait for one port.
  Builder Wide;
  for (int32_t I = 0; I < 6; ++I)
    Wide.uop(0b1).result(I, {}).end();
  Wide.K.Rob = 60;
  Wide.K.Rs = 20;
  S = coldRun(Wide.K, plain(Wide.K), 20);
  CHECK(S.Stats.Pressure.Resources > 0 && S.Stats.Pressure.Registers == 0);
  CHECK(S.Stats.Pressure.ByResource[0] == S.Stats.Pressure.Resources);
  CHECK(S.Stats.Sequence.back().Cause == SequenceStep::Resource);
  CHECK(S.Stats.Sequence.back().Via == 0);
  CHECK(cyclesOf(S.Stats.Issued) == S.Stats.Cycles);
  CHECK(cyclesOf(S.Stats.Started) == S.Stats.Cycles);
  CHECK(cyclesOf(S.Stats.Retired) == S.Stats.Cycles);
  CHECK(totalOf(S.Stats.Issued) == 120 && totalOf(S.Stats.Retired) == 120);
  CHECK(totalOf(S.Stats.Started) == 120);
  CHECK(S.Stats.AllSchedulers.Most <= 20 && S.Stats.ReorderBuffer.Most <= 60);
  CHECK(S.Stats.Stalls[static_cast<size_t>(Stall::Scheduler)] > 0);

  // Repetitions are skipped, but counted.
  for (int32_t Iterations : {1, 2, 50, 333}) {
    Simulation Short = coldRun(Wide.K, plain(Wide.K), Iterations);
    Simulation Long = coldRun(Wide.K, plain(Wide.K), Iterations, /*EveryCycle=*/true);
    CHECK(Short.Stats.Cycles == Long.Stats.Cycles);
    CHECK(Short.Iterations == Iterations && Short.PortUops == Long.PortUops);
    CHECK(Short.Stats.Issued == Long.Stats.Issued);
    CHECK(Short.Stats.Started == Long.Stats.Started);
    CHECK(Short.Stats.Retired == Long.Stats.Retired);
    CHECK(Short.Stats.AllSchedulers.Sum == Long.Stats.AllSchedulers.Sum);
    CHECK(Short.Stats.Stalls == Long.Stats.Stalls);
  }

  // A recorded run knows the producers of all of its µops; another run knows those of the critical
  // sequence.
  SimulationOptions Options;
  Options.Iterations = 20;
  Options.Statistics = Options.Pressure = true;
  // The port that is used, and one at which no µop waits, are parts of the schedulers.
  Options.Buffers = {{0b1, 1000}, {0b10, 1000}, {0b1, 3}};
  for (const Kernel *K : {&One.K, &Wide.K}) {
    Options.RecordEvents = false;
    Simulation Short = simulate(*K, plain(*K), Options);
    Options.RecordEvents = true;
    Simulation Recorded = simulate(*K, plain(*K), Options);
    auto ToTuple = [](const SequenceStep &Step) {
      return std::tuple(Step.Instruction, Step.IterationOffset, Step.Cause, Step.Via, Step.Cycles);
    };
    CHECK(std::ranges::equal(Short.Stats.Sequence, Recorded.Stats.Sequence, {}, ToTuple, ToTuple));
    CHECK(Short.Started.empty() && !Recorded.Started.empty());
    CHECK(Short.Stats.Buffers[2].Most <= 3);
  }
  // All waiting µops are at that port.
  S = simulate(Wide.K, plain(Wide.K), Options);
  CHECK(S.Stats.Buffers[0].Sum == S.Stats.AllSchedulers.Sum);
  CHECK(S.Stats.Buffers[0].Most == S.Stats.AllSchedulers.Most);
  CHECK(S.Stats.Buffers[1].Sum == 0);

  // With two registers, two of the chains are in flight at a time.
  Builder Chains;
  for (int32_t I = 0; I < 4; ++I)
    Chains.uop(1 << I).result(I, {{I + 4, 10}}).end();
  P = plain(Chains.K);
  CHECK(simulate(Chains.K, P).CyclesPerIteration == Rational(1));
  P.RegisterFile = 2;
  CHECK(simulate(Chains.K, P).CyclesPerIteration > Rational(20));
  S = coldRun(Chains.K, P, 10);
  CHECK(S.Stats.AllRegisters.Count == 40 && S.Stats.AllRegisters.Most == 2);
  CHECK(S.Stats.Stalls[static_cast<size_t>(Stall::Registers)] > 0);
  // The limit is on the registers' kind, and other kinds are unlimited.
  P.RegisterFile = 0;
  P.VectorRegisters = 2;
  CHECK(simulate(Chains.K, P).CyclesPerIteration == Rational(1));
  P.GeneralRegisters = 2;
  CHECK(simulate(Chains.K, P).CyclesPerIteration > Rational(20));
  P.GeneralRegisters = P.VectorRegisters = 0;
  // A single instruction gets as many registers as it needs.
  P.RegisterFile = 1;
  for (int32_t &Writes : P.GeneralWrites)
    Writes = 3;
  CHECK(coldRun(Chains.K, P, 10).Stats.AllRegisters.Most == 3);

  // An instruction that cannot retire holds up all younger ones.
  P = plain(Wide.K);
  int64_t Before = coldRun(Wide.K, P, 1).Stats.Cycles;
  P.LeastCycles[0] = 50;
  CHECK(coldRun(Wide.K, P, 1).Stats.Cycles > std::max<int64_t>(Before, 50));

  // The core is wider than its reorder buffer, and its queue is smaller than one delivery.
  Wide.K.IssueWidth = 1000;
  CHECK(coldRun(Wide.K, plain(Wide.K), 100).Stats.Uops == 600);
  Wide.K.IssueWidth = 4;
  P = plain(Wide.K);
  P.NumDecoders = 4;
  P.Idq = 2;
  CHECK(coldRun(Wide.K, P, 100).Stats.Uops == 600);

  CHECK(coldRun(Builder().K, plain(Builder().K), 5).Stats.Cycles == 0);
}

#include "incc/sim.h"

#include "builder.h"
#include "check.h"

#include <stdexcept>
#include <utility>

using namespace incc;
using namespace incc::test;

void incc::test::testSimulation() {
  // A chain of four cycles.
  Builder Chain;
  Chain.uop(0b11).result(1, {{1, 4}}).end();
  CHECK(simulate(Chain.K, plain(Chain.K)).CyclesPerIteration == Rational(4));

  // Six independent µops on two ports.
  Builder Wide;
  for (int32_t I = 0; I < 6; ++I)
    Wide.uop(0b11).result(I, {}).end();
  Pipeline P = plain(Wide.K);
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3));
  // The µops are bound to the least used of eight ports.
  Wide.K.UopPorts.assign(6, 0xff);
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3, 2));

  // The µop cache delivers five µops a cycle, and the jump to the start ends the delivery of a
  // cycle.
  P.DsbWidth = 5;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(2));
  P.DsbGroups = 2;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3, 2));
  P.DsbGroups = 1;
  P.DsbWidth = 6;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3, 2));
  P.DsbWidth = 0;

  // A load of a value that was just stored takes 4 cycles to forward and 1 for the addition.
  Builder Memory;
  Memory.load(1, 2, 0).add(1, 1).store(1, 2, 0);
  CHECK(simulate(Memory.K, plain(Memory.K)).CyclesPerIteration == Rational(5));

  // The renamer forwards the value: only the addition is left.
  Memory.K.ForwardCycles = {0};
  CHECK(simulate(Memory.K, plain(Memory.K)).CyclesPerIteration == Rational(1));

  // Stores to one block of 32 bytes are written together, stores to two blocks one after the other.
  for (auto [Second, Expected] : {std::pair(8, 1), std::pair(32, 2)}) {
    Builder Stores;
    Stores.store(1, 2, 0).store(1, 2, Second);
    Stores.K.UopPorts = {0b0001, 0b0100, 0b0010, 0b1000};
    P = plain(Stores.K);
    P.StoreCommitBytes = 32;
    Stores.K.StoreBuffer = 64;
    Stores.K.Rob = 320;
    CHECK(simulate(Stores.K, P).CyclesPerIteration == Rational(Expected));
    P.StoreCommitBytes = 0;
    CHECK(simulate(Stores.K, P).CyclesPerIteration == Rational(1));
  }
  // A store that crosses the end of a block is written to both blocks.
  Builder Split;
  Split.store(1, 2, 28);
  P = plain(Split.K);
  P.StoreCommitBytes = 32;
  Split.K.StoreBuffer = 64;
  CHECK(simulate(Split.K, P).CyclesPerIteration == Rational(2));
  P = plain(Wide.K);

  // The third µop waits for the second, so in program order the next iteration waits, too.
  Builder Waiting;
  Waiting.uop(1).result(1, {{1, 4}}).end();
  Waiting.uop(2).result(2, {{1, 4}}).end();
  Waiting.uop(4).result(3, {{2, 1}}).end();
  P = plain(Waiting.K);
  CHECK(simulate(Waiting.K, P).CyclesPerIteration == Rational(4));
  P.InOrder = 1;
  CHECK(simulate(Waiting.K, P).CyclesPerIteration == Rational(8));

  // A loaded value is ready for the next instruction; a new address comes late.
  Builder Loading;
  Loading.load(1, 2, 0, 4).add(1, 1);
  P = plain(Loading.K);
  P.InOrder = 1;
  CHECK(simulate(Loading.K, P).CyclesPerIteration == Rational(4));
  P.AddressToExecute = 3;
  CHECK(simulate(Loading.K, P).CyclesPerIteration == Rational(1));
  Builder Chasing;
  Chasing.load(1, 2, 0, 4).add(2, 1);
  P = plain(Chasing.K);
  P.InOrder = 1;
  P.AddressToExecute = 3;
  CHECK(simulate(Chasing.K, P).CyclesPerIteration == Rational(4));

  // There are two clusters of two decoders. In code without jumps the second one may be idle.
  P = plain(Wide.K);
  P.NumDecoders = 2;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3));
  P.DecodeClusters = 2;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3, 2));
  P.ClustersNeedJumps = 1;
  SimulationOptions Straight;
  Straight.Loop = false;
  CHECK(simulate(Wide.K, P, Straight).CyclesPerIteration == Rational(3));
  P = plain(Wide.K);

  // After a mispredicted branch, which starts two cycles after the first of six, nothing is issued
  // for ten cycles. A branch that waits for a result of twenty cycles is executed later.
  P.MispredictPenalty = 10;
  Wide.K.InstructionFlags[5] = IsBranch | Mispredicted;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(12));
  Wide.K.InstructionFlags[5] = IsBranch;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3, 2));
  Builder Late;
  Late.uop(1).result(1, {}).end();
  Late.uop(2).result(2, {{1, 20}}).end(IsBranch | Mispredicted);
  P = plain(Late.K);
  P.MispredictPenalty = 10;
  CHECK(simulate(Late.K, P).CyclesPerIteration == Rational(31));
  P = plain(Wide.K);

  // A jump that skips code ends the op cache's delivery of a cycle.
  P.DsbWidth = 6;
  Wide.K.InstructionFlags[2] = IsBranch;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(3, 2));
  for (size_t I = 3; I < 6; ++I)
    P.Offset[I] += 16;
  CHECK(simulate(Wide.K, P).CyclesPerIteration == Rational(2));
  P = plain(Wide.K);

  // A port held for three cycles.
  Builder Held;
  Held.uop(1, 3).result(1, {}).end();
  CHECK(simulate(Held.K, plain(Held.K)).CyclesPerIteration == Rational(3));

  SimulationOptions Options;
  Options.MaxCycles = 10;
  CHECK_THROWS(simulate(Chain.K, plain(Chain.K), Options), std::runtime_error);
  Options = {};
  Options.Iterations = 5;
  Options.RecordEvents = true;
  Simulation S = simulate(Chain.K, plain(Chain.K), Options);
  CHECK(S.Trace.Events.size() == 5 && S.Trace.Ports.size() == 5);
  CHECK(S.Trace.Events[4].Started == S.Trace.Events[0].Started + 16);
  P.Length.pop_back();
  CHECK_THROWS(simulate(Wide.K, P), std::invalid_argument);
  CHECK(simulate(Builder().K, plain(Builder().K)).CyclesPerIteration == Rational(0));
}

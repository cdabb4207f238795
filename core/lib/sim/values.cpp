//===- values.cpp - The values that flow between µops ---------------------===//

#include "values.h"
#include "rob.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

using namespace incc;
using namespace incc::sim;

ValueNetwork::ValueNetwork(const Program &P) : P(P), NumValues(static_cast<size_t>(P.numValues())) {
  // An iteration fills at least as many slots of the reorder buffer as it has issue slots.
  size_t InFlight = static_cast<size_t>(P.K.Rob > 0 ? P.K.Rob : MostSlots) /
                        static_cast<size_t>(std::max(1, static_cast<int32_t>(P.Slots.size()))) +
                    3;
  IterationMask = std::bit_ceil(InFlight) - 1;
  Values.resize((IterationMask + 1) * NumValues);
  int32_t LongestPortDelay = 0;
  for (int32_t Cycles : P.K.PortDelayCycles)
    LongestPortDelay = std::max(LongestPortDelay, std::abs(Cycles));
  for (const Input &In : P.Inputs) {
    LongestLatency = std::max<int64_t>(LongestLatency, std::abs(In.Latency) + LongestPortDelay);
    LongestDistance = std::max<int64_t>(LongestDistance, In.Distance);
  }
}

void ValueNetwork::addWaiter(Value &To, int32_t Uop, int64_t Target, int32_t Latency) {
  int32_t W = FirstFreeWaiter;
  if (W >= 0) {
    FirstFreeWaiter = Waiters[static_cast<size_t>(W)].Next;
  } else {
    W = static_cast<int32_t>(Waiters.size());
    Waiters.emplace_back();
  }
  Waiters[static_cast<size_t>(W)] = {To.FirstWaiter, Uop, Target, Latency};
  To.FirstWaiter = W;
}

void ValueNetwork::enterInstruction(int32_t I, int64_t Iteration, int64_t Cycle, Issued Optional) {
  const InstructionPlan &Plan = P.Instructions[static_cast<size_t>(I)];
  NewestInstruction = I;
  auto Connect = [&](int32_t V) {
    const sim::Value &Static = P.Values[static_cast<size_t>(V)];
    Value &Dyn = at(Iteration, V);
    Dyn.Time = Cycle;
    Dyn.Delays = 0;
    Dyn.FirstWaiter = -1;
    Dyn.IsResolved = false;
    Dyn.MissingSources = Static.NumUops;
    if ((Optional.Move && V == Plan.Move.Value) || (Optional.Sync && V == Plan.Sync.Value) ||
        (Optional.Merge && V == Plan.Merge.Value)) {
      Dyn.MissingSources = 1;
      return;
    }
    for (int32_t N = Static.Inputs.Begin; N < Static.Inputs.End; ++N) {
      const Input &In = P.Inputs[static_cast<size_t>(N)];
      Value *Source = lookUp(Iteration, In);
      if (!Source)
        continue;
      if (Source->IsResolved) {
        Dyn.delayUntil(Source->Time + In.Latency, In.Latency == 0 ? Source->Delays : 0);
        continue;
      }
      ++Dyn.MissingSources;
      addWaiter(*Source, Waiter::OtherValue, static_cast<int64_t>(numberOf(Dyn)), In.Latency);
    }
    Dyn.IsResolved = Dyn.MissingSources == 0;
  };
  // Hidden values come first: the instruction's other values follow them, and must not see the
  // ring's previous occupants in their place.
  Range Hidden = P.HiddenValues[static_cast<size_t>(I)];
  for (int32_t V = Hidden.Begin; V < Hidden.End; ++V)
    Connect(V);
  for (int32_t V = P.K.ValueStart[I]; V < P.K.ValueStart[I + 1]; ++V)
    Connect(V);
}

void ValueNetwork::addTo(Fingerprint &F, int64_t Retired) const {
  F.iteration(NewestIteration);
  F.add(NewestInstruction);
  int64_t First = std::min(Retired, NewestIteration) - LongestDistance;
  First = std::max({First, int64_t(0), NewestIteration - static_cast<int64_t>(IterationMask)});
  auto AddValue = [&](int64_t Iteration, size_t V) {
    const Value &Dyn = Values[(static_cast<size_t>(Iteration) & IterationMask) * NumValues + V];
    // All values that arrived so long ago that no consumer waits for them are equal.
    int64_t LastUse = Dyn.Time + LongestLatency + 2;
    int32_t Delays = LastUse > F.cycle() ? Dyn.Delays : 0;
    F.deadline(LastUse, (Dyn.IsResolved ? 0xFFFF : Dyn.MissingSources) ^ Delays << 16);
  };
  for (int64_t Iteration = First; Iteration < NewestIteration; ++Iteration)
    for (size_t V = 0; V < NumValues; ++V)
      AddValue(Iteration, V);
  for (int32_t I = 0; I <= NewestInstruction; ++I) {
    Range Hidden = P.HiddenValues[static_cast<size_t>(I)];
    for (int32_t V = P.K.ValueStart[I]; V < P.K.ValueStart[I + 1]; ++V)
      AddValue(NewestIteration, static_cast<size_t>(V));
    for (int32_t V = Hidden.Begin; V < Hidden.End; ++V)
      AddValue(NewestIteration, static_cast<size_t>(V));
  }
}

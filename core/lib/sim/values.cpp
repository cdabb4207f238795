//===- values.cpp - The values that flow between µops ----------------------===//
//
// See values.h.
//
//===----------------------------------------------------------------------===//

#include "values.h"
#include "rob.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

using namespace incc;
using namespace incc::sim;

ValueNetwork::ValueNetwork(const Program &P) : P(P), NumValues(static_cast<size_t>(P.numValues())) {
  // An iteration fills at least as many slots as it has entries in the queue.
  size_t InFlight = static_cast<size_t>(P.K.Rob > 0 ? P.K.Rob : MostSlots) /
                        static_cast<size_t>(std::max(1, static_cast<int32_t>(P.Slots.size()))) +
                    3;
  IterationMask = std::bit_ceil(InFlight) - 1;
  Values.resize((IterationMask + 1) * NumValues);
  int32_t MostDelay = 0;
  for (int32_t Cycles : P.K.PortDelayCycles)
    MostDelay = std::max(MostDelay, std::abs(Cycles));
  for (const Input &In : P.Inputs) {
    LongestWay = std::max<int64_t>(LongestWay, std::abs(In.Latency) + MostDelay);
    FarthestBack = std::max<int64_t>(FarthestBack, In.Distance);
  }
}

void ValueNetwork::addWaiter(Value &To, int32_t Uop, int64_t Which, int32_t Latency) {
  int32_t W = FreeWaiter;
  if (W >= 0) {
    FreeWaiter = Waiters[static_cast<size_t>(W)].Next;
  } else {
    W = static_cast<int32_t>(Waiters.size());
    Waiters.emplace_back();
  }
  Waiters[static_cast<size_t>(W)] = {To.FirstWaiter, Uop, Which, Latency};
  To.FirstWaiter = W;
}

void ValueNetwork::enterInstruction(int32_t I, int64_t Iteration, int64_t Cycle, Issued Optional) {
  const InstructionPlan &Plan = P.Instructions[static_cast<size_t>(I)];
  LastEntered = I;
  auto Connect = [&](int32_t V) {
    const sim::Value &Static = P.Values[static_cast<size_t>(V)];
    Value &Dyn = at(Iteration, V);
    Dyn.Time = Cycle;
    Dyn.Delays = 0;
    Dyn.FirstWaiter = -1;
    Dyn.Known = false;
    Dyn.Missing = Static.NumUops;
    if ((Optional.Move && V == Plan.Move.Value) || (Optional.Sync && V == Plan.Sync.Value) ||
        (Optional.Merge && V == Plan.Merge.Value)) {
      Dyn.Missing = 1;
      return;
    }
    for (int32_t N = Static.Inputs.Begin; N < Static.Inputs.End; ++N) {
      const Input &In = P.Inputs[static_cast<size_t>(N)];
      Value *From = find(Iteration, In);
      if (!From)
        continue;
      if (From->Known) {
        Dyn.comes(From->Time + In.Latency, In.Latency == 0 ? From->Delays : 0);
        continue;
      }
      ++Dyn.Missing;
      addWaiter(*From, OtherValue, static_cast<int64_t>(numberOf(Dyn)), In.Latency);
    }
    Dyn.Known = Dyn.Missing == 0;
  };
  // Hidden values first: nothing of the instruction itself may find an old one.
  Range Hidden = P.HiddenValues[static_cast<size_t>(I)];
  for (int32_t V = Hidden.Begin; V < Hidden.End; ++V)
    Connect(V);
  for (int32_t V = P.K.ValueStart[I]; V < P.K.ValueStart[I + 1]; ++V)
    Connect(V);
}

void ValueNetwork::addTo(Fingerprint &F, int64_t Retired) const {
  F.iteration(Newest);
  F.add(LastEntered);
  // A value that was ready so long ago that nothing waits for it is like any other one.
  int64_t First = std::min(Retired, Newest) - FarthestBack;
  First = std::max({First, int64_t(0), Newest - static_cast<int64_t>(IterationMask)});
  auto AddValue = [&](int64_t Iteration, size_t V) {
    const Value &Dyn = Values[(static_cast<size_t>(Iteration) & IterationMask) * NumValues + V];
    int64_t Last = Dyn.Time + LongestWay + 2;
    int32_t Delays = Last > F.cycle() ? Dyn.Delays : 0;
    F.deadline(Last, (Dyn.Known ? 0xFFFF : Dyn.Missing) ^ Delays << 16);
  };
  for (int64_t Iteration = First; Iteration < Newest; ++Iteration)
    for (size_t V = 0; V < NumValues; ++V)
      AddValue(Iteration, V);
  for (int32_t I = 0; I <= LastEntered; ++I) {
    Range Hidden = P.HiddenValues[static_cast<size_t>(I)];
    for (int32_t V = P.K.ValueStart[I]; V < P.K.ValueStart[I + 1]; ++V)
      AddValue(Newest, static_cast<size_t>(V));
    for (int32_t V = Hidden.Begin; V < Hidden.End; ++V)
      AddValue(Newest, static_cast<size_t>(V));
  }
}

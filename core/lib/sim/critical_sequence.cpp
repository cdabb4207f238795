//===- critical_sequence.cpp - The chain that determines a run's length ---===//

#include "critical_sequence.h"

#include <algorithm>
#include <array>

using namespace incc;
using namespace incc::sim;

namespace {

/// The µop that determined when another one started, or when its result was ready.
struct Reason {
  int32_t Uop = -1; ///< -1: there is none.
  SequenceStep::Kind Cause = SequenceStep::None;
  int32_t Via = 0;
};

/// Finds the reasons of the µops of a run.
class ReasonFinder {
public:
  explicit ReasonFinder(const std::vector<StartedUop> &Uops) : Uops(Uops) {
    for (size_t N = 0; N < Uops.size(); ++N) {
      StartedOn[static_cast<size_t>(Uops[N].Port)].push_back(static_cast<int32_t>(N));
      if (Uops[N].Unit >= 0)
        StartedOn[static_cast<size_t>(Uops[N].Unit)].push_back(static_cast<int32_t>(N));
    }
  }

  /// Returns the reason for the time of a µop's result: the reason why the µop started, or a stored
  /// value that a load received later than it needed to load.
  Reason reasonOf(int32_t N) const {
    const StartedUop &U = Uops[static_cast<size_t>(N)];
    const StartedUop::Input *Last = nullptr;
    for (const StartedUop::Input &In : U.Inputs) {
      bool IsStored = In.Location == StartedUop::ThroughMemory;
      if (IsStored && In.Arrived >= U.Executed)
        return {In.Producer, SequenceStep::Memory, In.Location};
      if (!IsStored && (!Last || In.Arrived > Last->Arrived))
        Last = &In;
    }
    if (U.Started > U.Ready)
      if (Reason Holder = unitHolder(N); Holder.Uop >= 0)
        return Holder;
    if (U.Ready > U.Earliest && Last)
      return {Last->Producer, SequenceStep::Register, Last->Location};
    return {};
  }

private:
  /// Returns the µop that held a µop's port or resource while it waited: the last earlier one that
  /// started there.
  Reason unitHolder(int32_t N) const {
    const StartedUop &U = Uops[static_cast<size_t>(N)];
    Reason Holder;
    for (int32_t Unit : {U.Port, U.Unit}) {
      if (Unit < 0)
        continue;
      const std::vector<int32_t> &OnUnit = StartedOn[static_cast<size_t>(Unit)];
      auto Place = std::ranges::lower_bound(OnUnit, N);
      if (Place == OnUnit.begin())
        continue;
      const StartedUop &Previous = Uops[static_cast<size_t>(*--Place)];
      int64_t Until =
          Previous.Started + (Unit == U.Port ? Previous.PortCycles : Previous.UnitCycles);
      if (Previous.Started < U.Started && Until > U.Ready && (Holder.Uop < 0 || Until >= U.Started))
        Holder = {*Place, SequenceStep::Resource, Unit};
    }
    return Holder;
  }

  const std::vector<StartedUop> &Uops;
  std::array<std::vector<int32_t>, 64> StartedOn; ///< By port and resource, in order.
};

} // namespace

std::vector<SequenceStep> incc::sim::findSequence(const std::vector<StartedUop> &Uops,
                                                  const std::function<void(int32_t)> &LinkInputs) {
  if (Uops.empty())
    return {};
  struct Link {
    int32_t Uop;
    Reason Because;
  };
  std::vector<Link> Chain; // From the last µop backwards.
  ReasonFinder Reasons(Uops);
  auto IsSameUop = [&](int32_t A, int32_t B) {
    const StartedUop &One = Uops[static_cast<size_t>(A)], &Other = Uops[static_cast<size_t>(B)];
    return One.Instruction == Other.Instruction && One.Uop == Other.Uop;
  };
  // The wait of the last µop for its retirement is left out.
  auto Latest = std::ranges::max_element(Uops, {}, &StartedUop::Executed);
  int32_t Current = static_cast<int32_t>(Latest - Uops.begin());
  // An input that is needed late may come from a µop that started later, so the number of steps is
  // limited.
  for (size_t Left = Uops.size(); Left > 0; --Left) {
    LinkInputs(Current);
    Reason Because = Reasons.reasonOf(Current);
    Chain.push_back({Current, Because});
    if (Because.Uop < 0)
      break;
    Current = Because.Uop;
    // If the chain repeats itself, only one period is kept: what came after it led there.
    auto Again =
        std::ranges::find_if(Chain, [&](const Link &L) { return IsSameUop(L.Uop, Current); });
    if (Again != Chain.end()) {
      Chain.erase(Chain.begin(), Again);
      Chain.push_back({Current, {}});
      break;
    }
  }
  std::ranges::reverse(Chain);
  std::vector<SequenceStep> Sequence;
  const StartedUop &First = Uops[static_cast<size_t>(Chain.front().Uop)];
  int64_t PreviousStart = First.Started;
  for (size_t N = 0; N < Chain.size(); ++N) {
    const StartedUop &U = Uops[static_cast<size_t>(Chain[N].Uop)];
    const Reason Because = N == 0 ? Reason{-1, SequenceStep::None, -1} : Chain[N].Because;
    Sequence.push_back({U.Instruction, static_cast<int32_t>(U.Iteration - First.Iteration),
                        Because.Cause, Because.Via, U.Started - PreviousStart});
    PreviousStart = U.Started;
  }
  return Sequence;
}

//===- steady_state.cpp - The throughput of a run -------------------------===//

#include "steady_state.h"

#include <algorithm>

using namespace incc;
using namespace incc::sim;

namespace {

/// Returns the number of iterations after which retirement repeats itself throughout the second
/// half of a run, at least three times; 0 if it does not.
int32_t findPeriod(const std::vector<Retirement> &Retired) {
  size_t N = Retired.size(), Half = N / 2;
  for (size_t Period = 1; Period <= Half / 3; ++Period) {
    int64_t Cycles = Retired[N - 1].Cycle - Retired[N - 1 - Period].Cycle;
    size_t End = N;
    while (End > Half + Period && Retired[End - 1].Slot == Retired[End - 1 - Period].Slot &&
           Retired[End - 1].Cycle - Retired[End - 1 - Period].Cycle == Cycles)
      --End;
    if (End == Half + Period)
      return static_cast<int32_t>(Period);
  }
  return 0;
}

} // namespace

Throughput incc::sim::readThroughput(const std::vector<Retirement> &Retired) {
  size_t N = Retired.size(), Middle = N / 2;
  int64_t End = Retired[N - 1].Cycle;
  if (int32_t Period = findPeriod(Retired))
    return {Rational(End - Retired[N - 1 - static_cast<size_t>(Period)].Cycle, Period), Period};
  return {Rational(End - Retired[Middle - 1].Cycle, static_cast<int64_t>(N - Middle))};
}

bool incc::sim::endsInSameSlot(const std::vector<Retirement> &Retired) {
  return Retired[Retired.size() - 1].Slot == Retired[Retired.size() / 2 - 1].Slot;
}

bool RepetitionDetector::isRepetition(const Machine &M, int64_t Cycle, size_t Retired,
                                      const Simulation &Counters) {
  if (NumbersHashed > Cycle * NumbersPerCycle)
    return false;
  auto Iterations = static_cast<int64_t>(Retired);
  bool IsDue = Cycle > Remembered.Cycle + std::max(MinSpan, Cycle / 4);
  Parts State{};
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
    NumbersHashed += F.size();
    State[Part] = F.value();
    if (!IsDue && State[Part] != RememberedState[Part])
      return false;
  }
  if (State == RememberedState)
    return true;
  Remembered = {Cycle, Retired, Counters};
  RememberedState = State;
  return false;
}

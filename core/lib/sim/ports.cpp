//===- ports.cpp - Which port a µop is bound to ---------------------------===//
//
// See ports.h.
//
//===----------------------------------------------------------------------===//

#include "ports.h"

#include <algorithm>
#include <bit>

using namespace incc;
using namespace incc::sim;

PortBinder::PortBinder(const Program &P)
    : Policy(P.P.Binding), NumPorts(static_cast<size_t>(P.K.NumPorts)),
      Alternating(P.P.Alternating), Turn(P.P.Alternating.size(), 0),
      MostAhead(P.P.AlternatingImbalance), Apart(P.P.PortsApart),
      SecondPortSlot(P.P.SecondPortSlot), FirstPortSlot(P.P.FirstPortSlot), SlotSet(P.P.SlotSet),
      SlotPorts(P.P.SlotPorts) {
  if (SlotSet != 0)
    SlotsInRow = SlotPorts.size() / static_cast<size_t>(std::popcount(SlotSet));
}

void PortBinder::newCycle() {
  for (size_t N = 0; N < NumPorts; ++N) {
    Before[N] = Use[N];
    Bound[N] -= Leaving[N];
    Leaving[N] = 0;
    Use[N] = Bound[N];
  }
  SeenInCycle.clear();
}

int32_t PortBinder::choose(uint64_t Allowed, int32_t Slot) {
  int32_t Port = -1;
  if (std::has_single_bit(Allowed)) {
    Port = std::countr_zero(Allowed);
  } else {
    auto Set = std::ranges::find(Alternating, Allowed);
    if (Set != Alternating.end()) {
      Port = inTurn(static_cast<size_t>(Set - Alternating.begin()), Allowed);
    } else {
      switch (Policy) {
      case PortBinding::LeastLoaded:
        Port = leastLoaded(Allowed);
        break;
      case PortBinding::SixPorts:
        Port = sixPorts(Allowed, Slot);
        break;
      case PortBinding::EightPorts:
        Port = eightPorts(Allowed, Slot);
        break;
      case PortBinding::TenPorts:
        Port = tenPorts(Allowed, Slot);
        break;
      }
    }
  }
  ++Bound[Port];
  return Port;
}

void PortBinder::addTo(Fingerprint &F) const {
  for (int32_t Next : Turn)
    F.add(Next);
  // What is beyond these is made anew in each cycle.
  for (size_t N = 0; N < NumPorts; ++N)
    F.add(int64_t(Bound[N]) << 40 | int64_t(Use[N]) << 20 | Leaving[N]);
}

int32_t PortBinder::inTurn(size_t Set, uint64_t Allowed) {
  int32_t &Next = Turn[Set];
  uint64_t Left = Allowed;
  for (int32_t Skip = 0; Skip < Next; ++Skip)
    Left &= Left - 1;
  int32_t Port = std::countr_zero(Left);
  if (int32_t Least = leastLoaded(Allowed); Bound[Port] - Bound[Least] > MostAhead) {
    Port = Least;
    Next = std::popcount(Allowed & ((uint64_t(1) << Least) - 1));
  }
  Next = (Next + 1) % std::popcount(Allowed);
  return Port;
}

int32_t PortBinder::leastLoaded(uint64_t Allowed) const {
  int32_t Best = std::countr_zero(Allowed);
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1)
    if (int32_t N = std::countr_zero(Left); Bound[N] < Bound[Best])
      Best = N;
  return Best;
}

int32_t PortBinder::sixPorts(uint64_t Allowed, int32_t Slot) const {
  int32_t Least = -1, Most = -1;
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1) {
    int32_t N = std::countr_zero(Left);
    if (Least < 0 || Use[N] < Use[Least])
      Least = N;
    if (Most < 0 || Use[N] >= Use[Most])
      Most = N;
  }
  if (Use[Most] - Use[Least] >= Apart)
    return Least;
  if (Allowed == SlotSet)
    for (size_t Row = 0; Row < SlotPorts.size(); Row += SlotsInRow)
      if (SlotPorts[Row] == Least)
        return SlotPorts[Row + static_cast<size_t>(Slot) % SlotsInRow];
  return Slot % 2 == 0 ? Least : Most;
}

int32_t PortBinder::eightPorts(uint64_t Allowed, int32_t Slot) const {
  int32_t Least = -1, Second = -1;
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1) {
    int32_t N = std::countr_zero(Left);
    if (Least < 0 || Use[N] <= Use[Least]) {
      Second = Least;
      Least = N;
    } else if (Second < 0 || Use[N] <= Use[Second]) {
      Second = N;
    }
  }
  if (Use[Second] - Use[Least] >= Apart)
    Second = Least;
  return Slot % 2 == 0 ? Least : Second;
}

int32_t PortBinder::tenPorts(uint64_t Allowed, int32_t Slot) {
  std::array<int32_t, 64> Sorted{};
  size_t Count = 0;
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1)
    Sorted[Count++] = std::countr_zero(Left);
  std::sort(
      Sorted.begin(), Sorted.begin() + static_cast<std::ptrdiff_t>(Count),
      [&](int32_t A, int32_t B) { return Before[A] != Before[B] ? Before[A] < Before[B] : A > B; });
  while (Count > 1 && Before[Sorted[Count - 1]] - Before[Sorted[0]] >= Apart)
    --Count;
  auto Seen = std::ranges::find(SeenInCycle, Allowed, &std::pair<uint64_t, int32_t>::first);
  if (Seen == SeenInCycle.end()) {
    SeenInCycle.emplace_back(Allowed, 0);
    Seen = SeenInCycle.end() - 1;
    if (Slot == SecondPortSlot && Count > 1)
      Seen->second = 1;
  }
  if (Slot == FirstPortSlot)
    return Sorted[0];
  return Sorted[static_cast<size_t>(Seen->second++) % Count];
}

//===- ports.cpp - Binding µops to ports ----------------------------------===//

#include "ports.h"

#include <algorithm>
#include <bit>

using namespace incc;
using namespace incc::sim;

int32_t LeastLoadedRule::choose(const PortCounts &Ports, uint64_t Allowed) {
  int32_t Least = std::countr_zero(Allowed);
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1)
    if (int32_t Port = std::countr_zero(Left); Ports.Bound[Port] < Ports.Bound[Least])
      Least = Port;
  return Least;
}

int32_t AlternatingRule::find(uint64_t Allowed) const {
  auto Set = std::ranges::find(Sets, Allowed);
  return Set == Sets.end() ? -1 : static_cast<int32_t>(Set - Sets.begin());
}

int32_t AlternatingRule::choose(const PortCounts &Ports, int32_t Set) {
  uint64_t Allowed = Sets[static_cast<size_t>(Set)];
  int32_t &Next = Turn[static_cast<size_t>(Set)];
  uint64_t Left = Allowed;
  for (int32_t Skip = 0; Skip < Next; ++Skip)
    Left &= Left - 1;
  int32_t Port = std::countr_zero(Left);
  int32_t Least = LeastLoadedRule::choose(Ports, Allowed);
  if (Ports.Bound[Port] - Ports.Bound[Least] > MaxImbalance) {
    Port = Least;
    Next = std::popcount(Allowed & ((uint64_t(1) << Least) - 1));
  }
  Next = (Next + 1) % std::popcount(Allowed);
  return Port;
}

void AlternatingRule::addTo(Fingerprint &F) const {
  for (int32_t Next : Turn)
    F.add(Next);
}

int32_t GroupsInTurnRule::choose(const PortCounts &Ports, uint64_t Allowed) {
  while ((Groups[Next] & Allowed) == 0)
    Next = (Next + 1) % Groups.size();
  int32_t Port = LeastLoadedRule::choose(Ports, Groups[Next] & Allowed);
  Next = (Next + 1) % Groups.size();
  return Port;
}

SixPortRule::SixPortRule(const Pipeline &P)
    : PortsApart(P.PortsApart), TableSet(P.SlotSet), Table(P.SlotPorts) {
  if (TableSet != 0)
    RowSize = Table.size() / static_cast<size_t>(std::popcount(TableSet));
}

int32_t SixPortRule::choose(const PortCounts &Ports, uint64_t Allowed, int32_t Slot) const {
  const PortCounts::Counts &Used = Ports.Used;
  int32_t Least = -1, Most = -1;
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1) {
    int32_t Port = std::countr_zero(Left);
    if (Least < 0 || Used[Port] < Used[Least])
      Least = Port;
    if (Most < 0 || Used[Port] >= Used[Most])
      Most = Port;
  }
  if (Used[Most] - Used[Least] >= PortsApart)
    return Least;
  if (Allowed == TableSet)
    for (size_t Row = 0; Row < Table.size(); Row += RowSize)
      if (Table[Row] == Least)
        return Table[Row + static_cast<size_t>(Slot) % RowSize];
  return Slot % 2 == 0 ? Least : Most;
}

int32_t EightPortRule::choose(const PortCounts &Ports, uint64_t Allowed, int32_t Slot) const {
  const PortCounts::Counts &Used = Ports.Used;
  int32_t Least = -1, Second = -1;
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1) {
    int32_t Port = std::countr_zero(Left);
    if (Least < 0 || Used[Port] <= Used[Least]) {
      Second = Least;
      Least = Port;
    } else if (Second < 0 || Used[Port] <= Used[Second]) {
      Second = Port;
    }
  }
  if (Used[Second] - Used[Least] >= PortsApart)
    Second = Least;
  return Slot % 2 == 0 ? Least : Second;
}

int32_t TenPortRule::choose(const PortCounts &Ports, uint64_t Allowed, int32_t Slot) {
  const PortCounts::Counts &Used = Ports.PreviousCycle;
  std::array<int32_t, 64> Sorted{};
  size_t Count = 0;
  for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1)
    Sorted[Count++] = std::countr_zero(Left);
  std::sort(Sorted.begin(), Sorted.begin() + static_cast<std::ptrdiff_t>(Count),
            [&](int32_t A, int32_t B) { return Used[A] != Used[B] ? Used[A] < Used[B] : A > B; });
  while (Count > 1 && Used[Sorted[Count - 1]] - Used[Sorted[0]] >= PortsApart)
    --Count;
  auto Turn = std::ranges::find(TurnOf, Allowed, &std::pair<uint64_t, int32_t>::first);
  if (Turn == TurnOf.end()) {
    TurnOf.emplace_back(Allowed, 0);
    Turn = TurnOf.end() - 1;
    if (Slot == SecondPortSlot && Count > 1)
      Turn->second = 1;
  }
  if (Slot == FirstPortSlot)
    return Sorted[0];
  return Sorted[static_cast<size_t>(Turn->second++) % Count];
}

PortBinder::PortBinder(const Program &P)
    : NumPorts(static_cast<size_t>(P.K.NumPorts)), Policy(P.P.Binding), GroupsInTurn(P.P),
      Alternating(P.P), SixPorts(P.P), EightPorts(P.P), TenPorts(P.P) {}

void PortBinder::newCycle() {
  for (size_t Port = 0; Port < NumPorts; ++Port) {
    Ports.PreviousCycle[Port] = Ports.Used[Port];
    Ports.Bound[Port] -= Ports.Leaving[Port];
    Ports.Leaving[Port] = 0;
    Ports.Used[Port] = Ports.Bound[Port];
  }
  TenPorts.newCycle();
}

int32_t PortBinder::bind(uint64_t Allowed, int32_t Slot) {
  int32_t Port = std::has_single_bit(Allowed) ? std::countr_zero(Allowed) : choose(Allowed, Slot);
  ++Ports.Bound[Port];
  return Port;
}

int32_t PortBinder::choose(uint64_t Allowed, int32_t Slot) {
  if (GroupsInTurn.appliesTo(Allowed))
    return GroupsInTurn.choose(Ports, Allowed);
  if (int32_t Set = Alternating.find(Allowed); Set >= 0)
    return Alternating.choose(Ports, Set);
  switch (Policy) {
  case PortBinding::LeastLoaded:
    break;
  case PortBinding::SixPorts:
    return SixPorts.choose(Ports, Allowed, Slot);
  case PortBinding::EightPorts:
    return EightPorts.choose(Ports, Allowed, Slot);
  case PortBinding::TenPorts:
    return TenPorts.choose(Ports, Allowed, Slot);
  }
  return LeastLoadedRule::choose(Ports, Allowed);
}

void PortBinder::addTo(Fingerprint &F) const {
  GroupsInTurn.addTo(F);
  Alternating.addTo(F);
  for (size_t Port = 0; Port < NumPorts; ++Port)
    F.add(int64_t(Ports.Bound[Port]) << 40 | int64_t(Ports.Used[Port]) << 20 | Ports.Leaving[Port]);
}

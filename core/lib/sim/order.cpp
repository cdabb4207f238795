//===- order.cpp - Ports by their place in the model's order --------------===//

#include "order.h"

#include <bit>

using namespace incc;
using namespace incc::sim;

PortOrder::PortOrder(const Pipeline &P) {
  uint64_t Placed = 0;
  int32_t Next = 0;
  auto Place = [&](int32_t Port) {
    if (Placed >> Port & 1)
      return;
    Placed |= uint64_t(1) << Port;
    ByNumber &= Next == Port;
    PlaceOf[static_cast<size_t>(Port)] = static_cast<int8_t>(Next);
    NumberAt[static_cast<size_t>(Next++)] = static_cast<int8_t>(Port);
  };
  for (int32_t Port : P.PortOrder)
    Place(Port);
  for (int32_t Port = 0; Port < 64; ++Port)
    Place(Port);
}

uint64_t PortOrder::places(uint64_t Mask) const {
  uint64_t Result = 0;
  for (; Mask != 0; Mask &= Mask - 1)
    Result |= uint64_t(1) << PlaceOf[static_cast<size_t>(std::countr_zero(Mask))];
  return Result;
}

void PortOrder::toPlaces(Kernel &K, Pipeline &P) const {
  auto Renumber = [&](auto &Masks) {
    for (uint64_t &Mask : Masks)
      Mask = places(Mask);
  };
  Renumber(K.UopPorts);
  Renumber(K.PortDelayFrom);
  Renumber(K.PortDelayTo);
#define PIPELINE_MASK(Member, Name) P.Member = places(P.Member);
#define PIPELINE_MASKS(Member, Name, Owners) Renumber(P.Member);
#include "incc/fields.def"
  for (int32_t &Port : P.SlotPorts)
    Port = PlaceOf[static_cast<size_t>(Port)];
  P.PortOrder.clear();
}

void PortOrder::toNumbers(Simulation &S) const {
  auto PermuteColumns = [&](std::vector<int64_t> &Counts) {
    std::vector<int64_t> ByPlace = Counts;
    for (size_t Place = 0; Place < ByPlace.size(); ++Place)
      Counts[static_cast<size_t>(NumberAt[Place])] = ByPlace[Place];
  };
  PermuteColumns(S.PortUops);
  PermuteColumns(S.Stats.Pressure.ByResource);
  auto Number = [&](auto &Port) {
    if (Port >= 0)
      Port = NumberAt[static_cast<size_t>(Port)];
  };
  for (int8_t &Port : S.Trace.Ports)
    Number(Port);
  for (SequenceStep &Step : S.Stats.Sequence)
    if (Step.Cause == SequenceStep::Resource)
      Number(Step.Via);
  for (StartedUop &U : S.Started) {
    Number(U.Port);
    Number(U.Unit);
  }
}

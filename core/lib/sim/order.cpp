//===- order.cpp - Ports by their place in the model's order --------------===//
//
// See order.h.
//
//===----------------------------------------------------------------------===//

#include "order.h"

#include <bit>

using namespace incc;
using namespace incc::sim;

PortOrder::PortOrder(const Pipeline &P) {
  uint64_t Named = 0;
  int32_t Next = 0;
  auto Place = [&](int32_t Port) {
    if (Named >> Port & 1)
      return;
    Named |= uint64_t(1) << Port;
    ByNumber &= Next == Port;
    PlaceOf[static_cast<size_t>(Port)] = static_cast<int8_t>(Next);
    At[static_cast<size_t>(Next++)] = static_cast<int8_t>(Port);
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
  std::vector<int64_t> ByPlace = S.PortUops;
  for (size_t Place = 0; Place < ByPlace.size(); ++Place)
    S.PortUops[static_cast<size_t>(At[Place])] = ByPlace[Place];
  auto Number = [&](auto &Port) {
    if (Port >= 0)
      Port = At[static_cast<size_t>(Port)];
  };
  for (int8_t &Port : S.Trace.Ports)
    Number(Port);
  if (!S.Counted.Why.ByResource.empty()) {
    std::vector<int64_t> Waiting = S.Counted.Why.ByResource;
    for (size_t Place = 0; Place < Waiting.size(); ++Place)
      S.Counted.Why.ByResource[static_cast<size_t>(At[Place])] = Waiting[Place];
  }
  for (SequenceStep &Step : S.Counted.Sequence)
    if (Step.Because == SequenceStep::Resource)
      Number(Step.Via);
  for (StartedUop &U : S.Started) {
    Number(U.Port);
    Number(U.Unit);
  }
}

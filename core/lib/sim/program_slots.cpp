//===- program_slots.cpp - Issue slots and queue entries of a Program -----===//
//
// The model says how many issue slots an instruction takes and how many entries of
// the µop queue, but not which µops share one. Neighbours are joined as
// micro-fusion does: a store's address with its data, and a load with what computes
// on the loaded value.
//
//===----------------------------------------------------------------------===//

#include "program_builder.h"

#include <algorithm>

using namespace incc;
using namespace incc::sim;

namespace {

using Groups = std::vector<std::vector<int32_t>>;

/// Joins neighbouring groups until at most `Count` are left, which is at least 1. KindOf(member) is
/// the kind of a µop.
template <typename Fn> void join(Groups &G, size_t Count, Fn KindOf) {
  auto Fuse = [&](UopKind First, UopKind Second) {
    for (size_t N = 0; N + 1 < G.size() && G.size() > Count; ++N)
      if (!G[N].empty() && !G[N + 1].empty() && KindOf(G[N].back()) == First &&
          KindOf(G[N + 1].front()) == Second) {
        G[N].insert(G[N].end(), G[N + 1].begin(), G[N + 1].end());
        G.erase(G.begin() + static_cast<std::ptrdiff_t>(N) + 1);
      }
  };
  Fuse(UopKind::StoreAddress, UopKind::StoreData);
  Fuse(UopKind::Load, UopKind::Compute);
  Fuse(UopKind::Load, UopKind::Branch);
  // The last group takes all excess members, in order.
  for (size_t N = Count; N < G.size(); ++N)
    G[Count - 1].insert(G[Count - 1].end(), G[N].begin(), G[N].end());
  if (G.size() > Count)
    G.resize(Count);
}

} // namespace

/// Returns the instruction's µops by issue slot. There may be slots without a µop.
ProgramBuilder::Groups ProgramBuilder::groupBySlot(size_t NumSlots) const {
  Groups BySlot;
  for (const std::vector<int32_t> *Uops : {&Loads, &Compute})
    for (int32_t U : *Uops)
      BySlot.push_back({U});
  for (size_t N = 0; N < std::max(StoreAddress.size(), StoreData.size()); ++N) {
    if (N < StoreAddress.size())
      BySlot.push_back({StoreAddress[N]});
    if (N < StoreData.size())
      BySlot.push_back({StoreData[N]});
  }
  join(BySlot, NumSlots, [&](int32_t U) { return To.Uops[U].Kind; });
  BySlot.resize(NumSlots);
  return BySlot;
}

void ProgramBuilder::buildEntries() {
  Plan.Entries.Begin = Plan.Entries.End = To.numEntries();
  // Every µop needs a slot, whatever the model says.
  bool AnyUop = !Loads.empty() || !Compute.empty() || !StoreAddress.empty() || !StoreData.empty();
  int32_t NumSlots = std::max<int32_t>(K.IssueSlots[Current], AnyUop);
  if (NumSlots == 0)
    return;
  Groups BySlot = groupBySlot(static_cast<size_t>(NumSlots));
  auto FirstSlot = static_cast<int32_t>(To.Slots.size());
  Groups SlotsByEntry;
  for (const std::vector<int32_t> &Uops : BySlot) {
    auto Begin = static_cast<int32_t>(To.SlotUops.size());
    To.SlotUops.insert(To.SlotUops.end(), Uops.begin(), Uops.end());
    SlotsByEntry.push_back({static_cast<int32_t>(To.Slots.size())});
    To.Slots.push_back({Begin, static_cast<int32_t>(To.SlotUops.size())});
  }
  int32_t NumEntries = std::clamp(P.UopsMite[Current] + P.UopsMs[Current], 1, NumSlots);
  join(SlotsByEntry, static_cast<size_t>(NumEntries), [&](int32_t Slot) {
    const std::vector<int32_t> &Uops = BySlot[static_cast<size_t>(Slot - FirstSlot)];
    return Uops.empty() ? UopKind::Branch : To.Uops[Uops.front()].Kind;
  });
  for (const std::vector<int32_t> &Slots : SlotsByEntry) {
    Entry E;
    E.Instruction = Current;
    E.Slots = {Slots.front(), Slots.back() + 1};
    E.First = To.numEntries() == Plan.Entries.Begin;
    To.Entries.push_back(E);
  }
  Plan.Entries.End = To.numEntries();
  Plan.NonMicrocode = P.UopsMs[Current] > 0 ? std::min(P.UopsMite[Current], Plan.Entries.size())
                                            : Plan.Entries.size();
  bool IsPair = Current + 1 < K.numInstructions() && K.hasFlag(Current + 1, FusedIntoPrevious);
  Plan.Mispredicted =
      K.hasFlag(Current, Mispredicted) || (IsPair && K.hasFlag(Current + 1, Mispredicted));
}

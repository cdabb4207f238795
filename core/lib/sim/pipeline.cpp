//===- pipeline.cpp - Checks of a pipeline, and the ideal one -------------===//

#include "../checks.h"
#include "incc/sim.h"

#include <algorithm>
#include <bit>
#include <utility>

using namespace incc;

namespace incc {

template <>
constexpr int64_t NumValuesOf<MoveClass> = 0
#define MOVE_CLASS(Name, Python) +1
#include "incc/fields.def"
    ;
template <>
constexpr int64_t NumValuesOf<PortBinding> = 0
#define PORT_BINDING(Name, Python) +1
#include "incc/fields.def"
    ;

} // namespace incc

void incc::validate(const Kernel &K, const Pipeline &P) {
  Checks Check("pipeline: ");
  Owners Of(K);
  int64_t Locations = Of.Locations, Instructions = Of.Instructions, Inputs = Of.Inputs,
          Any = Owners::Any;
#define PIPELINE_PARAMETER(Member, Name, Default, Low, High)                                       \
  Check.scalar(#Name, P.Member, Low, High);
#define PIPELINE_SCALAR(Member, Name, Default, Low, High) Check.scalar(#Name, P.Member, Low, High);
#define PIPELINE_ENUM(Type, Member, Name, Default)                                                 \
  Check.scalar(#Name, static_cast<int64_t>(P.Member), 0, NumValuesOf<Type> - 1);
#define PIPELINE_ARRAY(Member, Name, Owners, Low, High)                                            \
  Check.length(#Name, P.Member, Owners);                                                           \
  Check.range(#Name, P.Member, Low, High);
#define PIPELINE_ENUMS(Type, Member, Name, Owners)                                                 \
  Check.length(#Name, P.Member, Owners);                                                           \
  Check.enumerators(#Name, P.Member);
#define PIPELINE_MASKS(Member, Name, Owners) Check.length(#Name, P.Member, Owners);
#include "incc/fields.def"

  auto IsSet = [&](uint64_t Mask) { return K.NumPorts == 64 || Mask >> K.NumPorts == 0; };
  auto CheckPair = [&](const char *Ports, const std::vector<uint64_t> &Masks, const char *Partner,
                       size_t Size) {
    if (Masks.size() != Size)
      Check.fail(Ports, std::string("has another length than ") + Partner);
    for (uint64_t Mask : Masks)
      if (Mask == 0 || !IsSet(Mask))
        Check.fail(Ports, "not a set of ports");
  };
  CheckPair("picked_from", P.PickedFrom, "queued_at", P.QueuedAt.size());
  CheckPair("queued_at", P.QueuedAt, "picked_from", P.PickedFrom.size());
  CheckPair("scheduler_ports", P.SchedulerPorts, "scheduler_entries", P.SchedulerEntries.size());
  CheckPair("limited_ports", P.LimitedPorts, "limited_uops", P.LimitedUops.size());
  for (auto [Name, Mask] : {std::pair("slot_set", P.SlotSet),
                            {"waiting_ports", P.WaitingPorts},
                            {"ports_at_start", P.PortsAtStart},
                            {"renamer_ports", P.RenamerPorts}})
    if (!IsSet(Mask))
      Check.fail(Name, "not a set of ports");
  auto Rows = static_cast<size_t>(std::popcount(P.SlotSet));
  if (Rows == 0 ? !P.SlotPorts.empty() : P.SlotPorts.empty() || P.SlotPorts.size() % Rows != 0)
    Check.fail("slot_ports", "not a row for each port of slot_set");
  if (P.WaitingPorts != 0 && P.WaitingEntries == 0)
    Check.fail("waiting_entries", "a queue without entries");
  if (P.StoreWordBytes > 0 &&
      (P.StoreCommitBytes > 64 || P.StoreCommitBytes % P.StoreWordBytes != 0))
    Check.fail("store_word_bytes", "store_commit_bytes is no multiple, or more than 64");
}

Pipeline incc::idealPipeline(const Kernel &K) {
  Pipeline P;
  size_t Instructions = K.InstructionFlags.size();
  size_t Inputs = K.InputId.size();
  [[maybe_unused]] size_t Any = 0;
  // All properties of instructions are off: indices are -1, everything else is 0.
  [[maybe_unused]] int32_t Locations = 0;
#define PIPELINE_ARRAY(Member, Name, Owners, Low, High)                                            \
  P.Member.assign(Owners, (Low) == -1 ? -1 : 0);
#define PIPELINE_ENUMS(Type, Member, Name, Owners) P.Member.assign(Owners, Type());
#define PIPELINE_MASKS(Member, Name, Owners) P.Member.assign(Owners, 0);
#include "incc/fields.def"
  P.UopsMite = K.IssueSlots;
  // The kinds of locations are not known, so all results count as general-purpose registers.
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    if (!K.hasFlag(I, Eliminated) && !K.hasFlag(I, Zeroed))
      P.GeneralWrites[static_cast<size_t>(I)] =
          K.OutputStart[K.ValueStart[I + 1]] - K.OutputStart[K.ValueStart[I]];
  P.Idq = std::max(P.Idq, K.IssueWidth);
  P.IssueToDispatch = std::max(1, K.IssueToExecute);
  // A load sees a store at once, so that only the forwarding latency passes.
  P.StoreAddressToLoad = P.StoreDataToLoad;
  return P;
}

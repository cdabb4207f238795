//===- kernel.cpp - Checks of a bound kernel ------------------------------===//

#include "incc/kernel.h"
#include "checks.h"

#include <algorithm>

using namespace incc;

namespace {

void checkPorts(const Kernel &K, const Checks &Check) {
  uint64_t Columns = K.NumColumns == 64 ? ~uint64_t(0) : (uint64_t(1) << K.NumColumns) - 1;
  for (size_t U = 0; U < K.UopPorts.size(); ++U) {
    uint64_t Mask = K.UopPorts[U];
    if (Mask == 0 || (Mask & ~Columns) != 0)
      Check.failAt("uop_ports", static_cast<int64_t>(U),
                   Mask == 0 ? "names no port" : "names a port that does not exist");
    if (K.isResource(static_cast<int32_t>(U)) && (Mask & (Mask - 1)) != 0)
      Check.failAt("uop_ports", static_cast<int64_t>(U),
                   "names a resource together with something else");
  }
}

void checkPortDelays(const Kernel &K, const Checks &Check) {
  if (K.PortDelayCycles.size() > MaxPortDelays)
    Check.fail("port_delay_cycles", std::to_string(K.PortDelayCycles.size()) +
                                        " entries; there may be at most " +
                                        std::to_string(MaxPortDelays));
  auto CheckDelays = [&](const char *Array, const std::vector<int32_t> &Sets) {
    for (size_t I = 0; I < Sets.size(); ++I)
      if (Sets[I] >> K.PortDelayCycles.size() != 0)
        Check.failAt(Array, static_cast<int64_t>(I), "names a delay that does not exist");
  };
  CheckDelays("delays_from", K.DelaysFrom);
  CheckDelays("delays_to", K.DelaysTo);
}

void checkAssumed(const Kernel &K, const Checks &Check) {
  for (size_t N = 0; N < K.AssumedLoad.size(); ++N) {
    int32_t Load = K.AssumedLoad[N], Store = K.AssumedStore[N];
    if (K.valueKind(Load) != ValueKind::Load)
      Check.failAt("assumed_load", static_cast<int64_t>(N), "names no loaded value");
    if (K.valueKind(Store) != ValueKind::Store)
      Check.failAt("assumed_store", static_cast<int64_t>(N), "names no stored value");
    if (K.AssumedDistance[N] == 0 && Store > Load)
      Check.failAt("assumed_distance", static_cast<int64_t>(N),
                   "makes a load read what is stored later");
  }
}

void checkInputs(const Kernel &K, const Checks &Check) {
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
      for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In) {
        int32_t Id = K.InputId[In];
        if (K.InputKinds[In] == InputKind::Location) {
          if (Id < 0 || Id >= K.NumLocations)
            Check.failAt("input_id", In, "names no location");
          continue;
        }
        bool IsOwn = Id >= K.ValueStart[I] && Id < K.ValueStart[I + 1];
        // A load may only read earlier loads, so that no value waits for itself.
        if (!IsOwn || K.valueKind(Id) != ValueKind::Load ||
            (K.valueKind(V) == ValueKind::Load && Id >= V))
          Check.failAt("input_id", In, "names no loaded value of its instruction");
      }
}

} // namespace

void incc::validate(const Kernel &K) {
  Checks Check;
  if (K.NumColumns > 64)
    Check.fail("port_names",
               std::to_string(K.NumColumns) + " ports and resources; there may be at most 64");
  if (K.NumPorts < 0 || K.NumPorts > K.NumColumns)
    Check.fail("n_ports", "is " + std::to_string(K.NumPorts) + " of " +
                              std::to_string(K.NumColumns) + " port_names");
  Owners Of(K);
  [[maybe_unused]] auto [Locations, Instructions, Uops, Values, Outputs, Inputs, Operands, Affines,
                         AffineTerms, Entries, EntryTerms, Forwards, PortDelays, Assumed, Aligned] =
      Of;
#define KERNEL_SCALAR(Member, Name, Default, Low, High) Check.scalar(#Name, K.Member, Low, High);
#define KERNEL_ARRAY(Member, Name, Owners, Low, High)                                              \
  Check.length(#Name, K.Member, Owners);                                                           \
  Check.range(#Name, K.Member, Low, High);
#define KERNEL_ENUMS(Type, Member, Name, Owners)                                                   \
  Check.length(#Name, K.Member, Owners);                                                           \
  Check.enumerators(#Name, K.Member);
#define KERNEL_WIDE(Member, Name, Owners) Check.length(#Name, K.Member, Owners);
#define KERNEL_MASKS(Member, Name, Owners) Check.length(#Name, K.Member, Owners);
#define KERNEL_START(Member, Name, Owners, Entries) Check.start(#Name, K.Member, Owners, Entries);
#include "incc/fields.def"
  checkPorts(K, Check);
  checkInputs(K, Check);
  checkPortDelays(K, Check);
  checkAssumed(K, Check);
}

std::vector<bool> incc::findAddressInputs(const Kernel &K) {
  std::vector<bool> Result(K.InputId.size(), false);
  for (int32_t V = 0; V < K.numValues(); ++V) {
    int32_t Operand = K.MemoryOfValue[V];
    if (Operand < 0 || K.valueKind(V) == ValueKind::Register)
      continue;
    bool IsLoad = K.valueKind(V) == ValueKind::Load;
    bool BaseLeft = K.MemoryBase[Operand] >= 0, IndexLeft = K.MemoryIndex[Operand] >= 0;
    // Go backwards, since a store's data come before its address.
    for (int32_t In = K.InputStart[V + 1]; In-- > K.InputStart[V];) {
      if (K.InputKinds[In] == InputKind::Value)
        continue;
      int32_t Location = K.InputId[In];
      if (BaseLeft && Location == K.MemoryBase[Operand]) {
        BaseLeft = false;
        Result[In] = true;
      } else if (IndexLeft && Location == K.MemoryIndex[Operand]) {
        IndexLeft = false;
        Result[In] = true;
      } else {
        Result[In] = IsLoad;
      }
    }
  }
  return Result;
}

int32_t incc::longestLatency(const Kernel &K, int32_t Instruction, int32_t Value) {
  auto Inputs = K.InputLatency.begin();
  auto First = Inputs + K.InputStart[Value], End = Inputs + K.InputStart[Value + 1];
  if (First != End)
    return *std::max_element(First, End);
  return K.valueKind(Value) == ValueKind::Load ? K.LoadLatency[Instruction] : 0;
}

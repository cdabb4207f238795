//===- kernel.cpp - Checks of a bound kernel ------------------------------===//

#include "incc/kernel.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

using namespace incc;

namespace {

/// Latencies and occupancies beyond this are errors of a model; the limit keeps every sum of the
/// analysis far inside 64 bits.
constexpr int32_t MaxCycles = 1 << 20;

[[noreturn]] void fail(const char *Array, const std::string &What) {
  throw std::invalid_argument(std::string(Array) + ": " + What);
}

template <typename T> void checkLength(const char *Array, const std::vector<T> &Values, size_t N) {
  if (Values.size() != N)
    fail(Array,
         std::to_string(Values.size()) + " entries where " + std::to_string(N) + " are expected");
}

template <typename T>
void checkRange(const char *Array, const std::vector<T> &Values, int64_t Low, int64_t High) {
  for (size_t I = 0; I < Values.size(); ++I)
    if (Values[I] < Low || Values[I] > High)
      fail(Array, "entry " + std::to_string(I) + " is " + std::to_string(Values[I]) + ", outside " +
                      std::to_string(Low) + ".." + std::to_string(High));
}

/// Start arrays: from 0 to the number of owned entries, never falling, one more than owners.
void checkStart(const char *Array, const std::vector<int32_t> &Start, size_t Owners,
                size_t Entries) {
  checkLength(Array, Start, Owners + 1);
  if (Start.front() != 0)
    fail(Array, "must begin with 0");
  if (!std::ranges::is_sorted(Start))
    fail(Array, "must not fall");
  if (static_cast<size_t>(Start.back()) != Entries)
    fail(Array, "ends with " + std::to_string(Start.back()) + " but there are " +
                    std::to_string(Entries) + " entries");
}

void checkParameter(const char *Name, int32_t Value, int32_t Low) {
  if (Value < Low)
    fail(Name, "is " + std::to_string(Value) + ", must be at least " + std::to_string(Low));
}

void validateUops(const Kernel &K) {
  size_t Uops = K.UopPorts.size();
  checkStart("uop_start", K.UopStart, K.InstructionFlags.size(), Uops);
  checkLength("uop_cycles", K.UopCycles, Uops);
  checkRange("uop_cycles", K.UopCycles, 1, MaxCycles);
  checkLength("uop_kind", K.UopKinds, Uops);
  checkRange("uop_kind", K.UopKinds, 0, static_cast<int64_t>(UopKind::Branch));
  uint64_t Columns = K.NumColumns == 64 ? ~uint64_t(0) : (uint64_t(1) << K.NumColumns) - 1;
  for (size_t U = 0; U < Uops; ++U) {
    uint64_t Mask = K.UopPorts[U];
    if (Mask == 0 || (Mask & ~Columns) != 0)
      fail("uop_ports", "entry " + std::to_string(U) + " names " +
                            (Mask == 0 ? "no port" : "a port that does not exist"));
    if (K.isResource(static_cast<int32_t>(U)) && (Mask & (Mask - 1)) != 0)
      fail("uop_ports", "entry " + std::to_string(U) + " names a resource beside something else");
  }
}

void validateInputs(const Kernel &K) {
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
      for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In) {
        int32_t Id = K.InputId[In];
        if (static_cast<InputKind>(K.InputKinds[In]) == InputKind::Location) {
          if (Id < 0 || Id >= K.NumLocations)
            fail("input_id", "entry " + std::to_string(In) + " names no location");
          continue;
        }
        bool SameInstruction = Id >= K.ValueStart[I] && Id < K.ValueStart[I + 1];
        // Among loads only earlier ones, so that no value can wait for itself.
        if (!SameInstruction || K.valueKind(Id) != ValueKind::Load ||
            (K.valueKind(V) == ValueKind::Load && Id >= V))
          fail("input_id",
               "entry " + std::to_string(In) + " names no loaded value of its instruction");
      }
}

void validateValues(const Kernel &K) {
  size_t Values = K.ValueKinds.size();
  checkStart("value_start", K.ValueStart, K.InstructionFlags.size(), Values);
  checkRange("value_kind", K.ValueKinds, 0, static_cast<int64_t>(ValueKind::Store));
  checkStart("output_start", K.OutputStart, Values, K.OutputLocation.size());
  checkRange("output_location", K.OutputLocation, 0, K.NumLocations - 1);
  checkStart("input_start", K.InputStart, Values, K.InputId.size());
  checkLength("input_kind", K.InputKinds, K.InputId.size());
  checkRange("input_kind", K.InputKinds, 0, static_cast<int64_t>(InputKind::Value));
  checkLength("input_latency", K.InputLatency, K.InputId.size());
  checkRange("input_latency", K.InputLatency, 0, MaxCycles);
  validateInputs(K);
}

void validateMemory(const Kernel &K) {
  size_t Operands = K.MemoryBase.size();
  checkLength("memory_of_value", K.MemoryOfValue, K.ValueKinds.size());
  checkRange("memory_of_value", K.MemoryOfValue, -1, static_cast<int64_t>(Operands) - 1);
  checkRange("memory_base", K.MemoryBase, -1, K.NumLocations - 1);
  checkLength("memory_index", K.MemoryIndex, Operands);
  checkRange("memory_index", K.MemoryIndex, -1, K.NumLocations - 1);
  checkLength("memory_scale", K.MemoryScale, Operands);
  checkLength("memory_displacement", K.MemoryDisplacement, Operands);
  checkLength("memory_size", K.MemorySize, Operands);
  checkRange("memory_size", K.MemorySize, 0, INT32_MAX);
  checkLength("memory_symbol", K.MemorySymbol, Operands);
  checkRange("memory_symbol", K.MemorySymbol, -1, INT32_MAX);
  checkLength("memory_class", K.MemoryClass, Operands);
  checkLength("memory_elements", K.MemoryElements, Operands);
}

void validateAffine(const Kernel &K) {
  checkStart("affine_start", K.AffineStart, K.InstructionFlags.size(), K.AffineTarget.size());
  checkRange("affine_target", K.AffineTarget, -1, K.NumLocations - 1);
  checkLength("affine_constant", K.AffineConstant, K.AffineTarget.size());
  checkStart("affine_term_start", K.AffineTermStart, K.AffineTarget.size(),
             K.AffineTermLocation.size());
  checkRange("affine_term_location", K.AffineTermLocation, 0, K.NumLocations - 1);
  checkLength("affine_term_coefficient", K.AffineTermCoefficient, K.AffineTermLocation.size());
}

void validateEntry(const Kernel &K) {
  checkRange("entry_location", K.EntryLocation, 0, K.NumLocations - 1);
  checkLength("entry_constant", K.EntryConstant, K.EntryLocation.size());
  checkStart("entry_term_start", K.EntryTermStart, K.EntryLocation.size(),
             K.EntryTermUnknown.size());
  checkRange("entry_term_unknown", K.EntryTermUnknown, 0, std::numeric_limits<int32_t>::max());
  checkLength("entry_term_coefficient", K.EntryTermCoefficient, K.EntryTermUnknown.size());
}

} // namespace

void incc::validate(const Kernel &K) {
  if (K.NumColumns > 64)
    fail("port_names",
         std::to_string(K.NumColumns) + " ports and resources, at most 64 are allowed");
  if (K.NumPorts < 0 || K.NumPorts > K.NumColumns)
    fail("n_ports", "is " + std::to_string(K.NumPorts) + " of " + std::to_string(K.NumColumns) +
                        " port_names");
  size_t N = K.InstructionFlags.size();
  checkLength("issue_slots", K.IssueSlots, N);
  checkRange("issue_slots", K.IssueSlots, 0, MaxCycles);
  checkLength("retire_slots", K.RetireSlots, N);
  checkRange("retire_slots", K.RetireSlots, 0, MaxCycles);
  checkLength("load_latency", K.LoadLatency, N);
  checkRange("load_latency", K.LoadLatency, 0, MaxCycles);
  validateUops(K);
  validateValues(K);
  validateMemory(K);
  validateAffine(K);
  validateEntry(K);
  checkParameter("issue_width", K.IssueWidth, 1);
  checkParameter("retire_width", K.RetireWidth, 1);
  checkParameter("rob", K.Rob, 0);
  checkParameter("rs", K.Rs, 0);
  checkParameter("load_buffer", K.LoadBuffer, 0);
  checkParameter("store_buffer", K.StoreBuffer, 0);
  checkParameter("issue_to_execute", K.IssueToExecute, 0);
  checkLength("forward_cycles", K.ForwardCycles, K.ForwardClass.size());
  checkRange("forward_cycles", K.ForwardCycles, 0, MaxCycles);
}

std::vector<bool> incc::findAddressInputs(const Kernel &K) {
  std::vector<bool> Result(K.InputId.size(), false);
  for (int32_t V = 0; V < K.numValues(); ++V) {
    int32_t Operand = K.MemoryOfValue[V];
    if (Operand < 0 || K.valueKind(V) == ValueKind::Register)
      continue;
    bool IsLoad = K.valueKind(V) == ValueKind::Load;
    bool BaseLeft = K.MemoryBase[Operand] >= 0, IndexLeft = K.MemoryIndex[Operand] >= 0;
    // Backwards, since a store's data come before its address.
    for (int32_t In = K.InputStart[V + 1]; In-- > K.InputStart[V];) {
      if (static_cast<InputKind>(K.InputKinds[In]) == InputKind::Value)
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

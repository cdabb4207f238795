//===- kernel.h - A kernel bound to a machine model -----------------------===//
//
// The core's only input: flat arrays, free of any instruction set, text or
// Python type.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_KERNEL_H
#define INCC_KERNEL_H

#include <cstdint>
#include <vector>

namespace incc {

constexpr int32_t Smallest = INT32_MIN, Largest = INT32_MAX;
/// Latencies and occupancies beyond this are errors of a model; the limit keeps every sum of the
/// analysis far inside 64 bits.
constexpr int32_t MaxCycles = 1 << 20;
constexpr int32_t MaxStoreWordWindow = 16; ///< Cycles for which blocks in the cache are remembered.
constexpr int32_t MaxStarts = 64;          ///< Of µops in a cycle: the most ports there can be.
/// Of a buffer.
constexpr int32_t MaxEntries = 1 << 20;
/// Of what has no limit.
constexpr int32_t Unlimited = 1 << 20;

// What the values mean is explained in fields.def.
enum InstructionFlag : int32_t {
#define INSTRUCTION_FLAG(Name, Python, Bit) Name = Bit,
#include "incc/fields.def"
};
enum class UopKind : int32_t {
#define UOP_KIND(Name, Python) Name,
#include "incc/fields.def"
};
enum class ValueKind : int32_t {
#define VALUE_KIND(Name, Python) Name,
#include "incc/fields.def"
};
enum class InputKind : int32_t {
#define INPUT_KIND(Name, Python) Name,
#include "incc/fields.def"
};

/// The fields are those of fields.def, where each is explained.
struct Kernel {
#define KERNEL_NAMES(Member, Name) int32_t Member = 0;
#define KERNEL_SCALAR(Member, Name, Default, Low, High) int32_t Member = Default;
#define KERNEL_ARRAY(Member, Name, Owners, Low, High) std::vector<int32_t> Member;
#define KERNEL_ENUMS(Type, Member, Name, Owners) std::vector<Type> Member;
#define KERNEL_WIDE(Member, Name, Owners) std::vector<int64_t> Member;
#define KERNEL_MASKS(Member, Name, Owners) std::vector<uint64_t> Member;
#define KERNEL_START(Member, Name, Owners, Entries) std::vector<int32_t> Member;
#include "incc/fields.def"

  int32_t numInstructions() const { return static_cast<int32_t>(InstructionFlags.size()); }
  int32_t numValues() const { return static_cast<int32_t>(ValueKinds.size()); }
  int32_t numUops() const { return static_cast<int32_t>(UopPorts.size()); }
  bool hasFlag(int32_t Instruction, InstructionFlag Flag) const {
    return (InstructionFlags[Instruction] & Flag) != 0;
  }
  ValueKind valueKind(int32_t Value) const { return ValueKinds[Value]; }
  UopKind uopKind(int32_t Uop) const { return UopKinds[Uop]; }
  /// Whether the µop stands for an exclusively held resource rather than for work on a port.
  bool isResource(int32_t Uop) const { return NumPorts < 64 && UopPorts[Uop] >> NumPorts != 0; }
};

/// Checks that the arrays fit each other: lengths, ranges (both as fields.def has them), and what
/// one says of another.
///
/// \throws std::invalid_argument naming the first array that does not, as models/binding/bound.py names it.
void validate(const Kernel &K);

/// For each input, as in Kernel::InputId, whether it is the register of an address. The others are
/// data; a register that is both stored and part of the address is named twice.
std::vector<bool> findAddressInputs(const Kernel &K);

/// The longest of a value's input latencies; for a load whose address needs no register the
/// latency of the load.
int32_t longestLatency(const Kernel &K, int32_t Instruction, int32_t Value);

} // namespace incc

#endif // INCC_KERNEL_H

//===- kernel.h - A kernel bound to a machine model -----------------------===//
//
// The core's only input: flat arrays that are independent of instruction set, text
// and Python. models/binding/bound.py is the same in Python.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_KERNEL_H
#define INCC_KERNEL_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace incc {

constexpr int32_t Smallest = INT32_MIN, Largest = INT32_MAX;
/// The longest latency or occupancy. A longer one is an error of the model; the limit keeps every
/// sum of the analysis far below 2^63.
constexpr int32_t MaxCycles = 1 << 20;
/// The most entries of a buffer.
constexpr int32_t MaxEntries = 1 << 20;
/// The value of a parameter without a limit.
constexpr int32_t Unlimited = 1 << 20;
/// The most cycles for which a store queue remembers the blocks that it wrote.
constexpr int32_t MaxStoreWordWindow = 16;
/// The most delays between ports. Values store a set of them in 16 bits.
constexpr size_t MaxPortDelays = 16;
/// The most µops that can start in a cycle, which is the largest number of ports.
constexpr int32_t MaxStarts = 64;

// The values of these enumerations are documented in fields.def.

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

/// A kernel. The fields are documented in fields.def.
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
  /// Returns true if an entry of the µops stands for a resource that the instruction holds, rather
  /// than for work on a port.
  bool isResource(int32_t Uop) const { return NumPorts < 64 && UopPorts[Uop] >> NumPorts != 0; }
};

/// Checks that the lengths and ranges of all arrays are as fields.def has them, and that the arrays
/// agree with each other.
///
/// \throws std::invalid_argument naming the first array that does not, by its name in
///         models/binding/bound.py.
void validate(const Kernel &K);

/// Returns for each input, as in Kernel::InputId, if it is a register of an address. The others are
/// data. A register that is both stored and part of the address is an input twice.
std::vector<bool> findAddressInputs(const Kernel &K);

/// Returns the longest of the latencies of a value's inputs; for a load whose address needs no
/// register, the latency of the load.
int32_t longestLatency(const Kernel &K, int32_t Instruction, int32_t Value);

} // namespace incc

#endif // INCC_KERNEL_H

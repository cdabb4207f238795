//===- kernel.h - A kernel bound to a machine model -----------------------===//
//
// The core's only input: flat arrays, free of any instruction set, text or
// Python type. Field by field the same as models/bound.py, where each is
// explained.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_KERNEL_H
#define INCC_KERNEL_H

#include <cstdint>
#include <vector>

namespace incc {

enum InstructionFlag : int32_t {
  FusedIntoPrevious = 1,
  Eliminated = 2,
  Zeroed = 4,
  NoExecution = 8,
  Unknown = 16,
  IsLoad = 32,
  IsStore = 64,
  IsBranch = 128,
};

enum class UopKind : int32_t { Compute, Load, StoreAddress, StoreData, Branch };
enum class ValueKind : int32_t { Register, Load, Store };
enum class InputKind : int32_t { Location, Value };

struct Kernel {
  // Ports, then resources that are held exclusively.
  int32_t NumPorts = 0;   ///< Ports only.
  int32_t NumColumns = 0; ///< Ports and resources, at most 64.

  // Instructions.
  std::vector<int32_t> InstructionFlags, IssueSlots, RetireSlots, LoadLatency;

  // µops.
  std::vector<int32_t> UopStart, UopCycles, UopKinds;
  std::vector<uint64_t> UopPorts;

  // Values, the nodes of the dependency graph.
  std::vector<int32_t> ValueStart, ValueKinds;
  std::vector<int32_t> OutputStart, OutputLocation;
  std::vector<int32_t> InputStart, InputKinds, InputId, InputLatency;

  int32_t NumLocations = 0;

  // Memory operands.
  std::vector<int32_t> MemoryOfValue, MemoryBase, MemoryIndex, MemoryScale, MemorySize,
      MemorySymbol, MemoryClass, MemoryElements;
  std::vector<int64_t> MemoryDisplacement;

  // Address arithmetic.
  std::vector<int32_t> AffineStart, AffineTarget, AffineTermStart, AffineTermLocation;
  std::vector<int64_t> AffineConstant, AffineTermCoefficient;

  /// What locations hold at first: a constant and multiples of numbered unknown values.
  std::vector<int32_t> EntryLocation, EntryTermStart, EntryTermUnknown;
  std::vector<int64_t> EntryConstant, EntryTermCoefficient;

  // Parameters of the core; buffers of size 0 are unlimited.
  int32_t IssueWidth = 1, RetireWidth = 1;
  int32_t Rob = 0, Rs = 0, LoadBuffer = 0, StoreBuffer = 0;
  int32_t IssueToExecute = 1;
  /// Bytes of a cache line, 0 to leave lines out; cycles for which a load that crosses one holds
  /// its port beyond the first.
  int32_t LineBytes = 0, LineCrossingCycles = 0;
  std::vector<int32_t> ForwardClass, ForwardCycles;

  bool IsLoop = true;

  int32_t numInstructions() const { return static_cast<int32_t>(InstructionFlags.size()); }
  int32_t numValues() const { return static_cast<int32_t>(ValueKinds.size()); }
  int32_t numUops() const { return static_cast<int32_t>(UopPorts.size()); }
  bool hasFlag(int32_t Instruction, InstructionFlag Flag) const {
    return (InstructionFlags[Instruction] & Flag) != 0;
  }
  ValueKind valueKind(int32_t Value) const { return static_cast<ValueKind>(ValueKinds[Value]); }
  UopKind uopKind(int32_t Uop) const { return static_cast<UopKind>(UopKinds[Uop]); }
  /// Whether the µop stands for an exclusively held resource rather than for work on a port.
  bool isResource(int32_t Uop) const { return NumPorts < 64 && UopPorts[Uop] >> NumPorts != 0; }
};

/// Checks that the arrays fit each other: lengths, index ranges, signs.
///
/// \throws std::invalid_argument naming the first array that does not, as models/bound.py names it.
void validate(const Kernel &K);

/// For each input, as in Kernel::InputId, whether it is the register of an address. The others are
/// data; a register that is both stored and part of the address is named twice.
std::vector<bool> findAddressInputs(const Kernel &K);

/// The longest of a value's input latencies; for a load whose address needs no register the
/// latency of the load.
int32_t longestLatency(const Kernel &K, int32_t Instruction, int32_t Value);

} // namespace incc

#endif // INCC_KERNEL_H

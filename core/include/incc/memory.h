//===- memory.h - Dependencies from stores to loads -----------------------===//

#ifndef INCC_MEMORY_H
#define INCC_MEMORY_H

#include "incc/kernel.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace incc {

/// The load reads what the store wrote `Distance` iterations before. Or it is blocked until an
/// earlier load has its data, see `memoryDependencies`.
struct MemoryDependency {
  int32_t Store; ///< A value of kind Store, or the earlier load.
  int32_t Load;  ///< A value of kind Load.
  int32_t Distance;
  int32_t Latency; ///< Cycles from the stored data being ready to the load delivering them.
};

/// For each load the latest store to any of the bytes that it reads, by the load's value.
///
/// Addresses are compared symbolically, over simulated iterations. Accesses whose addresses differ
/// by more than a known number of bytes are taken to be different places, as OSACA and
/// llvm-mca -noalias do; so are gathers and scatters, whose addresses are in vector registers. An
/// access of unknown size counts as one byte. Stores more than 64 iterations back are not looked
/// for, in kernels of thousands of instructions fewer (see simulatedIterations).
///
/// Where the latest store wrote only some of the bytes, x86 cores do not forward (Intel's
/// optimisation manual, "Store Forwarding Restriction on Size and Alignment"): the load is blocked
/// until the store is in the cache. That adds Kernel::BlockedForwardCycles to the latency and,
/// since stores go there after their retirement, makes it wait for the blocked loads before the
/// store. What the kernel assumes (Kernel::AssumedLoad) comes last.
std::vector<MemoryDependency> memoryDependencies(const Kernel &K);

/// Where a load reads or a store writes in one iteration: `Constant` bytes from an unknown place
/// that is the same for all accesses with the same `Part`.
struct AccessAddress {
  int32_t Value; ///< A value of kind Load or Store.
  int32_t Bytes;
  uint32_t Part;
  uint64_t Constant;
};

/// The addresses of all loads, or all stores, over a number of iterations, a power of two, in the
/// steady state. Gathers and scatters are left out, and accesses of unknown size.
struct AccessAddresses {
  int64_t Iterations = 1;
  std::vector<AccessAddress> Accesses; ///< In program order.
  /// By part: the number of the object that it lies in. Parts of one object differ by unknown
  /// offsets, as the rows of an array do, not by pointers.
  std::unordered_map<uint32_t, int32_t> ObjectOf;
};

/// What following the addresses through some iterations tells.
struct MemoryAccesses {
  std::vector<MemoryDependency> Dependencies; ///< See memoryDependencies.
  AccessAddresses Loads, Stores;
};

/// All that is asked for in one go; what is not stays empty.
MemoryAccesses followMemory(const Kernel &K, bool Dependencies, bool Loads, bool Stores);

/// How a load or store moves through memory from one iteration to the next.
struct Stream {
  int32_t Instruction;
  bool Store;
  int32_t Bytes;
  /// In an iteration the access is `Offset` bytes from an unknown place, which is the same for all
  /// accesses of the same part. Parts are numbered from 0 in program order.
  int32_t Part;
  int64_t Offset;
  /// Whether the address changes by the same number of bytes, `Step`, from each iteration to the
  /// next.
  bool Steady;
  int64_t Step;
};

/// All accesses whose addresses can be followed (see AccessAddresses), in program order.
std::vector<Stream> streams(const Kernel &K);

/// How many iterations of a kernel memoryDependencies simulates; distances are below this.
int32_t simulatedIterations(const Kernel &K);

} // namespace incc

#endif // INCC_MEMORY_H

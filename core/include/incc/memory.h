//===- memory.h - Dependencies through memory and streams -----------------===//

#ifndef INCC_MEMORY_H
#define INCC_MEMORY_H

#include "incc/kernel.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace incc {

/// A dependency through memory: a load reads what a store wrote `Distance` iterations before, or is
/// blocked until an earlier load has its data (see memoryDependencies()).
struct MemoryDependency {
  int32_t Store; ///< A value of kind Store, or the loaded value of the earlier load.
  int32_t Load;  ///< A value of kind Load.
  int32_t Distance;
  int32_t Latency; ///< Cycles from the stored data being ready to the load delivering them.
};

/// Finds for each load the latest store to any of the bytes that it reads.
///
/// Addresses are compared symbolically, over simulated iterations. Accesses whose addresses differ
/// by an unknown number of bytes are taken not to overlap, as OSACA and llvm-mca -noalias do; so
/// are gathers and scatters, whose addresses are in vector registers. An access of unknown size
/// counts as one byte. Stores of more than 64 iterations before are not found, nor those of fewer
/// iterations in kernels of thousands of instructions (see simulatedIterations()).
///
/// If the latest store wrote only some of the bytes, x86 cores do not forward (Intel's
/// optimization manual, "Store Forwarding Restriction on Size and Alignment"): the load is blocked
/// until the store is in the cache. That adds Kernel::BlockedForwardCycles to the latency. A store
/// reaches the cache after its retirement, so the load also waits for the blocked loads before the
/// store. What the kernel assumes (Kernel::AssumedLoad) comes last.
std::vector<MemoryDependency> memoryDependencies(const Kernel &K);

/// The bytes that a load reads or a store writes in one iteration: `Constant` bytes from an unknown
/// place, which is the same for all accesses with the same `Part`.
struct AccessAddress {
  int32_t Value; ///< A value of kind Load or Store.
  int32_t Bytes;
  uint32_t Part;
  uint64_t Constant;

  /// Returns the last byte of the access, from the same unknown place.
  uint64_t lastByte() const { return Constant + static_cast<uint64_t>(std::max(Bytes, 1)) - 1; }
};

/// The addresses of all loads, or all stores, in the steady state. Gathers, scatters and accesses
/// of unknown size are left out.
struct AccessAddresses {
  int64_t Iterations = 1;              ///< The iterations that were followed, a power of two.
  std::vector<AccessAddress> Accesses; ///< In program order.
  /// By part: the number of the object that the part lies in. Parts of one object differ by unknown
  /// offsets, as the rows of an array do, and not by pointers.
  std::unordered_map<uint32_t, int32_t> ObjectOf;
};

/// The result of following the addresses of a kernel through some iterations.
struct MemoryAccesses {
  std::vector<MemoryDependency> Dependencies; ///< As memoryDependencies().
  AccessAddresses Loads, Stores;
};

/// Follows the addresses of a kernel, and finds what is requested. The rest stays empty.
MemoryAccesses followMemory(const Kernel &K, bool Dependencies, bool Loads, bool Stores);

/// The movement of a load or store through memory from one iteration to the next.
struct Stream {
  int32_t Instruction;
  bool Store;
  int32_t Bytes;
  int32_t Part;   ///< As AccessAddress::Part, numbered from 0 in program order.
  int32_t Object; ///< The object that the part lies in (AccessAddresses::ObjectOf), likewise.
  int64_t Offset; ///< As AccessAddress::Constant, in one iteration.
  bool Steady; ///< The address changes by the same number of bytes from each iteration to the next:
  int64_t Step; ///< by this much.
};

/// Returns the streams of all accesses with these addresses, in program order.
std::vector<Stream> findStreams(const Kernel &K, const AccessAddresses &Loads,
                                const AccessAddresses &Stores);

/// Computes the addresses of a kernel's accesses, and returns their streams.
std::vector<Stream> streams(const Kernel &K);

/// Returns the number of iterations of a kernel that memoryDependencies() simulates. Distances are
/// less than this.
int32_t simulatedIterations(const Kernel &K);

} // namespace incc

#endif // INCC_MEMORY_H

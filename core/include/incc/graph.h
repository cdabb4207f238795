//===- graph.h - The dependency graph of a kernel -------------------------===//
//
// The nodes of the graph are values, not instructions. An instruction that loads
// and computes has two values, the loaded one and the result; a read-modify-write
// has a stored one as well. Each input of a value has its own latency. So an
// accumulator that is needed late, an address that is needed early and data that
// come through memory each count as they do in the hardware.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_GRAPH_H
#define INCC_GRAPH_H

#include "incc/kernel.h"
#include "incc/memory.h"

#include <cstdint>
#include <span>
#include <vector>

namespace incc {

/// A dependency: the consumer's value can be ready `Latency` cycles after the producer's value of
/// `Distance` iterations before.
struct Edge {
  int32_t Producer, ProducerValue; ///< Instruction and value.
  int32_t Consumer, ConsumerValue;
  int32_t Location; ///< The register or flags that carry it; -1: memory, or within an instruction.
  int32_t Latency;
  int32_t Distance;
};

/// The value that an input reads, of `Distance` iterations before.
struct Source {
  int32_t Value = -1; ///< -1: it comes from before the kernel.
  int32_t Distance = 0;
};

/// The producers of all inputs: through registers and flags (a read depends on the last write, in
/// the same or the previous iteration), through memory, and within instructions from loaded values
/// to results.
struct Dataflow {
  std::vector<int32_t> InstructionOf; ///< By value.
  std::vector<Source> SourceOf;       ///< By input, as in Kernel::InputId.
  /// By input: cycles beyond its latency because its producer is in another group of instructions
  /// (Kernel::ForwardGroup). Empty if there are none.
  std::vector<int32_t> DelayOf;
  /// By input: the delay between ports (Kernel::PortDelayCycles) at the best pair of ports. Empty
  /// if there are none.
  std::vector<int32_t> LeastPortDelayOf;
  std::vector<MemoryDependency> Memory;

  int32_t delayOf(int32_t Input) const {
    return DelayOf.empty() ? 0 : DelayOf[static_cast<size_t>(Input)];
  }
  int32_t leastPortDelayOf(int32_t Input) const {
    return LeastPortDelayOf.empty() ? 0 : LeastPortDelayOf[static_cast<size_t>(Input)];
  }
};

/// Finds the producers of a kernel's inputs. The dependencies through memory are given.
Dataflow findDataflow(const Kernel &K, std::vector<MemoryDependency> Memory);

/// The dependency graph.
struct Graph {
  int32_t NumValues = 0;
  Dataflow Flow;

  /// Sorted by producer, consumer and distance. Of several edges between the same values at the
  /// same distance, only the one with the longest latency is kept.
  std::vector<Edge> Edges;
  std::vector<int32_t> EdgeStart; ///< By producing value, with one more entry at the end.

  /// The values in an order in which every edge of distance 0 leads forwards.
  std::vector<int32_t> Order;

  std::span<const Edge> edgesFrom(int32_t Value) const {
    return {Edges.data() + EdgeStart[Value], Edges.data() + EdgeStart[Value + 1]};
  }
};

Graph buildGraph(const Kernel &K, Dataflow Flow);
/// Builds the graph of a kernel with the dependencies that findDataflow() and memoryDependencies()
/// find.
Graph buildGraph(const Kernel &K);

/// Builds a graph that suffices for bounds: with parallel edges, sorted by producer only, and
/// without Graph::Flow.
Graph buildUnsortedGraph(const Kernel &K, const Dataflow &Flow);

} // namespace incc

#endif // INCC_GRAPH_H

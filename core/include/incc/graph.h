//===- graph.h - The dependency graph of a kernel -------------------------===//

#ifndef INCC_GRAPH_H
#define INCC_GRAPH_H

#include "incc/kernel.h"
#include "incc/memory.h"

#include <cstdint>
#include <span>
#include <vector>

namespace incc {

/// The consumer's value can be ready `Latency` cycles after the producer's value of `Distance`
/// iterations before.
struct Edge {
  int32_t Producer, ProducerValue; ///< Instruction and value.
  int32_t Consumer, ConsumerValue;
  int32_t Location; ///< The register or flags that carry it; -1 memory or within an instruction.
  int32_t Latency;
  int32_t Distance;
};

/// Where an input comes from: a value, `Distance` iterations before.
struct Source {
  int32_t Value = -1; ///< -1: from before the kernel.
  int32_t Distance = 0;
};

/// Who reads what: dependencies through registers and flags (a read depends on the last write, in
/// the same or the previous iteration), through memory, and inside instructions from loaded values
/// to results.
struct Dataflow {
  std::vector<int32_t> InstructionOf; ///< By value.
  std::vector<Source> SourceOf;       ///< By input, as in Kernel::InputId.
  /// By input: cycles beyond its latency, since the result leaves its group (Kernel::ForwardGroup).
  /// Empty where nothing has any.
  std::vector<int32_t> DelayOf;
  /// By input: of the delays between ports (Kernel::PortDelayCycles), the cycles that it takes
  /// longer between the ports that are best. Empty where nothing has any.
  std::vector<int32_t> LeastPortDelayOf;
  std::vector<MemoryDependency> Memory;

  int32_t delayOf(int32_t Input) const {
    return DelayOf.empty() ? 0 : DelayOf[static_cast<size_t>(Input)];
  }
  int32_t leastPortDelayOf(int32_t Input) const {
    return LeastPortDelayOf.empty() ? 0 : LeastPortDelayOf[static_cast<size_t>(Input)];
  }
};

Dataflow findDataflow(const Kernel &K, std::vector<MemoryDependency> Memory);

struct Graph {
  int32_t NumValues = 0;
  Dataflow Flow;

  /// Sorted by producer, consumer, distance. Of several edges between the same values at the same
  /// distance only the one of the longest latency is kept.
  std::vector<Edge> Edges;
  std::vector<int32_t> EdgeStart; ///< By producer value, one entry more.

  /// The values in an order in which every edge of distance 0 leads forwards.
  std::vector<int32_t> Order;

  std::span<const Edge> edgesFrom(int32_t Value) const {
    return {Edges.data() + EdgeStart[Value], Edges.data() + EdgeStart[Value + 1]};
  }
};

Graph buildGraph(const Kernel &K, Dataflow Flow);
/// With what findDataflow and memoryDependencies find.
Graph buildGraph(const Kernel &K);

/// As far as bounds need it: with parallel edges, sorted by producer alone, and without the Flow.
Graph buildUnsortedGraph(const Kernel &K, const Dataflow &Flow);

} // namespace incc

#endif // INCC_GRAPH_H

//===- graph.cpp - Building the dependency graph --------------------------===//

#include "incc/graph.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

using namespace incc;

namespace {

/// Returns the value that each input reads.
std::vector<Source> findSources(const Kernel &K) {
  std::vector<Source> Sources(K.InputId.size());
  // Two passes over the instructions. The first one leaves the last writers of an iteration, which
  // the first reads of the next iteration see.
  std::vector<Source> LastWriter(static_cast<size_t>(K.NumLocations));
  for (int32_t Pass = 0; Pass < 2; ++Pass) {
    for (int32_t I = 0; I < K.numInstructions(); ++I) {
      if (Pass == 1)
        for (int32_t In = K.InputStart[K.ValueStart[I]]; In < K.InputStart[K.ValueStart[I + 1]];
             ++In)
          Sources[In] = K.InputKinds[In] == InputKind::Value ? Source{K.InputId[In], 0}
                                                             : LastWriter[K.InputId[In]];
      for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
        for (int32_t Out = K.OutputStart[V]; Out < K.OutputStart[V + 1]; ++Out)
          LastWriter[K.OutputLocation[Out]] = {V, 0};
    }
    for (Source &S : LastWriter)
      S.Distance = 1;
  }
  return Sources;
}

/// Returns the computed register value that an input gets, -1 for none. An eliminated move passes
/// on the value that it moves.
int32_t originOf(const Kernel &K, const Dataflow &Flow, int32_t In) {
  if (K.InputKinds[In] != InputKind::Location)
    return -1;
  int32_t From = Flow.SourceOf[In].Value;
  // Limit the number of steps because moves may form a cycle.
  for (int32_t Steps = 0; From >= 0 && K.hasFlag(Flow.InstructionOf[From], Eliminated); ++Steps)
    From = Steps < K.numValues() && K.InputStart[From] < K.InputStart[From + 1]
               ? Flow.SourceOf[K.InputStart[From]].Value
               : -1;
  return From >= 0 && K.valueKind(From) == ValueKind::Register ? From : -1;
}

/// Calls F(input, producing instruction, consuming instruction) for every input that reads a
/// computed register value.
template <typename Fn> void forEachResult(const Kernel &K, const Dataflow &Flow, Fn F) {
  for (int32_t V = 0; V < K.numValues(); ++V) {
    int32_t To = Flow.InstructionOf[static_cast<size_t>(V)];
    if (K.hasFlag(To, Eliminated))
      continue;
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (int32_t From = originOf(K, Flow, In); From >= 0)
        F(In, Flow.InstructionOf[static_cast<size_t>(From)], To);
  }
}

/// Returns the delays between groups of instructions, by input. The network that forwards results
/// is faster within some groups of units than between them: an addition that follows an addition
/// starts earlier than any other instruction that follows it. And a multiply-accumulate reads the
/// accumulator late if that comes from another one, which is a negative delay.
std::vector<int32_t> findDelays(const Kernel &K, const Dataflow &Flow) {
  auto IsZero = [](int32_t N) { return N == 0; };
  if (std::ranges::all_of(K.ForwardDelay, IsZero) && std::ranges::all_of(K.EarlyFor, IsZero))
    return {};
  std::vector<int32_t> Delays(K.InputId.size(), 0);
  forEachResult(K, Flow, [&](int32_t In, int32_t From, int32_t To) {
    if (K.ForwardGroup[From] < 0 || K.ForwardGroup[From] != K.ForwardGroup[To])
      Delays[In] = K.ForwardDelay[From];
    if (K.InputRule[In] >= 0 && (K.EarlyFor[From] >> K.InputRule[In] & 1) != 0)
      Delays[In] -= std::min(K.InputEarly[In], K.InputLatency[In]);
  });
  return Delays;
}

/// Returns the ports of an instruction's computing µops.
uint64_t computingPorts(const Kernel &K, int32_t I) {
  uint64_t Ports = 0;
  for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U)
    if (K.uopKind(U) == UopKind::Compute && !K.isResource(U))
      Ports |= K.UopPorts[U];
  return Ports;
}

/// Returns the longest of the delays that hold from one port to another (both as bits), 0 if none
/// does.
int32_t portDelay(const Kernel &K, uint32_t Rules, uint64_t From, uint64_t To) {
  int32_t Longest = INT32_MIN;
  for (; Rules != 0; Rules &= Rules - 1) {
    auto Rule = static_cast<size_t>(std::countr_zero(Rules));
    if ((From & K.PortDelayFrom[Rule]) != 0 && (To & K.PortDelayTo[Rule]) != 0)
      Longest = std::max(Longest, K.PortDelayCycles[Rule]);
  }
  return Longest == INT32_MIN ? 0 : Longest;
}

/// Returns the delay between the ports of two instructions, at the best pair of ports.
int32_t leastPortDelay(const Kernel &K, int32_t Producer, int32_t Consumer) {
  auto Rules = static_cast<uint32_t>(K.DelaysFrom[Producer] & K.DelaysTo[Consumer]);
  if (Rules == 0)
    return 0;
  int32_t Least = INT32_MAX;
  for (uint64_t From = computingPorts(K, Producer); From != 0; From &= From - 1)
    for (uint64_t To = computingPorts(K, Consumer); To != 0; To &= To - 1)
      Least = std::min(Least, portDelay(K, Rules, From & -From, To & -To));
  return Least == INT32_MAX ? 0 : Least;
}

/// Returns the delays between ports, by input. The ports that the µops get are not known here, so
/// the best pair of ports counts.
std::vector<int32_t> findLeastPortDelays(const Kernel &K, const Dataflow &Flow) {
  auto IsEmpty = [](int32_t Set) { return Set == 0; };
  if (std::ranges::all_of(K.DelaysFrom, IsEmpty) || std::ranges::all_of(K.DelaysTo, IsEmpty))
    return {};
  std::vector<int32_t> Delays(K.InputId.size(), 0);
  forEachResult(K, Flow, [&](int32_t In, int32_t Producer, int32_t Consumer) {
    // An input without latency delays nothing.
    if (K.InputLatency[In] > 0)
      Delays[In] = std::max(leastPortDelay(K, Producer, Consumer), -K.InputLatency[In]);
  });
  return Delays;
}

/// Returns the values in program order; within an instruction, loaded values come before those that
/// are computed from them.
std::vector<int32_t> topologicalOrder(const Kernel &K) {
  std::vector<int32_t> Order;
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    for (bool Loads : {true, false})
      for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
        if ((K.valueKind(V) == ValueKind::Load) == Loads)
          Order.push_back(V);
  return Order;
}

/// Calls F(edge) for every dependency.
template <typename Fn> void forEachEdge(const Kernel &K, const Dataflow &Flow, Fn F) {
  auto Add = [&](Source From, int32_t To, int32_t Location, int32_t Latency) {
    F(Edge{Flow.InstructionOf[From.Value], From.Value, Flow.InstructionOf[To], To, Location,
           Latency, From.Distance});
  };
  for (int32_t V = 0; V < K.numValues(); ++V)
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (Source From = Flow.SourceOf[In]; From.Value >= 0)
        Add(From, V, K.InputKinds[In] == InputKind::Location ? K.InputId[In] : -1,
            K.InputLatency[In] + Flow.delayOf(In) + Flow.leastPortDelayOf(In));
  for (const MemoryDependency &M : Flow.Memory)
    Add({M.Store, M.Distance}, M.Load, -1, M.Latency);
}

} // namespace

Dataflow incc::findDataflow(const Kernel &K, std::vector<MemoryDependency> Memory) {
  Dataflow Flow{{}, findSources(K), {}, {}, std::move(Memory)};
  Flow.InstructionOf.reserve(static_cast<size_t>(K.numValues()));
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    Flow.InstructionOf.insert(Flow.InstructionOf.end(), K.ValueStart[I + 1] - K.ValueStart[I], I);
  Flow.DelayOf = findDelays(K, Flow);
  Flow.LeastPortDelayOf = findLeastPortDelays(K, Flow);
  return Flow;
}

Graph incc::buildGraph(const Kernel &K, Dataflow Flow) {
  Graph G;
  G.NumValues = K.numValues();
  G.Flow = std::move(Flow);
  G.Order = topologicalOrder(K);
  forEachEdge(K, G.Flow, [&](const Edge &E) { G.Edges.push_back(E); });

  auto Ends = [](const Edge &E) {
    return std::tuple(E.ProducerValue, E.ConsumerValue, E.Distance);
  };
  std::ranges::stable_sort(G.Edges, [&](const Edge &A, const Edge &B) {
    return std::tuple(Ends(A), -A.Latency) < std::tuple(Ends(B), -B.Latency);
  });
  auto Parallel = std::ranges::unique(G.Edges, {}, Ends);
  G.Edges.erase(Parallel.begin(), Parallel.end());

  G.EdgeStart.assign(static_cast<size_t>(G.NumValues) + 1, 0);
  for (const Edge &E : G.Edges)
    ++G.EdgeStart[E.ProducerValue + 1];
  std::partial_sum(G.EdgeStart.begin(), G.EdgeStart.end(), G.EdgeStart.begin());
  return G;
}

Graph incc::buildGraph(const Kernel &K) {
  return buildGraph(K, findDataflow(K, memoryDependencies(K)));
}

Graph incc::buildUnsortedGraph(const Kernel &K, const Dataflow &Flow) {
  Graph G;
  G.NumValues = K.numValues();
  G.Order = topologicalOrder(K);
  // Counting sort: count the edges of each value, sum up where they begin, and place them.
  G.EdgeStart.assign(static_cast<size_t>(G.NumValues) + 1, 0);
  size_t Count = 0;
  forEachEdge(K, Flow, [&](const Edge &E) {
    ++G.EdgeStart[E.ProducerValue + 1];
    ++Count;
  });
  std::partial_sum(G.EdgeStart.begin(), G.EdgeStart.end(), G.EdgeStart.begin());
  G.Edges.resize(Count);
  std::vector<int32_t> Next(G.EdgeStart.begin(), G.EdgeStart.end() - 1);
  forEachEdge(K, Flow, [&](const Edge &E) { G.Edges[Next[E.ProducerValue]++] = E; });
  return G;
}

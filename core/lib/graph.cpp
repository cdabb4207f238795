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

/// For each input the value that it reads.
std::vector<Source> findSources(const Kernel &K) {
  std::vector<Source> Sources(K.InputId.size());
  // Two passes over the instructions: the first leaves behind the writers that the first reads of
  // an iteration see, those of the iteration before.
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

/// What the renamer passes on, it passes on as it is: of moves that it eliminates, what they move
/// counts. The value that an input of a register gets so, -1 for none.
int32_t originOf(const Kernel &K, const Dataflow &Flow, int32_t In) {
  if (K.InputKinds[In] != InputKind::Location)
    return -1;
  int32_t From = Flow.SourceOf[In].Value;
  // Moves in a circle move nothing that was computed.
  for (int32_t Steps = 0; From >= 0 && K.hasFlag(Flow.InstructionOf[From], Eliminated); ++Steps)
    From = Steps < K.numValues() && K.InputStart[From] < K.InputStart[From + 1]
               ? Flow.SourceOf[K.InputStart[From]].Value
               : -1;
  return From >= 0 && K.valueKind(From) == ValueKind::Register ? From : -1;
}

/// Calls F(input, producer, consumer) for every input that has a result of an instruction, through
/// eliminated moves.
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

/// The network that forwards results is faster within some groups of units than between others: an
/// addition behind an addition starts earlier than anything else behind it.
std::vector<int32_t> findDelays(const Kernel &K, const Dataflow &Flow) {
  if (std::ranges::all_of(K.ForwardDelay, [](int32_t Delay) { return Delay == 0; }))
    return {};
  std::vector<int32_t> Delays(K.InputId.size(), 0);
  forEachResult(K, Flow, [&](int32_t In, int32_t From, int32_t To) {
    if (K.ForwardGroup[From] < 0 || K.ForwardGroup[From] != K.ForwardGroup[To])
      Delays[In] = K.ForwardDelay[From];
  });
  return Delays;
}

/// The ports of the µops that compute.
uint64_t computingPorts(const Kernel &K, int32_t I) {
  uint64_t Ports = 0;
  for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U)
    if (K.uopKind(U) == UopKind::Compute && !K.isResource(U))
      Ports |= K.UopPorts[U];
  return Ports;
}

/// Between some ports results come later. Which ports the µops get is not known here: what counts
/// is the pair of ports that is best.
std::vector<int32_t> findLeastPortDelays(const Kernel &K, const Dataflow &Flow) {
  auto None = [](int32_t Set) { return Set == 0; };
  if (std::ranges::all_of(K.DelaysFrom, None) || std::ranges::all_of(K.DelaysTo, None))
    return {};
  auto At = [](uint64_t Ports) { return Ports & -Ports; };
  auto Least = [&](int32_t From, int32_t To) {
    auto Rules = static_cast<uint32_t>(K.DelaysFrom[From] & K.DelaysTo[To]);
    int32_t Best = Rules == 0 ? 0 : INT32_MAX;
    for (uint64_t Left = computingPorts(K, From); Left != 0; Left &= Left - 1)
      for (uint64_t Right = computingPorts(K, To); Right != 0; Right &= Right - 1) {
        int32_t Most = INT32_MIN;
        for (uint32_t R = Rules; R != 0; R &= R - 1) {
          auto Rule = static_cast<size_t>(std::countr_zero(R));
          if ((At(Left) & K.PortDelayFrom[Rule]) != 0 && (At(Right) & K.PortDelayTo[Rule]) != 0)
            Most = std::max(Most, K.PortDelayCycles[Rule]);
        }
        Best = std::min(Best, Most == INT32_MIN ? 0 : Most);
      }
    return Best == INT32_MAX ? 0 : Best;
  };
  std::vector<int32_t> Delays(K.InputId.size(), 0);
  forEachResult(K, Flow, [&](int32_t In, int32_t From, int32_t To) {
    // What takes no time is not waited for.
    if (K.InputLatency[In] > 0)
      Delays[In] = std::max(Least(From, To), -K.InputLatency[In]);
  });
  return Delays;
}

/// Program order; inside an instruction, loaded values before what is computed from them.
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

/// An entry one behind each value's number of edges becomes where its edges end.
void sumUp(std::vector<int32_t> &EdgeStart) {
  std::partial_sum(EdgeStart.begin(), EdgeStart.end(), EdgeStart.begin());
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
  sumUp(G.EdgeStart);
  return G;
}

Graph incc::buildGraph(const Kernel &K) {
  return buildGraph(K, findDataflow(K, memoryDependencies(K)));
}

Graph incc::buildUnsortedGraph(const Kernel &K, const Dataflow &Flow) {
  Graph G;
  G.NumValues = K.numValues();
  G.Order = topologicalOrder(K);
  // Counting sort: how many each value has, where they begin, and then each to its place.
  G.EdgeStart.assign(static_cast<size_t>(G.NumValues) + 1, 0);
  size_t Count = 0;
  forEachEdge(K, Flow, [&](const Edge &E) {
    ++G.EdgeStart[E.ProducerValue + 1];
    ++Count;
  });
  sumUp(G.EdgeStart);
  G.Edges.resize(Count);
  std::vector<int32_t> Next(G.EdgeStart.begin(), G.EdgeStart.end() - 1);
  forEachEdge(K, Flow, [&](const Edge &E) { G.Edges[Next[E.ProducerValue]++] = E; });
  return G;
}

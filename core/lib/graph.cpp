//===- graph.cpp - Building the dependency graph --------------------------===//

#include "incc/graph.h"

#include <algorithm>
#include <tuple>

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
          Sources[In] = static_cast<InputKind>(K.InputKinds[In]) == InputKind::Value
                            ? Source{K.InputId[In], 0}
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

} // namespace

Graph incc::buildGraph(const Kernel &K) {
  Graph G;
  G.NumValues = K.numValues();
  G.SourceOf = findSources(K);
  G.Memory = memoryDependencies(K);
  G.Order = topologicalOrder(K);
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    G.InstructionOf.insert(G.InstructionOf.end(), K.ValueStart[I + 1] - K.ValueStart[I], I);

  auto AddEdge = [&G](Source From, int32_t To, int32_t Location, int32_t Latency) {
    G.Edges.push_back({G.InstructionOf[From.Value], From.Value, G.InstructionOf[To], To, Location,
                       Latency, From.Distance});
  };
  for (int32_t V = 0; V < G.NumValues; ++V)
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (Source From = G.SourceOf[In]; From.Value >= 0)
        AddEdge(From, V,
                static_cast<InputKind>(K.InputKinds[In]) == InputKind::Location ? K.InputId[In]
                                                                                : -1,
                K.InputLatency[In]);
  for (const MemoryDependency &M : G.Memory)
    AddEdge({M.Store, M.Distance}, M.Load, -1, M.Latency);

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
  for (int32_t V = 0; V < G.NumValues; ++V)
    G.EdgeStart[V + 1] += G.EdgeStart[V];
  return G;
}

//===- path.cpp - The critical path of one iteration ----------------------===//

#include "incc/path.h"

#include <algorithm>

using namespace incc;

/// Returns the store that the result V of an instruction comes with: of several the one whose data
/// are ready last, -1 for none. Instructions that also load make their stored value from the
/// result.
static int32_t storeBeside(const Kernel &K, const Graph &G, int32_t V,
                           const std::vector<int64_t> &Ready) {
  int32_t I = G.Flow.InstructionOf[V], Store = -1;
  if (!K.hasFlag(I, IsStore) || K.hasFlag(I, IsLoad) || K.valueKind(V) != ValueKind::Register)
    return -1;
  for (int32_t S = K.ValueStart[I]; S < K.ValueStart[I + 1]; ++S)
    if (K.valueKind(S) == ValueKind::Store && (Store < 0 || Ready[S] > Ready[Store]))
      Store = S;
  return Store;
}

CriticalPath incc::findCriticalPath(const Kernel &K, const Graph &G) {
  // The edges within the iteration form no cycles, so one pass in topological order suffices.
  std::vector<int64_t> Ready(static_cast<size_t>(G.NumValues), 0);
  std::vector<const Edge *> Last(static_cast<size_t>(G.NumValues), nullptr);
  for (int32_t V = 0; V < G.NumValues; ++V) {
    if (K.InputStart[V] == K.InputStart[V + 1])
      Ready[V] = longestLatency(K, G.Flow.InstructionOf[V], V);
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (G.Flow.SourceOf[In].Value < 0 || G.Flow.SourceOf[In].Distance > 0)
        Ready[V] = std::max<int64_t>(Ready[V], K.InputLatency[In]);
  }
  // The steps from a store's data to the register that it changes.
  std::vector<Edge> Whole;
  Whole.reserve(static_cast<size_t>(G.NumValues));
  int32_t End = -1;
  for (int32_t V : G.Order) {
    if (int32_t S = storeBeside(K, G, V, Ready); S >= 0 && Ready[S] > Ready[V]) {
      int32_t I = G.Flow.InstructionOf[V];
      Whole.push_back({I, S, I, V, -1, 0, 0});
      Ready[V] = Ready[S];
      Last[V] = &Whole.back();
    }
    if (Ready[V] > 0 && (End < 0 || Ready[V] > Ready[End]))
      End = V;
    for (const Edge &E : G.edgesFrom(V)) {
      if (E.Distance != 0)
        continue;
      int64_t Time = Ready[V] + E.Latency;
      int64_t &Latest = Ready[E.ConsumerValue];
      // If two paths are equally long, one within the iteration explains more than one that enters
      // it.
      if (Time > Latest || (Time == Latest && !Last[E.ConsumerValue])) {
        Latest = Time;
        Last[E.ConsumerValue] = &E;
      }
    }
  }

  CriticalPath Path;
  if (End < 0)
    return Path;
  Path.Cycles = Ready[End];
  int32_t First = End;
  for (; Last[First]; First = Last[First]->ProducerValue)
    Path.Steps.push_back(*Last[First]);
  std::ranges::reverse(Path.Steps);
  Path.Start = Ready[First];
  Path.Instructions.push_back(G.Flow.InstructionOf[First]);
  for (const Edge &E : Path.Steps)
    if (E.Consumer != Path.Instructions.back())
      Path.Instructions.push_back(E.Consumer);
  return Path;
}

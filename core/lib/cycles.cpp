//===- cycles.cpp - Maximum cycle ratio and elementary cycles -------------===//
//
// A chain of dependencies that comes back to its beginning after D iterations and
// takes L cycles limits the loop to L / D cycles per iteration. All cycles are
// inside strongly connected components, which are small in most kernels (Tarjan's
// algorithm finds them). For each component, this file computes:
//
//  1. The greatest ratio. For a guess p/q, the cycles with a greater ratio are those
//     of positive weight under q * latency - p * distance. Longest paths (Bellman and
//     Ford) find one if there is any, and its ratio is the next guess. All numbers
//     are integers, so the result is exact. Edges of distance 0 lead forwards in
//     program order, so with sweeps in that order, a path needs one sweep for each
//     time that it crosses into the next iteration.
//  2. The elementary cycles, by Johnson's algorithm, under a budget, since there can
//     be exponentially many.
//  3. If the budget did not suffice: for each instruction without a chain, the chain
//     with the least slack. That is the longest one under the weights of 1 with the
//     greatest ratio for p/q, where no cycle is positive.
//
//===----------------------------------------------------------------------===//

#include "incc/cycles.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

using namespace incc;

namespace {

constexpr int64_t Unreached = std::numeric_limits<int64_t>::min();

/// A strongly connected component. Its nodes are values, numbered in topological order.
struct Component {
  struct Arc {
    int32_t To;
    const Edge *E;
  };
  std::vector<int32_t> Values;   ///< By node.
  std::vector<int32_t> ArcStart; ///< By node, with one more entry at the end.
  std::vector<Arc> Arcs;

  int32_t size() const { return static_cast<int32_t>(Values.size()); }
  std::span<const Arc> arcsFrom(int32_t Node) const {
    return {Arcs.data() + ArcStart[Node], Arcs.data() + ArcStart[Node + 1]};
  }
};

/// Finds the strongly connected components by Tarjan's algorithm, without recursion, since chains
/// can be as long as the kernel. Next(node, I) returns the I-th successor of a node, or -1 after
/// the last. Components of one node are left out unless the node has an edge to itself.
template <typename NextFn>
std::vector<std::vector<int32_t>> stronglyConnected(const std::vector<int32_t> &Nodes,
                                                    int32_t NumNodes, NextFn Next) {
  std::vector<std::vector<int32_t>> Result;
  std::vector<int32_t> Index(static_cast<size_t>(NumNodes), -1), Low(Index);
  std::vector<bool> OnStack(static_cast<size_t>(NumNodes), false);
  std::vector<int32_t> Stack;
  struct Frame {
    int32_t Node;
    int32_t NextEdge;
  };
  std::vector<Frame> Frames;
  int32_t Counter = 0;
  for (int32_t Root : Nodes) {
    if (Index[Root] >= 0)
      continue;
    Frames.push_back({Root, 0});
    while (!Frames.empty()) {
      auto &[Node, NextEdge] = Frames.back();
      if (NextEdge == 0 && Index[Node] < 0) {
        Index[Node] = Low[Node] = Counter++;
        Stack.push_back(Node);
        OnStack[Node] = true;
      }
      if (int32_t To = Next(Node, NextEdge); To >= 0) {
        ++NextEdge;
        if (Index[To] < 0)
          Frames.push_back({To, 0});
        else if (OnStack[To])
          Low[Node] = std::min(Low[Node], Index[To]);
        continue;
      }
      int32_t Done = Node;
      Frames.pop_back();
      if (!Frames.empty())
        Low[Frames.back().Node] = std::min(Low[Frames.back().Node], Low[Done]);
      if (Low[Done] != Index[Done])
        continue;
      std::vector<int32_t> Members;
      int32_t Member;
      do {
        Member = Stack.back();
        Stack.pop_back();
        OnStack[Member] = false;
        Members.push_back(Member);
      } while (Member != Done);
      bool Cyclic = Members.size() > 1;
      for (int32_t I = 0, To; !Cyclic && (To = Next(Done, I)) >= 0; ++I)
        Cyclic = To == Done;
      if (Cyclic) {
        std::ranges::sort(Members);
        Result.push_back(std::move(Members));
      }
    }
  }
  std::ranges::sort(Result);
  return Result;
}

/// Finds the strongly connected components of the dependency graph.
std::vector<Component> findComponents(const Graph &G) {
  // Values are numbered by their place in the topological order.
  std::vector<int32_t> PlaceOf(static_cast<size_t>(G.NumValues));
  std::vector<int32_t> Places(static_cast<size_t>(G.NumValues));
  for (int32_t P = 0; P < G.NumValues; ++P) {
    PlaceOf[G.Order[P]] = P;
    Places[P] = P;
  }
  auto Next = [&](int32_t Place, int32_t I) {
    std::span<const Edge> Edges = G.edgesFrom(G.Order[Place]);
    return I < static_cast<int32_t>(Edges.size()) ? PlaceOf[Edges[I].ConsumerValue] : -1;
  };
  std::vector<Component> Result;
  std::vector<int32_t> Local(static_cast<size_t>(G.NumValues), -1);
  for (const std::vector<int32_t> &Members : stronglyConnected(Places, G.NumValues, Next)) {
    Component C;
    for (int32_t Place : Members) {
      Local[G.Order[Place]] = C.size();
      C.Values.push_back(G.Order[Place]);
    }
    C.ArcStart.push_back(0);
    for (int32_t Value : C.Values) {
      for (const Edge &E : G.edgesFrom(Value))
        if (Local[E.ConsumerValue] >= 0)
          C.Arcs.push_back({Local[E.ConsumerValue], &E});
      C.ArcStart.push_back(static_cast<int32_t>(C.Arcs.size()));
    }
    for (int32_t Value : C.Values)
      Local[Value] = -1;
    Result.push_back(std::move(C));
  }
  return Result;
}

/// Makes a chain from the edges of a cycle. It begins with the first instruction in program order,
/// so that equal cycles make equal chains.
Chain makeChain(std::vector<const Edge *> Edges) {
  auto First = std::ranges::min_element(
      Edges, {}, [](const Edge *E) { return std::tuple(E->Producer, E->ProducerValue); });
  std::ranges::rotate(Edges, First);
  Chain C;
  for (const Edge *E : Edges) {
    C.Latency += E->Latency;
    C.Distance += E->Distance;
    C.Steps.push_back(*E);
  }
  return C;
}

/// The longest paths under the weights q * latency - p * distance, for a ratio p/q.
class LongestPaths {
public:
  LongestPaths(const Component &C, Rational Ratio)
      : C(C), P(Ratio.numerator()), Q(Ratio.denominator()) {}

  void startEverywhere() { start(0); }
  void startAt(int32_t Node) {
    start(Unreached);
    Length[Node] = 0;
  }

  /// Extends the paths by every arc once, in topological order. Returns false if none became
  /// longer.
  bool sweep() {
    bool Changed = false;
    for (int32_t Node = 0; Node < C.size(); ++Node) {
      if (Length[Node] == Unreached)
        continue;
      for (const Component::Arc &A : C.arcsFrom(Node))
        if (int64_t New = Length[Node] + weight(*A.E); New > Length[A.To]) {
          Length[A.To] = New;
          Parent[A.To] = {Node, A.E};
          Changed = true;
        }
    }
    return Changed;
  }

  /// Returns the cycles that the last edges of the paths form. All have positive weights. There are
  /// none as long as no path has gone around a cycle of positive weight.
  std::vector<Chain> parentCycles() {
    std::vector<Chain> Result;
    forEachParentCycle([&](int32_t Node) { Result.push_back(makeChain(pathTo(Node, Node))); });
    return Result;
  }

  /// Returns the greatest ratio of these cycles, at least `AtLeast`, without making chains.
  Rational greatestRatio(Rational AtLeast) {
    forEachParentCycle([&](int32_t Node) {
      int64_t Latency = 0, Distance = 0;
      int32_t Current = Node;
      do {
        Latency += Parent[Current].E->Latency;
        Distance += Parent[Current].E->Distance;
        Current = Parent[Current].Node;
      } while (Current != Node);
      AtLeast = std::max(AtLeast, Rational(Latency, Distance));
    });
    return AtLeast;
  }

  /// Returns the edges of a path in order; from a node to itself, those of one turn.
  std::vector<const Edge *> pathTo(int32_t From, int32_t To) const {
    std::vector<const Edge *> Edges;
    int32_t Node = To;
    do {
      Edges.push_back(Parent[Node].E);
      Node = Parent[Node].Node;
    } while (Node != From);
    std::ranges::reverse(Edges);
    return Edges;
  }

  int64_t weight(const Edge &E) const { return Q * E.Latency - P * E.Distance; }
  int64_t lengthTo(int32_t Node) const { return Length[Node]; }

private:
  /// The last step of a path.
  struct LastStep {
    int32_t Node = -1;
    const Edge *E = nullptr;
  };

  /// Calls F(node) for one node of each cycle of last edges.
  template <typename Fn> void forEachParentCycle(Fn F) {
    VisitedFrom.assign(C.Values.size(), -1);
    for (int32_t Start = 0; Start < C.size(); ++Start) {
      int32_t Node = Start;
      while (VisitedFrom[Node] < 0 && Parent[Node].E) {
        VisitedFrom[Node] = Start;
        Node = Parent[Node].Node;
      }
      if (VisitedFrom[Node] == Start)
        F(Node);
    }
  }

  void start(int64_t Value) {
    Length.assign(C.Values.size(), Value);
    Parent.assign(C.Values.size(), LastStep());
  }

  const Component &C;
  int64_t P, Q;
  std::vector<int64_t> Length;
  std::vector<LastStep> Parent;
  std::vector<int32_t> VisitedFrom; ///< Scratch space of forEachParentCycle().
};

/// Returns a cycle of the greatest ratio. Its latency is 0 if those of all cycles are.
Chain maximumRatioCycle(const Component &C) {
  Chain Best;
  Best.Distance = 1;
  while (true) {
    LongestPaths Paths(C, Best.ratio());
    Paths.startEverywhere();
    std::vector<Chain> Candidates;
    while (Candidates.empty() && Paths.sweep())
      Candidates = Paths.parentCycles();
    if (Candidates.empty())
      return Best;
    for (Chain &Candidate : Candidates)
      if (Candidate.ratio() > Best.ratio())
        Best = std::move(Candidate);
  }
}

/// Returns the greatest ratio of a component's cycles, at least `AtLeast`.
Rational greatestRatio(const Component &C, Rational AtLeast) {
  if (C.size() == 1) {
    for (const Component::Arc &A : C.Arcs)
      AtLeast = std::max(AtLeast, Rational(A.E->Latency, A.E->Distance));
    return AtLeast;
  }
  while (true) {
    LongestPaths Paths(C, AtLeast);
    Paths.startEverywhere();
    Rational Greatest = AtLeast;
    while (Greatest == AtLeast && Paths.sweep())
      Greatest = Paths.greatestRatio(AtLeast);
    if (Greatest == AtLeast)
      return AtLeast;
    AtLeast = Greatest;
  }
}

/// A set of chains that keeps only the longest one for each sequence of instructions and distances.
class ChainSet {
public:
  void add(Chain C) {
    if (C.Latency == 0)
      return;
    std::vector<int32_t> Key;
    for (const Edge &E : C.Steps)
      // The step from a loaded value to the result of the same instruction does not count.
      if (E.Producer != E.Consumer || E.Distance != 0)
        Key.insert(Key.end(), {E.Producer, E.Consumer, E.Distance});
    auto [Place, IsNew] = ByKey.try_emplace(std::move(Key), Chains.size());
    if (IsNew)
      Chains.push_back(std::move(C));
    else if (C.Latency > Chains[Place->second].Latency)
      Chains[Place->second] = std::move(C);
  }

  const std::vector<Chain> &chains() const { return Chains; }

private:
  std::vector<Chain> Chains;
  std::map<std::vector<int32_t>, size_t> ByKey;
};

/// Johnson's enumeration of elementary cycles (SIAM J. Comput. 4, 1975): all cycles through one
/// node, then those of the components that remain without that node. Parallel edges of different
/// distances make different cycles.
class CycleEnumeration {
public:
  CycleEnumeration(const Component &C, int64_t &StepsLeft, int64_t &CyclesLeft, ChainSet &Chains)
      : C(C), StepsLeft(StepsLeft), CyclesLeft(CyclesLeft), Chains(Chains),
        ActiveIn(C.Values.size(), 0), Blocked(C.Values.size(), false), Waiting(C.Values.size()),
        Successors(C.Values.size()) {}

  /// Adds the cycles to the chains. Returns false if the budget was used up before.
  bool run() {
    std::vector<std::vector<int32_t>> Worklist(1);
    for (int32_t Node = 0; Node < C.size(); ++Node)
      Worklist[0].push_back(Node);
    while (!Worklist.empty()) {
      std::vector<int32_t> Nodes = std::move(Worklist.back());
      Worklist.pop_back();
      ++Round;
      for (int32_t Node : Nodes)
        ActiveIn[Node] = Round;
      if (!cyclesThrough(Nodes))
        return false;
      ActiveIn[Nodes[0]] = 0;
      auto Next = [&](int32_t Node, int32_t I) {
        const std::vector<int32_t> &List = Successors[Node];
        return I < static_cast<int32_t>(List.size()) ? List[I] : -1;
      };
      Nodes.erase(Nodes.begin());
      for (int32_t Node : Nodes) {
        Successors[Node].clear();
        for (const Component::Arc &A : C.arcsFrom(Node)) {
          --StepsLeft;
          if (ActiveIn[A.To] == Round)
            Successors[Node].push_back(A.To);
        }
      }
      for (auto &Part : stronglyConnected(Nodes, C.size(), Next))
        Worklist.push_back(std::move(Part));
    }
    return true;
  }

private:
  struct Frame {
    int32_t Node;
    int32_t NextArc;
    bool Closed; ///< A cycle goes through the path up to here.
  };

  /// Adds the cycles through the first of some nodes. Returns false if the budget was used up
  /// before.
  bool cyclesThrough(const std::vector<int32_t> &Nodes) {
    int32_t Start = Nodes[0];
    for (int32_t Node : Nodes) {
      Blocked[Node] = false;
      Waiting[Node].clear();
    }
    std::vector<Frame> Frames{{Start, C.ArcStart[Start], false}};
    std::vector<const Edge *> Path;
    Blocked[Start] = true;
    while (!Frames.empty()) {
      Frame &Top = Frames.back();
      if (Top.NextArc < C.ArcStart[Top.Node + 1]) {
        const Component::Arc &A = C.Arcs[Top.NextArc++];
        if (StepsLeft-- <= 0)
          return false;
        if (ActiveIn[A.To] != Round)
          continue;
        if (A.To == Start) {
          Top.Closed = true;
          if (CyclesLeft-- <= 0)
            return false;
          Path.push_back(A.E);
          // Making a chain takes as long as visiting this many edges.
          StepsLeft -= static_cast<int64_t>(Path.size());
          Chains.add(makeChain(Path));
          Path.pop_back();
        } else if (!Blocked[A.To]) {
          Blocked[A.To] = true;
          Path.push_back(A.E);
          Frames.push_back({A.To, C.ArcStart[A.To], false});
        }
        continue;
      }
      Frame Done = Top;
      Frames.pop_back();
      if (Done.Closed)
        unblock(Done.Node);
      else
        for (const Component::Arc &A : C.arcsFrom(Done.Node))
          if (ActiveIn[A.To] == Round &&
              std::ranges::find(Waiting[A.To], Done.Node) == Waiting[A.To].end())
            Waiting[A.To].push_back(Done.Node);
      if (!Frames.empty()) {
        Frames.back().Closed |= Done.Closed;
        Path.pop_back();
      }
    }
    return true;
  }

  void unblock(int32_t Node) {
    std::vector<int32_t> Worklist{Node};
    while (!Worklist.empty()) {
      int32_t N = Worklist.back();
      Worklist.pop_back();
      if (!Blocked[N])
        continue;
      Blocked[N] = false;
      Worklist.insert(Worklist.end(), Waiting[N].begin(), Waiting[N].end());
      Waiting[N].clear();
    }
  }

  const Component &C;
  int64_t &StepsLeft;
  int64_t &CyclesLeft;
  ChainSet &Chains;
  int32_t Round = 0;
  std::vector<int32_t> ActiveIn; ///< The last round in which the node was part of the search.
  std::vector<bool> Blocked;
  std::vector<std::vector<int32_t>> Waiting;    ///< Nodes to unblock together with this one.
  std::vector<std::vector<int32_t>> Successors; ///< Among the nodes of the round.
};

/// Returns the cycle through one of the nodes that is closest to the component's greatest ratio.
std::optional<Chain> leastSlackCycle(const Component &C, Rational Ratio,
                                     const std::vector<int32_t> &Nodes) {
  std::optional<Chain> Best;
  int64_t BestLength = Unreached;
  LongestPaths Paths(C, Ratio);
  for (int32_t Node : Nodes) {
    Paths.startAt(Node);
    while (Paths.sweep())
      ;
    for (int32_t Last = 0; Last < C.size(); ++Last)
      for (const Component::Arc &A : C.arcsFrom(Last))
        if (A.To == Node && Paths.lengthTo(Last) + Paths.weight(*A.E) > BestLength) {
          BestLength = Paths.lengthTo(Last) + Paths.weight(*A.E);
          std::vector<const Edge *> Edges;
          if (Last != Node)
            Edges = Paths.pathTo(Node, Last);
          Edges.push_back(A.E);
          Best = makeChain(std::move(Edges));
        }
  }
  return Best;
}

/// Orders chains by ratio, the greatest first, then by length, the shortest first, then by program
/// order.
bool comesBefore(const Chain &A, const Chain &B) {
  Rational RatioA = A.ratio(), RatioB = B.ratio();
  if (RatioA != RatioB)
    return RatioA > RatioB;
  if (A.Steps.size() != B.Steps.size())
    return A.Steps.size() < B.Steps.size();
  return std::ranges::lexicographical_compare(A.Steps, B.Steps, [](const Edge &X, const Edge &Y) {
    return std::tuple(X.ProducerValue, X.ConsumerValue, X.Distance) <
           std::tuple(Y.ProducerValue, Y.ConsumerValue, Y.Distance);
  });
}

/// Cuts a sorted list of more than `Count` chains. Chains that are the best one of some instruction
/// are kept first, then those with the greatest ratios.
void select(std::vector<Chain> &Chains, size_t Count) {
  std::set<int32_t> Covered;
  std::vector<Chain> Kept, Others;
  for (Chain &C : Chains) {
    size_t Before = Covered.size();
    for (const Edge &E : C.Steps)
      Covered.insert(E.Producer);
    (Covered.size() > Before ? Kept : Others).push_back(std::move(C));
  }
  Kept.resize(std::min(Kept.size(), Count));
  for (size_t I = 0; Kept.size() < Count; ++I)
    Kept.push_back(std::move(Others[I]));
  std::ranges::sort(Kept, comesBefore);
  Chains = std::move(Kept);
}

/// A component with cycles of a latency above 0.
struct Candidate {
  Component C;
  Rational Ratio; ///< The greatest ratio of its cycles.
};

/// Adds a chain through each instruction of a component that has none, as far as `MostSearches`
/// allow.
void coverInstructions(const Graph &G, const Candidate &Of, size_t MostSearches, ChainSet &Chains) {
  const Component &C = Of.C;
  std::set<int32_t> Covered;
  for (const Chain &Added : Chains.chains())
    for (const Edge &E : Added.Steps)
      Covered.insert(E.Producer);
  size_t Searches = 0;
  for (int32_t Node = 0; Node < C.size() && Searches < MostSearches;) {
    int32_t Instruction = G.Flow.InstructionOf[C.Values[Node]];
    std::vector<int32_t> Nodes;
    for (; Node < C.size() && G.Flow.InstructionOf[C.Values[Node]] == Instruction; ++Node)
      Nodes.push_back(Node);
    if (Covered.contains(Instruction))
      continue;
    ++Searches;
    if (std::optional<Chain> Closest = leastSlackCycle(C, Of.Ratio, Nodes)) {
      for (const Edge &E : Closest->Steps)
        Covered.insert(E.Producer);
      Chains.add(std::move(*Closest));
    }
  }
}

} // namespace

LoopCarried incc::findLoopCarried(const Graph &G, const ChainLimits &Limits) {
  LoopCarried Result;
  ChainSet Chains;
  std::vector<Candidate> Candidates;
  for (Component &C : findComponents(G)) {
    Chain Longest = maximumRatioCycle(C);
    if (Longest.Latency == 0)
      continue;
    Candidates.push_back({std::move(C), Longest.ratio()});
    Chains.add(std::move(Longest));
  }
  // Components with greater ratios use the budget first. The others share the rest equally.
  std::ranges::stable_sort(Candidates, std::greater(), &Candidate::Ratio);
  int64_t StepsLeft = Limits.Steps, CyclesLeft = Limits.Cycles;
  for (size_t I = 0; I < Candidates.size(); ++I) {
    Result.Bound = std::max(Result.Bound, Candidates[I].Ratio);
    int64_t ComponentsLeft = static_cast<int64_t>(Candidates.size() - I);
    int64_t Steps = StepsLeft / ComponentsLeft, Cycles = CyclesLeft / ComponentsLeft;
    StepsLeft -= Steps;
    CyclesLeft -= Cycles;
    bool Complete = CycleEnumeration(Candidates[I].C, Steps, Cycles, Chains).run();
    StepsLeft += std::max<int64_t>(Steps, 0);
    CyclesLeft += std::max<int64_t>(Cycles, 0);
    if (Complete)
      continue;
    Result.Complete = false;
    coverInstructions(G, Candidates[I], Limits.Reported, Chains);
  }
  Result.Chains = Chains.chains();
  std::ranges::sort(Result.Chains, comesBefore);
  if (Result.Chains.size() > Limits.Reported) {
    Result.Complete = false;
    select(Result.Chains, Limits.Reported);
  }
  return Result;
}

Rational incc::loopCarriedBound(const Graph &G) {
  Rational Bound;
  for (const Component &C : findComponents(G))
    Bound = greatestRatio(C, Bound);
  return Bound;
}

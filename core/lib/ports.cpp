//===- ports.cpp - Port bound and balanced port assignment ----------------===//
//
// The least load of the busiest port is, by Hall's theorem (max-flow min-cut),
//
//     max over sets S of ports: (work of the µops that can only go to S) / |S|.
//
// Instead of trying the 2^P sets, Dinkelbach's method finds the tightest one:
// guess a load, try to place all work with a bipartite flow under that load,
// and if it does not fit, the minimum cut names a set that needs more; its
// density is the next guess. A handful of flows over at most 64 ports, in exact
// integers, whatever the number of distinct port sets.
//
// The tightest set's ports all carry that load in every optimal assignment, so
// it can be taken out and the rest balanced on its own (the decomposition that
// makes the loads lexicographically least). We peel off the smallest tight set
// each time: inside it no subset is tight, hence each µop can have a share on
// each of its ports, and the assignment of greatest entropy is a smooth,
// strictly convex problem with one solution, found by Newton's method.
//
//===----------------------------------------------------------------------===//

#include "incc/ports.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

using namespace incc;

namespace {

/// Calls F(bit index) for the set bits, lowest first.
template <typename Fn> void forEachBit(uint64_t Mask, Fn F) {
  for (; Mask != 0; Mask &= Mask - 1)
    F(std::countr_zero(Mask));
}

/// All µops of an iteration with the same set of allowed ports.
struct PortGroup {
  uint64_t Mask;               ///< As the model gives it.
  uint64_t Allowed;            ///< Without the ports that are already peeled off.
  int64_t Work;                ///< Port cycles, scaled (PortWork).
  std::vector<double> Share{}; ///< By port, once it is to be shared out.
};

/// The groups with their work placed on ports, none above a given load.
class Placement {
public:
  Placement(const std::vector<PortGroup *> &Groups, int64_t LoadNumerator, int64_t LoadDenominator)
      : Groups(Groups), Flow(Groups.size()), Free() {
    Free.fill(LoadNumerator);
    for (size_t G = 0; G < Groups.size(); ++G)
      place(G, Groups[G]->Work * LoadDenominator);
  }

  /// The ports on the source side of the minimum cut. Together they cannot take the work that has
  /// nowhere else to go. 0 if everything fits.
  uint64_t overloaded() const { return Overloaded; }

  /// Returns the smallest tight set, provided that everything fits and some set is tight. A tight
  /// set consists of a full port, the ports that its work could move to, and so on, all full. If
  /// several sets are smallest, the one with the lowest port is returned.
  uint64_t smallestTightSet(uint64_t Ports) const {
    uint64_t Best = 0;
    forEachBit(Ports, [&](int P) {
      uint64_t Reached = uint64_t(1) << P, Expanded = 0;
      while (uint64_t Todo = Reached & ~Expanded) {
        int Q = std::countr_zero(Todo);
        if (Free[Q] != 0)
          return;
        Expanded |= uint64_t(1) << Q;
        Reached |= movableFrom(Q);
      }
      if (Best == 0 || std::popcount(Reached) < std::popcount(Best))
        Best = Reached;
    });
    return Best;
  }

private:
  uint64_t movableFrom(int Port) const {
    uint64_t Result = 0;
    for (size_t G = 0; G < Groups.size(); ++G)
      if (Flow[G][Port] > 0)
        Result |= Groups[G]->Allowed;
    return Result;
  }

  /// Places work of one group along shortest augmenting paths: onto a free port, or onto a full
  /// one from which other work can move on.
  void place(size_t Group, int64_t Work) {
    while (Work > 0) {
      // Breadth-first over ports; From[p] is the port whose work makes room on p, Via the group
      // that this work belongs to.
      std::array<int8_t, 64> From;
      std::array<uint32_t, 64> Via;
      std::array<int8_t, 64> Queue;
      size_t Head = 0, Tail = 0;
      uint64_t Seen = Groups[Group]->Allowed;
      int End = -1;
      forEachBit(Seen, [&](int P) {
        From[P] = -1;
        Via[P] = static_cast<uint32_t>(Group);
        Queue[Tail++] = static_cast<int8_t>(P);
      });
      while (Head < Tail && End < 0) {
        int P = Queue[Head++];
        if (Free[P] > 0) {
          End = P;
          break;
        }
        for (size_t G = 0; G < Groups.size(); ++G)
          if (Flow[G][P] > 0)
            forEachBit(Groups[G]->Allowed & ~Seen, [&](int Q) {
              Seen |= uint64_t(1) << Q;
              From[Q] = static_cast<int8_t>(P);
              Via[Q] = static_cast<uint32_t>(G);
              Queue[Tail++] = static_cast<int8_t>(Q);
            });
      }
      if (End < 0) {
        Overloaded |= Seen;
        return;
      }
      int64_t Amount = std::min(Work, Free[End]);
      for (int P = End; From[P] >= 0; P = From[P])
        Amount = std::min(Amount, Flow[Via[P]][From[P]]);
      Free[End] -= Amount;
      Work -= Amount;
      for (int P = End; P >= 0; P = From[P]) {
        Flow[Via[P]][P] += Amount;
        if (From[P] >= 0)
          Flow[Via[P]][From[P]] -= Amount;
      }
    }
  }

  const std::vector<PortGroup *> &Groups;
  std::vector<std::array<int64_t, 64>> Flow;
  std::array<int64_t, 64> Free;
  uint64_t Overloaded = 0;
};

struct TightSet {
  Rational Load;
  uint64_t Ports;
};

Rational density(const std::vector<PortGroup *> &Groups, uint64_t Ports) {
  int64_t Work = 0;
  for (const PortGroup *G : Groups)
    if ((G->Allowed & ~Ports) == 0)
      Work += G->Work;
  return Rational(Work, std::popcount(Ports));
}

/// Finds the tightest set by Dinkelbach's method (see the top of the file).
TightSet tightestSet(const std::vector<PortGroup *> &Groups, bool LoadAlone = false) {
  uint64_t All = 0;
  for (const PortGroup *G : Groups)
    All |= G->Allowed;
  Rational Load = density(Groups, All);
  while (true) {
    Placement P(Groups, Load.numerator(), Load.denominator());
    if (P.overloaded() == 0)
      return {Load, LoadAlone ? 0 : P.smallestTightSet(All)};
    Load = density(Groups, P.overloaded());
  }
}

/// The shares of greatest entropy that fill every port of a tight set to the same load, where no
/// proper subset of the ports is tight.
///
/// They have the form e^u[p] / sum of e^u[q] over the group's ports q: u solves the dual problem,
/// min sum(work * log(sum e^u[q])) - load * sum(u[p]), whose gradient is what the ports carry too
/// much. Newton's method; u of the first port stays 0, since only differences matter.
void evenShares(const std::vector<PortGroup *> &Groups, uint64_t Ports, double Load) {
  std::vector<int> PortOf;
  forEachBit(Ports, [&](int P) { PortOf.push_back(P); });
  size_t N = PortOf.size();
  std::vector<std::vector<int>> Members(Groups.size());
  for (size_t G = 0; G < Groups.size(); ++G)
    for (size_t P = 0; P < N; ++P)
      if (Groups[G]->Allowed >> PortOf[P] & 1)
        Members[G].push_back(static_cast<int>(P));

  std::vector<double> U(N, 0.0), Gradient(N), Step(N), Hessian(N * N), Trial(N);
  auto Objective = [&](const std::vector<double> &At) {
    double Sum = 0;
    for (size_t G = 0; G < Groups.size(); ++G) {
      double Total = 0;
      for (int P : Members[G])
        Total += std::exp(At[P]);
      Sum += static_cast<double>(Groups[G]->Work) / Load * std::log(Total);
    }
    for (double Value : At)
      Sum -= Value;
    return Sum;
  };
  auto SetShares = [&] {
    for (size_t G = 0; G < Groups.size(); ++G) {
      double Total = 0;
      for (int P : Members[G])
        Total += std::exp(U[P]);
      for (int P : Members[G])
        Groups[G]->Share[PortOf[P]] = std::exp(U[P]) / Total;
    }
  };

  constexpr double Tolerance = 1e-14;
  constexpr int MaxSteps = 200;
  for (int Iteration = 0; Iteration < MaxSteps; ++Iteration) {
    SetShares();
    std::ranges::fill(Gradient, -1.0);
    std::ranges::fill(Hessian, 0.0);
    for (size_t G = 0; G < Groups.size(); ++G) {
      double Work = static_cast<double>(Groups[G]->Work) / Load;
      for (int P : Members[G]) {
        double ShareP = Groups[G]->Share[PortOf[P]];
        Gradient[P] += Work * ShareP;
        Hessian[P * N + P] += Work * ShareP;
        for (int Q : Members[G])
          Hessian[P * N + Q] -= Work * ShareP * Groups[G]->Share[PortOf[Q]];
      }
    }
    double Worst = 0;
    for (double Value : Gradient)
      Worst = std::max(Worst, std::abs(Value));
    if (Worst <= Tolerance * static_cast<double>(N))
      return;

    // Solve Hessian * Step = -Gradient by Cholesky's method without row and column 0.
    bool Solved = true;
    for (size_t I = 1; I < N && Solved; ++I)
      for (size_t J = 1; J <= I && Solved; ++J) {
        double Sum = Hessian[I * N + J];
        for (size_t K = 1; K < J; ++K)
          Sum -= Hessian[I * N + K] * Hessian[J * N + K];
        if (I == J) {
          Solved = Sum > 0;
          Hessian[I * N + I] = std::sqrt(Sum);
        } else {
          Hessian[I * N + J] = Sum / Hessian[J * N + J];
        }
      }
    if (!Solved)
      return; // Converged to the precision of the arithmetic.
    Step[0] = 0;
    for (size_t I = 1; I < N; ++I) {
      double Sum = -Gradient[I];
      for (size_t K = 1; K < I; ++K)
        Sum -= Hessian[I * N + K] * Step[K];
      Step[I] = Sum / Hessian[I * N + I];
    }
    for (size_t I = N; I-- > 1;) {
      double Sum = Step[I];
      for (size_t K = I + 1; K < N; ++K)
        Sum -= Hessian[K * N + I] * Step[K];
      Step[I] = Sum / Hessian[I * N + I];
    }

    // Exponents may change by a factor of e² at most in one step, and the objective must not grow
    // by more than rounding: without both Newton's method can leave its basin.
    double Longest = 0;
    for (double Value : Step)
      Longest = std::max(Longest, std::abs(Value));
    double Scale = Longest > 2 ? 2 / Longest : 1;
    double Before = Objective(U);
    for (int Halving = 0; Halving < 30; ++Halving, Scale /= 2) {
      for (size_t P = 0; P < N; ++P)
        Trial[P] = U[P] + Scale * Step[P];
      if (Objective(Trial) <= Before + 1e-12 * (1 + std::abs(Before)))
        break;
    }
    U = Trial;
  }
}

/// Returns the µops' work by port set, without resources, in the order of the masks.
std::vector<PortGroup> portGroups(const Kernel &K, const PortWork &Work) {
  std::map<uint64_t, int64_t> WorkOfMask;
  for (int32_t U = 0; U < K.numUops(); ++U)
    if (!K.isResource(U))
      WorkOfMask[K.UopPorts[U]] += Work.OfUop[U];
  std::vector<PortGroup> Groups;
  for (auto [Mask, Sum] : WorkOfMask)
    Groups.push_back({Mask, Mask, Sum, {}});
  return Groups;
}

/// Writes each group's shares to the instructions that its µops belong to.
void spread(const Kernel &K, const std::vector<PortGroup> &Groups, const PortWork &Work,
            PortPressure &Result) {
  double Scale = static_cast<double>(Work.Scale);
  size_t Columns = static_cast<size_t>(K.NumColumns);
  Result.Pressure.assign(K.InstructionFlags.size() * Columns, 0.0);
  Result.Load.assign(Columns, 0.0);
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U) {
      double *Row = &Result.Pressure[static_cast<size_t>(I) * Columns];
      uint64_t Mask = K.UopPorts[U];
      if (K.isResource(U)) {
        Row[std::countr_zero(Mask)] += K.UopCycles[U];
        continue;
      }
      auto Group = std::ranges::lower_bound(Groups, Mask, {}, &PortGroup::Mask);
      double Cycles = static_cast<double>(Work.OfUop[U]) / Scale;
      forEachBit(Mask, [&](int P) { Row[P] += Cycles * Group->Share[P]; });
    }
  for (int32_t U = 0; U < K.numUops(); ++U)
    if (K.isResource(U))
      Result.Load[std::countr_zero(K.UopPorts[U])] += K.UopCycles[U];
  for (const PortGroup &G : Groups)
    forEachBit(G.Mask,
               [&](int P) { Result.Load[P] += static_cast<double>(G.Work) / Scale * G.Share[P]; });
}

Rational perCycle(const Kernel &K, const std::vector<int32_t> &Slots, int32_t Width) {
  int64_t Sum = 0;
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    if (!K.hasFlag(I, Unknown))
      Sum += Slots[I];
  return Rational(Sum, Width);
}

} // namespace

PortWork incc::portWork(const Kernel &K) { return {{K.UopCycles.begin(), K.UopCycles.end()}, 1}; }

PortWork incc::portWork(const Kernel &K, const std::vector<int64_t> &Crossings,
                        int64_t Iterations) {
  PortWork Work = portWork(K);
  Work.Scale = Iterations;
  for (int64_t &Cycles : Work.OfUop)
    Cycles *= Iterations;
  for (int32_t I = 0; I < K.numInstructions(); ++I) {
    int64_t Crossed = 0;
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
      Crossed += Crossings[V];
    auto Load = std::find(K.UopKinds.begin() + K.UopStart[I],
                          K.UopKinds.begin() + K.UopStart[I + 1], UopKind::Load);
    if (Load != K.UopKinds.begin() + K.UopStart[I + 1])
      Work.OfUop[static_cast<size_t>(Load - K.UopKinds.begin())] += Crossed * K.LineCrossingCycles;
  }
  return Work;
}

PortPressure incc::balancedPressure(const Kernel &K, const PortWork &Work) {
  std::vector<PortGroup> Groups = portGroups(K, Work);
  PortPressure Result;
  std::vector<PortGroup *> Left;
  for (PortGroup &G : Groups) {
    G.Share.assign(64, 0.0);
    Left.push_back(&G);
  }
  bool First = true;
  std::vector<std::pair<uint64_t, double>> ExactLoad;
  while (!Left.empty()) {
    auto [Load, Ports] = tightestSet(Left);
    if (First || Load == Result.Bound) {
      Result.Bound = Load;
      Result.Busiest |= Ports;
      First = false;
    }
    ExactLoad.emplace_back(Ports, (Load / Work.Scale).toDouble());
    auto Inside = std::stable_partition(Left.begin(), Left.end(), [Ports](const PortGroup *G) {
      return (G->Allowed & ~Ports) != 0;
    });
    std::vector<PortGroup *> Piece(Inside, Left.end());
    Left.erase(Inside, Left.end());
    evenShares(Piece, Ports, Load.toDouble());
    // The remaining groups could use these ports, too, but the ports are full.
    for (PortGroup *G : Left)
      G->Allowed &= ~Ports;
  }
  Result.Bound = Result.Bound / Work.Scale;
  spread(K, Groups, Work, Result);
  // The loads are known exactly; summing shares would only add rounding.
  for (auto [Ports, Load] : ExactLoad)
    forEachBit(Ports, [&](int P) { Result.Load[P] = Load; });
  return Result;
}

Rational incc::portBound(const Kernel &K, const PortWork &Work) {
  std::vector<PortGroup> Groups = portGroups(K, Work);
  if (Groups.empty())
    return Rational();
  std::vector<PortGroup *> All;
  for (PortGroup &G : Groups)
    All.push_back(&G);
  return tightestSet(All, /*LoadAlone=*/true).Load / Work.Scale;
}

PortPressure incc::fixedPressure(const Kernel &K, const PortWork &Work) {
  std::vector<PortGroup> Groups = portGroups(K, Work);
  PortPressure Result;
  std::array<Rational, 64> Load;
  for (PortGroup &G : Groups) {
    int Width = std::popcount(G.Mask);
    G.Share.assign(64, 0.0);
    forEachBit(G.Mask, [&](int P) {
      G.Share[P] = 1.0 / Width;
      Load[P] = Load[P] + Rational(G.Work, Width * Work.Scale);
    });
  }
  spread(K, Groups, Work, Result);
  for (int32_t P = 0; P < K.NumPorts; ++P) {
    Result.Load[P] = Load[P].toDouble();
    Result.Bound = std::max(Result.Bound, Load[P]);
  }
  for (int32_t P = 0; P < K.NumPorts; ++P)
    if (Result.Bound > Rational() && Load[P] == Result.Bound)
      Result.Busiest |= uint64_t(1) << P;
  return Result;
}

Rational incc::resourceBound(const Kernel &K) {
  std::array<int64_t, 64> Held{};
  for (int32_t U = 0; U < K.numUops(); ++U)
    if (K.isResource(U))
      Held[std::countr_zero(K.UopPorts[U])] += K.UopCycles[U];
  return Rational(*std::ranges::max_element(Held));
}

Rational incc::frontEndBound(const Kernel &K) { return perCycle(K, K.IssueSlots, K.IssueWidth); }

Rational incc::retireBound(const Kernel &K) { return perCycle(K, K.RetireSlots, K.RetireWidth); }

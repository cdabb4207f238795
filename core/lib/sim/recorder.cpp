//===- recorder.cpp - What a recorded run is told afterwards ---------------===//
//
// See recorder.h.
//
//===----------------------------------------------------------------------===//

#include "recorder.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

using namespace incc;
using namespace incc::sim;

void Recorder::retire(int64_t Number, int64_t Cycle, int64_t Executed) {
  Slots.resize(static_cast<size_t>(Number) + 1, {0, 0});
  Slots.back() = {Cycle, Executed};
}

Timeline Recorder::collect(const Program &P, int64_t Iterations) const {
  const Kernel &K = P.K;
  int64_t N = K.numInstructions();
  size_t Total = static_cast<size_t>(
      std::min<int64_t>(Iterations * N, static_cast<int64_t>(Issue.Issued.size())));
  Timeline Result;
  Result.Ports.assign(static_cast<size_t>(Iterations * K.numUops()), -1);
  for (size_t I = 0; I < Total; ++I)
    Result.Events.push_back({static_cast<int32_t>(static_cast<int64_t>(I) / N),
                             static_cast<int32_t>(static_cast<int64_t>(I) % N), Issue.Issued[I], -1,
                             -1, Issue.Issued[I], -1});
  std::vector<std::vector<int32_t>> Held(static_cast<size_t>(N)); ///< By instruction.
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U)
      if (K.isResource(U))
        Held[static_cast<size_t>(I)].push_back(U);
  for (const Backend::Started &S : Started) {
    const Uop &U = P.Uops[static_cast<size_t>(S.Uop)];
    size_t I = static_cast<size_t>(S.Iteration * N + U.Instruction);
    // The renamer's own µops are nobody's.
    if (I >= Total ||
        (U.Index < 0 && P.Instructions[static_cast<size_t>(U.Instruction)].Move.Uop != S.Uop))
      continue;
    Event &E = Result.Events[I];
    if (E.Started < 0 || S.Start < E.Started) {
      E.Started = S.Start;
      E.Ready = std::min(S.Ready, S.Start);
    }
    if (U.Index < 0)
      continue;
    size_t First = static_cast<size_t>(S.Iteration * K.numUops());
    Result.Ports[First + static_cast<size_t>(U.Index)] = static_cast<int8_t>(S.Port);
    for (int32_t R : Held[static_cast<size_t>(U.Instruction)])
      Result.Ports[First + static_cast<size_t>(R)] =
          static_cast<int8_t>(std::countr_zero(K.UopPorts[R]));
  }
  for (size_t Slot = 0; Slot < Slots.size(); ++Slot) {
    size_t I = static_cast<size_t>(Issue.InSlot[Slot]);
    if (I >= Total)
      break;
    Event &E = Result.Events[I];
    E.Retired = Slots[Slot].Retired;
    if (E.Started >= 0)
      E.Executed = std::max(E.Executed, Slots[Slot].Executed);
  }
  int64_t Before = 0;
  for (Event &E : Result.Events) {
    if (E.Started < 0)
      E.Ready = E.Started = E.Dispatched;
    // Without a slot of its own an instruction retires with the one before.
    if (E.Retired < 0)
      E.Retired = std::max(Before, E.Dispatched + 1);
    Before = E.Retired;
  }
  return Result;
}

// --- what fed the inputs ------------------------------------------------------------------------

namespace {

/// A µop that made a value, perhaps through others that no µop makes, and when it did.
struct Maker {
  int32_t Uop; ///< In Simulation::Started.
  int64_t Time;
};

/// Of what many values without a µop hand on, those that come last are kept: what came long before
/// them held nobody up.
constexpr size_t MostMakers = 8;

/// Who made each value of a run.
class Makers {
public:
  Makers(const Program &P, const std::vector<Backend::Started> &Started)
      : P(P), Started(Started), NumUops(static_cast<int64_t>(P.Uops.size())),
        Feeding(P.Values.size()), Optional(P.Values.size(), -1) {
    auto [First, Last] = std::ranges::minmax(Started, {}, &Backend::Started::Iteration);
    FirstIteration = First.Iteration;
    Index.assign(static_cast<size_t>((Last.Iteration - FirstIteration + 1) * NumUops), -1);
    for (size_t N = 0; N < Started.size(); ++N)
      if (int32_t &Of = Index[static_cast<size_t>(
              (Started[N].Iteration - FirstIteration) * NumUops + Started[N].Uop)];
          Of < 0)
        Of = static_cast<int32_t>(N);
    for (size_t U = 0; U < P.Uops.size(); ++U)
      for (int32_t F = P.Uops[U].Feeds.Begin; F < P.Uops[U].Feeds.End; ++F) {
        const Feed &To = P.Feeds[static_cast<size_t>(F)];
        Feeding[static_cast<size_t>(To.Value)].push_back({static_cast<int32_t>(U), To.Latency});
      }
    for (const InstructionPlan &I : P.Instructions)
      for (const OptionalUop &Own : {I.Move, I.Sync, I.Merge})
        if (Own.Value >= 0)
          Optional[static_cast<size_t>(Own.Value)] = Own.Uop;
  }

  /// None for a value from before the run, or one that is always there.
  const std::vector<Maker> &of(int64_t Iteration, int32_t V) {
    static const std::vector<Maker> None;
    if (Iteration < 0)
      return None;
    int64_t Number = Iteration * P.numValues() + V;
    if (auto Found = Known.find(Number); Found != Known.end())
      return Found->second;
    std::vector<Maker> Result;
    for (auto [U, Latency] : Feeding[static_cast<size_t>(V)])
      if (int32_t N = indexOf(Iteration, U); N >= 0)
        add(Result, {N, Started[static_cast<size_t>(N)].Start + Latency});
    // A move that was executed is made by its µop alone; an eliminated one by nobody.
    int32_t Own = Optional[static_cast<size_t>(V)];
    if (Own < 0 || indexOf(Iteration, Own) < 0) {
      Range Follows = P.Values[static_cast<size_t>(V)].Inputs;
      for (int32_t N = Follows.Begin; N < Follows.End; ++N) {
        const Input &In = P.Inputs[static_cast<size_t>(N)];
        for (Maker Before : of(Iteration - In.Distance, In.Value))
          if (P.Values[static_cast<size_t>(V)].Forwarded) // The load hands it on.
            for (Maker &Load : Result)
              Load.Time = std::max(Load.Time, Before.Time + In.Latency);
          else
            add(Result, {Before.Uop, Before.Time + In.Latency});
      }
    }
    if (Result.size() > MostMakers) {
      std::ranges::stable_sort(Result, [](Maker A, Maker B) { return A.Time > B.Time; });
      Result.resize(MostMakers);
    }
    return Known.emplace(Number, std::move(Result)).first->second;
  }

private:
  int32_t indexOf(int64_t Iteration, int32_t U) const {
    auto At = static_cast<size_t>((Iteration - FirstIteration) * NumUops + U);
    return Iteration >= FirstIteration && At < Index.size() ? Index[At] : -1;
  }
  static void add(std::vector<Maker> &To, Maker New) {
    for (Maker &M : To)
      if (M.Uop == New.Uop) {
        M.Time = std::max(M.Time, New.Time);
        return;
      }
    To.push_back(New);
  }

  const Program &P;
  const std::vector<Backend::Started> &Started;
  int64_t NumUops;
  struct FeedingUop {
    int32_t Uop, Latency;
  };
  std::vector<std::vector<FeedingUop>> Feeding; ///< By value.
  std::vector<int32_t> Optional;                ///< By value: the µop that may make it, or -1.
  int64_t FirstIteration = 0;
  std::vector<int32_t> Index; ///< Of dynamic µops in Started, from the first iteration on; or -1.
  std::unordered_map<int64_t, std::vector<Maker>> Known;
};

/// The register or flag by which an instruction reads a value, as an address if `Address`, should
/// it do so by several; a value that it reads by none is a stored one, of which the renamer knows.
int32_t locationOf(const Program &P, const std::vector<bool> &IsAddress, int32_t I, const Input &In,
                   bool Address) {
  const Kernel &K = P.K;
  int32_t Found = StartedUop::RenamedMemory;
  for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
    for (int32_t N = K.InputStart[V]; N < K.InputStart[V + 1]; ++N)
      if (const Source &From = P.Flow.SourceOf[static_cast<size_t>(N)];
          K.InputKinds[N] == InputKind::Location && From.Value == In.Value &&
          From.Distance == In.Distance) {
        if (IsAddress[static_cast<size_t>(N)] == Address)
          return K.InputId[N];
        Found = K.InputId[N];
      }
  return Found;
}

/// Finds out what fed µops, each once.
class Linker {
public:
  /// There is one µop at least.
  Linker(const Program &P, const std::vector<Backend::Started> &Started,
         std::vector<StartedUop> &Uops)
      : P(P), Started(Started), Uops(Uops), Of(P, Started), LocationOf(P.Inputs.size()),
        Linked(Uops.size()) {
    std::vector<bool> IsAddress = findAddressInputs(P.K);
    for (const Uop &U : P.Uops)
      for (int32_t N = U.Inputs.Begin; N < U.Inputs.End; ++N)
        LocationOf[static_cast<size_t>(N)] =
            locationOf(P, IsAddress, U.Instruction, P.Inputs[static_cast<size_t>(N)],
                       U.Kind == UopKind::Load || U.Kind == UopKind::StoreAddress);
  }

  /// Whether a µop loads what may be stored, so that it is known only afterwards when that was
  /// there.
  bool mayBeForwarded(size_t N) const {
    const Uop &Static = staticOf(N);
    if (Static.Kind != UopKind::Load)
      return false;
    for (int32_t X = Static.Feeds.Begin; X < Static.Feeds.End; ++X)
      if (valueFedBy(X).Inputs.size() > 0)
        return true;
    return false;
  }

  void link(size_t N) {
    if (Linked[N])
      return;
    Linked[N] = true;
    StartedUop &Dyn = Uops[N];
    const Uop &Static = staticOf(N);
    auto Add = [&](Range From, bool Memory) {
      for (int32_t X = From.Begin; X < From.End; ++X) {
        const Input &In = P.Inputs[static_cast<size_t>(X)];
        for (Maker M : Of.of(Dyn.Iteration - In.Distance, In.Value)) {
          const StartedUop &Producer = Uops[static_cast<size_t>(M.Uop)];
          bool Own = Producer.Iteration == Dyn.Iteration && Producer.Instruction == Dyn.Instruction;
          Dyn.Inputs.push_back({M.Uop,
                                Memory ? StartedUop::ThroughMemory
                                : Own  ? StartedUop::WithinInstruction
                                       : LocationOf[static_cast<size_t>(X)],
                                M.Time + In.Latency});
        }
      }
    };
    Add(Static.Inputs, false);
    // What a load gets from a store does not keep it from starting, but its result from being
    // there.
    if (Static.Kind != UopKind::Load)
      return;
    size_t First = Dyn.Inputs.size();
    for (int32_t X = Static.Feeds.Begin; X < Static.Feeds.End; ++X)
      Add(valueFedBy(X).Inputs, true);
    for (; First < Dyn.Inputs.size(); ++First)
      Dyn.Executed = std::max(Dyn.Executed, Dyn.Inputs[First].Arrived);
  }

private:
  const Uop &staticOf(size_t N) const { return P.Uops[static_cast<size_t>(Started[N].Uop)]; }
  const Value &valueFedBy(int32_t X) const {
    return P.Values[static_cast<size_t>(P.Feeds[static_cast<size_t>(X)].Value)];
  }

  const Program &P;
  const std::vector<Backend::Started> &Started;
  std::vector<StartedUop> &Uops;
  Makers Of;
  std::vector<int32_t> LocationOf; ///< By input of the program.
  std::vector<bool> Linked;
};

} // namespace

void Recorder::link(const Program &P, std::vector<StartedUop> &Uops) const {
  if (Uops.empty())
    return;
  Linker Inputs(P, Started, Uops);
  for (size_t N = 0; N < Uops.size(); ++N)
    Inputs.link(N);
}

std::vector<SequenceStep> Recorder::findSequence(const Program &P,
                                                 std::vector<StartedUop> &Uops) const {
  if (Uops.empty())
    return {};
  Linker Inputs(P, Started, Uops);
  for (size_t N = 0; N < Uops.size(); ++N)
    if (Inputs.mayBeForwarded(N))
      Inputs.link(N);
  return sim::findSequence(Uops, [&](int32_t N) { Inputs.link(static_cast<size_t>(N)); });
}

Timeline incc::sim::idleTimeline(const Kernel &K, int64_t Iterations) {
  Timeline Result;
  for (int64_t Iteration = 0; Iteration < Iterations; ++Iteration)
    for (int32_t I = 0; I < K.numInstructions(); ++I)
      Result.Events.push_back({static_cast<int32_t>(Iteration), I, 0, 0, 0, 0, 1});
  Result.Ports.assign(static_cast<size_t>(Iterations) * static_cast<size_t>(K.numUops()), -1);
  return Result;
}

//===- recorder.cpp - The events of a recorded run ------------------------===//

#include "recorder.h"
#include "critical_sequence.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

using namespace incc;
using namespace incc::sim;

Timeline Recorder::collect(const Program &P, int64_t Iterations) const {
  const Kernel &K = P.K;
  int64_t N = K.numInstructions();
  size_t Total = static_cast<size_t>(
      std::min<int64_t>(Iterations * N, static_cast<int64_t>(Issue.Issued.size())));
  Timeline Result;
  Result.Ports.assign(static_cast<size_t>(Iterations * K.numUops()), -1);
  for (size_t I = 0; I < Total; ++I)
    Result.Events.push_back({.Iteration = static_cast<int32_t>(static_cast<int64_t>(I) / N),
                             .Instruction = static_cast<int32_t>(static_cast<int64_t>(I) % N),
                             .Dispatched = Issue.Issued[I],
                             .Ready = -1,
                             .Started = -1,
                             .Executed = Issue.Issued[I],
                             .Retired = -1});
  for (const Backend::Started &S : Started) {
    const Uop &U = P.Uops[static_cast<size_t>(S.Uop)];
    size_t I = static_cast<size_t>(S.Iteration * N + U.Instruction);
    if (I >= Total || P.isInserted(S.Uop))
      continue;
    Event &E = Result.Events[I];
    if (E.Started < 0 || S.Start < E.Started) {
      E.Started = S.Start;
      E.Ready = std::min(S.InputsArrived, S.Start);
    }
    if (U.Index < 0)
      continue;
    int8_t *Ports = &Result.Ports[static_cast<size_t>(S.Iteration * K.numUops())];
    Ports[U.Index] = static_cast<int8_t>(S.Port);
    for (int32_t R = K.UopStart[U.Instruction]; R < K.UopStart[U.Instruction + 1]; ++R)
      if (K.isResource(R))
        Ports[R] = static_cast<int8_t>(std::countr_zero(K.UopPorts[R]));
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
  completeEvents(Result.Events, 0);
  return Result;
}

// --- makers of inputs ---------------------------------------------------------------------------

namespace {

/// A µop that made a value, perhaps through values that no µop makes, and the value's arrival time.
struct Maker {
  int32_t Uop; ///< Its index in Simulation::Started.
  int64_t Time;
};

/// The number of makers that are kept for a value. If a value follows many others, the last ones to
/// arrive are kept: the others held nothing up.
constexpr size_t MostMakers = 8;

/// Finds the makers of the values of a run.
class MakerFinder {
public:
  MakerFinder(const Program &P, const std::vector<Backend::Started> &Started)
      : P(P), Started(Started), NumUops(static_cast<int64_t>(P.Uops.size())),
        Feeding(P.Values.size()), Optional(P.Values.size(), -1) {
    auto [First, Last] = std::ranges::minmax(Started, {}, &Backend::Started::Iteration);
    FirstIteration = First.Iteration;
    IndexOf.assign(static_cast<size_t>((Last.Iteration - FirstIteration + 1) * NumUops), -1);
    for (size_t N = 0; N < Started.size(); ++N) {
      int64_t Dynamic = (Started[N].Iteration - FirstIteration) * NumUops + Started[N].Uop;
      if (int32_t &Index = IndexOf[static_cast<size_t>(Dynamic)]; Index < 0)
        Index = static_cast<int32_t>(N);
    }
    for (size_t U = 0; U < P.Uops.size(); ++U)
      for (int32_t F = P.Uops[U].Feeds.Begin; F < P.Uops[U].Feeds.End; ++F) {
        const Feed &To = P.Feeds[static_cast<size_t>(F)];
        Feeding[static_cast<size_t>(To.Value)].push_back({static_cast<int32_t>(U), To.Latency});
      }
    for (const InstructionPlan &I : P.Instructions)
      for (const OptionalUop &U : {I.Move, I.Sync, I.Merge})
        if (U.Value >= 0)
          Optional[static_cast<size_t>(U.Value)] = U.Uop;
  }

  /// Returns the makers of a value; none for one from before the run or one that is always there.
  const std::vector<Maker> &makersOf(int64_t Iteration, int32_t V) {
    static const std::vector<Maker> None;
    if (Iteration < 0)
      return None;
    int64_t Number = Iteration * P.numValues() + V;
    if (auto Cached = MakersOf.find(Number); Cached != MakersOf.end())
      return Cached->second;
    std::vector<Maker> Makers;
    for (auto [U, Latency] : Feeding[static_cast<size_t>(V)])
      if (int32_t N = indexOf(Iteration, U); N >= 0)
        add(Makers, {N, Started[static_cast<size_t>(N)].Start + Latency});
    // A move that was executed is made by its µop alone, an eliminated one by none.
    int32_t OwnUop = Optional[static_cast<size_t>(V)];
    if (OwnUop < 0 || indexOf(Iteration, OwnUop) < 0)
      addFollowed(Makers, Iteration, P.Values[static_cast<size_t>(V)]);
    if (Makers.size() > MostMakers) {
      std::ranges::stable_sort(Makers, [](Maker A, Maker B) { return A.Time > B.Time; });
      Makers.resize(MostMakers);
    }
    return MakersOf.emplace(Number, std::move(Makers)).first->second;
  }

private:
  /// A static µop that feeds a value.
  struct FeedingUop {
    int32_t Uop, Latency;
  };

  /// Returns the index in Started of a dynamic µop, -1 for none.
  int32_t indexOf(int64_t Iteration, int32_t U) const {
    auto Dynamic = static_cast<size_t>((Iteration - FirstIteration) * NumUops + U);
    return Iteration >= FirstIteration && Dynamic < IndexOf.size() ? IndexOf[Dynamic] : -1;
  }
  static void add(std::vector<Maker> &To, Maker New) {
    for (Maker &M : To)
      if (M.Uop == New.Uop) {
        M.Time = std::max(M.Time, New.Time);
        return;
      }
    To.push_back(New);
  }
  /// Adds the makers of the values that a value follows. The maker of a stored value does not count
  /// as the maker of the loaded value: the load does, but it then delivers the value later.
  void addFollowed(std::vector<Maker> &Makers, int64_t Iteration, const Value &V) {
    for (int32_t N = V.Inputs.Begin; N < V.Inputs.End; ++N) {
      const Input &In = P.Inputs[static_cast<size_t>(N)];
      for (Maker M : makersOf(Iteration - In.Distance, In.Value)) {
        M.Time += In.Latency;
        if (!V.Forwarded)
          add(Makers, M);
        else
          for (Maker &Load : Makers)
            Load.Time = std::max(Load.Time, M.Time);
      }
    }
  }

  const Program &P;
  const std::vector<Backend::Started> &Started;
  int64_t NumUops;
  std::vector<std::vector<FeedingUop>> Feeding; ///< By static value.
  std::vector<int32_t> Optional; ///< By static value: the µop that may make it, or -1.
  int64_t FirstIteration = 0;
  std::vector<int32_t> IndexOf; ///< By dynamic µop, from FirstIteration on.
  std::unordered_map<int64_t, std::vector<Maker>> MakersOf; ///< By dynamic value.
};

/// Returns the location by which an instruction reads a value, as part of an address if `Address`
/// and there are several; RenamedMemory if it reads the value by none, since then the renamer hands
/// on a stored value.
int32_t locationOf(const Program &P, const std::vector<bool> &IsAddress, int32_t I, const Input &In,
                   bool Address) {
  const Kernel &K = P.K;
  int32_t Location = StartedUop::RenamedMemory;
  for (int32_t N = K.InputStart[K.ValueStart[I]]; N < K.InputStart[K.ValueStart[I + 1]]; ++N)
    if (const Source &From = P.Flow.SourceOf[static_cast<size_t>(N)];
        K.InputKinds[N] == InputKind::Location && From.Value == In.Value &&
        From.Distance == In.Distance) {
      Location = K.InputId[N];
      if (IsAddress[static_cast<size_t>(N)] == Address)
        return Location;
    }
  return Location;
}

/// Fills the inputs of each µop once.
class InputLinker {
public:
  /// There must be at least one µop.
  InputLinker(const Program &P, const std::vector<Backend::Started> &Started,
              std::vector<StartedUop> &Uops)
      : P(P), Started(Started), Uops(Uops), Makers(P, Started), LocationOf(P.Inputs.size()),
        IsLinked(Uops.size()) {
    std::vector<bool> IsAddress = findAddressInputs(P.K);
    for (const Uop &U : P.Uops)
      for (int32_t N = U.Inputs.Begin; N < U.Inputs.End; ++N)
        LocationOf[static_cast<size_t>(N)] =
            locationOf(P, IsAddress, U.Instruction, P.Inputs[static_cast<size_t>(N)],
                       U.Kind == UopKind::Load || U.Kind == UopKind::StoreAddress);
  }

  /// Returns true if a µop loads a value that may have been stored, so that linking it changes when
  /// it executed.
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
    if (IsLinked[N])
      return;
    IsLinked[N] = true;
    StartedUop &Dyn = Uops[N];
    const Uop &Static = staticOf(N);
    addInputs(Dyn, Static.Inputs, /*ThroughMemory=*/false);
    if (Static.Kind != UopKind::Load)
      return;
    // Data that a load gets from a store delay its result, not its start.
    size_t FirstStored = Dyn.Inputs.size();
    for (int32_t X = Static.Feeds.Begin; X < Static.Feeds.End; ++X)
      addInputs(Dyn, valueFedBy(X).Inputs, /*ThroughMemory=*/true);
    for (size_t X = FirstStored; X < Dyn.Inputs.size(); ++X)
      Dyn.Executed = std::max(Dyn.Executed, Dyn.Inputs[X].Arrived);
  }

private:
  void addInputs(StartedUop &Dyn, Range Inputs, bool ThroughMemory) {
    for (int32_t X = Inputs.Begin; X < Inputs.End; ++X) {
      const Input &In = P.Inputs[static_cast<size_t>(X)];
      for (Maker M : Makers.makersOf(Dyn.Iteration - In.Distance, In.Value)) {
        const StartedUop &Producer = Uops[static_cast<size_t>(M.Uop)];
        bool IsOwn = Producer.Iteration == Dyn.Iteration && Producer.Instruction == Dyn.Instruction;
        int32_t Location = ThroughMemory ? StartedUop::ThroughMemory
                           : IsOwn       ? StartedUop::WithinInstruction
                                         : LocationOf[static_cast<size_t>(X)];
        Dyn.Inputs.push_back({M.Uop, Location, M.Time + In.Latency});
      }
    }
  }
  const Uop &staticOf(size_t N) const { return P.Uops[static_cast<size_t>(Started[N].Uop)]; }
  const Value &valueFedBy(int32_t X) const {
    return P.Values[static_cast<size_t>(P.Feeds[static_cast<size_t>(X)].Value)];
  }

  const Program &P;
  const std::vector<Backend::Started> &Started;
  std::vector<StartedUop> &Uops;
  MakerFinder Makers;
  std::vector<int32_t> LocationOf; ///< By input of the program.
  std::vector<bool> IsLinked;
};

} // namespace

void Recorder::link(const Program &P, std::vector<StartedUop> &Uops) const {
  if (Uops.empty())
    return;
  InputLinker Linker(P, Started, Uops);
  for (size_t N = 0; N < Uops.size(); ++N)
    Linker.link(N);
}

std::vector<SequenceStep> Recorder::findSequence(const Program &P,
                                                 std::vector<StartedUop> &Uops) const {
  if (Uops.empty())
    return {};
  InputLinker Linker(P, Started, Uops);
  for (size_t N = 0; N < Uops.size(); ++N)
    if (Linker.mayBeForwarded(N))
      Linker.link(N);
  return sim::findSequence(Uops, [&](int32_t N) { Linker.link(static_cast<size_t>(N)); });
}

Timeline incc::sim::idleTimeline(const Kernel &K, int64_t Iterations) {
  Timeline Result;
  for (int64_t Iteration = 0; Iteration < Iterations; ++Iteration)
    for (int32_t I = 0; I < K.numInstructions(); ++I)
      Result.Events.push_back({static_cast<int32_t>(Iteration), I, 0, 0, 0, 0, 1});
  Result.Ports.assign(static_cast<size_t>(Iterations) * static_cast<size_t>(K.numUops()), -1);
  return Result;
}

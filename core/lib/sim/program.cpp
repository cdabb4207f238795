//===- program.cpp - A kernel as the simulated machine sees it ------------===//
//
// The µops of a Program and what they need to start. See program_builder.h.
//
//===----------------------------------------------------------------------===//

#include "program.h"
#include "in_order.h"
#include "program_builder.h"
#include "wide_vectors.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

using namespace incc;
using namespace incc::sim;

ProgramBuilder::ProgramBuilder(Program &To, const LineCrossings &Lines)
    : To(To), K(To.K), P(To.P), Lines(Lines), IsAddress(findAddressInputs(K)),
      MovesStack(std::ranges::any_of(P.StackChange, [](int32_t Change) { return Change != 0; })) {
  To.Values.resize(static_cast<size_t>(K.numValues()));
  Followed.resize(To.Values.size());
  Renamed.assign(To.Values.size(), false);
  DataValue.assign(To.Values.size(), -1);
}

void ProgramBuilder::build() {
  if (K.LineCrossingCycles > 0)
    To.CrossingIterations = Lines.ExpectedIterations;
  followMemory();
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    buildInstruction(I);
  for (const MemoryDependency &M : To.Flow.Memory)
    if (Renamed[M.Load])
      renameMemory(M);
  assignInstructions();
  numberStores();
  if (P.RenamerPorts != 0)
    To.SyncUop = newUop(0, -1, P.RenamerPorts, UopKind::Compute);
  flatten();
}

int32_t ProgramBuilder::newUop(int32_t I, int32_t Index, uint64_t Ports, UopKind Kind) {
  Uop U;
  U.Ports = Ports;
  if (auto Set = std::ranges::find(P.PickedFrom, Ports); Set != P.PickedFrom.end()) {
    U.PipeSet = static_cast<int32_t>(Set - P.PickedFrom.begin());
    U.Ports = P.QueuedAt[static_cast<size_t>(U.PipeSet)];
  }
  U.Instruction = I;
  U.Index = Index;
  U.Kind = Kind;
  To.Uops.push_back(U);
  UopInputs.emplace_back();
  UopFeeds.emplace_back();
  return static_cast<int32_t>(To.Uops.size()) - 1;
}

void ProgramBuilder::buildInstruction(int32_t I) {
  Current = I;
  Plan = {};
  int32_t FirstHidden = To.numValues();
  buildInsertedUops();
  buildUops();
  takeWideShares();
  holdResources();
  connectValues();
  Plan.Loads = static_cast<int32_t>(Loads.size());
  for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
    Plan.Stores += K.valueKind(V) == ValueKind::Store;
  To.HiddenValues.push_back({FirstHidden, To.numValues()});
  assignBanks();
  buildEntries();
  buildMove();
  To.Instructions.push_back(Plan);
}

/// Makes the µops that the renamer inserts before the instruction if it uses state that the renamer
/// keeps separately: the stack engine's offset, or bits 8-15 of a register.
void ProgramBuilder::buildInsertedUops() {
  if (P.RenamerPorts == 0)
    return;
  if (P.UsesStack[Current] && P.StackLocation >= 0 && MovesStack)
    Plan.Sync = newInsertedUop({P.StackLocation});
  if (P.MergesHigh[Current] >= 0)
    Plan.Merge = newInsertedUop({P.MergesLow[Current], P.MergesHigh[Current]});
}

/// Makes a µop that reads some locations before the instruction does, and its result.
OptionalUop ProgramBuilder::newInsertedUop(std::initializer_list<int32_t> Locations) {
  std::vector<Source> Sources;
  for (int32_t In = K.InputStart[K.ValueStart[Current]];
       In < K.InputStart[K.ValueStart[Current + 1]]; ++In) {
    if (K.InputKinds[In] != InputKind::Location ||
        std::ranges::find(Locations, K.InputId[In]) == Locations.end())
      continue;
    Source From = To.Flow.SourceOf[In];
    if (std::ranges::none_of(Sources, [&](Source S) {
          return std::tie(S.Value, S.Distance) == std::tie(From.Value, From.Distance);
        }))
      Sources.push_back(From);
  }
  OptionalUop Inserted{newUop(Current, -1, P.RenamerPorts, UopKind::Compute), newValue()};
  for (Source From : Sources) {
    readInput(Inserted.Uop, From, 0);
    follow(Inserted.Value, From, 0);
  }
  UopFeeds[Inserted.Uop].push_back({Inserted.Value, 1});
  return Inserted;
}

/// Makes the instruction's µops.
void ProgramBuilder::buildUops() {
  Loads.clear();
  Compute.clear();
  StoreAddress.clear();
  StoreData.clear();
  for (int32_t U = K.UopStart[Current]; U < K.UopStart[Current + 1]; ++U) {
    if (K.isResource(U))
      continue;
    int32_t N = newUop(Current, U, K.UopPorts[U], K.uopKind(U));
    To.Uops[N].PortCycles = K.UopCycles[U];
    switch (K.uopKind(U)) {
    case UopKind::Load:
      Loads.push_back(N);
      break;
    case UopKind::StoreAddress:
      StoreAddress.push_back(N);
      break;
    case UopKind::StoreData:
      StoreData.push_back(N);
      break;
    case UopKind::Compute:
    case UopKind::Branch:
      Compute.push_back(N);
      To.Uops[N].DelaysFrom = static_cast<uint32_t>(K.DelaysFrom[Current]);
      To.Uops[N].DelaysTo = static_cast<uint32_t>(K.DelaysTo[Current]);
      break;
    }
  }
  // Sandy Bridge and Ivy Bridge: accesses of 256 bits take their port for two cycles.
  if (P.Slow256BitMemory && P.WideMemory[Current])
    for (const std::vector<int32_t> *Accesses : {&Loads, &StoreData})
      for (int32_t U : *Accesses)
        To.Uops[U].PortCycles = 2;
}

/// Makes the µop that executes a move which is not eliminated. It feeds the first register that
/// follows something.
void ProgramBuilder::buildMove() {
  if (P.MoveClasses[Current] == MoveClass::None || P.MovePorts[Current] == 0)
    return;
  for (int32_t V = K.ValueStart[Current]; V < K.ValueStart[Current + 1]; ++V)
    if (K.valueKind(V) == ValueKind::Register && !Followed[V].empty()) {
      int32_t U = newUop(Current, -1, P.MovePorts[Current], UopKind::Compute);
      UopInputs[U] = Followed[V];
      UopFeeds[U].push_back({V, std::max(1, P.MoveLatency[Current])});
      Plan.Move = {U, V};
      return;
    }
}

/// Gives the instruction's load, computation and stored data their shares of a cycle, each once.
void ProgramBuilder::takeWideShares() {
  for (const std::vector<int32_t> *Uops : {&Loads, &Compute, &StoreData})
    if (!Uops->empty())
      To.Uops[Uops->front()].WideShares = WideVectorRule::sharesOf(P, P.VectorBits[Current]);
}

/// Lets the µop that can go to the fewest ports hold the instruction's resources: it is the one for
/// the divider.
void ProgramBuilder::holdResources() {
  const std::vector<int32_t> &Candidates = !Compute.empty() ? Compute
                                           : !Loads.empty() ? Loads
                                                            : StoreData;
  if (Candidates.empty())
    return;
  int32_t Holder = *std::ranges::min_element(
      Candidates, {}, [&](int32_t U) { return std::popcount(To.Uops[U].Ports); });
  for (int32_t U = K.UopStart[Current]; U < K.UopStart[Current + 1]; ++U)
    if (K.isResource(U)) {
      To.Uops[Holder].Resource = std::countr_zero(K.UopPorts[U]);
      To.Uops[Holder].ResourceCycles = K.UopCycles[U];
    }
}

/// Gives the instruction's loads their cache banks. If it loads several values, it is not known
/// which µop loads which.
void ProgramBuilder::assignBanks() {
  int32_t Loaded = -1;
  for (int32_t V = K.ValueStart[Current]; V < K.ValueStart[Current + 1]; ++V)
    if (K.valueKind(V) == ValueKind::Load) {
      if (Loaded >= 0)
        return;
      Loaded = V;
    }
  if (Loaded >= 0)
    for (int32_t U : Loads)
      To.Uops[U].BankRow = To.Banks.rowOf(Loaded);
}

/// Assigns each instruction without an entry (for example, one that is missing from the model) to
/// the entry before it, or to the first one.
void ProgramBuilder::assignInstructions() {
  int32_t Next = 0;
  for (size_t E = 0; E < To.Entries.size(); ++E) {
    if (!To.Entries[E].First)
      continue;
    size_t After = E + 1;
    while (After < To.Entries.size() && !To.Entries[After].First)
      ++After;
    int32_t End = After < To.Entries.size() ? To.Entries[After].Instruction : K.numInstructions();
    To.Entries[E].Instructions = {Next, End};
    Next = End;
  }
}

/// Numbers the stores of an iteration, as far as they enter the store buffer.
void ProgramBuilder::numberStores() {
  To.StoreNumber.assign(static_cast<size_t>(K.numValues()), 0);
  for (const Entry &E : To.Entries)
    if (E.First)
      for (int32_t V = K.ValueStart[E.Instruction]; V < K.ValueStart[E.Instruction + 1]; ++V)
        if (K.valueKind(V) == ValueKind::Store)
          To.StoreNumber[static_cast<size_t>(V)] = To.StoresPerIteration++;
}

/// Moves the inputs and feeds of all µops and values into the program's arrays.
void ProgramBuilder::flatten() {
  auto Append = [](auto &Array, const auto &Items) {
    Range Appended;
    Appended.Begin = static_cast<int32_t>(Array.size());
    Array.insert(Array.end(), Items.begin(), Items.end());
    Appended.End = static_cast<int32_t>(Array.size());
    return Appended;
  };
  for (size_t N = 0; N < To.Uops.size(); ++N) {
    Uop &U = To.Uops[N];
    U.Inputs = Append(To.Inputs, UopInputs[N]);
    U.Feeds = Append(To.Feeds, UopFeeds[N]);
    U.Done = std::max(U.Done, P.LeastCycles[U.Instruction]);
    // A store may retire when its address and data are on their way.
    if (U.Kind != UopKind::StoreAddress && U.Kind != UopKind::StoreData)
      for (const Feed &F : UopFeeds[N])
        U.Done = std::max(U.Done, F.Latency);
  }
  for (size_t V = 0; V < To.Values.size(); ++V)
    To.Values[V].Inputs = Append(To.Inputs, Followed[V]);
}

Program::Program(const Kernel &K, const Pipeline &P, KernelInfo Info, const Assumptions &Assume)
    : K(K), P(P), Flow(std::move(Info.Flow)), Commits(K, P, Info.Stores), Banks(K, P, Info.Loads),
      Aliases(K, P, Info.Loads, Info.Stores) {
  if (Assume.NoRegisterDependencies)
    Flow.SourceOf.assign(Flow.SourceOf.size(), {});
  if (Assume.NoMemoryDependencies)
    Flow.Memory.clear();
  ProgramBuilder(*this, Info.Lines).build();
  if (P.InOrder)
    assignStages(*this);
}

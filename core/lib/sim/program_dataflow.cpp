//===- program_dataflow.cpp - µops and values of a Program ----------------===//
//
// The kernel says for each value how many cycles it takes from each of its inputs.
// The program says which µop reads which input, how many cycles after its start it
// feeds which value, and which values follow others without a µop. This file makes
// the one from the other:
//
//   - A load µop reads the registers of the address and feeds the loaded value. If
//     the value may come from a store, it also follows the stored value.
//   - A store's address µop reads the registers of the address, its data µop the
//     stored data, and both feed the stored value. If the data are computed by the
//     same instruction, they are a hidden value in between.
//   - Computing µops form a chain (computeResults).
//   - A register result without a µop, or one that the renamer passes on, follows
//     its inputs.
//
//===----------------------------------------------------------------------===//

#include "program_builder.h"

#include <algorithm>
#include <bit>
#include <functional>

using namespace incc;
using namespace incc::sim;

namespace {

/// Returns the value that the N-th µop of a kind makes. If there are fewer values than µops of the
/// kind, the remaining µops make the last value, too. Returns -1 if there is no value.
int32_t valueOfUop(const std::vector<int32_t> &Values, size_t N) {
  return Values.empty() ? -1 : Values[std::min(N, Values.size() - 1)];
}

} // namespace

// --- elements -----------------------------------------------------------------------------------

int32_t ProgramBuilder::newValue() {
  To.Values.emplace_back();
  Followed.emplace_back();
  return static_cast<int32_t>(To.Values.size()) - 1;
}

/// Makes a µop wait for a value, unless the value comes from before the kernel.
void ProgramBuilder::readInput(int32_t U, Source From, int32_t Latency) {
  if (From.Value >= 0)
    UopInputs[U].push_back({From.Value, From.Distance, Latency});
}

/// Makes a µop feed a value. If it does so several times, the longest latency counts.
void ProgramBuilder::feed(int32_t U, int32_t V, int32_t Latency) {
  Latency = std::max(Latency, 1);
  for (Feed &F : UopFeeds[U])
    if (F.Value == V) {
      F.Latency = std::max(F.Latency, Latency);
      return;
    }
  UopFeeds[U].push_back({V, Latency});
  ++To.Values[V].NumUops;
}

/// Makes a value follow another one without a µop, unless that comes from before the kernel.
void ProgramBuilder::follow(int32_t V, Source From, int32_t Latency) {
  if (From.Value >= 0)
    Followed[V].push_back({From.Value, From.Distance, Latency});
}

void ProgramBuilder::followInputs(int32_t V) {
  for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
    follow(V, sourceOf(In), latencyOf(In));
}

// --- properties of inputs and values ------------------------------------------------------------

/// Returns the value that an input reads. That may be the result of a µop that the renamer inserts.
Source ProgramBuilder::sourceOf(int32_t In) const {
  if (K.InputKinds[In] == InputKind::Value)
    return {K.InputId[In], 0};
  if (Plan.Sync.Value >= 0 && K.InputId[In] == P.StackLocation)
    return {Plan.Sync.Value, 0};
  if (Plan.Merge.Value >= 0 &&
      (K.InputId[In] == P.MergesLow[Current] || K.InputId[In] == P.MergesHigh[Current]))
    return {Plan.Merge.Value, 0};
  return To.Flow.SourceOf[In];
}

/// Returns by how many cycles an input arrives later than its source, because that is in another
/// group of units (Kernel::ForwardGroup) or on a slow way (Pipeline::LateInputs).
int32_t ProgramBuilder::delayOf(int32_t In) const {
  return To.Flow.delayOf(In) + P.LateInputs[static_cast<size_t>(In)];
}

/// Returns the latency from an input to its value, delays included.
int32_t ProgramBuilder::latencyOf(int32_t In) const { return K.InputLatency[In] + delayOf(In); }

/// Returns true if a register result is a copy of registers, which the renamer passes on even if
/// the instruction has a µop: no computation takes zero cycles. So is a loaded value, if the µop is
/// for another result that does not depend on it: the updated address register.
bool ProgramBuilder::isPassedOn(int32_t V) const {
  if (K.InputStart[V] == K.InputStart[V + 1])
    return false;
  bool IsLoaded = false;
  for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In) {
    if (K.InputLatency[In] > 0)
      return false;
    IsLoaded |= K.InputKinds[In] != InputKind::Location;
  }
  return !IsLoaded || computesWithoutLoad();
}

/// Returns true if the current instruction has a register result that does not depend on what it
/// loads.
bool ProgramBuilder::computesWithoutLoad() const {
  for (int32_t V = K.ValueStart[Current]; V < K.ValueStart[Current + 1]; ++V) {
    if (K.valueKind(V) != ValueKind::Register || K.InputStart[V] == K.InputStart[V + 1])
      continue;
    auto First = K.InputKinds.begin() + K.InputStart[V],
         Last = K.InputKinds.begin() + K.InputStart[V + 1];
    if (std::find(First, Last, InputKind::Value) == Last)
      return true;
  }
  return false;
}

/// Returns true if computing µops need an input for a result. The address of a store is not among
/// its operands, and a register at a latency of zero was measured not to matter.
bool ProgramBuilder::isComputedFrom(int32_t V, int32_t In) const {
  if (K.valueKind(V) == ValueKind::Store && IsAddress[In])
    return false;
  return K.InputLatency[In] > 0 || K.InputKinds[In] == InputKind::Value;
}

// --- memory -------------------------------------------------------------------------------------

/// Makes loaded values follow the stores that they may read from. Dependencies without latency are
/// those that the renamer hands on (renameMemory).
void ProgramBuilder::followMemory() {
  for (const MemoryDependency &M : To.Flow.Memory) {
    if (M.Latency == 0) {
      Renamed[M.Load] = true;
      continue;
    }
    int32_t DataToLoad = K.valueKind(M.Store) == ValueKind::Store ? P.StoreDataToLoad : 0;
    Followed[M.Load].push_back({M.Store, M.Distance, std::max(0, M.Latency - DataToLoad)});
    To.Values[M.Load].Forwarded = true;
  }
}

/// Makes a loaded value that the renamer forwards follow the stored data instead of the store.
void ProgramBuilder::renameMemory(const MemoryDependency &M) {
  if (DataValue[M.Store] >= 0) {
    follow(M.Load, {DataValue[M.Store], M.Distance}, 0);
    return;
  }
  for (int32_t In = K.InputStart[M.Store]; In < K.InputStart[M.Store + 1]; ++In)
    if (!IsAddress[In] && K.InputKinds[In] == InputKind::Location) {
      Source Data = To.Flow.SourceOf[In];
      follow(M.Load, {Data.Value, Data.Distance + M.Distance}, latencyOf(In));
    }
}

// --- an instruction's values --------------------------------------------------------------------

void ProgramBuilder::connectValues() {
  Results R = classifyValues();
  connectLoads(R.Loaded);
  connectStoreAddresses(R.Stored);
  planStoredData(R);
  std::vector<ComputedResult> Computed;
  for (int32_t V : R.Computed)
    Computed.push_back({V, V});
  for (int32_t V : R.Stored)
    if (DataValue[V] >= 0)
      Computed.push_back({V, DataValue[V]});
  if (!Compute.empty())
    computeResults(Computed);
  connectStoredData(R.Stored);
}

/// Sorts the instruction's values by what makes them. Registers that nothing computes follow their
/// inputs.
ProgramBuilder::Results ProgramBuilder::classifyValues() {
  Results R;
  for (int32_t V = K.ValueStart[Current]; V < K.ValueStart[Current + 1]; ++V) {
    switch (K.valueKind(V)) {
    case ValueKind::Load:
      R.Loaded.push_back(V);
      break;
    case ValueKind::Store:
      R.Stored.push_back(V);
      break;
    case ValueKind::Register:
      R.WritesRegister = true;
      if (!Compute.empty() && !isPassedOn(V))
        R.Computed.push_back(V);
      else
        followInputs(V);
      break;
    }
  }
  return R;
}

void ProgramBuilder::connectLoads(const std::vector<int32_t> &Loaded) {
  for (size_t N = 0; N < Loads.size(); ++N) {
    int32_t V = valueOfUop(Loaded, N);
    if (V < 0)
      continue;
    // The load starts when the input with the longest latency allows. The others are late for it by
    // the difference.
    int32_t Latency = longestLatency(K, Current, V);
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      readInput(Loads[N], sourceOf(In), latencyOf(In) - Latency);
    // The latency of a single access is that of all its µops, of which only as many start in a
    // cycle as there are ports.
    size_t Earlier = N - std::min(N, Loaded.size() - 1);
    bool IsOne = K.MemoryOfValue[V] >= 0 && K.MemoryElements[K.MemoryOfValue[V]] == 1;
    auto Waits = static_cast<int32_t>(Earlier) / std::popcount(To.Uops[Loads[N]].Ports);
    if (!Renamed[V]) {
      feed(Loads[N], V, Latency - (IsOne ? Waits : 0));
      To.Uops[Loads[N]].Aliased = To.Aliases.of(V).empty() ? -1 : V;
    }
    if (K.LineCrossingCycles > 0) {
      To.Uops[Loads[N]].Crossings = Lines.Expected[V];
      To.Uops[Loads[N]].CrossingPattern = Lines.Pattern[V];
    }
  }
  if (Loads.empty())
    for (int32_t V : Loaded)
      followInputs(V);
}

void ProgramBuilder::connectStoreAddresses(const std::vector<int32_t> &Stored) {
  for (size_t N = 0; N < StoreAddress.size(); ++N) {
    int32_t V = valueOfUop(Stored, N);
    if (V < 0)
      continue;
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (IsAddress[In])
        readInput(StoreAddress[N], sourceOf(In), latencyOf(In));
    feed(StoreAddress[N], V, P.StoreAddressToLoad);
    To.Uops[StoreAddress[N]].Store = V;
  }
}

/// Decides for each stored value if its data are computed, and makes a hidden value for them if so.
/// In a store that also updates its address register, the computing µop is for that register.
void ProgramBuilder::planStoredData(const Results &R) {
  for (int32_t V : R.Stored) {
    bool FromLoad = false, IsDelayed = K.InputStart[V] == K.InputStart[V + 1];
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In) {
      FromLoad |= K.InputKinds[In] == InputKind::Value;
      IsDelayed |= !IsAddress[In] && K.InputLatency[In] > 0;
    }
    if (!Compute.empty() && (FromLoad || (!R.WritesRegister && IsDelayed))) {
      DataValue[V] = newValue();
      continue;
    }
    if (R.WritesRegister)
      continue;
    // Computing µops that do not delay the data take them to the store buffer.
    for (int32_t U : Compute) {
      for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
        if (!IsAddress[In])
          readInput(U, sourceOf(In), delayOf(In));
      feed(U, V, P.StoreDataToLoad);
    }
  }
}

void ProgramBuilder::connectStoredData(const std::vector<int32_t> &Stored) {
  // Calls F(source, latency) for the data of a stored value.
  auto ForEachSource = [&](int32_t V, auto F) {
    if (DataValue[V] >= 0)
      return F(Source{DataValue[V], 0}, 0);
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (!IsAddress[In])
        F(sourceOf(In), latencyOf(In));
  };
  // If no µop takes the data to the store buffer, they go there by themselves.
  if (StoreData.empty())
    for (int32_t V : Stored)
      ForEachSource(
          V, [&](Source From, int32_t Latency) { follow(V, From, Latency + P.StoreDataToLoad); });
  for (size_t N = 0; N < StoreData.size(); ++N)
    if (int32_t V = valueOfUop(Stored, N); V >= 0) {
      ForEachSource(V,
                    [&](Source From, int32_t Latency) { readInput(StoreData[N], From, Latency); });
      feed(StoreData[N], V, P.StoreDataToLoad);
    }
}

// --- computing µops -----------------------------------------------------------------------------

ProgramBuilder::Operands
ProgramBuilder::collectOperands(const std::vector<ComputedResult> &Results) const {
  Operands All;
  for (ComputedResult R : Results)
    for (int32_t In = K.InputStart[R.Value]; In < K.InputStart[R.Value + 1]; ++In)
      if (isComputedFrom(R.Value, In)) {
        Operand &O = All[{K.InputKinds[In], K.InputId[In]}];
        O.From = sourceOf(In);
        O.Delay = delayOf(In);
        O.Class.first = std::max(O.Class.first, K.InputLatency[In]);
        ++O.Class.second;
      }
  for (auto &[Key, O] : All)
    if (O.Class.first == 0) {
      O.Class.first = 1;
      --O.Delay;
    }
  return All;
}

/// Returns the classes of operands that enter at each µop of the chain, a µop later for each. The
/// last µops have the last classes, one each; the first µop has all that are left, and is known by
/// the first of them.
std::vector<ProgramBuilder::OperandClass> ProgramBuilder::planChain(const Operands &All) const {
  std::vector<OperandClass> Classes;
  for (const auto &[Key, O] : All)
    Classes.push_back(O.Class);
  std::ranges::sort(Classes, std::greater());
  Classes.erase(std::unique(Classes.begin(), Classes.end()), Classes.end());
  if (Classes.empty())
    Classes.push_back({1, 0});
  if (Classes.size() > Compute.size())
    Classes.erase(Classes.begin() + 1,
                  Classes.end() - static_cast<std::ptrdiff_t>(Compute.size()) + 1);
  return Classes;
}

/// Distributes the operands over the instruction's computing µops, which form a chain.
///
/// Latencies are measured between operands. The operands with the shortest latency to the result
/// enter at the last µop, those with longer latencies at µops before it. Of operands with the same
/// latency, those that more results need enter first, so that no result waits for what only others
/// need. Where there are more different classes than µops, the first µop takes all that are left,
/// and starts before those operands arrive that it needs later. So chains through different
/// operands take what was measured, and µops wait for ports when the hardware's do.
///
/// The latency of a loaded value that is a result as it is includes these µops, so that they start
/// in the last cycle of the load.
///
/// µops beyond the number of classes read what the first µop reads. They are younger, so that they
/// do not keep the result waiting for a port.
void ProgramBuilder::computeResults(const std::vector<ComputedResult> &Results) {
  Operands All = collectOperands(Results);
  std::vector<OperandClass> ClassAt = planChain(All);
  size_t Length = ClassAt.size();
  for (auto &[Key, O] : All) {
    for (size_t N = 0; N < Length; ++N)
      if (ClassAt[N] >= O.Class)
        O.Uop = N;
    O.Early = ClassAt[O.Uop].first - O.Class.first;
    readInput(Compute[O.Uop], O.From, O.Delay - O.Early);
    if (O.Uop == 0)
      for (size_t N = Length; N < Compute.size(); ++N)
        readInput(Compute[N], O.From, O.Delay - O.Early);
  }
  for (size_t N = 0; N + 1 < Length; ++N) {
    int32_t Lag = ClassAt[N].first - ClassAt[N + 1].first;
    if (Lag == 0)
      continue;
    int32_t Between = newValue();
    feed(Compute[N], Between, Lag);
    readInput(Compute[N + 1], {Between, 0}, 0);
  }
  for (ComputedResult R : Results) {
    bool HasOperand = false;
    for (int32_t In = K.InputStart[R.Value]; In < K.InputStart[R.Value + 1]; ++In)
      if (isComputedFrom(R.Value, In)) {
        const Operand &O = All[{K.InputKinds[In], K.InputId[In]}];
        feed(Compute[O.Uop], R.Fed, K.InputLatency[In] + O.Early);
        HasOperand = true;
      }
    if (!HasOperand)
      feed(Compute[Length - 1], R.Fed, 1);
  }
}

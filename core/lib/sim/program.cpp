//===- program.cpp - A kernel as the simulated machine sees it ------------===//

#include "program.h"
#include "incc/lines.h"
#include "incc/memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

using namespace incc;
using namespace incc::sim;

namespace {

class Builder {
public:
  Builder(Program &To, const LineCrossings &Lines, const AccessAddresses &LoadsAt,
          const AccessAddresses &Stores)
      : To(To), K(To.K), P(To.P), IsAddress(findAddressInputs(K)), Lines(Lines), LoadsAt(LoadsAt),
        Stores(Stores) {
    To.Values.resize(static_cast<size_t>(K.numValues()));
    Followed.resize(To.Values.size());
    Renamed.assign(To.Values.size(), false);
    DataValue.assign(To.Values.size(), -1);
  }

  void build() {
    CrossingsCost = K.LineCrossingCycles > 0;
    if (CrossingsCost)
      To.CrossingIterations = Lines.ExpectedIterations;
    MovesStack = std::ranges::any_of(P.StackChange, [](int32_t Change) { return Change != 0; });
    for (const MemoryDependency &M : To.Flow.Memory) {
      if (M.Latency == 0) {
        Renamed[M.Load] = true;
        continue;
      }
      int32_t Seen = K.valueKind(M.Store) == ValueKind::Store ? P.StoreDataToLoad : 0;
      Followed[M.Load].push_back({M.Store, M.Distance, std::max(0, M.Latency - Seen)});
      To.Values[M.Load].Forwarded = true;
    }
    for (int32_t I = 0; I < K.numInstructions(); ++I)
      buildInstruction(I);
    for (const MemoryDependency &M : To.Flow.Memory)
      if (Renamed[M.Load])
        renameMemory(M);
    planCommits();
    planBanks();
    assignEntered();
    addRenamerUops();
    flatten();
    if (P.InOrder)
      assignStages();
  }

private:
  /// Stores go to the cache in program order, a block in a cycle; those behind it to the same block
  /// go along. Some cores take only so many together (Pipeline::StoreCommitMost); one that reaches
  /// into another block goes alone there, and so does one that fills a block. Of pointers without a
  /// known distance none are in one block, and where the unknown part lies is not known either:
  /// pointers are taken to be aligned to blocks.
  void planCommits() {
    if (P.StoreCommitBytes <= 0)
      return;
    std::vector<int32_t> InstructionOf(static_cast<size_t>(K.numValues()), -1);
    std::vector<int32_t> Unknown(static_cast<size_t>(K.numInstructions()), 0);
    for (int32_t I = 0; I < K.numInstructions(); ++I)
      for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
        if (K.valueKind(V) == ValueKind::Store) {
          InstructionOf[static_cast<size_t>(V)] = I;
          Unknown[static_cast<size_t>(I)] +=
              K.MemoryOfValue[V] < 0 || K.MemorySize[K.MemoryOfValue[V]] <= 0;
        }
    if (std::ranges::all_of(InstructionOf, [](int32_t I) { return I < 0; }))
      return;
    // What cannot be followed takes a cycle each.
    To.CommitCycles.assign(static_cast<size_t>(Stores.Iterations), Unknown);
    auto Size = static_cast<uint64_t>(P.StoreCommitBytes);
    size_t PerIteration = Stores.Accesses.size() / static_cast<size_t>(Stores.Iterations);
    int32_t Together = 0; // Stores of this cycle that another one may join.
    std::vector<Block> Blocks;
    for (size_t N = 0; N < Stores.Accesses.size(); ++N) {
      const AccessAddress &A = Stores.Accesses[N];
      const AccessAddress &Before = Stores.Accesses[N > 0 ? N - 1 : N];
      uint64_t First = A.Constant / Size;
      uint64_t Last = lastByte(A) / Size;
      bool Joins = Together > 0 && A.Part == Before.Part && First == lastByte(Before) / Size;
      if (P.StoreCommitMost > 0) {
        bool Alone = First != Last || static_cast<uint64_t>(A.Bytes) >= Size;
        Joins = Joins && !Alone && Together < P.StoreCommitMost;
        Together = Alone ? 0 : Joins ? Together + 1 : 1;
      } else {
        Together = 1;
      }
      To.CommitCycles[N / PerIteration]
                     [static_cast<size_t>(InstructionOf[static_cast<size_t>(A.Value)])] +=
          static_cast<int32_t>(Last - First) + (Joins ? 0 : 1);
      for (uint64_t Number = First; P.StoreWordBytes > 0 && Number <= Last; ++Number) {
        if (Number > First || !Joins)
          Blocks.push_back(
              {A.Part, Number, N / PerIteration, InstructionOf[static_cast<size_t>(A.Value)], 0});
        uint64_t Begin = Number == First ? A.Constant % Size : 0;
        uint64_t End = Number == Last ? lastByte(A) % Size + 1 : Size;
        Blocks.back().Bytes |= lowBytes(End - Begin) << Begin;
      }
    }
    // Between what cannot be followed, blocks cannot be counted.
    if (std::ranges::all_of(Unknown, [](int32_t Stores) { return Stores == 0; }))
      planRewrites(Blocks);
  }

  /// What goes to the cache together: these bytes of a block, the first of them from an
  /// instruction.
  struct Block {
    uint32_t Part;
    uint64_t Number;
    size_t Iteration;
    int32_t Instruction;
    uint64_t Bytes;
  };

  static uint64_t lowBytes(uint64_t Count) { return ~uint64_t(0) >> (64 - Count); }

  /// All bytes of the words that some of the bytes are in; if `Incomplete`, only of those words of
  /// which others are missing.
  uint64_t wordsOf(uint64_t Bytes, bool Incomplete) const {
    uint64_t Words = 0;
    for (int32_t At = 0; At < P.StoreCommitBytes; At += P.StoreWordBytes) {
      uint64_t Word = lowBytes(static_cast<uint64_t>(P.StoreWordBytes)) << At;
      if ((Bytes & Word) != 0 && !(Incomplete && (Bytes & Word) == Word))
        Words |= Word;
    }
    return Words;
  }

  /// A block with only some bytes of a word waits if this word was written a few cycles before
  /// (Pipeline::StoreWordBytes). Measured on Zen 3; a cache whose check bits are those of words has
  /// to read what else is in the word.
  void planRewrites(const std::vector<Block> &Blocks) {
    if (P.StoreWordBytes <= 0)
      return;
    size_t Iterations = To.CommitCycles.size();
    std::vector<std::vector<int32_t>> Found(
        Iterations, std::vector<int32_t>(static_cast<size_t>(K.numInstructions()), 0));
    bool Any = false;
    size_t FirstOf = 0; // The first block of the same instruction in the same iteration.
    for (size_t N = 0; N < Blocks.size(); ++N) {
      const Block &B = Blocks[N];
      if (B.Iteration != Blocks[FirstOf].Iteration || B.Instruction != Blocks[FirstOf].Instruction)
        FirstOf = N;
      uint64_t Incomplete = wordsOf(B.Bytes, true);
      int32_t &Rewritten = Found[B.Iteration][static_cast<size_t>(B.Instruction)];
      size_t Most = std::min(N, static_cast<size_t>(P.StoreWordWindow));
      for (size_t Back = N - FirstOf + 1; Back <= Most && Rewritten == 0; ++Back) {
        const Block &Before = Blocks[N - Back];
        if (Before.Part == B.Part && Before.Number == B.Number &&
            (wordsOf(Before.Bytes, false) & Incomplete) != 0) {
          Rewritten = static_cast<int32_t>(Back - (N - FirstOf));
          Any = true;
        }
      }
    }
    if (!Any)
      return;
    // What was before the first iteration is not known here; it is like one in the middle.
    if (Iterations > 1)
      Found[0] = Found[Iterations / 2];
    To.Rewritten = std::move(Found);
  }

  /// A multiple of eight bytes within a line, another one in each iteration: multiples of
  /// irrational numbers, one for each object, less their whole parts, so that the places of any two
  /// of them relative to each other are equally frequent.
  uint64_t anyPlace(int32_t Object, size_t Iteration) const {
    constexpr uint64_t GoldenRatio = 0x9E3779B97F4A7C15;
    uint64_t Fraction = GoldenRatio * static_cast<uint64_t>(Object) * Iteration;
    return (Fraction >> 32) * static_cast<uint64_t>(K.LineBytes / 8) >> 32 << 3;
  }

  static uint64_t lastByte(const AccessAddress &A) {
    return A.Constant + static_cast<uint64_t>(std::max(A.Bytes, 1)) - 1;
  }

  /// A line of the first-level cache lies across banks, and each serves few loads in a cycle: two
  /// of any lines on Golden Cove, measured there with loads of 1 to 64 bytes; one on Sandy Bridge,
  /// but any number from one set (Intel's optimization manual, "Handling L1D Cache Bank Conflict").
  ///
  /// Relative to one pointer, places are known. Of different ones, see Kernel::LinePlaces: where
  /// loads of any line count, all are taken to be aligned to lines, as allocators align large
  /// arrays alike (and as what the rule was compared with was measured); where sets matter, not to
  /// meet in a bank, which is the likeliest. Constants, of which the place is not known, and
  /// accesses whose addresses cannot be followed need no bank.
  void planBanks() {
    if (P.BankBytes <= 0 || K.LineBytes <= 0 || K.LineBytes > 64 * P.BankBytes)
      return;
    To.AnyPlaces = K.LinePlaces == 3;
    auto Bank = static_cast<uint64_t>(P.BankBytes);
    auto NumBanks = static_cast<uint64_t>(K.LineBytes) / Bank;
    std::vector<int32_t> RowOf(static_cast<size_t>(K.numValues()), -1);
    size_t PerIteration = LoadsAt.Accesses.size() / static_cast<size_t>(LoadsAt.Iterations);
    for (size_t N = 0; N < LoadsAt.Accesses.size(); ++N) {
      const AccessAddress &A = LoadsAt.Accesses[N];
      if (K.MemorySymbol[K.MemoryOfValue[A.Value]] >= 0)
        continue;
      int32_t &Row = RowOf[static_cast<size_t>(A.Value)];
      if (Row < 0) {
        Row = static_cast<int32_t>(To.Banks.size());
        To.Banks.emplace_back(static_cast<size_t>(LoadsAt.Iterations));
      }
      size_t Iteration = N / PerIteration;
      LoadBanks &Load = To.Banks[static_cast<size_t>(Row)][Iteration];
      uint64_t Place = To.AnyPlaces ? anyPlace(LoadsAt.ObjectOf.at(A.Part), Iteration) : 0;
      Load.Part = A.Part;
      if (P.BankSets > 0)
        Load.Set = (A.Constant + Place) / static_cast<uint64_t>(K.LineBytes) %
                   static_cast<uint64_t>(P.BankSets);
      uint64_t First = (A.Constant + Place) / Bank, Last = (lastByte(A) + Place) / Bank;
      for (uint64_t At = First; At <= Last && At - First < NumBanks; ++At)
        Load.Banks |= uint64_t(1) << At % NumBanks;
    }
    // What repeats itself earlier makes states of the machine alike earlier.
    for (std::vector<LoadBanks> &Row : To.Banks)
      while (Row.size() > 1 &&
             std::equal(Row.begin(), Row.begin() + static_cast<std::ptrdiff_t>(Row.size() / 2),
                        Row.begin() + static_cast<std::ptrdiff_t>(Row.size() / 2)))
        Row.resize(Row.size() / 2);
    for (const std::vector<LoadBanks> &Row : To.Banks)
      To.BankIterations = std::max(To.BankIterations, static_cast<int64_t>(Row.size()));
    for (int32_t I = 0; I < K.numInstructions(); ++I) {
      // Which of several loads of an instruction is which is not known.
      std::vector<int32_t> Loaded;
      for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
        if (K.valueKind(V) == ValueKind::Load)
          Loaded.push_back(V);
      for (Uop &U : To.Uops)
        if (Loaded.size() == 1 && U.Instruction == I && U.Kind == UopKind::Load)
          U.Banks = RowOf[static_cast<size_t>(Loaded.front())];
    }
  }

  /// The renamer hands what is stored on to the load: it follows the data, not the store.
  void renameMemory(const MemoryDependency &M) {
    if (DataValue[M.Store] >= 0) {
      Followed[M.Load].push_back({DataValue[M.Store], M.Distance, 0});
      return;
    }
    for (int32_t In = K.InputStart[M.Store]; In < K.InputStart[M.Store + 1]; ++In)
      if (!IsAddress[In] && K.InputKinds[In] == InputKind::Location)
        if (Source S = To.Flow.SourceOf[In]; S.Value >= 0)
          Followed[M.Load].push_back({S.Value, S.Distance + M.Distance, latencyOf(In)});
  }

  /// An input of the instruction, the same register for several results.
  struct Operand {
    Source From;
    int32_t Longest = 0;
    int32_t Results = 0; ///< That need it.
    int32_t Uop = -1;
    int32_t Early = 0; ///< Cycles by which its µop may start before it is ready.
    int32_t Delay = 0; ///< From another group of units.
  };

  Source sourceOf(int32_t In) const {
    if (K.InputKinds[In] == InputKind::Value)
      return {K.InputId[In], 0};
    if (Plan.Sync.Value >= 0 && K.InputId[In] == P.StackLocation)
      return {Plan.Sync.Value, 0};
    if (Plan.Merge.Value >= 0 &&
        (K.InputId[In] == P.MergesLow[Current] || K.InputId[In] == P.MergesHigh[Current]))
      return {Plan.Merge.Value, 0};
    return To.Flow.SourceOf[In];
  }

  /// With what passing between groups of units takes.
  int32_t latencyOf(int32_t In) const { return K.InputLatency[In] + delayOf(In); }

  int32_t delayOf(int32_t In) const {
    return To.Flow.delayOf(In) + P.LateInputs[static_cast<size_t>(In)];
  }

  int32_t newUop(int32_t I, int32_t Index, uint64_t Ports, UopKind Kind) {
    Uop U;
    U.Ports = Ports;
    if (auto Set = std::ranges::find(P.PickedFrom, Ports); Set != P.PickedFrom.end()) {
      U.Shared = static_cast<int32_t>(Set - P.PickedFrom.begin());
      U.Ports = P.QueuedAt[static_cast<size_t>(U.Shared)];
    }
    U.Instruction = I;
    U.Index = Index;
    U.Kind = Kind;
    To.Uops.push_back(U);
    UopInputs.emplace_back();
    UopFeeds.emplace_back();
    return static_cast<int32_t>(To.Uops.size()) - 1;
  }

  int32_t newValue() {
    To.Values.emplace_back();
    Followed.emplace_back();
    return static_cast<int32_t>(To.Values.size()) - 1;
  }

  void waitFor(int32_t U, Source S, int32_t Latency) {
    if (S.Value >= 0)
      UopInputs[U].push_back({S.Value, S.Distance, Latency});
  }

  /// The later of two latencies counts if a µop feeds a value twice.
  void feed(int32_t U, int32_t V, int32_t Latency) {
    Latency = std::max(Latency, 1);
    for (Feed &F : UopFeeds[U])
      if (F.Value == V) {
        F.Latency = std::max(F.Latency, Latency);
        return;
      }
    UopFeeds[U].push_back({V, Latency});
    ++To.Values[V].NumUops;
  }

  void buildInstruction(int32_t I) {
    Loads.clear();
    Compute.clear();
    StoreAddress.clear();
    StoreData.clear();
    int32_t Hidden = To.numValues();
    Plan = {};
    Current = I;
    buildRenamerUops(I);
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U) {
      if (K.isResource(U))
        continue;
      int32_t N = newUop(I, U, K.UopPorts[U], K.uopKind(U));
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
        To.Uops[N].DelaysFrom = static_cast<uint32_t>(K.DelaysFrom[I]);
        To.Uops[N].DelaysTo = static_cast<uint32_t>(K.DelaysTo[I]);
        break;
      }
    }
    if (P.Slow256BitMemory && P.WideMemory[I]) {
      for (int32_t U : Loads)
        To.Uops[U].PortCycles = 2;
      for (int32_t U : StoreData)
        To.Uops[U].PortCycles = 2;
    }
    shareCycle(I);
    holdResources(I);
    buildDataFlow(I);
    Plan.Loads = static_cast<int32_t>(Loads.size());
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
      Plan.Stores += K.valueKind(V) == ValueKind::Store;
    To.HiddenValues.push_back({Hidden, To.numValues()});
    buildEntries(I);
    buildMove(I);
    To.Instructions.push_back(Plan);
  }

  /// Of what µops on wide vectors share in a cycle, each takes as many parts as make full cycles of
  /// those of its width. An instruction loads, computes and stores once, in however many µops; the
  /// address of a store does not count.
  void shareCycle(int32_t I) {
    int32_t Limit = P.VectorBits[I] == 512   ? P.Starts512Bit
                    : P.VectorBits[I] == 256 ? P.Starts256Bit
                                             : 0;
    if (Limit == 0)
      return;
    To.WidePerCycle = std::max(P.Starts256Bit, 1) * std::max(P.Starts512Bit, 1);
    for (const std::vector<int32_t> *Kind : {&Loads, &Compute, &StoreData})
      if (!Kind->empty())
        To.Uops[Kind->front()].Share = To.WidePerCycle / Limit;
  }

  /// The renamer's own µops before an instruction that uses what it has put aside.
  void buildRenamerUops(int32_t I) {
    if (P.RenamerPorts == 0)
      return;
    auto Before = [&](std::initializer_list<int32_t> Locations) {
      OptionalUop Own;
      std::vector<Source> From;
      for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
        for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
          if (K.InputKinds[In] == InputKind::Location &&
              std::ranges::find(Locations, K.InputId[In]) != Locations.end())
            if (Source S = To.Flow.SourceOf[In];
                std::ranges::find(From, std::pair(S.Value, S.Distance), [](Source X) {
                  return std::pair(X.Value, X.Distance);
                }) == From.end())
              From.push_back(S);
      Own.Uop = newUop(I, -1, P.RenamerPorts, UopKind::Compute);
      Own.Value = newValue();
      for (Source S : From) {
        waitFor(Own.Uop, S, 0);
        if (S.Value >= 0)
          Followed[Own.Value].push_back({S.Value, S.Distance, 0});
      }
      UopFeeds[Own.Uop].push_back({Own.Value, 1});
      return Own;
    };
    OptionalUop Sync, Merge;
    if (P.UsesStack[I] && P.StackLocation >= 0 && MovesStack)
      Sync = Before({P.StackLocation});
    if (P.MergesHigh[I] >= 0)
      Merge = Before({P.MergesLow[I], P.MergesHigh[I]});
    Plan.Sync = Sync;
    Plan.Merge = Merge;
  }

  /// A divider is held by the µop that can go to the fewest ports: it is the divider's.
  void holdResources(int32_t I) {
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U) {
      if (!K.isResource(U))
        continue;
      const std::vector<int32_t> &Any = !Compute.empty() ? Compute
                                        : !Loads.empty() ? Loads
                                                         : StoreData;
      if (Any.empty())
        continue;
      int32_t Best = Any.front();
      for (int32_t C : Any)
        if (std::popcount(To.Uops[C].Ports) < std::popcount(To.Uops[Best].Ports))
          Best = C;
      To.Uops[Best].Held = std::countr_zero(K.UopPorts[U]);
      To.Uops[Best].HeldCycles = K.UopCycles[U];
    }
  }

  static int32_t ownerOf(const std::vector<int32_t> &Of, size_t Number) {
    return Of.empty() ? -1 : Of[std::min(Number, Of.size() - 1)];
  }

  /// Whether a register result is what registers hold, passed on by the renamer, even if a µop goes
  /// with it: nothing is computed in no time.
  bool isPassedOn(int32_t V) const {
    if (K.InputStart[V] == K.InputStart[V + 1])
      return false;
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (K.InputKinds[In] != InputKind::Location || K.InputLatency[In] > 0)
        return false;
    return true;
  }

  void buildDataFlow(int32_t I) {
    std::vector<int32_t> Loaded, Stored, Computed;
    bool HasRegister = false;
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V) {
      if (K.valueKind(V) == ValueKind::Load)
        Loaded.push_back(V);
      else if (K.valueKind(V) == ValueKind::Store)
        Stored.push_back(V);
      else {
        HasRegister = true;
        if (!Compute.empty() && !isPassedOn(V))
          Computed.push_back(V);
        else
          follow(V);
      }
    }
    for (size_t N = 0; N < Loads.size(); ++N)
      if (int32_t V = ownerOf(Loaded, N); V >= 0)
        loadsValue(I, Loads[N], V);
    for (int32_t V : Loaded)
      if (Loads.empty())
        follow(V);
    for (size_t N = 0; N < StoreAddress.size(); ++N)
      if (int32_t V = ownerOf(Stored, N); V >= 0) {
        for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
          if (IsAddress[In])
            waitFor(StoreAddress[N], sourceOf(In), latencyOf(In));
        feed(StoreAddress[N], V, P.StoreAddressToLoad);
      }
    // By stored value: the hidden value that is computed for it, -1 for a register's content.
    std::map<int32_t, int32_t> DataOf;
    for (int32_t V : Stored) {
      bool FromLoad = false, Delayed = K.InputStart[V] == K.InputStart[V + 1];
      for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In) {
        FromLoad |= K.InputKinds[In] == InputKind::Value;
        Delayed |= !IsAddress[In] && K.InputLatency[In] > 0;
      }
      // In a store that also updates its address register, the computing µop is for that.
      DataOf[V] = !Compute.empty() && (FromLoad || (!HasRegister && Delayed)) ? newValue() : -1;
      // µops that do not delay the data go beside the store: they take them to the store queue.
      if (DataOf[V] < 0 && !HasRegister)
        for (int32_t U : Compute) {
          for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
            if (!IsAddress[In])
              waitFor(U, sourceOf(In), delayOf(In));
          feed(U, V, P.StoreDataToLoad);
        }
    }
    for (auto [V, Data] : DataOf)
      DataValue[V] = Data;
    compute(Computed, DataOf);
    // Where no µop takes the data to the store queue, they go there by themselves.
    if (StoreData.empty())
      for (int32_t V : Stored) {
        if (DataOf[V] >= 0)
          Followed[V].push_back({DataOf[V], 0, P.StoreDataToLoad});
        else
          for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
            if (Source S = sourceOf(In); !IsAddress[In] && S.Value >= 0)
              Followed[V].push_back({S.Value, S.Distance, latencyOf(In) + P.StoreDataToLoad});
      }
    for (size_t N = 0; N < StoreData.size(); ++N)
      if (int32_t V = ownerOf(Stored, N); V >= 0) {
        if (DataOf[V] >= 0)
          waitFor(StoreData[N], {DataOf[V], 0}, 0);
        else
          for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
            if (!IsAddress[In])
              waitFor(StoreData[N], sourceOf(In), latencyOf(In));
        feed(StoreData[N], V, P.StoreDataToLoad);
      }
  }

  void follow(int32_t V) {
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      if (Source S = sourceOf(In); S.Value >= 0)
        Followed[V].push_back({S.Value, S.Distance, latencyOf(In)});
  }

  void loadsValue(int32_t I, int32_t U, int32_t V) {
    int32_t Latency = longestLatency(K, I, V);
    for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
      waitFor(U, sourceOf(In), latencyOf(In) - Latency);
    if (!Renamed[V])
      feed(U, V, Latency);
    To.Uops[U].Crossings = CrossingsCost ? Lines.Expected[V] : 0;
  }

  /// Whether a computed result depends on an input: nothing is computed in no time, so a register
  /// at that distance was measured not to matter.
  bool isInput(int32_t In) const {
    return K.InputLatency[In] > 0 || K.InputKinds[In] == InputKind::Value;
  }

  /// Distributes the instruction's inputs over its computing µops. The inputs with the shortest way
  /// to the result belong to the last µop, those with longer ways to µops before it. Where there
  /// are more lengths than µops, the first µop takes all that is left and starts before those of
  /// its inputs that it needs later.
  void compute(const std::vector<int32_t> &Computed, const std::map<int32_t, int32_t> &DataOf) {
    if (Compute.empty())
      return;
    // The inputs of each value as (input, value fed).
    std::vector<std::pair<int32_t, int32_t>> Results;
    for (int32_t V : Computed)
      Results.emplace_back(V, V);
    for (auto [V, Data] : DataOf)
      if (Data >= 0)
        Results.emplace_back(V, Data);
    std::map<std::pair<InputKind, int32_t>, Operand> Operands;
    auto KeyOf = [&](int32_t In) { return std::pair(K.InputKinds[In], K.InputId[In]); };
    auto IsData = [&](int32_t V, int32_t In) {
      return K.valueKind(V) != ValueKind::Store || !IsAddress[In];
    };
    // By length, and for one length by how many results need the operand: what all need comes
    // first, so that no result waits for what only others need.
    std::vector<std::pair<int32_t, int32_t>> Classes;
    for (auto [V, Fed] : Results)
      for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
        if (IsData(V, In) && isInput(In)) {
          Operand &O = Operands[KeyOf(In)];
          O.From = sourceOf(In);
          O.Delay = delayOf(In);
          O.Longest = std::max(O.Longest, K.InputLatency[In]);
          ++O.Results;
        }
    for (auto &[Key, O] : Operands)
      Classes.emplace_back(O.Longest, O.Results);
    std::ranges::sort(Classes, std::greater());
    Classes.erase(std::unique(Classes.begin(), Classes.end()), Classes.end());
    // Beyond the number of classes, µops read what the first of the chain reads. They are younger,
    // so that they do not keep the result waiting for a port.
    size_t Chain = std::clamp<size_t>(Classes.size(), 1, Compute.size());
    std::vector<std::pair<int32_t, int32_t>> ClassOf(Chain, Classes.empty() ? std::pair(1, 0)
                                                                            : Classes.front());
    for (size_t N = 0; N + 1 < Chain; ++N)
      ClassOf[Chain - 1 - N] = Classes[Classes.size() - 1 - N];
    for (auto &[Key, O] : Operands) {
      size_t At = 0;
      for (size_t N = 0; N < Chain; ++N)
        if (ClassOf[N] >= std::pair(O.Longest, O.Results))
          At = N;
      O.Uop = static_cast<int32_t>(At);
      O.Early = ClassOf[At].first - O.Longest;
      waitFor(Compute[At], O.From, O.Delay - O.Early);
      if (At == 0)
        for (size_t N = Chain; N < Compute.size(); ++N)
          waitFor(Compute[N], O.From, O.Delay - O.Early);
    }
    for (size_t N = 0; N + 1 < Chain; ++N) {
      int32_t Lag = ClassOf[N].first - ClassOf[N + 1].first;
      if (Lag == 0)
        continue;
      int32_t Between = newValue();
      feed(Compute[N], Between, Lag);
      waitFor(Compute[N + 1], {Between, 0}, 0);
    }
    for (auto [V, Fed] : Results) {
      bool Any = false;
      for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In)
        if (IsData(V, In) && isInput(In)) {
          const Operand &O = Operands[KeyOf(In)];
          feed(Compute[O.Uop], Fed, K.InputLatency[In] + O.Early);
          Any = true;
        }
      if (!Any)
        feed(Compute[Chain - 1], Fed, 1);
    }
  }

  // --- issue slots and queue entries ------------------------------------------------------------

  using Groups = std::vector<std::vector<int32_t>>;

  /// Joins neighbours until `Wanted` are left: loads with what computes on them and addresses with
  /// data first, as micro-fusion does.
  template <typename Fn> static void join(Groups &G, size_t Wanted, Fn KindOf) {
    auto Fuse = [&](UopKind First, UopKind Second) {
      for (size_t N = 0; N + 1 < G.size() && G.size() > Wanted; ++N)
        if (!G[N].empty() && !G[N + 1].empty() && KindOf(G[N].back()) == First &&
            KindOf(G[N + 1].front()) == Second) {
          G[N].insert(G[N].end(), G[N + 1].begin(), G[N + 1].end());
          G.erase(G.begin() + static_cast<std::ptrdiff_t>(N) + 1);
        }
    };
    Fuse(UopKind::StoreAddress, UopKind::StoreData);
    Fuse(UopKind::Load, UopKind::Compute);
    Fuse(UopKind::Load, UopKind::Branch);
    // All that is too much comes to the last one that stays, in order.
    size_t Left = std::max<size_t>(Wanted, 1);
    for (size_t N = Left; N < G.size(); ++N)
      G[Left - 1].insert(G[Left - 1].end(), G[N].begin(), G[N].end());
    if (G.size() > Left)
      G.resize(Left);
  }

  void buildEntries(int32_t I) {
    Plan.Entries.Begin = Plan.Entries.End = To.numEntries();
    // No µop is issued without a slot.
    bool AnyUop = !Loads.empty() || !Compute.empty() || !StoreAddress.empty() || !StoreData.empty();
    int32_t Wanted = std::max<int32_t>(K.IssueSlots[I], AnyUop);
    if (Wanted > 0) {
      Groups InSlot;
      for (int32_t U : Loads)
        InSlot.push_back({U});
      for (int32_t U : Compute)
        InSlot.push_back({U});
      for (size_t N = 0; N < std::max(StoreAddress.size(), StoreData.size()); ++N) {
        if (N < StoreAddress.size())
          InSlot.push_back({StoreAddress[N]});
        if (N < StoreData.size())
          InSlot.push_back({StoreData[N]});
      }
      join(InSlot, static_cast<size_t>(Wanted), [&](int32_t U) { return To.Uops[U].Kind; });
      InSlot.resize(std::max(InSlot.size(), static_cast<size_t>(Wanted)));
      int32_t FirstSlot = static_cast<int32_t>(To.Slots.size());
      Groups InEntry;
      for (const std::vector<int32_t> &Group : InSlot) {
        int32_t Begin = static_cast<int32_t>(To.SlotUops.size());
        To.SlotUops.insert(To.SlotUops.end(), Group.begin(), Group.end());
        InEntry.push_back({static_cast<int32_t>(To.Slots.size())});
        To.Slots.push_back({Begin, static_cast<int32_t>(To.SlotUops.size())});
      }
      int32_t Queued = std::clamp(P.UopsMite[I] + P.UopsMs[I], 1, Wanted);
      join(InEntry, static_cast<size_t>(Queued), [&](int32_t Slot) {
        const std::vector<int32_t> &Group = InSlot[static_cast<size_t>(Slot - FirstSlot)];
        return Group.empty() ? UopKind::Branch : To.Uops[Group.front()].Kind;
      });
      for (const std::vector<int32_t> &Group : InEntry) {
        Entry E;
        E.Instruction = I;
        E.Slots = {Group.front(), Group.back() + 1};
        E.First = To.numEntries() == Plan.Entries.Begin;
        To.Entries.push_back(E);
      }
      Plan.Entries.End = To.numEntries();
      Plan.Mite =
          P.UopsMs[I] > 0 ? std::min(P.UopsMite[I], Plan.Entries.size()) : Plan.Entries.size();
    }
  }

  void buildMove(int32_t I) {
    if (P.MoveClasses[I] == MoveClass::None || P.MovePorts[I] == 0)
      return;
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
      if (K.valueKind(V) == ValueKind::Register && !Followed[V].empty()) {
        int32_t U = newUop(I, -1, P.MovePorts[I], UopKind::Compute);
        for (const Input &In : Followed[V])
          UopInputs[U].push_back(In);
        UopFeeds[U].push_back({V, std::max(1, P.MoveLatency[I])});
        Plan.Move = {U, V};
        return;
      }
  }

  /// Values of instructions without an entry (not in the model) go on with the one before.
  void assignEntered() {
    int32_t Next = 0;
    for (size_t E = 0; E < To.Entries.size(); ++E) {
      if (!To.Entries[E].First)
        continue;
      size_t After = E + 1;
      while (After < To.Entries.size() && !To.Entries[After].First)
        ++After;
      int32_t End = After < To.Entries.size() ? To.Entries[After].Instruction : K.numInstructions();
      To.Entries[E].Entered = {Next, End};
      Next = End;
    }
  }

  void addRenamerUops() {
    if (P.RenamerPorts != 0)
      To.SyncUop = newUop(0, -1, P.RenamerPorts, UopKind::Compute);
  }

  void flatten() {
    for (size_t U = 0; U < To.Uops.size(); ++U) {
      To.Uops[U].Inputs.Begin = static_cast<int32_t>(To.Inputs.size());
      To.Inputs.insert(To.Inputs.end(), UopInputs[U].begin(), UopInputs[U].end());
      To.Uops[U].Inputs.End = static_cast<int32_t>(To.Inputs.size());
      To.Uops[U].Feeds.Begin = static_cast<int32_t>(To.Feeds.size());
      To.Feeds.insert(To.Feeds.end(), UopFeeds[U].begin(), UopFeeds[U].end());
      To.Uops[U].Feeds.End = static_cast<int32_t>(To.Feeds.size());
      To.Uops[U].Done = std::max(To.Uops[U].Done, P.LeastCycles[To.Uops[U].Instruction]);
      // A store is done with when address and data are on their way.
      if (To.Uops[U].Kind != UopKind::StoreAddress && To.Uops[U].Kind != UopKind::StoreData)
        for (const Feed &F : UopFeeds[U])
          To.Uops[U].Done = std::max(To.Uops[U].Done, F.Latency);
    }
    for (size_t V = 0; V < To.Values.size(); ++V) {
      To.Values[V].Inputs.Begin = static_cast<int32_t>(To.Inputs.size());
      To.Inputs.insert(To.Inputs.end(), Followed[V].begin(), Followed[V].end());
      To.Values[V].Inputs.End = static_cast<int32_t>(To.Inputs.size());
    }
  }

  /// In an in-order pipeline an instruction goes through its stages without a stop: addresses are
  /// computed in the first one, arithmetic is done behind the cache, and what needs a result of
  /// the same instruction comes when that is there.
  void assignStages() {
    for (Uop &U : To.Uops) {
      int32_t Slowest = 0;
      for (int32_t N = U.Feeds.Begin; N < U.Feeds.End; ++N)
        Slowest = std::max(Slowest, To.Feeds[N].Latency);
      bool First = U.Kind == UopKind::Load || U.Kind == UopKind::StoreAddress ||
                   (P.AddressUnit[U.Instruction] && Slowest > P.AddressToExecute);
      U.Stage = First ? 0 : P.AddressToExecute;
    }
    std::vector<int32_t> Owner(To.Values.size(), -1);
    for (int32_t I = 0; I < K.numInstructions(); ++I) {
      std::fill(Owner.begin() + K.ValueStart[I], Owner.begin() + K.ValueStart[I + 1], I);
      std::fill(Owner.begin() + To.HiddenValues[I].Begin, Owner.begin() + To.HiddenValues[I].End,
                I);
    }
    // What passes between the µops of an instruction has a few steps at most.
    std::vector<int32_t> Time(To.Values.size(), 0);
    for (bool Changed = true; Changed;) {
      Changed = false;
      auto Raise = [&](int32_t &What, int32_t To) {
        Changed |= To > What;
        What = std::max(What, To);
      };
      for (size_t V = 0; V < To.Values.size(); ++V)
        for (int32_t N = To.Values[V].Inputs.Begin; N < To.Values[V].Inputs.End; ++N)
          if (const Input &In = To.Inputs[N]; In.Distance == 0 && Owner[In.Value] == Owner[V])
            Raise(Time[V], Time[In.Value] + In.Latency);
      for (Uop &U : To.Uops) {
        for (int32_t N = U.Inputs.Begin; N < U.Inputs.End; ++N)
          if (const Input &In = To.Inputs[N]; In.Distance == 0 && Owner[In.Value] == U.Instruction)
            Raise(U.Stage, Time[In.Value] + In.Latency);
        for (int32_t N = U.Feeds.Begin; N < U.Feeds.End; ++N)
          Raise(Time[To.Feeds[N].Value], U.Stage + To.Feeds[N].Latency);
      }
    }
  }

  Program &To;
  InstructionPlan Plan; ///< Of the current instruction.
  int32_t Current = 0;
  const Kernel &K;
  const Pipeline &P;
  std::vector<bool> IsAddress;
  const LineCrossings &Lines;
  const AccessAddresses &LoadsAt, &Stores;
  bool CrossingsCost = false;     ///< Loads that cross a line take longer.
  bool MovesStack = false;        ///< Something in the kernel uses the stack engine.
  std::vector<bool> Renamed;      ///< Loads that get their data from the renamer.
  std::vector<int32_t> DataValue; ///< By stored value: what is computed for it, -1 for a register.
  std::vector<int32_t> Loads, Compute, StoreAddress, StoreData; ///< Of the current instruction.
  std::vector<std::vector<Input>> UopInputs, Followed;
  std::vector<std::vector<Feed>> UopFeeds;
};

} // namespace

Program::Program(const Kernel &K, const Pipeline &P, Groundwork From, const Assumptions &Assume)
    : K(K), P(P), Flow(std::move(From.Flow)) {
  if (Assume.NoRegisterDependencies)
    Flow.SourceOf.assign(Flow.SourceOf.size(), {});
  if (Assume.NoMemoryDependencies)
    Flow.Memory.clear();
  Builder(*this, From.Lines, From.Loads, From.Stores).build();
}

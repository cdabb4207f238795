//===- memory.cpp - Symbolic addresses and store-to-load dependencies -----===//
//
// To find the store that a load reads from, this file follows the registers
// that addresses are computed from symbolically through a number of iterations.
// Each holds a linear combination of symbols, which stand for unknown values,
// plus a constant. Values are computed modulo 2^64, as the machine does. Two
// addresses with the same linear part differ by a known number of bytes, which
// is all that is needed.
//
// Loaded registers are followed, too: through the store that the load reads, or
// through an earlier load of the same bytes. The addresses of unoptimised code,
// which keeps its pointers on the stack, can therefore be followed.
//
//===----------------------------------------------------------------------===//

#include "incc/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

using namespace incc;

namespace {

/// The largest distance in iterations at which dependencies are searched.
constexpr int32_t MaxDistance = 64;
/// The first iterations, which may behave differently until values kept in memory have been stored.
constexpr int32_t WarmUp = 2;
/// The most dynamic instructions that are simulated, so that the time for long kernels stays
/// proportional to their length.
constexpr int64_t MaxInstructions = 100'000;
constexpr int32_t MinIterations = 4;
/// The number of bytes of an access that are tracked. Only instructions that save state access
/// more.
constexpr int32_t MaxBytes = 4096;
/// The most parts that are grouped into objects, since every pair of parts is compared.
constexpr size_t MaxParts = 32;
/// The instructions from a store to a load within which the store cannot have retired when the load
/// could start, for a core whose reorder buffer is not known.
constexpr int64_t SmallestWindow = 32;
/// The most symbols of a linear combination. Comparing longer ones as addresses is not worthwhile.
constexpr size_t MaxTerms = 8;

uint64_t mix(uint64_t Hash, uint64_t Value) {
  Hash = (Hash ^ Value) * 0x9E3779B97F4A7C15ull;
  return Hash ^ (Hash >> 29);
}

/// A symbolic value: a linear part (0: none) plus a constant. Linear parts are interned, so that
/// equal combinations have equal numbers.
struct Linear {
  uint32_t Part = 0;
  uint64_t Constant = 0;
  bool operator==(const Linear &) const = default;
};

/// The symbols in use and their linear combinations.
class LinearParts {
public:
  Linear freshSymbol() { return {++LastSymbol, 0}; }

  /// Returns Value + Coefficient * Addend, or a fresh symbol if a factor or the constant overflows
  /// a signed 64-bit integer. Modulo 2^64 the result would be right, but an index that doubles in
  /// each iteration would become 2^64 = 0 times its first value and stay there.
  Linear add(Linear Value, Linear Addend, uint64_t Coefficient) {
    if (!addProduct(Value.Constant, Coefficient, Addend.Constant))
      return freshSymbol();
    if (Addend.Part == 0 || Coefficient == 0)
      return Value;
    if (Value.Part == 0 && Coefficient == 1)
      return {Addend.Part, Value.Constant};
    Terms Sum = termsOf(Value.Part);
    for (auto [Symbol, Factor] : termsOf(Addend.Part)) {
      auto Place = std::ranges::lower_bound(Sum, Symbol, {}, &Term::first);
      if (Place == Sum.end() || Place->first != Symbol)
        Place = Sum.insert(Place, {Symbol, 0});
      if (!addProduct(Place->second, Coefficient, Factor))
        return freshSymbol();
      if (Place->second == 0)
        Sum.erase(Place);
    }
    if (Sum.size() > MaxTerms)
      return freshSymbol();
    return {intern(std::move(Sum)), Value.Constant};
  }

  /// Returns true if two parts differ by an offset only. An address contains one pointer, so the
  /// difference of addresses in different objects has a symbol with factor 1 and one with factor
  /// -1.
  bool differByOffset(uint32_t A, uint32_t B) {
    Terms Difference = termsOf(add({A, 0}, {B, 0}, ~uint64_t(0)).Part);
    auto Has = [&](uint64_t Factor) {
      return std::ranges::find(Difference, Factor, &Term::second) != Difference.end();
    };
    // Parts without a common symbol share no pointer.
    return Difference.size() < termsOf(A).size() + termsOf(B).size() &&
           !(Has(1) && Has(~uint64_t(0)));
  }

private:
  using Term = std::pair<uint32_t, uint64_t>; // symbol, factor
  using Terms = std::vector<Term>;            // sorted by symbol, no factor 0
  struct TermsHash {
    size_t operator()(const Terms &T) const {
      uint64_t Hash = T.size();
      for (auto [Symbol, Factor] : T)
        Hash = mix(mix(Hash, Symbol), Factor);
      return Hash;
    }
  };

  /// Adds A * B to a sum. Returns false if the product or the sum overflows a signed 64-bit
  /// integer.
  static bool addProduct(uint64_t &Sum, uint64_t A, uint64_t B) {
    int64_t Product, NewSum;
    if (__builtin_mul_overflow(static_cast<int64_t>(A), static_cast<int64_t>(B), &Product) ||
        __builtin_add_overflow(static_cast<int64_t>(Sum), Product, &NewSum))
      return false;
    Sum = static_cast<uint64_t>(NewSum);
    return true;
  }

  /// The first number of a combination. Smaller numbers are symbols.
  static constexpr uint32_t FirstCombination = 1u << 31;

  Terms termsOf(uint32_t Part) const {
    if (Part == 0)
      return {};
    if (Part < FirstCombination)
      return {{Part, 1}};
    return *Combinations[Part - FirstCombination];
  }

  uint32_t intern(Terms T) {
    if (T.empty())
      return 0;
    if (T.size() == 1 && T[0].second == 1)
      return T[0].first;
    auto [Place, IsNew] = NumberOf.try_emplace(
        std::move(T), FirstCombination + static_cast<uint32_t>(Combinations.size()));
    if (IsNew)
      Combinations.push_back(&Place->first);
    return Place->second;
  }

  uint32_t LastSymbol = 0;
  std::unordered_map<Terms, uint32_t, TermsHash> NumberOf;
  std::vector<const Terms *> Combinations;
};

/// The store that wrote each byte last, by symbolic address.
class WrittenBytes {
public:
  WrittenBytes() : Slots(1024) {}

  void write(Linear Address, int32_t Bytes, int32_t Store) {
    forEachWord(Address, Bytes, [&](uint64_t Word, unsigned First, unsigned End) {
      Slot &S = insert(Address.Part, Word);
      std::fill(S.Store.begin() + First, S.Store.begin() + End, Store);
    });
  }

  /// Returns the latest store to any of the bytes, -1 for none.
  int32_t latest(Linear Address, int32_t Bytes) const {
    int32_t Latest = -1;
    forEachWord(Address, Bytes, [&](uint64_t Word, unsigned First, unsigned End) {
      const Slot &S = Slots[find(Address.Part, Word)];
      if (S.Used)
        for (unsigned B = First; B < End; ++B)
          Latest = std::max(Latest, S.Store[B]);
    });
    return Latest;
  }

private:
  /// The writers of eight aligned bytes, an entry of an open-addressing hash table.
  struct Slot {
    uint64_t Word;
    uint32_t Part;
    bool Used = false;
    std::array<int32_t, 8> Store;
  };

  template <typename Fn> static void forEachWord(Linear Address, int32_t Bytes, Fn F) {
    uint64_t Byte = Address.Constant;
    for (int32_t Left = Bytes; Left > 0;) {
      unsigned First = Byte & 7;
      unsigned Count = std::min<unsigned>(8 - First, static_cast<unsigned>(Left));
      F(Byte >> 3, First, First + Count);
      Byte += Count;
      Left -= static_cast<int32_t>(Count);
    }
  }

  /// Returns the index of the slot of a word, or of the free slot for it.
  size_t find(uint32_t Part, uint64_t Word) const {
    size_t Mask = Slots.size() - 1;
    size_t Index = mix(mix(0, Part), Word) & Mask;
    while (Slots[Index].Used && (Slots[Index].Part != Part || Slots[Index].Word != Word))
      Index = (Index + 1) & Mask;
    return Index;
  }

  Slot &insert(uint32_t Part, uint64_t Word) {
    size_t Index = find(Part, Word);
    if (Slots[Index].Used)
      return Slots[Index];
    if (2 * ++Count > Slots.size()) {
      std::vector<Slot> Old(2 * Slots.size());
      Old.swap(Slots);
      for (const Slot &S : Old)
        if (S.Used)
          Slots[find(S.Part, S.Word)] = S;
      Index = find(Part, Word);
    }
    Slot &S = Slots[Index];
    S.Word = Word;
    S.Part = Part;
    S.Used = true;
    S.Store.fill(-1);
    return S;
  }

  std::vector<Slot> Slots;
  size_t Count = 0;
};

/// The effects of an instruction that have to be followed, computed once for all iterations.
struct Step {
  struct Load {
    int32_t Value, Operand, Bytes;
    std::vector<int32_t> Targets; ///< Locations that get the loaded bits unchanged.
    bool IsUpdated = false;       ///< The instruction stores the value again after adding to it.
  };
  struct Store {
    int32_t Value, Operand, Bytes;
    int32_t Data;   ///< Location of the stored data, -1: unknown.
    int32_t Update; ///< Affine entry that computes the data from the loaded value, -1 for none.
  };
  std::vector<Load> Loads;
  std::vector<Store> Stores;
  std::vector<int32_t> Affine; ///< Affine entries that compute locations.
  std::vector<int32_t> Fresh;  ///< Locations that get an unknown value.
};

int32_t bytesOf(const Kernel &K, int32_t Operand) {
  return std::clamp(K.MemorySize[Operand], 1, MaxBytes);
}

/// Returns the operand of a load or store whose address is a scalar, else -1.
int32_t scalarOperand(const Kernel &K, int32_t Value) {
  int32_t Operand = K.MemoryOfValue[Value];
  return Operand >= 0 && K.MemoryElements[Operand] <= 1 ? Operand : -1;
}

/// Returns the location whose content a store writes to memory, -1 if that is not one register.
int32_t storedLocation(const Kernel &K, int32_t Value, const std::vector<bool> &IsAddress) {
  int32_t Data = -1;
  for (int32_t In = K.InputStart[Value]; In < K.InputStart[Value + 1]; ++In) {
    if (IsAddress[In])
      continue;
    if (Data >= 0 || K.InputKinds[In] == InputKind::Value)
      return -1;
    Data = K.InputId[In];
  }
  return Data;
}

/// Returns the load of the same instruction that a value copies, perhaps to a register; -1 if there
/// is none.
int32_t movedLoad(const Kernel &K, int32_t Value) {
  if (K.valueKind(Value) == ValueKind::Load)
    return Value;
  int32_t In = K.InputStart[Value];
  bool IsMoved = K.valueKind(Value) == ValueKind::Register && K.InputStart[Value + 1] == In + 1 &&
                 K.InputKinds[In] == InputKind::Value && K.InputLatency[In] == 0;
  return IsMoved ? K.InputId[In] : -1;
}

/// Follows the addresses of a kernel.
class AddressSimulation {
public:
  explicit AddressSimulation(const Kernel &K) : K(K), IsAddress(findAddressInputs(K)) {
    findFollowed();
    for (int32_t I = 0; I < K.numInstructions(); ++I)
      Steps.push_back(planStep(I));
    for (int32_t L = 0; L < K.NumLocations; ++L)
      State.push_back(Parts.freshSymbol());
    std::unordered_map<int32_t, Linear> Unknowns;
    for (size_t E = 0; E < K.EntryLocation.size(); ++E) {
      Linear Value{0, static_cast<uint64_t>(K.EntryConstant[E])};
      for (int32_t T = K.EntryTermStart[E]; T < K.EntryTermStart[E + 1]; ++T)
        Value = Parts.add(Value, symbolFor(Unknowns, K.EntryTermUnknown[T]),
                          static_cast<uint64_t>(K.EntryTermCoefficient[T]));
      State[K.EntryLocation[E]] = Value;
    }
  }

  /// Simulates the iterations. Addresses are recorded from the end of the warm-up on, for as many
  /// iterations as a power of two allows. Dependencies are those of the last iteration.
  MemoryAccesses run(bool Dependencies, bool Loads, bool Stores) {
    MemoryAccesses Accesses;
    int32_t Last = simulatedIterations(K) - 1;
    auto Steady = static_cast<uint64_t>(std::max(1, Last + 1 - WarmUp));
    auto Recorded = static_cast<int32_t>(std::bit_floor(Steady));
    int32_t End = Dependencies ? Last + 1 : WarmUp + Recorded;
    for (int32_t Iteration = 0; Iteration < End; ++Iteration) {
      bool Records = Iteration >= WarmUp && Iteration < WarmUp + Recorded;
      LoadTrace = Loads && Records ? &Accesses.Loads.Accesses : nullptr;
      StoreTrace = Stores && Records ? &Accesses.Stores.Accesses : nullptr;
      for (const Step &S : Steps)
        simulate(S, Iteration, Dependencies && Iteration == Last);
    }
    for (auto [IsRequested, Addresses] :
         {std::pair(Loads, &Accesses.Loads), {Stores, &Accesses.Stores}})
      if (IsRequested) {
        Addresses->Iterations = Recorded;
        findObjects(*Addresses);
      }
    if (Dependencies)
      addAssumed();
    addWaitsForRetirement();
    Accesses.Dependencies = std::move(Dependent);
    return Accesses;
  }

private:
  /// A simulated store.
  struct StoreInstance {
    int32_t Value, Iteration, Bytes;
    Linear Address, Data;
  };
  /// The bytes of a load.
  struct LoadKey {
    Linear Address;
    int32_t Bytes;
    bool operator==(const LoadKey &) const = default;
  };
  struct LoadKeyHash {
    size_t operator()(const LoadKey &Key) const {
      return mix(mix(Key.Address.Part, Key.Address.Constant), static_cast<uint64_t>(Key.Bytes));
    }
  };
  /// The value of bytes that were loaded but not stored, valid while the latest store to any of
  /// them stays the same.
  struct LoadedData {
    int32_t LatestStore;
    Linear Data;
  };

  /// Groups the parts of addresses that differ by offsets into objects.
  void findObjects(AccessAddresses &Addresses) {
    std::vector<uint32_t> AllParts;
    for (const AccessAddress &A : Addresses.Accesses)
      if (Addresses.ObjectOf.try_emplace(A.Part, static_cast<int32_t>(AllParts.size())).second)
        AllParts.push_back(A.Part);
    if (AllParts.size() > MaxParts)
      return;
    for (size_t A = 0; A < AllParts.size(); ++A)
      for (size_t B = 0; B < A; ++B)
        if (int32_t From = Addresses.ObjectOf[AllParts[A]], To = Addresses.ObjectOf[AllParts[B]];
            From != To && Parts.differByOffset(AllParts[A], AllParts[B]))
          for (auto &[Part, Object] : Addresses.ObjectOf)
            if (Object == From)
              Object = To;
  }

  /// Finds the locations that matter for addresses: base and index registers, the locations that
  /// these are computed from and, if one of them is loaded, all locations that are stored.
  void findFollowed() {
    Followed.assign(static_cast<size_t>(K.NumLocations), false);
    for (int32_t V = 0; V < K.numValues(); ++V)
      if (int32_t M = scalarOperand(K, V); M >= 0)
        for (int32_t Location : {K.MemoryBase[M], K.MemoryIndex[M]})
          if (Location >= 0)
            Followed[Location] = true;
    for (bool Changed = true; Changed;) {
      Changed = false;
      auto Follow = [&](int32_t Location) {
        Changed |= !Followed[Location];
        Followed[Location] = true;
      };
      bool Loads = false;
      for (int32_t A = 0; A < static_cast<int32_t>(K.AffineTarget.size()); ++A)
        if (K.AffineTarget[A] < 0 || Followed[K.AffineTarget[A]])
          for (int32_t T = K.AffineTermStart[A]; T < K.AffineTermStart[A + 1]; ++T)
            Follow(K.AffineTermLocation[T]);
      for (int32_t V = 0; V < K.numValues(); ++V)
        if (movedLoad(K, V) >= 0)
          for (int32_t Out = K.OutputStart[V]; Out < K.OutputStart[V + 1]; ++Out)
            Loads |= Followed[K.OutputLocation[Out]];
      if (Loads)
        for (int32_t V = 0; V < K.numValues(); ++V)
          if (int32_t M = scalarOperand(K, V); K.valueKind(V) == ValueKind::Store && M >= 0)
            if (int32_t Data = storedLocation(K, V, IsAddress); Data >= 0)
              Follow(Data);
    }
  }

  /// Computes the effects of an instruction.
  Step planStep(int32_t I) const {
    Step S;
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V) {
      int32_t M = scalarOperand(K, V);
      if (M >= 0 && K.valueKind(V) == ValueKind::Load)
        S.Loads.push_back({V, M, bytesOf(K, M), {}, false});
      if (M >= 0 && K.valueKind(V) == ValueKind::Store)
        S.Stores.push_back({V, M, bytesOf(K, M), storedLocation(K, V, IsAddress), -1});
    }
    for (int32_t A = K.AffineStart[I]; A < K.AffineStart[I + 1]; ++A) {
      if (K.AffineTarget[A] >= 0) {
        if (Followed[K.AffineTarget[A]])
          S.Affine.push_back(A);
      } else if (S.Loads.size() == 1 && S.Stores.size() == 1 && isAddressSize(S.Loads[0].Operand)) {
        S.Loads[0].IsUpdated = true;
        S.Stores[0].Update = A;
      }
    }
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V) {
      auto Load = std::ranges::find(S.Loads, movedLoad(K, V), &Step::Load::Value);
      bool IsUnchanged = Load != S.Loads.end() && isAddressSize(Load->Operand);
      for (int32_t Out = K.OutputStart[V]; Out < K.OutputStart[V + 1]; ++Out)
        if (int32_t Location = K.OutputLocation[Out]; Followed[Location])
          (IsUnchanged ? Load->Targets : S.Fresh).push_back(Location);
    }
    return S;
  }

  /// Returns true if an operand can hold an address. Loaded bytes and words are merged or
  /// truncated, and wider operands do not fit into a register.
  bool isAddressSize(int32_t Operand) const {
    return K.MemorySize[Operand] == 4 || K.MemorySize[Operand] == 8;
  }

  /// Returns the symbol that stands for a number, a fresh one at its first use.
  Linear symbolFor(std::unordered_map<int32_t, Linear> &Symbols, int32_t Number) {
    auto [Place, IsNew] = Symbols.try_emplace(Number);
    if (IsNew)
      Place->second = Parts.freshSymbol();
    return Place->second;
  }

  Linear addressOf(int32_t Operand) {
    Linear Address{0, static_cast<uint64_t>(K.MemoryDisplacement[Operand])};
    if (K.MemoryBase[Operand] >= 0)
      Address = Parts.add(Address, State[K.MemoryBase[Operand]], 1);
    if (K.MemoryIndex[Operand] >= 0)
      Address = Parts.add(Address, State[K.MemoryIndex[Operand]],
                          static_cast<uint64_t>(int64_t(K.MemoryScale[Operand])));
    if (K.MemorySymbol[Operand] >= 0)
      Address = Parts.add(Address, symbolFor(SymbolAddresses, K.MemorySymbol[Operand]), 1);
    return Address;
  }

  /// Simulates an instruction. All results are computed from the registers before the instruction
  /// and then written.
  void simulate(const Step &S, int32_t Iteration, bool Last) {
    Writes.clear();
    for (int32_t Location : S.Fresh)
      Writes.emplace_back(Location, Parts.freshSymbol());
    Linear Loaded;
    for (const Step::Load &L : S.Loads)
      if (Last || LoadTrace || L.IsUpdated || !L.Targets.empty())
        Loaded = simulateLoad(L, Iteration, Last);
    for (int32_t A : S.Affine)
      Writes.emplace_back(K.AffineTarget[A], evaluate(A, Linear()));
    for (const Step::Store &St : S.Stores) {
      Linear Address = addressOf(St.Operand);
      Linear Data = St.Update >= 0                      ? evaluate(St.Update, Loaded)
                    : St.Data >= 0 && Followed[St.Data] ? State[St.Data]
                                                        : Parts.freshSymbol();
      if (StoreTrace && K.MemorySize[St.Operand] > 0)
        StoreTrace->push_back({St.Value, St.Bytes, Address.Part, Address.Constant});
      Written.write(Address, St.Bytes, static_cast<int32_t>(Stores.size()));
      Stores.push_back({St.Value, Iteration, St.Bytes, Address, Data});
    }
    for (auto [Location, Value] : Writes)
      State[Location] = Value;
  }

  /// Returns a value plus the terms and the constant of an affine entry.
  Linear evaluate(int32_t A, Linear Value) {
    Value.Constant += static_cast<uint64_t>(K.AffineConstant[A]);
    for (int32_t T = K.AffineTermStart[A]; T < K.AffineTermStart[A + 1]; ++T)
      Value = Parts.add(Value, State[K.AffineTermLocation[T]],
                        static_cast<uint64_t>(K.AffineTermCoefficient[T]));
    return Value;
  }

  /// Simulates a load. Returns the loaded value if it is followed.
  Linear simulateLoad(const Step::Load &L, int32_t Iteration, bool Last) {
    Linear Address = addressOf(L.Operand);
    if (LoadTrace && K.MemorySize[L.Operand] > 0)
      LoadTrace->push_back({L.Value, L.Bytes, Address.Part, Address.Constant});
    if (!Last && !L.IsUpdated && L.Targets.empty())
      return {};
    int32_t Latest = Written.latest(Address, L.Bytes);
    if (Last && Latest >= 0) {
      const StoreInstance &St = Stores[Latest];
      bool IsWhole = St.Address.Part == Address.Part && St.Address.Constant <= Address.Constant &&
                     Address.Constant + static_cast<uint64_t>(L.Bytes) <=
                         St.Address.Constant + static_cast<uint64_t>(St.Bytes);
      addDependency(St.Value, L.Value, Iteration - St.Iteration, IsWhole,
                    !IsWhole && isMerged(Address, L, St, Iteration));
    }
    if (L.Targets.empty() && !L.IsUpdated)
      return {};
    Linear Data;
    if (Latest >= 0 && Stores[Latest].Address == Address && Stores[Latest].Bytes == L.Bytes) {
      Data = Stores[Latest].Data;
    } else {
      auto [Place, IsNew] = LoadedBefore.try_emplace({Address, L.Bytes});
      if (IsNew || Place->second.LatestStore != Latest)
        Place->second = {Latest, Parts.freshSymbol()};
      Data = Place->second.Data;
    }
    for (int32_t Location : L.Targets)
      Writes.emplace_back(Location, Data);
    return Data;
  }

  /// Adds the dependency of a load on a store. With `IsWhole`, the store wrote all bytes that are
  /// loaded. With `IsMerged`, the core merges the other bytes.
  void addDependency(int32_t Store, int32_t Load, int32_t Distance, bool IsWhole, bool IsMerged) {
    int32_t Class = classOf(Store, Load);
    if (IsWhole || !isInFlight(Store, Load, Distance)) {
      Dependent.push_back({Store, Load, Distance, forwardLatency(Class)});
      return;
    }
    int32_t Latency = forwardLatency(std::max(Class, 0)) + K.BlockedForwardCycles;
    Dependent.push_back({Store, Load, Distance, Latency});
    if (!IsMerged)
      Blocked.push_back(Dependent.back());
  }

  /// Returns true if the core merges a narrow store into a load (Kernel::MergesNarrowStore): the
  /// load begins where the store does, and no other store in flight wrote to its bytes.
  bool isMerged(Linear Address, const Step::Load &L, const StoreInstance &St, int32_t Iteration) {
    if (K.MergesNarrowStore == 0 || St.Address != Address)
      return false;
    Address.Constant += static_cast<uint64_t>(St.Bytes);
    int32_t Other = Written.latest(Address, L.Bytes - St.Bytes);
    return Other < 0 ||
           !isInFlight(Stores[Other].Value, L.Value, Iteration - Stores[Other].Iteration);
  }

  /// Returns true if the store may still be on its way to the cache when the load starts, and the
  /// bytes of both are known. A store that precedes the load by more instructions than the reorder
  /// buffer holds has retired before the load is issued.
  bool isInFlight(int32_t Store, int32_t Load, int32_t Distance) const {
    for (int32_t V : {Store, Load})
      if (int32_t M = K.MemoryOfValue[V]; K.MemorySize[M] <= 0 || K.MemoryPartial[M] != 0)
        return false;
    auto InstructionOf = [&](int32_t V) {
      return std::ranges::upper_bound(K.ValueStart, V) - K.ValueStart.begin();
    };
    int64_t Between =
        int64_t(Distance) * K.numInstructions() + InstructionOf(Load) - InstructionOf(Store);
    return K.BlockedForwardCycles > 0 && Between <= (K.Rob > 0 ? K.Rob : SmallestWindow);
  }

  /// Adds dependencies between blocked loads. A store reaches the cache after its retirement, hence
  /// after all loads before it have their data. A load that waits for a store to be in the cache
  /// therefore waits for the blocked loads before that store, even if the stored data do not depend
  /// on them. In measurements, such a loop takes 15 to 21 cycles for each of the loads.
  void addWaitsForRetirement() {
    for (const MemoryDependency &M : Blocked) {
      int32_t LastBefore = -1, LastBehind = -1; // Relative to the store, in program order.
      for (const MemoryDependency &Other : Blocked) {
        int32_t &Last = Other.Load < M.Store ? LastBefore : LastBehind;
        Last = std::max(Last, Other.Load);
      }
      if (LastBefore >= 0)
        Dependent.push_back({LastBefore, M.Load, M.Distance, M.Latency});
      else
        Dependent.push_back({LastBehind, M.Load, M.Distance + 1, M.Latency});
    }
  }

  /// Adds the dependencies that the kernel assumes.
  void addAssumed() {
    for (size_t N = 0; N < K.AssumedLoad.size(); ++N) {
      int32_t Store = K.AssumedStore[N], Load = K.AssumedLoad[N];
      int32_t From = scalarOperand(K, Store), To = scalarOperand(K, Load);
      if (From < 0 || To < 0)
        continue;
      // The renamer cannot forward the value if it does not know that the addresses are equal.
      bool IsForeseen = K.RenamesRepeated != 0 && K.AssumedDistance[N] <= 1;
      if (int32_t Latency = forwardLatency(K.MemoryClass[To]); !IsForeseen && Latency == 0 &&
                                                               K.MemoryClass[To] < 0 &&
                                                               bytesOf(K, To) <= bytesOf(K, From))
        Dependent.push_back({Store, Load, K.AssumedDistance[N], forwardLatency(0)});
      else
        addDependency(Store, Load, K.AssumedDistance[N], bytesOf(K, To) <= bytesOf(K, From), false);
    }
  }

  /// Returns the class of a value that passes from a store to a load. The renamer forwards it if
  /// both allow that.
  int32_t classOf(int32_t Store, int32_t Load) const {
    int32_t Class = K.MemoryClass[K.MemoryOfValue[Load]];
    return K.MemoryClass[K.MemoryOfValue[Store]] < 0 ? Class : std::max(Class, 0);
  }

  /// Returns the forwarding latency of a class, or of the widest narrower class if it has none.
  int32_t forwardLatency(int32_t Class) const {
    int32_t Best = -1;
    for (size_t I = 0; I < K.ForwardClass.size(); ++I)
      if (K.ForwardClass[I] <= Class && (Best < 0 || K.ForwardClass[I] > K.ForwardClass[Best]))
        Best = static_cast<int32_t>(I);
    return Best < 0 ? 0 : K.ForwardCycles[Best];
  }

  const Kernel &K;
  std::vector<bool> IsAddress;
  std::vector<bool> Followed; ///< By location: it matters for addresses.
  std::vector<Step> Steps;    ///< By instruction.
  LinearParts Parts;
  std::vector<Linear> State;                           ///< By location.
  std::unordered_map<int32_t, Linear> SymbolAddresses; ///< By number of the symbol.
  WrittenBytes Written;
  std::vector<StoreInstance> Stores; ///< All simulated stores, in order.
  std::unordered_map<LoadKey, LoadedData, LoadKeyHash> LoadedBefore;
  std::vector<std::pair<int32_t, Linear>> Writes; ///< The current instruction's, by location.
  std::vector<MemoryDependency> Dependent;        ///< The dependencies,
  std::vector<MemoryDependency> Blocked;          ///< and those of loads that wait for the cache.
  std::vector<AccessAddress> *LoadTrace = nullptr,
                             *StoreTrace = nullptr; ///< The lists to record to.
};

} // namespace

int32_t incc::simulatedIterations(const Kernel &K) {
  int64_t Affordable = MaxInstructions / std::max(1, K.numInstructions());
  return static_cast<int32_t>(
      std::clamp<int64_t>(Affordable, MinIterations, MaxDistance + WarmUp + 1));
}

MemoryAccesses incc::followMemory(const Kernel &K, bool Dependencies, bool Loads, bool Stores) {
  auto Has = [&](ValueKind Kind) {
    return std::ranges::find(K.ValueKinds, Kind) != K.ValueKinds.end();
  };
  Loads &= Has(ValueKind::Load);
  Stores &= Has(ValueKind::Store);
  Dependencies &= Has(ValueKind::Load) && Has(ValueKind::Store);
  if (!Dependencies && !Loads && !Stores)
    return {};
  return AddressSimulation(K).run(Dependencies, Loads, Stores);
}

std::vector<Stream> incc::streams(const Kernel &K) {
  MemoryAccesses Memory = followMemory(K, /*Dependencies=*/false, /*Loads=*/true, /*Stores=*/true);
  return findStreams(K, Memory.Loads, Memory.Stores);
}

std::vector<Stream> incc::findStreams(const Kernel &K, const AccessAddresses &Loads,
                                      const AccessAddresses &Stores) {
  std::vector<int32_t> InstructionOf(static_cast<size_t>(K.numValues()));
  for (int32_t I = 0; I < K.numInstructions(); ++I)
    std::fill(InstructionOf.begin() + K.ValueStart[I], InstructionOf.begin() + K.ValueStart[I + 1],
              I);
  struct LastAccess {
    uint32_t Part;
    uint64_t Constant;
    int32_t Count = 1;
  };
  std::vector<Stream> Result;
  std::vector<LastAccess> Last;                            // By stream.
  std::vector<int32_t> StreamOf(InstructionOf.size(), -1); // By value.
  for (const AccessAddresses *Accesses : {&Loads, &Stores})
    for (const AccessAddress &A : Accesses->Accesses) {
      if (int32_t Number = StreamOf[A.Value]; Number >= 0) {
        Stream &S = Result[Number];
        LastAccess &L = Last[Number];
        auto Step = static_cast<int64_t>(A.Constant - L.Constant);
        S.Steady &= L.Part == A.Part && (L.Count == 1 || Step == S.Step);
        S.Step = Step;
        L = {A.Part, A.Constant, L.Count + 1};
        continue;
      }
      StreamOf[A.Value] = static_cast<int32_t>(Result.size());
      Result.push_back({InstructionOf[A.Value], Accesses == &Stores, A.Bytes,
                        static_cast<int32_t>(A.Part), /*Object=*/0,
                        static_cast<int64_t>(A.Constant), /*Steady=*/true, /*Step=*/0});
      Last.push_back({A.Part, A.Constant});
    }
  std::ranges::stable_sort(Result, {}, &Stream::Instruction);
  // Loads and stores have objects of their own, which are one if they share a part.
  std::unordered_map<uint32_t, uint32_t> Leader; // By part.
  auto leaderOf = [&](uint32_t Part) {
    while (Leader.try_emplace(Part, Part).first->second != Part)
      Part = Leader[Part];
    return Part;
  };
  for (const AccessAddresses *Accesses : {&Loads, &Stores}) {
    std::unordered_map<int32_t, uint32_t> PartOf; // By object.
    for (auto [Part, Object] : Accesses->ObjectOf)
      Leader[leaderOf(Part)] = leaderOf(PartOf.try_emplace(Object, Part).first->second);
  }
  std::unordered_map<uint32_t, int32_t> NumberOf, ObjectOf; // By part, and by leader.
  for (Stream &S : Result) {
    auto Part = static_cast<uint32_t>(S.Part);
    S.Object = ObjectOf.try_emplace(leaderOf(Part), ObjectOf.size()).first->second;
    S.Part = NumberOf.try_emplace(Part, NumberOf.size()).first->second;
  }
  return Result;
}

std::vector<MemoryDependency> incc::memoryDependencies(const Kernel &K) {
  return followMemory(K, /*Dependencies=*/true, /*Loads=*/false, /*Stores=*/false).Dependencies;
}

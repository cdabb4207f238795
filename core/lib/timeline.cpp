//===- timeline.cpp - A simple out-of-order machine -----------------------===//
//
// Cycle by cycle through dispatch, execution and retirement; see timeline.h for
// the rules. Data flow is event driven: a value whose producers have all
// started knows when its inputs will be there, tells the µops that compute it,
// and, once these have started, its own consumers.
//
//===----------------------------------------------------------------------===//

#include "incc/timeline.h"
#include "incc/graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>

using namespace incc;

namespace {

constexpr int64_t NotYet = -1;
constexpr int64_t Never = std::numeric_limits<int64_t>::max();

/// The inputs of a value come in two groups that different µops wait for.
enum Part { Address, Data, NumParts };

/// What is the same in every iteration.
struct Plan {
  explicit Plan(const Kernel &K) : G(buildGraph(K)) {
    std::vector<bool> IsAddress = findAddressInputs(K);
    Values.resize(static_cast<size_t>(K.numValues()));
    ValueOfUop.assign(static_cast<size_t>(K.numUops()), -1);
    for (int32_t V = 0; V < K.numValues(); ++V)
      for (int32_t In = K.InputStart[V]; In < K.InputStart[V + 1]; ++In) {
        bool Loads = K.valueKind(V) == ValueKind::Load;
        Part P = IsAddress[In] || Loads ? Address : Data;
        Values[V].Longest[P] = std::max(Values[V].Longest[P], K.InputLatency[In]);
        if (Source S = G.Flow.SourceOf[In]; S.Value >= 0)
          Values[V].Inputs.push_back({S.Value, S.Distance, K.InputLatency[In], P});
      }
    for (const MemoryDependency &M : G.Flow.Memory)
      Values[M.Load].Inputs.push_back({M.Store, M.Distance, M.Latency, Data});
    for (int32_t I = 0; I < K.numInstructions(); ++I)
      planInstruction(K, I);
  }

  struct Input {
    int32_t Value, Distance, Latency;
    Part Of;
  };
  struct Value {
    std::vector<Input> Inputs;
    std::array<int32_t, NumParts> Longest{};
    /// Register results, and stored data that are not just a register's content.
    bool Computed = false;
  };
  struct Instruction {
    int32_t PortUops = 0;
    int32_t ComputeUops = 0; ///< On ports.
    int32_t FirstCompute = -1;
    int32_t LoadEntries = 0, StoreEntries = 0;
  };

  Graph G;
  std::vector<Value> Values;
  std::vector<Instruction> Instructions;
  /// The loaded or stored value of a load or store µop, -1 for none.
  std::vector<int32_t> ValueOfUop;

private:
  void planInstruction(const Kernel &K, int32_t I) {
    Instruction Plan;
    std::vector<int32_t> Loads, Stores;
    bool HasRegister = false;
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V) {
      HasRegister |= K.valueKind(V) == ValueKind::Register;
      if (K.valueKind(V) == ValueKind::Load)
        Loads.push_back(V);
      if (K.valueKind(V) == ValueKind::Store)
        Stores.push_back(V);
    }
    // Several µops of a kind belong to the values in order, surplus ones (gathers) to the last.
    auto Owner = [](const std::vector<int32_t> &Of, int32_t Number) {
      return Of.empty() ? -1 : Of[std::min<size_t>(static_cast<size_t>(Number), Of.size() - 1)];
    };
    int32_t LoadUops = 0, AddressUops = 0, DataUops = 0;
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U) {
      if (K.isResource(U))
        continue;
      ++Plan.PortUops;
      switch (K.uopKind(U)) {
      case UopKind::Load:
        ValueOfUop[U] = Owner(Loads, LoadUops++);
        break;
      case UopKind::StoreAddress:
        ValueOfUop[U] = Owner(Stores, AddressUops++);
        break;
      case UopKind::StoreData:
        ValueOfUop[U] = Owner(Stores, DataUops++);
        break;
      case UopKind::Compute:
      case UopKind::Branch:
        if (Plan.ComputeUops++ == 0)
          Plan.FirstCompute = U;
        break;
      }
    }
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V) {
      Value &This = Values[V];
      bool FromLoad = std::ranges::any_of(
          This.Inputs, [&](const Input &In) { return In.Of == Data && isLoadOf(K, I, In); });
      switch (K.valueKind(V)) {
      case ValueKind::Load:
        if (K.InputStart[V] == K.InputStart[V + 1])
          This.Longest[Address] = K.LoadLatency[I];
        break;
      case ValueKind::Register:
        This.Computed = Plan.ComputeUops > 0;
        // A constant: no input says how long it takes.
        if (This.Computed && K.InputStart[V] == K.InputStart[V + 1])
          This.Longest[Data] = 1;
        break;
      case ValueKind::Store:
        // In a store that also updates its address register, the computing µop is for that.
        This.Computed = Plan.ComputeUops > 0 && (FromLoad || !HasRegister);
        break;
      }
    }
    if (K.hasFlag(I, IsLoad))
      Plan.LoadEntries = std::max(1, LoadUops);
    if (K.hasFlag(I, IsStore))
      Plan.StoreEntries = std::max({1, AddressUops, DataUops});
    Instructions.push_back(Plan);
  }

  static bool isLoadOf(const Kernel &K, int32_t I, const Input &In) {
    return In.Distance == 0 && In.Value >= K.ValueStart[I] && In.Value < K.ValueStart[I + 1] &&
           K.valueKind(In.Value) == ValueKind::Load;
  }
};

class Machine {
public:
  Machine(const Kernel &K, int32_t Iterations)
      : K(K), P(K), Total(int64_t(Iterations) * K.numInstructions()) {}

  Timeline run(int64_t MaxCycles) {
    // Something must happen within the longest possible latency, or the rules contradict.
    constexpr int64_t Patience = int64_t(1) << 22;
    int64_t LastChange = 0;
    for (Cycle = 0; Retired < Total; ++Cycle) {
      if (MaxCycles > 0 && Cycle >= MaxCycles &&
          (Retired == Dispatched || Instructions[Retired].Dispatched >= MaxCycles))
        break;
      Changed = false;
      retire();
      startUops();
      dispatch();
      if (Changed)
        LastChange = Cycle;
      else if (Cycle - LastChange > Patience)
        throw std::logic_error("the timeline does not move on");
    }
    return collect(MaxCycles);
  }

private:
  // Dynamic numbers: iteration * (number in the kernel) + static number.
  struct Instruction {
    int64_t Dispatched = NotYet, Ready = NotYet, Started = NotYet, Executed = NotYet,
            Retired = NotYet;
    int32_t UopsLeft = 0, ValuesLeft = 0;
  };
  struct PartState {
    int32_t Missing = 0; ///< Producers whose time is not known.
    int64_t Time = 0;    ///< When the value could be ready as far as these inputs go.
  };
  struct Value {
    std::array<PartState, NumParts> Parts;
    int64_t Ready = NotYet;
    int32_t FirstWaiter = -1;
  };
  struct Uop {
    int64_t Inputs = NotYet; ///< When its inputs are there.
    int64_t Started = NotYet;
    int8_t Port = -1;
  };
  struct Waiter {
    int64_t Value;
    int32_t Latency;
    Part Of;
    int32_t Next;
  };
  /// The waiting µops that are bound to a port: by the cycle when they may start, then by age.
  struct Port {
    template <typename T> using MinQueue = std::priority_queue<T, std::vector<T>, std::greater<T>>;
    MinQueue<std::pair<int64_t, int64_t>> Later;
    MinQueue<int64_t> Now;
    int64_t BusyUntil = 0;
    int32_t Bound = 0;
  };

  int32_t instructionsPerIteration() const { return K.numInstructions(); }

  // --- retirement -----------------------------------------------------------------------------

  void retire() {
    int32_t Slots = K.RetireWidth;
    while (Retired < Dispatched) {
      Instruction &Head = Instructions[Retired];
      int32_t I = static_cast<int32_t>(Retired % instructionsPerIteration());
      if (Head.Executed == NotYet || Head.Executed >= Cycle)
        return;
      if (RetireSlotsLeft == NotYet)
        RetireSlotsLeft = K.RetireSlots[I];
      if (RetireSlotsLeft > 0 && Slots == 0)
        return;
      int64_t Take = std::min<int64_t>(RetireSlotsLeft, Slots);
      Slots -= static_cast<int32_t>(Take);
      RetireSlotsLeft -= Take;
      Changed = true;
      if (RetireSlotsLeft > 0)
        return;
      RetireSlotsLeft = NotYet;
      Head.Retired = Cycle;
      RobUsed -= K.RetireSlots[I];
      LoadBufferUsed -= P.Instructions[I].LoadEntries;
      StoreBufferUsed -= P.Instructions[I].StoreEntries;
      ++Retired;
    }
  }

  // --- execution ------------------------------------------------------------------------------

  void startUops() {
    for (int32_t N = 0; N < K.NumColumns; ++N) {
      Port &At = Ports[N];
      if (At.BusyUntil > Cycle)
        continue;
      for (; !At.Later.empty() && At.Later.top().first <= Cycle; At.Later.pop())
        At.Now.push(At.Later.top().second);
      if (At.Now.empty())
        continue;
      int64_t Number = At.Now.top();
      At.Now.pop();
      start(Number, At);
    }
  }

  void start(int64_t Number, Port &At) {
    int32_t U = static_cast<int32_t>(Number % K.numUops());
    Uop &This = Uops[Number];
    int64_t Owner = InstructionOfUop[U] + Number / K.numUops() * instructionsPerIteration();
    This.Started = Cycle;
    At.BusyUntil = Cycle + K.UopCycles[U];
    --At.Bound;
    if (!K.isResource(U))
      --RsUsed;
    Instruction &I = Instructions[Owner];
    if (I.Started == NotYet) {
      I.Started = Cycle;
      I.Ready = std::max(This.Inputs, I.Dispatched);
    }
    --I.UopsLeft;
    Changed = true;
    progress(Owner);
    tellConsumers();
  }

  /// Does for an instruction what has become possible: hands µops whose inputs have a time to
  /// their ports, gives values their time.
  void progress(int64_t Number) {
    int32_t I = static_cast<int32_t>(Number % instructionsPerIteration());
    int64_t Iteration = Number / instructionsPerIteration();
    Instruction &This = Instructions[Number];
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U) {
      int64_t UopNumber = Iteration * K.numUops() + U;
      Uop &Waiting = Uops[UopNumber];
      if (Waiting.Inputs != NotYet)
        continue;
      int64_t Inputs = inputsOf(Iteration, I, U);
      if (Inputs == Never)
        continue;
      Waiting.Inputs = std::max<int64_t>(Inputs, 0);
      int64_t Earliest = std::max(Inputs, This.Dispatched + std::max(1, K.IssueToExecute));
      Ports[Waiting.Port].Later.emplace(Earliest, UopNumber);
    }
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V) {
      Value &Result = Values[Iteration * K.numValues() + V];
      if (Result.Ready != NotYet)
        continue;
      int64_t Ready = readyTime(Iteration, I, V);
      if (Ready == Never)
        continue;
      Result.Ready = Ready;
      --This.ValuesLeft;
      News.push_back(Iteration * K.numValues() + V);
    }
    if (This.Executed == NotYet && This.UopsLeft == 0 && This.ValuesLeft == 0) {
      This.Executed = This.Dispatched;
      for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U)
        This.Executed = std::max(This.Executed, Uops[Iteration * K.numUops() + U].Started + 1);
      for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
        This.Executed = std::max(This.Executed, Values[Iteration * K.numValues() + V].Ready);
    }
  }

  /// When a part's inputs allow its µops to start, Never while unknown.
  int64_t startOfPart(int64_t Iteration, int32_t V, Part Of) const {
    const PartState &S = Values[Iteration * K.numValues() + V].Parts[Of];
    return S.Missing > 0 ? Never : S.Time - P.Values[V].Longest[Of];
  }

  /// When the inputs of a µop are there, Never while unknown.
  int64_t inputsOf(int64_t Iteration, int32_t I, int32_t U) const {
    int32_t V = P.ValueOfUop[U];
    bool Computes =
        K.isResource(U) || K.uopKind(U) == UopKind::Compute || K.uopKind(U) == UopKind::Branch;
    if (Computes) {
      // One computing µop needs all inputs. Of several the first can begin with the first result
      // that has its inputs; which of the others makes which result, the model does not say.
      bool AnyWillDo = U == P.Instructions[I].FirstCompute && P.Instructions[I].ComputeUops > 1;
      int64_t First = Never, Last = 0;
      bool Some = false;
      for (int32_t R = K.ValueStart[I]; R < K.ValueStart[I + 1]; ++R)
        if (P.Values[R].Computed) {
          int64_t Start = startOfPart(Iteration, R, Data);
          First = std::min(First, Start);
          Last = std::max(Last, Start);
          Some = true;
        }
      return !Some ? 0 : AnyWillDo ? First : Last;
    }
    if (V < 0)
      return 0;
    if (K.uopKind(U) != UopKind::StoreData)
      return startOfPart(Iteration, V, Address);
    return P.Values[V].Computed ? computedTime(Iteration, I, V) : startOfPart(Iteration, V, Data);
  }

  struct Starts {
    int64_t First = Never, Last = 0;
    bool Any = false, All = true;
  };

  /// The starts of the instruction's µops that `Wanted` picks.
  template <typename Fn> Starts startsOf(int64_t Iteration, int32_t I, Fn Wanted) const {
    Starts S;
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U)
      if (Wanted(U)) {
        int64_t Started = Uops[Iteration * K.numUops() + U].Started;
        S.Any = true;
        if (Started == NotYet) {
          S.All = false;
        } else {
          S.First = std::min(S.First, Started);
          S.Last = std::max(S.Last, Started);
        }
      }
    return S;
  }

  /// When a computed value is there, Never while unknown.
  ///
  /// Measured latencies contain the time between an instruction's own µops, so they count from
  /// the first one; the last must have started before, and so must the use of a divider.
  int64_t computedTime(int64_t Iteration, int32_t I, int32_t V) const {
    int64_t Own = startOfPart(Iteration, V, Data);
    if (Own == Never)
      return Never;
    int32_t FirstUop = P.Instructions[I].FirstCompute;
    int64_t FirstStart = Uops[Iteration * K.numUops() + FirstUop].Started;
    if (FirstStart == NotYet)
      return Never;
    int64_t Latency = P.Values[V].Longest[Data];
    int64_t Time =
        std::max(Values[Iteration * K.numValues() + V].Parts[Data].Time, FirstStart + Latency);
    // A result whose inputs come before those of the others does not wait for the µops of these.
    for (int32_t Other = K.ValueStart[I]; Other < K.ValueStart[I + 1]; ++Other)
      if (P.Values[Other].Computed && startOfPart(Iteration, Other, Data) > Own)
        return Time;
    Starts Compute = startsOf(Iteration, I, [&](int32_t U) {
      return !K.isResource(U) &&
             (K.uopKind(U) == UopKind::Compute || K.uopKind(U) == UopKind::Branch);
    });
    Starts Held = startsOf(Iteration, I, [&](int32_t U) { return K.isResource(U); });
    if (!Compute.All || !Held.All)
      return Never;
    Time = std::max(Time, Compute.Last + std::min<int64_t>(Latency, 1));
    return Held.Any ? std::max(Time, Held.Last + Latency) : Time;
  }

  /// When a value is ready, Never while unknown.
  int64_t readyTime(int64_t Iteration, int32_t I, int32_t V) const {
    const Value &This = Values[Iteration * K.numValues() + V];
    const std::array<int32_t, NumParts> &Longest = P.Values[V].Longest;
    if (This.Parts[Address].Missing > 0 || This.Parts[Data].Missing > 0)
      return Never;
    int64_t Time = std::max({This.Parts[Address].Time, This.Parts[Data].Time,
                             Instructions[Iteration * instructionsPerIteration() + I].Dispatched});
    auto StartsOfKind = [&](UopKind Kind) {
      return startsOf(Iteration, I, [&, Kind](int32_t U) {
        return P.ValueOfUop[U] == V && K.uopKind(U) == Kind;
      });
    };
    bool HasUop = false;
    switch (K.valueKind(V)) {
    case ValueKind::Load: {
      Starts S = StartsOfKind(UopKind::Load);
      if (!S.All)
        return Never;
      HasUop = S.Any;
      if (S.Any)
        Time = std::max({Time, S.First + Longest[Address], S.Last + std::min(Longest[Address], 1)});
      break;
    }
    case ValueKind::Register:
      HasUop = P.Values[V].Computed;
      if (HasUop)
        return std::max(Time, computedTime(Iteration, I, V));
      break;
    case ValueKind::Store: {
      Starts OfAddress = StartsOfKind(UopKind::StoreAddress);
      Starts OfData = StartsOfKind(UopKind::StoreData);
      if (!OfAddress.All || !OfData.All)
        return Never;
      HasUop = OfAddress.Any || OfData.Any || P.Values[V].Computed;
      if (OfAddress.Any)
        Time = std::max(Time, OfAddress.Last + Longest[Address]);
      if (P.Values[V].Computed) {
        int64_t Computed = computedTime(Iteration, I, V);
        if (Computed == Never)
          return Never;
        Time = std::max({Time, Computed, OfData.Last});
      } else if (OfData.Any) {
        Time = std::max(Time, OfData.Last + Longest[Data]);
      }
      break;
    }
    }
    // Without a µop of its own the latency runs from dispatch.
    if (!HasUop)
      Time = std::max(Time, Instructions[Iteration * instructionsPerIteration() + I].Dispatched +
                                std::max(Longest[Address], Longest[Data]));
    return Time;
  }

  /// Tells consumers the times of values that have become known, and theirs, and so on.
  void tellConsumers() {
    while (!News.empty()) {
      int64_t Number = News.back();
      News.pop_back();
      for (int32_t W = Values[Number].FirstWaiter; W >= 0; W = Waiters[W].Next) {
        const Waiter &Told = Waiters[W];
        PartState &S = Values[Told.Value].Parts[Told.Of];
        S.Time = std::max(S.Time, Values[Number].Ready + Told.Latency);
        if (--S.Missing == 0)
          progress(instructionOfValue(Told.Value));
      }
    }
  }

  int64_t instructionOfValue(int64_t Number) const {
    return Number / K.numValues() * instructionsPerIteration() +
           P.G.Flow.InstructionOf[Number % K.numValues()];
  }

  // --- dispatch -------------------------------------------------------------------------------

  void dispatch() {
    int32_t Slots = K.IssueWidth;
    while (Dispatched < Total) {
      int32_t I = static_cast<int32_t>(Dispatched % instructionsPerIteration());
      const Plan::Instruction &Needs = P.Instructions[I];
      if (IssueSlotsLeft == NotYet) {
        if (K.IssueSlots[I] > 0 && Slots == 0)
          return;
        if (!fits(RobUsed, K.RetireSlots[I], K.Rob) || !fits(RsUsed, Needs.PortUops, K.Rs) ||
            !fits(LoadBufferUsed, Needs.LoadEntries, K.LoadBuffer) ||
            !fits(StoreBufferUsed, Needs.StoreEntries, K.StoreBuffer))
          return;
        RobUsed += K.RetireSlots[I];
        RsUsed += Needs.PortUops;
        LoadBufferUsed += Needs.LoadEntries;
        StoreBufferUsed += Needs.StoreEntries;
        IssueSlotsLeft = K.IssueSlots[I];
      }
      int64_t Take = std::min<int64_t>(IssueSlotsLeft, Slots);
      Slots -= static_cast<int32_t>(Take);
      IssueSlotsLeft -= Take;
      Changed = true;
      if (IssueSlotsLeft > 0)
        return;
      IssueSlotsLeft = NotYet;
      enter(I);
    }
  }

  /// What is larger than a whole buffer goes when the buffer is empty.
  static bool fits(int64_t Used, int32_t More, int32_t Capacity) {
    return Capacity == 0 || Used == 0 || Used + More <= Capacity;
  }

  void enter(int32_t I) {
    int64_t Number = Dispatched++;
    int64_t Iteration = Number / instructionsPerIteration();
    if (I == 0) {
      Instructions.resize(Instructions.size() + K.InstructionFlags.size());
      Values.resize(Values.size() + K.ValueKinds.size());
      Uops.resize(Uops.size() + K.UopPorts.size());
    }
    Instruction &This = Instructions[Number];
    This.Dispatched = Cycle;
    This.UopsLeft = K.UopStart[I + 1] - K.UopStart[I];
    This.ValuesLeft = K.ValueStart[I + 1] - K.ValueStart[I];
    if (This.UopsLeft == 0)
      This.Ready = This.Started = This.Executed = Cycle;
    for (int32_t U = K.UopStart[I]; U < K.UopStart[I + 1]; ++U)
      bindToPort(Iteration * K.numUops() + U, K.UopPorts[U]);
    for (int32_t V = K.ValueStart[I]; V < K.ValueStart[I + 1]; ++V)
      connect(Iteration, V);
    progress(Number);
    tellConsumers();
  }

  void bindToPort(int64_t Number, uint64_t Allowed) {
    int Best = std::countr_zero(Allowed);
    for (uint64_t Left = Allowed; Left != 0; Left &= Left - 1)
      if (int N = std::countr_zero(Left); Ports[N].Bound <= Ports[Best].Bound)
        Best = N;
    Uops[Number].Port = static_cast<int8_t>(Best);
    ++Ports[Best].Bound;
  }

  /// Collects the times of a value's inputs, or has it told later.
  void connect(int64_t Iteration, int32_t V) {
    int64_t Number = Iteration * K.numValues() + V;
    for (const Plan::Input &In : P.Values[V].Inputs) {
      // What comes from before the first iteration is there.
      if (Iteration < In.Distance)
        continue;
      Value &Producer = Values[(Iteration - In.Distance) * K.numValues() + In.Value];
      PartState &S = Values[Number].Parts[In.Of];
      if (Producer.Ready != NotYet) {
        S.Time = std::max(S.Time, Producer.Ready + In.Latency);
        continue;
      }
      ++S.Missing;
      Waiters.push_back({Number, In.Latency, In.Of, Producer.FirstWaiter});
      Producer.FirstWaiter = static_cast<int32_t>(Waiters.size()) - 1;
    }
  }

  Timeline collect(int64_t MaxCycles) const {
    Timeline Result;
    for (int64_t Number = 0; Number < Dispatched; ++Number) {
      const Instruction &I = Instructions[Number];
      if (MaxCycles > 0 && I.Dispatched >= MaxCycles)
        break;
      int32_t Static = static_cast<int32_t>(Number % instructionsPerIteration());
      int64_t Iteration = Number / instructionsPerIteration();
      Result.Events.push_back({static_cast<int32_t>(Iteration), Static, I.Dispatched, I.Ready,
                               I.Started, I.Executed, I.Retired});
      for (int32_t U = K.UopStart[Static]; U < K.UopStart[Static + 1]; ++U)
        Result.Ports.push_back(Uops[Iteration * K.numUops() + U].Port);
    }
    return Result;
  }

  const Kernel &K;
  const Plan P;
  const int64_t Total; ///< Dynamic instructions.
  std::vector<int32_t> InstructionOfUop = [this] {
    std::vector<int32_t> Result;
    for (int32_t I = 0; I < K.numInstructions(); ++I)
      Result.insert(Result.end(), K.UopStart[I + 1] - K.UopStart[I], I);
    return Result;
  }();

  int64_t Cycle = 0;
  int64_t Dispatched = 0, Retired = 0; ///< Numbers of dynamic instructions.
  int64_t IssueSlotsLeft = NotYet, RetireSlotsLeft = NotYet;
  int64_t RobUsed = 0, RsUsed = 0, LoadBufferUsed = 0, StoreBufferUsed = 0;
  bool Changed = false;
  std::array<Port, 64> Ports;
  std::vector<Instruction> Instructions;
  std::vector<Value> Values;
  std::vector<Uop> Uops;
  std::vector<Waiter> Waiters;
  std::vector<int64_t> News; ///< Values whose time has just become known.
};

} // namespace

Timeline incc::runTimeline(const Kernel &K, int32_t Iterations, int64_t MaxCycles) {
  validate(K);
  if (Iterations < 0)
    throw std::invalid_argument("iterations: must not be negative");
  return Machine(K, Iterations).run(MaxCycles);
}

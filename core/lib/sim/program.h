//===- program.h - A kernel as the simulated machine sees it --------------===//
//
// What is the same in every iteration, worked out once: the entries of the µop
// queue, the issue slots that each of them fills, the µops in a slot, and which
// value waits for which µop.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_PROGRAM_H
#define INCC_LIB_SIM_PROGRAM_H

#include "incc/analysis.h"
#include "incc/sim.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace incc::sim {

/// A range of indices into another array.
struct Range {
  int32_t Begin = 0, End = 0;
  int32_t size() const { return End - Begin; }
};

/// A value of `Distance` iterations before, and how many cycles after it (before it, if negative).
struct Input {
  int32_t Value, Distance, Latency;
};

/// The value is ready no earlier than `Latency` cycles after the µop started.
struct Feed {
  int32_t Value, Latency;
};

struct Uop {
  uint64_t Ports = 0;
  int32_t Instruction = 0;
  int32_t Index = -1; ///< In the Kernel; -1 for µops of the renamer.
  UopKind Kind = UopKind::Compute;
  Range Inputs, Feeds;
  int32_t Done = 1;       ///< Cycles from start to the last result.
  int32_t Held = -1;      ///< A resource taken beside the port,
  int32_t HeldCycles = 0; ///< for so long.
  int32_t PortCycles = 1; ///< The port itself is taken for so long.
  int32_t Stage = 0;      ///< In order: cycles from the instruction's issue to the µop's execution.
  int32_t Shared = -1;    ///< Which of Pipeline::PickedFrom it needs beside its port.
  int32_t Banks = -1;     ///< Which row of Program::Banks a load has.
  int32_t Share = 0;      ///< Of Program::WidePerCycle, for a µop on wide vectors.
  uint32_t DelaysFrom = 0; ///< Delays between ports, as bits, for its results,
  uint32_t DelaysTo = 0;   ///< and for its inputs, where it has one of their ports.
  int64_t Crossings = 0;   ///< How often a load crosses a cache line in CrossingIterations.
};

struct Value {
  int32_t NumUops = 0;    ///< That feed it.
  Range Inputs;           ///< Values that it follows without a µop.
  bool Forwarded = false; ///< A load that may get what a store wrote.
};

/// Fused µops of the queue; an entry fills one issue slot, several if it is un-laminated.
struct Entry {
  int32_t Instruction = 0;
  Range Slots;
  bool First = false; ///< Of its instruction.
  Range Entered;      ///< Then also these instructions, which have no entry of their own, go on.
};

/// A µop that is issued or not as the renamer's state has it, and the value that is its result or,
/// if it is not issued, passed on.
struct OptionalUop {
  int32_t Uop = -1, Value = -1;
};

/// What a load needs of the first-level cache: banks, and the set that it reads, 0 where sets make
/// no difference. Only relative to the same part of the address (AccessAddress) is that known.
struct LoadBanks {
  uint64_t Banks = 0, Set = 0;
  uint32_t Part = 0;
  bool operator==(const LoadBanks &) const = default;
};

struct InstructionPlan {
  Range Entries;
  int32_t Loads = 0, Stores = 0; ///< Entries of the load and the store buffer.
  int32_t Mite = 0;  ///< The first of these come from decoders or µop cache, the rest from the MS.
  OptionalUop Move;  ///< What a move is if it is not eliminated.
  OptionalUop Sync;  ///< Adds the stack engine's offset to the stack pointer before it is used.
  OptionalUop Merge; ///< Merges bits 8-15, renamed apart, into their register.
};

struct Program {
  Program(const Kernel &K, const Pipeline &P, Groundwork From, const Assumptions &Assume = {});

  const Kernel &K;
  const Pipeline &P;
  Dataflow Flow;
  std::vector<Uop> Uops;
  std::vector<Input> Inputs;
  std::vector<Feed> Feeds;
  std::vector<Value> Values; ///< The kernel's, then those between µops of one instruction.
  std::vector<Range> Slots;  ///< µops of an issue slot, in SlotUops.
  std::vector<int32_t> SlotUops;
  std::vector<Entry> Entries;
  std::vector<InstructionPlan> Instructions;
  std::vector<Range> HiddenValues; ///< By instruction: its values beyond the kernel's.
  int64_t CrossingIterations = 1;
  /// By iteration modulo their number, then by instruction: the cycles for which its stores keep
  /// the way to the first-level cache.
  std::vector<std::vector<int32_t>> CommitCycles;
  /// Likewise, where that matters: how many blocks before its own the one was of which its stores
  /// change parts of words that were just written, 0 for none. Empty if there is none.
  std::vector<std::vector<int32_t>> Rewritten;
  int64_t BankIterations = 1; ///< After so many, all loads need the same banks again.
  bool AnyPlaces = false;     ///< Pointers lie anywhere in Banks, not at equal places.
  /// Of loads, by iteration modulo their number.
  std::vector<std::vector<LoadBanks>> Banks;
  int32_t WidePerCycle = 0; ///< What µops on wide vectors share in a cycle, in parts; 0: no limit.
  int32_t SyncUop = -1;     ///< The same where nothing waits for it: the offset became too large.

  bool anyCrossings() const {
    return std::ranges::any_of(Uops, [](const Uop &U) { return U.Crossings > 0; });
  }
  /// Whether a load crosses a line in this iteration.
  bool crosses(const Uop &U, int64_t Iteration) const {
    return U.Crossings > 0 && Iteration * U.Crossings / CrossingIterations !=
                                  (Iteration + 1) * U.Crossings / CrossingIterations;
  }
  /// Of a load with a row of banks.
  LoadBanks banksOf(const Uop &U, int64_t Iteration) const {
    const std::vector<LoadBanks> &Row = Banks[static_cast<size_t>(U.Banks)];
    return Row[static_cast<size_t>(Iteration) & (Row.size() - 1)];
  }
  /// Of the delays between ports for a µop's results (its inputs), those that hold at a port; at
  /// -1, at all of its ports.
  uint32_t delaysFrom(const Uop &U, int32_t Port) const {
    return delaysAt(U, U.DelaysFrom, K.PortDelayFrom, Port);
  }
  uint32_t delaysTo(const Uop &U, int32_t Port) const {
    return delaysAt(U, U.DelaysTo, K.PortDelayTo, Port);
  }
  /// StartedUop::Uop of a µop.
  int32_t nameOf(int32_t U) const {
    const Uop &Static = Uops[static_cast<size_t>(U)];
    return Static.Index >= 0 ? Static.Index
           : U == SyncUop    ? StartedUop::Nobodys
           : U == Instructions[static_cast<size_t>(Static.Instruction)].Move.Uop
               ? StartedUop::ExecutedMove
               : StartedUop::Renamers;
  }
  int32_t numEntries() const { return static_cast<int32_t>(Entries.size()); }
  int32_t numValues() const { return static_cast<int32_t>(Values.size()); }

private:
  static uint32_t delaysAt(const Uop &U, uint32_t Rules, const std::vector<uint64_t> &PortsOf,
                           int32_t Port) {
    uint64_t At = Port < 0 ? U.Ports : uint64_t(1) << Port;
    uint32_t Hold = Rules;
    for (; Rules != 0; Rules &= Rules - 1)
      if ((At & ~PortsOf[static_cast<size_t>(std::countr_zero(Rules))]) != 0)
        Hold &= ~(Rules & -Rules);
    return Hold;
  }
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_PROGRAM_H

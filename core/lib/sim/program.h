//===- program.h - A kernel as the simulated machine sees it --------------===//
//
// A Program holds everything that is the same in every iteration of a kernel,
// computed once before the run: the entries of the µop queue, the issue slots
// that each entry fills, the µops in each slot, what each µop needs to start,
// and which values follow from which µops and from which other values.
//
// "Static" µops and values are those of the program; "dynamic" ones are their
// executions in an iteration.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_PROGRAM_H
#define INCC_LIB_SIM_PROGRAM_H

#include "address_aliasing.h"
#include "cache_banks.h"
#include "incc/analysis.h"
#include "incc/sim.h"
#include "store_commits.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace incc::sim {

/// A range of indices into another array.
struct Range {
  int32_t Begin = 0, End = 0;
  int32_t size() const { return End - Begin; }
};

/// An input of a µop or value: a value of `Distance` iterations before. It arrives `Latency` cycles
/// after that value (before it, if negative).
struct Input {
  int32_t Value, Distance, Latency;
};

/// A value that a µop feeds. It arrives no earlier than `Latency` cycles after the µop's start.
struct Feed {
  int32_t Value, Latency;
};

/// A static µop.
struct Uop {
  uint64_t Ports = 0; ///< The ports that it may wait at.
  int32_t Instruction = 0;
  int32_t Index = -1; ///< Its index in the Kernel; -1: the renamer adds it.
  UopKind Kind = UopKind::Compute;
  Range Inputs, Feeds;        ///< In Program::Inputs and Program::Feeds.
  int32_t Done = 1;           ///< Cycles from its start to its last result.
  int32_t PortCycles = 1;     ///< Cycles for which it takes its port.
  int32_t Resource = -1;      ///< A resource that it holds as well as its port, -1 for none.
  int32_t ResourceCycles = 0; ///< Cycles for which it holds the resource.
  int32_t Stage = 0;          ///< In order: cycles from its instruction's start to its execution.
  int32_t PipeSet = -1;       ///< The set of shared pipes that it needs (SharedPipes), -1 for none.
  int32_t BankRow = -1;       ///< A load's row in Program::Banks, -1 if it needs no bank.
  int32_t Aliased = -1;       ///< A load's value, if it may alias (AliasPlan); -1 if not.
  int32_t Store = -1;         ///< An address µop's value, -1 for others.
  int32_t WideShares = 0;     ///< The shares of a cycle that it takes (WideVectorRule).
  uint32_t DelaysFrom = 0;    ///< Delays between ports for its results, as bits.
  uint32_t DelaysTo = 0;      ///< Delays between ports for its inputs, as bits.
  int64_t Crossings = 0;      ///< A load's crossings of a line in Program::CrossingIterations.
  uint64_t CrossingPattern = 0; ///< The iterations in which it does, as bits; 0: evenly spread.
};

/// A static value.
struct Value {
  int32_t NumUops = 0;    ///< The number of µops that feed it.
  Range Inputs;           ///< The values that it follows without a µop, in Program::Inputs.
  bool Forwarded = false; ///< A loaded value that may come from a store.
};

/// An entry of the µop queue. It fills one issue slot, or several if it is un-laminated.
struct Entry {
  int32_t Instruction = 0;
  Range Slots;        ///< In Program::Slots.
  bool First = false; ///< The first entry of its instruction.
  Range Instructions; ///< The first entry's: the instructions that are issued with it, its own and
                      ///< those without an entry around it.
};

/// A µop that is issued or not, depending on the renamer's state, and its result. If the µop is not
/// issued, the result follows its inputs directly.
struct OptionalUop {
  int32_t Uop = -1, Value = -1; ///< -1 for none.
};

/// The properties of an instruction that the machine needs.
struct InstructionPlan {
  Range Entries;                 ///< In Program::Entries.
  int32_t NonMicrocode = 0;      ///< Entries from decoders or µop cache; the others are microcode.
  int32_t Loads = 0, Stores = 0; ///< The entries of load and store buffer that it needs.
  bool Mispredicted = false;     ///< A branch issued with it is mispredicted.
  OptionalUop Move;              ///< The µop of a move that is not eliminated.
  OptionalUop Sync;  ///< Adds the stack engine's offset before the stack pointer is used.
  OptionalUop Merge; ///< Merges bits 8-15, renamed apart, into their register.
};

/// A kernel on a pipeline.
struct Program {
  Program(const Kernel &K, const Pipeline &P, KernelInfo Info, const Assumptions &Assume = {});

  const Kernel &K;
  const Pipeline &P;
  Dataflow Flow;
  std::vector<Uop> Uops;
  std::vector<Input> Inputs;
  std::vector<Feed> Feeds;
  std::vector<Value> Values; ///< The kernel's, then hidden ones between µops of one instruction.
  std::vector<Range> HiddenValues; ///< By instruction.
  std::vector<int32_t> SlotUops;   ///< The µops of all issue slots.
  std::vector<Range> Slots;        ///< The µops of each issue slot, in SlotUops.
  std::vector<Entry> Entries;
  std::vector<InstructionPlan> Instructions;
  /// The µop that adds the stack engine's offset because it became too large, -1 for none.
  int32_t SyncUop = -1;
  StoreCommitPlan Commits;
  BankPlan Banks;
  AliasPlan Aliases;
  std::vector<int32_t> StoreNumber; ///< By stored value: its place among those of an iteration.
  int32_t StoresPerIteration = 0;
  int64_t CrossingIterations = 1; ///< The iterations that Uop::Crossings refers to.

  int32_t numEntries() const { return static_cast<int32_t>(Entries.size()); }
  int32_t numValues() const { return static_cast<int32_t>(Values.size()); }

  bool anyCrossings() const {
    return std::ranges::any_of(Uops, [](const Uop &U) { return U.Crossings > 0; });
  }
  /// Returns the number of a store, for ComparedStores.
  int64_t storeNumber(int32_t Value, int64_t Iteration) const {
    return Iteration * StoresPerIteration + StoreNumber[static_cast<size_t>(Value)];
  }
  /// Returns true if a load crosses a cache line in this iteration.
  bool crossesLine(const Uop &U, int64_t Iteration) const {
    if (U.CrossingPattern != 0)
      return (U.CrossingPattern >> Iteration % CrossingIterations & 1) != 0;
    return U.Crossings > 0 && Iteration * U.Crossings / CrossingIterations !=
                                  (Iteration + 1) * U.Crossings / CrossingIterations;
  }

  /// Returns the delays between ports for a µop's results that hold at a port, as bits. `Port`: -1
  /// for the delays that hold at all of its ports.
  uint32_t delaysFrom(const Uop &U, int32_t Port) const {
    return delaysAt(U, U.DelaysFrom, K.PortDelayFrom, Port);
  }
  /// Returns the delays between ports for a µop's inputs that hold at a port, as delaysFrom().
  uint32_t delaysTo(const Uop &U, int32_t Port) const {
    return delaysAt(U, U.DelaysTo, K.PortDelayTo, Port);
  }

  /// Returns StartedUop::Uop of a µop.
  int32_t nameOf(int32_t U) const {
    const Uop &Static = Uops[static_cast<size_t>(U)];
    return Static.Index >= 0 ? Static.Index
           : U == SyncUop    ? StartedUop::Inserted
           : U == Instructions[static_cast<size_t>(Static.Instruction)].Move.Uop
               ? StartedUop::ExecutedMove
               : StartedUop::InsertedForInstruction;
  }
  /// Returns true if the renamer inserts a µop: it is no part of its instruction.
  bool isInserted(int32_t U) const { return nameOf(U) < StartedUop::ExecutedMove; }

private:
  static uint32_t delaysAt(const Uop &U, uint32_t Rules, const std::vector<uint64_t> &PortsOfRule,
                           int32_t Port) {
    uint64_t Ports = Port < 0 ? U.Ports : uint64_t(1) << Port;
    uint32_t Holding = Rules;
    for (; Rules != 0; Rules &= Rules - 1)
      if ((Ports & ~PortsOfRule[static_cast<size_t>(std::countr_zero(Rules))]) != 0)
        Holding &= ~(Rules & -Rules);
    return Holding;
  }
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_PROGRAM_H

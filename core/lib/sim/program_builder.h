//===- program_builder.h - From a kernel to a Program ---------------------===//
//
// The builder goes through the instructions once. For each it makes the µops, with
// what they need to start (program.cpp), connects µops and values
// (program_dataflow.cpp), and packs µops into issue slots and queue entries
// (program_slots.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef INCC_LIB_SIM_PROGRAM_BUILDER_H
#define INCC_LIB_SIM_PROGRAM_BUILDER_H

#include "program.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

namespace incc::sim {

/// Fills a Program. "The instruction" is the current one.
class ProgramBuilder {
public:
  ProgramBuilder(Program &To, const LineCrossings &Lines);

  void build();

private:
  // --- µops (program.cpp)

  int32_t newUop(int32_t I, int32_t Index, uint64_t Ports, UopKind Kind);
  OptionalUop newInsertedUop(std::initializer_list<int32_t> Locations);
  void buildInstruction(int32_t I);
  void buildInsertedUops();
  void buildUops();
  void buildMove();
  void takeWideShares();
  void holdResources();
  void assignBanks();
  void assignInstructions();
  void numberStores();
  void flatten();

  // --- data flow (program_dataflow.cpp)

  /// The values of an instruction, by their producers.
  struct Results {
    std::vector<int32_t> Loaded, Stored;
    std::vector<int32_t> Computed; ///< Registers that computing µops write.
    bool WritesRegister = false;
  };
  /// A result of computing µops, and the value that these feed in its place: the result itself or,
  /// for stored data, the hidden value of the data.
  struct ComputedResult {
    int32_t Value, Fed;
  };
  /// The property of an operand that determines at which of several computing µops it enters: its
  /// longest latency to a result, then the number of results that need it.
  using OperandClass = std::pair<int32_t, int32_t>;
  /// An operand of computing µops: one register, say, that several results need.
  struct Operand {
    Source From;
    OperandClass Class{0, 0};
    int32_t Delay = 0; ///< Cycles by which it arrives later than its source.
    size_t Uop = 0;    ///< The place in Compute of the µop at which it enters,
    int32_t Early = 0; ///< which may start this many cycles before the operand arrives.
  };
  /// By kind and index of the input.
  using Operands = std::map<std::pair<InputKind, int32_t>, Operand>;

  int32_t newValue();
  void readInput(int32_t U, Source From, int32_t Latency);
  void feed(int32_t U, int32_t V, int32_t Latency);
  void follow(int32_t V, Source From, int32_t Latency);
  void followInputs(int32_t V);

  Source sourceOf(int32_t In) const;
  int32_t delayOf(int32_t In) const;
  int32_t latencyOf(int32_t In) const;
  bool isPassedOn(int32_t V) const;
  bool computesWithoutLoad() const;
  bool isComputedFrom(int32_t V, int32_t In) const;

  void followMemory();
  void renameMemory(const MemoryDependency &M);
  void connectValues();
  Results classifyValues();
  void connectLoads(const std::vector<int32_t> &Loaded);
  void connectStoreAddresses(const std::vector<int32_t> &Stored);
  void planStoredData(const Results &R);
  void connectStoredData(const std::vector<int32_t> &Stored);
  Operands collectOperands(const std::vector<ComputedResult> &Results) const;
  std::vector<OperandClass> planChain(const Operands &All) const;
  void computeResults(const std::vector<ComputedResult> &Results);

  // --- issue slots and queue entries (program_slots.cpp)

  /// µops or slots, in groups.
  using Groups = std::vector<std::vector<int32_t>>;

  Groups groupBySlot(size_t NumSlots) const;
  void buildEntries();

  Program &To;
  const Kernel &K;
  const Pipeline &P;
  const LineCrossings &Lines;
  std::vector<bool> IsAddress; ///< By input, as findAddressInputs() has it.
  bool MovesStack;             ///< Some instruction uses the stack engine.

  // State of the whole kernel:
  std::vector<bool> Renamed; ///< By value: it is loaded, and the renamer hands it on from a store.
  /// By stored value: the hidden value that is computed for it, -1 if it is a register's content.
  std::vector<int32_t> DataValue;
  std::vector<std::vector<Input>> Followed;  ///< By value: what becomes Value::Inputs.
  std::vector<std::vector<Input>> UopInputs; ///< By µop: what becomes Uop::Inputs.
  std::vector<std::vector<Feed>> UopFeeds;   ///< By µop: what becomes Uop::Feeds.

  // State of the current instruction:
  int32_t Current = 0;
  InstructionPlan Plan;
  std::vector<int32_t> Loads, Compute, StoreAddress, StoreData; ///< Its µops by kind.
};

} // namespace incc::sim

#endif // INCC_LIB_SIM_PROGRAM_BUILDER_H

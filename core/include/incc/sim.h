//===- sim.h - The pipeline, cycle by cycle -------------------------------===//

#ifndef INCC_SIM_H
#define INCC_SIM_H

#include "incc/analysis.h"
#include "incc/kernel.h"
#include "incc/rational.h"
#include "incc/timeline.h"

#include <array>
#include <cstdint>
#include <vector>

namespace incc {

enum class MoveClass : int32_t { None, General, Simd };
enum class PortBinding : int32_t { LeastLoaded, SixPorts, EightPorts, TenPorts };

/// What the simulator needs beyond a Kernel. Field by field the same as Pipeline in
/// models/bound.py, where each is explained.
struct Pipeline {
  // By instruction.
  std::vector<int32_t> Length, Offset, OpcodeOffset, Lcp, Fusible, ComplexDecoder, SimpleDecoders,
      EndsGroup, UopsMite, UopsMs, DsbExtraSlots, NoLsd, MergesLow, MergesHigh, UsesStack,
      StackChange, MoveClasses, MoveFrom, MoveTo, MoveLatency, WideMemory, AddressUnit;
  std::vector<uint64_t> MovePorts;

  // Parameters.
  int32_t Alignment = 0;
  int32_t Binding = 0;
  uint64_t LoadMask = 0, RenamerPorts = 0;
  std::vector<uint64_t> Alternating;
  std::vector<uint64_t> PickedFrom, QueuedAt; ///< Entry by entry.
  std::vector<uint64_t> SchedulerPorts;
  std::vector<int32_t> SchedulerEntries;
  uint64_t WaitingPorts = 0, OneACycle = 0;
  int32_t WaitingEntries = 0;
  int32_t AlternatingImbalance = 1 << 20; ///< None matters.
  std::vector<int32_t> LsdUnroll;
  int32_t IssueToDispatch = 1, Idq = 64;
  int32_t PredecodeBlockBytes = 0, PredecodeWidth = 1, PredecodeToDecode = 0, LcpStall = 0, Iq = 0;
  int32_t NumDecoders = 0, MsWidth = 4;
  int32_t DsbWidth = 0, DsbBlock = 32, DsbMsStall = 0;
  int32_t BothHalvesMustBeCacheable = 0, BranchMayEndCachedBlock = 1, FusibleMayBeLastDecoded = 1;
  int32_t Lsd = 0;
  int32_t MoveElimGpr = 0, MoveElimSimd = 0, MoveElimPipeline = 1, MoveElimAllAliases = 0;
  int32_t Slow256BitMemory = 0, JustReadyPenalty = 0;
  int32_t StoreCommitBytes = 0, LoadsLeaveWhenDone = 0, MicrocodeAlone = 0;
  int32_t DsbGroups = 1, DecodeClusters = 1, ClustersNeedJumps = 0;
  int32_t InOrder = 0, AddressToExecute = 0;
  int32_t StackLocation = -1, StackOffsetLimit = 0;
};

/// Where the µops of a kernel come from.
enum class UopSource : int32_t { Decoders, UopCache, LoopStream, Microcode, NumSources };

/// Why the renamer left issue slots empty in a cycle.
enum class Stall : int32_t {
  FrontEnd,
  ReorderBuffer,
  Scheduler,
  Group,
  LoadBuffer,
  StoreBuffer,
  NumStalls
};

/// What a run takes for granted, to show what it would gain.
struct Assumptions {
  bool UnlimitedPorts = false; ///< Every µop starts when its inputs are there.
  bool NoRegisterDependencies = false, NoMemoryDependencies = false;
};

struct SimulationOptions {
  bool Loop = true;          ///< Ends in a jump to its start; else copies follow each other.
  int32_t Alignment = -1;    ///< Of the first byte within 64; -1: the pipeline's.
  int32_t Iterations = 0;    ///< Exactly so many; 0: until the steady state.
  int64_t MaxCycles = 0;     ///< Gives up there; 0: a limit that grows with the kernel.
  bool RecordEvents = false; ///< Fills Simulation::Trace.
  bool EveryCycle = false;   ///< Simulates also what only repeats itself; for tests.
  Assumptions Assume;
};

/// A µop that was started. Times are those of the scheduler, in cycles.
struct StartedUop {
  int64_t Iteration;
  int32_t Instruction;
  int32_t Port, PortCycles; ///< Taken from the start on, for so long,
  int32_t Unit, UnitCycles; ///< and so a resource beside it, -1 for none.
  int64_t Earliest;         ///< Could start, were its inputs there.
  int64_t Ready, Started;
  /// An instruction whose result came later than `Earliest`, and when: other ones, or the same in
  /// an iteration before.
  struct LateInput {
    int32_t Instruction;
    int64_t Arrived;
  };
  std::vector<LateInput> Late;
};

struct Simulation {
  /// In the steady state, or of all iterations where their number was given.
  Rational CyclesPerIteration;
  /// Iterations after which the retirement repeats exactly, 0 if no period was seen.
  int32_t Period = 0;
  int64_t Cycles = 0, Iterations = 0;                                     ///< Simulated.
  std::array<int64_t, static_cast<size_t>(UopSource::NumSources)> Uops{}; ///< Fused, delivered.
  std::array<int64_t, static_cast<size_t>(Stall::NumStalls)> LostSlots{}; ///< Of issue, by cause.
  std::vector<int64_t> PortUops; ///< µops executed by port and resource.
  int64_t MovesEliminated = 0, MovesExecuted = 0;
  Timeline Trace;
  std::vector<StartedUop> Started; ///< In the order of their starts; with the trace.
};

/// Runs a kernel through the pipeline.
///
/// Without a number of iterations it runs for at least 500 cycles and 10 iterations, and the
/// throughput is read off the second half of the iterations (Abel and Reineke, ICS 2022).
///
/// \throws std::invalid_argument if the arrays contradict each other.
/// \throws std::runtime_error beyond the limit of cycles.
Simulation simulate(const Kernel &K, const Pipeline &P, const SimulationOptions &Options = {});

/// The same with what was worked out before, the addresses of stores included; K is known to be
/// valid.
Simulation simulate(const Kernel &K, const Pipeline &P, const SimulationOptions &Options,
                    Groundwork From);

/// Whether the simulation needs the addresses of stores.
bool needsStoreAddresses(const Pipeline &P);

} // namespace incc

#endif // INCC_SIM_H

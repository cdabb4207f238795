//===- sim.h - The pipeline, cycle by cycle -------------------------------===//
//
// simulate() runs a kernel through a model of the core's pipeline. Each unit of the
// pipeline is a class in core/lib/sim, whose header explains the unit's states and
// transitions:
//
//   Predecoder, FrontEnd        from code bytes or cached µops to the µop queue
//   CodeLayout                  which instructions the µop cache holds
//   Renamer, MoveElimination,   from the µop queue to schedulers and reorder buffer
//     StackEngine
//   PortBinder                  the port that a µop waits for
//   Scheduler                   entries of the schedulers, and the queue before them
//   OldestFirst, ProgramOrder   which µops start
//   ExecutionUnits              ports, dividers, cache banks
//   ValueNetwork                when results reach their consumers
//   LoadQueue, StoreQueue       load and store buffer
//   RegisterFile, ReorderBuffer
//
// In every cycle, from cycle 0 on, the units act in the following order. Each sees
// what earlier units have done in this cycle, and what later ones did in the
// previous cycle.
//
//  1. Retire. The reorder buffer retires up to `retire_width` slots, in order,
//     whose last result was there by the end of the cycle before the last (Done + 1
//     < cycle). With an instruction's last slot, its loads leave the load buffer
//     (unless they left when their data arrived), its registers become free, and
//     its stores begin their way to the cache. Stores that have reached the cache
//     then leave the store buffer.
//  2. Start. Loads whose data have arrived leave the load buffer on cores where they
//     do so. Then each free port starts its oldest ready µop (oldest_first.h), or
//     µops start in program order (in_order.h). A µop that was issued in cycle c
//     starts in cycle c + `issue_to_dispatch` at the earliest, and never in the
//     cycle in which the arrival of its last input became known. It leaves its
//     scheduler at once, so that the renamer finds the entry free in this cycle,
//     but counts for the choice of ports until the next cycle. It takes its port
//     and other units and fixes the arrival times of the values that it feeds. A
//     value that no µop makes arrives with the latest value that it follows. A
//     consumer may start in the cycle of the value's arrival plus its latency.
//  3. Leave the queue. On cores that have a queue before the schedulers, up to
//     `issue_width` µops leave it, in order, and are bound to ports (ports.h).
//  4. Rename. The renamer takes up to `issue_width` slots from the µop queue, in
//     order (renamer.h). It takes none if reorder buffer, schedulers or load buffer
//     have no room for a whole group of that width, unless they are empty. It
//     eliminates moves and binds each µop to a port, by the slot that it is in.
//  5. Fetch. The front end fills the µop queue with what the renamer sees in the
//     next cycle (frontend.h): first the predecoder works, then the microcode
//     sequencer, the µop cache or the decoders.
//
// Issue slots that the renamer leaves empty are attributed to the first obstacle.
// If several µops could go first, the oldest one does. If several ports could, the
// model's order (order.h) and the core's rule (ports.h) decide.
//
//===----------------------------------------------------------------------===//

#ifndef INCC_SIM_H
#define INCC_SIM_H

#include "incc/analysis.h"
#include "incc/kernel.h"
#include "incc/rational.h"

#include <array>
#include <cstdint>
#include <vector>

namespace incc {

// The values of these enumerations are documented in fields.def.

enum class MoveClass : int32_t {
#define MOVE_CLASS(Name, Python) Name,
#include "incc/fields.def"
};
enum class PortBinding : int32_t {
#define PORT_BINDING(Name, Python) Name,
#include "incc/fields.def"
};
/// The source of a kernel's µops.
enum class UopSource : int32_t {
#define UOP_SOURCE(Name, Python) Name,
#include "incc/fields.def"
  NumSources
};
/// Why the renamer left issue slots of a cycle empty.
enum class Stall : int32_t {
#define LOST_SLOT(Name, Python) Name,
#include "incc/fields.def"
  NumStalls
};

/// The simulator's input besides a Kernel: properties of the kernel's instructions that concern
/// front end and renamer, and the core's parameters. The fields are documented in fields.def.
struct Pipeline {
#define PIPELINE_PARAMETER(Member, Name, Default, Low, High) int32_t Member = Default;
#define PIPELINE_SCALAR(Member, Name, Default, Low, High) int32_t Member = Default;
#define PIPELINE_ENUM(Type, Member, Name, Default) Type Member = Type::Default;
#define PIPELINE_MASK(Member, Name) uint64_t Member = 0;
#define PIPELINE_ARRAY(Member, Name, Owners, Low, High) std::vector<int32_t> Member;
#define PIPELINE_ENUMS(Type, Member, Name, Owners) std::vector<Type> Member;
#define PIPELINE_MASKS(Member, Name, Owners) std::vector<uint64_t> Member;
#include "incc/fields.def"
};

/// Checks that the lengths and ranges of all fields are as fields.def has them, and that the fields
/// agree with each other.
///
/// \throws std::invalid_argument naming the first field that does not, after "pipeline: ".
void validate(const Kernel &K, const Pipeline &P);

/// Returns a pipeline without a front end: it has the core's widths and window, and only inputs and
/// ports delay instructions. Every issue slot of an instruction is a µop of its own, which goes to
/// the port with the fewest µops.
Pipeline idealPipeline(const Kernel &K);

/// Limits that a what-if simulation lifts.
struct Assumptions {
  bool UnlimitedPorts = false; ///< Every µop starts when its inputs have arrived.
  bool NoRegisterDependencies = false;
  bool NoMemoryDependencies = false;
};

/// The settings of a simulation.
struct SimulationOptions {
  bool Loop = true; ///< The kernel ends in a jump to its start; else copies follow each other.
  int32_t Alignment = -1; ///< Place of the first byte modulo 64; -1: the pipeline's.
  int64_t Iterations = 0; ///< Iterations to run; 0: run until the throughput is steady.
  int64_t MaxCycles = 0;  ///< Cycles after which to give up; 0: a limit that grows with the kernel.
  bool EveryCycle = false;   ///< Also simulate cycles that repeat earlier ones; for tests.
  bool RecordEvents = false; ///< Fill Simulation::Trace and Simulation::Started.

  bool Statistics = false;         ///< Fill Simulation::Stats.
  int32_t EventIterations = 0;     ///< Iterations whose events the statistics include,
  int64_t EventCycles = INT64_MAX; ///< if they retire before this cycle.
  bool Pressure = false;           ///< Include Statistics::Pressure and Statistics::Sequence.
  /// A part of the schedulers: the µops that wait for some ports. At most `Entries` of them count.
  struct Buffer {
    uint64_t Ports;
    int32_t Entries;
  };
  std::vector<Buffer> Buffers; ///< Parts whose use the statistics include.

  Assumptions Assume;
  /// Cycles per iteration that no steady state can undercut. A run that comes out below goes on.
  Rational LowerBound{};
};

/// A µop that started. Times are in cycles.
struct StartedUop {
  /// Values of `Uop` for µops that are not in the Kernel: a move that could have been eliminated, a
  /// µop that the renamer inserted before an instruction that needs it, and one that it inserted on
  /// its own account.
  static constexpr int32_t ExecutedMove = -1, InsertedForInstruction = -2, Inserted = -3;
  /// Values of Input::Location: a load of a stored value; a value between the µops of an
  /// instruction; a stored value that the renamer handed on to the consumer of a load.
  static constexpr int32_t ThroughMemory = -1, WithinInstruction = -2, RenamedMemory = -3;

  /// An instruction whose result arrived after `Earliest`: another one, or the same one in an
  /// earlier iteration.
  struct LateInput {
    int32_t Instruction;
    int64_t Arrived;
  };
  /// An input that another µop produced for this one.
  struct Input {
    int32_t Producer; ///< Its index in Simulation::Started. It may start later than this µop, if
                      ///< the input is needed late.
    int32_t Location; ///< The location that carries the input, or one of the above.
    int64_t Arrived;  ///< When this µop could start as far as the input goes; ThroughMemory: when
                      ///< the loaded value arrived.
  };

  int64_t Iteration;
  int32_t Instruction;
  int32_t Uop;              ///< Its index in the Kernel, or one of the above.
  int32_t Port, PortCycles; ///< The port and for how long it was taken, from `Started` on.
  int32_t Unit, UnitCycles; ///< A resource that was held as well as the port, -1 for none.
  int64_t Dispatched;       ///< When it entered its scheduler.
  int64_t Earliest;         ///< When it could have started if its inputs had been there.
  int64_t Ready;            ///< When it could have started if its port had been free.
  int64_t Started;
  int64_t Executed; ///< When its last result is there.
  std::vector<LateInput> Late;
  std::vector<Input> Inputs;
};

/// The life of one dynamic instruction, in cycles from 0.
struct Event {
  int32_t Iteration, Instruction;
  int64_t Dispatched; ///< Enters reorder buffer and scheduler, with its first issue slot.
  int64_t Ready;      ///< The inputs of the µop that starts first have arrived.
  int64_t Started;    ///< The µop that starts first starts.
  int64_t Executed;   ///< The last result is there: consumers may start in this cycle.
  int64_t Retired;    ///< Its last slot retires, at least one cycle after `Executed`.
};

/// The events of a run.
struct Timeline {
  std::vector<Event> Events; ///< In program order.
  /// The port or resource of each µop of each event, in the events' order; -1 for none.
  std::vector<int8_t> Ports;
};

/// The use of a buffer at the ends of cycles.
struct Usage {
  int32_t Entries = 0; ///< Its size, 0 for no limit.
  int64_t Sum = 0;     ///< The entries in use, summed over all cycles.
  int64_t Most = 0;    ///< The largest number of entries in use.
};

/// The cycles in which the schedulers filled up: more µops entered than started, or there was no
/// room for another one. The other counts are the cycles among them in which some µop that could
/// have started otherwise did not, by what it lacked.
struct PressureCycles {
  int64_t Increase = 0;
  int64_t Resources = 0;           ///< Its port or resource was taken.
  int64_t Registers = 0;           ///< A result of another instruction had not arrived.
  int64_t Memory = 0;              ///< A loaded value that was stored before had not arrived.
  int64_t Data = 0;                ///< Registers or memory.
  std::vector<int64_t> ByResource; ///< By port and resource.
};

/// A µop of the critical sequence, a chain in which each µop started when it did because of the
/// one before.
struct SequenceStep {
  enum Kind : int32_t { None, Register, Memory, Resource };

  int32_t Instruction;
  int32_t IterationOffset; ///< From the first µop's iteration.
  Kind Cause;              ///< None: nothing of these kinds held it up.
  /// For Register, a location, or StartedUop::WithinInstruction or RenamedMemory; for Resource, a
  /// port or resource.
  int32_t Via;
  int64_t Cycles; ///< From the start of the µop before.
};

/// The statistics of a run, from the cycle in which its first µop was issued, which is cycle 0 of
/// the events, to the cycle in which its last µop retired. See Statistics in
/// core/python/__init__.py.
struct Statistics {
  int64_t Cycles = 0, Uops = 0;
  std::array<int64_t, static_cast<size_t>(Stall::NumStalls)> Stalls{}; ///< Cycles, by cause.
  /// Histograms, indexed by count: the cycles in which that many µops were issued, started or
  /// retired.
  std::vector<int64_t> Issued, Started, Retired;
  Usage ReorderBuffer, AllSchedulers, Queue;
  std::vector<Usage> Schedulers; ///< As Pipeline::SchedulerPorts.
  std::vector<Usage> Buffers;    ///< As SimulationOptions::Buffers.
  Usage Loads, Stores;           ///< The load buffer and the store buffer.
  /// Registers that instructions got from the register file, and the most that were in use.
  struct Mappings {
    int64_t Count = 0;
    int32_t Most = 0;
  };
  Mappings AllRegisters, General, Vector;
  /// Moves that can be eliminated, those that were, and the most that were in one cycle.
  struct Moves {
    int64_t Candidates = 0, Eliminated = 0, Most = 0;
  };
  Moves GeneralMoves, VectorMoves;
  std::vector<Event> Events;
  /// Cycles that an instruction spent in the pipeline, summed over the recorded iterations.
  struct Wait {
    int64_t Executions = 0, InScheduler = 0, WhileReady = 0, UntilRetired = 0;
  };
  std::vector<Wait> Waits; ///< By instruction.
  PressureCycles Pressure;
  std::vector<SequenceStep> Sequence;
};

/// The result of a run.
struct Simulation {
  Rational CyclesPerIteration; ///< In the steady state, or of all iterations if these were given.
  int32_t Period = 0; ///< Iterations after which retirement repeats exactly; 0: no period was seen.
  int64_t Cycles = 0, Iterations = 0;                                             ///< Simulated.
  std::array<int64_t, static_cast<size_t>(UopSource::NumSources)> UopsBySource{}; ///< Fused.
  std::array<int64_t, static_cast<size_t>(Stall::NumStalls)>
      LostSlots{};               ///< Issue slots, by cause.
  std::vector<int64_t> PortUops; ///< µops started, by port and resource.
  int64_t MovesEliminated = 0, MovesExecuted = 0;
  std::vector<int32_t> UncachedJumps; ///< Jumps that keep a loop's code out of the µop cache.
  Timeline Trace;
  std::vector<StartedUop> Started; ///< With the trace, in the order of their starts.
  Statistics Stats;
};

/// Runs a kernel through the pipeline.
///
/// Without a number of iterations, the run takes at least 500 cycles and 10 iterations, and the
/// throughput is that of the second half of the iterations (Abel and Reineke, ICS 2022). It is
/// exact if the machine returned to an earlier state, or if retirement repeats itself; otherwise
/// its error is a cycle or two divided by the number of iterations. A run whose result is below a
/// bound continues, up to three times as long.
///
/// \throws std::invalid_argument if the fields contradict each other or the number of iterations is
///         negative.
/// \throws std::runtime_error beyond the limit of cycles.
Simulation simulate(const Kernel &K, const Pipeline &P, const SimulationOptions &Options = {});

/// Runs a valid kernel of which `Info` is known, including the addresses that the pipeline needs.
Simulation simulate(const Kernel &K, const Pipeline &P, const SimulationOptions &Options,
                    KernelInfo Info);

/// Returns true if the simulation needs the addresses of loads.
bool needsLoadAddresses(const Pipeline &P);
/// Returns true if the simulation needs the addresses of stores.
bool needsStoreAddresses(const Pipeline &P);

} // namespace incc

#endif // INCC_SIM_H

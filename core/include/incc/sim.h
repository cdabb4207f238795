//===- sim.h - The pipeline, cycle by cycle -------------------------------===//
//
// A kernel runs through boxes with the names that they have in the hardware; each
// is a file of core/lib/sim that says what it does. In every cycle, from 0 on, they
// act in this order, so that each sees what those before it have left behind in
// this cycle and those behind it in the last one:
//
//  1. The reorder buffer retires, in order, up to `retire_width` slots whose last
//     result was there at the end of the cycle before the last (Done + 1 < cycle).
//     With an instruction's last slot its loads leave the load buffer (unless
//     they left with their data), and its stores begin their way to the cache. The
//     store buffer then frees the entries of stores that are in the cache.
//  2. Loads that have their data leave the load buffer, where they do. Then µops
//     start: on each free port the oldest that is ready (oldest_first.h), or in
//     program order (in_order.h). A µop that was issued in cycle c starts in cycle
//     c + `issue_to_dispatch` at the earliest, and never in the cycle in which the
//     last of its inputs became known. Starting, it leaves its scheduler at once,
//     so that the renamer of this cycle finds its entry free, but counts for the
//     choice of ports until the next cycle. It takes port, divider and way, and
//     fixes the times of the values that it feeds; a value without a µop has the
//     latest time of what it follows. A consumer may start in the cycle that a
//     value's time names, by its latency later or earlier.
//  3. µops leave the queue before the schedulers, in order, up to `issue_width`, and
//     get their ports (ports.h).
//  4. The renamer takes up to `issue_width` slots from the µop queue, in order
//     (renamer.h): none at all if reorder buffer, scheduler or load buffer have no
//     room for a whole group of that width, unless they are empty; then slot by
//     slot as long as what a slot needs has room. It decides which moves are
//     eliminated, and each µop gets its port, by the slot that it is in.
//  5. The front end fills the µop queue (frontend.h) with what the renamer sees in
//     the next cycle: first the predecoder, then either the microcode sequencer, the
//     µop cache or the decoders.
//
// Slots that the renamer leaves empty count for the first thing that stood in its
// way. Of several that could go first it is the older one; of several ports, the
// one that the model's order (order.h) and the rule for ports say.
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

// What the values mean is explained in fields.def.
enum class MoveClass : int32_t {
#define MOVE_CLASS(Name, Python) Name,
#include "incc/fields.def"
};
enum class PortBinding : int32_t {
#define PORT_BINDING(Name, Python) Name,
#include "incc/fields.def"
};
/// Where the µops of a kernel come from.
enum class UopSource : int32_t {
#define UOP_SOURCE(Name, Python) Name,
#include "incc/fields.def"
  NumSources
};
/// Why the renamer left issue slots empty in a cycle.
enum class Stall : int32_t {
#define LOST_SLOT(Name, Python) Name,
#include "incc/fields.def"
  NumStalls
};

/// What the simulator needs beyond a Kernel. The fields are those of fields.def, where each is
/// explained.
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

/// Checks lengths, ranges (both as fields.def has them), and what one array says of another.
///
/// \throws std::invalid_argument naming the first array that does not fit, behind "pipeline: ".
void validate(const Kernel &K, const Pipeline &P);

/// A pipeline without front end: the core's widths and window, and nothing else that could hold an
/// instruction up but its inputs and its ports. Every issue slot of an instruction is a µop of its
/// own, which goes to the port with the fewest µops.
Pipeline idealPipeline(const Kernel &K);

/// What a run takes for granted, to show what it would gain.
struct Assumptions {
  bool UnlimitedPorts = false; ///< Every µop starts when its inputs are there.
  bool NoRegisterDependencies = false, NoMemoryDependencies = false;
};

struct SimulationOptions {
  bool Loop = true;          ///< Ends in a jump to its start; else copies follow each other.
  int32_t Alignment = -1;    ///< Of the first byte within 64; -1: the pipeline's.
  int64_t Iterations = 0;    ///< Exactly so many; 0: until the steady state.
  int64_t MaxCycles = 0;     ///< Gives up there; 0: a limit that grows with the kernel.
  bool RecordEvents = false; ///< Fills Simulation::Trace.
  bool Statistics = false;   ///< Fills Simulation::Counted, with
  /// the life of each instruction in so many iterations, as far as it retires before this cycle;
  int32_t EventIterations = 0;
  int64_t EventCycles = INT64_MAX;
  bool Pressure = false; ///< and with why more was dispatched than was started.
  /// Parts of the schedulers of which it is to be known how full they are: the µops that wait for
  /// these ports, of which it shows no more than it has entries.
  struct Buffer {
    uint64_t Ports;
    int32_t Entries;
  };
  std::vector<Buffer> Buffers;
  bool EveryCycle = false; ///< Simulates also what only repeats itself; for tests.
  Assumptions Assume;
  /// Cycles an iteration that no steady state can undercut: a run that comes out below goes on.
  Rational AtLeast{};
};

/// A µop that was started. Times are those of the scheduler, in cycles.
struct StartedUop {
  int64_t Iteration;
  int32_t Instruction;
  /// In the Kernel, or one of these: a move that could have been eliminated, what the renamer puts
  /// before an instruction, and what it adds for none.
  int32_t Uop;
  static constexpr int32_t ExecutedMove = -1, Renamers = -2, Nobodys = -3;
  int32_t Port, PortCycles; ///< Taken from the start on, for so long,
  int32_t Unit, UnitCycles; ///< and so a resource beside it, -1 for none.
  int64_t Dispatched;       ///< Entered its scheduler.
  int64_t Earliest;         ///< Could start, were its inputs there.
  int64_t Ready, Started;
  int64_t Executed; ///< Its last result is there.
  /// An instruction whose result came later than `Earliest`, and when: other ones, or the same in
  /// an iteration before.
  struct LateInput {
    int32_t Instruction;
    int64_t Arrived;
  };
  std::vector<LateInput> Late;
  /// What another µop made for it.
  struct Input {
    int32_t Producer; ///< In Simulation::Started; may start later than the µop that needs it late.
    int32_t Location; ///< That carries it, or one of the following.
    int64_t Arrived;  ///< The µop could start; ThroughMemory: the loaded value was there.
  };
  /// A load of what was stored; between the µops of an instruction; what was stored too, but handed
  /// on by the renamer to whoever needs what is loaded.
  static constexpr int32_t ThroughMemory = -1, WithinInstruction = -2, RenamedMemory = -3;
  std::vector<Input> Inputs;
};

/// The life of one dynamic instruction, in cycles from 0.
struct Event {
  int32_t Iteration, Instruction;
  int64_t Dispatched; ///< Enters reorder buffer and scheduler, with its first issue slot.
  int64_t Ready;      ///< The inputs of the µop that starts first are there.
  int64_t Started;    ///< That µop starts.
  int64_t Executed;   ///< The last result is there: consumers may start in this cycle.
  int64_t Retired;    ///< With its last retire slot; at least one cycle after Executed.
};

struct Timeline {
  std::vector<Event> Events; ///< In program order.
  /// The port or resource of each µop of each event, in the events' order.
  std::vector<int8_t> Ports;
};

/// How full something was, at the ends of cycles.
struct Usage {
  int32_t Entries = 0; ///< 0: no limit.
  int64_t Sum = 0;     ///< Of the entries that were in use, over all cycles.
  int64_t Most = 0;
};

/// The cycles in which the schedulers filled up: more µops came in than started, or there was no
/// room for another one. In so many of these, µops that could have started had their inputs been
/// there, or had their port been free, did not.
struct Pressure {
  int64_t Increase = 0, Resources = 0, Registers = 0, Memory = 0;
  int64_t Data = 0;                ///< Registers or memory.
  std::vector<int64_t> ByResource; ///< By port and resource.
};

/// A µop of a chain in which each one started when it did because of the one before.
struct SequenceStep {
  enum Kind : int32_t { None, Register, Memory, Resource };
  int32_t Instruction;
  int32_t IterationOffset; ///< From the first one's.
  Kind Because;            ///< None: nothing of that kind held it up.
  /// Of Register, a location, or StartedUop::WithinInstruction or RenamedMemory; of Resource, a
  /// port or resource.
  int32_t Via;
  int64_t Cycles; ///< From the start of the one before.
};

/// What happened in the cycles of a run, counted from the one in which its first µop was issued to
/// the one in which its last retired; that first one is cycle 0 of the events. Explained in
/// core/python/__init__.py.
struct Statistics {
  int64_t Cycles = 0, Uops = 0;
  std::array<int64_t, static_cast<size_t>(Stall::NumStalls)> Stalls{}; ///< Cycles.
  /// The cycles in which so many were issued, started, retired (the index).
  std::vector<int64_t> Issued, Started, Retired;
  Usage ReorderBuffer, AllSchedulers, Queue;
  std::vector<Usage> Schedulers; ///< As Pipeline::SchedulerPorts.
  std::vector<Usage> Buffers;    ///< As SimulationOptions::Buffers.
  Usage Loads, Stores;           ///< The buffers of memory accesses.
  struct Mappings {
    int64_t Count = 0;
    int32_t Most = 0;
  };
  Mappings AllRegisters, General, Vector;
  /// Moves that may be eliminated, and are; the most of them in a cycle.
  struct Moves {
    int64_t Candidates = 0, Eliminated = 0, Most = 0;
  };
  Moves GeneralMoves, VectorMoves;
  std::vector<Event> Events;
  /// Sums over the recorded iterations, by instruction.
  struct Wait {
    int64_t Executions = 0, InScheduler = 0, WhileReady = 0, UntilRetired = 0;
  };
  std::vector<Wait> Waits;
  Pressure Why;
  std::vector<SequenceStep> Sequence;
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
  Statistics Counted;
};

/// Runs a kernel through the pipeline.
///
/// Without a number of iterations it runs for at least 500 cycles and 10 iterations, and the
/// throughput is read off the second half of the iterations (Abel and Reineke, ICS 2022): exactly
/// where the machine came back to a state in which it was before, or its retirement repeats itself.
/// Where it does not, the throughput is off by what a cycle or two are of so many iterations; where
/// it comes out below a bound, the run goes on, up to three times as long.
///
/// \throws std::invalid_argument if the arrays contradict each other, or there are fewer iterations
///         than none.
/// \throws std::runtime_error beyond the limit of cycles.
Simulation simulate(const Kernel &K, const Pipeline &P, const SimulationOptions &Options = {});

/// The same with what was worked out before, the addresses of stores included; K is known to be
/// valid.
Simulation simulate(const Kernel &K, const Pipeline &P, const SimulationOptions &Options,
                    Groundwork From);

/// Whether the simulation needs the addresses of loads, and of stores.
bool needsLoadAddresses(const Pipeline &P);
bool needsStoreAddresses(const Pipeline &P);

} // namespace incc

#endif // INCC_SIM_H

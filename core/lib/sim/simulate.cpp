//===- simulate.cpp - The pipeline, cycle by cycle ------------------------===//

#include "renamer.h"

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace incc;
using namespace incc::sim;

namespace {

/// How long a kernel is watched before its throughput is read off (Abel and Reineke, ICS 2022).
constexpr int64_t MinCycles = 500, MinIterations = 10;
/// Further iterations in search of one that retires in the same slot as the one in the middle.
constexpr int64_t MostFurtherIterations = 50;

/// When the last µop of an iteration retired, and as which of that cycle.
struct Retirement {
  int64_t Cycle;
  int32_t Slot;
};

void validatePipeline(const Kernel &K, const Pipeline &P) {
  size_t N = K.InstructionFlags.size();
  auto Check = [&](const char *Array, size_t Size) {
    if (Size != N)
      throw std::invalid_argument(std::string("pipeline: ") + Array + ": " + std::to_string(Size) +
                                  " entries where " + std::to_string(N) + " are expected");
  };
  const std::pair<const char *, const std::vector<int32_t> *> Arrays[] = {
      {"length", &P.Length},
      {"offset", &P.Offset},
      {"opcode_offset", &P.OpcodeOffset},
      {"lcp", &P.Lcp},
      {"fusible", &P.Fusible},
      {"complex_decoder", &P.ComplexDecoder},
      {"simple_decoders", &P.SimpleDecoders},
      {"ends_group", &P.EndsGroup},
      {"uops_mite", &P.UopsMite},
      {"uops_ms", &P.UopsMs},
      {"dsb_extra_slots", &P.DsbExtraSlots},
      {"no_lsd", &P.NoLsd},
      {"merges_low", &P.MergesLow},
      {"merges_high", &P.MergesHigh},
      {"uses_stack", &P.UsesStack},
      {"stack_change", &P.StackChange},
      {"move_class", &P.MoveClasses},
      {"move_from", &P.MoveFrom},
      {"move_to", &P.MoveTo},
      {"move_latency", &P.MoveLatency},
      {"wide_memory", &P.WideMemory},
  };
  for (auto [Name, Values] : Arrays) {
    Check(Name, Values->size());
    for (int32_t Value : *Values)
      if (Value < -(1 << 20) || Value > 1 << 20)
        throw std::invalid_argument(std::string("pipeline: ") + Name + ": " +
                                    std::to_string(Value) + " is out of range");
  }
  Check("move_ports", P.MovePorts.size());
}

/// The throughput between the iteration in the middle and the last one.
Rational readOff(const std::vector<Retirement> &Retired) {
  size_t Last = Retired.size(), Middle = Last / 2;
  return Rational(Retired[Last - 1].Cycle - Retired[Middle - 1].Cycle,
                  static_cast<int64_t>(Last - Middle));
}

bool isSteady(const std::vector<Retirement> &Retired) {
  return Retired[Retired.size() - 1].Slot == Retired[Retired.size() / 2 - 1].Slot;
}

} // namespace

Simulation incc::simulate(const Kernel &K, const Pipeline &Pipe, const SimulationOptions &Options) {
  validate(K);
  validatePipeline(K, Pipe);
  Simulation Result;
  Program P(K, Pipe, Options.Assume);
  if (P.Entries.empty())
    return Result;
  CodeLayout Code(P, Options.Loop, Options.Alignment < 0 ? Pipe.Alignment : Options.Alignment);
  Backend Back(P, Result, Options.Assume.UnlimitedPorts);
  FrontEnd Front(P, Code, Result);
  Renamer Rename(P, Code, Front, Back, Result);
  if (Options.Iterations > 0)
    Rename.LastIteration = Options.Iterations - 1;
  int64_t Limit = Options.MaxCycles > 0
                      ? Options.MaxCycles
                      : 1'000'000 + 100'000 * static_cast<int64_t>(K.numInstructions());

  // The first half of the iterations must have filled the reorder buffer and emptied it again.
  int64_t WantedIterations =
      std::max<int64_t>(MinIterations, 4 * int64_t(K.Rob) / static_cast<int64_t>(P.Slots.size()));
  std::vector<Retirement> Retired;
  int64_t Cycle = 0, EnoughAt = 0;
  for (bool Done = false; !Done; ++Cycle) {
    if (Cycle >= Limit)
      throw std::runtime_error("the simulation was given up after " + std::to_string(Limit) +
                               " cycles and " + std::to_string(Retired.size()) + " iterations");
    Back.Rob.retire(Cycle, [&](int32_t Slot) { Retired.push_back({Cycle, Slot}); });
    Back.dispatch(Cycle);
    Rename.cycle(Cycle);
    Front.cycle(Cycle);
    int64_t Iterations = static_cast<int64_t>(Retired.size());
    if (Options.Iterations > 0) {
      Done = Iterations >= Options.Iterations;
    } else if (Cycle >= MinCycles && Iterations >= WantedIterations) {
      if (EnoughAt == 0)
        EnoughAt = Iterations;
      Done = isSteady(Retired) || Iterations >= EnoughAt + MostFurtherIterations;
    }
  }
  Result.Cycles = Cycle;
  Result.Iterations = static_cast<int64_t>(Retired.size());
  Result.CyclesPerIteration =
      Options.Iterations > 0 ? Rational(Cycle, Result.Iterations) : readOff(Retired);
  return Result;
}

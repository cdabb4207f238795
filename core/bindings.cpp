//===- bindings.cpp - The core as a Python module -------------------------===//
//
// The only file that knows both sides: it reads the attributes of a BoundKernel
// (models/bound.py) into a plain structure and wraps the results in the types
// of core/python/__init__.py, which hands their classes in.
//
//===----------------------------------------------------------------------===//

#include "incc/analysis.h"
#include "incc/sim.h"
#include "incc/timeline.h"

#include <pybind11/pybind11.h>

#include <bit>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace py = pybind11;
using namespace incc;

namespace {

// --- BoundKernel to Kernel --------------------------------------------------------------------

/// An integer of an array as T, or ValueError. Displacements, constants and coefficients (int64_t)
/// are taken modulo 2^64: whether -8 or 2^64 - 8 is meant is the same address.
template <typename T> T toInteger(PyObject *Object, const char *Array) {
  auto Fail = [&](const char *What) {
    PyErr_Clear();
    throw py::value_error(std::string(Array) + ": " + py::repr(Object).cast<std::string>() + " " +
                          What);
  };
  if (!PyLong_Check(Object))
    Fail("is not an integer");
  if constexpr (sizeof(T) == 8 && std::is_signed_v<T>) {
    return static_cast<T>(PyLong_AsUnsignedLongLongMask(Object));
  } else if constexpr (sizeof(T) == 8) {
    T Value = PyLong_AsUnsignedLongLong(Object);
    if (Value == static_cast<T>(-1) && PyErr_Occurred())
      Fail("does not fit into 64 bits");
    return Value;
  } else {
    long Value = PyLong_AsLong(Object);
    if ((Value == -1 && PyErr_Occurred()) || Value < INT32_MIN || Value > INT32_MAX)
      Fail("does not fit into 32 bits");
    return static_cast<T>(Value);
  }
}

/// The name of an attribute as a Python string. Some hundred are looked up for each kernel: they
/// are made once, and found by the addresses of their literals.
PyObject *attributeName(const char *Name) {
  static std::unordered_map<const char *, PyObject *> Known;
  PyObject *&Object = Known[Name];
  if (!Object && !(Object = PyUnicode_InternFromString(Name)))
    throw py::error_already_set();
  return Object;
}

py::object attribute(py::handle Bound, const char *Name) {
  PyObject *Object = PyObject_GetAttr(Bound.ptr(), attributeName(Name));
  if (!Object) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      throw py::error_already_set();
    PyErr_Clear();
    throw py::value_error(std::string(Name) + ": not set");
  }
  return py::reinterpret_steal<py::object>(Object);
}

void read(py::handle Bound, const char *Name, int32_t &To) {
  To = toInteger<int32_t>(attribute(Bound, Name).ptr(), Name);
}

template <typename T> void read(py::handle Bound, const char *Name, std::vector<T> &To) {
  py::object Sequence = py::reinterpret_steal<py::object>(
      PySequence_Fast(attribute(Bound, Name).ptr(), "not a sequence"));
  if (!Sequence) {
    PyErr_Clear();
    throw py::value_error(std::string(Name) + ": not a sequence");
  }
  Py_ssize_t Size = PySequence_Fast_GET_SIZE(Sequence.ptr());
  PyObject **Items = PySequence_Fast_ITEMS(Sequence.ptr());
  To.reserve(static_cast<size_t>(Size));
  for (Py_ssize_t I = 0; I < Size; ++I)
    To.push_back(toInteger<T>(Items[I], Name));
}

int32_t lengthOf(py::handle Bound, const char *Name) {
  return static_cast<int32_t>(py::len(attribute(Bound, Name)));
}

Kernel readKernel(py::handle Bound) {
  Kernel K;
  read(Bound, "n_ports", K.NumPorts);
  K.NumColumns = lengthOf(Bound, "port_names");
  K.NumLocations = lengthOf(Bound, "location_names");
  read(Bound, "instruction_flags", K.InstructionFlags);
  read(Bound, "issue_slots", K.IssueSlots);
  read(Bound, "retire_slots", K.RetireSlots);
  read(Bound, "load_latency", K.LoadLatency);
  read(Bound, "uop_start", K.UopStart);
  read(Bound, "uop_ports", K.UopPorts);
  read(Bound, "uop_cycles", K.UopCycles);
  read(Bound, "uop_kind", K.UopKinds);
  read(Bound, "value_start", K.ValueStart);
  read(Bound, "value_kind", K.ValueKinds);
  read(Bound, "output_start", K.OutputStart);
  read(Bound, "output_location", K.OutputLocation);
  read(Bound, "input_start", K.InputStart);
  read(Bound, "input_kind", K.InputKinds);
  read(Bound, "input_id", K.InputId);
  read(Bound, "input_latency", K.InputLatency);
  read(Bound, "memory_of_value", K.MemoryOfValue);
  read(Bound, "memory_base", K.MemoryBase);
  read(Bound, "memory_index", K.MemoryIndex);
  read(Bound, "memory_scale", K.MemoryScale);
  read(Bound, "memory_displacement", K.MemoryDisplacement);
  read(Bound, "memory_size", K.MemorySize);
  read(Bound, "memory_symbol", K.MemorySymbol);
  read(Bound, "memory_class", K.MemoryClass);
  read(Bound, "memory_elements", K.MemoryElements);
  read(Bound, "affine_start", K.AffineStart);
  read(Bound, "affine_target", K.AffineTarget);
  read(Bound, "affine_constant", K.AffineConstant);
  read(Bound, "affine_term_start", K.AffineTermStart);
  read(Bound, "affine_term_location", K.AffineTermLocation);
  read(Bound, "affine_term_coefficient", K.AffineTermCoefficient);
  read(Bound, "entry_location", K.EntryLocation);
  read(Bound, "entry_constant", K.EntryConstant);
  read(Bound, "entry_term_start", K.EntryTermStart);
  read(Bound, "entry_term_unknown", K.EntryTermUnknown);
  read(Bound, "entry_term_coefficient", K.EntryTermCoefficient);
  read(Bound, "issue_width", K.IssueWidth);
  read(Bound, "retire_width", K.RetireWidth);
  read(Bound, "rob", K.Rob);
  read(Bound, "rs", K.Rs);
  read(Bound, "load_buffer", K.LoadBuffer);
  read(Bound, "store_buffer", K.StoreBuffer);
  read(Bound, "issue_to_execute", K.IssueToExecute);
  read(Bound, "line_bytes", K.LineBytes);
  read(Bound, "line_crossing_cycles", K.LineCrossingCycles);
  read(Bound, "forward_class", K.ForwardClass);
  read(Bound, "forward_cycles", K.ForwardCycles);
  return K;
}

Pipeline readPipeline(py::handle Bound) {
  Pipeline P;
  read(Bound, "length", P.Length);
  read(Bound, "offset", P.Offset);
  read(Bound, "opcode_offset", P.OpcodeOffset);
  read(Bound, "lcp", P.Lcp);
  read(Bound, "fusible", P.Fusible);
  read(Bound, "complex_decoder", P.ComplexDecoder);
  read(Bound, "simple_decoders", P.SimpleDecoders);
  read(Bound, "ends_group", P.EndsGroup);
  read(Bound, "uops_mite", P.UopsMite);
  read(Bound, "uops_ms", P.UopsMs);
  read(Bound, "dsb_extra_slots", P.DsbExtraSlots);
  read(Bound, "no_lsd", P.NoLsd);
  read(Bound, "merges_low", P.MergesLow);
  read(Bound, "merges_high", P.MergesHigh);
  read(Bound, "uses_stack", P.UsesStack);
  read(Bound, "stack_change", P.StackChange);
  read(Bound, "stack_location", P.StackLocation);
  read(Bound, "stack_offset_limit", P.StackOffsetLimit);
  read(Bound, "move_class", P.MoveClasses);
  read(Bound, "move_from", P.MoveFrom);
  read(Bound, "move_to", P.MoveTo);
  read(Bound, "move_ports", P.MovePorts);
  read(Bound, "move_latency", P.MoveLatency);
  read(Bound, "wide_memory", P.WideMemory);
  read(Bound, "address_unit", P.AddressUnit);
  read(Bound, "alignment", P.Alignment);
  read(Bound, "port_binding", P.Binding);
  P.LoadMask = toInteger<uint64_t>(attribute(Bound, "load_mask").ptr(), "load_mask");
  P.RenamerPorts = toInteger<uint64_t>(attribute(Bound, "renamer_ports").ptr(), "renamer_ports");
  read(Bound, "alternating", P.Alternating);
  read(Bound, "picked_from", P.PickedFrom);
  read(Bound, "queued_at", P.QueuedAt);
  read(Bound, "scheduler_ports", P.SchedulerPorts);
  read(Bound, "scheduler_entries", P.SchedulerEntries);
  P.WaitingPorts = toInteger<uint64_t>(attribute(Bound, "waiting_ports").ptr(), "waiting_ports");
  P.OneACycle = toInteger<uint64_t>(attribute(Bound, "one_a_cycle").ptr(), "one_a_cycle");
  read(Bound, "waiting_entries", P.WaitingEntries);
  read(Bound, "lsd_unroll", P.LsdUnroll);
  read(Bound, "issue_to_dispatch", P.IssueToDispatch);
  read(Bound, "idq", P.Idq);
  read(Bound, "predecode_block_bytes", P.PredecodeBlockBytes);
  read(Bound, "predecode_width", P.PredecodeWidth);
  read(Bound, "predecode_to_decode", P.PredecodeToDecode);
  read(Bound, "lcp_stall", P.LcpStall);
  read(Bound, "iq", P.Iq);
  read(Bound, "decoders", P.NumDecoders);
  read(Bound, "ms_width", P.MsWidth);
  read(Bound, "dsb_width", P.DsbWidth);
  read(Bound, "dsb_block", P.DsbBlock);
  read(Bound, "dsb_ms_stall", P.DsbMsStall);
  read(Bound, "both_32B_halves_must_be_cacheable", P.BothHalvesMustBeCacheable);
  read(Bound, "branch_may_end_cached_block", P.BranchMayEndCachedBlock);
  read(Bound, "fusible_may_be_last_decoded", P.FusibleMayBeLastDecoded);
  read(Bound, "lsd", P.Lsd);
  read(Bound, "move_elim_gpr", P.MoveElimGpr);
  read(Bound, "move_elim_simd", P.MoveElimSimd);
  read(Bound, "move_elim_pipeline", P.MoveElimPipeline);
  read(Bound, "move_elim_all_aliases_overwritten", P.MoveElimAllAliases);
  read(Bound, "slow_256bit_memory", P.Slow256BitMemory);
  read(Bound, "just_ready_penalty", P.JustReadyPenalty);
  read(Bound, "alternating_imbalance", P.AlternatingImbalance);
  read(Bound, "store_commit_bytes", P.StoreCommitBytes);
  read(Bound, "loads_leave_when_done", P.LoadsLeaveWhenDone);
  read(Bound, "microcode_alone", P.MicrocodeAlone);
  read(Bound, "dsb_groups", P.DsbGroups);
  read(Bound, "decode_clusters", P.DecodeClusters);
  read(Bound, "clusters_need_jumps", P.ClustersNeedJumps);
  read(Bound, "in_order", P.InOrder);
  read(Bound, "address_to_execute", P.AddressToExecute);
  return P;
}

// --- results to Python ------------------------------------------------------------------------

/// Makes instances of one NamedTuple class without going through its Python-level constructor,
/// which would take most of the time of an analysis.
class NamedTuple {
public:
  explicit NamedTuple(py::handle Class) : Class(reinterpret_cast<PyTypeObject *>(Class.ptr())) {
    if (!PyType_Check(Class.ptr()) || !PyType_IsSubtype(this->Class, &PyTuple_Type))
      throw py::type_error("expected a NamedTuple class");
  }

  template <typename... Fields> py::object operator()(Fields &&...Values) const {
    PyObject *Tuple = Class->tp_alloc(Class, sizeof...(Fields));
    if (!Tuple)
      throw py::error_already_set();
    Py_ssize_t I = 0;
    (PyTuple_SET_ITEM(Tuple, I++, toPython(std::forward<Fields>(Values)).release().ptr()), ...);
    return py::reinterpret_steal<py::object>(Tuple);
  }

private:
  static py::object toPython(py::object Value) { return Value; }
  static py::object toPython(bool Value) { return py::bool_(Value); }
  static py::object toPython(int32_t Value) { return py::int_(Value); }
  static py::object toPython(int64_t Value) { return py::int_(Value); }

  PyTypeObject *Class;
};

template <typename Range, typename Fn> py::tuple toTuple(const Range &Values, Fn Convert) {
  py::tuple Result(std::size(Values));
  size_t I = 0;
  for (const auto &Value : Values) {
    py::object Item = Convert(Value);
    PyTuple_SET_ITEM(Result.ptr(), static_cast<Py_ssize_t>(I++), Item.release().ptr());
  }
  return Result;
}

py::tuple toTuple(const std::vector<double> &Values, size_t Begin, size_t Count) {
  static const py::handle Zero = py::float_(0.0).release(); // Most entries of a pressure table.
  py::tuple Result(Count);
  for (size_t I = 0; I < Count; ++I) {
    double Value = Values[Begin + I];
    py::object Item =
        Value == 0 ? py::reinterpret_borrow<py::object>(Zero) : py::object(py::float_(Value));
    PyTuple_SET_ITEM(Result.ptr(), static_cast<Py_ssize_t>(I), Item.release().ptr());
  }
  return Result;
}

py::tuple pressureRows(const PortPressure &P) {
  size_t Columns = P.Load.size();
  size_t Rows = Columns == 0 ? 0 : P.Pressure.size() / Columns;
  py::tuple Result(Rows);
  for (size_t I = 0; I < Rows; ++I)
    PyTuple_SET_ITEM(Result.ptr(), static_cast<Py_ssize_t>(I),
                     toTuple(P.Pressure, I * Columns, Columns).release().ptr());
  return Result;
}

py::tuple portsOf(uint64_t Mask) {
  py::tuple Result(static_cast<size_t>(std::popcount(Mask)));
  for (size_t I = 0; Mask != 0; Mask &= Mask - 1)
    Result[I++] = py::int_(std::countr_zero(Mask));
  return Result;
}

py::object analyzeBound(py::handle Bound, py::handle Fraction, py::handle EdgeClass,
                        py::handle StepClass, py::handle ChainClass, py::handle AnalysisClass) {
  Kernel K = readKernel(Bound);
  Analysis A;
  {
    py::gil_scoped_release NoPython;
    A = analyze(K);
  }
  NamedTuple MakeEdge(EdgeClass), MakeStep(StepClass), MakeChain(ChainClass),
      MakeAnalysis(AnalysisClass);
  auto ToFraction = [&](Rational R) {
    return py::object(Fraction(R.numerator(), R.denominator()));
  };
  auto ToStep = [&](const Edge &E) {
    return MakeStep(E.Producer, E.Consumer, E.Location, E.Latency, E.Distance);
  };
  auto ToEdge = [&](const Edge &E) {
    return MakeEdge(E.Producer, E.ProducerValue, E.Consumer, E.ConsumerValue, E.Location, E.Latency,
                    E.Distance);
  };
  auto ToChain = [&](const Chain &C) {
    return MakeChain(C.Latency, C.Distance, toTuple(C.Steps, ToStep));
  };
  auto ToInt = [](int32_t Value) { return py::int_(Value); };
  return MakeAnalysis(pressureRows(A.Balanced), toTuple(A.Balanced.Load, 0, A.Balanced.Load.size()),
                      pressureRows(A.Fixed), toTuple(A.Fixed.Load, 0, A.Fixed.Load.size()),
                      portsOf(A.Balanced.Busiest), ToFraction(A.Balanced.Bound),
                      ToFraction(A.Fixed.Bound), ToFraction(A.Resource), ToFraction(A.FrontEnd),
                      ToFraction(A.Retire), ToFraction(A.Carried.Bound),
                      ToFraction(A.WorstAlignmentBound), ToFraction(A.LineCrossings),
                      ToFraction(A.WorstLineCrossings), ToFraction(A.ExpectedLineCrossings),
                      A.Path.Cycles, toTuple(A.Path.Steps, ToStep),
                      toTuple(A.Path.Instructions, ToInt), toTuple(A.Carried.Chains, ToChain),
                      A.Carried.Complete, toTuple(A.Dependencies.Edges, ToEdge));
}

py::tuple toEvents(const Kernel &K, const Timeline &T, py::handle EventClass) {
  NamedTuple MakeEvent(EventClass);
  size_t FirstUop = 0;
  return toTuple(T.Events, [&](const Event &E) {
    size_t Uops = static_cast<size_t>(K.UopStart[E.Instruction + 1] - K.UopStart[E.Instruction]);
    py::tuple Ports(Uops);
    for (size_t U = 0; U < Uops; ++U)
      Ports[U] = py::int_(static_cast<int>(T.Ports[FirstUop + U]));
    FirstUop += Uops;
    return MakeEvent(E.Iteration, E.Instruction, E.Dispatched, E.Ready, E.Started, E.Executed,
                     E.Retired, std::move(Ports));
  });
}

py::tuple timelineOf(py::handle Bound, int32_t Iterations, int64_t MaxCycles,
                     py::handle EventClass) {
  Kernel K = readKernel(Bound);
  Timeline T;
  {
    py::gil_scoped_release NoPython;
    T = runTimeline(K, Iterations, MaxCycles);
  }
  return toEvents(K, T, EventClass);
}

py::tuple toUops(const std::vector<StartedUop> &Uops, py::handle UopClass) {
  NamedTuple MakeUop(UopClass);
  return toTuple(Uops, [&](const StartedUop &U) {
    return MakeUop(U.Iteration, U.Instruction, U.Port, U.PortCycles, U.Unit, U.UnitCycles,
                   U.Earliest, U.Ready, U.Started,
                   py::object(toTuple(U.Late, [](const StartedUop::LateInput &In) -> py::object {
                     return py::make_tuple(In.Instruction, In.Arrived);
                   })));
  });
}

/// The classes that a simulation's results are made of.
struct SimulationClasses {
  py::handle Fraction, Event, Uop, Simulation;
};

py::object toFraction(Rational R, py::handle Fraction) {
  return Fraction(R.numerator(), R.denominator());
}

py::object toBounds(const Bounds &B, py::handle Fraction, py::handle BoundsClass) {
  return NamedTuple(BoundsClass)(toFraction(B.Port, Fraction), toFraction(B.Divider, Fraction),
                                 toFraction(B.FrontEnd, Fraction), toFraction(B.Retire, Fraction),
                                 toFraction(B.LoopCarried, Fraction));
}

py::object toSimulation(const Kernel &K, const Simulation &S, const SimulationClasses &Classes) {
  auto ToInt = [](int64_t Value) { return py::int_(Value); };
  return NamedTuple(Classes.Simulation)(
      toFraction(S.CyclesPerIteration, Classes.Fraction), S.Period, S.Cycles, S.Iterations,
      toTuple(S.Uops, ToInt), toTuple(S.LostSlots, ToInt), toTuple(S.PortUops, ToInt),
      S.MovesEliminated, S.MovesExecuted, toEvents(K, S.Trace, Classes.Event),
      toUops(S.Started, Classes.Uop));
}

py::object boundsOf(py::handle Bound, py::handle Fraction, py::handle BoundsClass) {
  Kernel K = readKernel(Bound);
  Bounds B;
  {
    py::gil_scoped_release NoPython;
    B = findBounds(K, layGroundwork(K, /*StoreAddresses=*/false));
  }
  return toBounds(B, Fraction, BoundsClass);
}

py::object simulateBound(py::handle Bound, bool Loop, int32_t Alignment, int32_t Iterations,
                         int64_t MaxCycles, bool Record, bool EveryCycle, bool UnlimitedPorts,
                         bool NoRegisters, bool NoMemory, py::handle Fraction,
                         py::handle EventClass, py::handle UopClass, py::handle SimulationClass) {
  Kernel K = readKernel(Bound);
  Pipeline P = readPipeline(attribute(Bound, "pipeline"));
  SimulationOptions Options{Loop,
                            Alignment,
                            Iterations,
                            MaxCycles,
                            Record,
                            EveryCycle,
                            {UnlimitedPorts, NoRegisters, NoMemory}};
  Simulation S;
  {
    py::gil_scoped_release NoPython;
    S = simulate(K, P, Options);
  }
  return toSimulation(K, S, {Fraction, EventClass, UopClass, SimulationClass});
}

py::tuple boundsAndSimulation(py::handle Bound, bool Loop, py::handle Fraction,
                              py::handle EventClass, py::handle UopClass, py::handle BoundsClass,
                              py::handle SimulationClass) {
  Kernel K = readKernel(Bound);
  Pipeline P = readPipeline(attribute(Bound, "pipeline"));
  SimulationOptions Options;
  Options.Loop = Loop;
  Bounds B;
  Simulation S;
  {
    py::gil_scoped_release NoPython;
    Groundwork From = layGroundwork(K, needsStoreAddresses(P));
    B = findBounds(K, From);
    S = simulate(K, P, Options, std::move(From));
  }
  return py::make_tuple(toBounds(B, Fraction, BoundsClass),
                        toSimulation(K, S, {Fraction, EventClass, UopClass, SimulationClass}));
}

} // namespace

PYBIND11_MODULE(_core, M) {
  M.doc() = "incc's native core; use it through the package incc.core.";
  M.def("analyze", &analyzeBound, py::arg("bound"), py::arg("fraction"), py::arg("edge"),
        py::arg("step"), py::arg("chain"), py::arg("analysis"));
  M.def("bounds", &boundsOf, py::arg("bound"), py::arg("fraction"), py::arg("bounds"));
  M.def("bounds_and_simulation", &boundsAndSimulation, py::arg("bound"), py::arg("loop"),
        py::arg("fraction"), py::arg("event"), py::arg("uop"), py::arg("bounds"),
        py::arg("simulation"));
  M.def("timeline", &timelineOf, py::arg("bound"), py::arg("iterations"), py::arg("max_cycles"),
        py::arg("event"));
  M.def("simulate", &simulateBound, py::arg("bound"), py::arg("loop"), py::arg("alignment"),
        py::arg("iterations"), py::arg("max_cycles"), py::arg("record"), py::arg("every_cycle"),
        py::arg("unlimited_ports"), py::arg("no_register_dependencies"),
        py::arg("no_memory_dependencies"), py::arg("fraction"), py::arg("event"), py::arg("uop"),
        py::arg("simulation"));
}

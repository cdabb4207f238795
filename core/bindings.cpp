//===- bindings.cpp - The core as a Python module -------------------------===//
//
// The only file that knows both sides: it reads the attributes of a BoundKernel
// (models/binding/bound.py) into a plain structure and wraps the results in the types
// of core/python/__init__.py, which hands their classes in.
//
//===----------------------------------------------------------------------===//

#include "incc/analysis.h"
#include "incc/deadline.h"
#include "incc/memory.h"
#include "incc/sim.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

namespace py = pybind11;
using namespace incc;

namespace {

// --- BoundKernel to Kernel --------------------------------------------------------------------

/// Converts an integer of an array to T, or raises ValueError. Displacements, constants and
/// coefficients (int64_t) are taken modulo 2^64: -8 and 2^64 - 8 are the same address.
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

/// A field's name in C++ and in Python. A kernel has a hundred fields, so the strings are made
/// once, under Python's lock.
struct FieldName {
  const char *Text;
  PyObject *Object;
};

#define FIELD(Name)                                                                                \
  [] {                                                                                             \
    static PyObject *const Object = PyUnicode_InternFromString(#Name);                             \
    return FieldName{#Name, Object};                                                               \
  }()

py::object attribute(py::handle Bound, FieldName Name) {
  PyObject *Object = PyObject_GetAttr(Bound.ptr(), Name.Object);
  if (!Object) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      throw py::error_already_set();
    PyErr_Clear();
    throw py::value_error(std::string(Name.Text) + ": not set");
  }
  return py::reinterpret_steal<py::object>(Object);
}

/// Reads an enumerator as a 32-bit number; validate() checks that it exists.
template <typename T> void read(py::handle Bound, FieldName Name, T &To) {
  using Number = std::conditional_t<std::is_enum_v<T>, int32_t, T>;
  To = static_cast<T>(toInteger<Number>(attribute(Bound, Name).ptr(), Name.Text));
}

template <typename T> void read(py::handle Bound, FieldName Name, std::vector<T> &To) {
  using Number = std::conditional_t<std::is_enum_v<T>, int32_t, T>;
  py::object Sequence = py::reinterpret_steal<py::object>(
      PySequence_Fast(attribute(Bound, Name).ptr(), "not a sequence"));
  if (!Sequence) {
    PyErr_Clear();
    throw py::value_error(std::string(Name.Text) + ": not a sequence");
  }
  Py_ssize_t Size = PySequence_Fast_GET_SIZE(Sequence.ptr());
  PyObject **Items = PySequence_Fast_ITEMS(Sequence.ptr());
  To.reserve(static_cast<size_t>(Size));
  for (Py_ssize_t I = 0; I < Size; ++I)
    To.push_back(static_cast<T>(toInteger<Number>(Items[I], Name.Text)));
}

int32_t lengthOf(py::handle Bound, FieldName Name) {
  Py_ssize_t Size = PySequence_Size(attribute(Bound, Name).ptr());
  if (Size < 0) {
    PyErr_Clear();
    throw py::value_error(std::string(Name.Text) + ": not a sequence");
  }
  return static_cast<int32_t>(Size);
}

Kernel readKernel(py::handle Bound) {
  Kernel K;
#define KERNEL_NAMES(Member, Name) K.Member = lengthOf(Bound, FIELD(Name));
#define KERNEL_SCALAR(Member, Name, Default, Low, High) read(Bound, FIELD(Name), K.Member);
#define KERNEL_ARRAY(Member, Name, Owners, Low, High) read(Bound, FIELD(Name), K.Member);
#define KERNEL_ENUMS(Type, Member, Name, Owners) read(Bound, FIELD(Name), K.Member);
#define KERNEL_WIDE(Member, Name, Owners) read(Bound, FIELD(Name), K.Member);
#define KERNEL_MASKS(Member, Name, Owners) read(Bound, FIELD(Name), K.Member);
#define KERNEL_START(Member, Name, Owners, Entries) read(Bound, FIELD(Name), K.Member);
#include "incc/fields.def"
  return K;
}

Pipeline readPipeline(py::handle BoundKernel) {
  py::object Bound = attribute(BoundKernel, FIELD(pipeline));
  Pipeline P;
#define PIPELINE_PARAMETER(Member, Name, Default, Low, High) read(Bound, FIELD(Name), P.Member);
#define PIPELINE_SCALAR(Member, Name, Default, Low, High) read(Bound, FIELD(Name), P.Member);
#define PIPELINE_ENUM(Type, Member, Name, Default) read(Bound, FIELD(Name), P.Member);
#define PIPELINE_MASK(Member, Name) read(Bound, FIELD(Name), P.Member);
#define PIPELINE_ARRAY(Member, Name, Owners, Low, High) read(Bound, FIELD(Name), P.Member);
#define PIPELINE_ENUMS(Type, Member, Name, Owners) read(Bound, FIELD(Name), P.Member);
#define PIPELINE_MASKS(Member, Name, Owners) read(Bound, FIELD(Name), P.Member);
#include "incc/fields.def"
  return P;
}

/// Returns the default values of the numeric fields of Kernel and Pipeline, by name.
py::tuple defaults() {
  Kernel K;
  Pipeline P;
  py::dict OfKernel, OfPipeline;
#define KERNEL_SCALAR(Member, Name, Default, Low, High) OfKernel[#Name] = K.Member;
#define PIPELINE_PARAMETER(Member, Name, Default, Low, High) OfPipeline[#Name] = P.Member;
#define PIPELINE_SCALAR(Member, Name, Default, Low, High) OfPipeline[#Name] = P.Member;
#define PIPELINE_ENUM(Type, Member, Name, Default)                                                 \
  OfPipeline[#Name] = static_cast<int32_t>(P.Member);
#define PIPELINE_MASK(Member, Name) OfPipeline[#Name] = P.Member;
#include "incc/fields.def"
  return py::make_tuple(OfKernel, OfPipeline);
}

// --- results to Python ------------------------------------------------------------------------

/// Makes instances of one msgspec.Struct class, whose fields are given in their order.
class Record {
public:
  explicit Record(py::handle Class)
      : Class(py::reinterpret_borrow<py::object>(Class)),
        Names(py::tuple(Class.attr("__struct_fields__"))) {}

  template <typename... Fields> py::object operator()(Fields &&...Values) const {
    constexpr size_t Count = sizeof...(Fields);
    if (Names.size() != Count)
      throw py::type_error("a record with another number of fields");
    std::array<py::object, Count> Owned{toPython(std::forward<Fields>(Values))...};
    std::array<PyObject *, Count> Arguments;
    for (size_t I = 0; I < Count; ++I)
      Arguments[I] = Owned[I].ptr();
    PyObject *Made = PyObject_Vectorcall(Class.ptr(), Arguments.data(), 0, Names.ptr());
    if (!Made)
      throw py::error_already_set();
    return py::reinterpret_steal<py::object>(Made);
  }

private:
  static py::object toPython(py::object Value) { return Value; }
  static py::object toPython(bool Value) { return py::bool_(Value); }
  static py::object toPython(int32_t Value) { return py::int_(Value); }
  static py::object toPython(int64_t Value) { return py::int_(Value); }

  py::object Class;
  py::tuple Names;
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

py::tuple toStreams(const std::vector<Stream> &Streams, py::handle StreamClass) {
  Record MakeStream(StreamClass);
  return toTuple(Streams, [&](const Stream &S) {
    py::object Step = S.Steady ? py::object(py::int_(S.Step)) : py::none();
    return MakeStream(S.Instruction, S.Store, S.Bytes, S.Part, S.Object, S.Offset, std::move(Step));
  });
}

py::object analyzeBound(py::handle Bound, py::handle Fraction, py::handle EdgeClass,
                        py::handle StepClass, py::handle ChainClass, py::handle StreamClass,
                        py::handle AnalysisClass) {
  Kernel K = readKernel(Bound);
  Analysis A;
  {
    py::gil_scoped_release NoPython;
    A = analyze(K);
  }
  Record MakeEdge(EdgeClass), MakeStep(StepClass), MakeChain(ChainClass),
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
  return MakeAnalysis(
      pressureRows(A.Balanced), toTuple(A.Balanced.Load, 0, A.Balanced.Load.size()),
      pressureRows(A.Fixed), toTuple(A.Fixed.Load, 0, A.Fixed.Load.size()),
      portsOf(A.Balanced.Busiest), ToFraction(A.Balanced.Bound), ToFraction(A.Fixed.Bound),
      ToFraction(A.Resource), ToFraction(A.FrontEnd), ToFraction(A.Retire),
      ToFraction(A.Carried.Bound), ToFraction(A.WorstAlignmentBound), ToFraction(A.LineCrossings),
      ToFraction(A.WorstLineCrossings), ToFraction(A.ExpectedLineCrossings), A.Path.Cycles,
      toTuple(A.Path.Steps, ToStep), toTuple(A.Path.Instructions, ToInt),
      toTuple(A.Carried.Chains, ToChain), A.Carried.Complete, toTuple(A.Dependencies.Edges, ToEdge),
      toStreams(A.Streams, StreamClass));
}

py::tuple toEvents(const Kernel &K, const Timeline &T, py::handle EventClass) {
  Record MakeEvent(EventClass);
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

py::tuple toUops(const std::vector<StartedUop> &Uops, py::handle UopClass, py::handle InputClass) {
  Record MakeUop(UopClass), MakeInput(InputClass);
  return toTuple(Uops, [&](const StartedUop &U) {
    return MakeUop(U.Iteration, U.Instruction, U.Uop, U.Port, U.PortCycles, U.Unit, U.UnitCycles,
                   U.Dispatched, U.Earliest, U.Ready, U.Started, U.Executed,
                   py::object(toTuple(U.Late,
                                      [](const StartedUop::LateInput &In) -> py::object {
                                        return py::make_tuple(In.Instruction, In.Arrived);
                                      })),
                   py::object(toTuple(U.Inputs, [&](const StartedUop::Input &In) {
                     return MakeInput(In.Producer, In.Location, In.Arrived);
                   })));
  });
}

/// The Python classes of a simulation's results.
struct SimulationClasses {
  py::handle Fraction, Event, Uop, UopInput, UopsBySource, LostSlots, Simulation, Statistics, Usage,
      Mappings, Wait, Pressure, SequenceStep;
};

SimulationClasses classesOf(const py::tuple &Classes) {
  if (Classes.size() != 13)
    throw py::type_error("expected the classes of a simulation");
  return {Classes[0], Classes[1], Classes[2], Classes[3],  Classes[4],  Classes[5], Classes[6],
          Classes[7], Classes[8], Classes[9], Classes[10], Classes[11], Classes[12]};
}

/// Converts counters to the Record that has a field for each.
template <size_t N> py::object toCounters(const std::array<int64_t, N> &Counted, py::handle Class) {
  auto Make = [&](auto... Number) { return Record(Class)(Number...); };
  return std::apply(Make, Counted);
}

py::object toFraction(Rational R, py::handle Fraction) {
  return Fraction(R.numerator(), R.denominator());
}

py::object toBounds(const Bounds &B, py::handle Fraction, py::handle BoundsClass) {
  return Record(BoundsClass)(toFraction(B.Port, Fraction), toFraction(B.Divider, Fraction),
                             toFraction(B.FrontEnd, Fraction), toFraction(B.Retire, Fraction),
                             toFraction(B.LoopCarried, Fraction));
}

/// Converts a histogram to pairs (count, cycles), without counts that never occurred.
py::tuple toHistogram(const std::vector<int64_t> &Cycles) {
  py::list Result;
  for (size_t Count = 0; Count < Cycles.size(); ++Count)
    if (Cycles[Count] > 0)
      Result.append(py::make_tuple(Count, Cycles[Count]));
  return py::tuple(Result);
}

py::object toStatistics(const Statistics &S, bool Pressure, const SimulationClasses &Classes) {
  Record MakeUsage(Classes.Usage), MakeMappings(Classes.Mappings), MakeEvent(Classes.Event),
      MakeWait(Classes.Wait), MakeStep(Classes.SequenceStep);
  auto ToUsage = [&](const Usage &U) { return MakeUsage(U.Entries, U.Sum, U.Most); };
  auto ToMoves = [](const Statistics::Moves &M) {
    return py::make_tuple(M.Candidates, M.Eliminated, M.Most);
  };
  auto ToMappings = [&](const Statistics::Mappings &M) { return MakeMappings(M.Count, M.Most); };
  auto ToInt = [](int64_t Value) { return py::int_(Value); };
  py::tuple NoPorts;
  py::object Why = py::none();
  if (Pressure)
    Why = Record(Classes.Pressure)(
        S.Pressure.Increase, S.Pressure.Resources, S.Pressure.Registers, S.Pressure.Memory,
        S.Pressure.Data, py::object(toTuple(S.Pressure.ByResource, ToInt)),
        py::object(toTuple(S.Sequence, [&](const SequenceStep &Step) {
          return MakeStep(Step.Instruction, Step.IterationOffset, static_cast<int32_t>(Step.Cause),
                          Step.Via, Step.Cycles);
        })));
  return Record(Classes.Statistics)(
      S.Cycles, S.Uops, toCounters(S.Stalls, Classes.LostSlots), py::object(toHistogram(S.Issued)),
      py::object(toHistogram(S.Started)), py::object(toHistogram(S.Retired)),
      ToUsage(S.ReorderBuffer), ToUsage(S.AllSchedulers), ToUsage(S.Queue),
      py::object(toTuple(S.Schedulers, ToUsage)), py::object(toTuple(S.Buffers, ToUsage)),
      ToUsage(S.Loads), ToUsage(S.Stores), ToMappings(S.AllRegisters), ToMappings(S.General),
      ToMappings(S.Vector), py::object(ToMoves(S.GeneralMoves)), py::object(ToMoves(S.VectorMoves)),
      py::object(toTuple(S.Events,
                         [&](const Event &E) {
                           return MakeEvent(E.Iteration, E.Instruction, E.Dispatched, E.Ready,
                                            E.Started, E.Executed, E.Retired, py::object(NoPorts));
                         })),
      py::object(toTuple(S.Waits,
                         [&](const Statistics::Wait &W) {
                           return MakeWait(W.Executions, W.InScheduler, W.WhileReady,
                                           W.UntilRetired);
                         })),
      std::move(Why));
}

/// `Counted` is Python's statistics, or None.
py::object toSimulation(const Kernel &K, const Simulation &S, const SimulationClasses &Classes,
                        py::object Counted = py::none()) {
  auto ToInt = [](int64_t Value) { return py::int_(Value); };
  return Record(Classes.Simulation)(
      toFraction(S.CyclesPerIteration, Classes.Fraction), S.Period, S.Cycles, S.Iterations,
      toCounters(S.UopsBySource, Classes.UopsBySource), toCounters(S.LostSlots, Classes.LostSlots),
      toTuple(S.PortUops, ToInt), S.MovesEliminated, S.MovesExecuted,
      toTuple(S.UncachedJumps, ToInt), toEvents(K, S.Trace, Classes.Event),
      toUops(S.Started, Classes.Uop, Classes.UopInput), std::move(Counted));
}

py::object boundsOf(py::handle Bound, py::handle Fraction, py::handle BoundsClass) {
  Kernel K = readKernel(Bound);
  Bounds B;
  {
    py::gil_scoped_release NoPython;
    B = findBounds(K, computeKernelInfo(K, /*LoadAddresses=*/false, /*StoreAddresses=*/false));
  }
  return toBounds(B, Fraction, BoundsClass);
}

py::object simulateBound(py::handle Bound, bool Ideal, bool Loop, int32_t Alignment,
                         int32_t Iterations, int64_t MaxCycles, bool Record, bool EveryCycle,
                         bool UnlimitedPorts, bool NoRegisters, bool NoMemory, py::tuple Classes) {
  Kernel K = readKernel(Bound);
  Pipeline P = Ideal ? idealPipeline(K) : readPipeline(Bound);
  SimulationOptions Options;
  Options.Loop = Loop;
  Options.Alignment = Alignment;
  Options.Iterations = Iterations;
  Options.MaxCycles = MaxCycles;
  Options.RecordEvents = Record;
  Options.EveryCycle = EveryCycle;
  Options.Assume = {UnlimitedPorts, NoRegisters, NoMemory};
  Simulation S;
  {
    py::gil_scoped_release NoPython;
    S = simulate(K, P, Options);
  }
  return toSimulation(K, S, classesOf(Classes));
}

py::object coldRun(py::handle Bound, bool Ideal, bool Loop, int64_t Iterations,
                   int64_t EventIterations, int64_t EventCycles, bool Pressure, bool EveryCycle,
                   const std::vector<std::pair<uint64_t, int32_t>> &Buffers, py::tuple Classes) {
  Kernel K = readKernel(Bound);
  Pipeline P = Ideal ? idealPipeline(K) : readPipeline(Bound);
  SimulationOptions Options;
  Options.Loop = Loop;
  Options.Iterations = Iterations;
  Options.Statistics = true;
  Options.EventIterations =
      static_cast<int32_t>(std::min({EventIterations, Iterations, int64_t(INT32_MAX)}));
  Options.EventCycles = EventCycles;
  Options.Pressure = Pressure;
  for (auto [Ports, Entries] : Buffers)
    Options.Buffers.push_back({Ports, Entries});
  Options.EveryCycle = EveryCycle;
  Simulation S;
  {
    py::gil_scoped_release NoPython;
    S = simulate(K, P, Options);
  }
  SimulationClasses Known = classesOf(Classes);
  return toSimulation(K, S, Known, toStatistics(S.Stats, Pressure, Known));
}

py::tuple boundsAndSimulation(py::handle Bound, bool Loop, py::handle BoundsClass,
                              py::tuple Classes) {
  Kernel K = readKernel(Bound);
  Pipeline P = readPipeline(Bound);
  SimulationOptions Options;
  Options.Loop = Loop;
  Bounds B;
  Simulation S;
  {
    py::gil_scoped_release NoPython;
    KernelInfo Info = computeKernelInfo(K, needsLoadAddresses(P), needsStoreAddresses(P));
    B = findBounds(K, Info);
    Options.LowerBound = B.largest();
    S = simulate(K, P, Options, std::move(Info));
  }
  SimulationClasses Known = classesOf(Classes);
  return py::make_tuple(toBounds(B, Known.Fraction, BoundsClass), toSimulation(K, S, Known));
}

py::tuple streamsOf(py::handle Bound, py::handle StreamClass) {
  Kernel K = readKernel(Bound);
  std::vector<Stream> Found;
  {
    py::gil_scoped_release NoPython;
    Found = streams(K);
  }
  return toStreams(Found, StreamClass);
}

} // namespace

PYBIND11_MODULE(_core, M) {
  M.doc() = "incc's native core; use it through the package incc.core.";
  M.def("analyze", &analyzeBound, py::arg("bound"), py::arg("fraction"), py::arg("edge"),
        py::arg("step"), py::arg("chain"), py::arg("stream"), py::arg("analysis"));
  M.def("bounds", &boundsOf, py::arg("bound"), py::arg("fraction"), py::arg("bounds"));
  M.def("bounds_and_simulation", &boundsAndSimulation, py::arg("bound"), py::arg("loop"),
        py::arg("bounds"), py::arg("classes"));
  M.def("cold_run", &coldRun, py::arg("bound"), py::arg("ideal"), py::arg("loop"),
        py::arg("iterations"), py::arg("event_iterations"), py::arg("event_cycles"),
        py::arg("pressure"), py::arg("every_cycle"), py::arg("buffers"), py::arg("classes"));
  M.def("defaults", &defaults);
  M.def("set_deadline", &setDeadline, py::arg("seconds"));
  M.def("streams", &streamsOf, py::arg("bound"), py::arg("stream"));
  M.def("simulate", &simulateBound, py::arg("bound"), py::arg("ideal"), py::arg("loop"),
        py::arg("alignment"), py::arg("iterations"), py::arg("max_cycles"), py::arg("record"),
        py::arg("every_cycle"), py::arg("unlimited_ports"), py::arg("no_register_dependencies"),
        py::arg("no_memory_dependencies"), py::arg("classes"));
}

"""Compare predicted with measured cycles of whole functions that are called, on this machine.

    python bench/functions.py [--compilers=gcc,clang-19] [--options="-O3 -march=native"] [--functions=GLOB]
                              [--mcpu=native]

The functions of bench/functions are compiled by incc.compile, and measured by calls in bench/functions_driver.c, with
data in the first-level cache; samples beside which another thread ran on the core are dropped, and readings are
repeated until two agree within 2 %. There are two predictions: `loops` is that of the main loops, in cycles per element
of the source's innermost loop, times the loop's iterations per call (bench/functions/table.toml); `call` is that of
whole calls (`--trip`) with these iterations.

The table has a row for each function and compiler, in cycles per element; the errors are relative to the measurement.
Marks: `≥` the model lacks instructions; `nest` a main loop is inside another one, whose own work is not predicted;
`N alike` N main loops belong to the same line, and the row has the one with most elements; `outside` the measurement is
not in the range of the report; `unsteady` no two readings agreed, and the lowest is given; `loop only` the
elements of the loop are unknown, so that the prediction is per iteration and has no error; `no call` the calls are not
predicted. After the table come the median errors of each compiler and the sentences of the reports that say why an
error of the loops above 40 % had to be expected.
"""

from __future__ import annotations

import argparse
import math
import shlex
import statistics
import subprocess
import tempfile
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from operator import truediv
from pathlib import Path

import msgspec

import incc

FOLDER = Path(__file__).with_name("functions")
DRIVER = Path(__file__).with_name("functions_driver.c")
NEAR = 0.15
FAR = 0.40


class Function(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A function of bench/functions, and how functions_driver.c calls it."""

    prototype: str
    """The declaration in C."""
    call: str
    element: str
    """The unit that the figures are per."""
    elements: str
    """Elements per call, an expression in C."""
    outer: int = 1
    """Iterations per call of the loops around the innermost loops."""
    trips: str = ""
    """Iterations per call of each innermost loop of the source, an expression in C; empty if they are the elements."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """The predicted cycles of one pass through each main loop of a function."""

    cycles: float
    """Cycles per iteration of the source's loops, added up; of the compiled loop if `loop_only`."""
    least: float
    most: float
    """The upper end of the range; infinite if there is none."""
    loop_only: bool
    """True if the elements of a loop are unknown."""
    marks: list[str]
    reasons: list[str]
    """Sentences of the report that explain why the cycles may be other ones."""


class Timing(msgspec.Struct, frozen=True):
    """The measured cycles of a call."""

    elements: int
    trips: int
    cycles: float
    steady: bool
    """True if two readings in succession agreed."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A function of one compiler; without a prediction or a timing for a reason."""

    name: str
    compiler: str
    language: str
    element: str
    prediction: Prediction | None = None
    timing: Timing | None = None
    call: float | None = None
    """The predicted cycles of a call."""
    problem: str = ""

    @property
    def scale(self) -> float:
        """Iterations of the source's innermost loop per element."""
        return self.timing.trips / self.timing.elements if self.timing else 1

    @property
    def measured(self) -> float | None:
        """Cycles per element."""
        return self.timing.cycles / self.timing.elements if self.timing else None

    @property
    def error(self) -> float | None:
        """The error of the prediction, relative to the measurement."""
        if not self.measured or not self.prediction or self.prediction.loop_only:
            return None
        return self.prediction.cycles * self.scale / self.measured - 1

    @property
    def call_error(self) -> float | None:
        """The error of the predicted call, relative to the measurement."""
        return self.call / self.timing.cycles - 1 if self.call and self.timing else None

    @property
    def marks(self) -> list[str]:
        marks = list(self.prediction.marks) if self.prediction else []
        if self.call is None:
            marks.append("no call")
        if self.error is not None and self.prediction and self.prediction.least != self.prediction.most:
            per_trip = (self.measured or 0) / self.scale
            if not self.prediction.least <= per_trip <= self.prediction.most:
                marks.append("outside")
        return marks if not self.timing or self.timing.steady else [*marks, "unsteady"]


def functions() -> dict[str, Function]:
    """Return the table of functions by name."""
    return msgspec.convert(tomllib.loads((FOLDER / "table.toml").read_text()), dict[str, Function])


def source_of(name: str) -> Path:
    """Return the file of a function."""
    (path,) = FOLDER.glob(f"{name}.*")
    return path


def compiler_for(source: Path, compiler: str) -> str:
    """Return the compiler of the same family for a source's language; empty if it has none."""
    if source.suffix == ".f90":
        return compiler.replace("gcc", "gfortran") if "gcc" in compiler else ""
    if source.suffix == ".cpp":
        return compiler.replace("gcc", "g++").replace("clang", "clang++")
    return compiler


def predict(report: incc.Report) -> Prediction | None:
    """Return the cycles of the main loops of a report; None if there are none."""
    places: dict[int, list[incc.Kernel]] = {}
    for kernel in report:
        if kernel.role == "main":
            places.setdefault(kernel.source[1] if kernel.source else 0, []).append(kernel)
    if not places:
        return None
    loops = [max(alike, key=lambda kernel: kernel.elements or 0) for alike in places.values()]
    loop_only = not all(kernel.elements for kernel in loops)
    ends = [(kernel.cycles, kernel.range[0], kernel.range[1] or math.inf) for kernel in loops]
    elements = [1 if loop_only else kernel.elements or 1 for kernel in loops]
    cycles, least, most = (sum(map(truediv, each, elements)) for each in zip(*ends, strict=True))
    return Prediction(
        cycles=cycles,
        least=least,
        most=most,
        loop_only=loop_only,
        marks=[*_marks(loops), *(f"{len(alike)} alike" for alike in places.values() if len(alike) > 1)],
        reasons=[text for kernel in loops for text in _reasons(kernel)],
    )


def _marks(loops: list[incc.Kernel]) -> list[str]:
    details = [kernel.to_dict() for kernel in loops]
    marks = {
        "≥": any(loop["at_least"] for loop in details),
        "nest": any(loop["depth"] > 1 for loop in details),
        "loop only": not all(kernel.elements for kernel in loops),
    }
    return [mark for mark, applies in marks.items() if applies]


def _reasons(kernel: incc.Kernel) -> list[str]:
    report = kernel.to_dict()
    return [report["range"]["text"]] if report["range"] else report["notes"]


def compile_function(source: Path, compiler: str, options: str, mcpu: str, result: Path, trip: str = "") -> incc.Report:
    """Compile and analyse a function, and its calls with these iterations. Raises AnalysisError."""
    command = [compiler, *shlex.split(options), "-c", str(source), "-o", str(result)]
    report = incc.compile(command, mcpu=mcpu, trip=trip)
    if report.status:
        raise incc.AnalysisError("; ".join(report.compiler_messages[:1]) or f"{compiler} fails")
    return report


def measure(function: Function, compiled: Path) -> Timing:
    """Link a function with the driver in its folder and time its calls. Raises CalledProcessError."""
    trips = function.trips or function.elements
    (compiled.parent / "call.h").write_text(
        f"{function.prototype};\n#define CALL {function.call}\n"
        f"#define ELEMENTS ({function.elements})\n#define TRIPS ({trips})\n"
    )
    program = compiled.with_suffix("")
    command: list[str | Path] = ["gcc", "-O1", "-w", f"-I{compiled.parent}", DRIVER, compiled, "-o", program, "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    return Timing(int(output[0]), int(output[1]), float(output[2]), output[3] != "0")


def row(name: str, function: Function, compiler: str, options: str, mcpu: str) -> Row:
    """Compile, predict and measure a function."""
    source = source_of(name)
    language = {".c": "C", ".cpp": "C++", ".f90": "Fortran"}[source.suffix]
    result = Row(name=name, compiler=compiler, language=language, element=function.element)
    own = compiler_for(source, compiler)
    if not own:
        return msgspec.structs.replace(result, problem=f"{compiler} has no {language} compiler")
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder, f"{name}.o")
        try:
            report = compile_function(source, own, options, mcpu, compiled)
            timing = measure(function, compiled)
            trip = f"inner={max(1, round(timing.trips / function.outer))},outer={function.outer}"
            again = compile_function(source, own, options, mcpu, compiled, trip)
        except incc.AnalysisError as error:
            return msgspec.structs.replace(result, problem=str(error))
        except subprocess.CalledProcessError as error:
            words = (error.stderr or str(error)).strip().splitlines()[-1]
            return msgspec.structs.replace(result, problem=f"not measured: {words}")
    calls = [call for unit in again.to_dict()["units"] for call in unit["calls"] or () if call["function"] == name]
    call = calls[0]["cycles"] if calls and not calls[0]["reason"] else None
    prediction = predict(report)
    problem = "" if prediction else "; ".join(report.problems) or "no loop has the role main"
    return msgspec.structs.replace(result, prediction=prediction, timing=timing, call=call, problem=problem)


def line(row: Row) -> str:
    """Return a row of the table."""
    text = f"{row.name:<17}{row.compiler:<9} {row.language:<8} {row.element:<10}"
    if not row.prediction:
        measured = "" if row.measured is None else f"{row.measured:.3f}"
        return f"{text}{measured or '-':>9}{'-':>9}{'-':>9}{'-':>9}{'-':>9}  {row.problem}"
    scale = 1 if row.prediction.loop_only else row.scale
    least, most = row.prediction.least * scale, row.prediction.most * scale
    ends = "" if least == most else f"{least:.3f}–{most:.3f}"
    error, of_call = ("-" if each is None else f"{100 * each:+.1f} %" for each in (row.error, row.call_error))
    call = "-" if row.call is None or not row.timing else f"{row.call / row.timing.elements:.3f}"
    figures = f"{row.measured or 0:>9.3f}{row.prediction.cycles * scale:>9.3f}{error:>9}{call:>9}{of_call:>9}"
    return f"{text}{figures}  {ends:<14}  {', '.join(row.marks)}".rstrip()


def summary(rows: Iterable[Row]) -> list[str]:
    """Return the errors of each compiler in a line, and the reasons of large ones."""
    lines = []
    by_compiler: dict[str, list[Row]] = {}
    for each in rows:
        by_compiler.setdefault(each.compiler, []).append(each)
    for compiler, own in by_compiler.items():
        for what, errors in (
            ("loops", [abs(each.error) for each in own if each.error is not None]),
            ("calls", [abs(each.call_error) for each in own if each.call_error is not None]),
        ):
            if not errors:
                lines.append(f"{compiler}, {what}: no function of {len(own)} has an error")
                continue
            near = sum(error <= NEAR for error in errors)
            lines.append(
                f"{compiler}, {what}: {len(errors)} of {len(own)} functions, median error "
                f"{100 * statistics.median(errors):.1f} %, {100 * near / len(errors):.0f} % within {100 * NEAR:.0f} %"
            )
        for each in own:
            if each.error is not None and abs(each.error) > FAR and each.prediction:
                reasons = each.prediction.reasons or ["no reason given"]
                lines.append(f"  {each.name} {100 * each.error:+.0f} %: " + "; ".join(dict.fromkeys(reasons)))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="gcc,clang-19", help="C compilers (gcc,clang-19)")
    parser.add_argument("--options", default="-O3 -march=native", help="options of the compilers (-O3 -march=native)")
    parser.add_argument("--functions", default="*", metavar="GLOB", help="functions to compare (*)")
    parser.add_argument("--mcpu", default="native", metavar="CORE", help="core of the prediction (native)")
    options = parser.parse_args()
    print(
        f"{'function':<17}{'compiler':<9} {'language':<8} {'per':<10}"
        f"{'measured':>9}{'loops':>9}{'error':>9}{'call':>9}{'error':>9}  range"
    )
    rows = []
    for compiler in options.compilers.split(","):
        for name, function in functions().items():
            if fnmatchcase(name, options.functions):
                rows.append(row(name, function, compiler, options.options, options.mcpu))
                print(line(rows[-1]), flush=True)
    print("", *summary(rows), sep="\n")


if __name__ == "__main__":
    main()

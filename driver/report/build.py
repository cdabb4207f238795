"""Builds the report: plain JSON-able data with every figure that a view prints; views lay out, they do not compute.

The format is versioned and described by report.schema.json beside this file. A report holds nothing that changes
between two runs on the same input: no date, no machine, no order of a set; but for what was measured, if that was asked
for.
"""

from __future__ import annotations

from incc import __version__
from incc.driver.report.advice import read_build
from incc.driver.report.kernel import ITERATIONS, kernel_report, location
from incc.driver.report.overview import overview
from incc.driver.report.roles import set_role, withhold_not_vectorised
from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Final

    from incc.core.analysis import KernelResult
    from incc.core.roles import Part
    from incc.core.ways import Ways
    from incc.driver.report import types as t
    from incc.driver.report.selection import LibraryCall
    from incc.frontends.asm.parse import Origin
    from incc.frontends.asm.places import UserPlace
    from incc.frontends.kernel import LeftOut, SourceLocation
    from incc.frontends.unit import Unit
    from incc.measuring.harness import Failure
    from incc.measuring.kernels import KernelMeasurement
    from incc.models.model import MachineModel

SCHEMA_VERSION: Final = "1.6"


def build_report(units: Iterable[t.Unit]) -> t.Report:
    """The whole report from what `unit_report` made of each translation unit, in the order given."""
    units = list(units)
    make_readable([kernel for unit in units for kernel in unit["kernels"]])
    _demangle_functions(
        [part for unit in units for name in ("ways", "control_flow", "became_calls") for part in unit[name] or ()]
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "incc", "version": __version__},
        "units": units,
    }


def make_readable(kernels: Sequence[t.Kernel]) -> None:
    """Make names of functions readable where people read them: in kernels' function names, places and notes; then say
    of each kernel in a few words what there is to say."""
    from incc.driver.report.demangle import demangle, of_openmp, replace, short_name

    frames = [frame for kernel in kernels for frame in (*kernel["inlined"], *kernel["inlined_into"])]
    texts = [frame["function"] for frame in frames]
    for kernel in kernels:
        texts += (kernel["function_name"], kernel["source_function"], *kernel["notes"])
    readable = demangle(texts)
    for frame in frames:
        frame["function"] = short_name(replace(frame["function"], readable))
    for kernel in kernels:
        kernel["function_name"] = of_openmp(replace(kernel["function_name"], readable))
        name = kernel["function_name"] if kernel["source_function"] == kernel["function"] else kernel["source_function"]
        kernel["source_function"] = short_name(replace(name, readable))
        kernel["notes"] = [replace(note, readable) for note in kernel["notes"]]
        kernel["overview"] = overview(kernel)


def _demangle_functions(parts: Sequence[t.Ways | t.ControlFlow | t.BecameCall]) -> None:
    """The same for parts of a report that have a function's name and nothing else of it."""
    from incc.driver.report.demangle import is_mangled

    if any(is_mangled(part["function"]) for part in parts):
        from incc.driver.report.demangle import demangle, replace

        readable = demangle(part["function_name"] for part in parts)
        for part in parts:
            part["function_name"] = replace(part["function_name"], readable)


class KernelPlace(NamedTuple):
    """Where a kernel is in the user's source: of each line of the assembly, what is next to a kernel that comes from
    another file, else None, and what debug information says of it, if there is any."""

    lines: Mapping[int, SourceLocation]
    near: SourceLocation | None
    place: UserPlace | None = None


class UnitResult(NamedTuple):
    """What was found of a translation unit.

    `chosen_by`: what named the model. `results` and `kernel_ids`: of its kernels, in the order given; `places`: one for
    each of them, or none. `left_out`: loops and marked spans that are not analysed. `notes`: what is to be said of
    every kernel. `ways` (from `ways.py`), `control_flow` (from `control_flow.py`): None where they were not asked for.
    `iterations`: how many the summaries count. `model_note`: what must be said of the choice of the model, if anything.
    `inside`: of each kernel the ways through its loop, None without branches inside; or none at all. `mispredict_rate`:
    of those branches, None where it is not known. `system_loops`, `calls`: see `selection.Selection`. `user_functions`:
    of functions that are parts of others, those. `not_found`: from `not_found.py`. `ghz`: the clock for rates a
    second, 0 for none. `parts`: role and elements of each kernel, if they are known already. `measured`: what each
    takes on this machine, or why that is not known; none if it was not asked for. `host`: the core that this is, and
    whether `model` is of that core.
    """

    unit: Unit
    model: MachineModel
    chosen_by: str
    results: tuple[KernelResult, ...]
    kernel_ids: tuple[str, ...] = ()
    places: tuple[KernelPlace, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    ways: tuple[t.Ways, ...] | None = None
    control_flow: tuple[t.ControlFlow, ...] | None = None
    iterations: int = ITERATIONS
    model_note: str = ""
    inside: tuple[Ways | None, ...] = ()
    mispredict_rate: float | None = None
    system_loops: int = 0
    calls: tuple[LibraryCall, ...] = ()
    user_functions: Mapping[str, str] = {}
    not_found: tuple[t.NotFound, ...] = ()
    ghz: float = 0
    parts: Sequence[Part] = ()
    measured: Sequence[KernelMeasurement | Failure] = ()
    host: tuple[str, bool] = ("", False)


def unit_parts(found: UnitResult) -> list[Part]:
    """Role and elements of each of a unit's kernels."""
    from incc.core.roles import parts

    places = [
        frozenset([lines[line] for line in kernel.region.body_lines if line in lines]) if kernel.region else frozenset()
        for kernel, (lines, *_) in zip((result.kernel for result in found.results), found.places, strict=False)
    ]

    if not found.unit.assembly or not any(places):
        return parts(found.results, places)
    read: dict[str, list[Origin]] = {}

    def origins(function: str) -> Sequence[Origin]:
        if function not in read:
            from incc.frontends.asm.parse import origins_of

            read[function] = origins_of(found.unit.assembly, function)
        return read[function]

    return parts(found.results, places, origins)


def unit_report(found: UnitResult) -> t.Unit:
    """One translation unit: how its assembly came about, the model and what named it, and its kernels."""
    unit, model = found.unit, found.model
    parts = found.parts or unit_parts(found)
    nowhere = KernelPlace({}, None)
    build = read_build(unit, native=found.chosen_by.startswith("the host"))
    kernels = [
        kernel_report(
            result,
            kernel_id=found.kernel_ids[n] if found.kernel_ids else "",
            source_lines=place.lines,
            near=place.near,
            place=place.place,
            user_function=found.user_functions.get(_function(result), ""),
            iterations=found.iterations,
            notes=found.notes,
            ways=found.inside[n] if found.inside else None,
            mispredict_rate=found.mispredict_rate,
            elements=parts[n].elements,
            step=parts[n].step,
            ghz=found.ghz,
            build=build,
            measured=found.measured[n] if found.measured else None,
            host=found.host,
        )
        for n, result in enumerate(found.results)
        for place in (found.places[n] if found.places else nowhere,)
    ]
    for kernel, (role, *_) in zip(kernels, parts, strict=True):
        if 0 <= role.of < len(kernels):
            set_role(kernel, role, kernels[role.of]["kernel_id"], found.results[role.of].kernel)
        else:
            set_role(kernel, role)
    withhold_not_vectorised(kernels)
    return {
        "source": unit.source,
        "assembly_file": unit.assembly_file,
        "compiler": unit.compiler,
        "compiler_version": unit.compiler_version,
        "command": list(unit.command),
        "target_cpu": unit.cpu,
        "model": {
            "name": model.name,
            "title": model.title,
            "version": model.version,
            "isa": model.isa,
            "chosen_by": found.chosen_by,
            "note": found.model_note,
        },
        "kernels": kernels,
        "left_out": [
            {
                "first_line": item.first_line,
                "last_line": item.last_line,
                "function": item.function,
                "label": item.label,
                "reason": item.reason,
            }
            for item in found.left_out
        ],
        "system_loops": found.system_loops,
        "became_calls": [
            {
                "function": call.function,
                "function_name": found.user_functions.get(call.function, call.function),
                "callee": call.callee,
                "line": call.line,
                "source": location(call.source),
            }
            for call in found.calls
        ],
        "not_found": list(found.not_found),
        "ways": None if found.ways is None else list(found.ways),
        "control_flow": None if found.control_flow is None else list(found.control_flow),
        "trials": None,
    }


def _function(result: KernelResult) -> str:
    region = result.kernel.region
    return region.function if region else ""


def problems(report: t.Report) -> list[str]:
    """What of the input was not analysed, as messages with file and line: statements that the assembler refused, loops
    and marked spans that were left out. Ordered by unit and line."""
    messages: list[str] = []
    for unit in report["units"]:
        file = unit["assembly_file"]
        parts = [*unit["kernels"], *(way for loop in unit["ways"] or () for way in loop["ways"])]
        found = [(item["line"], f"error: {item['message']}") for part in parts for item in part["refused"]]
        found += [(item["first_line"], f"warning: not analysed: {item['reason']}") for item in unit["left_out"]]
        messages += [
            f"{file}:{line}: {message}" if line else f"{file}: {message}" for line, message in sorted(set(found))
        ]
    return messages

"""Reports of older schemas: what each version added, and what stands for it in a report that was written before.

A step leads from each version to the next. What an old report cannot know is null or empty there, and `lacks` says so;
what follows from the rest is worked out. Reports of one version differ while that is being made, so a step sets only
what is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """From one version of the schema to `version`.

    `added`: the fields that it has and older ones have not, by their type in `report/types.py`; those of types that are
    new with it need not be named. `lacks`: what older reports do not tell, in words; "" where nobody misses it. `unit`
    and `instruction` complete what is read of an older one.
    """

    version: str
    added: Mapping[str, Sequence[str]]
    lacks: str
    unit: Callable[[dict[str, Any]], None]
    instruction: Callable[[dict[str, Any]], None] | None = None


def upgrade(unit: dict[str, Any], version: str) -> None:
    """Make of a unit of an older schema one of this one; its kernels have their instructions still."""
    for step in _newer_than(version):
        step.unit(unit)
        if step.instruction is not None:
            for kernel in unit["kernels"]:
                for instruction in kernel["instructions"]:
                    step.instruction(instruction)


def lacking(version: str) -> list[str]:
    """What reports of that version do not tell, in words."""
    return [step.lacks for step in _newer_than(version) if step.lacks]


def added_fields() -> dict[str, frozenset[str]]:
    """The fields, by type, that some older report has not."""
    found: dict[str, set[str]] = {}
    for step in STEPS:
        for name, fields in step.added.items():
            found.setdefault(name, set()).update(fields)
    return {name: frozenset(fields) for name, fields in found.items()}


def _newer_than(version: str) -> list[Step]:
    number = numbers(version)
    return [step for step in STEPS if numbers(step.version) > number]


def numbers(version: str) -> tuple[int, int]:
    """Both numbers of a version. Raises ValueError."""
    major, _, minor = version.partition(".")
    # int() would take blanks and signs.
    if not (major.isascii() and major.isdecimal() and minor.isascii() and minor.isdecimal()) or len(version) > 20:
        raise ValueError(version)
    found = int(major), int(minor)
    if version != f"{found[0]}.{found[1]}":  # zeros before it
        raise ValueError(version)
    return found


# --- the steps --------------------------------------------------------------------------------------------------------


def _to_1_1(unit: dict[str, Any]) -> None:
    for kernel in unit["kernels"]:
        kernel.setdefault("simulated", None)
        kernel.setdefault("what_ifs", [])
        kernel["bounds"]["prediction"].setdefault("by", "bounds")


def _to_1_2(unit: dict[str, Any]) -> None:
    for kernel in unit["kernels"]:
        kernel.setdefault("near", None)
        memory = kernel["memory"]
        memory.setdefault("expected_line_crossings", memory["line_crossings"])
        simulated = kernel["simulated"]
        if simulated:
            for name in ("load_buffer", "store_buffer"):
                simulated["lost_slots"].setdefault(name, 0.0)


def _to_1_3(unit: dict[str, Any]) -> None:
    counted: dict[tuple[str, str], int] = {}
    for kernel in unit["kernels"]:
        kernel.setdefault("cycles", kernel["bounds"]["prediction"]["cycles"])
        function, kind = kernel["function"], kernel["kind"]
        number = counted[function, kind] = counted.get((function, kind), 0) + 1
        named = kind == "marker" and kernel["name"] not in ("", function)
        part = f"region {kernel['name']}" if named else f"{kind}{number}"
        kernel.setdefault("kernel_id", f"{function}/{part}" if function else part)
        if "content_hash" not in kernel:
            kernel["content_hash"] = _hash_of_text(kernel)


def _hash_of_text(kernel: dict[str, Any]) -> str:
    """Stands for the hash of the code, of which an old report has the text alone: equal for equal text but for the
    loop's own label. It is never that of the code itself."""
    from hashlib import blake2b

    label = kernel["label"]
    found = blake2b(digest_size=8, person=b"text")
    for instruction in kernel["instructions"]:
        text = instruction["text"]
        words = text.split()
        if label and words and words[-1] == label:
            text = " ".join(words[:-1])
        found.update(f"{instruction['form']}\t{instruction['bytes']}\t{text}\n".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _to_1_4(unit: dict[str, Any]) -> None:
    from incc.driver.report.demangle import short_name
    from incc.driver.report.overview import overview

    for name in ("became_calls", "not_found"):
        unit.setdefault(name, [])
    unit.setdefault("system_loops", 0)
    unit["model"].setdefault("note", "")
    for kernel in unit["kernels"]:
        for name in ("elements", "rates", "range"):
            kernel.setdefault(name, None)
        for name in ("inlined", "inlined_into"):
            kernel.setdefault(name, [])
        kernel.setdefault("role", {"name": "", "of": "", "instead": False, "text": ""})
        kernel.setdefault("source_function", short_name(kernel["function_name"]))
        kernel["memory"].setdefault("step", 0)
        calls = any(note.endswith("not counted") for note in kernel["notes"])
        kernel.setdefault("at_least", bool(kernel["refused"] or kernel["unknown_instructions"] or calls))
        for hint in kernel["hints"]:
            hint.setdefault("flags", [])
            hint.setdefault("source_change", "")
        if "overview" not in kernel:
            kernel["overview"] = overview(kernel)


def _to_1_5(unit: dict[str, Any]) -> None:
    for kernel in unit["kernels"]:
        memory, instructions = kernel["memory"], kernel["instructions"]
        memory.setdefault("loads", sum(i["loads"] for i in instructions))
        memory.setdefault("stores", sum(i["stores"] for i in instructions))
        memory.setdefault("spills", None)
        memory.setdefault("reloads", None)


def _to_1_6(unit: dict[str, Any]) -> None:
    for kernel in unit["kernels"]:
        kernel.setdefault("measured", None)


def _to_1_7(unit: dict[str, Any]) -> None:
    unit.setdefault("folder", "")
    unit.setdefault("output", "")
    unit.setdefault("way", "second-run" if unit["compiler"] else "given")


def _to_1_8(unit: dict[str, Any]) -> None:
    for name in ("marks", "mark_problems"):
        unit.setdefault(name, [])
    for kernel in unit["kernels"]:
        kernel.setdefault("column", 0)
        kernel.setdefault("remarks", [])
        kernel.setdefault("compiled", None)
        kernel["role"].setdefault("basis", "inferred")


def _to_1_9(unit: dict[str, Any]) -> None:
    unit.setdefault("core", None)
    for kernel in unit["kernels"]:
        kernel.setdefault("llvm_resources", None)
        if kernel["simulated"]:
            kernel["simulated"]["lost_slots"].setdefault("registers", 0.0)
        # Of a run of which only the cycles are known, the rest would be invented.
        if kernel.get("cold") and "uops" not in kernel["cold"]:
            kernel["cold"] = None


def _instruction_1_5(instruction: dict[str, Any]) -> None:
    instruction.setdefault("work", [])
    instruction.setdefault("frame", False)


def _instruction_1_9(instruction: dict[str, Any]) -> None:
    instruction.setdefault("encoding", "")
    instruction.setdefault("may_load", instruction["loads"])
    instruction.setdefault("may_store", instruction["stores"])
    for name in ("side_effects", "load_barrier", "store_barrier"):
        instruction.setdefault(name, False)


STEPS = (
    Step(
        version="1.1",
        added={"Kernel": ("simulated", "what_ifs"), "Prediction": ("by",)},
        lacks="simulated cycles (theirs are bounds)",
        unit=_to_1_1,
    ),
    Step(
        version="1.2",
        added={
            "Unit": ("ways", "control_flow"),
            "Kernel": ("near",),
            "Memory": ("expected_line_crossings",),
            "LostSlots": ("load_buffer", "store_buffer"),
        },
        lacks="",
        unit=_to_1_2,
    ),
    Step(
        version="1.3",
        added={"Kernel": ("cycles", "kernel_id", "content_hash")},
        lacks="which code is equal (texts are compared instead)",
        unit=_to_1_3,
    ),
    Step(
        version="1.4",
        added={
            "Unit": ("system_loops", "became_calls", "not_found", "trials"),
            "Model": ("note",),
            "Memory": ("step",),
            "Hint": ("flags", "source_change"),
            "Kernel": (
                "at_least",
                "elements",
                "inlined",
                "inlined_into",
                "overview",
                "range",
                "rates",
                "role",
                "source_function",
            ),
        },
        lacks="elements, roles of loops, ranges and what was inlined",
        unit=_to_1_4,
    ),
    Step(
        version="1.5",
        added={"Memory": ("loads", "stores", "spills", "reloads"), "Instruction": ("work", "frame")},
        lacks="spills and reloads",
        unit=_to_1_5,
        instruction=_instruction_1_5,
    ),
    Step(version="1.6", added={"Kernel": ("measured",)}, lacks="", unit=_to_1_6),
    Step(version="1.7", added={"Unit": ("folder", "output", "way")}, lacks="", unit=_to_1_7),
    Step(
        version="1.8",
        added={"Unit": ("marks", "mark_problems"), "Kernel": ("column", "remarks", "compiled"), "Role": ("basis",)},
        lacks="",
        unit=_to_1_8,
    ),
    Step(
        version="1.9",
        added={
            "Unit": ("core",),
            "Kernel": ("llvm_resources",),
            "Instruction": ("encoding", "may_load", "may_store", "side_effects", "load_barrier", "store_barrier"),
            "LostSlots": ("registers",),
            "Cold": (
                *("uops", "stalls", "dispatched", "issued", "retired", "schedulers", "reorder_buffer", "registers"),
                *("events", "waits", "waits_total", "pressure"),
            ),
        },
        lacks="",
        unit=_to_1_9,
        instruction=_instruction_1_9,
    ),
)
"""From the oldest on. The first version was 1.0."""

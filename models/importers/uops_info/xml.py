"""The reader of uops.info's file, instructions.xml: one core's measurements, as records of importer.py.

The file has over 100 MB, so it is read as a stream: one instruction at a time is kept. The format is described at
https://uops.info/xml.html; what its figures need before they can be used is what uiCA does to them (Abel and Reineke,
ICS 2022).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, cast
from xml.parsers import expat

from incc.models.importers.common import ImportFailed

# Attributes of an instruction that tell variants of the same form apart.
_CONDITIONS = ("agen", "bcast", "eosz", "high8", "immzero", "mask", "rep", "rm", "sae", "zeroing")
_FLAGS = "CPAZSO"
# Throughput that neither ports nor the divider explain.
_SERIALISING = frozenset(["CPUID", "MFENCE", "PAUSE", "RDTSC", "RDTSCP", "LFENCE"])
_CHUNK = 1 << 16

Element = tuple[str, dict[str, str], list[Any]]


class _Malformed(Exception):
    """An instruction that cannot be understood."""


def read(path: str, arch: str, keep_going: bool, skipped: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (file and line, record) of each instruction that was measured on the core that uops.info calls `arch`.

    Raises ImportFailed for XML that is not well-formed, a file without that core, and the first instruction that cannot
    be understood; with `keep_going` these instructions are listed in `skipped` instead.
    """
    architectures: set[str] = set()
    has_core = False
    for line, instruction in _instructions(path):
        place = f"{path}:{line}"
        try:
            architectures.update(_attribute(e, "name") for e in _children(instruction, "architecture"))
            record = _record(instruction, arch)
        except (_Malformed, ValueError) as e:
            name = instruction[1].get("string", "")
            message = f"{place}: malformed instruction{' ' if name else ''}{name}: {e}"
            if not keep_going:
                raise ImportFailed(message) from None
            skipped.append(message)
            continue
        if record is not None:
            has_core = True
            yield place, record
    if not has_core and not skipped:
        cores = f"those of {', '.join(sorted(architectures))} are" if architectures else "none are"
        raise ImportFailed(f"{path}: no measurements of {arch!r}; {cores} there")


# --- XML -------------------------------------------------------------------------------------------------------------


def _instructions(path: str) -> Iterator[tuple[int, Element]]:
    """Yield (line, element with its children) of each <instruction>. Raises ImportFailed."""
    parser = expat.ParserCreate()
    done: list[tuple[int, Element]] = []
    stack: list[Element] = []
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if depth == 0 and tag != "root":
            raise ImportFailed(f"{path}:{parser.CurrentLineNumber}: <{tag}> where <root> was expected")
        depth += 1
        element: Element = (tag, attributes, [])
        if stack:
            stack[-1][2].append(element)
            stack.append(element)
        elif tag == "instruction":
            done.append((parser.CurrentLineNumber, element))
            stack.append(element)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1
        if stack:
            stack.pop()

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        with _open(path) as f:
            while chunk := f.read(_CHUNK):
                parser.Parse(chunk)
                # The last one may go on in the next chunk.
                ready = len(done) - bool(stack)
                yield from done[:ready]
                del done[:ready]
            parser.Parse(b"", True)
            yield from done
    except expat.ExpatError as e:
        raise ImportFailed(f"{path}:{e.lineno}: not well-formed XML: {expat.ErrorString(e.code)}") from None
    except (OSError, EOFError) as e:
        raise ImportFailed(f"{path}:{parser.CurrentLineNumber}: {getattr(e, 'strerror', None) or e}") from None


def _open(path: str) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path)) if path.endswith(".gz") else open(path, "rb")


def _children(element: Element, tag: str) -> list[Element]:
    return [e for e in element[2] if e[0] == tag]


def _attribute(element: Element, name: str) -> str:
    try:
        return element[1][name]
    except KeyError:
        raise _Malformed(f"<{element[0]}> has no {name!r}") from None


def _number(element: Element, name: str) -> int:
    text = _attribute(element, name)
    if not text.isdigit():
        raise _Malformed(f"{name}={text!r} of <{element[0]}> is not a number")
    return int(text)


# --- records ---------------------------------------------------------------------------------------------------------


def _record(instruction: Element, arch: str) -> dict[str, Any] | None:
    """Return the record of one instruction, None without measurements on that core."""
    measurement = next(
        (
            m
            for a in _children(instruction, "architecture")
            if _attribute(a, "name") == arch
            for m in _children(a, "measurement")
        ),
        None,
    )
    if measurement is None or "uops" not in measurement[1]:
        return None
    operands = _children(instruction, "operand")
    names = {_attribute(o, "idx"): o[1].get("name", "") for o in operands}
    record: dict[str, Any] = {
        "iform": _attribute(instruction, "iform"),
        "form": _attribute(instruction, "string"),
        **_figures(instruction, measurement, "", arch),
        "operands": [_operand(instruction, o) for o in operands],
        "latency": [_latency(e, names) for e in _children(measurement, "latency")],
        "variants": {},
        "macro_fusible_with": [j for j in measurement[1].get("macro_fusible", "").split(";") if j],
        "attrs": {a: instruction[1][a] for a in _CONDITIONS if a in instruction[1]},
    }
    for condition in ("same_reg", "indexed"):
        if f"uops_{condition}" in measurement[1]:
            record["variants"][condition] = _figures(instruction, measurement, f"_{condition}", arch)
    return record


def _figures(instruction: Element, measurement: Element, suffix: str, arch: str) -> dict[str, Any]:
    """Return the counts of a variant, which `suffix` names. A variant without `ports` was not resolved to ports."""
    values = measurement[1]
    figures: dict[str, Any] = {"uops": _number(measurement, "uops" + suffix), "retire_slots": 1, "uops_ms": 0}
    for name, key in (
        ("uops_retire_slots", "retire_slots"),
        ("uops_MS", "uops_ms"),
        ("uops_MITE", "uops_mite"),
        ("div_cycles", "div_cycles"),
        ("available_simple_decoders", "simple_decoders"),
    ):
        if name + suffix in values:
            figures[key] = _number(measurement, name + suffix)
    if values.get("complex_decoder" + suffix) == "1":
        figures["complex_decoder"] = True
    usage = values.get("ports" + suffix)
    if usage is not None:
        figures["ports"] = _ports(instruction, usage)
    elif not suffix or not figures["uops"]:
        figures["ports"] = {}
    throughput = [float(values[k + suffix]) for k in ("TP_loop", "TP_unrolled") if k + suffix in values]
    divides = "div_cycles" in figures
    if divides and arch == "HSW" and throughput:
        # Haswell's counter of the divider's cycles is wrong (uiCA).
        figures["div_cycles"] = int(min(throughput))
    microcoded = divides and figures["uops_ms"] > 0
    explained = instruction[1].get("locked") != "1" and _attribute(instruction, "iclass") not in _SERIALISING
    if throughput and (microcoded or not explained):
        figures["tp"] = min(throughput)
    return figures


def _ports(instruction: Element, usage: str) -> dict[str, int]:
    ports: dict[str, int] = {}
    for term in usage.split("+"):
        match = re.fullmatch(r"(\d+)\*(\w+)", term)
        if not match:
            raise _Malformed(f"port usage {usage!r}")
        name = match[2].removeprefix("p")
        if instruction[1].get("category") == "COND_BR" and name == "06":
            name = "6"  # measured not taken; a jump that is taken needs port 6 (uiCA)
        ports[name] = ports.get(name, 0) + int(match[1])
    return ports


def _operand(instruction: Element, operand: Element) -> dict[str, Any]:
    attributes = operand[1]
    kind = _attribute(operand, "type")
    access = "".join(c for c in "rw" if attributes.get(c) == "1")
    result: dict[str, Any] = {"name": attributes.get("name", ""), "type": kind, "access": access}
    if kind == "flags":
        # A flag that may stay as it was is an input, but for shifts by a constant, where it is known.
        constant = any(o[1].get("type") == "imm" for o in _children(instruction, "operand"))
        is_shift_count = constant and instruction[1].get("category") in ("SHIFT", "ROTATE")
        uses = {f: attributes.get(f"flag_{f}F", "") for f in _FLAGS}
        result["flags_read"] = "".join(f for f, u in uses.items() if "r" in u or ("cw" in u and not is_shift_count))
        result["flags_written"] = "".join(f for f, u in uses.items() if "w" in u)
    return result


def _latency(element: Element, names: dict[str, str]) -> dict[str, Any]:
    """Return one latency; the shortest where a range was measured. An upper bound only counts as the figure."""
    try:
        entry: dict[str, Any] = {"from": names[_attribute(element, "start_op")]}
        entry["to"] = names[_attribute(element, "target_op")]
    except KeyError as e:
        raise _Malformed(f"latency of an operand {e} that is not listed") from None
    for key, attributes in (
        ("cycles", ("min_cycles", "cycles")),
        ("addr", ("min_cycles_addr", "cycles_addr")),
        ("addr_index", ("min_cycles_addr_index", "cycles_addr_index")),
        ("mem", ("min_cycles_mem", "cycles_mem")),
        ("same_reg", ("min_cycles_same_reg", "cycles_same_reg")),
    ):
        present = next((a for a in attributes if a in element[1]), None)
        if present is not None:
            entry[key] = _number(element, present)
    if "cycles" not in entry:
        entry["cycles"] = entry.get("same_reg", 1)
    return entry

"""Import of OSACA's machine files (YAML) of AArch64 cores: ports and latency.

OSACA names registers by prefix and arrangement, either of which may be a wildcard, and ports by number; every form of
the model that an entry covers gets its figures. What is taken, and what not, is described in docs/models.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from incc.frontends.isa import split_operands
from incc.models.files.source import Entry, Forms
from incc.models.importers.common import MALFORMED, Imported, ImportFailed, Malformed, read_text
from incc.models.importers.llvm.aarch64 import port_usage
from incc.models.importers.osaca.file import read_forms
from incc.models.notation import latency_by_pair, write_latency

# OSACA's ports in the order of their numbers, by the names that LLVM and the vendors' guides give them (after the
# figure of the pipes in each machine file). Units that are not pipelined are called DV, or a port's number and DV.
_PORTS = {
    "thunderx2t99": "P0 P1 P2 P4 P5 P3",
    "neoverse-n1": "B S0 S1 M V0 V1 L0 L1",
    "neoverse-v2": "B0 B1 S0 S1 S2 S3 M0 M1 V0 V1 V2 V3 L0 L1 L2 D0 D1",
    "a64fx": "FLA PR FLB EXA EXB EAGA EAGB BR",
    "apple-m1": "FP0 FP1 FP2 FP3 LS0 LS1 LS2 LS3 INT0 INT1 INT2 INT3 INT4 INT5",
    "tsv110": "ALU AB0 AB1 MDU FSU1 FSU2 Ld0St Ld1",
}


# These cores copy the element first (A64FX Microarchitecture Manual: two µops, 6 and 9 cycles).
_ELEMENTS_APART = ("a64fx",)
# OSACA gives every load of this core a µop of an integer pipe. The descriptions that the vendor contributed to GCC
# (thunderx2t99.md) and LLVM have one only for an index, and the thesis' DAXPY is faster than such µops permit.
_WITHOUT_INTEGER_UOP = {"thunderx2t99": (re.compile(r"ldu?[rp]/[^\[]*\[x(,#)?\]"), "1*P012+")}


def import_files(paths: Sequence[str], core: str, forms: Forms, keep_going: bool = False) -> Imported:
    """Return OSACA's figures of the given forms of a core.

    Raises ImportFailed at the first malformed entry, or with `keep_going` skips it.
    """
    if core not in _PORTS:
        raise ImportFailed(
            f"it is not known how OSACA numbers the ports of {core} (known: {', '.join(sorted(_PORTS))})"
        )
    by_name: dict[str, list[tuple[str, list[str]]]] = {}
    for form in forms:
        mnemonic, _, shapes = form.partition("/")
        if "[z." not in shapes and "{" not in shapes and not (core in _ELEMENTS_APART and shapes.endswith("[]")):
            by_name.setdefault(mnemonic, []).append((form, _split(shapes)))
    result: Forms = {}
    unmatched: list[tuple[str, str]] = []
    malformed = Malformed(keep_going)
    numbered = {str(n): port for n, port in enumerate(_PORTS[core].split())}
    for path in paths:
        write_back, load_latency = _head(path)
        excess = _WITHOUT_INTEGER_UOP.get(core)
        for entry in _entries(path, numbered, malformed):
            matches = [form for form, shapes in by_name.get(_mnemonic(entry.name), []) if entry.covers(shapes)]
            if not matches:
                unmatched.append((f"{entry.name} {', '.join(entry.operands)}", "no such form in the model"))
            for form in matches:
                if form not in result:  # The first entry counts, as in OSACA.
                    loads = max(entry.latency, load_latency.get(_register_kind(form), 0) if entry.latency else 0)
                    fields = _fields(forms[form].get((), {}), entry, loads, write_back, core != "apple-m1")
                    if excess and excess[0].fullmatch(form) and fields["ports"].startswith(excess[1]):
                        fields |= {"ports": fields["ports"].removeprefix(excess[1]), "retire": fields["retire"] - 1}
                    result[form] = {(): fields}
        for form, entries in forms.items():
            if form not in result and (load := _load(form, entries.get((), {}), forms, load_latency)):
                result[form] = {(): load}
    return Imported(forms=result, unmatched=unmatched, skipped=malformed.skipped)


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """OSACA's figures of the forms that one name and some patterns of operands stand for."""

    name: str
    operands: list[str]
    """Regular expressions for the shapes of operands."""
    usage: Entry
    """The fields about µops and divider."""
    latency: int

    def covers(self, shapes: list[str]) -> bool:
        """Return True for the operands of a form; an element of the last one counts as a whole register."""
        if len(shapes) > 2 and shapes[-1].endswith("[]") and shapes[0] == shapes[1]:
            shapes = [*shapes[:-1], shapes[1]]
        return len(self.operands) == len(shapes) and all(map(re.fullmatch, self.operands, shapes))


def _entries(path: str, names: dict[str, str], malformed: Malformed) -> Iterator[_Entry]:
    """Yield the entries of a file that have figures and only operands that forms have; `names` are the ports."""
    for line, data, _ in read_forms(path):
        try:
            mnemonics = data["name"] if isinstance(data["name"], list) else [data["name"]]
            operands = [_pattern(o) or "" for o in data["operands"]]
            if data["port_pressure"] is None or data["latency"] is None or "" in operands:
                continue
            usage, latency = _usage(data["port_pressure"], names), _cycles(data["latency"])
        except MALFORMED as e:
            malformed.add(f"{path}:{line}", e, "malformed instruction form: ")
            continue
        for name in mnemonics:
            yield _Entry(name=str(name), operands=operands, usage=usage, latency=latency)


def _mnemonic(name: str) -> str:
    name = name.lower()
    return "b.cond" if re.fullmatch(r"b\.?(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)", name) else name


def _split(shapes: str) -> list[str]:
    """Return the operands of a form; a post-index is a part of the address."""
    address = shapes.find("[x")
    if address < 0:
        return split_operands(shapes)
    return [*split_operands(shapes[:address].rstrip(",")), shapes[address:]]


def _address(operand: dict[str, Any]) -> str | None:
    if operand.get("base") not in ("x", "*"):
        return None
    if operand.get("post_indexed"):
        return r"\[x\],[#x]"
    if operand.get("pre_indexed"):
        return r"\[x,#\]!"
    with_index = r",[xw](,[a-z]+#?)?"
    index = operand.get("index")
    return rf"\[x({with_index})\]" if index == "x" else rf"\[x(,#{'|' + with_index if index else ''})?\]"


def _pattern(operand: dict[str, Any]) -> str | None:
    """Return a regular expression for the shapes that an operand stands for; None for other kinds of operands."""
    kind = operand["class"]
    if kind == "memory":
        return _address(operand)
    if kind != "register":
        return {"immediate": "#", "identifier": "label", "condition": "cond", "prfop": "prfop"}.get(kind)
    prefix, shape = operand["prefix"], operand.get("shape")
    if not isinstance(prefix, str):
        raise ValueError(f"register without prefix: {operand}")
    if shape == "*" or (shape is None and prefix in ("z", "v")):
        lanes = r"(\.\d*[bhsdq])?"
    elif shape:
        lanes = rf"\.\d*{re.escape(str(shape))}"
    else:
        lanes = ""
    if prefix == "*":
        return rf"[wxbhsdq]|[vz]{lanes}" if lanes else "[wxbhsdq]"
    if prefix == "p":
        return rf"p({lanes}|/[zm])?"
    # q is also OSACA's name of a whole vector register.
    return re.escape(prefix) + lanes


def _usage(pressure: Any, names: dict[str, str]) -> Entry:
    """Return the fields about µops and divider.

    Raises KeyError for an unknown port, ValueError for nonsense.
    """
    usage: Counter[tuple[str, ...]] = Counter()
    divider = 0
    if isinstance(pressure, dict):
        # Alternatives, written out one by one: the same µops on one or the other port.
        ways = list(pressure.values())
        if any(len(way) != 1 or way[0][0] != ways[0][0][0] for way in ways):
            raise ValueError(f"port pressure {pressure!r}")
        pressure = [[ways[0][0][0], [n for way in ways for n in way[0][1]]]]
    if not isinstance(pressure, list):
        raise ValueError(f"port pressure {pressure!r}")
    for cycles, where in pressure:
        numbers = [n for w in where for n in ([w] if w in names or "D" in w else w)]
        if all(n.endswith("D") for n in numbers):
            # Data paths besides the ports, which are as busy as these.
            continue
        if all(n.endswith("DV") for n in numbers):
            divider = max(divider, round(cycles / len(numbers)))
            continue
        usage[tuple(sorted(names[n] for n in numbers))] += max(1, round(cycles))
    fields: Entry = {"ports": port_usage(usage), "retire": max(1, usage.total())}
    if divider:
        fields["divider"] = divider
    return fields


def _cycles(latency: Any) -> int:
    if not isinstance(latency, (int, float)) or latency < 0:
        raise ValueError(f"latency {latency!r}")
    return round(latency)


def _head(path: str) -> tuple[int | None, dict[str, int]]:
    """Return cycles from an address register to its value after write-back, and of loads by kind of register."""
    text = read_text(path)
    match = re.search(r"^p_index_latency: *(\d+)", text, re.M)
    loads = re.search(r"^load_latency: *\{(.*)\}", text, re.M)
    table = {k: round(float(c)) for k, c in re.findall(r"(\w): *([\d.]+)", loads[1])} if loads else {}
    return int(match[1]) if match else None, table


def _register_kind(form: str) -> str:
    """Return the letter of the first operand's registers."""
    return form.partition("/")[2].lstrip("{")[:1]


def _load(form: str, existing: Entry, forms: Forms, table: dict[str, int]) -> Entry | None:
    """Return a load with the latency from the table.

    One that takes longer than the plain load in the model still does.
    """
    mnemonic, kind = form.partition("/")[0], _register_kind(form)
    pairs = latency_by_pair(existing.get("latency", ""))
    latency = pairs.get(("m", "a"))
    plain = "ld1d/{z.d*1},p/z,[x,#,vl]" if kind == "z" else f"ldr/{'q' if kind == 'v' else kind},[x,#]"
    base = latency_by_pair(forms.get(plain, {}).get((), {}).get("latency", "")).get(("m", "a"))
    if not mnemonic.startswith("ld") or "derived" in existing or kind not in table or latency is None or base is None:
        return None
    cycles = table[kind] + max(0, latency - base)
    if cycles == latency:
        return None
    return {
        **existing,
        "latency": write_latency((t, s, cycles if t == "m" else c) for (t, s), c in pairs.items()),
        "source": "osaca",
    }


def _fields(existing: Entry, entry: _Entry, load_latency: int, write_back: int | None, own: bool) -> Entry:
    """Return the known entry with these µops; the latency goes to all pairs, unless the longest known one is the same.

    A load's latency is `load_latency`, from the address; a store's is not used. Where the destination is an input too,
    it was measured from there: the other inputs are needed no later than that, and no later than in the model (if that
    is the core's `own`).
    """
    fields: Entry = {"source": "osaca", **entry.usage}
    pairs, latency = latency_by_pair(existing.get("latency", "")), entry.latency
    if ("m", "a") in pairs:
        if latency:
            pairs["m", "a"] = load_latency
    elif any(t == "M" for t, _ in pairs):
        pass
    elif ("0", "0") in pairs:
        pairs = {(t, s): max(c, latency) if own and s != "0" else latency for (t, s), c in pairs.items()}
    elif pairs and max(pairs.values()) != latency:
        pairs = dict.fromkeys(pairs, latency)
    if write_back is not None:
        pairs = {(t, s): write_back if t == "a" else c for (t, s), c in pairs.items()}
    if pairs:
        fields["latency"] = write_latency((*pair, cycles) for pair, cycles in pairs.items())
    return fields

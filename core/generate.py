"""Makes models/binding/bound.py and core/python/counters.py from core/include/incc/fields.def.

python core/generate.py          write both
python core/generate.py --check  say whether they are current: exit status 1 if not
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DEFINITION = ROOT / "core" / "include" / "incc" / "fields.def"

MADE_FROM = "Made from core/include/incc/fields.def by core/generate.py: change it there."
UNLIMITED = 1 << 20


class Entry(NamedTuple):
    """One line of the definition: KIND(arguments), what is said about it, and the heading that it is under."""

    kind: str
    arguments: tuple[str, ...]
    text: str
    heading: str


def read(text: str) -> list[Entry]:
    """The entries in their order. Raises ValueError for a line that is none."""
    entries = []
    heading, about = "", []
    for line in text.splitlines():
        if line.startswith("// === "):
            heading = line.removeprefix("// === ")
        elif line.startswith("/// "):
            about.append(line.removeprefix("/// "))
        elif line and not line.startswith(("//", "#")):
            match = re.fullmatch(r"([A-Z_]+)\((.*)\)", line)
            if match is None:
                raise ValueError(f"{DEFINITION.name}: {line!r}")
            arguments = tuple(a.strip() for a in match[2].split(","))
            entries.append(Entry(match[1], arguments, " ".join(about), heading))
            about = []
    return entries


def _comment(text: str, indent: str = "    ") -> list[str]:
    return textwrap.wrap(text, 120, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ") if text else []


def _constants(entries: list[Entry], kind: str) -> list[str]:
    """The values of one kind, numbered as in C++."""
    chosen = [e for e in entries if e.kind == kind]
    lines = ["", *_comment(chosen[0].heading, "")]
    for number, entry in enumerate(chosen):
        value = entry.arguments[2] if len(entry.arguments) > 2 else str(number)
        lines += _comment(entry.text, "") if len(entry.text) > 60 else []
        about = f"  # {entry.text}" if entry.text and len(entry.text) <= 60 else ""
        lines.append(f"{entry.arguments[1]} = {value}{about}")
    return lines


_TYPES = {"NAMES": "list[str]", "SCALAR": "int", "PARAMETER": "int", "ENUM": "int", "MASK": "int"}


def _field(entry: Entry) -> tuple[str, str]:
    """A field's name in Python and its type."""
    kind = entry.kind.partition("_")[2]
    if kind == "PYTHON":
        return entry.arguments[0], entry.arguments[1]
    name = entry.arguments[2] if kind in ("ENUM", "ENUMS") else entry.arguments[1]
    return name, _TYPES.get(kind, "list[int]")


def _owners(entry: Entry) -> str:
    kind = entry.kind.partition("_")[2]
    if kind == "START":
        return f"By {_SINGULAR[entry.arguments[2]]}, where its {_PLURAL[entry.arguments[3]]} begin."
    place = {"ARRAY": 2, "WIDE": 2, "MASKS": 2, "ENUMS": 3}.get(kind)
    if place is None or entry.arguments[place] == "Any":
        return ""
    return f"By {_SINGULAR[entry.arguments[place]]}."


_SINGULAR = {
    "Instructions": "instruction",
    "Uops": "µop",
    "Values": "value",
    "Outputs": "output",
    "Inputs": "input",
    "Operands": "memory operand",
    "Affines": "affine entry",
    "AffineTerms": "term",
    "Entries": "entry",
    "EntryTerms": "term",
    "Forwards": "class",
    "PortDelays": "delay between ports",
    "Assumed": "assumed dependency",
}
_PLURAL = {
    "Uops": "µops",
    "Values": "values",
    "Outputs": "outputs",
    "Inputs": "inputs",
    "Affines": "affine entries",
    "AffineTerms": "terms",
    "EntryTerms": "terms",
}


def _fields(entries: list[Entry]) -> list[str]:
    """Slots and annotations of a class."""
    lines = ["    __slots__ = ("]
    lines += [f'        "{name}",' for name in sorted(_field(e)[0] for e in entries)]
    lines += ["    )", ""]
    heading = ""
    for entry in entries:
        if entry.heading != heading:
            heading = entry.heading
            lines += ["", *_comment("--- " + heading.partition(": ")[2] if ": " in heading[:14] else "--- " + heading)]
        name, type_ = _field(entry)
        lines += [*_comment(" ".join(part for part in (_owners(entry), entry.text) if part)), f"    {name}: {type_}"]
    return lines


def _default(entry: Entry, numbers: dict[str, int]) -> str | None:
    """What a field holds where nothing is said, as Python; None for what must be said."""
    kind = entry.kind.partition("_")[2]
    if kind in ("SCALAR", "PARAMETER"):
        return "UNLIMITED" if entry.arguments[2] == "Unlimited" else entry.arguments[2]
    if kind == "ENUM":
        return str(numbers[entry.arguments[3]])
    return "0" if kind == "MASK" else None


def bound_module(entries: list[Entry]) -> str:
    """models/binding/bound.py."""
    kernel = [e for e in entries if e.kind.startswith("KERNEL_")]
    pipeline = [e for e in entries if e.kind.startswith("PIPELINE_")]
    bindings = {e.arguments[0]: number for number, e in enumerate(e for e in entries if e.kind == "PORT_BINDING")}
    lines = [
        '"""A kernel bound to a machine model, as flat arrays: the only thing that the native core sees.',
        "",
        "All indices are 0-based, all times whole cycles of the core's clock. Arrays named `*_start` have one entry",
        "more than there are owners: the entries of owner i are [start[i], start[i+1]).",
        "",
        MADE_FROM,
        '"""',
        "",
        "from __future__ import annotations",
    ]
    for kind in ("INSTRUCTION_FLAG", "UOP_KIND", "VALUE_KIND", "INPUT_KIND", "MOVE_CLASS", "PORT_BINDING"):
        lines += _constants(entries, kind)
    lines += ["", f"UNLIMITED = 1 << {UNLIMITED.bit_length() - 1}", '"""Of what has no limit."""', ""]
    lines += ["PIPELINE_PARAMETERS = {"]
    lines += [f'    "{_field(e)[0]}": {_default(e, bindings)},' for e in pipeline if e.kind == "PIPELINE_PARAMETER"]
    lines += [
        "}",
        '"""Parameters of the model that are attributes of Pipeline, with what holds where the model does not say."""',
        "",
    ]
    for prefix, chosen in (("KERNEL", kernel), ("PIPELINE", pipeline)):
        known = [(e, value) for e in chosen if (value := _default(e, bindings)) is not None]
        own = [f'    "{_field(e)[0]}": {value},' for e, value in known if e.kind != "PIPELINE_PARAMETER"]
        others = ["    **PIPELINE_PARAMETERS,"] if prefix == "PIPELINE" else []
        lines += [f"{prefix}_DEFAULTS = {{", *own, *others, "}"]
        lines += ['"""Of all numbers, as the core has them."""', ""]
    arrays = [e for e in kernel if _field(e)[1] == "list[int]" and e.kind != "KERNEL_START"]
    starts = [e for e in kernel if e.kind == "KERNEL_START"]
    lines += ["KERNEL_ARRAYS = (", *[f'    "{_field(e)[0]}",' for e in arrays], ")"]
    lines += ["KERNEL_STARTS = (", *[f'    "{_field(e)[0]}",' for e in starts], ")", ""]
    per_instruction = [e for e in pipeline if "Instructions" in e.arguments]
    lists = [e for e in pipeline if "Any" in e.arguments]
    lines += ["PIPELINE_BY_INSTRUCTION = (", *[f'    "{_field(e)[0]}",' for e in per_instruction], ")"]
    lines += ["PIPELINE_LISTS = (", *[f'    "{_field(e)[0]}",' for e in lists], ")", "", ""]
    lines += [
        "class Pipeline:",
        '    """What the simulator knows of a kernel beyond its dependencies and µops."""',
        "",
        *_fields(pipeline),
        "",
        "",
        "class BoundKernel:",
        '    """See the module\'s docstring."""',
        "",
        *_fields(kernel),
        "",
        "    def __repr__(self) -> str:",
        '        return "BoundKernel(" + ", ".join(f"{k}={getattr(self, k, None)!r}" for k in self.__slots__) + ")"',
    ]
    return _tidy(lines)


def counters_module(entries: list[Entry]) -> str:
    """core/python/counters.py."""
    lines = [
        '"""What the simulation counts by source and by cause.',
        "",
        MADE_FROM,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from incc.frontends.records import NamedTuple",
    ]
    for kind in ("UOP_SOURCE", "LOST_SLOT"):
        chosen = [e for e in entries if e.kind == kind]
        name, _, about = chosen[0].heading.partition(": ")
        about = about[0].upper() + about[1:]
        lines += ["", "", f"class {name}(NamedTuple):", f'    """{about}, over a whole run."""', ""]
        for entry in chosen:
            lines += [*_comment(entry.text), f"    {entry.arguments[1]}: int"]
    return _tidy(lines)


def _tidy(lines: list[str]) -> str:
    """As the formatter wants it: no more than two empty lines, none behind a bracket or at the end."""
    text = "\n".join(lines) + "\n"
    text = re.sub(r"\n{4,}", "\n\n\n", text)
    return re.sub(r"(\n    \)\n)\n{2,}(?=    )", r"\1\n", text)


def outputs() -> dict[Path, str]:
    """The files that are made, and what belongs into them."""
    entries = read(DEFINITION.read_text(encoding="utf-8"))
    return {
        ROOT / "models" / "binding" / "bound.py": bound_module(entries),
        ROOT / "core" / "python" / "counters.py": counters_module(entries),
    }


def main(arguments: list[str]) -> int:
    stale = [path for path, text in outputs().items() if not path.exists() or path.read_text("utf-8") != text]
    if arguments == ["--check"]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what core/generate.py makes of {DEFINITION.name}", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(outputs()[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

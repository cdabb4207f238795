"""Generate models/binding/bound.py and core/python/counters.py from core/include/incc/fields.def.

python core/generate.py          write both files
python core/generate.py --check  exit with status 1 if a file is not current
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
DEFINITION = ROOT / "core" / "include" / "incc" / "fields.def"

GENERATED = "Generated from core/include/incc/fields.def by core/generate.py."
UNLIMITED = 1 << 20


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the definition, KIND(arguments)."""

    kind: str
    arguments: tuple[str, ...]
    text: str
    """The comment before the line."""
    heading: str
    """The heading that the line is under."""


def read(text: str) -> list[Definition]:
    """Return the entries in their order. Raises ValueError for a line that is none."""
    entries = []
    heading, comment = "", []
    for line in text.splitlines():
        if line.startswith("// === "):
            heading = line.removeprefix("// === ")
        elif line.startswith("/// "):
            comment.append(line.removeprefix("/// "))
        elif line and not line.startswith(("//", "#")):
            match = re.fullmatch(r"([A-Z_]+)\((.*)\)", line)
            if match is None:
                raise ValueError(f"{DEFINITION.name}: error: not KIND(arguments): {line!r}")
            arguments = tuple(a.strip() for a in match[2].split(","))
            entries.append(Definition(kind=match[1], arguments=arguments, text=" ".join(comment), heading=heading))
            comment = []
    return entries


def _comment(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, 120, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _docstring(text: str, indent: str = "") -> list[str]:
    """Return the lines of a docstring, none without a text. The last line leaves room for the quotes."""
    if not text:
        return []
    lines = textwrap.wrap(text, 117, initial_indent=f'{indent}"""', subsequent_indent=indent)
    lines[-1] += '"""'
    return lines


def _constants(entries: list[Definition], kind: str) -> list[str]:
    """Return the definitions of the values of one kind, numbered as in C++."""
    chosen = [e for e in entries if e.kind == kind]
    lines = ["", *_comment(chosen[0].heading)]
    for number, entry in enumerate(chosen):
        value = entry.arguments[2] if len(entry.arguments) > 2 else str(number)
        lines += [f"{entry.arguments[1]} = {value}", *_docstring(entry.text)]
    return lines


_TYPES = {"NAMES": "list[str]", "SCALAR": "int", "PARAMETER": "int", "ENUM": "int", "MASK": "int"}


def _field(entry: Definition) -> tuple[str, str]:
    """Return a field's name in Python and its type."""
    kind = entry.kind.partition("_")[2]
    if kind == "PYTHON":
        return entry.arguments[0], entry.arguments[1]
    name = entry.arguments[2] if kind in ("ENUM", "ENUMS") else entry.arguments[1]
    return name, _TYPES.get(kind, "list[int]")


# What owns the entries of an array, in the singular and the plural.
_OWNERS = {
    "Instructions": ("instruction", "instructions"),
    "Uops": ("µop", "µops"),
    "Values": ("value", "values"),
    "Outputs": ("output", "outputs"),
    "Inputs": ("input", "inputs"),
    "Operands": ("memory operand", "memory operands"),
    "Affines": ("affine entry", "affine entries"),
    "AffineTerms": ("term", "terms"),
    "Entries": ("location with a known content", "locations with a known content"),
    "EntryTerms": ("term", "terms"),
    "Forwards": ("class", "classes"),
    "PortDelays": ("delay between ports", "delays between ports"),
    "Assumed": ("assumed dependency", "assumed dependencies"),
    "Aligned": ("aligned value", "aligned values"),
}


def _layout(entry: Definition) -> tuple[str, str]:
    """Return what precedes and what follows a field's text about the layout of its array."""
    kind = entry.kind.partition("_")[2]
    if kind == "START":
        return (
            f"Index of the first of the {_OWNERS[entry.arguments[3]][1]} of each {_OWNERS[entry.arguments[2]][0]}.",
            "",
        )
    place = {"ARRAY": 2, "WIDE": 2, "MASKS": 2, "ENUMS": 3}.get(kind)
    if place is None or entry.arguments[place] == "Any":
        return "", ""
    return "", f"One entry per {_OWNERS[entry.arguments[place]][0]}."


def _fields(entries: list[Definition]) -> list[str]:
    """Return the annotations of a class."""
    lines, heading = [], ""
    for entry in entries:
        if entry.heading != heading:
            heading = entry.heading
            lines += ["", *_comment("--- " + heading.partition(": ")[2], "    ")]
        name, type_ = _field(entry)
        before, after = _layout(entry)
        text = " ".join(part for part in (before, entry.text, after) if part)
        lines += [f"    {name}: {type_}", *_docstring(text, "    ")]
    return lines


def _default(entry: Definition, numbers: dict[str, int]) -> str | None:
    """Return a field's default as Python source, None for a field without one."""
    kind = entry.kind.partition("_")[2]
    if kind in ("SCALAR", "PARAMETER"):
        return "UNLIMITED" if entry.arguments[2] == "Unlimited" else entry.arguments[2]
    if kind == "ENUM":
        return str(numbers[entry.arguments[3]])
    return "0" if kind == "MASK" else None


def _names(name: str, entries: list[Definition]) -> list[str]:
    """Return the definition of a tuple of fields' names, several on a line."""
    rows = [row.removesuffix(",") for row in textwrap.wrap(", ".join(f'"{_field(e)[0]}"' for e in entries), 112)]
    return [f"{name} = (", *[f"    *({row})," if "," in row else f"    {row}," for row in rows], ")"]


def _defaults(kernel: list[Definition], pipeline: list[Definition], bindings: dict[str, int]) -> list[str]:
    """Return the definitions of the tables of defaults; `bindings` are the numbers of PORT_BINDING."""
    parameters = [e for e in pipeline if e.kind == "PIPELINE_PARAMETER"]
    lines = ["PIPELINE_PARAMETERS = {"]
    lines += [f'    "{_field(e)[0]}": {_default(e, bindings)},' for e in parameters]
    lines += ["}", '"""The model\'s parameters that are attributes of Pipeline, with their defaults."""', ""]
    for prefix, chosen in (("KERNEL", kernel), ("PIPELINE", [e for e in pipeline if e not in parameters])):
        defaults = [(e, value) for e in chosen if (value := _default(e, bindings)) is not None]
        lines += [f"{prefix}_DEFAULTS = {{", *[f'    "{_field(e)[0]}": {value},' for e, value in defaults]]
        lines += ["    **PIPELINE_PARAMETERS,"] if prefix == "PIPELINE" else []
        lines += ["}", '"""The defaults of all numbers, which are those of the core."""', ""]
    return lines


def bound_module(entries: list[Definition]) -> str:
    """Return the text of models/binding/bound.py."""
    kernel = [e for e in entries if e.kind.startswith("KERNEL_")]
    pipeline = [e for e in entries if e.kind.startswith("PIPELINE_")]
    bindings = {e.arguments[0]: number for number, e in enumerate(e for e in entries if e.kind == "PORT_BINDING")}
    lines = [
        '"""Kernels bound to a machine model as flat arrays, the input of the native core.',
        "",
        "All indices count from 0, all times are whole cycles of the core's clock. Arrays named `*_start` have one",
        "entry more than there are owners: the entries of owner i are [start[i], start[i+1]).",
        "",
        GENERATED,
        '"""',
        "",
        "from __future__ import annotations",
    ]
    for kind in ("INSTRUCTION_FLAG", "UOP_KIND", "VALUE_KIND", "INPUT_KIND", "MOVE_CLASS", "PORT_BINDING"):
        lines += _constants(entries, kind)
    lines += [
        "",
        f"UNLIMITED = 1 << {UNLIMITED.bit_length() - 1}",
        '"""The value of a parameter without a limit."""',
        "",
        *_defaults(kernel, pipeline, bindings),
    ]
    starts = [e for e in kernel if e.kind == "KERNEL_START"]
    arrays = [e for e in kernel if _field(e)[1] == "list[int]" and e not in starts]
    others = [e for e in kernel if e not in starts + arrays and _default(e, bindings) is None]
    lines += [*_names("KERNEL_ARRAYS", arrays), *_names("KERNEL_STARTS", starts)]
    lines += _names("PIPELINE_ARRAYS", [e for e in pipeline if _field(e)[1] == "list[int]"])
    lines += [
        "",
        "",
        "class Pipeline:",
        '    """The simulator\'s input beyond a kernel\'s µops and dependencies."""',
        "",
        "    __slots__ = (*PIPELINE_DEFAULTS, *PIPELINE_ARRAYS)",
        "",
        *_fields(pipeline),
        "",
        "",
        "class BoundKernel:",
        '    """A kernel bound to a machine model."""',
        "",
        "    __slots__ = (",
        *[f"        *{names}," for names in ("KERNEL_DEFAULTS", "KERNEL_ARRAYS", "KERNEL_STARTS")],
        *[f'        "{_field(e)[0]}",' for e in others],
        "    )",
        "",
        *_fields(kernel),
        "",
        "    def __repr__(self) -> str:",
        '        return "BoundKernel(" + ", ".join(f"{k}={getattr(self, k, None)!r}" for k in self.__slots__) + ")"',
    ]
    return _tidy(lines)


def counters_module(entries: list[Definition]) -> str:
    """Return the text of core/python/counters.py."""
    lines = [
        '"""Counters of the simulation, by source and by cause.',
        "",
        GENERATED,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "import msgspec",
        "",
        "from incc.support.quantities import Amount",
    ]
    for kind in ("UOP_SOURCE", "LOST_SLOT"):
        chosen = [e for e in entries if e.kind == kind]
        name, _, text = chosen[0].heading.partition(": ")
        lines += ["", "", f"class {name}(msgspec.Struct, frozen=True, kw_only=True):", f'    """{text}."""', ""]
        for entry in chosen:
            lines += [f"    {entry.arguments[1]}: Amount", *_docstring(entry.text, "    ")]
    return _tidy(lines)


def _tidy(lines: list[str]) -> str:
    """Return the text as the formatter leaves it: at most two empty lines, and none after an opening class."""
    text = "\n".join(lines) + "\n"
    text = re.sub(r"\n{4,}", "\n\n\n", text)
    return re.sub(r"(\n    (?:\)|__slots__ = .*\))\n)\n{2,}(?=    )", r"\1\n", text)


def outputs() -> dict[Path, str]:
    """Return the text of each generated file."""
    entries = read(DEFINITION.read_text(encoding="utf-8"))
    return {
        ROOT / "models" / "binding" / "bound.py": bound_module(entries),
        ROOT / "core" / "python" / "counters.py": counters_module(entries),
    }


def main(arguments: list[str]) -> int:
    stale = {p: text for p, text in outputs().items() if not p.exists() or p.read_text("utf-8") != text}
    for path, text in stale.items():
        if arguments == ["--check"]:
            name = path.relative_to(ROOT)
            print(f"{name}: error: differs from {DEFINITION.name}; run python core/generate.py", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if stale and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

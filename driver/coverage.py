"""The part of given code that a model has instructions for, by their source; derived and missing instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from incc.frontends.asm.parse import INSTRUCTION, parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import DecodeError, TextForm
from incc.frontends.isa import isa as instruction_set
from incc.models.model import MachineModel
from incc.support.files import read_bytes, text_of

DERIVED, LACKING = "derived", "lacking"


class CoverageError(Exception):
    """The code cannot be read; the message names the file, and the line where there is one."""


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of the code."""

    form: str
    """The key of its form (`Instruction.form`)."""
    traits: frozenset[str]
    text: str
    place: str
    """File and line."""
    weight: float
    """The weight in the sum, such as the number of executions."""


class RefusedCode(msgspec.Struct, frozen=True):
    """Code that the decoder refuses: file and line, and the reason."""

    place: str
    message: str


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of the instructions in given code."""

    weights: dict[str, float]
    """The sum of the instructions' weights by the source in the model, or DERIVED or LACKING."""
    forms: dict[str, int]
    """The number of distinct forms by the same keys."""
    lacking: list[tuple[float, str, str, Used]]
    """Weight, key, "" and an example of each form, heaviest first."""
    derived: list[tuple[float, str, str, Used]]
    """Weight, key, the rule that derives it, and an example of each form, heaviest first."""

    @property
    def total(self) -> float:
        return sum(self.weights.values())

    def share(self, kind: str) -> float:
        """Return the part of all weight that is of this kind, 0 to 1; 0 for no code."""
        return self.weights.get(kind, 0.0) / self.total if self.total else 0.0


def measure(model: MachineModel, code: Iterable[Used]) -> Coverage:
    """Look every instruction of the code up in the model."""
    seen: dict[tuple[str, frozenset[str]], tuple[float, Used]] = {}
    for used in code:
        weight, first = seen.get((used.form, used.traits), (0.0, used))
        seen[used.form, used.traits] = weight + used.weight, first
    weights: dict[str, float] = {}
    forms: dict[str, int] = {}
    lists: dict[str, list[tuple[float, str, str, Used]]] = {DERIVED: [], LACKING: []}
    for weight, used in seen.values():
        form = model.lookup(used.form, used.traits)
        kind = LACKING if form is None else DERIVED if form.derived else form.source
        weights[kind] = weights.get(kind, 0.0) + weight
        forms[kind] = forms.get(kind, 0) + 1
        if kind in lists:
            lists[kind].append((weight, used.form, form.derived if form else "", used))
    for entries in lists.values():
        entries.sort(key=lambda e: (-e[0], e[1]))
    return Coverage(weights=weights, forms=forms, lacking=lists[LACKING], derived=lists[DERIVED])


# --- reading code ----------------------------------------------------------------------------------------------------


def read_assembly(path: str, isa: str, only_loops: bool = False) -> Iterator[Used | RefusedCode]:
    """Yield every instruction of an assembly file, or only of its innermost loops, once each. Raises CoverageError."""
    try:
        text = text_of(read_bytes(path))
    except OSError as error:
        raise CoverageError(f"{path}: {error.strerror}") from None
    parsed = parse(text)
    statements = {s.line: s.text for s in parsed.statements if s.kind == INSTRUCTION}
    if not statements:
        return
    if parsed.isa != isa:
        raise CoverageError(f"{path}: {parsed.isa} assembly, but the model is of an {isa} core")
    if only_loops:
        lines = sorted({line for region in innermost_loops(parsed)[0] for line in region.lines})
    else:
        lines = sorted(statements)
    try:
        for form in instruction_set(isa).text_forms(text, [(line, statements[line]) for line in lines], path):
            place = f"{path}:{form.line}"
            if isinstance(form, TextForm):
                yield Used(form=form.form, traits=form.traits, text=form.text, place=place, weight=1.0)
            else:
                yield RefusedCode(place, form.message)
    except DecodeError as error:
        raise CoverageError(str(error)) from None


def read_hex(path: str, isa: str, weighted: bool = False) -> Iterator[Used | RefusedCode]:
    """Yield the instructions of blocks of machine code, one block a line: `hex [number …]`. Raises CoverageError.

    If `weighted`, the number after the code is the weight of the block's instructions.
    """
    code_of = instruction_set(isa)
    try:
        rows = read_bytes(path).decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise CoverageError(f"{path}: {error.strerror}") from None
    for line, row in enumerate(rows, 1):
        words = row.split()
        if not words or words[0].startswith("#"):
            continue
        place = f"{path}:{line}"
        try:
            kernel = code_of.decode_bytes(bytes.fromhex(words[0]))
        except ValueError as error:
            yield RefusedCode(place, str(error))
            continue
        try:
            weight = float(words[1]) if weighted else 1.0
        except (IndexError, ValueError):
            raise CoverageError(f"{place}: no weight after the machine code") from None
        for i in kernel.instructions:
            yield Used(form=i.form, traits=i.traits, text=i.text, place=place, weight=weight)

"""A model of the host: its nearest relative's, and the measured differences.

The file inherits from the relative and contains only differences. Every figure has a comment on its origin. They are
followed by the figures that agree, those that could not be measured, and findings that no parameter describes.
"""

from __future__ import annotations

import json
import os
import platform
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.core.analysis import KernelResult, analyze_kernel
from incc.frontends.isa import isa
from incc.measuring.harness import LoopFailure, MachineLoop
from incc.measuring.host.forms import FormsComparison
from incc.measuring.host.ports import of_relative, surely_different, uops_text
from incc.measuring.kernels import MACHINES
from incc.measuring.pipeline.comparison import ComparedFinding, changed_fusion, changed_parameters
from incc.measuring.pipeline.probing import ProbeBench
from incc.measuring.ports.study import FormPorts
from incc.models.files.source import Forms, write_forms
from incc.models.memory import MemoryHierarchy, table_text
from incc.models.model import MachineModel
from incc.models.notation import form_key

MARK = "# Made by `incc-model make host`"
"""The start of a file that may be overwritten."""


def isa_here() -> str:
    """Return the instruction set of this machine, "" for one without measuring loops.

    "x86" has probes of the pipeline; "aarch64" only has forms.
    """
    return MACHINES.get(platform.machine(), "")


# --- loops that are measured and predicted ----------------------------------------------------------------------------


class Case(msgspec.Struct, frozen=True):
    """A loop with a name."""

    name: str
    loop: MachineLoop


class LoopOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A loop's measured and predicted cycles."""

    name: str
    cycles: float
    """Measured cycles."""
    before: float
    """Cycles predicted with the relative's model."""
    after: float
    """Cycles predicted with the new model."""


def cases(path: str = "") -> list[Case]:
    """Return the loops of a file of JSON lines, or those that come with incc."""
    path = path or os.path.join(os.path.dirname(os.path.abspath(__file__)), "loops.jsonl")
    loops = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            data = json.loads(line)
            code, registers = bytes.fromhex(data["code"]), tuple(data["registers"])
            loop = MachineLoop(code=code, counter=data["counter"], registers=registers, content=data["content"])
            loops.append(Case(data["name"], loop))
    return loops


def halves(loops: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """Return the loops of every other source file, which decide about figures, and the rest, which judge the model."""
    files = {name: n for n, name in enumerate(sorted({case.name.partition(" ")[0] for case in loops}))}
    parts: tuple[list[Case], list[Case]] = ([], [])
    for case in loops:
        parts[files[case.name.partition(" ")[0]] % 2].append(case)
    return parts


def predict(loop: MachineLoop, model: MachineModel) -> KernelResult:
    """Analyse a loop. Raises ValueError for bytes that are no instructions."""
    return analyze_kernel(isa(model.isa).decode_bytes(loop.code, text=False), model)


def forms_of(loops: Iterable[Case], model: MachineModel) -> list[str]:
    """Return the forms of the loops' instructions, the most frequent first."""
    instructions = (i for case in loops for i in predict(case.loop, model).kernel.instructions)
    return [form for form, _ in Counter(i.form for i in instructions).most_common()]


def compare_loops(
    bench: ProbeBench, loops: Sequence[Case], before: MachineModel, after: MachineModel
) -> tuple[list[LoopOutcome], list[tuple[str, str]]]:
    """Return both models' predictions of the loops, and the loops without a figure, with the reason."""
    outcomes, left_out = [], []
    for case, measured in zip(loops, bench.measure([c.loop for c in loops]), strict=True):
        old, new = (predict(case.loop, model) for model in (before, after))
        if isinstance(measured, LoopFailure):
            left_out.append((case.name, measured.text))
        elif measured.spread > 0.1 * measured.cycles:
            why = f"{measured.cycles:.2f} cycles that do not repeat ({measured.spread:.2f} apart)"
            left_out.append((case.name, why))
        elif any(form is None for form in (*old.forms, *new.forms)):
            left_out.append((case.name, "an instruction is not in the model"))
        else:
            cycles = float(old.cycles), float(new.cycles)
            outcomes.append(LoopOutcome(name=case.name, cycles=measured.cycles, before=cycles[0], after=cycles[1]))
    return outcomes, left_out


def mean_error(outcomes: Sequence[LoopOutcome], which: str) -> float:
    """Return the mean absolute error of `before` or `after`, relative to the measured cycles."""
    errors = [abs(getattr(o, which) - o.cycles) / o.cycles for o in outcomes]
    return sum(errors) / len(errors) if errors else 0.0


# --- the file ---------------------------------------------------------------------------------------------------------


def may_write(path: str) -> str:
    """Return why a file may not be written, or "" if it is missing or was written by this command."""
    if not os.path.exists(path):
        folder = os.path.dirname(path) or "."
        return "" if os.path.isdir(folder) else f"no such folder: {folder}"
    try:
        with open(path, encoding="utf-8") as f:
            first = f.readline()
    except (OSError, UnicodeDecodeError) as e:
        return getattr(e, "strerror", None) or "not UTF-8 text"
    return "" if first.startswith(MARK) else "is there already, and was not made by `incc-model make host`"


def name_of(path: str) -> str:
    """Return the model's name from its file's. Raises ValueError for a name that a model cannot have."""
    stem = os.path.basename(path)
    stem = stem[:-5] if stem.endswith(".toml") else ""
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", stem):
        raise ValueError(
            f"{path}: a model's file is called NAME.toml, its name made of letters, digits, `-`, `_` and `.`"
        )
    return stem


class WrittenModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model file as text, with its own parameters, macro-fusion classes and forms (entries)."""

    text: str
    parameters: dict[str, Any]
    fusion: dict[str, tuple[str, ...]]
    forms: Forms


def model_text(
    name: str,
    relative: MachineModel,
    processor: str,
    compared: Sequence[ComparedFinding],
    forms: Forms,
    result: FormsComparison | None,
    ports: Sequence[FormPorts] = (),
    note: str = "",
    memory: MemoryHierarchy | None = None,
) -> WrittenModel:
    """Return the model file.

    `processor` is the processor's own name; `ports` the port study's results; `note` a remark on all figures; `memory`
    the measured hierarchy.
    """
    parameters = changed_parameters(list(compared), relative)
    fusion, strange = changed_fusion(list(compared), relative)
    lines = [
        f"{MARK} on {processor or 'a processor without a name'}: the model of {relative.title}, and what was",
        "# measured to be different. Figures come from time alone (docs/host.md).",
        *([_comment(note[0].upper() + note[1:])] if note else []),
        "format = 1",
        f"name = {_string(name)}",
        f"title = {_string(f'{processor or name}, measured')}",
        f"isa = {_string(relative.isa)}",
        f"inherits = {_string(relative.name)}",
        'source = "measured"',
        "",
        "[sources]",
        f"measured = {_string('measured by incc-model make host on ' + (processor or 'this machine'))}",
        "",
        *_findings(compared, strange),
        *_forms_said(result),
        *_ports_said(ports, relative),
    ]
    tables = {p: v for p, v in parameters.items() if hasattr(v, "items")}
    if len(tables) < len(parameters):
        lines.append("[parameters]")
        for parameter in (p for p in parameters if p not in tables):
            lines += [*_why(compared, parameter), f"{parameter} = {_value(parameters[parameter])}"]
        lines.append("")
    for parameter, table in tables.items():
        lines += [*_why(compared, parameter), f"[parameters.{parameter}]"]
        lines += [*(f"{_key(k)} = {_value(v)}" for k, v in table.items()), ""]
    if memory is not None:
        lines.append(table_text(memory))
    head = "\n".join(lines).rstrip("\n") + "\n\n"
    return WrittenModel(text=head + write_forms(forms, fusion), parameters=parameters, fusion=fusion, forms=forms)


def _findings(compared: Sequence[ComparedFinding], strange: Sequence[str]) -> list[str]:
    """Return comments on findings that agree with the relative, could not be measured, or match no parameter."""
    lines = []
    agree = [c for c in compared if c.verdict == "agrees"]
    if agree:
        plain = [c for c in agree if not c.finding.name.startswith("macro_fusion.")]
        lines.append("# As in the model that it inherits from, within what was measured:")
        lines += [_comment(f"{c.finding.name} = {shown(c.known)} (seen {shown(c.finding.value)})") for c in plain]
        if pairs := len(agree) - len(plain):
            lines.append(_comment(f"macro-fusion: {pairs} pairs of instruction and jump"))
        lines.append("")
    for verdict, title in (
        ("unsure", "# Differs, but does not repeat; the inherited figure stays:"),
        ("against", "# Differs, but loops measured here are predicted worse so; the inherited figure stays:"),
        ("unknown", "# Not measured; the inherited figure stays:"),
        ("note", "# Measured, and no parameter says it:"),
    ):
        chosen = [c.finding for c in compared if c.verdict == verdict]
        if verdict == "unknown":
            # Only the number of pairs that could not be measured is listed: they are 144.
            unclear = [f for f in chosen if f.name.startswith("macro_fusion.")]
            chosen = [f for f in chosen if f not in unclear]
            if unclear:
                chosen.append(replace(unclear[0], name="macro_fusion", text=f"{len(unclear)} pairs: {unclear[0].text}"))
        if chosen:
            lines.append(title)
            lines += [_comment(f"{f.name.removeprefix('note:')}: {_note(f.value)}{f.text}") for f in chosen]
            lines.append("")
    if strange:
        lines += ["# Macro-fusion that the classes of the inherited model cannot say:", *map(_comment, strange), ""]
    return lines


def _forms_said(result: FormsComparison | None) -> list[str]:
    if result is None:
        return []
    lines = [
        f"# Forms measured: {result.same} as inherited, {len(result.different)} with other figures below, "
        f"{len(result.unsteady)} that do not"
        "\n# repeat, whose figures stay as inherited."
    ]
    for names, text in (
        (result.unsteady, "do not repeat"),
        (result.faster, "are faster than the inherited ports allow, which stay"),
        (result.missing, "have no figures that could be compared"),
    ):
        if names:
            more = f" and {len(names) - 12} more" if len(names) > 12 else ""
            lines += [_comment(f"{len(names)} {text}: {', '.join(names[:12])}{more}")]
    lines += [_comment(f"{text}; it stays as inherited") for text in result.against]
    for difference in result.different:
        lines.append(_comment(f"{form_key(*difference.key)}: seen twice; inherited {difference.text}"))
    return [*lines, ""]


def _ports_said(ports: Sequence[FormPorts], relative: MachineModel) -> list[str]:
    """Return comments on the forms with other ports, how sure that is, and the forms whose ports time cannot tell."""
    if not ports:
        return []
    lines = ["# Ports, by throughputs with blocking instructions (docs/ports.md):"]
    same = 0
    for m in ports:
        form = relative.lookup(m.form, frozenset())
        if form is not None and m.uops and sorted(m.uops) == sorted(of_relative(form)):
            same += 1
        elif surely_different(m, form, relative.ports):
            there = uops_text(of_relative(form)) if form is not None else "none"
            kept = "" if form is not None else "; the form is not written, since its latencies are not known"
            lines.append(
                _comment(
                    f"{m.form}: {uops_text(m.uops)}, inherited {there}: nothing "
                    f"else explains the times in as few µops, twice{kept}"
                )
            )
        else:
            why = "; ".join(m.notes) or _UNSURE.get(m.how, "µops that wait for issue slots do not reveal their ports")
            lines.append(_comment(f"{m.form}: as inherited, not told by time: {why}"))
    return [*lines, _comment(f"{same} forms: as inherited, and seen to be"), ""]


_UNSURE = {
    "relative": "the inherited ports explain the times, and others do",
    "smallest": "the inherited ports do not explain the times, and several others do",
    "contradiction": "nothing explains the times",
    "unmeasured": "it could not be run",
}


def _why(compared: Sequence[ComparedFinding], parameter: str) -> list[str]:
    lines = []
    for c in compared:
        name, _, key = c.finding.name.partition(".")
        if c.verdict == "differs" and name == parameter:
            lines.append(_comment(f"{key + ': ' if key else ''}inherited {shown(c.known)}; {c.finding.text}"))
    return lines


def _comment(text: str) -> str:
    text = " ".join(text.split())
    return "\n".join(textwrap.wrap(text, 118, initial_indent="# ", subsequent_indent="#   ", break_long_words=False))


def _note(value: Any) -> str:
    return "" if value is None else f"{value}: " if isinstance(value, str) else f"{value} "


def shown(value: Any) -> str:
    """Return a parameter's value in words."""
    if hasattr(value, "items"):
        return ", ".join(f"{k} {shown(v)}" for k, v in value.items()) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _value(value: Any) -> str:
    return _string(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else _string(name)


def processor_name(cpuinfo: str = "/proc/cpuinfo") -> str:
    """Return the processor's own name, "" if the system does not say."""
    try:
        with open(cpuinfo, encoding="utf-8", errors="replace") as f:
            text = f.read(16384)
    except OSError:
        return ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    return " ".join(match[1].split()) if match else ""

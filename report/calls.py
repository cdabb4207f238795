"""The report on whole calls of functions: their cycles, and what these consist of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from incc.core.figures import DECIMALS
from incc.frontends.asm.call_path import CallPath, WantedTrips
from incc.frontends.asm.parse import Assembly
from incc.report import types as t
from incc.report import wording
from incc.report.unit_result import UnitResult
from incc.support.text import line_list


class CallFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a call."""

    cycles: Fraction
    foreseen: Fraction
    """The cycles without mispredictions."""
    missing: Fraction
    """The cycles with mispredictions. `cycles` is without them if it is unknown whether the core mispredicts."""
    mispredictions: Fraction
    """Exits of loops that are mispredicted, or may be."""
    instructions: Fraction
    """The executed instructions, with those of the caller that set arguments."""
    unknown: Fraction
    """Those that the model lacks."""
    iterations: Mapping[int, Fraction]
    """Iterations of each loop, by the number of its header's first instruction."""
    entries: Mapping[int, Fraction]
    """Entries into each loop, by the same."""
    path: CallPath
    """The path of the call, or of a shorter one."""

    def extrapolated(self, longer: CallFigures, steps: Fraction) -> CallFigures:
        """Return the figures of a call extrapolated by a multiple of the difference to `longer`."""

        def line(one: Fraction, other: Fraction) -> Fraction:
            return one + steps * (other - one)

        def lines(one: Mapping[int, Fraction], other: Mapping[int, Fraction]) -> dict[int, Fraction]:
            return {head: line(one.get(head, Fraction()), other.get(head, Fraction())) for head in {**one, **other}}

        return CallFigures(
            cycles=line(self.cycles, longer.cycles),
            foreseen=line(self.foreseen, longer.foreseen),
            missing=line(self.missing, longer.missing),
            mispredictions=line(self.mispredictions, longer.mispredictions),
            instructions=line(self.instructions, longer.instructions),
            unknown=line(self.unknown, longer.unknown),
            iterations=lines(self.iterations, longer.iterations),
            entries=lines(self.entries, longer.entries),
            path=longer.path,
        )


def not_predicted(function: str, reason: str) -> t.CallReport:
    """Return the report on a function whose calls are not predicted, and the reason."""
    return t.CallReport(function=function, function_name=function, reason=reason)


def call_report(
    function: str,
    figures: CallFigures,
    trips: WantedTrips,
    near: int | None,
    heads: Mapping[int, int],
    steady: Mapping[int, Fraction],
    lines: Mapping[int, int],
    result: UnitResult,
    parsed: Assembly,
) -> t.CallReport:
    """Return the report on a call.

    Args:
        function: The function's symbol.
        figures: The figures of a call.
        trips: The iterations of the source's loops.
        near: The iterations from which on they take at most a tenth more than in endless loops, if known.
        heads: The kernel of each innermost loop, by the number of its header's first instruction.
        steady: Cycles per iteration of these loops by themselves, with arrays as in calls.
        lines: The source lines of these loops, as far as known.
        result: The result of the unit.
        parsed: The unit's assembly.
    """
    loops = []
    places: dict[int, str] = {}
    handled: dict[int, Fraction] = {}
    alone = Fraction()
    for head, count in figures.iterations.items():
        if head not in heads or not count:
            continue
        n = heads[head]
        role = result.parts[n].role
        main = role.of if role.of >= 0 else n
        handled[main] = max(
            handled.get(main, Fraction()), figures.entries[head] * trips.lines.get(lines.get(head, 0), trips.inner)
        )
        by_itself = count * steady[head]
        alone += by_itself
        region = result.results[n].kernel.region
        assert region is not None
        places[region.first_line] = f"line {region.source.line}, " if region.source else ""
        loops.append(
            t.CallLoop(
                kernel_id=result.kernel_ids[n] if result.kernel_ids else "",
                role=role.name,
                first_line=region.first_line,
                last_line=region.last_line,
                entries=round(float(figures.entries[head]), DECIMALS),
                iterations=round(float(count), DECIMALS),
                cycles=round(float(by_itself), DECIMALS),
            )
        )
    # Without an iteration of an innermost loop, its work is done once for each iteration of the loop around.
    around = max((count for head, count in figures.iterations.items() if head not in heads), default=Fraction(1))
    most = max(handled.values(), default=trips.inner * around)
    report = t.CallReport(
        function=function,
        function_name=function,
        inner_trips=trips.inner,
        outer_trips=trips.outer,
        near_trips=near,
        inputs=dict(figures.path.inputs),
        elements=round(float(most), DECIMALS),
        cycles=round(float(figures.cycles), DECIMALS),
        cycles_per_element=round(float(figures.cycles / most), DECIMALS) if most else None,
        loops_cycles=round(float(alone), DECIMALS),
        mispredictions=round(float(figures.mispredictions), DECIMALS),
        misprediction_cycles=round(float(figures.missing - figures.foreseen), DECIMALS),
        mispredictions_counted=figures.cycles == figures.missing,
        instructions=round(float(figures.instructions), DECIMALS),
        unknown_instructions=round(float(figures.unknown), DECIMALS),
        function_calls=len(figures.path.calls),
        assumed=sorted({parsed.statements[guess.number].line for guess in figures.path.guesses}),
        loops=sorted(loops, key=lambda loop: loop.first_line),
    )
    guessed = {parsed.statements[guess.number].location for guess in figures.path.guesses}
    sources = [place.line for place in guessed if place is not None] if None not in guessed else []
    report.text = _text(report, compiled=bool(result.unit.source), places=places, assumed=sources)
    return report


def data_pass(function: str, size: int, iterations: int, figures: CallFigures, steady: Fraction) -> t.DataPass:
    """Return the report on a pass of a loop through data of a size.

    Args:
        function: The function's symbol.
        size: The bytes of all data.
        iterations: The iterations of the loop in a pass.
        figures: The figures of a call that consists of one pass.
        steady: The loop's cycles per iteration by itself, with arrays as in calls.
    """
    beyond = figures.cycles - iterations * steady
    exits = figures.missing - figures.foreseen
    text = (
        f"With {size:,} bytes of data, calls of {function or 'the function'} run the loop {_times(iterations)} "
        f"and take {wording.cycles(figures.cycles)}, {wording.number(figures.cycles / iterations)} per iteration: "
        f"{_compared(beyond)} these iterations of an endless loop"
    )
    if exits >= SHOWN and figures.cycles == figures.missing:
        text += f", {wording.number(exits)} of them by the mispredicted exit"
    elif exits >= SHOWN:
        text += f", and {wording.number(exits)} more if the core mispredicts the exit, which is not known"
    return t.DataPass(
        bytes=size,
        iterations=iterations,
        cycles=round(float(figures.cycles), DECIMALS),
        beyond_loop=round(float(beyond), DECIMALS),
        misprediction_cycles=round(float(exits), DECIMALS),
        mispredictions_counted=figures.cycles == figures.missing,
        text=text,
    )


def _compared(difference: Fraction) -> str:
    if abs(difference) < SHOWN:
        return "as many as"
    return f"{wording.number(abs(difference))} {'fewer' if difference < 0 else 'more'} than"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


SHOWN = 0.005
"""The cycles of mispredictions from which on they are reported; fewer would be shown as 0."""


def _text(call: t.CallReport, compiled: bool, places: Mapping[int, str], assumed: Sequence[int]) -> list[str]:
    """Return sentences on a call.

    Args:
        call: The figures.
        compiled: True if the lines of its loops and branches are those of the compiler's assembly.
        places: The lines of the loops in the source, by their first lines.
        assumed: The lines of the assumed branches in the source, none if some are unknown.
    """
    each = f", {wording.number(call.cycles_per_element)} per element" if call.cycles_per_element else ""
    sentences = [f"{wording.cycles(call.cycles)} a call{each}, if calls follow each other."]
    parts = []
    lines = "asm" if compiled else "lines"
    for loop in call.loops:
        role = f"{loop.role}, " if loop.role else ""
        entered = f" in {wording.number(loop.entries)} entries" if loop.entries > 1 else ""
        place = f"{places.get(loop.first_line, '')}{lines} {loop.first_line}–{loop.last_line}"
        done = f"{_counted(loop.iterations, 'iteration')}{entered}"
        parts.append(f"{place} ({role}{done}: {wording.number(loop.cycles)})")
    if parts:
        subject = "By itself, the loop takes" if len(parts) == 1 else "By themselves, the loops take"
        sentences.append(f"{subject} {wording.cycles(call.loops_cycles)}: {'; '.join(parts)}.")
    else:
        sentences.append("None of the analysed loops runs: the code around them does all elements.")
    if call.misprediction_cycles >= SHOWN:
        exits, cost = _counted(call.mispredictions, "loop exit"), wording.cycles(call.misprediction_cycles)
        one = call.mispredictions == 1
        sentences.append(
            f"{exits} {'is' if one else 'are'} mispredicted, which costs {cost} of these."
            if call.mispredictions_counted
            else f"If the core mispredicts {exits}, which is not known, {cost} more."
        )
    if (call.near_trips or 0) > 1:
        sentences.append(
            f"From {call.near_trips} iterations on, elements take at most 10 % more than in an endless call."
        )
    if call.assumed:
        where = f"asm {line_list(call.assumed).split(' ', 1)[1]}" if compiled else line_list(call.assumed)
        where = f"{line_list(set(assumed))} ({where})" if compiled and assumed else where
        sentences.append(f"Branches whose direction depends on data go the likeliest way, in {where}.")
    for count, what in ((call.function_calls, "call"), (call.unknown_instructions, "instruction")):
        if count:
            which = "of other functions" if what == "call" else "that the model lacks"
            sentences.append(f"Not counted: {_counted(count, what)} {which}.")
    return sentences


def _counted(count: float, noun: str) -> str:
    return f"{wording.number(count)} {noun}{'' if count == 1 else 's'}"

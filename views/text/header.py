"""The heads of a text report: inputs and model of a unit; place, size and verdict of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.report.source.places import assembly_is_kept
from incc.support.text import counted
from incc.views.layout import BOLD, Layout

_INDENT = "   "
"""In front of the lines on one of many kernels."""


def unit_lines(report: t.AnalysisReport, unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield the input, its compiler and the model."""
    model, tool = unit.model, report.tool
    name = unit.source or unit.assembly_file
    compiler = unit.compiler and f", {unit.compiler} {unit.compiler_version}".rstrip()
    yield from layout.wrap(f"{name}{compiler}: {tool.name} {tool.version} for {model.title}")
    yield from layout.wrap(f"Model {model.name} {model.version}, chosen by {model.chosen_by}")


def left_out(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield the parts of the unit that are not analysed, with the reasons."""
    if not unit.kernels:
        yield ""
        yield "No loop to analyse." if not unit.left_out else "Nothing can be analysed."
    if unit.left_out:
        yield ""
        yield "Not analysed:"
        for item in unit.left_out:
            where = unit.assembly_file
            if item.first_line:  # else it is the file as a whole
                where += f":{item.first_line}"
            function = item.function and f" in {item.function}"
            yield from layout.wrap(f"{where}{function}: {item.reason}", "  ", "    ")
    for missing in unit.not_found:
        yield ""
        yield from layout.wrap(f"{missing.text[:1].upper()}{missing.text[1:]}.")
    if unit.became_calls:
        yield ""
        yield from layout.wrap(
            "Calls of library functions, from the source or inserted by the compiler in place of loops (their time is "
            "not counted):"
        )
        yield from _calls(unit, layout)
    if unit.system_loops:
        yield ""
        number = unit.system_loops
        option = "--analyze-system-headers" if unit.command else "-system-headers"
        yield from layout.wrap(
            f"{counted(number, 'loop')} that {'comes' if number == 1 else 'come'} only from system headers "
            f"{'is' if number == 1 else 'are'} not shown; {option} shows {'it' if number == 1 else 'them'}."
        )


MOST_FUNCTIONS = 12
"""Functions with calls in the place of loops that the text lists; JSON has all."""


def _calls(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield a line for each function with such calls, with their callees and lines."""
    functions: dict[str, dict[str, list[str]]] = {}
    for call in unit.became_calls:
        where = layout.place(call.source) if call.source else f"{unit.assembly_file}:{call.line}"
        places = functions.setdefault(call.function_name, {}).setdefault(call.callee, [])
        if where not in places:
            places.append(where)
    for name, callees in list(functions.items())[:MOST_FUNCTIONS]:
        text = "; ".join(f"{callee}, {', '.join(places)}" for callee, places in callees.items())
        yield from layout.wrap(f"{name}: {text}", "  ", "    ")
    if len(functions) > MOST_FUNCTIONS:
        yield f"  and in {counted(len(functions) - MOST_FUNCTIONS, 'more function')}"


def lines(
    unit: t.UnitReport, kernel: t.KernelReport, layout: Layout, number: int = 0, most_hints: int | None = None
) -> Iterator[str]:
    """Yield a kernel's place and size, and the verdict with its hints.

    Args:
        unit: The kernel's unit.
        kernel: The kernel.
        layout: The layout of the text.
        number: The number of its row in the overview, 0 for none.
        most_hints: The most hints to show, None for all.
    """
    yield from _place(unit, kernel, layout, number)
    yield ""
    yield from verdict(kernel, layout, most_hints=most_hints)


def title(kernel: t.KernelReport, layout: Layout) -> str:
    """Return a kernel's place in the source and its function."""
    source = kernel.source
    text = layout.place(source) if source else kernel.name
    if kernel.inlined_into:
        text += f" in {kernel.source_function}"
    elif kernel.function and (source or kernel.function not in text):
        text += f" in {kernel.function_name}"
    return text


def _place(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout, number: int) -> Iterator[str]:
    titles = list(layout.wrap(title(kernel, layout), f"[{number}] " if number else ""))
    for line in titles:
        yield layout.paint(line, BOLD)
    yield "-" * max(len(line) for line in titles)
    for text, first, more in facts(unit, kernel, layout):
        yield from layout.wrap(text, first, more)


def facts(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[tuple[str, str, str]]:
    """Yield lines on a kernel's place and size: text, and the beginnings of its first and its further lines."""
    what = "loop" if kernel.is_loop else "straight-line code"
    if kernel.label:
        what += f" at {kernel.label}"
    if kernel.depth > 1:
        what += f", nesting depth {kernel.depth}"
    if kernel.first_line:
        what += f", {span(unit, kernel)}"
    if kernel.near:
        what += f", near {layout.place(kernel.near)}"
    if not kernel.is_loop:
        what += ", analysed as if it were repeated"
    size, memory, arithmetic = kernel.size, kernel.memory, kernel.arithmetic
    yield what[0].upper() + what[1:], "", ""
    if kernel.inlined or kernel.inlined_into:
        yield inlining(kernel, layout), "Inlined: ", "  "
    if kernel.compiled:
        yield kernel.compiled.text, "Compiler: ", "  "
    sizes = counted(size.instructions, "instruction")
    if kernel.unknown_instructions:
        sizes += f" ({len(kernel.unknown_instructions)} not in the model)"
    sizes += f", {counted(size.bytes, 'byte')}, {counted(size.issue_slots, 'µop')}"
    yield f"{sizes}; {arithmetic.text}", "", ""
    moved = f"{counted(memory.bytes_loaded, 'byte')} loaded, {memory.bytes_stored} stored"
    if memory.unsized_accesses:
        moved += f", and {memory.unsized_accesses} accesses of unknown size"
    if arithmetic.flop and arithmetic.flop_per_byte is not None:
        moved += f"; {arithmetic.flop_per_byte:.2f} flop/byte"
    yield f"Per iteration {moved}", "", ""
    for text in (*kernel.access_notes, *_elements(kernel), *_instead(unit, kernel)):
        yield text, "", ""
    if kernel.data and any(level.requested for level in kernel.data.levels):
        for text in (beyond_l1(kernel.data), *(each.text for each in kernel.data.passes)):
            yield text, "", "  "
    if kernel.remarks:
        yield remarks(kernel), f"{unit.compiler}: ", "  "


def beyond_l1(data: t.DataReport) -> str:
    """Return the ECM model's notation and prediction, or the reason why there is none."""
    if data.unknown:
        return (
            "Beyond L1: not predicted, because it is unknown which cache lines some instructions move (--views=memory)"
        )
    if data.line_iterations is None:
        return "Beyond L1: as from L1, because no address moves"
    names = ", ".join(level.name for level in data.levels)
    together = f", {counted(data.cores, 'core')}" if data.cores > 1 else ""
    iterations = f"{data.line_iterations:g} iteration{'' if data.line_iterations == 1 else 's'}"
    return (
        f"Per {data.line_bytes}-byte line ({iterations}) from {names}{together}: {_whole(data.prediction)} cycles; "
        f"ECM {_whole(data.notation)}"
    )


def _whole(text: str) -> str:
    """Return a text that no line break splits."""
    return text.replace(" ", "\xa0")


def _instead(unit: t.UnitReport, kernel: t.KernelReport) -> Iterator[str]:
    """Yield the condition on which another loop does the work of this one, and what that one takes."""
    of_this = [other for other in unit.kernels if other.role.of == kernel.kernel_id]
    others = [other for other in of_this if other.role.instead or other.role.name == "fallback"]
    slowest = max(others, key=lambda other: other.elements.cycles if other.elements else 0, default=kernel)
    if kernel.role.name == "main" and slowest.elements and slowest is not kernel:
        condition = slowest.role.text.rpartition(" for ")[2]
        if condition == "few elements" and any(remark.kind == "versioned" for remark in kernel.remarks):
            condition = "few elements or overlapping arrays"
        yield f"For {condition} another loop runs, at {slowest.elements.cycles:.2f} cycles per element"


def remarks(kernel: t.KernelReport) -> str:
    """Return the compiler's remarks on a kernel."""
    return "; ".join(remark.text for remark in kernel.remarks)


def _elements(kernel: t.KernelReport) -> Iterator[str]:
    """Yield the elements of an iteration, its rates, and the kernel's role."""
    texts = [part.text for part in (kernel.elements, kernel.rates) if part]
    if kernel.role.of:
        texts.append(kernel.role.text)
    for text in texts:
        if text:
            yield text[0].upper() + text[1:]


def span(unit: t.UnitReport, kernel: t.KernelReport) -> str:
    """Return the lines of a kernel in the assembly, with its file unless that was a compiler's and is not kept."""
    lines = f"{kernel.first_line}-{kernel.last_line}"
    return f"{unit.assembly_file}:{lines}" if assembly_is_kept(unit.source, unit.assembly_file) else f"asm {lines}"


MOST_INLINED = 3
"""Inlined functions that the text names: the outer ones, which the user's line calls, and the loop's own."""


def inlining(kernel: t.KernelReport, layout: Layout) -> str:
    """Return the functions around the loop from the outermost to its own, each with the line that leads further in."""
    source = kernel.source
    here = layout.place(source) if source else "?"
    if kernel.inlined_into:
        here += f" in {kernel.source_function}"
    frames = [f"{layout.place(frame)} in {frame.function}" for frame in kernel.inlined_into]
    inner: list[str] = []
    for frame in kernel.inlined:
        if frame.function and frame.function not in inner[-1:]:  # recursion and overloads
            inner.append(frame.function)
    if len(inner) > MOST_INLINED:
        inner = [*inner[: MOST_INLINED - 1], "…", inner[-1]]
    if inner:
        inner[-1] += f" ({layout.place(kernel.inlined[-1])})"
    return " ← ".join([*frames, here, *inner])


def range_worth_saying(kernel: t.KernelReport) -> t.Range | None:
    """Return the range, unless missing instructions, which the verdict has, are its only cause."""
    spread = kernel.range
    if spread and all(cause.kind == "unknown-instructions" for cause in spread.causes):
        return None
    return spread


def verdict(kernel: t.KernelReport, layout: Layout, indent: str = "", most_hints: int | None = None) -> Iterator[str]:
    """Yield the verdict with its range, its notes, and at most a number of hints."""
    text = kernel.verdict
    yield from layout.wrap(text[:1].upper() + text[1:] + ".", indent, indent, style=BOLD)
    for more in (range_worth_saying(kernel), kernel.mispredictions, kernel.measured):
        if more is not None:
            yield from layout.wrap(more.text[:1].upper() + more.text[1:] + ".", indent, indent)
    for note in kernel.notes:
        yield from layout.wrap(note, f"{indent}Note: ", f"{indent}      ")
    for hint in kernel.hints[:most_hints]:
        yield from layout.wrap(hint.text[:1].upper() + hint.text[1:], f"{indent}- ", f"{indent}  ")
    if most_hints is not None and len(kernel.hints) > most_hints:
        yield f"{indent}- {counted(len(kernel.hints) - most_hints, 'more hint')}"


def short_lines(unit: t.UnitReport, numbers: Sequence[int], layout: Layout, most_hints: int) -> Iterator[str]:
    """Yield the lines on the kernels with these numbers, which are alike, with at most a number of hints."""
    kernel = unit.kernels[numbers[0] - 1]
    heading = f"[{'-'.join(str(n) for n in dict.fromkeys((numbers[0], numbers[-1])))}] {title(kernel, layout)}"
    yield from layout.wrap(heading, "", _INDENT, style=BOLD)
    size = counted(kernel.size.instructions, "instruction")
    place = span(unit, kernel) if kernel.first_line else unit.assembly_file
    where = ", ".join(part for part in (kernel.label, place) if part)
    if len(numbers) > 1:
        where += f" and {counted(len(numbers) - 1, 'loop')} like it"
    yield from layout.wrap(f"{where}: {size}, {kernel.arithmetic.text}", _INDENT, _INDENT)
    for note in kernel.access_notes:
        yield from layout.wrap(note, _INDENT, f"{_INDENT}  ")
    if kernel.inlined or kernel.inlined_into:
        yield from layout.wrap(inlining(kernel, layout), _INDENT, _INDENT)
    if kernel.remarks:
        yield from layout.wrap(f"{unit.compiler}: {remarks(kernel)}", _INDENT, f"{_INDENT}  ")
    yield from verdict(kernel, layout, _INDENT, most_hints)

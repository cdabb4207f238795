"""What a text report says first: of a unit what was analysed and with which model, of a kernel where it is, its size
and the verdict."""

from __future__ import annotations

from incc.driver.views.layout import BOLD, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.report import types as t
    from incc.driver.views.layout import Layout


def unit_lines(report: t.Report, unit: t.Unit, layout: Layout) -> Iterator[str]:
    """The input, its compiler and the model."""
    model, tool = unit["model"], report["tool"]
    name = unit["source"] or unit["assembly_file"]
    compiler = unit["compiler"] and f", {unit['compiler']} {unit['compiler_version']}".rstrip()
    yield from layout.wrap(f"{name}{compiler}: {tool['name']} {tool['version']} for {model['title']}")
    yield from layout.wrap(f"Model {model['name']} {model['version']}, chosen by {model['chosen_by']}")


def left_out(unit: t.Unit, layout: Layout) -> Iterator[str]:
    """What of the unit is not analysed, and why."""
    if not unit["kernels"]:
        yield ""
        yield "No loop to analyse." if not unit["left_out"] else "No loop that can be analysed."
    if unit["left_out"]:
        yield ""
        yield "Not analysed:"
        for item in unit["left_out"]:
            where = unit["assembly_file"]
            if item["first_line"]:  # else it is the file as a whole
                where += f":{item['first_line']}"
            function = item["function"] and f" in {item['function']}"
            yield from layout.wrap(f"{where}{function}: {item['reason']}", "  ", "    ")


def lines(unit: t.Unit, kernel: t.Kernel, layout: Layout) -> Iterator[str]:
    """A kernel's place and size, and the verdict with its hints."""
    yield from _place(unit, kernel, layout)
    yield ""
    yield from _verdict(kernel, layout)


def _place(unit: t.Unit, kernel: t.Kernel, layout: Layout) -> Iterator[str]:
    source = kernel["source"]
    title = f"{source['file']}:{source['line']}" if source else kernel["name"]
    if kernel["function"] and (source or kernel["function"] not in title):
        title += f" in {kernel['function_name']}"
    titles = list(layout.wrap(title))
    for line in titles:
        yield layout.paint(line, BOLD)
    yield "-" * max(len(line) for line in titles)
    what = "loop" if kernel["is_loop"] else "straight code"
    if kernel["label"]:
        what += f" at {kernel['label']}"
    if kernel["depth"] > 1:
        what += f", nested {kernel['depth']} deep"
    if kernel["first_line"]:
        what += f", {unit['assembly_file']}:{kernel['first_line']}-{kernel['last_line']}"
    if kernel["near"]:
        what += f", near {kernel['near']['file']}:{kernel['near']['line']}"
    if not kernel["is_loop"]:
        what += ", analysed as if repeated"
    size, memory, arithmetic = kernel["size"], kernel["memory"], kernel["arithmetic"]
    yield from layout.wrap(what[0].upper() + what[1:])
    sizes = count(size["instructions"], "instruction")
    if kernel["unknown_instructions"]:
        sizes += f" ({len(kernel['unknown_instructions'])} not in the model)"
    sizes += f", {count(size['bytes'], 'byte')}, {count(size['issue_slots'], 'µop')}"
    yield from layout.wrap(f"{sizes}; {arithmetic['text']}")
    moved = f"{count(memory['bytes_loaded'], 'byte')} loaded, {memory['bytes_stored']} stored"
    if memory["unsized_accesses"]:
        moved += f", and {memory['unsized_accesses']} accesses of unknown size"
    if arithmetic["flop"] and arithmetic["flop_per_byte"] is not None:
        moved += f"; {arithmetic['flop_per_byte']:.2f} flop/byte"
    yield from layout.wrap(f"Per iteration {moved}")
    yield from _elements(kernel, layout)
    for note in kernel["notes"]:
        yield from layout.wrap(note, "Note: ", "      ")


def _elements(kernel: t.Kernel, layout: Layout) -> Iterator[str]:
    """What an iteration is of the source's loop, and what that comes to a second."""
    texts = [part["text"] for part in (kernel["elements"], kernel["rates"]) if part]
    if kernel["role"]["of"]:
        texts.append(kernel["role"]["text"])
    for text in texts:
        if text:
            yield from layout.wrap(text[0].upper() + text[1:])


def _verdict(kernel: t.Kernel, layout: Layout) -> Iterator[str]:
    text = kernel["verdict"]
    for line in layout.wrap(text[:1].upper() + text[1:] + "."):
        yield layout.paint(line, BOLD)
    for hint in kernel["hints"]:
        yield from layout.wrap(hint["text"][:1].upper() + hint["text"][1:], "- ", "  ")

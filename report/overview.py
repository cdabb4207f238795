"""The overview of a kernel in a few words: its limit, the width of its vectors, and reasons to look at it."""

from __future__ import annotations

from incc.core.prediction import CLOSE
from incc.report import types as t
from incc.report.gains import gaining, most_tangible
from incc.report.source.demangle import short_name
from incc.report.verdict import MEASURED_THROUGHPUT

NO_ADVICE = frozenset(("unknown-instructions", "refused-statements"))
"""Hints on missing figures, which do not make the loop faster."""

_OUT_OF_REACH = ("remainder", "prologue", "fallback", "outer")
"""Roles of loops that run rarely, or that their author cannot change separately."""

WIDE = 1.25
"""The factor between the ends of a range from which on it is worth a look, since it depends on the data."""


def overview(kernel: t.KernelReport) -> t.Overview:
    """Return the overview of a kernel whose other figures, hints, role and range are set."""
    return t.Overview(
        function=_function(kernel),
        limit=_limit(kernel),
        vector=_vector(kernel),
        look=_look(kernel),
    )


def _function(kernel: t.KernelReport) -> str:
    """Return the function that the loop is written in, or the function around a function object's operator.

    An operator's name, such as a lambda's, says less than the function around it.
    """
    written = kernel.source_function
    if kernel.inlined_into and written and not written.startswith("operator"):
        return written
    return short_name(kernel.function_name) if kernel.function_name else kernel.name


def _limit(kernel: t.KernelReport) -> str:
    limits = kernel.bounds.prediction.limited_by
    words = []
    for name in limits:
        if name == "loop_carried":
            words.append(f"chain {', '.join(kernel.chains[0].through[:2])}" if kernel.chains else "chain")
        elif name == "port":
            words.append(_ports(kernel))
        else:
            words.append(_divider(kernel) if name == "divider" else _SLOTS[name])
    if words or not kernel.cycles:
        return "; ".join(words)
    # If the cycles exceed all bounds, the limit is what the most gainful change removes.
    best = gaining(kernel.what_ifs, kernel.cycles)
    chosen = most_tangible(best, kernel.cycles).change if best else ""
    # Without what-ifs it is only known that no bound limits the kernel.
    words = [_CHANGES.get(chosen, chosen) or ("several" if kernel.what_ifs else "pipeline")]
    if chosen == "unlimited-ports":
        # The change also removes the divider; the bound that is almost as high names what is busy.
        if kernel.bounds.divider.cycles >= max(kernel.bounds.port.cycles, CLOSE * kernel.cycles):
            words = [_divider(kernel)]
        elif kernel.bounds.port.cycles >= CLOSE * kernel.cycles:
            words = [_ports(kernel)]
    # A chain that is late because its µops wait for ports.
    if "dependencies" in words[0] and "unlimited-ports" in [w.change for w in best]:
        words.insert(0, "ports")
    return "; ".join(words)


_CHANGES = {
    "front-end": "front end",
    "issue-width": "front end",
    "unlimited-ports": "ports",
    "register-dependencies": "dependencies",
    "memory-dependencies": "memory dependencies",
    "line-crossings": "line crossings",
    "4k-aliasing": "4K aliasing",
    "store-commit": "stores to cache",
    "move-elimination": "moves",
}


_SLOTS = {"front_end": "front end", "retire": "retirement"}


def _divider(kernel: t.KernelReport) -> str:
    # Work that takes long in measurements, for a reason that the model lacks, counts as a unit like a divider.
    return "throughput" if kernel.bounds.divider.by.startswith(MEASURED_THROUGHPUT) else "divider"


def _ports(kernel: t.KernelReport) -> str:
    names = [resource.name for resource in kernel.resources if resource.busiest]
    return f"{'port' if len(names) == 1 else 'ports'} {','.join(_together(names))}"


def _together(names: list[str]) -> list[str]:
    """Return names with ranges of more than two abbreviated: ALU0-3 for ALU0, ALU1, ALU2, ALU3."""
    runs: list[list[tuple[str, str]]] = []
    for name in names:
        stem = name.rstrip("0123456789")
        number = name[len(stem) :]
        before, last = runs[-1][-1] if runs else ("", "")
        if stem and stem == before and number and last and int(number) == int(last) + 1:
            runs[-1].append((stem, number))
        else:
            runs.append([(stem, number)])
    shortened = []
    for run in runs:
        stem, first = run[0]
        shortened += [f"{stem}{first}-{run[-1][1]}"] if len(run) > 2 else [f"{stem}{number}" for stem, number in run]
    return shortened


def _vector(kernel: t.KernelReport) -> str:
    arithmetic, widest = kernel.arithmetic, kernel.memory.widest_access_bits
    share = arithmetic.packed_share
    if share is None:
        # A copy or a conversion without arithmetic is vectorised if its moves are.
        return f"{widest}-bit" if widest >= _VECTOR_BITS else ""
    if not arithmetic.vector_bits:
        return "scalar"
    text = f"{arithmetic.vector_bits}-bit"
    return text if share == 1 else f"{text} {100 * share:.0f} %"


_VECTOR_BITS = 128


def _look(kernel: t.KernelReport) -> str:
    if kernel.role.name in _OUT_OF_REACH:
        return ""
    words = [hint.rule.replace("-", " ") for hint in kernel.hints if hint.rule not in NO_ADVICE]
    spread = kernel.range
    if spread is not None and (spread.most is None or spread.most > WIDE * spread.least):
        # Missing figures are no reason to look at the loop.
        causes = [cause.kind for cause in spread.causes if cause.kind != "unknown-instructions"]
        words += [_CHANGES.get(kind, kind.replace("-", " ")) for kind in causes]
    return ", ".join(dict.fromkeys(words))

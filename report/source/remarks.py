"""The compiler's remarks about a loop of the source, matched to its kernels and put into words.

A compiler describes loops of the source. Each may have become several loops of the assembly, and has a place of the
compiler's own choice: clang's is that of the `for`, gcc's that of the condition, while the assembly's branch has that
of the last statement. So a remark is matched by function and place: at the branch; else at an instruction of the loop;
else if the compiler mentions only one loop of the function; else, since gcc's places are not exact, at the nearest
place before the loop's lines, which is the innermost loop around them. Remarks on several loops that became one are
distinguished by the width of vectors, and by elements.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from incc.frontends.remarks import Remark
from incc.report import types as t
from incc.report.hints.vectors import without_reason

At = tuple[str, int, int]
"""File, line and column."""

_VECTOR_BITS = 128

_UNROLLER = "loop2_unroll"
"""gcc's pass that unrolls loops of machine code, whose remarks are at their branches."""

_REASONS = (
    ("control flow in loop", "it has an early exit, or a branch that cannot be if-converted"),
    ("could not determine number of loop iterations", "the trip count is not known in advance"),
    ("number of iterations cannot be computed", "the trip count is not known in advance"),
    ("cannot prove it is safe to reorder floating-point operations", "the order of the sum would change"),
    ("call instruction cannot be vectorized", "it calls a function"),
    (
        "function calls or data references that cannot be analyzed",
        "it calls a function, or accesses memory in a way that cannot be analysed",
    ),
    ("cannot identify array bounds", "its accesses may overlap, and no run-time check is possible"),
    (
        "value that could not be identified as reduction is used outside the loop",
        "an iteration needs a value of the previous one that is not a reduction",
    ),
    ("the cost-model indicates that vectorization is not beneficial", "the cost model expects no gain"),
    (
        "some scalar iterations would need to be peeled",
        "it would need a remainder loop, which the cost model forbids (very-cheap at -O2)",
    ),
    ("Loop costings not worthwhile", "the cost model expects no gain"),
    ("vectorization not profitable", "the cost model expects no gain"),
    ("vectorization and interleaving are explicitly disabled", "it is disabled explicitly"),
    ("relevant phi not supported", "an iteration needs a value of the previous one, such as a sum in a fixed order"),
    ("unsupported use in stmt", "an iteration needs a value of the previous one that is not a reduction"),
    ("reduction used in loop", "the loop uses the intermediate values of a sum, or stores them"),
    ("live stmt not supported", "a value of the last iteration is used after the loop"),
    ("relevant stmt not supported", "one of its operations or accesses has no form for vectors"),
    ("op not supported by target", "there is no vector instruction for one of its operations"),
    ("no optab", "there is no vector instruction for one of its operations"),
    ("conversion not supported by target", "there is no vector instruction for a conversion"),
    (
        "complicated access pattern",
        "an access stays in one place, such as a sum in memory, or the step of an access is not known in advance",
    ),
    ("data ref analysis failed", "the address of an access cannot be analysed"),
    ("unhandled data-ref", "the address of an access cannot be analysed"),
    ("bad data ref", "the address of an access cannot be analysed"),
    ("bad data dependence", "an iteration may depend on an earlier one through memory"),
    ("not suitable for gather", "it loads through an index in a way that gathers cannot"),
    ("not suitable for scatter", "it stores through an index"),
    (
        "versioning for alias run-time tests exceeds",
        "too many pairs of arrays may overlap; restrict says that they do not",
    ),
    ("will not create alias checks", "its accesses may overlap, and a run-time check is not worthwhile"),
    ("versioning for alias not supported", "its accesses may overlap, and no run-time check is possible"),
    ("versioning for alias required", "its accesses may overlap"),
    ("bit-field", "it accesses a bit-field"),
    ("volatile", "an access is volatile"),
    ("latch block not empty", "the way back to its start does work"),
    ("unexpected loop form", "it is left or entered in more than one place"),
    ("multiple nested loops", "it contains other loops"),
    ("multiple exits", "it has an early exit"),
    ("early exit", "it has an early exit"),
    ("loop control flow is not understood", "it has an early exit, or a branch that cannot be if-converted"),
    ("control flow cannot be substituted for a select", "it has a branch that cannot be if-converted"),
    ("cannot prove it is safe to reorder memory operations", "too many pairs of arrays may overlap"),
    ("write to a loop invariant address could not be vectorized", "it stores to the same place in each iteration"),
    ("Unsafe indirect dependence", "data decide whether an iteration reads what an earlier one wrote"),
    ("Backward loop carried data dependence", "an iteration reads what an earlier one wrote"),
    ("Forward loop carried data dependence", "an iteration reads what an earlier one wrote shortly before"),
    ("Unknown data dependence", "its accesses may overlap, and no run-time check is possible"),
    ("unsafe dependent memory operations", "an iteration may depend on an earlier one through memory"),
)
"""Phrases of compilers and their meaning; other messages are repeated unchanged."""

_INTERNAL = re.compile(r":? *(?:(?:load|store|stmt|statement):? )?[^ ]*\b[a-z.]*_\d+\b.*$")
"""A statement in the compiler's own representation, `_8 = *_7;`, which no user can read."""


def set_remarks(
    kernels: Sequence[t.KernelReport],
    places: Sequence[Mapping[int, At]],
    remarks: Sequence[Remark],
    folder: str,
    passed_over: Collection[str] = (),
) -> None:
    """Set the remarks of a unit's kernels, whose hints then need not say how to get the compiler's reasons.

    Args:
        kernels: The kernels.
        places: For each kernel the places of its instructions, with the branch last.
        remarks: The compiler's remarks.
        folder: The folder that the names of files are relative to.
        passed_over: The main loops (`kernel_id`) of which the compiler vectorised only a version for a stride of 1.
    """
    names: dict[str, str] = {}

    def file(name: str) -> str:
        if name not in names:
            names[name] = os.path.normpath(os.path.join(folder, name))
        return names[name]

    of_function: dict[str, dict[At, list[Remark]]] = {}
    for remark in remarks:
        if remark.place is not None:
            at = file(remark.place.file), remark.place.line, remark.column
            of_function.setdefault(remark.function, {}).setdefault(at, []).append(remark)
    for kernel, lines in zip(kernels, places, strict=True):
        loops: Mapping[At, list[Remark]] = {**of_function.get("", {}), **of_function.get(kernel.function, {})}
        here = [(file(name), line, column) for name, line, column in lines.values()]
        if kernel.is_loop and loops and here:
            loops = _consistent(loops, kernel)
            at_branch = [remark for remark in loops.get(here[-1], []) if remark.by == _UNROLLER]
            main = kernel.role.name in ("main", "") and kernel.kernel_id not in passed_over
            chosen = [*_of_kernel(kernel, _of_loop(loops, here), main), *at_branch[:1]]
            kernel.remarks = [_remark(remark, kernel) for remark in dict.fromkeys(chosen)]
            if any(remark.kind == "not-vectorised" and remark.why for remark in chosen):
                kernel.hints = [without_reason(hint) for hint in kernel.hints]


def _consistent(loops: Mapping[At, list[Remark]], kernel: t.KernelReport) -> Mapping[At, list[Remark]]:
    """Return the remarks on source loops that a kernel may come from: a vectorised one for a loop of vectors.

    An outer loop that was not vectorised may have the place of an instruction of the inner one that was.
    """
    if not _is_vectorised(kernel):
        return loops
    vectorised = {at: of for at, of in loops.items() if any(remark.kind == "vectorised" for remark in of)}
    return vectorised or {at: [remark for remark in of if remark.kind != "not-vectorised"] for at, of in loops.items()}


def _is_vectorised(kernel: t.KernelReport) -> bool:
    """Return True if all arithmetic of a kernel is in vectors, or, without any, its widest access is one."""
    share = kernel.arithmetic.packed_share
    return kernel.memory.widest_access_bits >= _VECTOR_BITS if share is None else share == 1


def _of_loop(loops: Mapping[At, list[Remark]], here: Sequence[At]) -> list[Remark]:
    """Return the remarks on the loop with instructions at these places; the last place is that of its branch."""
    about = {at: remarks for at, remarks in loops.items() if any(remark.by != _UNROLLER for remark in remarks)}
    for at in (here[-1], *here):
        if at in about:
            return about[at]
    for lines in ({here[-1][:2]}, {at[:2] for at in here}):
        # Of several loops at a place choose the innermost, which begins last.
        if of_line := [at for at in about if at[:2] in lines]:
            return about[max(of_line)]
    if len(about) == 1:
        # Code that was inlined from elsewhere, such as a lambda's, may be all that is left of the loop; for OpenMP
        # clang names the pragma.
        return next(iter(about.values()))
    if any(remark.exact for remarks in about.values() for remark in remarks):
        return []
    # Most instructions come from the loop's file.
    files = [at[0] for at in here]
    file = max(dict.fromkeys(files), key=files.count)
    first = min(at[1] for at in here if at[0] == file)
    before = [at for at in about if at[0] == file and at[1] <= first]
    return about[max(before)] if before else []


def _of_kernel(kernel: t.KernelReport, remarks: Sequence[Remark], main: bool) -> list[Remark]:
    """Return the remarks on a loop of the source that apply to this kernel, which is a main loop or is not."""
    elements = kernel.elements.per_iteration if kernel.elements else None
    bits = kernel.arithmetic.vector_bits or kernel.memory.widest_access_bits
    of_kind: defaultdict[str, list[Remark]] = defaultdict(list)
    for remark in remarks:
        if remark.kind != "unrolled" or remark.by != _UNROLLER:
            of_kind[remark.kind].append(remark)
    vectorised, unrolled = of_kind["vectorised"], of_kind["unrolled"]
    if not vectorised:
        copies = _of_copies(unrolled, elements) if elements else unrolled[:1]
        return of_kind["not-vectorised"][:1] + copies if main else []
    # A sum whose order must not change is added up one by one, perhaps from memory.
    if bits < _VECTOR_BITS and not (main and (elements or 0) > 1):
        return _of_copies(unrolled, elements)
    chosen = _vectorised(vectorised, bits, elements, main)
    if not chosen:
        return []
    lanes = _lanes(chosen[0])
    return chosen + of_kind["versioned"] * main + (_of_copies(unrolled, elements / lanes) if lanes and elements else [])


def _of_copies(unrolled: Sequence[Remark], copies: float | None) -> list[Remark]:
    """Return the first remark on unrolling by this factor."""
    return [remark for remark in unrolled if remark.copies == copies][:1]


def _vectorised(remarks: Sequence[Remark], bits: int, elements: float | None, main: bool) -> list[Remark]:
    """Return the first remark whose vectors are those of a kernel; without one, the first for a main loop."""
    for remark in remarks:
        wide = remark.vector_bytes * 8 == bits if remark.vector_bytes else main
        if wide or (elements and elements == _lanes(remark)):
            return [remark]
    return list(remarks[:1]) if main else []


def _lanes(remark: Remark) -> int:
    return remark.lanes * max(remark.interleaved, 1)


def _remark(remark: Remark, kernel: t.KernelReport) -> t.RemarkReport:
    # gcc calls a loop vectorised that adds up elements one by one.
    scalar = remark.kind == "vectorised" and kernel.arithmetic.flop > 0 and not kernel.arithmetic.vector_bits
    return t.RemarkReport(
        kind=remark.kind,
        text=f"{sentence(remark)}, but its arithmetic is scalar" if scalar else sentence(remark),
        said=remark.message,
        by=remark.by,
        source=remark.place,
        column=remark.column,
    )


def sentence(remark: Remark) -> str:
    """Return a remark in words that are the same for all compilers."""
    match remark.kind:
        case "vectorised":
            words = ["vectorised"]
            if remark.vector_bytes:
                words.append(f"{remark.vector_bytes}-byte vectors")
            elif remark.lanes:
                words.append(f"vectors of {remark.lanes} elements")
            if remark.interleaved > 1:
                words.append(f"{remark.interleaved} of them interleaved")
            return ", ".join(words)
        case "unrolled":
            return f"unrolled {remark.copies} times" if remark.copies != 1 else "not unrolled"
        case "versioned":
            why = f" because of {remark.why}" if remark.why else ""
            return f"versioned{why}: another loop runs if the run-time checks fail"
        case _:
            return f"not vectorised: {_reason(remark)}" if remark.why else "not vectorised"


def _reason(remark: Remark) -> str:
    if remark.accesses:
        first, second = remark.accesses
        if first == second:
            return f"data dependence between accesses to {first}"
        return f"data dependence between {first} and {second}"
    for phrase, meant in _REASONS:
        if phrase in remark.why:
            return meant
    return _INTERNAL.sub("", remark.why)

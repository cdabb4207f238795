"""The compiler's remarks about a loop of the source, matched to its kernels and put into words.

A compiler describes loops of the source, each of which may have become several of the assembly, and names a place of
its own representation: clang that of the `for`, gcc that of the condition, while the assembly's branch has the place of
the last statement. So a remark is matched by function and place: at the branch; else at an instruction of the loop;
else if the compiler mentions only one loop of the function; else, since gcc's places are not exact, at the nearest
place before the loop's lines, which is the innermost loop around them. Remarks on several loops that became one are
distinguished by the width of vectors, and by elements.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from incc.report import types as t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incc.frontends.remarks import Remark

    At = tuple[str, int, int]
    """File, line and column."""

_VECTOR_BITS = 128

_REASONS = (
    ("control flow in loop", "there is a way out of its middle, or a branch that cannot be taken away"),
    ("could not determine number of loop iterations", "it cannot be told beforehand how often it runs"),
    ("number of iterations cannot be computed", "it cannot be told beforehand how often it runs"),
    ("cannot prove it is safe to reorder floating-point operations", "the sum's order would change"),
    ("call instruction cannot be vectorized", "it calls a function"),
    (
        "function calls or data references that cannot be analyzed",
        "it calls a function, or accesses memory in a way that cannot be analysed",
    ),
    ("cannot identify array bounds", "where its accesses overlap cannot be told, nor checked when it runs"),
    (
        "value that could not be identified as reduction is used outside the loop",
        "an iteration needs a value of the one before, which is no sum or the like",
    ),
    ("the cost-model indicates that vectorization is not beneficial", "the compiler thinks that it would not pay"),
    (
        "some scalar iterations would need to be peeled",
        "iterations may be left over, which the cost model (that of -O2 is very-cheap) does not allow",
    ),
    ("Loop costings not worthwhile", "the compiler thinks that it would not pay"),
    ("vectorization not profitable", "the compiler thinks that it would not pay"),
    ("vectorization and interleaving are explicitly disabled", "it was told not to"),
)
"""What compilers say, and what that means; the rest is repeated as it is said."""

_INTERNAL = re.compile(r":? *(?:(?:load|store|stmt|statement):? )?[^ ]*\b[a-z.]*_\d+\b.*$")
"""A statement in the compiler's own representation, `_8 = *_7;`, which tells nobody anything."""


def set_remarks(
    kernels: Sequence[t.KernelReport], places: Sequence[Mapping[int, At]], remarks: Sequence[Remark], folder: str
) -> None:
    """Set the remarks of a unit's kernels.

    `places` holds for each kernel those of its instructions, with the branch last; file names are relative to `folder`.
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
        loops = {**of_function.get("", {}), **of_function.get(kernel.function, {})}
        here = [(file(name), line, column) for name, line, column in lines.values()]
        if kernel.is_loop and loops and here:
            chosen = _chosen(kernel, _said(loops, here), loops.get(here[-1], []))
            kernel.remarks = [_remark(remark) for remark in dict.fromkeys(chosen)]


def _said(loops: Mapping[At, list[Remark]], here: Sequence[At]) -> list[Remark]:
    """Return the remarks on the loop with instructions at these places, the last of which is that of its branch."""
    about = {at: remarks for at, remarks in loops.items() if any(remark.by != "loop2_unroll" for remark in remarks)}
    for at in (here[-1], *here):
        if at in about:
            return about[at]
    for lines in ({here[-1][:2]}, {at[:2] for at in here}):
        # Of several loops at a place choose the innermost, which begins last.
        if of_line := [at for at in about if at[:2] in lines]:
            return about[max(of_line)]
    if len(about) == 1:
        # Of code that was inlined from elsewhere, such as a lambda's, nothing else may be left of the loop; of OpenMP
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


def _chosen(kernel: t.KernelReport, remarks: Sequence[Remark], at_branch: Sequence[Remark]) -> list[Remark]:
    """Return the remarks on a loop of the source that apply to this kernel."""
    bits = kernel.arithmetic.vector_bits or kernel.memory.widest_access_bits
    elements = kernel.elements and kernel.elements.per_iteration
    main = kernel.role.name in ("main", "")
    vectorised = [remark for remark in remarks if remark.kind == "vectorised"]
    unrolled = [remark for remark in remarks if remark.kind == "unrolled" and remark.by != "loop2_unroll"]
    chosen: list[Remark] = []
    # A sum whose order must not change is added up one by one, perhaps from memory.
    if vectorised and (bits >= _VECTOR_BITS or (main and (elements or 0) > 1)):
        for remark in vectorised:
            wide = remark.vector_bytes * 8 == bits if remark.vector_bytes else main
            if wide or (elements and elements == remark.lanes * max(remark.interleaved, 1)):
                chosen.append(remark)
                break
        else:
            chosen += vectorised[:1] if main else []
        if chosen and main:
            chosen += [remark for remark in remarks if remark.kind == "versioned"]
        lanes = chosen[0].lanes * max(chosen[0].interleaved, 1) if chosen else 0
        if lanes and elements:
            chosen += [remark for remark in unrolled if remark.copies * lanes == elements][:1]
    elif not vectorised:
        chosen += [remark for remark in remarks if remark.kind == "not-vectorised"][:1] if main else []
        chosen += [remark for remark in unrolled if elements in (None, remark.copies)][:1] if main else []
    elif elements:
        # This is a scalar loop next to the vectorised one.
        chosen += [remark for remark in unrolled if remark.copies == elements][:1]
    return chosen + [remark for remark in at_branch if remark.by == "loop2_unroll"][:1]


def _remark(remark: Remark) -> t.RemarkReport:
    return t.RemarkReport(
        kind=remark.kind,
        text=sentence(remark),
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
                words.append(f"{remark.interleaved} of them at a time")
            return ", ".join(words)
        case "unrolled":
            return f"unrolled {remark.copies} times" if remark.copies != 1 else "not unrolled"
        case "versioned":
            why = f" because of {remark.why}" if remark.why else ""
            return f"versioned{why}: there is another loop for where this one cannot run"
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

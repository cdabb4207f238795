"""The features of a kernel that matching uses: its place, its names, and its work per element of the source's loop.

Nothing here depends on the core or on predictions, so builds for different cores match like any others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

import msgspec

from incc.comparison.side import SideKernel
from incc.frontends.isa import FormWork, isa
from incc.report.source.demangle import is_mangled, of_openmp, short_name

# These are the suffixes of symbols of copies and parts of functions: gcc's `.constprop.0`, `.isra.0`, `.part.0`,
# `.cold`, `.lto_priv.0`, `._omp_fn.0`, clang's `.llvm.123`, `.omp_outlined`, `.__uniq.123`, `.resume`.
_COPY = re.compile(
    r"(?:\.(?:_omp_(?:cpy)?fn|omp_outlined\w*|constprop|isra|part|cold|lto_priv|llvm|__uniq|clone|unlikely|localalias"
    r"|resume|destroy|cleanup)(?:\.\d+)*\.*)+$"
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

# These are the weights of operations in the mix. Operations that a compiler adds by its own choice weigh little:
# indices, comparisons that end loops, moves between lanes. Operations that the source must have asked for weigh much.
_WEIGHT = {
    "fdiv": 3.0,
    "fsqrt": 3.0,
    "idiv": 3.0,
    "call": 3.0,
    "gather": 0.05,
    "bits": 1.5,
    "convert": 0.8,
    "resize": 0.1,
    "imul": 0.8,
    "iadd": 0.4,
    "ishift": 0.4,
    "logic": 0.3,
    "select": 0.3,
    "fcompare": 0.5,
    "icompare": 0.15,
    "index": 0.05,
    "shuffle": 0.05,
    "load": 0.06,
    "store": 0.12,
}
"""The weights of operations; those of load and store are per byte."""


class Mix(msgspec.Struct, frozen=True, kw_only=True):
    """The work of an iteration, as weighted shares of operations that add up to 1."""

    kinds: dict[str, float]
    """The shares by kind of operation."""
    fine: dict[str, float]
    """The shares by kind of operation and type of element."""
    weight: float
    """The sum of weights before division."""
    signature: tuple[str, ...]
    """The kinds that matter, for looking up similar kernels."""


class Features:
    """The features of an entry; `index` is its place among the side's entries."""

    def __init__(self, index: int, entry: SideKernel) -> None:
        kernel, unit = entry.kernel, entry.unit
        self.index = index
        self.entry = entry
        self.content = kernel.content_hash
        self.function = _COPY.sub("", of_openmp(kernel.function))
        self.base = short_name(kernel.function_name) if kernel.function_name else ""
        self.last = self.base.rpartition("::")[2]
        # Without c++filt, names stay mangled: they include the types of parameters and are compared as they are.
        self.origin = "" if is_mangled(kernel.source_function) else short_name(kernel.source_function)
        frames = {short_name(frame.function) for frame in (*kernel.inlined, *kernel.inlined_into)}
        self.frames = frozenset(frames - {"", self.base})
        self.names = frozenset((self.base, self.origin, *frames)) - {""}
        self.unit = unit.source or unit.assembly_file
        source = kernel.source
        self.file = source.file if source else ""
        self.line = source.line if source else 0
        self.role = kernel.role.name
        self.main = kernel.role.name in ("main", "") or not kernel.role.of
        self.of = kernel.role.of
        self.kind = kernel.kind
        self.depth = kernel.depth
        self.elements = kernel.elements.per_iteration if kernel.elements else 0.0
        self.instructions = kernel.size.instructions
        # The part is "loop2" of "triad/loop2", or "region name" of a marked region.
        self.part = kernel.kernel_id.rpartition("/")[2]
        self.words = frozenset(word.lower() for word in _WORDS.findall(self.base or self.function))
        self.rank = (0, 1)
        self.leftover = False
        # This key has all that distinguishes entries; sides are sorted by it, so that their given order has no
        # influence.
        self.key = (
            tail(self.unit),
            self.function,
            kernel.kernel_id,
            self.content,
            self.file,
            self.line,
            kernel.first_line,
            self.unit,
            unit.model.name,
        )

    @cached_property
    def mix(self) -> Mix:
        """Return the mix of operations."""
        return _mix_and_lines(self.entry)[0]

    @cached_property
    def lines(self) -> frozenset[int]:
        """Return the lines of its source file that its instructions come from."""
        return _mix_and_lines(self.entry)[1]


@lru_cache(maxsize=1 << 14)
def _mix_and_lines(entry: SideKernel) -> tuple[Mix, frozenset[int]]:
    """Return the mix of an entry's operations and its lines, which need the instructions."""
    kernel = entry.kernel
    instruction_set = kernel.isa
    kinds: Counter[str] = Counter()
    fine: Counter[str] = Counter()
    place = kernel.source
    lines = {place.line} if place and place.line else set()
    for instruction in entry.instructions():
        source = instruction.source
        if source and place and source.file == place.file and source.line:
            lines.add(source.line)
        work = _work_of(instruction_set, instruction.form)
        for kind in work.kinds:
            weight = _WEIGHT.get(kind, 1.0) * work.lanes
            kinds[kind] += weight  # type: ignore[assignment]
            fine[f"{kind} {work.element}"] += weight  # type: ignore[assignment]
        if work.kinds == ("call",):
            # The called functions characterise a kernel; their suffixes come from the linker.
            callee = instruction.text.split()[-1].partition("@")[0]
            fine[f"call {callee}"] += _WEIGHT["call"]  # type: ignore[assignment]
    memory = kernel.memory
    for name, count in (("load", memory.bytes_loaded), ("store", memory.bytes_stored)):
        if count:
            kinds[name] += _WEIGHT[name] * count  # type: ignore[assignment]
            fine[name] += _WEIGHT[name] * count  # type: ignore[assignment]
    total, total_fine = float(sum(kinds.values())), float(sum(fine.values()))
    shares = {kind: weight / total for kind, weight in sorted(kinds.items())}
    signature = tuple(sorted(kind for kind, share in shares.items() if share >= 0.1 and kind not in _SLIGHT))
    fine_shares = {kind: weight / total_fine for kind, weight in sorted(fine.items())}
    return Mix(kinds=shares, fine=fine_shares, weight=total, signature=signature), frozenset(lines)


@lru_cache(maxsize=1 << 13)
def _work_of(instruction_set: str, form: str) -> FormWork:
    return isa(instruction_set).form_work(form)


_SLIGHT = frozenset(("load", "index", "shuffle", "icompare", "logic", "select"))


def features(entries: Sequence[SideKernel]) -> list[Features]:
    """Return the features of all entries, in an order that depends on theirs only for equal keys."""
    sorted_features = sorted(
        (Features(index, entry) for index, entry in enumerate(entries)), key=lambda f: (f.key, f.index)
    )
    _rank(sorted_features)
    return sorted_features


def _main_loops(entries: Sequence[Features]) -> Iterable[list[Features]]:
    """Return the main loops of each function."""
    of_function: dict[tuple[str, str], list[Features]] = {}
    for each in entries:
        if each.main:
            of_function.setdefault((each.unit, each.function), []).append(each)
    return of_function.values()


def _rank(entries: list[Features]) -> None:
    """Set the rank of each main loop in its function: by line if lines are known, otherwise as in the text."""
    for loops in _main_loops(entries):
        loops.sort(key=lambda f: (f.file, f.line, f.entry.kernel.first_line))
        for place, each in enumerate(loops):
            each.rank = (place, len(loops))


def mark_leftovers(entries: Sequence[Features]) -> None:
    """Mark main loops that do what another one of the function does, in smaller steps.

    They remain after a loop that was unrolled by hand. Roles do not cover them, because their lines differ.
    """
    for loops in _main_loops(entries):
        if len(loops) > SEVERAL:
            continue
        for each in loops:
            each.leftover = any(
                _has_larger_steps(other, each)
                # Versions of one loop are not remainders of each other.
                and not (each.line and (each.file, each.line) == (other.file, other.line))
                and mix_likeness(each.mix, other.mix, 0, 0) >= 0.75
                for other in loops
            )


def _has_larger_steps(a: Features, b: Features) -> bool:
    """Return True if an iteration of `a`, in assembly or source, takes a multiple of the steps of one of `b`."""
    step_a, step_b = a.entry.kernel.memory.step, b.entry.kernel.memory.step
    stride_a, stride_b = _stride(a) or step_a, _stride(b) or step_b
    if not step_b or step_a < step_b or stride_a < stride_b or step_a % step_b or stride_a % stride_b:
        return False
    return step_a > step_b or stride_a > stride_b


def _stride(f: Features) -> float:
    """Return the bytes by which an iteration of the source advances; 0 if unknown."""
    return f.entry.kernel.memory.step / f.elements if f.elements else 0.0


SEVERAL = 20
"""The most main loops of a function that are compared with each other."""


def tail(path: str) -> str:
    """Return a file's name without its folders: builds are in different folders."""
    return path.replace("\\", "/").rpartition("/")[2]


def path_likeness(a: str, b: str) -> float:
    """Return how much of the ends of two paths agrees: 0 for different file names, 1 for the same path."""
    if a == b:
        return 1.0
    parts_a, parts_b = a.split("/"), b.split("/")
    same = 0
    for one, other in zip(reversed(parts_a), reversed(parts_b), strict=False):
        if one != other:
            break
        same += 1
    return same / (same + 1) if same else 0.0


@lru_cache(maxsize=1 << 15)
def likeness(a: Features, b: Features) -> float:
    """Return how similar the work of two kernels is, 0 to 1.

    It compares the shares of operations. If elements are known, it also compares the work per element, or per byte of
    the stride, which stays the same when a loop is unrolled in the source.
    """
    alike = mix_likeness(a.mix, b.mix, a.elements, b.elements)
    stride_a, stride_b = _stride(a), _stride(b)
    if stride_a and stride_b and stride_a != stride_b:
        alike = max(alike, mix_likeness(a.mix, b.mix, a.elements * stride_a, b.elements * stride_b))
    return alike


def mix_likeness(a: Mix, b: Mix, elements_a: float, elements_b: float) -> float:
    """Return the likeness of two mixes, 0 to 1."""
    shares = 0.6 * _common(a.kinds, b.kinds) + 0.4 * _common(a.fine, b.fine)
    if not elements_a or not elements_b or not a.weight or not b.weight:
        return shares
    amount_a, amount_b = a.weight / elements_a, b.weight / elements_b
    return shares * (0.5 + 0.5 * min(amount_a, amount_b) / max(amount_a, amount_b))


def _common(a: dict[str, float], b: dict[str, float]) -> float:
    if len(b) < len(a):
        a, b = b, a
    # Both are in the order of names, because a sum of floats must not depend on which of the two is first.
    return sum([min(share, b[name]) for name, share in a.items() if name in b])


def together(mixes: Sequence[tuple[Mix, float]]) -> tuple[Mix, float]:
    """Return the mix per element of several loops that run over the same elements.

    `mixes` has the mix and the known number of elements of each loop.
    """
    kinds: Counter[str] = Counter()
    fine: Counter[str] = Counter()
    weight = 0.0
    for mix, elements in mixes:
        amount = mix.weight / elements
        weight += amount
        for name, share in mix.kinds.items():
            kinds[name] += share * amount  # type: ignore[assignment]
        for name, share in mix.fine.items():
            fine[name] += share * amount  # type: ignore[assignment]
    if not weight:
        return mixes[0]
    return Mix(
        kinds={name: amount / weight for name, amount in sorted(kinds.items())},
        fine={name: amount / weight for name, amount in sorted(fine.items())},
        weight=weight,
        signature=(),
    ), 1.0

"""The memory hierarchy of a core: the table `memory` of a model file.

A model file lists the levels from the first cache to the memory (docs/models.md). A model without the table predicts
loops whose data are in L1 only. The table is not inherited, because cores that share a pipeline differ in their caches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

import msgspec

from incc.support.errors import suggestion

MOST_CYCLES = 10_000
"""The highest cost that a model may state."""

Cycles = Annotated[float, msgspec.Meta(gt=0, le=MOST_CYCLES)]
Bytes = Annotated[int, msgspec.Meta(ge=1)]
Number = Annotated[int, msgspec.Meta(ge=1)]
Overlap = Literal["none", "evictions", "all"]

NAMES = ("L1", "L2", "L3", "memory")
"""The names of levels."""

ALL = "all"
"""In place of a name: every level that a core has."""


class MemoryLevel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cache, or the memory behind the last one.

    Costs are cycles of the core's clock per cache line that crosses from this level to the one inside, or back.
    """

    name: str
    """"L1", "L2", "L3" or "memory"."""
    size: Bytes | None = None
    """Bytes that the cores which share it can hold there; None for the memory."""
    ways: Number | None = None
    """Associativity, which only predictions for L1 use; None if unknown."""
    cores: Number = 1
    """The number of cores that share it."""
    victim: bool = False
    """The level holds lines that the one inside has evicted, clean ones included."""
    read: Cycles | None = None
    """Cycles per line for loads; None for L1, and for this and all further levels if the costs are unknown."""
    allocate: Cycles | None = None
    """Cycles per line that a store misses (write-allocate); None: as `read`."""
    write: Cycles | None = None
    """Cycles per modified line written back to this level; None as for `read`."""
    one_stream: Cycles | None = None
    """Least cycles per line of a single stream of loads, which prefetchers do not serve at full speed; None: as
    `read`."""
    one_store_stream: Cycles | None = None
    """Least cycles per line of a single stream of stores; None: as `allocate`."""
    non_temporal: Cycles | None = None
    """Cycles per line of non-temporal stores, which go to this level directly; None if unknown."""
    both_ways: bool = False
    """Lines come and go at the same time (full duplex); otherwise one after the other."""
    overlap: Overlap = "all"
    """Overlap of these transfers with the core's loads and the transfers inside: "none", "evictions" (only lines
    written back) or "all"."""
    all_cores: Cycles | None = None
    """Least cycles per line of all cores together; None if cores do not limit each other, or unknown."""
    source: str = ""
    """The short name of the source of these figures; "" for that of the hierarchy."""


class MemoryHierarchy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The levels that a core's data come from."""

    levels: tuple[MemoryLevel, ...]
    """From L1 outwards; the memory comes last, if its costs are known."""
    line: Bytes = 64
    """Bytes of a cache line."""
    source: str
    """The short name of the source of all figures, except where a level names another."""
    prefetch_uops: Number | None = None
    """Least µops per access to memory at places that an array of indices contains from which on prefetches gain 5 %
    (`bench/hints.py`); None if they never do, or unknown."""
    configuration: str = ""
    """The machine on which the figures hold (processor, clock, memory, NUMA setting)."""

    @property
    def with_costs(self) -> tuple[MemoryLevel, ...]:
        """L1, and the levels behind it whose costs are known."""
        unknown = [n for n, level in enumerate(self.levels) if n and level.read is None]
        return self.levels[: unknown[0] if unknown else None]

    def holding(self, data: Iterable[str | int]) -> list[str]:
        """Return the names of the levels that data are in, in the order of the levels.

        Args:
            data: Names of levels, ALL, or sizes in bytes. The core may lack a level; the next one outside counts then.
        """
        levels = [(level.name, level.size) for level in self.levels]
        names = [name for name, _ in levels]
        chosen = {name for each in data for name in (names if each == ALL else [level_of(levels, each)])}
        return [name for name in names if name in chosen]


def level_of(levels: Sequence[tuple[str, int | None]], data: str | int) -> str:
    """Return the name of the level that data are in.

    Args:
        levels: Names and sizes in bytes, from L1 outwards; None for the memory.
        data: The name of a level, in place of which the next one outside counts if there is none, or a size in bytes.
    """
    names = [name for name, _ in levels]
    if isinstance(data, int):
        return next((name for name, size in levels if not size or size >= data), names[-1])
    return next((name for name in NAMES[NAMES.index(data) :] if name in names), names[-1])


def read(table: Mapping[str, Any], sources: Mapping[str, str]) -> tuple[MemoryHierarchy | None, list[str]]:
    """Return the hierarchy that a model file's table `memory` describes, and what is wrong with it.

    Args:
        table: The table as TOML has it.
        sources: The long names of the model's sources by their short ones.
    """
    try:
        memory = msgspec.convert(table, MemoryHierarchy)
    except msgspec.ValidationError as error:
        return None, [f"memory: {_readable(str(error))}"]
    wrong = []
    names = [level.name for level in memory.levels]
    if names != [name for name in NAMES if name in names] or "L1" not in names:
        wrong.append(
            f"memory.levels: must be some of {', '.join(NAMES)}, in this order, beginning with L1, not {names}"
        )
    for level in memory.levels:
        needed = ["size"] if level.name != "memory" else []
        needed += ["read", "write"] if level.name != "L1" and _has_costs(memory.levels, level) else []
        wrong += [f"memory.levels: {level.name}: no {key!r}" for key in needed if getattr(level, key) is None]
    for source in (memory.source, *[level.source for level in memory.levels if level.source]):
        if source not in sources:
            wrong.append(f"memory: unknown source {source!r}{suggestion(source, sources)}")
    sizes = [level.size for level in memory.levels if level.size is not None]
    if sizes != sorted(set(sizes)) and not wrong:
        wrong.append("memory.levels: each level must be larger than the one before")
    return (None if wrong else memory), wrong


def _has_costs(levels: Sequence[MemoryLevel], level: MemoryLevel) -> bool:
    """Return True if a level, or one behind it, states any cost, or is the memory."""
    behind = levels[levels.index(level) :]
    return any(each.name == "memory" or each.read is not None or each.write is not None for each in behind)


def described(memory: MemoryHierarchy) -> dict[str, Any]:
    """Return the table `memory` of a hierarchy, without values that are the defaults."""

    def stated(struct: msgspec.Struct) -> dict[str, Any]:
        values = msgspec.structs.asdict(struct)
        defaults = {field.name: field.default for field in msgspec.structs.fields(struct)}
        return {name: value for name, value in values.items() if value != defaults[name]}

    return {**stated(memory), "levels": [stated(level) for level in memory.levels]}


def table_text(memory: MemoryHierarchy) -> str:
    """Return the table `memory` of a hierarchy in TOML, as model files have it."""

    def value(item: Any) -> str:
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")

    table = described(memory)
    lines = ["[memory]", *[f"{name} = {value(table[name])}" for name in table if name != "levels"], "levels = ["]
    for level in table["levels"]:
        lines.append("  { " + ", ".join(f"{name} = {value(item)}" for name, item in level.items()) + " },")
    return "\n".join([*lines, "]", ""])


def with_table(header: str, memory: MemoryHierarchy, source: str) -> str:
    """Return the hand-written part of a model file with this table `memory` in place of the one that it has.

    The comment above the old table is removed, too.

    Args:
        header: The hand-written part, in TOML.
        memory: The new hierarchy.
        source: The long name of the hierarchy's source, which is added to the file's sources if they lack it.
    """
    kept = re.sub(
        r"(?:^#.*\n)*^\[memory\]\n(?:(?:\w+[ \t]*=|[ \t]|\]).*\n|\n)*", "", header, flags=re.MULTILINE
    ).rstrip("\n")
    if not re.search(rf"^\"?{re.escape(memory.source)}\"?\s*=", _sources(kept), flags=re.MULTILINE):
        line = f"{json.dumps(memory.source)} = {json.dumps(source, ensure_ascii=False)}"
        if "\n[sources]\n" in f"\n{kept}\n":
            kept = re.sub(r"^\[sources\]$", lambda match: f"{match[0]}\n{line}", kept, count=1, flags=re.MULTILINE)
        else:
            kept += f"\n\n[sources]\n{line}"
    return f"{kept}\n\n{table_text(memory)}\n"


def _sources(header: str) -> str:
    """Return the text of the table of sources."""
    match = re.search(r"^\[sources\]\n((?:(?!\[).*\n?)*)", header, flags=re.MULTILINE)
    return match[1] if match else ""


def _readable(message: str) -> str:
    """Return msgspec's message as those of model files: "… - at `$.levels[1].size`" becomes "levels[1].size: …"."""
    text, _, place = message.partition(" - at `$.")
    place = place.removesuffix("`")
    return f"{place}: {text}" if place else text


def packed(memory: MemoryHierarchy | None) -> bytes:
    """Return a hierarchy as a model's header keeps it."""
    return b"" if memory is None else msgspec.msgpack.encode(memory)


def unpacked(data: bytes) -> MemoryHierarchy | None:
    """Return the hierarchy in a model's header, None for a model without one."""
    return msgspec.msgpack.decode(data, type=MemoryHierarchy) if data else None


def exact(cycles: float | None) -> Fraction | None:
    """Return a figure as the decimal fraction that the model file states."""
    return None if cycles is None else Fraction(str(cycles))

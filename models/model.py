"""A machine model in memory: pipeline parameters, ports, and figures for instruction forms looked up one by one."""

from __future__ import annotations

from typing import Any, NamedTuple


class Form(NamedTuple):
    """The figures of one instruction form on one core, conditions (traits) resolved.

    `uops`: (port set, count) with the port set as a string of port names joined by "," ("0,1"), unfused domain; empty for
    what the renamer does alone. `retire_slots`: fused-domain µops at issue, un-lamination done. `latency`: (to, from,
    cycles) between operands: "0", "1" … explicit operands in Intel order; a register's root name for implicit ones
    ("rax"); "C" and "SPAZO" flags; "k" the mask; "m" loaded data (figures from "m" exclude the load itself), "M" stored
    data, "a" the address registers (for lea; and "m<a" where a load's latency is not the core's usual one).
    `divider`: cycles that the divider is occupied; `throughput`: measured reciprocal throughput in cycles where ports do
    not explain it, else None. `breaks_dependency`: the result does not depend on the inputs (idiom).
    `fusion`: name of the macro-fusion class of a flag-writing instruction, else "".
    `source`: where the figures come from; `derived`: "" or the rule by which they were derived from another form.
    `attributes`: what else the data say (complex_decoder, simple_decoders, uops_ms, …).
    """

    key: str
    uops: tuple[tuple[str, int], ...]
    retire_slots: int
    latency: tuple[tuple[str, str, int], ...]
    divider: int
    throughput: float | None
    breaks_dependency: bool
    fusion: str
    source: str
    derived: str
    attributes: dict[str, Any]


class MachineModel:
    """One microarchitecture.

    `name` (LLVM's -mcpu name), `aliases`, `title`, `isa`; `ports`: port names in order; `resources`: exclusive units beside the ports ("0DV");
    `functions`: port set by function, as strings like Form.uops' ("load", "store_address", "store_data", "branch_taken");
    `parameters`: pipeline parameters by name (docs/models.md). `files`: the files that it was read from.
    """

    __slots__ = ("_forms", "aliases", "files", "functions", "isa", "name", "parameters", "ports", "resources", "title", "version")

    name: str
    aliases: tuple[str, ...]
    title: str
    isa: str
    ports: tuple[str, ...]
    resources: tuple[str, ...]
    functions: dict[str, str]
    parameters: dict[str, Any]
    files: tuple[str, ...]
    version: str

    def lookup(self, form: str, traits: frozenset[str]) -> Form | None:
        """The most specific entry for a form whose conditions all hold, or None."""
        raise NotImplementedError

    def fuses(self, first: Form, branch: str) -> bool:
        """Whether the flag-writing instruction macro-fuses with the conditional jump of that mnemonic ("jne")."""
        raise NotImplementedError

"""Comparisons made by hand, so that their views are tested without reports, matching and causes."""

from __future__ import annotations

from typing import Any

from incc.comparison import types as c
from incc.report import types as t
from struct_fixtures import filled

FIGURES: Any = {
    "cycles": 4.0, "cycles_least": 4.0, "cycles_most": 4.0, "at_least": False, "elements": 4.0,
    "cycles_per_element": 1.0, "port": 4.0, "divider": 0.0, "front_end": 2.0, "retire": 2.0, "loop_carried": 1.0,
    "critical_path": 11.0, "instructions": 6, "uops": 6, "port_uops": 8, "bytes": 25, "vector_bits": 256,
    "packed_share": 1.0, "loads": 2, "stores": 1, "spills": 0, "reloads": 0, "bytes_loaded": 64, "bytes_stored": 32,
    "flop": 8,
}  # fmt: skip


def side(label: str, **changed: Any) -> c.Side:
    made: Any = {
        "label": label,
        "input": f"{label}.json",
        "compilers": ["gcc 12.2.0"],
        "models": [{"name": "skylake", "title": "Intel Skylake", "version": "1.1"}],
        "kernels": 1,
        "variant": None,
        "problem": "",
        "notes": [],
    }
    return filled(c.Side, {**made, **changed})


def instruction(index: int, text: str, **changed: Any) -> Any:
    made = {
        "index": index, "line": 10 + index, "source": None, "text": text, "bytes": 4, "form": "", "unknown": False,
        "latency": 1, "load_latency": 0, "issue_slots": 1, "retire_slots": 1, "uops": 1, "ports": "1*p01",
        "rthroughput": {"cycles": 0.5, "exact": "1/2"}, "measured_rthroughput": None, "loads": False, "stores": False,
        "macro_fused": False, "eliminated": False, "zero_idiom": False, "pressure": [0.5, 0.5, 0.0],
        "critical_path_cycles": None, "chain_cycles": None, "figures": None, "remarks": "",
    }  # fmt: skip
    return filled(t.InstructionReport, {**made, **changed})


RESOURCES = [
    t.ResourceReport(name=name, kind="port", title=f"port {name}", load=2.0, busiest=False) for name in ("0", "1", "5")
]


def member(function: str = "triad", line: int = 4, figures: Any = None, **changed: Any) -> c.RowMember:
    made: Any = {
        "unit": "triad.c", "assembly_file": "triad.s", "first_line": 10, "last_line": 16,
        "kernel_id": f"{function}/loop1", "content_hash": "0123", "function": function, "function_name": function,
        "source": {"file": "triad.c", "line": line}, "label": ".L4", "role": "main", "model": "skylake",
        "figures": {**FIGURES, **(figures or {})}, "limited_by": ["port"], "limit": "ports 2,3", "vector": "256-bit",
        "verdict": "bound by ports", "hints": [], "parts": [], "instructions": None, "resources": None,
    }  # fmt: skip
    return filled(c.RowMember, {**made, **changed})


def cause(text: str, cycles: float | None = None, kind: str = "ports") -> Any:
    return filled(c.Cause, {"kind": kind, "text": text, "cycles": cycles})


def change(cycles_a: float | None = 1.0, cycles_b: float | None = 1.0, **changed: Any) -> c.KernelChange:
    ratio = cycles_b / cycles_a if cycles_a and cycles_b is not None else None
    outcome = "unknown" if ratio is None else "equal" if ratio == 1 else "slower" if ratio > 1 else "faster"
    # Iterations of four elements.
    scale = 0.25 if ratio else None
    made: Any = {
        "matched_by": "identity", "confidence": 1.0, "outcome": outcome, "basis": "element" if ratio else "",
        "work": 1.0, "scale_a": scale, "scale_b": scale, "cycles_a": cycles_a, "cycles_b": cycles_b, "ratio": ratio,
        "text": f"{cycles_a} → {cycles_b} cycles per element", "causes": [], "alignment": None,
    }  # fmt: skip
    return filled(c.KernelChange, {**made, **changed})


def row(members: list[c.RowMember | None], changes: list[c.KernelChange | None], **changed: Any) -> c.ComparisonRow:
    base = next(n for n, one in enumerate(members) if one)
    named = members[base]
    assert named
    made: Any = {
        "name": named.function_name, "source": named.source, "members": members, "base": base,
        "changes": changes, "best": [], "weight": 1.0,
    }  # fmt: skip
    return filled(c.ComparisonRow, {**made, **changed})


def comparison(sides: list[c.Side], rows: list[c.ComparisonRow], **changed: Any) -> c.ComparisonReport:
    """With totals counted from the rows, as far as the first side is the base."""
    totals: list[Any] = [None]
    for n in range(1, len(sides)):
        found = [r.changes[n] for r in rows]
        outcomes = [x.outcome for x in found if x]
        counts: Any = {k: outcomes.count(k) for k in ("same", "moved", "equal", "faster", "slower", "unknown")}
        counts["only_a"] = sum(1 for r in rows if r.members[0] and not r.members[n])
        counts["only_b"] = sum(1 for r in rows if r.base == n)
        counts["speedup"] = 1.25 if outcomes else None
        totals.append(counts)
    made: Any = {
        "schema_version": "1.0", "tool": {"name": "incc", "version": "0"}, "sides": sides, "totals": totals,
        "where": "", "rows": rows, "gate": None, "notes": [],
    }  # fmt: skip
    return filled(c.ComparisonReport, {**made, **changed})


def alignment(*pairs: tuple[int | None, int | None, str]) -> Any:
    return [filled(c.Aligned, {"a": a, "b": b, "change": what}) for a, b, what in pairs]


def with_assembly() -> c.ComparisonReport:
    """A loop whose b reloads a register that a keeps."""
    a = member(
        instructions=[
            instruction(0, "vmovupd\t(%rdx,%rax), %ymm1", pressure=[0.0, 0.0, 1.0], ports="1*p23"),
            instruction(1, "vfmadd213pd\t(%rsi,%rax), %ymm2, %ymm1", critical_path_cycles=4, chain_cycles=4),
            instruction(2, "addq $32, %rax"),
            instruction(3, "jne .L4", unknown=True),
        ],
        resources=RESOURCES,
    )
    b = member(
        line=5,
        figures={"cycles": 9.0, "cycles_per_element": 2.25, "loop_carried": 12.0, "reloads": 1, "instructions": 7},
        limit="chain xmm1",
        hints=["memory-chain"],
        instructions=[
            instruction(0, "vmovupd\t(%rdx,%rcx), %ymm3", pressure=[0.0, 0.0, 1.0], ports="1*p23"),
            instruction(1, "vmovupd 8(%rsp), %ymm2", critical_path_cycles=5, chain_cycles=5),
            instruction(2, "vfmadd213pd\t(%rsi,%rcx), %ymm2, %ymm3", critical_path_cycles=4, chain_cycles=4),
            instruction(3, "addq $64, %rcx"),
            instruction(4, "jb .L7"),
        ],
        resources=RESOURCES,
    )
    rows = alignment(
        (0, 0, "registers"), (None, 1, "added"), (1, 2, "registers"), (2, 3, "operands"), (3, 4, "changed")
    )
    became = change(1.0, 2.25, causes=[cause("+1 reload on the LCD: +1.25 cycles", 1.25)], alignment=rows)
    return comparison([side("old"), side("new")], [row([a, b], [None, became])])


def ordinary() -> c.ComparisonReport:
    """Two sides with one of each outcome, a doubtful match, and kernels that one side alone has."""
    slow = {"cycles": 21.6, "port": 21.0}
    why = cause("scalar instead of 256-bit vectors: +3.4 cycles")
    rows = [
        row([member("forces", 12), member("forces", 14, slow, limit="divider", vector="scalar")],
            [None, change(2.0, 5.4, causes=[why])]),
        row([member("sum", 40), member("ns::other<int>::sum_all", 90, {"cycles": 3.0, "spills": 2})],
            [None, change(1.0, 0.75, matched_by="similarity", confidence=0.62)]),
        row([member("dot", 60), member("dot", 60)],
            [None, change(None, None, text="what they do cannot be compared")]),
        row([member("scale", 70), member("scale", 71)], [None, change(1.0, 1.0)]),
        row([member("copy", 80), member("copy", 81)], [None, change(1.0, 1.0, outcome="moved", matched_by="content")]),
        row([member("same", 85), member("same", 85)], [None, change(1.0, 1.0, outcome="same", matched_by="content")]),
        row([member("gone", 95), None], [None, None]),
        row([None, member("new_one", 99, role="remainder")], [None, None]),
    ]  # fmt: skip
    return comparison([side("old", kernels=7), side("new", kernels=7, compilers=["clang 19.1.0"])], rows)


def matrix(labels: list[str], count: int = 3) -> c.ComparisonReport:
    """Several sides: each kernel is slower by a tenth from side to side, and the last one lacks the first kernel."""
    rows = []
    for k in range(count):
        values = [(1.0 + k) * (1 + 0.1 * n) for n in range(len(labels))]
        members: list[Any] = [member(f"kernel{k}", 10 * k + 5) for _ in labels]
        changes: list[Any] = [None, *(change(values[0], value) for value in values[1:])]
        if not k:
            members[-1] = changes[-1] = None
        rows.append(row(members, changes, best=[0]))
    return comparison([side(label) for label in labels], rows)

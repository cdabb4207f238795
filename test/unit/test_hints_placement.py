"""Loops whose speed depends on where the linker puts them."""

from __future__ import annotations

from typing import Any

from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from settings_fixtures import settings_with


def kernel(text: str, **settings: Any) -> t.KernelReport:
    chosen = settings_with(mcpu="skylake", regions="loops", **settings)
    (found,) = analyze_units([Unit(assembly=text, assembly_file="x.s")], chosen).units[0].kernels
    return found


def hint(found: t.KernelReport) -> t.Hint | None:
    return next((h for h in found.hints if h.rule == "code-placement"), None)


def loop(alignment: int, nops: int = 0, additions: int = 7) -> str:
    body = "".join(f"\taddq $1, %{root}\n" for root in ("rax", "rcx", "rdx", "rsi", "r8", "r9", "r10")[:additions])
    return f"\t.p2align {alignment}\n" + "\tnop\n" * nops + f".L1:\n{body}\tdecq %rdi\n\tjne .L1\n\tret\n"


def test_jump_that_ends_at_a_boundary_of_32_bytes_at_some_places() -> None:
    # 28 bytes of additions and 5 of the fused jump: from 0 on it crosses the boundary, which keeps the block out of the
    # µop cache of cores with the workaround for Intel's erratum SKX102; from 16 on it does not.
    found = kernel(loop(4))
    told = hint(found)
    assert told is not None
    assert told.evidence == {"cycles_at": {"0": 3.0, "16": 2.0, "32": 3.0, "48": 2.0}, "known_modulo": 16}
    assert "2 to 3 cycles per iteration, depending on the code's alignment" in told.text
    assert "-falign-loops" not in told.text


def test_aligning_the_loop_is_advised_where_it_helps() -> None:
    # The first byte at 4 modulo 16: 28 bytes behind the boundary at 32 the jump crosses the next one.
    found = kernel(loop(4, nops=4, additions=6))
    told = hint(found)
    assert told is not None
    assert told.evidence["cycles_at"]["0"] < max(told.evidence["cycles_at"].values())
    assert "-falign-loops=64" in told.text


def test_nothing_is_said_of_a_known_place() -> None:
    assert hint(kernel(loop(6))) is None
    assert hint(kernel(loop(4), alignment=16)) is None


def test_nothing_is_said_of_a_loop_that_does_not_wait_for_its_front_end() -> None:
    assert hint(kernel("\t.p2align 4\n.L1:\n\timulq %rax, %rax\n\tdecq %rdi\n\tjne .L1\n\tret\n")) is None


def test_microcode_is_not_in_the_loop_stream_detector() -> None:
    # 11 µops of the microcode sequencer: nowhere in 64 bytes may the loop run from the µop queue alone, in 3 cycles
    body = (
        "kxnorw %k0, %k0, %k1\nvscatterqpd %ymm1, (%rdi,%ymm2,8) {%k1}\naddq $3, %rax\naddq $3, %r8\ndecq %rsi\njne .L1"
    )
    text = "\t.p2align 4\n.L1:\n" + "".join(f"\t{line}\n" for line in body.splitlines()) + "\tret\n"
    chosen = settings_with(mcpu="icelake-server", regions="loops")
    (found,) = analyze_units([Unit(assembly=text, assembly_file="x.s")], chosen).units[0].kernels
    told = hint(found)
    cycles = told.evidence["cycles_at"].values() if told else [found.cycles]
    assert min(cycles) > 5

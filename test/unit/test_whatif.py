"""Simulations with a changed core: no change for the better makes a kernel slower; the language of --what-if."""

from __future__ import annotations

import contextlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from generated_kernels import BLOCKS
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from incc import core
from incc.core import changes, whatif
from incc.core.whatif import Scenario
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding.bind import bind
from incc.models.loading import load
from properties import examples

if TYPE_CHECKING:
    from incc.models.model import MachineModel

MODELS = ("sandybridge", "haswell", "skylake")

# Instructions that random kernels are made of, as machine code: additions, moves, loads and stores, multiplications,
# a division, vectors.
PIECES = (
    "4801d8",  # add rax, rbx
    "4883c308",  # add rbx, 8
    "4889c1",  # mov rcx, rax
    "488b06",  # mov rax, [rsi]
    "488b5608",  # mov rdx, [rsi+8]
    "488907",  # mov [rdi], rax
    "48895710",  # mov [rdi+16], rdx
    "480fafd3",  # imul rdx, rbx
    "c5fb58c1",  # vaddsd xmm0, xmm0, xmm1
    "c5f359d2",  # vmulsd xmm2, xmm1, xmm2
    "c5fb5ec1",  # vdivsd xmm0, xmm0, xmm1
    "c5fd6fca",  # vmovdqa ymm1, ymm2
    "4811d8",  # adc rax, rbx
    "4885c0",  # test rax, rax
    "90",  # nop
)

# A limit taken away from all µops at once; ports and the order of issue still choose differently where another port is
# added or more µops are issued at once, which may cost a kernel more than it gains.
MONOTONIC = (whatif.UNLIMITED_PORTS, whatif.NO_REGISTER_DEPENDENCIES, whatif.NO_DEPENDENCIES)


@cache
def model(name: str) -> MachineModel:
    return load(name)


def scenario(code: str, name: str) -> Scenario:
    kernel = decode_bytes(bytes.fromhex(code))
    return Scenario(kernel, bind(kernel, model(name))[0], {})


def cycles(s: Scenario) -> float:
    return float(whatif.simulate(s).cycles_per_iteration)


def tried(s: Scenario) -> dict[str, float]:
    base = core.simulate(s.bound)
    found = whatif.what_ifs(s.kernel, s.bound, core.analyze(s.bound), base)
    return {w.name: float(w.cycles / base.cycles_per_iteration) for w in found}


@examples(60)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.sampled_from(MODELS))
def test_limits_taken_away_make_no_kernel_slower(pieces: list[str], name: str) -> None:
    s = scenario("".join(pieces), name)
    base = cycles(s)
    for change in MONOTONIC:
        assert cycles(change.apply(s)) <= 1.01 * base + 0.02, change.name


def test_on_average_no_change_makes_compiled_loops_slower() -> None:
    """Single kernels may be slower: where chains of one cycle share ports with other work (two additions and a move on
    Sandy Bridge's three), whether each µop finds its port free depends on the slot in which it is issued."""
    ratios: dict[str, list[float]] = {}
    for code in BLOCKS:
        for name in MODELS:
            for change, ratio in tried(scenario(code, name)).items():
                ratios.setdefault(change.split()[0], []).append(ratio)
    for change, found in ratios.items():
        assert sum(found) / len(found) <= 1.01, change


def test_changes_that_are_not_simulated_would_gain_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated: list[Scenario] = []

    def counted(s: Scenario, *_: object) -> core.Simulation:
        simulated.append(s)
        return core.simulate(s.bound, **s.assumed)

    monkeypatch.setattr(whatif, "simulate", counted)
    possible = 0
    for code in BLOCKS:
        for name in MODELS:
            s = scenario(code, name)
            analysis, base = core.analyze(s.bound), core.simulate(s.bound)
            found = {w.name: w.cycles for w in whatif.what_ifs(s.kernel, s.bound, analysis, base)}
            for change in whatif.changes(s.bound, analysis, base):
                possible += 1
                after = change.apply(s)
                alone = core.simulate(after.bound, **after.assumed).cycles_per_iteration
                if found[change.name] != alone:
                    assert found[change.name] == base.cycles_per_iteration
                    # Cycles below a bound that still stands come of the end of the watched time.
                    least = max([getattr(analysis, bound) for bound in change.keeps], default=0)
                    assert max(alone, least) >= (1 - 2 * whatif.WORTH_TRYING) * base.cycles_per_iteration, change.name
    assert len(simulated) < possible / 2


def test_code_from_the_decoders_is_slow_for_them_alone() -> None:
    # Length-changing prefixes: the front end takes far longer than anything else.
    s = scenario("6681c10002" * 4, "skylake")
    ratios = tried(s)
    assert ratios.pop("front-end") < 0.5
    assert set(ratios.values()) == {1.0}
    assert {"issue-width", "unlimited-ports", "register-dependencies"} <= ratios.keys()


def test_the_original_stays() -> None:
    s = scenario(BLOCKS[0], "skylake")
    before = repr(s.bound)
    for text in ("port 2 += 1", "rob = 10", "idq = 8", "latency mov = 9", "issue_width += 2"):
        changes.parse(text).apply(s)
    for change in (whatif.PERFECT_FRONT_END, whatif.PIPELINED_UNITS, whatif.WIDER_ISSUE, whatif.UNLIMITED_WINDOW):
        change.apply(s)
    assert repr(s.bound) == before


def test_a_port_comes_with_a_scheduler_where_ports_have_their_own() -> None:
    # Six additions and a fused pair on four ALUs, then on five: one that shared the entries of its twin would idle.
    code = "4983c0014983c1014983c2014983c3014983c4014983c50149ffcf75e3"
    s = scenario(code, "znver4")
    assert cycles(s) == pytest.approx(7 / 4, rel=0.01)
    assert cycles(changes.parse("port ALU0 += 1").apply(s)) == pytest.approx(7 / 5, rel=0.01)


def test_one_more_load_port() -> None:
    # Eight loads on two ports; with a third one, the issue width of four is the limit for nine µops.
    loop = "".join(f"488b46{8 * n:02x}" for n in range(8)) + "ffc975dc"
    s = scenario(loop, "skylake")
    assert s.kernel.is_loop
    assert cycles(s) == pytest.approx(4, rel=0.02)
    assert cycles(changes.parse("port 2 += 1").apply(s)) == pytest.approx(8 / 3, rel=0.02)
    assert cycles(changes.parse("port 2 = 3").apply(s)) < 2.6


def test_latency() -> None:
    s = scenario("c5fb58c1", "skylake")
    assert cycles(s) == pytest.approx(4, rel=0.01)
    assert cycles(changes.parse("latency VADDSD = 7").apply(s)) == pytest.approx(7, rel=0.01)
    assert cycles(changes.parse("latency vaddsd -= 1").apply(s)) == pytest.approx(3, rel=0.01)


def test_stores_that_wait_for_the_cache() -> None:
    # mov %rax, (%rdi); mov %rbx, 32(%rdi); dec %rcx; jne: two blocks of 32 bytes, one a cycle on Zen 4.
    code = "488907" + "48895f20" + "48ffc9" + "75f4"
    s = scenario(code, "znver4")
    assert cycles(s) == pytest.approx(2, rel=0.01)
    found = tried(s)
    assert found["store-commit"] == pytest.approx(0.5, rel=0.02)
    assert found["window"] == pytest.approx(1, rel=0.01), "a buffer without end only hides that stores do not get away"
    lost = core.simulate(s.bound).lost_slots
    assert lost.store_buffer == max(astuple(lost)) > 0
    assert "store-commit" not in tried(scenario(code, "skylake"))
    assert "store-commit" not in tried(scenario("48ffc875fb", "znver4"))


def test_loads_that_cross_cache_lines() -> None:
    # vmovupd (%rdi,%rax), %ymm0; vaddpd 8(%rdi,%rax), %ymm0, %ymm1; add $32, %rax; cmp %rsi, %rax; jne: three of eight
    # places make a vector of four elements cross, so that two loads take a port (2 + 6/8) times.
    code = "c5fd100407" + "c5fd584c0708" + "4883c020" + "4839f0" + "75ec"
    s = scenario(code, "skylake")
    assert cycles(s) == pytest.approx((2 + 6 / 8) / 2, rel=0.02)
    found = tried(s)
    assert found["line-crossings"] < 1.3
    # Vectors as wide as a line are taken to be aligned to one, but the second of these always crosses.
    wide = scenario("62f1fd48100407" + "62f1fd48588c0708000000" + "4883c040" + "4839f0" + "75e5", "skylake-avx512")
    assert (1 + 2) / 2 <= cycles(wide) <= 2
    assert tried(wide)["line-crossings"] < 1.3
    aligned = scenario("62f1fd48100407" + "62f1fd48588c0740000000" + "4883c040" + "4839f0" + "75e5", "skylake-avx512")
    assert "line-crossings" not in tried(aligned)


def test_pipelined_divider() -> None:
    s = scenario("c5fb5ec1", "skylake")
    assert tried(s)["register-dependencies"] == pytest.approx(4 / 13, rel=0.05)
    independent = scenario("c5fb5ed1", "skylake")
    assert tried(independent)["divider"] == pytest.approx(1 / 4, rel=0.05)


def test_asked_for_alone_and_together() -> None:
    s = scenario(BLOCKS[1], "skylake")
    asked = [whatif.UNLIMITED_PORTS, changes.parse("rob = 100")]
    found = whatif.what_ifs(s.kernel, s.bound, core.analyze(s.bound), core.simulate(s.bound), asked)
    names = [w.name for w in found if w.asked]
    assert sorted(names) == ["rob", "unlimited-ports", "unlimited-ports, rob"]
    assert [w.name for w in found].count("unlimited-ports") == 1
    assert [w.cycles for w in found] == sorted(w.cycles for w in found)


def test_on_average_an_unlimited_issue_width_makes_loops_no_slower() -> None:
    # Issue waits until the buffers have room for a full cycle's µops, so a width beyond them would stop it.
    change = changes.parse("issue_width = unlimited")
    for name in MODELS:
        scenarios = [scenario(code, name) for code in BLOCKS]
        ratios = [cycles(change.apply(s)) / cycles(s) for s in scenarios]
        assert sum(ratios) / len(ratios) <= 1.02, name


def test_differences_of_buffers_keep_their_limits() -> None:
    s = scenario(BLOCKS[0], "skylake")
    buffer = whatif.get_parameter(s.bound, "load_buffer")
    for text in (f"load_buffer -= {buffer}", f"load_buffer -= {buffer + 1}"):
        with pytest.raises(ValueError, match="it is from 1"):
            changes.parse(text).apply(s)
    assert whatif.get_parameter(changes.parse("load_buffer = 0").apply(s).bound, "load_buffer") == 0
    unlimited = changes.parse("load_buffer = unlimited").apply(s)
    assert whatif.get_parameter(unlimited.bound, "load_buffer") == 0
    with pytest.raises(ValueError, match="from or to unlimited"):
        changes.parse("load_buffer += 10").apply(unlimited)


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("rob == 5", 6, "a number or unlimited"),
        ("rob = ", 7, "a number or unlimited"),
        ("nonsense = 3", 1, "port, latency or a parameter of the core"),
        ("", 1, "port, latency or a parameter of the core"),
        ("port 5 += x", 11, "a number"),
        ("port += 1", 6, "the name of a port"),
        ("rob = 5 6", 9, "nothing more"),
        ("latency 3 = 3", 9, "a mnemonic"),
    ],
)
def test_mistakes_name_the_column(text: str, column: int, expected: str) -> None:
    with pytest.raises(ValueError, match=f"column {column}: expected {expected}$"):
        changes.parse(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port 9 += 1", "no port '9'"),
        ("port 5 += 60", "too many"),
        ("latency FOO = 3", "the kernel has no FOO"),
        ("idq -= 5000", "idq would be -"),
        ("rob = 99999999", "rob would be 99999999"),
        ("issue_width = 0", "it is from 1"),
    ],
)
def test_what_a_core_has_not(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"{re.escape(repr(text))}: .*{words}"):
        changes.parse(text).apply(scenario(BLOCKS[0], "skylake"))


def test_ports_can_only_be_added() -> None:
    for text in ("port 5 -= 1", "port 5 = 1", "port 5 += 0"):
        with pytest.raises(ValueError, match="only be added"):
            changes.parse(text)


@given(st.text(alphabet="port lateny5=+-1rob ", max_size=14))
def test_any_text_is_a_change_or_a_message(text: str) -> None:
    with contextlib.suppress(ValueError):
        change = changes.parse(text)
        assert change.text.startswith("with ")


def test_every_change_is_explained() -> None:
    # the documentation is beside the sources, not in an installed package
    explained = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    tried_always = {c for c in vars(whatif).values() if isinstance(c, whatif.CoreChange)} - {whatif.ALL_BUT_FRONT_END}
    assert len(tried_always) >= 9
    for change in tried_always:
        assert re.search(rf"^\| .*`{change.name}`.* \|", explained, re.MULTILINE), change.name

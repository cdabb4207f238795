"""Instructions that a core lacks have the figures of the nearest related core."""

from __future__ import annotations

import pytest

from incc.driver.pipeline import analyze_units
from incc.frontends.isa import isa
from incc.frontends.unit import Unit
from incc.models.borrowed import with_borrowed
from incc.models.loading import load
from incc.models.throughput import widest_vector
from settings_fixtures import settings_with

LOOP = """\
.L3:
\tvmovupd (%rdi,%rax), %zmm0
\tvaddpd (%rsi,%rax), %zmm0, %zmm0
\tvmovupd %zmm0, (%rdx,%rax)
\taddq $64, %rax
\tcmpq %rcx, %rax
\tjne .L3
"""
ADD = "EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r"


@pytest.mark.parametrize(
    ("core", "lender"),
    [("skylake", "skylake-avx512"), ("haswell", "skylake-avx512"), ("znver3", "znver4"), ("znver1", "znver4")],
)
def test_the_nearest_core_lends(core: str, lender: str) -> None:
    unit = Unit(assembly=LOOP, assembly_file="a.s")
    (kernel,) = analyze_units([unit], settings_with(mcpu=core, regions="loops")).units[0].kernels
    assert kernel.unknown_instructions == []
    assert not kernel.at_least
    assert kernel.notes == [f"{core} lacks 3 instructions (lines 2, 3, 4), so figures of {lender} count"]
    assert ["L" in i.remarks for i in kernel.instructions] == [True, True, True, False, False, False]


def test_ports_are_those_that_do_the_same_work() -> None:
    model, origin = with_borrowed(load("skylake"), ["EVEX_VMOVUPD_ZMMM512_K1Z_ZMM/m"])
    assert origin == {"EVEX_VMOVUPD_ZMMM512_K1Z_ZMM/m": "skylake-avx512"}
    form = model.lookup("EVEX_VMOVUPD_ZMMM512_K1Z_ZMM/m", frozenset())
    store = load("skylake").lookup("VEX_VMOVUPD_YMMM256_YMM/m", frozenset())
    assert form is not None
    assert store is not None
    assert sorted(form.uops) == sorted(store.uops)
    # Ice Lake stores on other ports, and what Rocket Lake has to lend it takes its own.
    icelake, alder = load("icelake-client"), load("alderlake")
    for name in ("VEX_VPDPBUSD_YMM_YMM_YMMM256/r",):
        lent, _ = with_borrowed(icelake, [name])
        assert (entry := lent.lookup(name, frozenset())) is not None
        assert alder.lookup(name, frozenset()) is not None
        assert {port for ports, _ in entry.uops for port in ports.split(",")} <= set(icelake.ports)


def test_nothing_is_borrowed_that_the_core_has_or_nobody_has() -> None:
    model = load("skylake")
    assert with_borrowed(model, ["ADD_R64_RM64/r", "NO_SUCH_FORM/r"]) == (model, {})
    assert with_borrowed(load("a64fx"), ["no/such"])[1] == {}


def test_borrowed_vectors_are_not_those_of_the_core() -> None:
    """Hints do not advise vectors that the core cannot execute because another function of the file has them."""
    names = [form for form, _ in isa("x86").widest_vector]
    model, origin = with_borrowed(load("skylake"), names)
    assert origin
    assert widest_vector(model) == widest_vector(load("skylake")) == 256


def test_what_the_core_has_stays_as_it_is() -> None:
    model, _ = with_borrowed(load("znver3"), [ADD])
    for form in ("ADD_R64_RM64/r", "VEX_VADDPD_YMM_YMM_YMMM256/r"):
        assert model.lookup(form, frozenset()) == load("znver3").lookup(form, frozenset())

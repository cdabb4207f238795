"""Who waits for whom, in simulations of which the answer is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc import core
from incc.core.waits import Waits, waits
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding.bind import bind
from incc.models.loading import load
from properties import examples

SKYLAKE = load("skylake")

PIECES = ("4801d8", "4883c308", "4889c1", "488b06", "488907", "480fafd3", "c5fb58c1", "c5fb5ec1", "480306", "480107")


def waits_of(code: str) -> tuple[Waits, core.Simulation]:
    kernel = decode_bytes(bytes.fromhex(code))
    run = core.simulate(bind(kernel, SKYLAKE)[0], record=True)
    return waits(run, len(kernel.instructions)), run


def test_a_chain_waits_for_itself() -> None:
    found, _ = waits_of("c5fb58c1")  # vaddsd xmm0, xmm0, xmm1
    assert found.had == found.for_inputs
    assert found.inputs == {(0, 0): pytest.approx(found.had[0])}
    assert found.caused == pytest.approx(found.had)
    assert not found.ports
    # A full scheduler of 97 entries, each of which waits for the four cycles of all those before it.
    assert 300 < found.had[0] < 4 * 97


def test_one_waits_for_the_other() -> None:
    # imul rdx, rbx; mov rcx, rdx would be eliminated: lea rcx, [rdx+1]; mov rdx, 5 starts the next chain.
    found, _ = waits_of("480fafd3488d4a0148c7c205000000")
    assert set(found.inputs) <= {(1, 0), (0, 2)}
    assert found.inputs[1, 0] >= 3
    assert found.caused[1] == pytest.approx(sum(c for (i, _), c in found.blocked.items() if i == 1), abs=0.01)


def test_the_divider_is_a_port() -> None:
    found, _ = waits_of("c5fb5ed1")  # vdivsd xmm2, xmm0, xmm1: four cycles of the divider each
    unit = len(SKYLAKE.ports)
    assert found.for_inputs == (0,)
    assert found.ports[0, unit] == pytest.approx(found.had[0], rel=0.05)
    assert found.blocked[0, unit] > 0


@examples(60)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=10))
def test_waits_add_up(pieces: list[str]) -> None:
    found, run = waits_of("".join(pieces))
    for i, had in enumerate(found.had):
        by_inputs = [c for (a, _), c in found.inputs.items() if a == i]
        by_ports = [c for (a, _), c in found.ports.items() if a == i]
        assert found.for_inputs[i] <= had + 1e-9
        # In every cycle of waiting for inputs one at least is to blame, and each of them waits no longer than all do.
        assert max(by_inputs, default=0) <= found.for_inputs[i] + 1e-9 <= sum(by_inputs) + 2e-9
        assert had <= found.for_inputs[i] + sum(by_ports) + 1e-9
        made_wait = [c for (_, b), c in found.inputs.items() if b == i]
        made_wait += [c for (a, _), c in found.blocked.items() if a == i]
        assert max(made_wait, default=0) <= found.caused[i] + 1e-9 or found.caused[i] <= sum(made_wait) + 1e-9
    assert sum(found.caused) <= sum(found.inputs.values()) + sum(found.blocked.values()) + 1e-6
    assert all(u.started >= u.earliest for u in run.started)


def test_without_a_record() -> None:
    kernel = decode_bytes(bytes.fromhex("4801d8"))
    with pytest.raises(ValueError, match="record"):
        waits(core.simulate(bind(kernel, SKYLAKE)[0]), 1)

"""What the simulation does not simulate, since it repeats earlier cycles, is what a simulation of every cycle finds."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc import core
from incc.core import whatif
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding.bind import bind
from incc.models.loading import list_models, load
from incc.models.model import MachineModel
from properties import examples

# Instructions that use each mechanism of a pipeline, as machine code.
PIECES = (
    "4801d8",  # add rax, rbx
    "4889c1",  # mov rcx, rax
    "4889cb",  # mov rbx, rcx
    "488b06",  # mov rax, [rsi]
    "488b0e",  # mov rcx, [rsi]
    "48891e",  # mov [rsi], rbx
    "48895e40",  # mov [rsi+64], rbx
    "48830701",  # add qword ptr [rdi], 1
    "4883c708",  # add rdi, 8
    "c5fe6f0f",  # vmovdqu ymm1, [rdi]
    "c5fe6f571e",  # vmovdqu ymm2, [rdi+30]: crosses cache lines
    "c5fe7f4f20",  # vmovdqu [rdi+32], ymm1
    "c5fb58c1",  # vaddsd xmm0, xmm0, xmm1
    "c5fb5ec1",  # vdivsd xmm0, xmm0, xmm1
    "c5fd28d1",  # vmovapd ymm2, ymm1
    "c4e2f598c2",  # vfmadd132pd ymm0, ymm1, ymm2
    "48f7f3",  # div rbx: from microcode on some cores
    "0fa2",  # cpuid
    "50",  # push rax
    "59",  # pop rcx
    "4801e0",  # add rax, rsp
    "b401",  # mov ah, 1
    "00c4",  # add ah, al
    "6681c10002",  # add cx, 512: a length-changing prefix
    "48b80102030405060708",  # mov rax, a constant of 64 bits
    "0f1f440000",  # nop
    "85c0",  # test eax, eax
)
CORES = tuple(m.name for m in list_models())


@cache
def model(name: str) -> MachineModel:
    return load(name)


def check(code: str, name: str, **options: bool) -> None:
    kernel = decode_bytes(bytes.fromhex(code))
    if model(name).isa != kernel.isa:
        return
    bound, _ = bind(kernel, model(name))
    if bound.pipeline is None:
        return
    for loop in (True, False):
        shortened = core.simulate(bound, loop=loop, **options)
        assert shortened == core.simulate(bound, loop=loop, every_cycle=True, **options), (code, name, loop)


@pytest.mark.parametrize("name", CORES)
def test_each_instruction_on_each_core(name: str) -> None:
    for first, second, third in zip(PIECES, PIECES[5:] + PIECES[:5], PIECES[11:] + PIECES[:11], strict=True):
        check(first + second + third, name)


def test_lines_are_crossed_in_some_iterations_only() -> None:
    # Six loads, two of which cross a line in every eighth iteration, on two ports.
    check("488b06c5fe6f0fc5fe6f571e488b06c5fb58c14883c708488b06c5fe6f571ec5fe6f0f", "haswell")


@examples(150)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=24), st.sampled_from(CORES))
def test_random_kernels(pieces: list[str], name: str) -> None:
    check("".join(pieces), name)


@examples(40)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.sampled_from(("skylake", "haswell", "znver4")))
def test_random_kernels_on_changed_cores(pieces: list[str], name: str) -> None:
    code = "".join(pieces)
    check(code, name, unlimited_ports=True)
    check(code, name, no_register_dependencies=True)
    kernel = decode_bytes(bytes.fromhex(code))
    bound, _ = bind(kernel, model(name))
    for change in (whatif.WIDER_ISSUE, whatif.PERFECT_FRONT_END, whatif.more_ports(model(name).ports[0], 1)):
        changed = change.apply(whatif.Scenario(kernel, bound, {})).bound
        assert core.simulate(changed) == core.simulate(changed, every_cycle=True)


@pytest.mark.parametrize("name", ["bonnell", "znver4", "skylake"])
@pytest.mark.parametrize("code", ["58", "c3", "5850c3", "6a0158", "50504801e058"])
def test_code_that_moves_the_stack_on_and_on_repeats_itself(name: str, code: str) -> None:
    """However far it has gone, where that makes no difference: the end of a function, over and over."""
    check(code, name)
    bound, _ = bind(decode_bytes(bytes.fromhex(code), is_loop=False), model(name))
    run = core.cold_run(bound, 10**8)
    assert run.statistics is not None
    assert run.statistics.cycles > 10**7

"""The values that tell the iterations of loops: which loops have one, and that the numbers are exact."""

from __future__ import annotations

import os
import subprocess

import msgspec
import pytest
from test_probes import environment

from incc.running.compiling import RUNTIME
from incc.running.insertion import with_probes
from incc.running.profile import LoopProfile, read_profile

pytestmark = pytest.mark.skipif(not os.path.exists(RUNTIME), reason="no runtime for probes on this platform")


class Case(msgspec.Struct, frozen=True):
    """A function with a loop. It is called as `f(13, list)`, where the list has 13 elements."""

    code: str
    iterations: int = 13
    is_counted: bool = False


CASES = {
    "copied": Case("xor %eax, %eax; 1: lea 1(%rax), %edx; mov %rdx, %rax; cmp %edi, %edx; jne 1b; ret"),
    "moved_on_both_ways": Case(
        "mov %rdi, %rcx; 1: test $4, %cl; je 2f; add $1, %r8; sub $1, %rcx; jmp 3f; 2: dec %rcx; "
        "3: test %rcx, %rcx; jne 1b; ret"
    ),
    "moved_in_two_parts": Case(
        "1: sub $3, %rdi; test %r8, %r8; je 2f; nop; 2: add $2, %rdi; test %rdi, %rdi; jne 1b; ret"
    ),
    "on_the_stack": Case(
        "movl $0, -8(%rsp); 1: addl $2, -8(%rsp); mov -8(%rsp), %eax; sub %edi, %eax; cmp %edi, %eax; jl 1b; ret"
    ),
    "in_a_frame": Case(
        "push %rbp; mov %rsp, %rbp; mov %rdi, -16(%rbp); 1: mov -16(%rbp), %rax; sub $1, %rax; "
        "mov %rax, -16(%rbp); cmpq $0, -16(%rbp); jne 1b; pop %rbp; ret"
    ),
    "step_on_the_stack": Case(
        "movl $-3, -8(%rsp); movl $39, -4(%rsp); 1: mov -8(%rsp), %eax; add %eax, -4(%rsp); "
        "cmpl $0, -4(%rsp); jg 1b; ret"
    ),
    "step_is_subtracted": Case("mov $91, %eax; mov $7, %ecx; 1: sub %rcx, %rax; test %rax, %rax; jne 1b; ret"),
    "step_of_zero": Case("mov $7, %eax; xor %ecx, %ecx; 1: add %rcx, %rax; cmp $7, %rax; jl 1b; ret", 1),
    "step_may_be_zero": Case(
        "xor %ecx, %ecx; mov %rdi, %r8; 1: add %rcx, %rax; cmp $99, %rax; je 2f; dec %r8b; jne 1b; 2: ret",
        is_counted=True,
    ),
    "sum_may_overflow": Case("1: add %rdi, %rdx; mov (%rsi), %rsi; cmp %rsi, %rdi; jl 1b; ret", is_counted=True),
    "wraps": Case("mov $-5, %eax; 1: add $1, %eax; cmp $8, %eax; jne 1b; ret"),
    "overwritten_at_an_exit": Case(
        "mov %rdi, %rax; 1: dec %rax; mov %rax, %rdx; test %rax, %rax; js 2f; je 3f; jmp 1b; 2: ret; "
        "3: xor %eax, %eax; ret"
    ),
    "known_by_a_copy": Case(
        "mov %rdi, %rax; 1: lea -1(%rax), %rdx; xor %eax, %eax; test %rdx, %rdx; je 2f; mov %rdx, %rax; jmp 1b; 2: ret",
        12,
    ),
    "left_at_the_top": Case("1: test %rdi, %rdi; je 2f; nop; dec %rdi; jmp 1b; 2: ret"),
    "entered_amid": Case("mov %rdi, %rcx; jmp 2f; 1: test %rcx, %rcx; je 3f; nop; 2: dec %rcx; jmp 1b; 3: ret"),
    "list": Case("1: mov (%rsi), %rsi; test %rsi, %rsi; jne 1b; mov $1, %eax; ret", is_counted=True),
    "list_left_at_the_top": Case(
        "1: test %rsi, %rsi; je 2f; mov (%rsi), %rsi; jmp 1b; 2: mov $1, %eax; ret",
        is_counted=True,
    ),
    "list_without_a_free_register": Case("1: mov (%rsi), %rsi; test %rsi, %rsi; jne 1b; ret", is_counted=True),
    "list_beside_calls": Case("1: mov (%rsi), %rsi; test %rsi, %rsi; jne 1b; call f_nothing; ret", is_counted=True),
    "address_is_known": Case(
        "sub $24, %rsp; movq $0, 8(%rsp); 1: lea 8(%rsp), %r8; incq (%r8); incq 8(%rsp); cmp %rdi, 8(%rsp); "
        "jl 1b; add $24, %rsp; ret",
        7,
        is_counted=True,
    ),
    "may_be_in_an_array": Case(
        "mov $7, %eax; movq $0, -8(%rsp); 1: incq -64(%rsp,%rax,8); incq -8(%rsp); cmp %rdi, -8(%rsp); jl 1b; ret",
        7,
        is_counted=True,
    ),
    "sum": Case("xor %edx, %edx; 1: add $3, %rdx; mov (%rsi), %rsi; test %rsi, %rsi; jne 1b; ret"),
    "narrow_sum_may_wrap": Case(
        "xor %edx, %edx; 1: add $0x40000000, %edx; mov (%rsi), %rsi; test %rsi, %rsi; jne 1b; ret",
        is_counted=True,
    ),
    "conditional": Case(
        "xor %edx, %edx; mov $5, %r8d; 1: add $1, %rdx; test $1, %dl; cmove %r8, %r9; mov (%rsi), %rsi; "
        "test %rsi, %rsi; jne 1b; ret"
    ),
    "moved_conditionally": Case(
        "xor %edx, %edx; 1: cmp $8, %rsi; je 2f; inc %rdx; 2: mov (%rsi), %rsi; test %rsi, %rsi; jne 1b; ret",
        is_counted=True,
    ),
}

MAIN = """
int main(void) {
  static void *list[13];
  for (int i = 0; i < 12; ++i)
    list[i] = list + i + 1;
  CALLS
  return 0;
}
"""


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoopProfile]:
    """Run all functions; what their probes have recorded."""
    folder = tmp_path_factory.mktemp("induction")
    text = "".join(_function(name, case.code) for name, case in CASES.items()) + _function("nothing", "ret")
    (folder / "functions.s").write_text(with_probes(f".text\n{text}").text)
    calls = "".join(f"void f_{name}(long, void *); f_{name}(13, list);\n" for name in CASES)
    (folder / "main.c").write_text(MAIN.replace("CALLS", calls))
    command = ["gcc", "main.c", "functions.s", RUNTIME, "-o", "program", "-no-pie"]
    subprocess.run(command, cwd=folder, check=True)
    profiles = folder / "profiles"
    profiles.mkdir()
    subprocess.run([folder / "program"], env=environment(INCC_PROBES=str(profiles)), check=True)
    (file,) = profiles.iterdir()
    return {loop.loop.kernel.partition("/")[0].removeprefix("f_"): loop for loop in read_profile(str(file)).loops}


def _function(name: str, code: str) -> str:
    name = f"f_{name}"
    code = code.replace("; ", "\n").replace(": ", ":\n")
    for label in "123":
        code = code.replace(f"{label}:", f".L{name}{label}:")
        for direction in "bf":
            code = code.replace(f" {label}{direction}", f" .L{name}{label}")
    return f".globl {name}\n.type {name}, @function\n{name}:\n{code}\n.size {name}, .-{name}\n"


@pytest.mark.parametrize("name", CASES)
def test_iterations_are_exact(name: str, loops: dict[str, LoopProfile]) -> None:
    loop = loops[name]
    assert (loop.entries, loop.samples, loop.iterations) == (1, 1, CASES[name].iterations)
    assert loop.loop.counted == CASES[name].is_counted


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("list", "leaq 1(%rax), %rax"),
        ("list_beside_calls", "incq -128(%rsp)"),
        ("list_without_a_free_register", "%fs"),
    ],
)
def test_loops_count_where_it_costs_least(name: str, code: str) -> None:
    text = with_probes(f".text\n{_function(name, CASES[name].code)}").text
    assert code in text[text.index(f".Lf_{name}1:") : text.index("jne")]

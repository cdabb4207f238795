"""Every core of the package is simulated, and those of which little is known by the rules that are."""

from __future__ import annotations

from fractions import Fraction

import aarch64_kernels
import pytest
from msgspec.structs import astuple, replace

from bind_kernels import kernel as decoded
from incc.core import analyze, simulate, whatif
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
from incc.models.loading import list_models, load

X86 = [m.name for m in list_models() if load(m.name).isa == "x86"]
AARCH64 = [m.name for m in list_models() if load(m.name).isa == "aarch64"]


def bound(body: str, cpu: str, loop: bool = True) -> BoundKernel:
    text = f"1: {body}; dec %r15; jne 1b" if loop else body
    return bind(replace(decoded(text), is_loop=loop, alignment=0), load(cpu))[0]


def cycles(body: str, cpu: str, loop: bool = True) -> Fraction:
    return simulate(bound(body, cpu, loop)).cycles_per_iteration


def most(k: BoundKernel) -> Fraction:
    a = analyze(k)
    return max(a.port_bound, a.resource_bound, a.front_end_bound, a.retire_bound, a.latency_bound)


def nops(count: int) -> str:
    return "; ".join(["nop"] * count)


def mixed(count: int) -> str:
    """Instructions that do not depend on each other, for units of three kinds."""
    kinds = "mov $1, %eax", "mov (%rbp), %rbx", "mov $1, %ecx", "movaps %xmm0, %xmm1"
    return "; ".join(kinds[n % 4] for n in range(count))


BODIES = [
    "add (%rsi), %rax; add $8, %rsi",
    "movsd (%rsi,%rcx,8), %xmm0; mulsd %xmm1, %xmm0; addsd %xmm0, %xmm2; inc %rcx",
    "mov (%rdi), %rax; imul %rax, %rbx; mov %rbx, (%rdi); shr $3, %rbx; xor %rbx, %rcx; cmovb %rcx, %rdx",
    "push %rax; pop %rbx; lea 8(%rsp), %rdx; test %rdx, %rdx; sete %al; movzbl %al, %ecx",
    "movaps (%rsi), %xmm0; pxor %xmm3, %xmm3; paddd %xmm0, %xmm3; movaps %xmm3, 16(%rdi); add $16, %rsi",
    "mov %rdx, %rax; div %rbx; mov %rax, %rcx; divsd %xmm1, %xmm2",
]


@pytest.mark.parametrize("cpu", X86)
def test_every_x86_core_is_simulated(cpu: str) -> None:
    for body in BODIES:
        for loop in (True, False):
            k = bound(body, cpu, loop)
            s = simulate(k)
            assert s.iterations >= 10
            # Reading off in the middle of a pattern may be off by a slot.
            assert s.cycles_per_iteration >= most(k) * Fraction(97, 100), (body, loop)
            assert s.cycles_per_iteration <= 6 * most(k) + 8, (body, loop)


# --- AMD -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cpu", "width", "dispatched"), [("znver1", 8, 5), ("znver2", 8, 6), ("znver3", 8, 6)])
def test_a_jump_ends_what_the_op_cache_gives(cpu: str, width: int, dispatched: int) -> None:
    # dec and jne are one macro-op, moves that the renamer does cost nothing else.
    def moves(count: int) -> Fraction:
        return cycles("; ".join(f"mov %rbp, %r{8 + n % 7}" for n in range(count)), cpu)

    assert moves(width - 1) == Fraction(width, dispatched)
    assert moves(width) == 2


@pytest.mark.parametrize("cpu", ["znver1", "znver2", "znver3", "znver4", "znver5"])
def test_zen_decodes_four(cpu: str) -> None:
    assert cycles("; ".join(f"mov %rbp, %r{8 + n % 7}" for n in range(12)), cpu, loop=False) == 3


def test_zen_5_dispatches_eight() -> None:
    assert cycles("; ".join(f"mov %rbp, %r{8 + n % 7}" for n in range(11)), "znver5") == Fraction(12, 8)


@pytest.mark.parametrize(
    ("size", "count", "measured"),
    [
        (1, 11, 1.5),
        (1, 12, 3),
        (1, 24, 5),
        # An entry goes on in the next line.
        (3, 19, 3),
        (3, 21, 4),
        (3, 35, 4.5),
        (3, 36, 6),
        (4, 29, 4),
        (4, 30, 6),
        (5, 25, 5),
        # A jump in a line in which no entry begins.
        (8, 10, 2),
        (8, 17, 3),
        (8, 18, 19 / 8),
    ],
)
def test_zen_5_reads_a_line_of_code_again_later(size: int, count: int, measured: float) -> None:
    nop = {1: "nop", 3: "nopl (%rax)", 4: "nopl 8(%rax)", 5: "nopl 8(%rax,%rax)", 8: "nopl 512(%rax,%rax)"}[size]
    assert float(cycles("; ".join([nop] * count), "znver5")) == pytest.approx(measured, abs=0.02)


@pytest.mark.parametrize(("comparisons", "nops", "measured"), [(3, 6, 1.25), (3, 8, 1.5), (4, 5, 3), (4, 7, 3)])
def test_zen_5_holds_six_constants_in_an_entry(comparisons: int, nops: int, measured: float) -> None:
    text = "; ".join(["cmpl $5, 8(%rsi)"] * comparisons + ["nop"] * nops)
    assert float(cycles(text, "znver5")) == pytest.approx(measured, abs=0.1)


@pytest.mark.parametrize(
    ("register", "offsets", "measured"),
    [("ymm0", (0, 32), 1), ("ymm0", (0, 128), 1), ("ymm0", (48, 112), 2), ("zmm0", (0, 64), 2), ("zmm0", (32, 96), 2)],
)
def test_zen_5_stores_to_two_lines_a_cycle(register: str, offsets: tuple[int, ...], measured: float) -> None:
    assert cycles("; ".join(f"vmovups %{register}, {offset}(%rdi)" for offset in offsets), "znver5") == measured


@pytest.mark.parametrize(
    ("order", "measured"),
    [
        # l, s: a load and a store of a vector; L: a load of a general-purpose register.
        ("ll", 1),
        ("llll", 2),
        ("llss", 1.5),
        ("lsls", 1.08),
        ("llllssss", 2.8),
        ("lslslsls", 2.08),
        ("llls", 1.5),
        ("llllss", 2.45),
        ("llsl", 1.5),
        ("llslls", 2),
        ("llsss", 1.5),
        ("lllsss", 2),
        ("lllllss", 2.95),
        ("llLL", 1.5),
        ("LLss", 1),
        ("LLLL", 1),
    ],
)
def test_accesses_go_to_the_address_generators_of_zen_5_by_turns(order: str, measured: float) -> None:
    texts = {"l": "vmovaps {}(%rdi), %xmm0", "s": "vmovaps %xmm1, {}(%rdi)", "L": "mov {}(%rdi), %rcx"}
    body = "; ".join(texts[kind].format(64 * n) for n, kind in enumerate(order))
    assert float(cycles(body, "znver5")) == pytest.approx(measured, rel=0.08)


def test_integer_units_of_zen_5_take_the_oldest_instructions() -> None:
    kernel = bound("movzbl (%rdi,%rcx), %edx; add %rdx, %rax; inc %rcx; cmp %rcx, %rsi", "znver5")
    assert simulate(kernel).cycles_per_iteration == 1
    early = whatif.copy(kernel)
    assert early.pipeline is not None
    early.pipeline.ports_at_start = 0
    assert simulate(early).cycles_per_iteration > 1


@pytest.mark.parametrize(
    ("pairs", "waking", "measured"),
    [
        # Comparisons that are woken with their lea take a unit in vain, as long as others keep these from starting.
        ("lea 8(%rdi), %{0}; cmp %rdx, %{0}", True, 6),
        ("lea 8(%rdi), %{0}; cmp %rdx, %{0}", False, Fraction(25, 6)),
        # Loads do not wait for these units.
        ("mov 8(%rdi), %{0}; cmp %rdx, %{0}", True, Fraction(25, 8)),
    ],
)
def test_dependents_of_zen_5_take_units_in_vain(pairs: str, waking: bool, measured: Fraction) -> None:
    registers = ["rax", "rbx", "rcx", "r8", "r9", "r10"]
    kernel = whatif.copy(bound("; ".join(pairs.format(registers[n % 6]) for n in range(12)), "znver5"))
    assert kernel.pipeline is not None
    kernel.pipeline.wakes_early = int(waking)
    kernel.pipeline.dsb_block_again = 0  # without the limits of the front end
    assert float(simulate(kernel).cycles_per_iteration) == pytest.approx(float(measured), abs=0.1)


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("addb $1, (%rsi)", 1),
        ("incw (%rsi)", 1),
        ("movb %al, (%rsi); movzbl (%rsi), %eax", 7),
        ("mov %rax, (%rsi); add (%rsi), %rax", 1),
    ],
)
def test_renamer_of_zen_5_hands_on_what_was_stored(body: str, measured: int) -> None:
    assert cycles(body, "znver5") == measured


def test_zen_1_splits_256_bits() -> None:
    body = "vaddps (%rsi), %ymm0, %ymm1; vaddps 32(%rsi), %ymm0, %ymm2"
    assert cycles(body, "znver1") == 2
    assert cycles(body, "znver2") == 1


def test_zen_3_commits_stores_in_blocks_of_32_bytes() -> None:
    assert cycles("mov %rax, (%rsi); mov %rax, 8(%rsi)", "znver3") == 1
    assert cycles("mov %rax, (%rsi); mov %rax, 32(%rsi)", "znver3") == 2


@pytest.mark.parametrize(("cpu", "handed_on"), [("znver1", False), ("znver2", True), ("znver3", True)])
def test_stored_values_handed_on_by_the_renamer(cpu: str, handed_on: bool) -> None:
    assert (cycles("mov %rax, (%rsi); mov (%rsi), %rax; add $1, %rax", cpu) < 3) == handed_on


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("mov %rax, (%rsi,%rcx,8); mov (%rsi,%rcx,8), %rax", 1),
        ("addq $1, (%rsi)", 1),
        ("addl %eax, (%rsi)", 1),
        ("shlq $1, (%rsi)", 1),
        ("addb $1, (%rsi)", 6.75),
        ("mov %rax, (%rsi); add (%rsi), %rax", 8.09),
    ],
)
def test_what_the_renamer_of_zen_3_hands_on(body: str, measured: float) -> None:
    assert float(cycles(body, "znver3")) == pytest.approx(measured, rel=0.15)


def stored(accesses: str) -> str:
    """Stores of so many bytes at places, "1@0 4@64", one behind the other."""
    moves = {"1": "movb %al", "2": "movw %ax", "4": "movl %eax", "8": "movq %rax", "16": "movups %xmm0"}
    return "; ".join(f"{moves[size]}, {place}(%rsp)" for size, _, place in (a.partition("@") for a in accesses.split()))


@pytest.mark.parametrize(
    ("accesses", "measured"),
    [
        ("1@0 4@64", 5),
        ("1@0 4@64 4@128", 6),
        ("1@0 1@64 1@128 1@192", 7),
        ("1@0 4@64 4@128 4@192 4@256", 5),
        ("4@0 4@64 4@4 4@128 4@192 4@256", 6),
        ("1@0 1@8", 1),
        ("4@2 4@64", 5),
        ("8@4 4@64", 2),
        ("16@1 4@64", 5),
        # The rest of the trip is long enough for all but the second store to the first block.
        ("4@0 4@64 1@0 4@256 4@320 4@384 4@448 4@512 4@576 4@640", 13),
        ("1@0 4@64 4@0 4@256 4@320 4@384 4@448 4@512 4@576 4@640", 10),
        ("1@0 4@64 1@4 4@256 4@320 4@384 4@448 4@512 4@576 4@640", 10),
        ("1@1 4@64 1@0 4@256 4@320 4@384 4@448 4@512 4@576 4@640", 13),
        ("4@0 4@64 2@0 2@2 4@256 4@320 4@384 4@448 4@512 4@576 4@640", 10),
        ("1@0 4@64 1@0 4@64 1@0 4@256 4@320 4@384 4@448 4@512 4@576 4@640", 18),
        ("4@28 4@64 2@31 4@256 4@320 4@384 4@448 4@512 4@576 4@640", 14),
    ],
)
def test_words_that_zen_3_stores_in_parts(accesses: str, measured: float) -> None:
    assert float(cycles(stored(accesses), "znver3")) == pytest.approx(measured, abs=0.1)


def test_what_changes_flags_and_memory_does_not_wait_for_words() -> None:
    # Two stores of whole words a trip: nothing waits, whatever registers their instructions write.
    body = "addl %eax, (%rsi); addl %ebx, 64(%rsi)"
    model = load("znver3").with_parameters({"store_word_bytes": 0})
    without = bind(replace(decoded(f"1: {body}; dec %r15; jne 1b"), alignment=0), model)[0]
    assert cycles(body, "znver3") == simulate(without).cycles_per_iteration == 2


def test_parts_of_words_stored_slowly_cost_nothing() -> None:
    assert cycles("imul %rbx, %rbx; imul %rbx, %rbx; " + stored("1@0 4@64"), "znver3") == 6
    alone = bind(
        replace(decoded(f"1: {stored('1@0 4@64')}; dec %r15; jne 1b"), alignment=0),
        load("znver3").with_parameters({"store_word_bytes": 0}),
    )[0]
    assert simulate(alone).cycles_per_iteration == 2


LOAD, CONSTANT, MOVE, COMPARE, LONG = (
    "mov 8(%rsi), %r8d",
    "mov $5, %ebx",
    "mov %ebp, %r9d",
    "cmpl $5, 8(%rsi)",
    "movabs $0x123456789abcdef, %rcx",
)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        # A fused dec and jne, with one constant, is in all of them.
        ([LOAD] * 3 + [MOVE] * 4, 1),
        ([LOAD] * 3 + [CONSTANT] + [MOVE] * 3, 2),
        ([LOAD] * 3 + [CONSTANT] * 2 + [MOVE], 1),
        ([LOAD, CONSTANT] * 3, 2),
        ([COMPARE] * 2 + [LOAD, CONSTANT, CONSTANT], 1),
        ([COMPARE] * 3 + [CONSTANT] * 2, 2),
        ([COMPARE] * 3 + [CONSTANT], 1),
        ([COMPARE] * 4, 2),
        ([LONG] * 2 + [LOAD] * 3, 1),
        ([LONG] * 3 + [LOAD] * 2, 2),
        ([LOAD, CONSTANT] * 6, 3),
        ([LOAD, CONSTANT] * 8, 3),
        ([LOAD, CONSTANT] * 9, 4),
        (["mov (%rbp), %r8d", CONSTANT] * 3, 2),
        (["mov (%rsi), %r8d", CONSTANT] * 3, 1),
        (["nopl 8(%rax)"] * 6, 1),
        (["nopl 0x12345678(%rax,%rax)"] * 7, 1),
        (["nopw 0x12345678(%rax,%rax)"] * 7, 2),
        (["nopw %cs:0x12345678(%rax,%rax)"] * 5, 1),
        (["nopw %cs:0x12345678(%rax,%rax)"] * 6, 2),
        # As many cycles as blocks of code of 64 bytes, but lines may lie in two.
        (["nopw %cs:0x12345678(%rax,%rax)"] * 5 + ["nopw 0x12345678(%rax,%rax)"], 1),
        (["nopl (%rax)"] * 8 + ["nopw %cs:0x12345678(%rax,%rax)"] * 3, 2),
    ],
)
def test_constants_in_the_op_cache_of_zen_3(body: list[str], lines: int) -> None:
    """Measured: a cycle for each line, or for what is dispatched and executed of one line."""
    found = float(cycles("; ".join(body), "znver3"))
    if lines == 1:
        assert 1 <= found < 1.6
    else:
        assert found == pytest.approx(lines, abs=0.02)


# --- Golden Cove and Redwood Cove -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cpu", "nops", "measured"),
    [
        *[("meteorlake", n, c) for n, c in ((5, 1.0), (7, 1.33), (8, 1.5), (10, 1.83), (14, 2.49), (16, 3.0))],
        *[("meteorlake", n, c) for n, c in ((18, 3.25), (20, 3.5), (24, 4.33), (42, 7.31), (120, 20.3))],
        *[("alderlake", n, c) for n, c in ((6, 1.16), (8, 2.0), (10, 2.0), (13, 2.33), (16, 3.0), (30, 5.18))],
    ],
)
def test_loops_of_nops_as_measured(cpu: str, nops: int, measured: float) -> None:
    """Measured on Granite Rapids and Emerald Rapids. `cycles` adds one µop, as the measured loops had it."""
    assert float(cycles("; ".join(["nop"] * nops), cpu)) == pytest.approx(measured, rel=0.015)


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("imul %rbx, %rax; mov %rax, (%rsi); mov (%rsi), %rax", 3),
        ("imul %rbx, %rax; mov %al, (%rsi); movzbl (%rsi), %eax", 3),
        ("imul %rbx, %rax; mov %rax, (%rsi); mov (%rsi), %eax", 3),
        ("imul %rbx, %rax; mov %rax, (%rsi); add (%rsi), %rax", 4),
        ("addq $1, (%rsi)", 1),
        ("negl (%rsi)", 1),
        ("imul %rbx, %rax; mov %rax, (%rsi, %rdi); mov (%rsi, %rdi), %rax", 8),
        ("imul %rbx, %rax; mov %rax, (%rsi, %rdi); mov (%rsi, %rdi), %eax", 8),
    ],
)
def test_memory_renaming_of_golden_cove(body: str, measured: float) -> None:
    assert float(cycles(body, "meteorlake")) == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize(
    "body",
    [
        "addq %rbx, (%rsi)",
        "addq $1, (%rsi, %rdi)",
        "addw $1, (%rsi)",
        "imul %rbx, %rax; mov %ax, (%rsi); movzwl (%rsi), %eax",
        "imul %rbx, %rax; mov %eax, (%rsi); movslq (%rsi), %rax",
    ],
)
def test_stored_values_that_golden_cove_does_not_hand_on(body: str) -> None:
    assert cycles(body, "meteorlake") >= 6


FOLDED = [
    # What follows `imul %rsi, %rax; add $5, %rax` in a chain, and the cycles of all three measured on Emerald Rapids.
    *[("and %rsi, %rax", 4), ("neg %rax", 4), ("movslq %eax, %rax", 4), ("lea (%rax, %rsi), %rax", 4)],
    *[("lea (%rax, %rsi, 4), %rax", 5), ("andn %rsi, %rax, %rax", 4), ("imul $3, %rax, %rax", 6)],
    *[("popcnt %rax, %rax", 6), ("crc32 %rax, %rax", 6), ("mov (%r10, %rax), %rax", 8), ("add $5, %eax", 4)],
    *[("mov %rax, %rbx; add $8, %rbx; mov %rbx, %rax", 3), ("lea -1024(%rax), %rax", 3), ("sub $1023, %rax", 3)],
    *[("mov %rax, (%r10); mov (%r10), %rax", 3)],
    # One cycle for the sum,
    *[("adc %rsi, %rax", 5), ("sbb %rsi, %rax", 5), ("cmovz %rax, %rax", 5), ("mov %eax, %ebx; mov %rbx, %rax", 4)],
    *[("mov %rax, (%r10, %rbx); mov (%r10, %rbx), %rax", 9)],
    # or two.
    *[("shl $1, %rax", 6), ("sarx %rsi, %rax, %rax", 6), ("ror $3, %rax", 6), ("bswap %rax", 7)],
    *[("bextr %rsi, %rax, %rax", 7)],
    # Too large constants, and moves to itself.
    *[("add $1024, %rax", 4), ("sub $-1025, %rax", 4), ("lea 1024(%rax), %rax", 4), ("lea -1025(%rax), %rax", 4)],
    *[("mov %rax, %rax", 4), ("dec %rax; jnz 2f; 2:", 4)],
]


@pytest.mark.parametrize(("body", "measured"), FOLDED)
def test_folded_constants(body: str, measured: int) -> None:
    k = bound("imul %rsi, %rax; add $5, %rax; " + body, "meteorlake")
    assert float(simulate(k).cycles_per_iteration) == pytest.approx(measured, rel=0.01)
    assert analyze(k).latency_bound == measured


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        ("add $5, %rax", 1),
        ("sub $5, %rax", 1),
        ("inc %rax", 1),
        ("dec %rax", 1),
        ("lea 5(%rax), %rax", 1),
        ("incl %eax", 4),
        ("addl $5, %eax", 4),
        ("add $0x12345, %rax", 4),
        ("lea 0x12345(%rax), %rax", 4),
        ("mov %rax, %rax", 4),
        ("movzbl %al, %eax", 4),
    ],
)
def test_chains_of_additions_and_moves_as_measured(body: str, measured: int) -> None:
    assert cycles("; ".join([body] * 4), "meteorlake") == measured


def test_folded_constants_take_no_port_unless_made_up() -> None:
    ands = "; ".join(f"and %rsi, %{r}" for r in ("rax", "rbx", "rcx", "rdx", "r8", "r9", "r11", "r12", "r13", "rbp"))
    adds = "; ".join(f"add $5, %{r}" for r in ("r10", "r14", "rdi", "rdi"))
    # Fifteen slots, six a cycle, but eleven µops on five ports.
    assert float(cycles(f"{ands}; {adds}", "meteorlake")) == pytest.approx(2.5, rel=0.02)
    made_up = "; ".join(f"add $5, %{r}; shl $1, %{r}" for r in ("r10", "r14"))
    assert float(cycles(f"{ands}; {made_up}", "meteorlake")) >= 3


# --- Atom ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cpu", ["bonnell", "silvermont", "tremont", "skymont"])
def test_atoms_have_no_uop_cache(cpu: str) -> None:
    s = simulate(bound(mixed(9), cpu))
    assert s.uops_by_source.decoders >= 11 * s.iterations
    assert sum(astuple(s.uops_by_source)[1:]) == 0


def test_decoders_of_the_atom_line() -> None:
    # Twelve with dec and jne. Three instructions are decoded a cycle, of which four could be issued.
    assert cycles(mixed(10), "goldmont-plus") == 4
    # Nothing is decoded behind a jump in the same cycle.
    assert cycles(mixed(11), "goldmont-plus") == 5


def test_clusters_of_decoders() -> None:
    # Code without jumps keeps one of Tremont's clusters busy, a loop both; four are issued.
    assert cycles(mixed(12), "tremont", loop=False) == 4
    assert cycles(mixed(10), "tremont") == pytest.approx(3, rel=0.03)
    # Gracemont's share long runs of code; five are issued.
    assert cycles(mixed(10), "gracemont", loop=False) == pytest.approx(2, rel=0.03)


def test_in_order_a_stalled_instruction_holds_up_all() -> None:
    # Out of order the second chain of 13 cycles overlaps with the first one.
    both = "imul %rax, %rax; add %rax, %rbx; imul %rcx, %rcx; add %rcx, %rdx"
    assert cycles(both, "bonnell") >= 26
    assert cycles(both, "silvermont") <= 12


def test_in_order_loads_are_in_front_of_arithmetic() -> None:
    # Pointers are chased in four cycles; a sum is not held up by its load.
    assert cycles("mov (%rax), %rax", "bonnell") == 4
    assert cycles("add (%rsi), %rax; add (%rdi), %rbx", "bonnell") == cycles(
        "add (%rsi), %rax; add %rdi, %rbx", "bonnell"
    )
    separate = cycles("mov (%rsi), %rcx; add %rcx, %rax; mov (%rdi), %rdx; add %rdx, %rbx", "bonnell")
    assert separate == 3


def test_in_order_addresses_just_computed_are_late() -> None:
    near = "add $8, %rsi; mov (%rsi), %rax"
    apart = "mov (%rsi), %rax; add $8, %rsi"
    # Three cycles more between the addition and the load; the next iteration's load waits for it as well.
    assert cycles(near, "bonnell") >= 4
    assert cycles(apart + "; " + nops(8), "bonnell") < cycles(near + "; " + nops(8), "bonnell") + 3
    assert cycles(near + "; " + nops(8), "bonnell") == cycles(nops(10), "bonnell") + 3


def test_in_order_two_instructions_start_in_a_cycle() -> None:
    k = bound(mixed(8).replace("(%rbp)", "%rdx"), "bonnell")
    s = simulate(k, iterations=20, record=True)
    by_cycle: dict[int, int] = {}
    for e in s.events:
        by_cycle[e.started] = by_cycle.get(e.started, 0) + bool(e.ports)
    assert max(by_cycle.values()) <= 2
    starts = [e.started for e in s.events if e.ports]
    assert starts == sorted(starts)


def test_taken_jumps_of_bonnell_take_two_cycles() -> None:
    assert cycles("nop", "bonnell") == 2
    assert analyze(bound("nop", "bonnell")).port_bound == 2


# --- Arm -------------------------------------------------------------------------------------------------------------


IN_ORDER = [cpu for cpu in AARCH64 if load(cpu).parameters["in_order"]]
ARM_BODIES = pytest.mark.parametrize("body", [aarch64_kernels.TRIAD, aarch64_kernels.SUM], ids=["triad", "sum"])


@ARM_BODIES
@pytest.mark.parametrize("cpu", IN_ORDER)
def test_small_arm_cores_start_instructions_in_order(cpu: str, body: object) -> None:
    k, forms = bind(body, load(cpu))  # type: ignore[arg-type]
    assert all(forms)
    s = simulate(k, iterations=20, record=True)
    assert s.cycles_per_iteration >= most(k)
    starts = [e.started for e in s.events if e.ports]
    assert starts == sorted(starts)


@ARM_BODIES
@pytest.mark.parametrize("cpu", [cpu for cpu in AARCH64 if cpu not in IN_ORDER])
def test_arm_cores_lack_only_a_decoder(cpu: str, body: object) -> None:
    k, forms = bind(body, load(cpu))  # type: ignore[arg-type]
    assert all(forms)
    assert most(k) * Fraction(97, 100) <= simulate(k).cycles_per_iteration <= most(k) + 1


def test_figures_of_the_neoverse_n1() -> None:
    def n1(k: object) -> Fraction:
        return simulate(bind(k, load("neoverse-n1"))[0]).cycles_per_iteration  # type: ignore[arg-type]

    # Seven instructions, one of them a store of two µops on ports of their own: four macro-operations a cycle.
    assert n1(aarch64_kernels.TRIAD) == 2
    # The additions' two cycles are the longest chain.
    assert n1(aarch64_kernels.SUM) == 2


def test_vectors_of_arm_are_loaded_later() -> None:
    k = bind(aarch64_kernels.SUM, load("neoverse-n1"))[0]
    assert max(k.load_latency) == 5
    assert k.memory_class == [128]

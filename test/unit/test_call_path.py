"""The paths of whole calls: hand-written loops in the shapes that compilers make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import pytest

from incc.frontends.asm.call_path import CallFollower, CallPath, NoCallPath, WantedTrips
from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.parse import INSTRUCTION, Assembly, parse
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, Region


class Function:
    """A function of an assembly text."""

    def __init__(self, body: str) -> None:
        text = f"f:\n{body.strip()}\n"
        self.assembly: Assembly = parse(text, "x86")
        self.graph: ControlFlow = control_flow(self.assembly)[0]
        self.statement = _decoder(text, self.assembly)

    def at(self, label: str) -> int:
        """Return the number of the instruction behind a label."""
        return self.assembly.labels[label] + 1

    def path(
        self,
        inner: int,
        outer: int = 1,
        elements: dict[str, int] | None = None,
        lines: dict[str, int] | None = None,
        **at: int,
    ) -> CallPath:
        path = self.result(inner, outer, elements, lines, **at)
        assert isinstance(path, CallPath), path
        return path

    def result(
        self,
        inner: int,
        outer: int = 1,
        elements: dict[str, int] | None = None,
        lines: dict[str, int] | None = None,
        **at: int,
    ) -> CallPath | NoCallPath:
        evaluator = isa("x86").evaluator()
        assert evaluator is not None
        follower = CallFollower(
            self.graph,
            self.statement,
            evaluator,
            {self.at(label): number for label, number in (elements or {}).items()},
            {self.at(label): line for label, line in (lines or {}).items()},
        )
        trips = WantedTrips(inner=inner, outer=outer, lines={int(line[1:]): trips for line, trips in at.items()})
        # What other calls needed to be measured changes nothing.
        follower.path(WantedTrips(inner=2 * inner + 1, outer=outer + 1))
        return follower.path(trips)

    def loops(self, path: CallPath) -> dict[str, tuple[int, ...]]:
        """Return the iterations of loops by label."""
        names = {self.at(label): label for label in self.assembly.labels if label != "f"}
        return {names[number]: iterations for number, iterations in path.loops.items()}


def _decoder(text: str, assembly: Assembly) -> Callable[[int], Sequence[Instruction]]:
    lines = tuple(s.line for s in assembly.statements if s.kind == INSTRUCTION)
    region = Region(kind="file", name="", first_line=1, last_line=lines[-1], lines=lines, body_lines=lines)
    (kernel,) = isa("x86").decode_regions(text, [region], "t.s")
    return cache(lambda n: [i for i in kernel.instructions if i.line == assembly.statements[n].line])


VECTOR = Function("""
	testq %rdx, %rdx
	jle .Ldone
	xorl %eax, %eax
	cmpq $7, %rdx
	jbe .Lrest
	movq %rdx, %rcx
	andq $-4, %rcx
.Lmain:
	vmovupd (%rsi,%rax,8), %ymm0
	vmovupd %ymm0, (%rdi,%rax,8)
	addq $4, %rax
	cmpq %rcx, %rax
	jne .Lmain
	cmpq %rcx, %rdx
	je .Ldone
.Lrest:
	vmovsd (%rsi,%rax,8), %xmm0
	vmovsd %xmm0, (%rdi,%rax,8)
	incq %rax
	cmpq %rax, %rdx
	jne .Lrest
.Ldone:
	ret
""")


@pytest.mark.parametrize(
    ("trips", "loops"),
    [
        (0, {}),
        (1, {".Lrest": (1,)}),
        (7, {".Lrest": (7,)}),
        (8, {".Lmain": (2,)}),
        (27, {".Lmain": (6,), ".Lrest": (3,)}),
    ],
)
def test_a_vector_loop_its_remainder_and_its_threshold(trips: int, loops: dict[str, tuple[int, ...]]) -> None:
    path = VECTOR.path(trips)
    assert VECTOR.loops(path) == loops
    assert path.inputs == {"rdx": trips}
    assert not path.guesses


def test_the_executed_instructions_are_in_order() -> None:
    path = VECTOR.path(9)
    texts = [VECTOR.statement(n)[0].mnemonic for n in path.numbers]
    assert texts[:7] == ["test", "jle", "xor", "cmp", "jbe", "mov", "and"]
    assert texts[7:12] == ["vmovupd", "vmovupd", "add", "cmp", "jne"]
    assert texts[-1] == "ret"
    assert Counter(texts)["vmovsd"] == 2
    (main, rest) = path.exits
    assert (main.header, main.iterations, rest.iterations) == (VECTOR.at(".Lmain"), 2, 1)
    assert texts[main.position] == texts[rest.position] == "jne"
    assert main.position == 7 + 2 * 5 - 1


def test_elements_of_the_caller_win() -> None:
    """Two elements of the source in each unit of the count."""
    assert VECTOR.path(32, elements={".Lmain": 8, ".Lrest": 2}).inputs == {"rdx": 16}


# clang: a main loop that does eight, then what `n & 7` leaves.
UNROLLED = Function("""
	testq %rsi, %rsi
	je .Ldone
	movl %esi, %ecx
	andl $7, %ecx
	xorl %eax, %eax
	cmpq $8, %rsi
	jb .Lbefore
	andq $-8, %rsi
.Lmain:
	addsd (%rdi,%rax,8), %xmm0
	addsd 8(%rdi,%rax,8), %xmm0
	addq $8, %rax
	cmpq %rax, %rsi
	jne .Lmain
.Lbefore:
	testq %rcx, %rcx
	je .Ldone
	leaq (%rdi,%rax,8), %rdx
	xorl %eax, %eax
.Lrest:
	addsd (%rdx,%rax,8), %xmm0
	incq %rax
	cmpq %rax, %rcx
	jne .Lrest
.Ldone:
	ret
""")


@pytest.mark.parametrize("trips", [1, 7, 8, 27, 64, 100, 1000])
def test_an_unrolled_loop_and_its_remainder(trips: int) -> None:
    path = UNROLLED.path(trips)
    counts = UNROLLED.loops(path)
    assert counts.get(".Lmain", (0,)) == (trips // 8,)
    assert counts.get(".Lrest", (0,)) == (trips % 8,)
    assert path.inputs == {"rsi": trips}


def test_a_peeled_iteration_is_one_of_the_source() -> None:
    """The last of n iterations is behind the loop."""
    function = Function("""
	testq %rsi, %rsi
	jle .Ldone
	leaq -1(%rsi), %rcx
	testq %rcx, %rcx
	je .Llast
.Lmain:
	addsd (%rdi,%rcx,8), %xmm0
	decq %rcx
	jne .Lmain
.Llast:
	addsd (%rdi), %xmm0
.Ldone:
	ret
""")
    path = function.path(27)
    assert path.inputs == {"rsi": 27}
    assert function.loops(path) == {".Lmain": (26,)}


@pytest.mark.parametrize("trips", [1, 5, 100])
def test_a_pointer_to_the_end_is_set_behind_the_begin(trips: int) -> None:
    function = Function("""
	cmpq %rsi, %rdi
	je .Ldone
.Lmain:
	addss (%rdi), %xmm0
	addq $12, %rdi
	cmpq %rsi, %rdi
	jne .Lmain
.Ldone:
	ret
""")
    path = function.path(trips)
    assert function.loops(path) == {".Lmain": (trips,)}
    assert path.inputs == {"rsi": 12 * trips}


def test_an_end_that_is_computed() -> None:
    function = Function("""
	leaq (%rdi,%rsi,4), %rax
	cmpq %rax, %rdi
	je .Ldone
.Lmain:
	addss (%rdi), %xmm0
	addq $4, %rdi
	cmpq %rax, %rdi
	jne .Lmain
.Ldone:
	ret
""")
    path = function.path(33)
    assert path.inputs == {"rsi": 33}
    assert function.loops(path) == {".Lmain": (33,)}


def test_a_trip_count_in_a_structure_behind_a_pointer() -> None:
    function = Function("""
	movl 16(%rdi), %ecx
	movq 8(%rdi), %rsi
	testl %ecx, %ecx
	jle .Ldone
	xorl %eax, %eax
.Lmain:
	addss (%rsi,%rax,4), %xmm0
	incq %rax
	cmpl %eax, 16(%rdi)
	jg .Lmain
.Ldone:
	ret
""")
    path = function.path(19)
    assert path.inputs == {"16(rdi)": 19}
    assert function.loops(path) == {".Lmain": (19,)}


SPARSE_ROWS = """
	movslq (%rdi), %rax
	testl %eax, %eax
	jle .Ldone
	movq 8(%rdi), %rbx
	leaq (,%rax,4), %rbp
	xorl %r11d, %r11d
.Lrows:
	movslq (%rbx,%r11), %rax
	movl 4(%rbx,%r11), %r8d
	cmpl %r8d, %eax
	jge .Lnext
.Lmain:
	addsd (%rsi,%rax,8), %xmm0
	incq %rax
	cmpl %eax, %r8d
	jg .Lmain
.Lnext:
	addq $4, %r11
	cmpq %rbp, %r11
	jne .Lrows
.Ldone:
	ret
"""


@pytest.mark.parametrize(("inner", "outer"), [(5, 100), (27, 3), (1, 2)])
def test_rows_that_begin_where_an_array_says(inner: int, outer: int) -> None:
    function = Function(SPARSE_ROWS)
    path = function.path(inner, outer)
    assert function.loops(path) == {".Lmain": (inner,) * outer, ".Lrows": (outer,)}
    assert not path.guesses
    assert path.inputs["0(rdi)"] == outer


def test_rows_of_lengths_in_an_array() -> None:
    function = Function("""
	xorl %r8d, %r8d
.Lrows:
	movl (%rsi,%r8,4), %ecx
	testl %ecx, %ecx
	jle .Lnext
.Lmain:
	addsd (%rdx), %xmm0
	addq $8, %rdx
	decl %ecx
	jne .Lmain
.Lnext:
	incq %r8
	cmpq %rdi, %r8
	jne .Lrows
	ret
""")
    path = function.path(6, 9)
    assert function.loops(path) == {".Lmain": (6,) * 9, ".Lrows": (9,)}
    assert path.inputs == {"0(rsi)": 6, "rdi": 9}


def test_rows_whose_number_follows_from_the_end_of_an_array() -> None:
    """A C++ vector of the places where n rows begin has n + 1 elements."""
    function = Function(
        SPARSE_ROWS.replace("movslq (%rdi), %rax", "movq 8(%rdi), %rax\n\tsubq (%rdi), %rax\n\tsarq $2, %rax")
        .replace("testl %eax, %eax\n\tjle", "decq %rax\n\tje")
        .replace("movq 8(%rdi), %rbx", "movq (%rdi), %rbx")
    )
    path = function.path(8, 6)
    assert function.loops(path) == {".Lmain": (8,) * 6, ".Lrows": (6,)}


def test_a_loop_that_ends_by_data_after_its_first_entry_is_left() -> None:
    """The first of the counts is an argument, the next ones are computed from unknown data."""
    function = Function("""
	xorl %r8d, %r8d
.Lrows:
	movl %esi, %ecx
.Lmain:
	addsd (%rdx), %xmm0
	decl %ecx
	jne .Lmain
	cvttsd2si %xmm0, %esi
	incq %r8
	cmpq %rdi, %r8
	jne .Lrows
	ret
""")
    path = function.path(6, 9)
    assert function.loops(path) == {".Lmain": (6,) * 9, ".Lrows": (9,)}


def test_a_trip_count_on_the_stack() -> None:
    function = Function("""
	pushq %rbx
	movq 16(%rsp), %rbx
	xorl %eax, %eax
	testq %rbx, %rbx
	jle .Ldone
.Lmain:
	addss (%rdi,%rax,4), %xmm0
	incq %rax
	cmpq %rbx, %rax
	jl .Lmain
.Ldone:
	popq %rbx
	ret
""")
    path = function.path(6)
    assert path.inputs == {"8(rsp)": 6}
    assert function.loops(path) == {".Lmain": (6,)}


NEST = Function("""
	testq %rsi, %rsi
	jle .Ldone
	xorl %ecx, %ecx
.Louter:
	xorl %eax, %eax
	testq %rdx, %rdx
	jle .Lnext
.Linner:
	addss (%rdi,%rax,4), %xmm0
	incq %rax
	cmpq %rax, %rdx
	jne .Linner
.Lnext:
	leaq (%rdi,%rdx,4), %rdi
	incq %rcx
	cmpq %rcx, %rsi
	jne .Louter
.Ldone:
	ret
""")


def test_a_nest_has_trips_by_depth() -> None:
    path = NEST.path(5, 3)
    assert NEST.loops(path) == {".Louter": (3,), ".Linner": (5, 5, 5)}
    assert path.inputs == {"rdx": 5, "rsi": 3}


def test_trips_by_source_line_win() -> None:
    path = NEST.path(5, 3, lines={".Louter": 10, ".Linner": 12}, l10=2, l12=4)
    assert NEST.loops(path) == {".Louter": (2,), ".Linner": (4, 4)}


def test_a_constant_loop_inside_is_no_innermost_loop_of_the_source() -> None:
    function = Function("""
	xorl %ecx, %ecx
	testq %rsi, %rsi
	jle .Ldone
.Louter:
	movl $3, %eax
.Linner:
	addss (%rdi,%rax,4), %xmm0
	decl %eax
	jne .Linner
	incq %rcx
	cmpq %rcx, %rsi
	jne .Louter
.Ldone:
	ret
""")
    path = function.path(4)
    assert function.loops(path) == {".Louter": (4,), ".Linner": (3,) * 4}


def test_a_loop_that_ends_by_data_is_left_by_a_guess() -> None:
    function = Function("""
	cmpb $0, (%rdi)
	je .Ldone
.Lmain:
	incq %rdi
	cmpb $0, (%rdi)
	jne .Lmain
.Ldone:
	ret
""")
    path = function.path(9)
    assert function.loops(path) == {".Lmain": (9,)}
    assert len(path.guesses) == 1 + 9
    assert not path.inputs
    assert path.guesses[-1].position == path.exits[0].position


def test_a_search_that_the_count_ends() -> None:
    function = Function("""
	xorl %eax, %eax
	testq %rdx, %rdx
	jle .Ldone
.Lmain:
	cmpl %esi, (%rdi,%rax,4)
	je .Ldone
	incq %rax
	cmpq %rax, %rdx
	jne .Lmain
.Ldone:
	ret
""")
    path = function.path(11)
    assert path.inputs == {"rdx": 11}
    assert function.loops(path) == {".Lmain": (11,)}


def test_a_list_has_the_wanted_nodes() -> None:
    function = Function("""
	testq %rdi, %rdi
	je .Ldone
.Lmain:
	addq 8(%rdi), %rax
	movq (%rdi), %rdi
	testq %rdi, %rdi
	jne .Lmain
.Ldone:
	ret
""")
    assert function.loops(function.path(2)) == {".Lmain": (2,)}
    assert function.loops(function.path(20)) == {".Lmain": (20,)}


def test_cycles_with_several_entries_are_followed() -> None:
    function = Function("""
	testq %rdi, %rdi
	je .Lb
.La:
	incq %rax
.Lb:
	decq %rsi
	jne .La
	ret
""")
    path = function.path(5)
    assert path.inputs == {"rsi": 5}
    assert function.loops(path) == {".La": (5,)}


def test_a_cycle_with_several_entries_around_a_loop() -> None:
    """gcc jumps into the outer loop behind the load of what the inner one multiplies."""
    function = Function("""
	xorl %ecx, %ecx
	testq %rdx, %rdx
	jle .Ldone
	cmpq $15, %rdx
	ja .Lsecond
.Lfirst:
	movsd (%rsi,%rcx,8), %xmm1
.Lsecond:
	xorl %eax, %eax
.Linner:
	movsd (%rdi,%rax,8), %xmm0
	incq %rax
	cmpq %rax, %rdx
	jne .Linner
	incq %rcx
	cmpq %rcx, %r8
	jne .Lfirst
.Ldone:
	ret
""")
    path = function.path(7, 3)
    assert path.inputs == {"rdx": 7, "r8": 3}
    assert function.loops(path)[".Linner"] == (7, 7, 7)


def test_bounds_spilled_to_vector_registers_and_an_aligned_stack_are_followed() -> None:
    """gcc for AVX-512: rows of rdx bytes, without the first and the last one of rcx, and their edges."""
    function = Function("""
	pushq %rbp
	movq %rsp, %rbp
	andq $-64, %rsp
	cmpl $2, %ecx
	jle .Ldone
	cmpl $2, %edx
	jle .Ldone
	decl %ecx
	movslq %edx, %rbx
	leal -2(%rdx), %r11d
	movl %r11d, -4(%rsp)
	vmovd %ecx, %xmm3
	vmovq %rbx, %xmm0
	vmovdqa %xmm0, %xmm5
	addq %rdi, %rbx
	movl $1, %r8d
	vpxor %xmm0, %xmm0, %xmm0
.Lrow:
	movl -4(%rsp), %r9d
	xorl %eax, %eax
.Lcolumn:
	movzbl (%rbx,%rax), %ecx
	movb %cl, 1(%rsi,%rax)
	incq %rax
	cmpl %eax, %r9d
	jne .Lcolumn
	vmovq %xmm5, %rcx
	addq %rcx, %rbx
	addq %rcx, %rsi
	incl %r8d
	vmovd %xmm3, %ecx
	cmpl %r8d, %ecx
	jne .Lrow
.Ldone:
	leave
	ret
""")
    path = function.path(27, 4)
    assert path.inputs == {"rdx": 29, "rcx": 6}
    assert function.loops(path) == {".Lrow": (4,), ".Lcolumn": (27,) * 4}
    assert not path.guesses


def test_pointers_do_not_overlap() -> None:
    function = Function("""
	leaq 8(%rsi), %rax
	movq %rdi, %rcx
	subq %rax, %rcx
	cmpq $16, %rcx
	jbe .Lslow
	xorl %eax, %eax
.Lmain:
	movups (%rsi,%rax), %xmm0
	movups %xmm0, (%rdi,%rax)
	addq $16, %rax
	cmpq %rdx, %rax
	jb .Lmain
	ret
.Lslow:
	movb (%rsi), %cl
	movb %cl, (%rdi)
	incq %rsi
	incq %rdi
	decq %rdx
	jne .Lslow
	ret
""")
    path = function.path(4, elements={".Lmain": 1})
    assert function.loops(path) == {".Lmain": (4,)}


def test_calls_are_listed() -> None:
    function = Function("""
	pushq %rbx
	movl %edi, %ebx
.Lmain:
	call g
	decl %ebx
	jne .Lmain
	popq %rbx
	jmp h
""")
    path = function.path(3)
    assert [function.statement(path.numbers[at])[0].mnemonic for at in path.calls] == ["call"] * 3 + ["jmp"]
    assert path.inputs == {"rdi": 3}


def test_a_guess_avoids_calls() -> None:
    function = Function("""
	cmpl $3, (%rdi)
	je .Lrare
.Lback:
	ret
.Lrare:
	pushq %rax
	call g
	popq %rax
	jmp .Lback
""")
    path = function.path(1)
    assert not path.calls
    assert [guess.taken for guess in path.guesses] == [False]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("\tjmp *%rax", "the targets of an indirect jump are unknown"),
        ("\tud2", "the path through it ends in a trap or a call that does not return"),
        (".Lx:\n\tjmp .Lx", "a call executes more than 100,000 instructions"),
        ("\tnop", "control runs past its end"),
    ],
)
def test_there_is_a_reason_for_a_function_without_a_path(body: str, reason: str) -> None:
    assert Function(body).result(3) == NoCallPath(reason)


def test_more_instructions_than_are_wanted_are_refused() -> None:
    assert UNROLLED.result(1_000_000) == NoCallPath("a call executes more than 100,000 instructions")


def test_instructions_that_cannot_be_decoded_are_a_reason() -> None:
    evaluator = isa("x86").evaluator()
    assert evaluator is not None
    result = CallFollower(VECTOR.graph, lambda number: (), evaluator).path(WantedTrips(inner=1))
    assert result == NoCallPath("one of its instructions cannot be decoded")


def test_a_loop_whose_trip_count_is_not_found_is_left_by_a_guess() -> None:
    """It ends for multiples of three only."""
    function = Function("""
	xorl %eax, %eax
.Lmain:
	incq %rax
	leaq (%rax,%rax,2), %rcx
	cmpq %rdi, %rcx
	jne .Lmain
	ret
""")
    path = function.path(5)
    assert function.loops(path) == {".Lmain": (5,)}
    assert path.guesses
    assert not path.inputs


BLOCKS = Function("""
	testq %rsi, %rsi
	je .Ldone
.Lblock:
	movl $1024, %ecx
	cmpq %rcx, %rsi
	cmovbq %rsi, %rcx
	xorl %eax, %eax
.Lbyte:
	movzbl (%rdi,%rax), %edx
	addl %edx, %r8d
	incq %rax
	cmpq %rcx, %rax
	jne .Lbyte
	addq %rcx, %rdi
	subq %rcx, %rsi
	jne .Lblock
.Ldone:
	ret
""")


@pytest.mark.parametrize(
    ("trips", "count", "blocks"),
    [
        ((27, 1), 27, (27,)),
        ((27, 3), 2 * 1024 + 27, (1024, 1024, 27)),
        ((1024, 2), 2048, (1024, 1024)),
        ((3000, 2), 2048, (1024, 1024)),
        ((3000, 1), 3000, (1024, 1024, 952)),
    ],
)
def test_the_last_of_the_wanted_blocks_has_the_wanted_iterations(
    trips: tuple[int, int], count: int, blocks: tuple[int, ...]
) -> None:
    path = BLOCKS.path(*trips)
    assert path.inputs == {"rsi": count}
    assert BLOCKS.loops(path) == {".Lblock": (len(blocks),), ".Lbyte": blocks}


# The rows of an upper triangle.
TRIANGLE = Function("""
	testq %rsi, %rsi
	jle .Ldone
	xorl %ecx, %ecx
.Lrow:
	movq %rcx, %rax
.Lcolumn:
	addsd (%rdi,%rax,8), %xmm0
	incq %rax
	cmpq %rax, %rsi
	jne .Lcolumn
	incq %rcx
	cmpq %rcx, %rsi
	jne .Lrow
.Ldone:
	ret
""")


@pytest.mark.parametrize(("trips", "rows"), [((3, 1), 3), ((9, 4), 4), ((2, 5), 5)])
def test_the_rows_of_a_triangle_are_the_outer_iterations_if_these_are_wanted(trips: tuple[int, int], rows: int) -> None:
    path = TRIANGLE.path(*trips)
    assert path.inputs == {"rsi": rows}
    assert TRIANGLE.loops(path) == {".Lrow": (rows,), ".Lcolumn": tuple(range(rows, 0, -1))}


def test_a_square_has_the_iterations_of_inner_loops() -> None:
    function = Function("""
	xorl %ecx, %ecx
.Lrow:
	xorl %eax, %eax
.Lcolumn:
	addsd (%rdi,%rax,8), %xmm0
	incq %rax
	cmpq %rax, %rsi
	jne .Lcolumn
	incq %rcx
	cmpq %rcx, %rsi
	jne .Lrow
	ret
""")
    assert function.path(5, 3).inputs == {"rsi": 5}


def test_a_loop_of_a_few_iterations_for_all_counts_ends_by_itself() -> None:
    function = Function("""
	movl $4, %ecx
	cmpq %rcx, %rsi
	cmovbq %rsi, %rcx
	xorl %eax, %eax
.Lmain:
	addsd (%rdi,%rax,8), %xmm0
	incq %rax
	cmpq %rax, %rcx
	jne .Lmain
	ret
""")
    assert not function.path(9).guesses


def test_a_loop_that_leaves_by_data_has_the_wanted_iterations() -> None:
    """The way down in a heap of rsi elements: the places double."""
    function = Function("""
	movl $1, %ecx
.Lmain:
	movq (%rdi,%rcx,8), %rax
	cmpq 8(%rdi), %rax
	jae .Ldone
	leaq 1(%rcx,%rcx), %rcx
	cmpq %rsi, %rcx
	jb .Lmain
.Ldone:
	ret
""")
    assert function.loops(function.path(7)) == {".Lmain": (7,)}


def test_long_bodies_are_main_loops_as_well() -> None:
    """The remainder runs at most 15 times, so the 20 iterations of the other loop make it the main loop."""
    body = "\taddsd (%rdi,%rax,8), %xmm0\n" * 900
    function = Function(f"""
	xorl %eax, %eax
	movq %rsi, %rcx
	andq $-16, %rcx
	je .Lbefore
.Lmain:
{body}
	addq $16, %rax
	cmpq %rcx, %rax
	jne .Lmain
.Lbefore:
	cmpq %rsi, %rax
	je .Ldone
.Lrest:
	addsd (%rdi,%rax,8), %xmm0
	incq %rax
	cmpq %rsi, %rax
	jne .Lrest
.Ldone:
	ret
""")
    path = function.path(100)
    assert path.inputs == {"rsi": 100}
    assert function.loops(path) == {".Lmain": (6,), ".Lrest": (4,)}


def test_loops_that_overlap_are_followed() -> None:
    """Neither of the cycles `.Lfirst`, `.Lboth` and `.Lboth`, `.Lsecond` contains the other."""
    function = Function("""
	cmpl $0, (%rdi)
	jne .Lboth
.Lfirst:
	cmpl $0, 8(%rdi)
	jne .Lboth
.Lboth:
	cmpl $0, 16(%rdi)
	je .Lfirst
.Lsecond:
	cmpl $0, 24(%rdi)
	jne .Llast
	cmpl $0, 32(%rdi)
	jne .Lboth
.Llast:
	decq %r10
	je .Lboth
	ret
""")
    path = function.path(5)
    assert function.loops(path) == {".Lfirst": (1,), ".Lboth": (5,)}
    assert Counter(path.numbers)[function.at(".Lsecond")] == 5
    assert {exit_.header for exit_ in path.exits} == {function.at(".Lfirst"), function.at(".Lboth")}

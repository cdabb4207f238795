"""Kernels as machine code that runs for itself: exits, registers, memory, and what is refused."""

from __future__ import annotations

import random
import struct
from itertools import combinations

import pytest
from generated_kernels import REGISTERS
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.driver.pipeline import decode_unit, find_regions, read_assembly
from incc.driver.settings import Scope
from incc.frontends.isa import NotRunnable, Placement, Runnable
from incc.frontends.kernel import Affine, KernelCode
from incc.frontends.unit import Unit
from incc.frontends.x86.kernels import decode_bytes
from incc.frontends.x86.runnable import runnable
from properties import examples

NUMBERS = {root: n for n, root in enumerate(["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"])}
NUMBERS |= {f"r{n}": n for n in range(8, 16)}


def kernel(body: str, regions: str = "loops", before: str = "") -> KernelCode:
    """The innermost loop, or the code, of a function with that body."""
    unit = Unit(
        assembly=f".text\nf:\n{before}\n{body}\nret\n" if regions == "loops" else f"{body}\n", assembly_file="a.s"
    )
    parsed = read_assembly(unit, "x86")
    found, _ = find_regions(parsed, Scope(regions=regions))
    (decoded,) = decode_unit(unit, parsed, found[:1])
    return decoded


def loop(body: str, close: str, before: str = "") -> KernelCode:
    return kernel(f".L1:\n{body}\n{close}", before=before)


def block(body: str) -> KernelCode:
    return kernel(body, "marked")


def made(of: KernelCode) -> Runnable:
    found = runnable(of)
    assert isinstance(found, Runnable), found
    return found


def texts(found: Runnable, which: int = 0) -> list[str]:
    """The code's instructions without the no-operations before it."""
    code = decode_bytes(found.codes[which])
    shown = [" ".join(i.text.split()) for i in code.instructions]
    while shown[0] == "nop":
        del shown[0]
    return shown


def register(found: Runnable, name: str) -> int:
    return found.registers[NUMBERS[name]]


# --- exits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counting", "close", "counter", "step"),
    [
        ("dec %rcx", "jne .L1", "rcx", 1),
        ("sub $1, %r9", "jnz .L1", "r9", 1),
        ("add $-4, %rcx", "jne .L1", "rcx", 4),
        ("add $32, %rax", "jne .L1", "rax", -32),
        ("inc %eax", "jne .L1", "rax", -1),
        ("mulpd %xmm0, %xmm0", "loop .L1", "rcx", 1),
    ],
)
def test_a_loop_that_counts_to_zero_is_kept(counting: str, close: str, counter: str, step: int) -> None:
    found = made(loop(f"addpd (%rdi,%rax), %xmm1\n{counting}", close))
    assert (found.exit, found.counter, found.step) == ("own", NUMBERS[counter], step)
    assert found.weights == (1.0,)
    of = loop(f"addpd (%rdi,%rax), %xmm1\n{counting}", close)
    assert found.codes[0] == b"".join(i.encoding for i in of.instructions[:-1]) + found.codes[0][-2:]


@pytest.mark.parametrize(
    ("compare", "length"), [("cmp %r9, %rcx", 5), ("cmp %r9d, %ecx", 5), ("cmp $99, %rcx", 6), ("cmp $9999, %rcx", 9)]
)
def test_a_comparison_gives_way_to_a_counter_of_the_same_length(compare: str, length: int) -> None:
    """The counter is needed where the loop changes the limit, or where the index starts above a constant limit."""
    found = made(loop(f"addpd (%rdi,%rcx), %xmm1\nlea (%r9,%r9), %r9\nadd $16, %rcx\n{compare}", "jb .L1"))
    assert (found.exit, found.step, len(found.codes)) == ("replaced", 1, 1)
    *_, step, count, jump = texts(found)
    assert step == "add $0x10, %rcx"
    assert count.split()[-2] in ("dec", "decl", "decq") or "dec" in count
    assert jump == "jne 0"
    assert (
        len(found.codes[0]) == len(b"".join(i.encoding for i in decode_bytes(found.codes[0]).instructions[:3])) + length
    )


def test_a_counter_that_nothing_else_uses_gives_way() -> None:
    found = made(loop("addpd (%rdi), %xmm1\nadd $16, %rdi\nsub $2, %rcx", "jp .L1"))
    assert found.exit == "replaced"
    assert [text.split()[0] for text in texts(found)] == ["addpd", "add", "dec", "jne"]


@pytest.mark.parametrize("close", ["sub $1, %rcx\njp .L1", "and %rsi, %rcx\njne .L1", "cmp (%rsi), %rcx\njb .L1"])
def test_flags_that_are_made_by_what_is_needed_cost_a_counter_more(close: str) -> None:
    found = made(loop("add (%rdi,%rcx,8), %rax", close))
    assert (found.exit, found.weights) == ("added", (2.0, -1.0))
    one, two = texts(found), texts(found, 1)
    assert len(two) == len(one) + 1
    assert two[-3].startswith("test")
    assert [*two[:-3], *two[-2:]] == one


def test_a_comparison_that_is_not_fused_stays() -> None:
    found = made(loop("add (%rdi), %rax\nadd $8, %rdi\ncmpq $3, (%rsi)", "jb .L1"))
    assert found.exit == "replaced"
    assert [text.split()[0] for text in texts(found)] == ["add", "add", "cmpq", "dec", "jne"]


def test_flags_that_something_else_reads_stay() -> None:
    """The carry goes on into the next iteration."""
    found = made(loop("adc (%rdi,%rcx,8), %rax\nlea 1(%rcx), %rcx\nshr %rdx\ncmp %rcx, %rdx", "jne .L1"))
    assert "cmp %rcx, %rdx" in texts(found)
    assert found.exit == "added"


def test_branches_that_leave_the_loop_are_never_taken() -> None:
    of = loop("mov (%rdi), %eax\ncmp %eax, %esi\nje .L9\nadd $4, %rdi\ncmp %rdi, %rdx", "jne .L1\n.L9:")
    found = made(of)
    assert found.exit == "own"
    names = [text.split()[0] for text in texts(found)]
    assert names == ["mov", "test", "je", "add", "cmp", "jne"]
    code = decode_bytes(found.codes[0]).instructions
    leaves = code[2]
    assert int(leaves.target, 16) == leaves.offset + leaves.length
    # With memory: fused still, and what is not negative is never so.
    found = made(loop("cmp (%rdi), %esi\nje .L9\nadd $4, %rdi\ncmp %rdi, %rdx", "jne .L1\n.L9:"))
    assert [text.split()[0] for text in texts(found)] == ["test", "js", "add", "cmp", "jne"]
    assert not found.content & 0x8000_0000_8000_0000


def test_code_that_is_no_loop_is_repeated() -> None:
    found = made(block("add (%rdi), %rax\nimul %rcx, %rdx\nadd $8, %rdi"))
    assert found.exit == "repeated"
    short, long = (texts(found, n) for n in (0, 1))
    copies = (len(short) - 2) // 3
    assert len(long) - 2 == 2 * (len(short) - 2)
    assert found.weights == (-1 / copies, 1 / copies)


def test_a_jump_to_itself_ends() -> None:
    found = made(decode_bytes(bytes.fromhex("ebfe")))
    assert [text.split()[0] for text in texts(found)] == ["dec", "jne"]


def test_the_first_byte_lies_where_it_did() -> None:
    of = loop("add (%rdi), %rax\nadd $8, %rdi\ncmp %rdi, %rdx", "jne .L1")
    found = made(replace(of, alignment=21))
    assert found.codes[0][:21] == b"\x90" * 21
    last = decode_bytes(found.codes[0]).instructions[-1]
    assert int(last.target, 16) == 21


TURNED = """
jmp .L2
.L1:
movapd %xmm1, %xmm4
.L2:
addsd %xmm0, %xmm7
comisd %xmm1, %xmm7
ja .L1
"""


def test_a_turned_loop_is_entered_in_its_middle() -> None:
    """Its path begins where it is entered, and ends in front of that, with an instruction that is no branch."""
    of = kernel(TURNED)
    if [i.mnemonic for i in of.instructions] != ["addsd", "comisd", "ja", "movapd"]:
        pytest.fail(f"the path is another one: {[i.text for i in of.instructions]}")
    found = made(of)
    assert found.exit == "replaced"
    code = decode_bytes(found.codes[0]).instructions
    start = next(n for n, i in enumerate(code) if i.mnemonic == "jmp")
    entry, *body = code[start:]
    assert [i.mnemonic for i in body] == ["movapd", "addsd", "comisd", "dec", "jne"]
    assert int(entry.target, 16) == body[1].offset
    assert int(body[-1].target, 16) == body[0].offset
    assert body[0].offset % 64 == (of.alignment + of.instructions[3].offset - of.instructions[0].offset) % 64
    assert all(i.mnemonic == "nop" for i in code[:start])


def test_a_loop_that_ends_with_a_way_out_goes_back_where_it_does() -> None:
    """Its last branch leaves, and the first instruction follows on it: one jump is taken in a trip."""
    of = kernel("jmp .L2\n.L1:\nadd $1, %rax\ncmp %rax, %rdx\nje .L9\n.L2:\ncmp %esi, (%rdi,%rax,4)\njne .L1\n.L9:")
    found = made(of)
    code = decode_bytes(found.codes[0]).instructions
    jumps = [i for i in code if i.branch == "conditional"]
    assert [int(i.target, 16) > i.offset for i in jumps] == [True, False]
    assert found.jumps == 1


def test_a_long_loop_has_a_long_jump() -> None:
    found = made(loop("\n".join(["imul %rax, %rcx"] * 200) + "\ncmp %rax, %rdx", "jne .L1"))
    last = decode_bytes(found.codes[0]).instructions[-1]
    assert (last.length, last.target) == (6, "0x0")


# --- registers and memory ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stored", [0x10, 0x1B, 0xFF8])
@pytest.mark.parametrize(("load", "element"), [("vmovups", 8), ("vmovss", 4), ("vmovaps", 32)])
def test_arrays_begin_where_the_placement_has_them_as_far_as_their_elements_allow(
    stored: int, load: str, element: int
) -> None:
    register_name = "%xmm0" if load == "vmovss" else "%ymm0"
    body = f"{load} (%rsi,%rax), {register_name}\nvmovups %ymm0, (%rdi,%rax)\nvmovups %ymm0, (%rdx,%rax)"
    placement = Placement((stored,), (stored + 0x24, 0))
    found = runnable(loop(f"{body}\nadd $32, %rax", "dec %rcx\njne .L1"), placement)
    assert isinstance(found, Runnable)
    assert register(found, "rdi") % 4096 == register(found, "rdx") % 4096 == stored // 8 * 8
    assert register(found, "rsi") % 4096 == (stored + 0x24) % 4096 // element * element
    assert len({register(found, name) >> 20 for name in ("rdi", "rdx", "rsi")}) == 3


def test_pointers_are_apart_and_indices_begin_at_zero() -> None:
    body = (
        "movsd (%rsi,%rax,8), %xmm0\naddsd (%rdi,%rax,8), %xmm0\nmovsd %xmm0, (%rdx,%rax,8)\ninc %rax\ncmp %rax, %rcx"
    )
    found = made(loop(body, "jne .L1"))
    assert register(found, "rax") == 0
    places = [register(found, name) for name in ("rsi", "rdi", "rdx")]
    for n, one in enumerate(places):
        for other in places[n + 1 :]:
            assert abs(one - other) > 1 << 23
            assert abs(one % 4096 - other % 4096) >= 128
    # What is stored to lies before what is loaded, so that no load comes to where a store was 4 KiB away.
    assert places[2] % 4096 < min(place % 4096 for place in places[:2])
    assert found.content == 0x3FF8_0000_0000_0000


VARIABLES = """
movq -24(%rbp), %rax
movslq -28(%rbp), %rcx
movsd (%rax,%rcx,8), %xmm0
movq -16(%rbp), %rdx
movq %rdx, -40(%rbp)
movq -40(%rbp), %rdx
movsd %xmm0, (%rdx,%rcx,8)
addl $1, -28(%rbp)
"""


def test_variables_on_the_stack_are_followed() -> None:
    """As code has them that is not optimised: what they hold at first is put there before the loop, at no other place
    within 64 bytes."""
    of = loop(VARIABLES, "cmpq %r8, %r9\njne .L1")
    found = made(of)
    frame = register(found, "rbp")
    first = found.codes[0].index(of.instructions[0].encoding)
    assert first % 64 == of.alignment % 64
    values = {}
    for i in decode_bytes(found.codes[0][:first]).instructions:
        if i.mnemonic == "mov":
            assert i.immediate is not None
            (access,) = i.memory
            values[access.displacement - frame] = access.size, i.immediate
    assert sorted(values) == [-28, -24, -16]
    assert values[-28] == (4, 0)
    (size, loaded), (also, stored) = values[-24], values[-16]
    assert size == also == 8
    assert abs(loaded - stored) >= 1 << 20
    assert min(abs(loaded - frame), abs(stored - frame)) >= 1 << 20
    assert not found.notes


@pytest.mark.parametrize("last", ["addq $8, %rdi", "movq %rbx, %rdi"])
def test_what_a_pointer_goes_through_holds_no_variables(last: str) -> None:
    found = made(loop(f"movq (%rdi), %rax\naddq (%rax), %rbx\n{last}", "cmpq %r8, %r9\njne .L1"))
    assert texts(found)[0] == "mov (%rdi), %rax"
    assert "all loaded pointers lead around a ring of places in the first-level cache" in found.notes


def test_which_of_two_registers_is_the_pointer_follows_from_the_others() -> None:
    """`(%rax,%rdi)` may have its pointer in the index."""
    found = made(loop("mov (%rax,%rdi), %rcx\nadd (%rdi), %rcx\nadd $8, %rax\ncmp %rax, %rdx", "jne .L1"))
    assert register(found, "rax") == 0
    assert register(found, "rdi") > 1 << 28


def test_pointers_keep_the_distance_that_the_code_before_says() -> None:
    of = loop(
        "movsd (%rsi), %xmm1\naddsd %xmm0, %xmm1\nmovsd %xmm1, (%rdi)\nadd $8, %rsi\nadd $8, %rdi\ncmp %rsi, %rdx",
        "jne .L1",
        before="lea 8(%rsi), %rdi",
    )
    assert any(value.target == "rdi" for value in of.entry)
    found = made(of)
    assert register(found, "rdi") - register(found, "rsi") == 8


def test_rows_of_a_matrix_are_apart() -> None:
    of = loop("movsd (%rsi), %xmm1\naddsd (%rdi), %xmm1\nadd $8, %rsi\nadd $8, %rdi\ncmp %rsi, %rdx", "jne .L1")
    of = replace(of, entry=(Affine("rsi", (("p", 1),), 0), Affine("rdi", (("p", 1), ("n", 8)), 0)))
    found = made(of)
    assert register(found, "rdi") - register(found, "rsi") > 4096


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ("mov (%rdi), %rdi\nadd 8(%rdi), %eax\ncmp %rdi, %rdx", 0x2E01_0040),
        ("mov (%rdi), %rcx\nmov %rcx, %rdi\nadd (%rsi), %rax\ncmp %rdi, %rdx", 0x2E01_0040),
        ("mov (%rdi), %rcx\nadd (%rsi,%rcx,8), %rax\nadd $8, %rdi\ncmp %rdi, %rdx", 3),
        ("movslq (%rdi), %rcx\nadd (%rsi,%rcx,8), %rax\nadd $4, %rdi\ncmp %rdi, %rdx", 3 | 67 << 32),
        ("movzbl (%rdi), %ecx\nincl (%rsi,%rcx,4)\ninc %rdi\ncmp %rdi, %rdx", 0x0E0C_0A08_0604_0200),
        ("vpcmpeqd %ymm2,%ymm2,%ymm2\nvgatherdpd %ymm2,(%rdi,%xmm1,8),%ymm0\ncmp %rax, %rdx", 3 | 67 << 32),
        ("vmovaps (%rdi), %ymm0\nvaddps %ymm0, %ymm1, %ymm1\nadd $32, %rdi\ncmp %rdi, %rdx", 0x3FC0_0000_3FC0_0000),
        ("add (%rdi), %eax\nadd $4, %rdi\ncmp %rdi, %rdx", 3 | 3 << 32),
    ],
)
def test_memory_is_full_of_what_is_loaded(body: str, content: int) -> None:
    assert made(loop(body, "jne .L1")).content == content


def test_masks_in_vectors_load_all_elements() -> None:
    found = made(loop("vmaskmovps (%rdi), %ymm0, %ymm1\nadd $32, %rdi\ncmp %rdi, %rdx", "jne .L1"))
    assert found.content & 0x8000_0000_8000_0000 == 0x8000_0000_8000_0000


@pytest.mark.parametrize(
    ("statement", "same_length"),
    [
        ("movsd x(%rip), %xmm0", True),
        ("addl $1, x+4(%rip)", True),
        ("lea x(%rip), %rax", True),
        ("movsd x(,%rax,8), %xmm0", True),
        ("movsd x(%rax), %xmm0", True),
        ("mov %fs:0x28, %rax", True),
        ("mov %gs:(%rdi,%rax), %rcx", True),
        ("movabs 0x1122334455667788, %al", True),
        ("vaddps x(%rip){1to16}, %zmm1, %zmm2", True),
        ("mov $x, %edi", True),
        ("xor %eax,%ebx; xor %ecx,%edx; xor %esi,%edi; movsd x(%rip), %xmm9; xor %ebp, %ebp", False),
    ],
)
def test_addresses_that_instructions_name_lead_to_memory(statement: str, same_length: bool) -> None:
    of = block(statement)
    found = made(of)
    code = decode_bytes(found.codes[0])
    bodies = code.instructions[: len(of.instructions)]
    assert [i.form for i in bodies] == [i.form for i in of.instructions]
    assert (sum(i.length for i in bodies) == sum(i.length for i in of.instructions)) == same_length
    for i in bodies:
        for access in i.memory:
            assert not access.segment
            address = access.displacement
            for each, scale in ((access.base, 1), (access.index, access.scale)):
                address += scale * register(found, each.root) if each is not None else 0
            assert 0x2000_0000 <= address < 0x8000_0000


def test_places_of_one_code_stay_as_far_apart_as_they_are() -> None:
    """Of machine code without symbols: a store, and a load a byte behind it."""
    of = decode_bytes(bytes.fromhex("48890d00010000488b15fa000000"))
    store, load = decode_bytes(made(of).codes[0]).instructions[:2]
    assert load.memory[0].displacement - store.memory[0].displacement == 1
    assert of.instructions[1].memory[0].displacement - of.instructions[0].memory[0].displacement == 1


def test_a_division_has_a_divisor() -> None:
    assert register(made(block("xor %edx, %edx\nmov %rsi, %rax\ndiv %rcx")), "rcx") == 3


MEMORY = [
    "mov {d}(%{a},%{b},8), %{c}",
    "mov %{c}, {d}(%{a})",
    "lea {d}(%{a},%{b}), %{c}",
    "add ${d}, %{a}",
    "mov %{a}, %{c}",
    "inc %{b}",
    "vmovupd {d}(%{a}), %ymm1",
    "movzbl (%{a}), %ebp",
]


def random_loop(seed: int) -> str:
    r = random.Random(seed)
    lines = []
    for _ in range(r.randrange(1, 12)):
        a, b, c = r.sample([name for name in REGISTERS if name[1:].isdigit()] + ["r10", "r11", "r12"], 3)
        lines.append(r.choice(MEMORY).format(a=a, b=b, c=c, d=8 * r.randrange(9)))
    return "\n".join([*lines, "cmp %rax, %rdx"])


@examples(60)
@given(st.integers(0, 10**6))
@example(683)  # nothing but loaded values makes an address, from the second iteration
def test_addresses_of_the_first_iterations_are_those_of_memory(seed: int) -> None:
    """Followed with numbers: what is loaded is the word that memory is full of."""
    found = made(loop(random_loop(seed), "jne .L1"))
    state = dict(zip(NUMBERS, found.registers, strict=True))
    assert sorted(NUMBERS.values()) == list(range(16))
    code = decode_bytes(found.codes[0]).instructions
    memory = struct.pack(f"<{len(found.memory)}Q", *found.memory) * (2 * 4096 // (8 * len(found.memory)))
    loaded = 0
    for _ in range(3):
        for i in code:
            for access in i.memory:
                address = access.displacement
                for each, scale in ((access.base, 1), (access.index, access.scale)):
                    address += scale * state[each.root] if each is not None else 0
                assert 1 << 16 <= address % (1 << 64) < 1 << 47, i.text
                at = address % 4096 // access.size * access.size  # whole words, wherever it begins
                loaded = int.from_bytes(memory[at : at + access.size], "little")
            for use in i.registers:
                if use.write and use.register.root in state:
                    if i.affine is not None and i.affine.target == use.register.root:
                        sum_ = sum(factor * state[root] for root, factor in i.affine.terms) + i.affine.constant
                        state[use.register.root] = sum_ % (1 << 64)
                    else:
                        state[use.register.root] = loaded


# --- dependences that only the arrangement makes ----------------------------------------------------------------------


def hashed(address: int) -> tuple[int, ...]:
    """The bits by which Zen 4's first-level cache predicts the way: 15 to 24, of which three pairs cancel."""
    bit = [address >> n & 1 for n in range(25)]
    return bit[15], bit[16], bit[17] ^ bit[22], bit[18] ^ bit[23], bit[19] ^ bit[24], bit[20], bit[21]


def test_arrays_differ_in_the_bits_that_predict_the_way() -> None:
    loads = "\n".join(f"vaddpd (%{name}), %ymm0, %ymm0\nadd $32, %{name}" for name in (*NUMBERS,)[5:])
    found = made(loop(f"{loads}\nvaddpd x(%rip), %ymm0, %ymm0\nvaddpd y(,%rax,8), %ymm0, %ymm0\ninc %rax", "jnp .L1"))
    places = [found.registers[n] for n in range(5, 16)]
    code = decode_bytes(found.codes[0]).instructions
    places += [i.memory[0].displacement for i in code if i.memory and i.memory[0].displacement > 1 << 28]
    assert len(places) >= 12
    for one, other in combinations({place for place in places if place > 1 << 28}, 2):
        assert hashed(one) != hashed(other)


STRIDES = [
    # A register that is added to the pointer, once, scaled, and from a row that is twice as far.
    ("movsd (%rdi), %xmm1\nmulsd %xmm0, %xmm1\nmovsd %xmm1, (%rdi)\nadd %r8, %rdi", 8),
    ("movss (%rdi), %xmm1\nmulss %xmm0, %xmm1\nmovss %xmm1, (%rdi)\nlea (%rdi,%r8,4), %rdi", 4),
    ("vmovups (%rdi), %ymm1\nvmovups %ymm1, (%rdi,%r8)\nlea (%rdi,%r8,2), %rdi", 32),
    ("add %rax, (%rdi,%rcx,8)\nadd %r8, %rcx", 8),
    ("incl (%rdi,%rcx)\nadd %r8, %rcx\nadd %r9, %rcx", 4),
]


@pytest.mark.parametrize(("body", "width"), STRIDES)
def test_strides_are_never_zero(body: str, width: int) -> None:
    found = made(loop(f"{body}\ncmp %rdx, %rsi", "jne .L1"))
    step = stepped(found)
    assert step >= max(width, 64)
    assert step % width == 0


def stepped(found: Runnable) -> int:
    """The bytes that the first access moves in an iteration."""
    state = dict(zip(NUMBERS, found.registers, strict=True))
    addresses = []
    for _ in range(2):
        for i in decode_bytes(found.codes[0]).instructions:
            for access in i.memory[:1]:
                parts = ((access.base, 1), (access.index, access.scale))
                addresses.append(sum(state[each.root] * scale for each, scale in parts if each is not None))
            if i.affine is not None and i.affine.target in state:
                state[i.affine.target] = sum(f * state[root] for root, f in i.affine.terms) + i.affine.constant
    return addresses[len(addresses) // 2] - addresses[0]


def test_a_stride_that_the_code_before_sets_is_kept() -> None:
    of = loop(
        "movsd (%rdi), %xmm1\nmulsd %xmm0, %xmm1\nmovsd %xmm1, (%rsi)\nadd %r8, %rdi\nadd %r8, %rsi\ncmp %rdi, %rdx",
        "jne .L1",
        before="mov $24, %r8d",
    )
    assert register(made(of), "r8") == 24


@pytest.mark.parametrize(
    ("store", "load"),
    [
        ("(%rdi,%rcx,8)", "(%rdi,%rax,8)"),  # two indices into one array
        ("(%rdi,%rax,8)", "(%rdi,%r8)"),  # a row, and the array's first element
        ("(%rdi,%r9)", "(%rdi,%r8)"),  # two rows
        ("(%rdi)", "(%rdi,%r8)"),
    ],
)
def test_loads_meet_no_store_that_the_program_does_not_say(store: str, load: str) -> None:
    body = f"movsd {load}, %xmm1\nmovsd %xmm1, {store}\ninc %rax\ninc %rcx\nadd $8, %rdi\ncmp %rdx, %rsi"
    found = made(loop(body, "jne .L1"))
    state = dict(zip(NUMBERS, found.registers, strict=True))
    stored: list[int] = []
    for _ in range(12):
        for i in decode_bytes(found.codes[0]).instructions:
            for access in i.memory:
                parts = ((access.base, 1), (access.index, access.scale))
                address = sum(state[each.root] * scale for each, scale in parts if each is not None)
                if access.store:
                    stored.append(address)
                else:
                    assert all(abs(address - other) >= 8 for other in stored[-8:])
            if i.affine is not None and i.affine.target in state:
                state[i.affine.target] = sum(f * state[root] for root, f in i.affine.terms) + i.affine.constant


def test_dependences_of_the_program_stay() -> None:
    """`a[i] = f(a[i - 1])`: the load is what the iteration before stored, and is known to be."""
    found = made(loop("movsd -8(%rdi), %xmm1\nmulsd %xmm0, %xmm1\nmovsd %xmm1, (%rdi)\nadd $8, %rdi", "jnp .L1"))
    assert stepped(found) == 8


def test_registers_of_masks_are_all_ones() -> None:
    found = made(loop("kmovw %esi, %k1\nvaddps (%rdi), %zmm1, %zmm1{%k1}\nadd $64, %rdi\ncmp %rdi, %rdx", "jne .L1"))
    assert register(found, "rsi") == (1 << 64) - 1


def test_pointers_are_moved_to_where_instructions_need_them() -> None:
    body = "vmovdqa64 8(%rsp), %zmm1\nvmovdqa64 %zmm1, 72(%rsp)\nmovaps 4(%rdi), %xmm2\nadd $16, %rdi\ncmp %rdi, %rdx"
    found = made(loop(body, "jne .L1"))
    assert (register(found, "rsp") + 8) % 64 == 0
    assert (register(found, "rdi") + 4) % 16 == 0


@pytest.mark.parametrize(
    ("body", "close", "counter", "step", "first"),
    [
        ("add $8, %rdi\ncmp %rdi, %rdx", "jne .L1", "rdx", 8, 0x2000_0440),
        ("add $8, %rdi\ncmp %rdx, %rdi", "jb .L1", "rdx", 8, 0x2000_0440),
        ("sub $8, %rdi\ncmp %rdx, %rdi", "ja .L1", "rdx", -8, 0x2000_0440),
        ("cmp %rdi, %rdx\nlea 8(%rdi), %rdi", "jne .L1", "rdx", 8, 0x2000_0440 - 8),
        ("add $2, %rax\ncmp $1024, %rax", "jne .L1", "rax", -2, 1024),
        ("add $-1, %rax\ntest %rax, %rax", "jns .L1", "rax", 1, 0),
    ],
)
def test_a_comparison_ends_the_loop_by_a_register_that_it_compares(
    body: str, close: str, counter: str, step: int, first: int
) -> None:
    """The first value is `first + step * trips`; all code stays as it is."""
    of = loop(f"addpd (%rdi), %xmm1\n{body}", close)
    found = made(of)
    assert (found.exit, found.counter, found.step, found.first) == ("own", NUMBERS[counter], step, first)
    assert found.codes[0].endswith(b"".join(i.encoding for i in of.instructions[:-1]) + found.codes[0][-2:])


@pytest.mark.parametrize(
    ("body", "back", "names"),
    [
        ("cmp %rdi, %rdx\nje .L9\nmov (%rdi), %eax\nadd $4, %rdi", "jmp .L1", ["cmp", "je", "mov", "add", "jmp"]),
        ("cmp %rdx, %rdi\njae .L9\nadd $4, %rdi\ncmp %rbx, (%rsi)", "jne .L1", ["cmp", "jae", "add", "test", "jns"]),
        ("add $4, %rdi\ncmp %rdi, %rdx\nje .L9\ncmp %rbx, %rsi", "jne .L1", ["add", "cmp", "je", "test", "jne"]),
    ],
)
def test_a_branch_inside_ends_the_loop(body: str, back: str, names: list[str]) -> None:
    """It stays as it is, and leads behind the loop; the branch back is always taken."""
    found = made(loop(body, f"{back}\n.L9:"))
    assert (found.exit, found.counter, found.step) == ("own", NUMBERS["rdx"], 4)
    assert [text.split()[0] for text in texts(found)] == names
    code = decode_bytes(found.codes[0]).instructions
    (leaves,) = [i for i in code if i.mnemonic in ("je", "jae")]
    assert int(leaves.target, 16) == code[-1].offset + code[-1].length
    assert int(code[-1].target, 16) == next(i.offset for i in code if i.mnemonic == names[0])
    far = made(loop("\n".join([body, *["imul $1000, %r8, %r9"] * 20]), f"{back}\n.L9:"))
    code = decode_bytes(far.codes[0]).instructions
    (leaves,) = [i for i in code if i.mnemonic in ("je", "jae")]
    assert int(leaves.target, 16) == code[-1].offset + code[-1].length


def test_a_limit_in_memory_is_put_there() -> None:
    """From the register that is compared to it, which then gets its first value."""
    of = loop("movsd (%rdi,%rax,8), %xmm0\nmovsd %xmm0, (%rsi,%rax,8)\ninc %rax\ncmp %rax, 24(%rsp)", "jne .L1")
    found = made(of)
    assert (found.exit, found.counter, found.step, found.first) == ("own", NUMBERS["rax"], 1, 0)
    put, start, *_ = decode_bytes(found.codes[0]).instructions
    assert [(u.register.root, u.read) for u in put.registers] == [("rax", True)]
    assert put.memory[0].displacement == register(found, "rsp") + 24
    assert (start.mnemonic, start.immediate) == ("mov", 0)
    # One that the loop changes is none.
    assert made(loop("add $8, %rax\nincq 24(%rsp)\ncmp %rax, 24(%rsp)", "jne .L1")).exit == "added"


def test_the_stack_pointer_counts_if_nothing_else_can() -> None:
    every = "\n".join(f"imul ${n}, %{name}, %{name}" for n, name in enumerate(NUMBERS, 3) if name != "rsp")
    found = made(loop(f"{every}\nsahf", "jp .L1"))
    assert found.counter == NUMBERS["rsp"]


@pytest.mark.parametrize(
    ("body", "size", "value"),
    [
        ("inc %rax\ncmpb $0, (%rdi,%rax)", 1, 0),
        ("add $4, %rdi\ncmpl $7777, 8(%rdi)", 4, 7777),
        ("add $8, %rdi\ncmp %rsi, (%rdi)", 8, 1),
        ("movzbl (%rdi), %eax\nlea 1(%rdi), %rdi\ntest %eax, %eax", 1, 0),
        ("movsbl (%rdi), %eax\nlea 1(%rdi), %rdi\ncmp $10, %al", 1, 10),
    ],
)
def test_a_search_ends_where_it_finds_something(body: str, size: int, value: int) -> None:
    """Its own code runs: what it looks for lies where the last trip looks, and nowhere else."""
    of = loop(body, "jne .L1")
    found = made(of)
    assert found.exit == "own"
    assert (found.counter, found.step) == (NUMBERS["rdi"], -size)
    code = decode_bytes(found.codes[0]).instructions
    (fill,) = [i for i in code if i.memory and i.memory[0].store]
    assert (fill.memory[0].size, fill.immediate) == (size, value)
    state = dict(zip(NUMBERS, found.registers, strict=True))
    trips, seen = 5, []
    state["rdi"] = found.first + found.step * trips
    for _ in range(trips):
        for i in of.instructions:
            for access in i.memory:
                parts = ((access.base, 1), (access.index, access.scale))
                at = access.displacement + sum(state[r.root] * scale for r, scale in parts if r is not None)
                seen.append(at)
            if i.affine is not None and i.affine.target in state:
                state[i.affine.target] = sum(f * state[root] for root, f in i.affine.terms) + i.affine.constant
    assert seen.index(fill.memory[0].displacement) == trips - 1
    words = struct.pack(f"<{len(found.memory)}Q", *found.memory)
    assert value not in [int.from_bytes(words[n : n + size], "little") for n in range(0, len(words), size)]


def test_the_trips_that_stay_in_the_cache_follow_from_the_lines() -> None:
    """Nine arrays of which each trip takes 32 bytes touch nine pages at once, but 64 sets of lines evenly."""
    body = "\n".join(f"vaddpd (%r{n}), %ymm0, %ymm0\nadd $32, %r{n}" for n in range(8, 15))
    assert 16 <= made(loop(f"{body}\ncmp %r8, %rdx", "jne .L1")).trips <= 110
    assert made(loop("add (%rdi), %rax\nadd $4096, %rdi\ncmp %rdi, %rdx", "jne .L1")).trips == 6


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("call f", "call"),
        ("ret", "return"),
        ("jmp *%rax", "indirect"),
        ("syscall", "system"),
        ("sysenter", "system"),
        ("int $0x80", "system"),
        ("int3", "system"),
        ("hlt", "system"),
        ("ud2", "system"),
        ("cpuid", "system"),
        ("in $3, %al", "system"),
        ("wrmsr", "system"),
        ("popf", "system"),
        ("std", "system"),
        ("wrfsbase %rax", "system"),
        ("mov %eax, %fs", "system"),
        ("mov %rax, %cr3", "system"),
        ("ldmxcsr (%rax)", "system"),
        ("fldcw (%rax)", "system"),
        ("xrstor (%rax)", "system"),
        ("xbegin f", "system"),
        ("rdpmc", "system"),
        ("umwait %ecx", "system"),
        ("ldtilecfg (%rax)", "tiles"),
        ("tdpbssd %tmm0, %tmm1, %tmm2", "tiles"),
        ("fadd %st(1), %st", "x87"),
    ],
)
def test_what_cannot_be_run_says_why(body: str, kind: str) -> None:
    found = runnable(block(f"nop\n{body}\nf:"))
    assert isinstance(found, NotRunnable)
    assert (found.kind, bool(found.text)) == (kind, True)


@pytest.mark.parametrize("body", ["rdtsc", "vzeroupper", "mov $0, %rsp", "push %rax", "lock incl (%rax)", "pause"])
def test_what_is_odd_is_run(body: str) -> None:
    made(block(body))


def test_of_several_ways_the_analysed_one_runs() -> None:
    of = loop("test %rax, (%rdi)\nje .L2\nadd %rax, %rcx\n.L2:\nadd $8, %rdi\ncmp %rdi, %rdx", "jne .L1")
    found = made(of)
    assert found.notes == ("only one of several paths through the loop is run: the path through lines 5–7, 9–11",)
    # Of machine code without text: test, je +3, three bytes, then a loop's end. Its branches are not taken.
    found = made(decode_bytes(bytes.fromhex("4885c0 7403 4801c8 48ffc9 75f3")))
    assert found.notes == ("only one of several paths through the loop is run: the one on which no branch is taken",)
    assert [text.split()[0] for text in texts(found)] == ["test", "je", "add", "dec", "jne"]
    assert found.jumps == 1
    # A jump over code of its own, though, is always taken.
    refused = runnable(decode_bytes(bytes.fromhex("eb03 4801c8 48ffc9 75f6")))
    assert isinstance(refused, NotRunnable)
    assert refused.kind == "ways"


def test_branches_that_are_taken_on_the_way_skip_as_much_as_they_do() -> None:
    """The code behind them keeps its place within 64 bytes."""
    of = loop("cmp %rax, %rcx\nje .L2\nadd %rax, %rcx\n.L2:\nadd $8, %rdi\ncmp %rdi, %rdx", "jne .L1")
    compare, branch, _, *rest = of.instructions
    found = made(replace(of, instructions=(compare, branch, *rest)))
    assert [text.split()[0] for text in texts(found)] == ["test", "jne", *["nop"] * 3, "add", "cmp", "jne"]
    assert found.jumps == 2


def test_a_register_is_needed_to_count_with() -> None:
    every = "\n".join(f"add ${n}, %{name}" for n, name in enumerate(NUMBERS))
    found = runnable(loop(every, "jmp .L1"))
    assert isinstance(found, NotRunnable)
    assert found.kind == "registers"


def test_statements_that_were_not_understood_are_not_left_out() -> None:
    found = runnable(loop("add %rax, %rcx\nfrobnicate %rax\ncmp %rax, %rdx", "jne .L1"))
    assert isinstance(found, NotRunnable)
    assert found.kind == "refused"


def test_features_are_named() -> None:
    assert "AVX512F" in made(block("vaddpd %zmm0, %zmm1, %zmm2")).features


def test_aarch64_says_that_it_cannot_be_run() -> None:
    from incc.frontends.isa import isa

    found = isa("aarch64").runnable(block("nop"))
    assert isinstance(found, NotRunnable)
    assert found.kind == "isa"


def test_code_of_32_bit_mode_is_refused() -> None:
    found = runnable(loop("addl $1, %eax", "jne .L1", ".code32"))
    assert isinstance(found, NotRunnable)
    assert found.kind == "mode"


def test_a_load_that_steps_onto_a_store_of_another_array_is_refused() -> None:
    """Both pointers are 17 MiB apart, and so much is added to the stored one in each iteration."""
    found = runnable(loop("mov %rax, (%rdi)\nmov -0x400(%rsi), %rcx\nadd $0x1100000, %rdi", "dec %rdx\njne .L1"))
    assert isinstance(found, NotRunnable)
    assert found.kind == "overlap"
    assert "`mov -0x400(%rsi), %rcx` cannot be kept apart from what `mov %rax, (%rdi)` stores" in found.text

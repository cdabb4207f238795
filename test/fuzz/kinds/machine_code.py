"""Machine code: blocks of random bytes and of instructions' parts, many for incc-scan or one for incc-mca."""

from __future__ import annotations

from hypothesis import strategies as st

from test.fuzz.corpus import ARM_CORES, SIX_CORES, arm_words
from test.fuzz.kinds.common import arm_cores, cores, many, views, ways
from test.fuzz.mutation import changed_text
from test.fuzz.runs import Run

_PREFIXES = bytes.fromhex("66 67 f2 f3 f0 2e 64 65 40 41 48 4c 4f")
_OPCODES = (
    "01 03 0f 0f38 0f3a 0f01 0fae 0fc7 69 6b 80 81 83 88 89 8b 8d 90 98 99 a4 a5 aa b8 c4 c5 62 d5 c1 d3 d8 d9 db dd "
    "e8 eb 75 7f e2 f6 f7 fe ff c4e2 c4e1 c5f8 62f17c48 62f2fd48 62f1ff08 8f 0f1f 0f58 0f6f 0f7f 0fb6 f30f10 660fef"
)
_BACK = tuple(bytes.fromhex(text) for text in ("75 00", "eb 00", "e2 00", "0f85 00000000", "e9 00000000"))


@st.composite
def _instruction(draw: st.DrawFn) -> bytes:
    prefixes = bytes(draw(st.lists(st.sampled_from(list(_PREFIXES)), max_size=2)))
    return prefixes + bytes.fromhex(draw(st.sampled_from(_OPCODES.split()))) + draw(st.binary(min_size=1, max_size=8))


@st.composite
def _loop(draw: st.DrawFn) -> bytes:
    """A block that ends in a jump to its start."""
    body = b"".join(draw(st.lists(_instruction(), min_size=1, max_size=8)))
    jump = draw(st.sampled_from(_BACK))
    width = 4 if len(jump) > 4 else 1
    distance = -(len(body) + len(jump)) & (1 << 8 * width) - 1
    return body + jump[:-width] + distance.to_bytes(width, "little")


block = st.one_of(_loop(), _instruction(), st.binary(min_size=1, max_size=64))


@st.composite
def _arm_word(draw: st.DrawFn) -> bytes:
    """Return an instruction of AArch64: one that a compiler uses, with up to three other bits, or any four bytes."""
    if not arm_words() or not draw(st.integers(0, 9)):
        return draw(st.binary(min_size=4, max_size=4))
    word = draw(st.sampled_from(arm_words()))
    for bit in draw(st.lists(st.integers(0, 31), max_size=3)):
        word ^= 1 << bit
    return word.to_bytes(4, "little")


@st.composite
def _arm_loop(draw: st.DrawFn) -> bytes:
    """Return a block that ends in a jump to its start: b, b.ne, cbnz, tbz."""
    body = draw(st.lists(_arm_word(), min_size=1, max_size=10))
    back = -len(body) & 0x7FFFF
    jump = draw(
        st.sampled_from(
            (
                0x14000000 | (back | 0x3F80000),
                0x54000001 | back << 5,
                0xB5000000 | back << 5,
                0x36000000 | (back & 0x3FFF) << 5,
            )
        )
    )
    return b"".join((*body, jump.to_bytes(4, "little")))


_arm_block = st.one_of(_arm_loop(), _arm_loop(), st.lists(_arm_word(), min_size=1, max_size=12).map(b"".join))


@st.composite
def _many(draw: st.DrawFn) -> Run:
    blocks, on = (block, SIX_CORES) if draw(st.integers(0, 2)) else (_arm_block, ",".join(ARM_CORES))
    text = "".join(f"{data.hex()}\n" for data in draw(many(blocks, 40)))
    format_ = draw(st.sampled_from(("text", "json")))
    args = (f"--mcpu={on}", "-j1", "--input-format=hex", f"--format={format_}", "blocks.hex")
    return Run(command="incc-scan", args=args, files={"blocks.hex": text.encode()}, **draw(ways(jobs=True)))


@st.composite
def _one(draw: st.DrawFn) -> Run:
    each, cores_of = (block, cores) if draw(st.integers(0, 3)) else (_arm_block, arm_cores)
    data = draw(st.one_of(each, st.lists(each, max_size=20).map(b"".join)))
    if draw(st.booleans()):
        data = draw(changed_text(data.hex(" ").encode(), most=2))
        args = (f"-mcpu={draw(cores_of)}", "--hex", *draw(views))
    else:
        args = (f"-mcpu={draw(cores_of)}", "--raw", *draw(views))
    if draw(st.booleans()):
        return Run(command="incc-mca", args=(*args, "code"), files={"code": data}, **draw(ways()))
    return Run(command="incc-mca", args=args, stdin=data, **draw(ways()))


def runs() -> st.SearchStrategy[Run]:
    """Return runs on machine code."""
    return st.one_of(_many(), _many(), _one())

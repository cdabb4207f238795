"""A prediction depends on the kernel and the core alone, not on what was analysed before it or beside it."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.frontends.isa import isa
from incc.models.binding import pieces
from incc.models.loading import load

CORES = ("haswell", "skylake-avx512", "graniterapids", "znver4")
ENCODINGS = (
    # Instructions of one form, with the stack pointer and with other registers.
    *("4801e0", "4c01e0", "4883c408", "4983c408", "488d642408", "4d8d642408", "4889e5", "4c89e5", "4883e4f0"),
    *("50", "58", "4154", "415c", "54", "5c", "ff3424", "41ff3424", "8f0424", "488b0424", "498b0424", "c3"),
    # Moves, zero idioms and parts of registers.
    *("4889d8", "4889c0", "4889c3", "31c0", "31d8", "c5f857c0", "c5f857c1", "c5f828c1", "c5f828c0"),
    *("88e0", "00c4", "00e0", "6689c3", "0fb6c4", "0fb6c3"),
    # Constants of several sizes, indexed addresses, multiplications, stores and loads of the same place.
    *("48b88877665544332211", "c7450078563412", "c744240400000000", "6605cdab", "488d4c1808", "480fafc3"),
    *("488945f8", "488b45f8", "488944f8f8", "c5fd58441d00", "c5fd584500", "83f801", "48f7e3", "c1e805", "d3e0"),
)
BLOCKS = st.lists(st.sampled_from([bytes.fromhex(e) for e in ENCODINGS]), min_size=1, max_size=6).map(b"".join)


def cycles(code: bytes, core: str) -> object:
    """The prediction for a block."""
    kernel = isa("x86").decode_bytes(code, code.hex(), text=False)
    return analyze_kernel(kernel, load(core), KernelSettings()).cycles


@given(st.lists(BLOCKS, min_size=2, max_size=12, unique=True), st.sampled_from(CORES))
def test_together_as_alone(blocks: list[bytes], core: str) -> None:
    together = [cycles(code, core) for code in blocks]
    alone = []
    for code in blocks:
        load(core).caches.clear()
        pieces._FACTS.clear()
        alone.append(cycles(code, core))
    assert together == alone


def test_the_order_and_the_number_of_processes_change_nothing(tmp_path: Path) -> None:
    dice = random.Random(23)
    blocks = ["".join(dice.choices(ENCODINGS, k=dice.randint(1, 5))) for _ in range(300)]
    results = []
    for jobs in ("-j1", "-j2", "-j3"):
        dice.shuffle(blocks)
        (tmp_path / "blocks").write_text("\n".join(blocks) + "\n")
        command = [sys.executable, "-m", "incc.driver.commands.scan", "--input-format=hex", "--output=cycles"]
        done = subprocess.run([*command, "-mcpu=haswell", jobs, "blocks"], cwd=tmp_path, capture_output=True, text=True)
        results.append(sorted(done.stdout.splitlines()))
    assert len(results[0]) == len(blocks)
    assert results[0] == results[1] == results[2]

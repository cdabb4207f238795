"""Random programs with probes: they do what they do without, and probes count what happens."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from random_c import random_program
from test_probes import environment
from traced import Passes, traced

from incc.running.compiling import RUNTIME
from incc.running.profile import LoopProfile, read_profile
from properties import examples

pytestmark = pytest.mark.skipif(not os.path.exists(RUNTIME), reason="no runtime for probes on this platform")

CHOICES = [
    (compiler, level)
    for compiler in ("gcc", "clang-19", "clang-14")
    for level in (
        "-O1",
        "-O2",
        "-O0",
        "-O3",
        "-Os",
        "-Ofast -march=native",
        "-O2 -fPIC -fcf-protection=full",
        "-O3 -funroll-loops",
    )
]


LONGEST = 2
"""Seconds that a program may take: most take a millisecond, but loops in loops may take minutes."""


def run(folder: pathlib.Path, *words: str, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def check(seed: int, compiler: str, level: str) -> None:
    """Compare a program with and without probes, and what the probes count with what a trace counts."""
    options = [*level.split(), *(["-fno-integrated-as"] if "clang" in compiler else []), "program.c"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.c").write_text(random_program(seed))
        (folder / "profiles").mkdir()
        assert run(folder, compiler, "-w", *options, "-o", "plain")[0] == 0
        try:
            subprocess.run("./plain", cwd=folder, timeout=LONGEST, capture_output=True, check=False)
        except subprocess.TimeoutExpired:
            return  # a trace would take a hundred times as long
        made = run(folder, "incc", compiler, "--analyze-probe", "-w", *options, "-o", "probed", XDG_DATA_HOME=name)
        assert made == (0, "")
        expected = run(folder, "./plain")
        assert run(folder, "./probed") == expected
        assert run(folder, "./probed", INCC_PROBES=str(folder / "profiles")) == expected
        assert run(folder, compiler, "-w", *options, "-S", "-o", "program.s")[0] == 0
        passes = traced((folder / "program.s").read_text(), folder)
        (file,) = (folder / "profiles").iterdir()
        profile = read_profile(str(file))
        for loop in profile.loops:
            compare(loop, passes[loop.loop.kernel])


def compare(loop: LoopProfile, passes: Passes) -> None:
    """Compare a loop's record with the trace."""
    assert loop.entries == passes.entries, loop.loop.kernel
    assert loop.lost == 0, loop.loop.kernel
    if loop.samples == loop.entries and passes.is_complete:
        assert loop.iterations == passes.iterations, loop.loop.kernel


@examples(20)
@given(st.sampled_from(CHOICES), st.integers(0, 1 << 32))
@example(("clang-14", "-O1"), 16)  # a call changes the register by which another one moves
@example(("clang-19", "-O3"), 107)  # each iteration adds a register to a sum, which is 0
@example(("gcc", "-Ofast -march=native"), 5213)  # such a sum is compared, but not at an exit
@example(("clang-19", "-O0"), 803905)  # a probe of one loop is in another one, which counts in a register
@example(("clang-19", "-O3 -funroll-loops"), 170158)  # a sum is compared, but another exit is taken
def test_random_programs_do_what_they_did_and_are_counted_exactly(choice: tuple[str, str], seed: int) -> None:
    if shutil.which(choice[0]) is None:
        return
    check(seed, *choice)

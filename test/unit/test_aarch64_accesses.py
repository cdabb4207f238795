"""What A64 instructions read and write, compared with LLVM's descriptions of them (llvm_accesses.cpp)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from incc.frontends.aarch64.decode import decode

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CONFIG = shutil.which("llvm-config-19")

pytestmark = pytest.mark.skipif(CONFIG is None, reason="no llvm-config-19")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that reads LLVM's descriptions."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("no C++ compiler")

    def ask(*what: str) -> list[str]:
        return subprocess.run([str(CONFIG), *what], capture_output=True, text=True, check=True).stdout.split()

    target = tmp_path_factory.mktemp("llvm") / "llvm_accesses"
    flags = [flag for flag in ask("--cxxflags") if not flag.startswith("-std=")]
    command = [compiler, "-std=c++20", "-O1", "-w", *flags, str(HERE / "llvm_accesses.cpp"), "-o", str(target)]
    subprocess.run([*command, *ask("--ldflags"), *ask("--libs")], check=True)
    return str(target)


# --- the comparison ---------------------------------------------------------------------------------------------------

Access = dict[str, set[int]]
"""The bits that are used of each register, by its root."""

_WIDTHS = {"W": 32, "X": 64, "B": 8, "H": 16, "S": 32, "D": 64, "Q": 128, "Z": 2048, "P": 256, "PN": 256}
_NAMED = {"SP": ("sp", 64), "WSP": ("sp", 32), "LR": ("x30", 64), "FP": ("x29", 64), "FFR": ("ffr", 256)}
# Control registers, as on x86: nothing in a loop writes them but instructions that wait for everything. VG is the
# length of vectors.
_LEFT_OUT = frozenset(("WZR", "XZR", "FPCR", "FPSR", "VG"))


def _llvm(names: Iterable[str]) -> Access:
    found: Access = {}
    for name in names:
        if name in _LEFT_OUT:
            continue
        if name in _NAMED:
            root, width = _NAMED[name]
        elif name == "NZCV" or name.startswith(("ZA", "ZT")):
            root, width = ("za" if name.startswith("ZA") else name.lower()), 0
        else:
            kind = name.rstrip("0123456789")
            stem = "x" if kind in "WX" else "p" if kind in ("P", "PN") else "z"
            root, width = stem + name.removeprefix(kind), _WIDTHS[kind]
        found.setdefault(root, set()).add(width)
    return found


def _incc(text: str) -> tuple[Access, Access]:
    instruction = decode(text)
    reads: Access = {"nzcv": {0}} if instruction.flags_read else {}
    writes: Access = {"nzcv": {0}} if instruction.flags_written else {}
    for access in instruction.registers:
        root = access.register.root
        if root in ("fpcr", "fpsr"):
            continue
        width = 0 if root in ("za", "zt0") else access.register.width
        if access.read:
            reads.setdefault(root, set()).add(width)
        if access.write:
            writes.setdefault(root, set()).add(width)
    return reads, writes


def differences(row: dict[str, Any]) -> Iterator[str]:
    """Yield `incc reads x0`, `LLVM writes nzcv`, or `reads of x0: 32 bits, LLVM 64`."""
    for what, own, other in zip(("reads", "writes"), _incc(row["text"]), (row["reads"], row["writes"]), strict=True):
        llvm = _llvm(other)
        yield from (f"incc {what} {root}" for root in own.keys() - llvm.keys())
        yield from (f"LLVM {what} {root}" for root in llvm.keys() - own.keys())
        for root in own.keys() & llvm.keys():
            if own[root] != llvm[root]:
                yield f"{what} of {root}: {sorted(own[root])} bits, LLVM {sorted(llvm[root])}"


# What LLVM describes otherwise: a pattern for the statement, one for the difference, and the reason.
EXCEPTIONS = (
    (r"blr?", "LLVM reads sp", "LLVM lets calls depend on the stack pointer; the instructions do not read it"),
    (r"eretaa|eretab", "LLVM reads x30", "they authenticate ELR, not x30"),
    (r"cs|fcs|cc|fcc", "LLVM reads nzcv", "the conditions al and nv read no flag"),
    (r"cterm", "incc reads nzcv", "V becomes the inverse of C where the values do not end the loop"),
    (r"mrs|msr", "LLVM writes nzcv", "LLVM has one description for all registers; only NZCV and RNDR concern flags"),
    (r"mrs", "LLVM reads nzcv", "see above"),
    (r"sysl", r"(LLVM reads|incc writes) x\d+", "SYSL writes its register"),
    (r"tbn?z x", r"reads of x\d+: \[64\] bits, LLVM \[32\]", "LLVM encodes bits below 32 as tests of a w register"),
    (r"[su]xtw x|uxt[bhw] x", r"reads of x\d+: \[32\] bits, LLVM \[64\]", "an alias of SBFM and UBFM on x registers"),
    (r"mov z\d+\.[bhsdq], [bhsdq]\d|insr", r"reads of z\d+:", "LLVM names the whole register for its lowest element"),
    (r"[a-z]+v [bhsd]\d+, p\d|fadda", r"(reads|writes) of z\d+:", "LLVM names the whole register for a scalar result"),
    (r"fml[as]l2? v\d+\.4s", r"reads of z\d+: \[64\] bits, LLVM \[128\]", "the sources have 4 elements of 16 bits"),
    (r"bfcvtn v", r"writes of z\d+: \[64\] bits, LLVM \[128\]", "the result has 4 elements of 16 bits"),
    (r"(ld1[bhwdq]|ldr) \{?za", "incc reads za", "a load of a part of the matrix keeps the rest"),
    (r"zero \{za", "incc (reads|writes) za", "LLVM's description has no registers"),
    (r"fmov v\d+\.d\[1\]", r"incc reads z\d+", "the lower half is kept"),
    (r"fcvtnt z\d+\.b, \{", r"incc reads z\d+", "the bottom elements are kept"),
    (r"pmov z\d+, p\d+\.b", r"LLVM reads z\d+", "the whole vector is written"),
)


def _check(rows: Iterable[dict[str, Any]]) -> tuple[int, int, set[int]]:
    """Return how many statements were compared and how many of them differ, and the exceptions that were needed."""
    compared = differ = 0
    used: set[int] = set()
    wrong = []
    for row in rows:
        if "error" in row:
            continue
        compared += 1
        found = list(differences(row))
        differ += bool(found)
        for difference in found:
            number = next(
                (
                    n
                    for n, (statement, pattern, _) in enumerate(EXCEPTIONS)
                    if re.match(statement, row["text"]) and re.match(pattern, difference)
                ),
                -1,
            )
            if number < 0:
                wrong.append(f"{row['text']}: {difference} ({row['opcode']})")
            used.add(number)
    assert wrong == []
    return compared, differ, used


def _described(program: str, texts: Iterable[str]) -> list[dict[str, Any]]:
    done = subprocess.run([program], input="\n".join(texts) + "\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_statements_of_compilers(program: str) -> None:
    """An example of each form in what gcc 12 and clang 19 make of incc's own sources for several cores."""
    texts = (HERE / "data" / "aarch64" / "statements.txt").read_text(encoding="utf-8").splitlines()
    compared, differ, _ = _check(_described(program, texts))
    assert compared == len(texts) > 1000
    assert differ < compared / 20


@pytest.mark.long
def test_every_instruction_of_llvm(program: str) -> None:
    """Three examples of each instruction that LLVM knows, with all extensions of the architecture."""
    done = subprocess.run([program, "--enumerate"], capture_output=True, text=True, check=True)
    texts = [" ".join(json.loads(line)["text"].split()) for line in done.stdout.splitlines()]
    compared, _, used = _check(_described(program, texts))
    assert compared > 18_000
    assert len(used) >= len(EXCEPTIONS) - 4  # some are needed only for what compilers write


SOURCES = sorted(
    path
    for folder in ("bench", "examples", "test/unit/data", "test/lit")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".c", ".cpp", ".f90")
)
GCC = {".c": "aarch64-linux-gnu-gcc", ".cpp": "aarch64-linux-gnu-g++", ".f90": "aarch64-linux-gnu-gfortran"}
CORES = ("a64fx", "thunderx2t99", "neoverse-v2", "neoverse-v1", "neoverse-n1", "cortex-a72", "tsv110", "ampere1")
LEVELS = ("-O1", "-O2", "-O3", "-Ofast")


def statements(sources: Iterable[Path], folder: Path) -> Iterator[str]:
    """Yield the statements that compilers write for sources, each source for another core and level."""
    for number, source in enumerate(sources):
        options = ["-w", "-S", "-o", "-", LEVELS[number // 8 % 4], f"-mcpu={CORES[number % 8]}", str(source)]
        for command in ([GCC[source.suffix]], ["clang-19", "--target=aarch64-linux-gnu"]):
            if shutil.which(command[0]) and not (command[0] == "clang-19" and source.suffix == ".f90"):
                made = subprocess.run([*command, *options], capture_output=True, text=True, cwd=folder).stdout
                yield from (
                    " ".join(text.split())
                    for line in made.splitlines()
                    if line.startswith("\t") and (text := line.partition("//")[0].strip()) and text[0].isalpha()
                )


@pytest.mark.long
def test_what_compilers_write(program: str, tmp_path: Path) -> None:
    texts = sorted(set(statements(SOURCES[::4], tmp_path)))
    if not texts:
        pytest.skip("no aarch64-linux-gnu-gcc or clang-19")
    compared, differ, _ = _check(_described(program, texts))
    assert compared > 2000
    assert differ < compared / 50

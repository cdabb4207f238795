"""Valid inputs, from which generators start: what compilers and incc's own commands make of a few sources."""

from __future__ import annotations

import functools
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "conformance"))

from mca_cases import Case, corpus, run_function  # noqa: E402

SOURCES = (
    "double f(double *a, double b, long n) { for (long i = 0; i < n; i++) a[i] += b * a[i]; return a[0]; }",
    "int f(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] > 3 ? a[i] : -s; return s; }",
    "void g(char *); void f(char *a, int n) { for (int i = 0; i < n; i++) g(a + i); }",
    "int f(int *a, int n) { int s = 1; for (int i = 0; i < n; i++) switch (a[i]) { case 0: s += 3; break; "
    "case 1: s *= 5; break; case 2: s ^= i; break; "
    "case 3: s -= n; break; case 4: s <<= 1; break; default: s = 0; } return s; }",
)
_MARKED = "movl $111, %ebx\n.byte 100,103,144\n1: add $1, %rax\njne 1b\nmovl $222, %ebx\n.byte 100,103,144\nret\n"
_LOOP = b".L0:\n\tvmulpd (%rax), %ymm0, %ymm1\n\taddq $32, %rax\n\tcmpq %rax, %rbx\n\tjne .L0\n"

CORES = (
    "skylake", "znver4", "btver2", "skylake,znver3", "sapphirerapids", "bdver2", "atom", "icelake-server", "generic",
    "x86-64-v3", "knl", "alderlake", "haswell", "znver2", "slm", "rocketlake",
)  # fmt: skip
SIX_CORES = "skylake,znver4,icelake-server,btver2,alderlake,haswell"
ARM_CORES = (
    "neoverse-v2", "neoverse-n1", "cortex-a72", "apple-m1", "a64fx", "ampere1", "neoverse-n2", "neoverse-v1",
    "thunderx2t99", "tsv110",
)  # fmt: skip
_ARM = ("-target", "aarch64-linux-gnu")
_ARM_FLAGS = (
    "-O2",
    "-O3 -g -march=armv8.2-a+sve",
    "-Ofast -march=armv9-a",
    "-O1 -march=armv8.1-a -mbranch-protection=standard",
)


def _made(commands: dict[str, list[str]], sources: dict[str, str]) -> dict[str, bytes]:
    """Return the files that these commands write, each the one it is the key of; without those that fail."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text)
        for name, command in commands.items():
            path = Path(folder, name)
            if shutil.which(command[0]):
                done = subprocess.run([*command, "-o", name], cwd=folder, capture_output=True, check=False)
                if done.returncode == 0 and path.exists():
                    made[name] = path.read_bytes()
    return made


def _clang() -> str:
    return next((name for name in ("clang-19", "clang-16", "clang-14") if shutil.which(name)), "clang")


_C_FILES = {f"{number}.c": text for number, text in enumerate(SOURCES)}


@functools.cache
def objects(container: str) -> dict[str, bytes]:
    """Return small files of a container, "elf", "coff", "macho" or "archive", by name; without those no tool makes."""
    clang = _clang()
    flags = ("-O2", "-O3 -g -mavx2", "-O1 -gdwarf-4 -ffunction-sections")
    elf = {f"{n}{e}.o": ["gcc", *given.split(), "-c", f"{n}.c"] for n in range(4) for e, given in enumerate(flags)}
    elf["zipped.o"] = ["gcc", "-O2", "-g", "-gz", "-c", "0.c"]
    elf["split.o"] = ["gcc", "-O2", "-g", "-gsplit-dwarf", "-c", "0.c"]
    elf["lto.o"] = ["gcc", "-O2", "-flto", "-c", "0.c"]
    elf["shared.so"] = ["gcc", "-O2", "-g", "-shared", "-fPIC", "1.c"]
    elf["marked.o"] = ["as", "marked.s"]
    elf["marked.exe"] = ["ld", "marked.o"]
    for n, given in enumerate(_ARM_FLAGS):
        elf[f"arm{n}.o"] = [clang, *_ARM, *given.split(), "-c", f"{n}.c"]
    elf["arm.so"] = [clang, *_ARM, "-O2", "-g", "-shared", "-fPIC", "-nostdlib", "-fuse-ld=lld", "3.c"]
    elf["small.o"] = ["gcc", "-m32", "-O2", "-c", "0.c"]
    commands = {
        "elf": elf,
        "coff": {
            "windows.obj": [clang, "-target", "x86_64-pc-windows-msvc", "-O2", "-g", "-c", "0.c"],
            "switch.obj": [clang, "-target", "x86_64-pc-windows-msvc", "-O2", "-c", "3.c"],
            "arm.obj": [clang, "-target", "aarch64-pc-windows-msvc", "-O2", "-c", "1.c"],
            "0.o": elf["02.o"],
            "pe.obj": ["sh", "-c", "objcopy -O pe-x86-64 0.o pe.obj", "sh"],
            "pe.exe": ["ld", "-m", "i386pep", "-e", "f", "pe.obj"],
        },
        "macho": {
            "apple.o": [clang, "-target", "x86_64-apple-darwin", "-O2", "-g", "-c", "0.c"],
            "arm.o": [clang, "-target", "arm64-apple-macos11", "-O2", "-c", "1.c"],
            "bitcode.bc": [clang, "-O2", "-emit-llvm", "-c", "0.c"],
        },
        "archive": {
            "0.o": elf["01.o"],
            "1.o": elf["12.o"],
            "a.a": ["sh", "-c", "ar rc a.a 0.o 1.o", "sh"],
            "thin.a": ["sh", "-c", "ar rcT thin.a 0.o 1.o", "sh"],
        },
    }[container]
    made = _made(commands, {**_C_FILES, "marked.s": _MARKED})
    return {name: data for name, data in made.items() if container == "elf" or data[:4] != b"\x7fELF"}


@functools.cache
def arm_words() -> list[int]:
    """Return the instructions of AArch64 in the objects, each once, as numbers."""
    from incc.frontends.elf import read_elf

    contents = [bytes(read_elf(data).content(".text")) for name, data in objects("elf").items() if name[:3] == "arm"]
    return sorted({word for code in contents for (word,) in struct.iter_unpack("<I", code[: len(code) // 4 * 4])})


@functools.cache
def assembly() -> dict[str, bytes]:
    """Return what gcc and clang make of loops, by name."""
    sources = _C_FILES | {path.name: path.read_text() for path in sorted((ROOT / "bench/functions").glob("*.c"))[:12]}
    clang = _clang()
    commands = {}
    for number, source in enumerate(sources):
        flags = ("-O2", "-O3 -g -mavx2", "-O3 -mavx512f", "-O1 -masm=intel -ffunction-sections")[number % 4].split()
        commands[f"gcc{number}.s"] = ["gcc", *flags, "-S", source]
        commands[f"clang{number}.s"] = [clang, *flags, "-S", source]
        commands[f"arm{number}.s"] = [clang, *_ARM, *_ARM_FLAGS[number % 4].split(), "-S", source]
    return _made(commands, sources)


@functools.cache
def cases() -> list[Case]:
    """Return the cases of the conformance tests: command lines of llvm-mca and their texts."""
    return list(corpus(ROOT / "test" / "conformance"))


@functools.cache
def reports() -> list[bytes]:
    """Return reports in JSON."""
    from incc.driver.commands.mca import main

    found = []
    for words in (["--auto", "-mcpu=skylake"], ["--auto", "-mcpu=znver4,skylake", "-what-if"], ["-mcpu=skylake"]):
        case = Case(name="report", args=[*words, "-json", "a.s"], stdin=None, files={"a.s": _LOOP})
        found.append(run_function(main, [], case).stdout.encode())
    return found


@functools.cache
def database() -> bytes:
    """Return a database with one commit."""
    from incc.driver.commands.db import main

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "x.db")
        words = ["add", "--db", str(place), "--commit", "c1", "--date", "2026-01-01", "r.json"]
        run_function(main, [], Case(name="database", args=words, stdin=None, files={"r.json": reports()[0]}))
        return place.read_bytes()

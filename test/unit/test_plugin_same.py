"""Clang makes the same objects with the pass plugin as without it, byte for byte, and says something of their loops."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from incc.frontends.clang_plugin.find import plugin_for

ROOT = Path(__file__).parents[2]
HEADERS = frozenset(("stddef.h", "stdint.h"))  # of clang itself, for any processor


def _sources() -> list[Path]:
    folders = ("bench/hints", "bench", "examples", "test/unit/data/wrapper", "test/unit/data/pairs")
    found = [
        path for folder in folders for path in sorted((ROOT / folder).glob("*.c*")) if path.suffix in (".c", ".cpp")
    ]
    return [
        path
        for path in found
        if HEADERS.issuperset(re.findall(r"^#\s*include\s*[<\"](.+)[>\"]", path.read_text(), re.M))
        and "__asm__" not in path.read_text()
        and path.name != "llvm_sched.cpp"
    ]


SOURCES = _sources()
# A third of them goes through each version, target and level, another third the next.
THIRDS = [SOURCES[n::3] for n in range(3)]
SOME = THIRDS[0]
HOST = ("--target=x86_64-linux-gnu", "-march=skylake-avx512")
X86 = (*HOST, "-ffreestanding", "-nostdlibinc")
AARCH64 = ("--target=aarch64-linux-gnu", "-march=armv8.2-a+sve", "-ffreestanding", "-nostdlibinc")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-Ofast")


def _version(major: int) -> Any:
    reason = "no " + (f"plugin for clang {major}" if shutil.which(f"clang-{major}") else f"clang-{major}")
    missing = not shutil.which(f"clang-{major}") or not plugin_for(major, {})
    return pytest.param(major, marks=pytest.mark.skipif(missing, reason=reason))


VERSIONS = [_version(major) for major in (14, 16, 19)]


def _object(major: int, source: Path, options: tuple[str, ...], folder: Path, plugin: bool) -> bytes:
    """What clang makes of a source, b"" if it does not compile it."""
    made = folder / "made.o"
    made.unlink(missing_ok=True)
    command = [f"clang-{major}", "-w", *options, "-c", str(source), "-o", str(made)]
    environment = dict(os.environ)
    if plugin:
        command.append(f"-fpass-plugin={plugin_for(major, {})}")
        environment["INCC_LOOP_TABLE"] = str(folder / "loops.json")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "incc_markers" not in done.stderr
    return made.read_bytes() if done.returncode == 0 else b""


def _loops_where_same(major: int, source: Path, options: tuple[str, ...], folder: Path) -> int:
    """The loops that the plugin has described, after making sure that it has changed nothing."""
    without = _object(major, source, options, folder, plugin=False)
    assert _object(major, source, options, folder, plugin=True) == without, f"{source.name} {' '.join(options)}"
    return len(json.loads((folder / "loops.json").read_text())["loops"]) if without else 0


def test_there_are_enough_sources() -> None:
    assert all(len(third) >= 20 for third in THIRDS)


@pytest.mark.long
@pytest.mark.parametrize("target", [X86, AARCH64], ids=["x86-64", "aarch64"])
@pytest.mark.parametrize("major", VERSIONS)
def test_some_objects_are_the_same(major: int, target: tuple[str, ...], tmp_path: Path) -> None:
    loops = sum(
        _loops_where_same(major, source, (*target, LEVELS[n % len(LEVELS)], "-g1"), tmp_path)
        for n, source in enumerate(SOME)
    )
    assert loops > len(SOME)


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("target", [X86, AARCH64], ids=["x86-64", "aarch64"])
@pytest.mark.parametrize("major", VERSIONS)
def test_objects_are_the_same(major: int, target: tuple[str, ...], level: str, tmp_path: Path) -> None:
    third = THIRDS[(LEVELS.index(level) + (target is X86) + major) % 3]
    counted = [_loops_where_same(major, source, (*target, level), tmp_path) for source in third]
    assert sum(map(bool, counted)) >= 6


# What changes how names are kept, where passes are, or which loops there are.
OTHERS = (
    ("-O2", "-fno-discard-value-names"),
    ("-O2", "-g", "-fsanitize=undefined", "-fsanitize-trap=undefined"),
    ("-O2", "-fprofile-instr-generate"),
    ("-O3", "-fno-vectorize"),
    ("-O3", "-mllvm", "-prefer-predicate-over-epilogue=predicate-dont-vectorize"),
    ("-O3", "-mllvm", "-enable-unroll-and-jam"),
    ("-O3", "-mllvm", "-enable-loop-distribute"),
    ("-O3", "-fno-math-errno", "-ffast-math", "-mprefer-vector-width=512", "-Rpass=loop-vectorize"),
)


@pytest.mark.long
@pytest.mark.parametrize("options", OTHERS, ids=lambda options: "".join(options[1:3]))
@pytest.mark.parametrize("major", VERSIONS)
def test_objects_are_the_same_with_other_options(major: int, options: tuple[str, ...], tmp_path: Path) -> None:
    assert _loops_where_same(major, ROOT / "bench/elements_kernels.c", (*HOST, *options), tmp_path) > 60


@pytest.mark.parametrize("major", VERSIONS)
def test_nothing_but_names_is_in_the_assembly(major: int, tmp_path: Path) -> None:
    texts = []
    for plugin in (False, True):
        load = [f"-fpass-plugin={plugin_for(major, {})}"] if plugin else []
        command = [f"clang-{major}", "-w", *HOST, "-O3", "-S", "-o", "-", *load, ROOT / "bench/elements_kernels.c"]
        texts.append(subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout)
    assert texts[1].count("%incc.loop.") > 60
    plain = [[line for line in re.sub(r"[ \t]*#.*", "", text).splitlines() if line] for text in texts]
    assert plain[0] == plain[1]
    assert list(tmp_path.iterdir()) == [], "no table unless it is asked for"

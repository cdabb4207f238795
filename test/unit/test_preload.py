"""The preloaded library: which calls of a build start incc, and that all others are carried out as they were meant."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from wrapper_launcher import Result, front, run

from incc.driver import builds
from incc.frontends.gcc_wrapper.compiler import COMPILER_NAME

ROOT = Path(__file__).parents[2]
LIBRARY = Path(builds.__file__ or "").with_name("libincc-preload.so")
pytestmark = pytest.mark.skipif(not LIBRARY.exists() or not shutil.which("gcc"), reason="no gcc, or not Linux")

PATHS = ["execve", "execv", "execl", "execle", "vfork", "posix_spawn", "threads"]
NAMES = ["execvp", "execvpe", "execlp", "posix_spawnp"]
SAYS = '#!/bin/sh\necho "$0" "$@"\n'


class Place:
    """A folder with a program that executes others, a stand-in for incc that says how it was called, and a compiler."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.incc, self.compiler = self.script("incc"), self.script("bin/gcc-12")
        self.executes = self.built("executes", (ROOT / "test/unit/data/executes.c").read_text())

    def script(self, name: str, text: str = SAYS) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def built(self, name: str, source: str, *options: str) -> Path:
        (self.folder / f"{name}.c").write_text(source)
        command = ["gcc", "-w", "-O1", *options, f"{name}.c", "-o", name]
        made = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"gcc cannot: {made.stderr}")
        return self.folder / name

    def __call__(self, way: str, program: str | Path, *words: str, **variables: str) -> Result:
        environment = {"LD_PRELOAD": str(LIBRARY), "INCC_PROGRAM": str(self.incc), "INCC_MODE": "lean", **variables}
        return run([self.executes, way, program, *words], self.folder, **environment)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("way", PATHS)
def test_a_compiler_called_by_its_path_is_incc_s(place: Place, way: str) -> None:
    done = place(way, place.compiler, "name", "-c", "a.c")
    times = 8 if way == "threads" else 1
    assert done == Result(0, f"{place.incc} --incc-exec {place.compiler} name -c a.c\n".encode() * times, b"")


@pytest.mark.parametrize("way", NAMES)
def test_a_compiler_that_is_found_in_path_is_incc_s(place: Place, way: str) -> None:
    (place.folder / "first").mkdir()
    (place.folder / "first" / "gcc-12").write_text("not to be executed")
    path = f"{place.folder}/first:/no/where:{place.folder}/bin:/usr/bin:/bin"
    for name in ("gcc-12", str(place.compiler)):
        done = place(way, name, "gcc-12", "-c", "a.c", PATH=path)
        assert done.out.decode() == f"{place.incc} --incc-exec {place.compiler} gcc-12 -c a.c\n"


@pytest.mark.parametrize("way", ["system", "popen"])
def test_a_command_of_a_shell(place: Place, way: str) -> None:
    assert place(way, "", f"exec {place.compiler} -c a.c").out.startswith(f"{place.incc} --incc-exec".encode())


@pytest.mark.parametrize("name", ["ld", "gcc-ar", "cc1", "clang-format-19", "executable"])
def test_what_is_no_compiler_is_executed(place: Place, name: str) -> None:
    other = place.script(f"bin/{name}")
    for way in PATHS[:-1]:
        assert place(way, other, name, "-c", "a.c") == Result(0, f"{other} -c a.c\n".encode(), b"")


def test_incc_itself_and_what_it_starts_are_executed(place: Place) -> None:
    link = place.folder / "clang"
    link.symlink_to(place.incc)
    assert place("execve", link, "clang", "-c").out.decode() == f"{link} -c\n"
    done = place("execve", place.compiler, "gcc-12", "-c", INCC_DEPTH="1")
    assert done.out.decode() == f"{place.compiler} -c\n"


def test_without_incc_the_compiler_is_executed(place: Place) -> None:
    plain = f"{place.compiler} -c\n"
    for program in ("/no/where/incc", "", str(place.folder)):
        assert place("execve", place.compiler, "gcc-12", "-c", INCC_PROGRAM=program).out.decode() == plain
    place.incc.chmod(0o644)
    for way in ("execve", "posix_spawn", "vfork"):
        assert place(way, place.compiler, "gcc-12", "-c").out.decode() == plain


@pytest.mark.parametrize("way", ["execve", "execvp", "posix_spawn"])
def test_what_cannot_be_executed_fails_in_the_same_way(place: Place, way: str) -> None:
    place.script("bin/cc").chmod(0o644)
    place.script("bin/clang", "neither a program nor a script of a known kind\n")
    (place.folder / "bin/g++").mkdir()
    for name in ("cc", "clang", "g++", "c99"):
        program = place.folder / "bin" / name
        plain = run([place.executes, way, program, name], place.folder)
        assert place(way, program, name) == plain


def test_a_cleared_environment_keeps_the_build_s(place: Place) -> None:
    place.script("says", "#!/bin/sh\nenv\n")
    words = set(place("cleared", place.folder / "says", "says").out.decode().split())
    assert words >= {f"LD_PRELOAD={LIBRARY}", f"INCC_PROGRAM={place.incc}", "INCC_MODE=lean", "PATH=/usr/bin:/bin"}
    assert (
        place("empty", place.compiler, "gcc-12").out.decode() == f"{place.incc} --incc-exec {place.compiler} gcc-12\n"
    )


def test_libraries_of_the_user_stay(place: Place) -> None:
    own = place.built("own.so", "int own;", "-shared", "-fPIC")
    place.script("says", '#!/bin/sh\necho "$LD_PRELOAD"\n')
    both = place("execve", place.folder / "says", "says", LD_PRELOAD=f"{own}:{LIBRARY}")
    assert both == Result(0, f"{own}:{LIBRARY}\n".encode(), b"")
    # A program that sets the variable for its own purposes (fakeroot).
    setting = place.script("sets", f"#!/bin/sh\nLD_PRELOAD={own} exec {place.folder / 'says'}\n")
    assert place("execve", setting, "sets") == Result(0, f"{own}:{LIBRARY}\n".encode(), b"")


PRINTS = """#include <stdio.h>
extern char **environ;
int main(void) { for (char **v = environ; *v; ++v) puts(*v); }
"""


@pytest.mark.parametrize("option", ["address", "thread", "undefined", "leak"])
def test_programs_with_a_sanitizer_run_without_the_library(place: Place, option: str) -> None:
    shared = place.built("shared", PRINTS, f"-fsanitize={option}")
    done = place("execve", shared, "shared", ASAN_OPTIONS="detect_leaks=0")
    assert (done.status, done.err) == (0, b"")
    assert b"LD_PRELOAD" not in done.out
    assert b"INCC_PROGRAM" in done.out


def test_a_program_that_is_a_sanitizer_s_executes_what_it_wants(place: Place) -> None:
    source = (ROOT / "test/unit/data/executes.c").read_text()
    place.executes = place.built("sanitized", source, "-fsanitize=address", "-static-libasan", "-rdynamic")
    done = place("execve", place.compiler, "gcc-12", "-c", ASAN_OPTIONS="detect_leaks=0")
    assert done == Result(0, f"{place.compiler} -c\n".encode(), b"")


def test_programs_of_another_c_library_run_without_the_library(place: Place) -> None:
    loader = next(
        word for word in subprocess.check_output(["ldd", place.executes], text=True).split() if "/ld-" in word
    )
    other = place.folder / "ld-other.so"
    shutil.copy(loader, other)
    program = place.built("other", PRINTS, f"-Wl,--dynamic-linker={other}")
    for executed in (program, place.script("script", f"#! {program}\n")):
        done = place("execve", executed, "other")
        assert done.status == 0
        assert b"LD_PRELOAD" not in done.out
    # Of several libraries the others stay.
    own = place.built("own.so", "int own;", "-shared", "-fPIC")
    assert f"LD_PRELOAD={own}\n".encode() in place("execve", program, "", LD_PRELOAD=f"{own} {LIBRARY}").out


STATIC_32 = r"""
static void call(long n, long a, long b, long c) {
  __asm__ volatile("int $0x80" : "+a"(n) : "b"(a), "c"(b), "d"(c) : "memory");
}
__attribute__((naked)) void _start(void) { __asm__("mov %esp, %eax; push %eax; call entry"); }
void entry(char **stack) {
  for (char **v = stack + *(int *)stack + 2; *v; ++v) {
    long length = 0;
    while ((*v)[length]) ++length;
    call(4, 1, (long)*v, length);
    call(4, 1, (long)"\n", 1);
  }
  call(1, 0, 0, 0);
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="not x86-64")
def test_programs_of_32_bits_run_without_the_library(place: Place) -> None:
    options = ["-m32", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-fno-stack-protector"]
    program = place.built("small", STATIC_32, *options)
    done = place("execve", program, "small")
    if done.status == 126 or b"Exec format" in done.err:
        pytest.skip("the kernel does not execute programs of 32 bits")
    assert done.status == 0
    assert b"LD_PRELOAD" not in done.out
    assert b"INCC_PROGRAM" in done.out


def test_compilers_see_their_names_and_no_library(place: Place) -> None:
    """With the real program in front."""
    gcc = os.path.realpath(shutil.which("gcc") or "")
    link = place.folder / "gcc"
    link.symlink_to(gcc)
    place.incc = front()
    for path, name in ((gcc, "gcc"), (gcc, gcc), (str(link), str(link)), (str(link), "-odd")):
        plain = run([place.executes, "execve", path, name, "-v"], place.folder)
        assert b"COLLECT_GCC=" in plain.err
        assert place("execve", path, name, "-v") == plain
    says = place.script("bin/clang", "#!/bin/sh\nenv\n")
    assert b"LD_PRELOAD" not in place("execve", says, "clang").out


def test_a_compiler_finds_its_parts_without_path(place: Place) -> None:
    place.incc = front()
    (place.folder / "x.c").write_text("int x;\n")
    env, gcc = shutil.which("env") or "", shutil.which("gcc") or ""
    assert place("execve", env, "env", "-u", "PATH", gcc, "-c", "x.c") == Result(0, b"", b"")


def test_what_the_library_needs(place: Place) -> None:
    done = subprocess.run(["readelf", "-dW", LIBRARY], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no readelf")
    assert set(re.findall(r"NEEDED.*\[(\S+?)[.-]", done.stdout)) <= {"libc", "libdl"}
    assert "BIND_NOW" in done.stdout


def test_all_parts_know_the_same_compilers() -> None:
    front = (ROOT / "front/names.cpp").read_text()
    names = {n for part in re.findall(r"\w+Names\[\] = \{([^}]*)\}", front) for n in re.findall(r'"([^"]+)"', part)}
    assert len(names) > 20
    for name in names:
        for variant in (name, f"{name}-12", f"x86_64-linux-gnu-{name}-12.1"):
            assert COMPILER_NAME.fullmatch(variant), variant
    alternatives = COMPILER_NAME.pattern.replace("(amd|arm)?(clang|clang\\+\\+|flang)", "clang|clang++|flang")
    listed = set(re.findall(r"[a-z][\w+-]*", alternatives.replace("\\+", "+").replace("\\d", "")))
    assert listed <= names

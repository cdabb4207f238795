"""Programs with probes that do what is hard on probes, built in many ways, do what they do without probes."""

from __future__ import annotations

import os
import pathlib
import resource
import shutil
import stat
import subprocess

import pytest
from test_probes import COMPILERS, environment

from incc.running.compiling import RUNTIME
from incc.running.profile import ProgramProfile, read_profile

pytestmark = pytest.mark.skipif(not os.path.exists(RUNTIME), reason="no runtime for probes on this platform")

PROGRAMS = pathlib.Path(__file__).parent / "data" / "probes"


def compiler_for(source: str, compiler: str) -> str:
    """Return the compiler of the same kind for the language of a source."""
    found = compiler
    if source.endswith(".cpp"):
        found = compiler.replace("gcc", "g++").replace("clang", "clang++")
    if shutil.which(found) is None:
        pytest.skip(f"no {found}")
    return found


def compile_with(folder: pathlib.Path, probes: bool, words: list[str]) -> None:
    """Run a compiler with or without probes; both must say the same."""
    command = ["incc", words[0], "--analyze-probe", *words[1:]] if probes else words
    done = subprocess.run(
        command, cwd=folder, env=environment(XDG_DATA_HOME=str(folder)), capture_output=True, text=True, check=False
    )
    if not probes and done.returncode:
        pytest.skip(f"the compiler cannot do this: {done.stderr.splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr


def built(folder: pathlib.Path, compiler: str, *words: str) -> tuple[str, str]:
    """Build a program without and with probes and return the paths."""
    for name in words:
        if (PROGRAMS / name).exists():
            shutil.copy(PROGRAMS / name, folder)
    for name in ("plain", "probed"):
        compile_with(folder, name == "probed", [compiler, *words, "-o", name])
    return str(folder / "plain"), str(folder / "probed")


class Outcome(tuple[int, str]):
    """The exit status and the output of a program."""


def outcome(program: str, *arguments: str, profiles: str = "", cwd: pathlib.Path | None = None) -> Outcome:
    """Run a program with INCC_PROBES, or without if `profiles` is ""."""
    variables = environment(INCC_PROBES=profiles) if profiles else environment()
    done = subprocess.run(
        [program, *arguments],
        env=variables,
        cwd=cwd or os.path.dirname(program),
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    return Outcome((done.returncode, done.stdout))


def run_both(folder: pathlib.Path, programs: tuple[str, str], *arguments: str) -> list[ProgramProfile]:
    """Run a program without and with probes, recording and not; return the profiles if it does the same."""
    profiles = folder / f"profiles{len(list(folder.glob('profiles*')))}"
    profiles.mkdir()
    plain, probed = programs
    expected = outcome(plain, *arguments)
    assert outcome(probed, *arguments) == expected
    assert outcome(probed, *arguments, profiles=str(profiles)) == expected
    return [read_profile(str(file)) for file in sorted(profiles.iterdir())]


def entries(profiles: list[ProgramProfile], function: str) -> int:
    """Return the entries of a function's loops in all processes."""
    loops = [loop for profile in profiles for loop in profile.loops]
    return sum(loop.entries for loop in loops if function in loop.loop.kernel.partition("/")[0])


MATTERS = {
    "exceptions.cpp": (),
    "jumps.c": (),
    "threads.c": ("-pthread",),
    "openmp.c": ("-fopenmp",),
    "forks.c": (),
    "opaque.c": (),
    "vectors.c": ("-O3", "-march=native", "-ffast-math"),
}
"""The programs, and the options that they are about."""


@pytest.mark.parametrize("options", ["-O1", "-O2", "-O3 -fPIC", pytest.param("-O0", marks=pytest.mark.long)])
@pytest.mark.parametrize("source", MATTERS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_hard_programs_do_what_they_did(compiler: str, source: str, options: str, tmp_path: pathlib.Path) -> None:
    words = [*options.split(), *MATTERS[source], source]
    programs = built(tmp_path, compiler_for(source, compiler), *words)
    profiles = run_both(tmp_path, programs)
    assert any(profile.loops for profile in profiles)


def test_children_have_profiles_of_their_own(tmp_path: pathlib.Path) -> None:
    profiles = run_both(tmp_path, built(tmp_path, "gcc", "-O1", "forks.c"))
    # The program, three children with a child each, vfork's and posix_spawn's. Other children write no file.
    assert len({profile.process for profile in profiles}) == len(profiles) == 9
    whole = sorted(entries([profile], "compute") for profile in profiles)
    assert whole[0] >= 1


def test_profiles_have_the_entries_of_all_threads(tmp_path: pathlib.Path) -> None:
    profiles = run_both(tmp_path, built(tmp_path, "gcc", "-O1", "-pthread", "threads.c"))
    # 20 waves of 32 threads with 100 rounds, and of one with one round.
    assert entries(profiles, "count") == 20 * (32 * 100 + 1)
    (profile,) = profiles
    assert os.path.getsize(profile.path) < 16 << 20  # threads take the places of those that have ended


def test_entries_are_exact_beside_exceptions(tmp_path: pathlib.Path) -> None:
    profiles = run_both(tmp_path, built(tmp_path, "g++", "-O1", "exceptions.cpp"))
    assert entries(profiles, "through") == 300
    lost = sum(loop.lost for profile in profiles for loop in profile.loops)
    assert lost > 0


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "options", ["-O2", "-O1 -fno-omit-frame-pointer", "-O2 -fomit-frame-pointer -fno-plt", "-O0", "-O3 -march=native"]
)
def test_a_backtrace_from_a_probe_reaches_main(compiler: str, options: str, tmp_path: pathlib.Path) -> None:
    words = [*options.split(), "-fasynchronous-unwind-tables", "backtraces.c"]
    _, probed = built(tmp_path, compiler_for("", compiler), *words)
    (tmp_path / "profiles").mkdir()
    assert outcome(probed, profiles=str(tmp_path / "profiles")) == (0, "1 0\n")


# --- where programs run -----------------------------------------------------------------------------------------------

WAYS = ("", "close", "files", "size", "memory", "folder", "_exit", "abort", "kill", "fault")


def test_surroundings_and_ends(tmp_path: pathlib.Path) -> None:
    programs = built(tmp_path, "gcc", "-O1", "surroundings.c")
    for way in WAYS:
        (profile,) = run_both(tmp_path, programs, way)
        assert profile.is_complete == (way not in ("_exit", "abort", "kill", "fault")), way
        if way not in ("files", "size", "memory"):
            assert entries([profile], "sum") == entries([profile], "alternate") == 200, way
    if os.geteuid() == 0:
        jail = tmp_path / "jail"
        jail.mkdir()
        profiles = tmp_path / "profiles"
        profiles.mkdir()
        expected = outcome(programs[0], "chroot", cwd=jail)
        assert expected[0] == 0
        assert outcome(programs[1], "chroot", profiles=str(profiles), cwd=jail) == expected


def test_places_for_profiles_that_are_none(tmp_path: pathlib.Path) -> None:
    plain, probed = built(tmp_path, "gcc", "-O1", "surroundings.c")
    expected = outcome(plain)
    file, folder = tmp_path / "file", tmp_path / "read-only"
    file.write_text("text")
    folder.mkdir(mode=0o500)
    for place in (str(file), str(folder), str(tmp_path / "none"), "", "/proc", "/dev/null", "x" * 5000):
        done = subprocess.run(
            [probed], env=environment(INCC_PROBES=place), stdout=subprocess.PIPE, text=True, check=False
        )
        assert (done.returncode, done.stdout) == expected, place
    assert file.read_text() == "text"


def test_without_space_for_a_profile_nothing_is_left(tmp_path: pathlib.Path) -> None:
    plain, probed = built(tmp_path, "gcc", "-O1", "surroundings.c")
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    for size in (0, 1000, 4096, 5000, 20_000):
        for path in profiles.iterdir():
            path.unlink()
        done = subprocess.run(
            [probed],
            env=environment(INCC_PROBES=str(profiles)),
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
            check=False,
        )
        assert (done.returncode, done.stdout) == outcome(plain), size
        assert all(path.stat().st_size <= size for path in profiles.iterdir())
        assert size >= 4096 or not list(profiles.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make such programs")
def test_set_user_id_programs_record_nothing(tmp_path: pathlib.Path) -> None:
    plain, probed = built(tmp_path, "gcc", "-O1", "surroundings.c")
    for folder in (tmp_path, *tmp_path.parents):
        if not stat.S_IMODE(folder.stat().st_mode) & 0o001:
            pytest.skip("other users cannot enter the temporary folder")
    os.chmod(probed, 0o4755)
    profiles = tmp_path / "profiles"
    profiles.mkdir(mode=0o777)
    done = subprocess.run(
        [probed], env=environment(INCC_PROBES=str(profiles)), stdout=subprocess.PIPE, text=True, user=65534, check=False
    )
    assert (done.returncode, done.stdout) == outcome(plain)
    assert not list(profiles.iterdir())


def test_libraries_come_and_go_while_threads_run(tmp_path: pathlib.Path) -> None:
    plain, probed = built(tmp_path, "gcc", "-O2", "-pthread", "loader.c", "-ldl")
    shutil.copy(PROGRAMS / "plugin.c", tmp_path)
    results = []
    for kind, program in (("plain", plain), ("probed", probed)):
        names = [str(tmp_path / f"{kind}{number}.so") for number in range(4)]
        for name in names:
            words = ["gcc", "-O2", "-shared", "-fPIC", f"-DNUMBER={name[-4]}", "plugin.c", "-o", name]
            compile_with(tmp_path, kind == "probed", words)
        profiles = tmp_path / kind
        shutil.rmtree(profiles, ignore_errors=True)
        (tmp_path / f"profiles-{kind}").mkdir()
        results.append(outcome(program, *names, profiles=str(tmp_path / f"profiles-{kind}")))
    assert results[0] == results[1]
    (file,) = (tmp_path / "profiles-probed").iterdir()
    profile = read_profile(str(file))
    of_plugins = [loop for loop in profile.loops if loop.module != profile.program]
    # Each of three libraries was loaded 40 times. One that several threads load stays loaded at times.
    assert len({loop.module for loop in of_plugins}) == 4
    once = [loop for loop in of_plugins if loop.module != names[0] and loop.loop.kernel.startswith("plugin")]
    assert sum(loop.entries for loop in once) % 40 == 0


def test_profiles_have_absolute_paths_of_programs_and_libraries(tmp_path: pathlib.Path) -> None:
    built(tmp_path, "gcc", "-O2", "-pthread", "loader.c", "-ldl")
    shutil.copy(PROGRAMS / "plugin.c", tmp_path)
    compile_with(tmp_path, True, ["gcc", "-O2", "-shared", "-fPIC", "-DNUMBER=0", "plugin.c", "-o", "plugin.so"])
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    # Both are named as the program and its user name them.
    assert outcome("./probed", *["./plugin.so"] * 4, profiles=str(profiles), cwd=tmp_path)[0] == 0
    (file,) = profiles.iterdir()
    modules = {loop.module for loop in read_profile(str(file)).loops}
    assert modules == {str(tmp_path / "probed"), str(tmp_path / "plugin.so")}


# --- how programs are built -------------------------------------------------------------------------------------------

GENERAL = (
    "-static",
    "-static-pie -fPIE",
    "-fPIC -pie",
    "-fno-pic -no-pie",
    "-mcmodel=medium",
    "-mcmodel=large",
    "-fno-plt -Wl,-z,now",
    "-fcf-protection=full",
    "-mno-red-zone",
    "-fomit-frame-pointer",
    "-fno-omit-frame-pointer",
    "-fno-asynchronous-unwind-tables",
    "-pipe",
    "-save-temps",
    "-save-temps -g -masm=intel",
    "-flto",
    "-ffunction-sections -fdata-sections -Wl,--gc-sections",
    "-ffunction-sections -Wl,--gc-sections -fuse-ld=gold",
    "-ffunction-sections -Wl,--gc-sections -fuse-ld=lld",
    "-fuse-ld=bfd -Wl,-z,start-stop-gc -Wl,--gc-sections -ffunction-sections",
    "-masm=intel",
    "-g",
    "-ggdb3",
    "-g -gsplit-dwarf",
    "-g -gz",
    "-fsanitize=address",
    "-fsanitize=undefined",
    "-fsanitize=thread",
    "-pg",
    "-O0",
    "-Og",
    "-Os",
    "-Ofast -march=native",
    "-fstack-protector-all",
    "-fstack-clash-protection",
    "-mstackrealign -mpreferred-stack-boundary=5",
    "-fsplit-stack",
    "-fverbose-asm",
    "-fno-ident",
    "-Wa,--noexecstack -Wa,-L",
    "-Wa,--fatal-warnings",
    "-x c",
)
"""Ways to build that change the code, the text or the link."""
QUICK = frozenset(("-static", "-mcmodel=medium", "-save-temps -g -masm=intel", "-flto", "-fsanitize=address", "-pg"))


@pytest.mark.parametrize(
    "options", [pytest.param(each, marks=() if each in QUICK else pytest.mark.long) for each in GENERAL]
)
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_ways_to_build(compiler: str, options: str, tmp_path: pathlib.Path) -> None:
    programs = built(tmp_path, compiler_for("", compiler), "-O2", *options.split(), "forks.c")
    profiles = run_both(tmp_path, programs)
    if (compiler, options) != ("clang-19", "-flto"):  # its linker writes the code, without an assembler
        assert profiles
        assert entries(profiles, "fresh") or entries(profiles, "compute") or entries(profiles, "main")


def test_commands_with_several_sources_response_files_and_places(tmp_path: pathlib.Path) -> None:
    (tmp_path / "one.c").write_text(
        "long one(const long *a, long n) { long s = 0; while (n--) s += *a++; return s; }\n"
    )
    (tmp_path / "two.c").write_text(
        "#include <stdio.h>\nlong one(const long *, long);\n"
        'int main(void) { long a[9]; for (int i = 0; i < 9; ++i) a[i] = i; printf("%ld", one(a, 9)); return 0; }\n'
    )
    (tmp_path / "out dir").mkdir()
    (tmp_path / "options").write_text("-O1 one.c two.c -o together\n")
    compile_with(tmp_path, True, ["gcc", "@options"])
    for name in ("one", "two"):
        compile_with(tmp_path, True, ["gcc", "-O1", "-c", f"{name}.c", "-o", f"out dir/{name}.o"])
    compile_with(tmp_path, True, ["gcc", "out dir/one.o", "out dir/two.o", "-o", "apart"])
    for program in ("together", "apart"):
        profiles = tmp_path / f"profiles-{program}"
        profiles.mkdir()
        assert outcome(str(tmp_path / program), profiles=str(profiles)) == (0, "36")
        (file,) = profiles.iterdir()
        assert entries([read_profile(str(file))], "one") == 1


def test_ccache_does_not_mix_probes_with_plain_code(tmp_path: pathlib.Path) -> None:
    if shutil.which("ccache") is None:
        pytest.skip("no ccache")
    shutil.copy(PROGRAMS / "plugin.c", tmp_path)
    variables = environment(XDG_DATA_HOME=str(tmp_path), CCACHE_DIR=str(tmp_path / "cache"))
    for front in (["incc", "ccache", "gcc", "--analyze-probe"], ["ccache", "gcc"], ["ccache", "gcc"]):
        subprocess.run([*front, "-O2", "-c", "plugin.c", "-o", "plugin.o"], cwd=tmp_path, env=variables, check=True)
    assert b"incc_probe" not in (tmp_path / "plugin.o").read_bytes()


def test_fortran(tmp_path: pathlib.Path) -> None:
    compiler = compiler_for("", "gfortran")
    (tmp_path / "sum.f90").write_text(
        "program sums\n  real :: a(1000)\n  real :: s\n  integer :: i, k\n  s = 0\n  do k = 1, 50\n    do i = 1, 1000\n"
        "      a(i) = real(i * k)\n    end do\n    s = s + sum(a)\n  end do\n  print *, s\nend program\n"
    )
    for options in ("-O1", "-O3 -march=native"):
        profiles = run_both(tmp_path, built(tmp_path, compiler, *options.split(), "sum.f90"))
        assert profiles


def test_assembly_by_hand_and_code_without_a_system_have_no_probes(tmp_path: pathlib.Path) -> None:
    loop = ".globl f\nf:\n\tmovl $9, %ecx\n1:\n\tdecl %ecx\n\tjne 1b\n\tret\n.type f, @function\n"
    (tmp_path / "hand.S").write_text(loop)
    (tmp_path / "hand.s").write_text(loop)
    shutil.copy(PROGRAMS / "plugin.c", tmp_path)
    (tmp_path / "options").write_text("-nostdlib plugin.c")
    kernel = ["-mcmodel=kernel", "-fno-pic", "plugin.c"]
    for words in (["hand.S"], ["hand.s"], ["-ffreestanding", "plugin.c"], kernel, ["@options"]):
        compile_with(tmp_path, True, ["gcc", "-c", *words, "-o", "object.o"])
        assert b"incc_probe" not in (tmp_path / "object.o").read_bytes(), words


def test_an_assembler_that_fails_fails_as_without_probes(tmp_path: pathlib.Path) -> None:
    shutil.copy(PROGRAMS / "plugin.c", tmp_path)
    assembler = tmp_path / "as"
    for script in ("exit 3", "kill -SEGV $$", "echo no >&2; exit 1"):
        assembler.write_text(f"#!/bin/sh\n{script}\n")
        assembler.chmod(0o755)
        done = [
            subprocess.run(
                [*front, "-B.", "-c", "plugin.c"],
                cwd=tmp_path,
                env=environment(XDG_DATA_HOME=str(tmp_path)),
                capture_output=True,
                text=True,
                check=False,
            )
            for front in (["gcc"], ["incc", "gcc", "--analyze-probe"])
        ]
        assert done[0].returncode == done[1].returncode != 0
        assert done[0].stderr == done[1].stderr


def test_objects_of_another_version_are_not_recorded(tmp_path: pathlib.Path) -> None:
    """Their names have another number, so the runtime neither reads their loops nor is called by their probes."""
    (tmp_path / "old.c").write_text(
        "long old(long *a) { long s = 0; for (int i = 0; i < 99; i++) s += a[i]; return s; }"
    )
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nlong old(long *); long a[99];\n"
        'int main(int n, char **v) { for (int i = 0; i < 99; i++) a[i] = i * n; printf("%ld\\n", old(a)); }'
    )
    compile_with(tmp_path, True, ["gcc", "-O1", "-c", "old.c", "main.c"])
    sections = ["incc_probes2", ".rodata.incc_probes2", ".tbss.incc_probe2_distance"]
    symbols = [f"incc_probe2_{name}" for name in ("enter", "leave", "distance")]
    renamed = [f"--rename-section={name}={name.replace('2', '1')}" for name in sections]
    renamed += [f"--redefine-sym={name}={name.replace('2', '1')}" for name in symbols]
    subprocess.run(["objcopy", *renamed, "old.o"], cwd=tmp_path, check=True)
    compile_with(tmp_path, True, ["gcc", "main.o", "old.o", "-o", "probed"])
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    assert outcome(str(tmp_path / "probed"), profiles=str(profiles)) == (0, "4851\n")
    (profile,) = (read_profile(str(path)) for path in profiles.iterdir())
    assert {loop.loop.kernel.partition("/")[0] for loop in profile.loops} == {"main"}

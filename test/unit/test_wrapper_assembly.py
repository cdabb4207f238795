"""How a driver's dry run is read, and which runs for assembly come of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends.gcc_wrapper.assembly import AssemblyPlan, make_plan
from incc.frontends.gcc_wrapper.dry_run import SubCommand, parse


def quoted(word: str) -> str:
    """A word as gcc and clang print it."""
    return '"' + "".join("\\" + c if c in '"\\$' else c for c in word) + '"'


@given(st.lists(st.lists(st.text(st.characters(exclude_characters="\0")), min_size=1), max_size=4))
def test_words_survive(commands: list[list[str]]) -> None:
    text = "gcc version 1.2 (me)\n" + "".join(" " + " ".join(map(quoted, c)) + "\n" for c in commands)
    # A lone | is gcc's sign for a pipe.
    expected = [SubCommand(tuple(c[:-1]), True) if c[-1] == "|" else SubCommand(tuple(c), False) for c in commands]
    assert list(parse(text).commands) == expected
    assert parse(text).version == "1.2 (me)"


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    parse(text)


@given(st.text())
def test_settings_are_no_commands(value: str) -> None:
    escaped = value.replace("'", "'\\''")
    text = f"COLLECT_GCC_OPTIONS='-D' '{escaped}'\n /usr/bin/cc1 x.c\n"
    assert parse(text).commands == (SubCommand(("/usr/bin/cc1", "x.c"), False),)


@pytest.mark.parametrize("cc", ["gcc", "gcc-11", "clang-14", "clang-19"])
def test_real_drivers(cc: str, tmp_path: Path) -> None:
    if not shutil.which(cc):
        pytest.skip(f"no {cc}")
    macro = "-DX=a \"b\" 'c' $d \\ \n e"
    (tmp_path / "x y.c").touch()
    done = subprocess.run([cc, "-###", macro, "-c", "x y.c"], cwd=tmp_path, capture_output=True, text=True)
    words = next(c.words for c in parse(done.stderr).commands if "x y.c" in c.words)
    assert macro in words or (words[words.index("-D") + 1] == macro[2:])


def plan(*lines: str, arguments: tuple[str, ...] = (), target: str = "x86_64-linux-gnu") -> AssemblyPlan:
    text = f"Target: {target}\ngcc version 12\n" + "".join(f" {line}\n" for line in lines)
    return make_plan(parse(text), arguments, "/scratch")


def test_gcc_writes_nothing_but_assembly() -> None:
    (run,) = plan(
        "/lib/cc1 -quiet -MD a.d -MMD b.d -MF c.d -MFc.d -MT t -MQ q -MP -MG -D X=-MD -I inc a.c -dumpdir out/ "
        "-dumpbase a.c -dumpbase-ext .c -O3 -da -dumpdir x -fdump-tree-all -fstack-usage -fcallgraph-info=su "
        "-fopt-info=f -fsave-optimization-record -aux-info p -ftest-coverage -fprofile-arcs -o /tmp/x.s",
        "as -o a.o /tmp/x.s",
        arguments=("-c", "a.c"),
    ).runs
    assert run.source == "a.c"
    assert run.output == "/scratch/0.s"
    (command,) = run.commands
    assert " ".join(command) == (
        "/lib/cc1 -quiet -D X=-MD -I inc a.c -dumpbase a.c -dumpbase-ext .c -O3 -ftest-coverage -fprofile-arcs "
        "-w -dumpdir /scratch/0. -g1 -o /scratch/0.s"
    )


def test_clang_writes_nothing_but_assembly() -> None:
    (run,) = plan(
        '"/bin/clang-19" "-cc1" "-triple" "x86_64-pc-linux-gnu" "-emit-obj" "-O2" "-target-cpu" "skylake" '
        '"-dependency-file" "a.d" "-MT" "a.o" "-sys-header-deps" "-split-dwarf-output" "a.dwo" "-ftime-trace=a.json" '
        '"-coverage-notes-file" "a.gcno" "-opt-record-file" "a.yaml" "-stack-usage-file" "a.su" '
        '"-o" "a.o" "-x" "c" "a.c"'
    ).runs
    (command,) = run.commands
    assert " ".join(command) == (
        "/bin/clang-19 -cc1 -w -o /scratch/0.s -debug-info-kind=line-tables-only -dwarf-version=5 "
        "-triple x86_64-pc-linux-gnu -S -O2 -target-cpu skylake -coverage-notes-file /scratch/0.gcno -x c a.c"
    )
    assert (run.source, run.cpu) == ("a.c", "skylake")


def test_profiles_are_looked_for_in_their_place() -> None:
    (run,) = plan("/lib/cc1 a.c -dumpdir out/ -dumpbase a.c -fprofile-use -ftest-coverage -o x.s").runs
    (command,) = run.commands
    assert " ".join(command).startswith("/lib/cc1 a.c -dumpdir out/ -dumpbase a.c -fprofile-use -ftest-coverage")
    assert "-fprofile-note=/scratch/0.gcno" in command


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ("", True),
        ("-g", False),
        ("-g0", True),
        ("-g -g0", True),
        ("-g0 -ggdb3", False),
        ("-gdwarf-4", False),
        ("-gno-column-info", True),
        ("-gsplit-dwarf -g2", False),
        ("-g1", False),
    ],
)
def test_line_information_is_asked_for_where_there_is_none(flags: str, asked: bool) -> None:
    (run,) = plan(f"/lib/cc1 a.c {flags} -o x.s").runs
    assert (run.commands[0].count("-g1") == 1 + flags.split().count("-g1")) == asked


def test_steps_that_depend_on_each_other() -> None:
    (run,) = plan(
        "/lib/cc1 -E a.c -MD a.d -o a.i",
        "/lib/cc1 -fpreprocessed a.i -dumpbase a.c -o a.s",
        "as -o a.o a.s",
        arguments=("-c", "a.c", "-save-temps"),
    ).runs
    preprocess, compile = run.commands
    assert preprocess[-2:] == ("-o", "/scratch/0.i")
    assert "/scratch/0.i" in compile
    assert "a.i" not in compile
    assert run.source == "a.c"


def test_marks_are_read_by_the_step_that_reads_the_source() -> None:
    """With -save-temps, clang makes bitcode of the source, and code of the bitcode."""
    lines = (
        '"/lib/clang" "-cc1" "-E" "-o" "a.i" "-x" "c" "a.c"',
        '"/lib/clang" "-cc1" "-emit-llvm-bc" "-o" "a.bc" "-x" "cpp-output" "a.i"',
        '"/lib/clang" "-cc1" "-S" "-o" "a.s" "-x" "ir" "a.bc"',
    )
    dry_run = parse("Target: x86_64-linux-gnu\nclang version 19\n" + "".join(f" {line}\n" for line in lines))
    (run,) = make_plan(dry_run, ("-S", "a.c", "-save-temps"), "/scratch", source_plugin="marks.so").runs
    assert ["marks.so" in command for command in run.commands] == [False, True, False]
    assert (run.source_plugin, run.marks) == (("-load", "marks.so"), "/scratch/1.marks.json")


def test_one_temporary_name_for_many_sources() -> None:
    """gcc gives all its sources the same temporary file, one after the other."""
    lines = [f"/lib/cc1 {n}.c -o /tmp/cc.s\n as -o {n}.o /tmp/cc.s" for n in "abc"]
    runs = plan(*lines, arguments=("a.c", "b.c", "c.c")).runs
    assert [(r.source, len(r.commands)) for r in runs] == [("a.c", 1), ("b.c", 1), ("c.c", 1)]
    assert len({r.output for r in runs}) == 3


def test_pipes() -> None:
    (run,) = plan("/lib/cc1 -E a.c -o - |", "/lib/cc1 -fpreprocessed - -o - |", "as -o a.o").runs
    assert [c[-2:] for c in run.commands] == [("-o", "/scratch/0.i"), ("-o", "/scratch/1.s")]
    assert "/scratch/0.i" in run.commands[1]
    assert not plan("/lib/cc1 a.c -o - |", "as -o a.o").writes_stdout


def test_a_pipe_for_output_is_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "deps")
    dry_run = parse("Target: x86_64-linux-gnu\ngcc version 12\n /lib/cc1 a.c -MF deps -o a.s\n")
    assert make_plan(dry_run, ("-S", "a.c"), "/scratch", str(tmp_path)).skipped == ()


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("/lib/cc1 -E a.c", True),
        ("/lib/cc1 -E -M a.c", True),
        ("/lib/cc1 a.c -o -", True),
        ("/lib/cc1 a.c -o /dev/stdout", True),
        ("/lib/cc1 a.c -MD - -o x.s", True),
        ("as -al -o a.o x.s", True),
        ("as -al=list -o a.o x.s", False),
        ("as --64 -o a.o x.s", False),
        ("/lib/cc1 a.c -o x.s", False),
        ("/lib/clang -cc1 -E -o - -x c a.c", True),
        ("/lib/clang -cc1 -emit-obj -dependency-file - -o a.o -x c a.c", True),
    ],
)
def test_what_writes_to_standard_output(line: str, writes: bool) -> None:
    assert plan(line).writes_stdout == writes


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("/lib/cc1 - -dumpbase - -o x.s", True),
        ("/lib/cc1 a.c -dumpbase - -o -", False),
        ("/lib/clang -cc1 -S -main-file-name - -o - -x c -", True),
        ("/lib/clang -cc1 -S -main-file-name - -o - -x c a.c", False),
        ("/lib/cc1 /dev/stdin -o x.s", True),
        ("/lib/cc1 -E -", False),  # nothing to analyse, so its input is none of our business
        ("as -o a.o -", True),
    ],
)
def test_what_reads_standard_input(line: str, reads: bool) -> None:
    assert plan(line).reads_stdin == reads


@pytest.mark.parametrize(
    ("words", "cpu"),
    [
        ("-march=x86-64 -mtune=generic", ""),
        ("-march=x86-64-v3", "x86-64-v3"),
        ("-march=skylake-avx512", "skylake-avx512"),
        ("-march=haswell -march=skylake", "skylake"),
        ("-march=haswell -mtune=icelake-server", "icelake-server"),
        ("-march=haswell -mtune=generic", "haswell"),
        ("-march=znver3 -mavx2 -mtune=znver3", "znver3"),
        ("-mtune=intel", "intel"),
        ("-march=i686", "i686"),
    ],
)
def test_core_of_gcc_code(words: str, cpu: str) -> None:
    assert plan(f"/lib/cc1 a.c {words} -o x.s").runs[0].cpu == cpu


@pytest.mark.parametrize(
    ("words", "cpu"),
    [
        ("-target-cpu x86-64 -tune-cpu generic", ""),
        ("-target-cpu skylake-avx512", "skylake-avx512"),
        ("-target-cpu skylake -tune-cpu icelake-server", "icelake-server"),
        ("-target-cpu skylake -tune-cpu generic", "skylake"),
        ("-target-cpu x86-64-v4 -tune-cpu generic", "x86-64-v4"),
    ],
)
def test_core_of_clang_code(words: str, cpu: str) -> None:
    assert plan(f"/lib/clang -cc1 -S {words} -o x.s -x c a.c").runs[0].cpu == cpu


def test_core_of_assembly(tmp_path: Path) -> None:
    """gcc's assembler is not told the core: the user's command says it."""
    source = tmp_path / "x.s"
    source.write_text("nop\n")
    (run,) = plan(f"as --64 -o x.o {source}", arguments=("-c", "-march=skylake", "x.s")).runs
    assert (run.commands, run.output, run.cpu, run.generated) == ((), str(source), "skylake", False)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("/lib/cc1 a.c -flto -o x.s", "GIMPLE"),
        ("/lib/cc1 a.c -flto=auto -fno-fat-lto-objects -o x.s", "GIMPLE"),
        ("/lib/clang -cc1 -emit-llvm-bc -flto=full -o a.o -x c a.c", "bitcode"),
        ("/lib/clang -cc1 -S -emit-llvm -o a.ll -x c a.c", "LLVM IR"),
        ("/lib/cc1plus a.c -fmodules-ts -o x.s", "C++ modules"),
    ],
)
def test_nothing_to_analyse(line: str, reason: str) -> None:
    result = plan(line)
    assert result.runs == ()
    (skipped,) = result.skipped
    assert (skipped.source, skipped.expected) == ("a.c", True)
    assert reason in skipped.reason


@pytest.mark.parametrize(
    "line",
    [
        "/lib/cc1 a.c -fsyntax-only -o /dev/null",
        "/lib/cc1 a.h -o x.s --output-pch=a.h.gch",
        "/lib/cc1 help-dummy --help=target -o x.s",
        "/lib/clang -cc1 -fsyntax-only -x c a.c",
        "/lib/clang -cc1 -emit-pch -o a.pch -x c-header a.h",
        "/lib/collect2 -o a.out a.o",
        "as --version -o x.o x-that-is-not-there.s",
    ],
)
def test_silence(line: str) -> None:
    result = plan(line)
    assert (result.runs, result.skipped) == ((), ())


def test_fat_lto_objects_have_code() -> None:
    assert len(plan("/lib/cc1 a.c -flto -ffat-lto-objects -o x.s").runs) == 1
    assert len(plan("/lib/cc1 a.c -flto -fno-lto -o x.s").runs) == 1
    assert len(plan("/lib/clang -cc1 -emit-obj -flto=full -ffat-lto-objects -o a.o -x c a.c").runs) == 1


def test_code_for_other_machines() -> None:
    for result in (
        plan("/lib/cc1 a.c -m32 -o x.s"),
        plan("/lib/cc1 a.c -o x.s", target="riscv64-linux-gnu"),
        plan("/lib/clang -cc1 -triple i386-apple-macosx -emit-obj -o a.o -x c a.c"),
    ):
        assert result.runs == ()
        assert "not for x86-64" in result.skipped[0].reason
        assert not result.skipped[0].expected


def test_code_for_aarch64() -> None:
    (run,) = plan("/lib/cc1 a.c -mcpu=neoverse-n1+crypto -o x.s", target="aarch64-linux-gnu").runs
    assert run.cpu == "neoverse-n1+crypto"
    words = "/lib/clang -cc1 -triple aarch64-unknown-linux-gnu -emit-obj -target-cpu generic"
    features = "-target-feature +v8.2a -target-feature +sve -target-feature -sve2 -target-feature +v8a"
    (run,) = plan(f"{words} {features} -o a.o -x c a.c").runs
    assert run.cpu == "armv8.2-a+sve"


def test_other_languages() -> None:
    (skipped,) = plan("/lib/gnat1 a.adb -o x.s", arguments=("-c", "a.adb")).skipped
    assert (skipped.source, skipped.expected) == ("a.adb", False)


def test_fortran_writes_modules_elsewhere(tmp_path: Path) -> None:
    alone = tmp_path / "alone.f90"
    alone.write_text("subroutine s(a)\nreal a(:)\na = 2 * a\nend\n")
    modules = tmp_path / "with.f90"
    modules.write_text("subroutine s(a)\nuse things\nend\n")
    first, second = plan(f"/lib/f951 {alone} -J mods -cpp=/tmp/x.f90 -o x.s", f"/lib/f951 {modules} -Jmods -o x.s").runs
    for number, run in enumerate((first, second)):
        text = " ".join(run.commands[0])
        assert f"-I mods -J /scratch -g1 -o /scratch/{number}.s" in text
        assert "-J mods" not in text
        assert "/tmp/" not in text.replace(str(tmp_path), "")
    # Modules that it uses may be what the compiler is just writing.
    assert (first.after_compiler, second.after_compiler) == (False, True)


def test_wrapper_option_does_not_run_twice() -> None:
    (run,) = plan("gdb --args /lib/cc1 -quiet a.c -o x.s", "collect2 -o /bin/cc1 a.o").runs
    assert run.commands[0][0] == "/lib/cc1"

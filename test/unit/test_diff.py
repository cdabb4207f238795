"""The command incc-diff: what it reads, compares and writes, mistakes on its command line, exit statuses."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from made_comparisons import matrix, ordinary, side, with_assembly
from msgspec.structs import force_setattr, replace

from incc.comparison import build
from incc.comparison import types as c
from incc.comparison.side import ComparedBuild
from incc.driver.commands import diff
from incc.driver.settings import Settings
from incc.driver.sides.analyse import CODE
from incc.report.documents import InputError
from incc.support import files
from settings_fixtures import settings_with


class Calls:
    """What the command asked for: names with how they are read, and what is wanted of the comparison."""

    def __init__(self) -> None:
        self.read: list[tuple[list[str], Any]] = []
        self.labels: list[str] = []
        self.wanted: Any = None
        self.result: Any = ordinary()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Reading and comparing replaced, so that the command stands alone."""
    found = Calls()

    def read_sides(names: Any, settings: Settings, jobs: int) -> list[ComparedBuild]:
        found.read.append((list(names), settings, jobs))
        sides = []
        for name in names:
            label = os.path.splitext(os.path.basename(name))[0]
            # A report has its core; code has those that it is read for.
            cores = [""] if name.endswith(".json") else settings.core.mcpu.split(",")
            for core in cores:
                own = core if len(names) == 1 and len(cores) > 1 else f"{label} · {core}" if len(cores) > 1 else label
                models = {"models": [{"name": core, "title": "", "version": ""}]} if core else {}
                sides.append(ComparedBuild(side(own, **models), []))
        return sides

    def compare(sides: Any, wanted: Any, jobs: int) -> Any:
        found.labels = [one.info.label for one in sides]
        found.wanted = wanted
        return found.result

    monkeypatch.setattr(diff, "read_sides", read_sides)
    monkeypatch.setattr(diff, "compare", compare)
    return found


def fails(comparison: Any, *offenders: tuple[int, int, str]) -> Any:
    return replace(comparison, gate=c.ComparisonGate("cycles > +5%", [c.FailingKernel(*each) for each in offenders]))


# --- what is read and wanted ------------------------------------------------------------------------------------------


def test_inputs_are_read_in_order(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    assert diff.main(["old.json", "new.json", "--function=f*", "--model-path=models", "-j2", "-mcpu=skylake"]) == 0
    settings = settings_with(CODE, mcpu="skylake", functions=("f*",), model_path=("models",))
    assert calls.read == [(["old.json", "new.json"], settings, 2)]
    assert calls.wanted == build.ComparisonSettings()
    printed = capfd.readouterr()
    assert printed.out.startswith("A  old  old.json")
    assert printed.err == ""


def test_a_baseline_is_the_first_input(calls: Calls) -> None:
    assert diff.main(["new.json", "--baseline=perf.db@main"]) == 0
    assert calls.read[0][0] == ["perf.db@main", "new.json"]


def test_inputs_may_begin_with_a_dash(calls: Calls) -> None:
    assert diff.main(["a.json", "--", "-b.json"]) == 0
    assert calls.read[0][0] == ["a.json", "-b.json"]


def test_code_is_read_for_each_core(calls: Calls) -> None:
    assert diff.main(["a.s", "--mcpu=skylake,znver4"]) == 0
    assert calls.labels == ["skylake", "znver4"]
    assert diff.main(["a.s", "b.s", "--mcpu=skylake,znver4,"]) == 0
    assert calls.labels == ["a · skylake", "a · znver4", "b · skylake", "b · znver4"]
    # A report has its core already.
    assert diff.main(["a.json", "b.json", "--mcpu=skylake,znver4"]) == 0
    assert calls.labels == ["a", "b"]


def test_a_report_alone_is_of_one_core(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    assert diff.main(["a.json", "--mcpu=skylake,znver4"]) == 2
    assert capfd.readouterr().err == "incc-diff: error: a.json: only one core to compare; name a second input\n"


def test_labels_tell_sides_apart(calls: Calls) -> None:
    assert diff.main(["x/a.json", "y/a.json", "z/a.json"]) == 0
    assert calls.labels == ["a", "a (2)", "a (3)"]


def test_conditions_are_of_pairs(calls: Calls) -> None:
    assert diff.main(["a.json", "b.json", "--where", "cycles_b > cycles_a", "--fail-if", "cycles > +5%"]) == 0
    assert calls.wanted.where.text == "cycles_b > cycles_a"
    assert calls.wanted.fail_if.needs_baseline
    assert not calls.wanted.assembly


@pytest.mark.parametrize("option", ["--side-by-side", "--side-by-side=triad:4", "--html=x.html"])
def test_assembly_is_only_wanted_where_it_is_shown(
    calls: Calls, option: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("incc.views.comparison.page.render", lambda comparison: "<p>")
    # What follows is no value of the option.
    assert diff.main([option, "a.json", "b.json"]) == 0
    assert calls.read[0][0] == ["a.json", "b.json"]
    assert calls.wanted.assembly
    # A page has it of those that matter most, unless that of all was asked for.
    assert calls.wanted.enough == (diff.PAGE_KERNELS if "html" in option else None)


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no inputs; name two, or use --run COMPILER… -- ARGS"),
        ("a.json", "only one input; name another one, or two cores (--mcpu=A,B)"),
        ("a.s --mcpu=skylake,skylake", "only one input; name another one, or two cores (--mcpu=A,B)"),
        ("- -", "standard input can be read only once"),
        ("a.json b.json --flags=-O2", "--flags requires --run"),
        ("--run gcc clang", "--run needs a command after --, as in: incc-diff --run gcc clang -- -O3 foo.c"),
        ("--run gcc clang --", "--run needs a command after --, as in: incc-diff --run gcc clang -- -O3 foo.c"),
        ("a.json --run gcc clang -- f.c", "--run needs its sources after --, but 'a.json' is before it"),
        (
            "--run gcc gcc -- f.c",
            "only one compilation to compare; name more compilers, --flags or cores (--mcpu=A,B)",
        ),
        ("a.json b.json --where cycles_b>", "--where: column 10: expected a value to compare with, found the end"),
        ("a.json b.json --fail-if=cycle>+5%", "--fail-if: column 1: unknown name 'cycle'; did you mean cycles?"),
        (
            "a.json b.json --fail-if=cycles",
            "--fail-if: 'cycles' is a number, not a condition; compare it with a value",
        ),
        ("a.json b.json -o a.json", "-o would overwrite a.json"),
        ("p.db@main b.json --junit=p.db", "--junit would overwrite p.db"),
        ("--baseline=p.db b.json --html=p.db", "--html would overwrite p.db"),
        ("a.json b.json -o x --junit=./x", "-o and --junit name the same file, ./x"),
        ("--run gcc clang -o f.c -- -O2 f.c", "-o would overwrite f.c"),
        ("a.json b.json --output=", "-o needs a file name"),
        ("--top=-1 a b", "--top needs a number above 0, not '-1'"),
        ("--top=²  a b", "--top needs a number above 0, not '²'"),
        ("-j x a b", "-j needs a number above 0, not 'x'"),
        ("--sort=z a b", "--sort is one of weight, ratio, place, name, not 'z'"),
        ("--format=xml a b", "--format is one of text, markdown, json, not 'xml'"),
        ("a.json b.json --side-by-side=:4", "--side-by-side takes a function or FUNCTION:LINE, not ':4'"),
    ],
)
def test_mistakes(calls: Calls, capfd: pytest.CaptureFixture[str], line: str, message: str) -> None:
    assert diff.main(line.split()) == 2
    assert capfd.readouterr().err == f"incc-diff: error: {message}; see incc-diff --help\n"
    assert calls.read == []  # before anything is read


@pytest.mark.parametrize("line", ["--nope a b", "--al a b", "--top"])
def test_mistakes_that_argparse_finds(calls: Calls, capfd: pytest.CaptureFixture[str], line: str) -> None:
    with pytest.raises(SystemExit) as end:
        diff.main(line.split())
    assert end.value.code == 2
    assert "incc-diff: error: " in capfd.readouterr().err


def test_a_working_directory_that_is_gone(
    calls: Calls, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert diff.main(["a.json", "b.json", "-o", "x"]) == 2
    assert "the working directory no longer exists" in capfd.readouterr().err
    assert diff.main(["/a.json", "/b.json"]) == 0


def test_input_that_cannot_be_read(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def unreadable(*_: Any) -> Any:
        raise InputError("a.json:7: ends in the middle\nof \x1b[31ma kernel")

    monkeypatch.setattr(diff, "read_sides", unreadable)
    assert diff.main(["a.json", "b.json"]) == 2
    expected = "incc-diff: error: a.json:7: ends in the middle\nincc-diff: error: of \\x1b[31ma kernel\n"
    assert capfd.readouterr().err == expected


# --- what is written --------------------------------------------------------------------------------------------------


def test_files(calls: Calls, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, junit = tmp_path / "out.md", tmp_path / "junit.xml"
    assert diff.main(["a.json", "b.json", "--format=markdown", "-o", str(out), f"--junit={junit}", "--github"]) == 0
    assert out.read_text().startswith("**6 kernels: ")
    assert ElementTree.parse(junit).getroot().get("tests") == "6"
    printed = capfd.readouterr()
    assert printed.out.startswith("::warning file=")
    assert sorted(os.listdir(tmp_path)) == ["junit.xml", "out.md"]


def test_json(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    calls.result = with_assembly()
    assert diff.main(["a.json", "b.json", "--format=json", "--side-by-side"]) == 0
    assert json.loads(capfd.readouterr().out) == msgspec.to_builtins(calls.result)


def test_side_by_side(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    calls.result = with_assembly()
    assert diff.main(["a.json", "b.json", "--side-by-side=tri*:4"]) == 0
    assert "A (old) next to B (new)" in capfd.readouterr().out


@pytest.mark.parametrize(
    "option", ["--format=json", "--format=markdown", "--format=text", "--junit=/dev/stdout", "--github"]
)
def test_what_is_written_is_utf_8(calls: Calls, capfdbinary: pytest.CaptureFixture[bytes], option: str) -> None:
    for one in calls.result.rows:
        force_setattr(one, "name", "gemm\udcff\ud800é")
    assert diff.main(["a.json", "b.json", option]) == 0
    capfdbinary.readouterr().out.decode()


def test_a_file_that_cannot_be_written_keeps_nothing_else_from_it(
    calls: Calls, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "no" / "out.txt"
    assert diff.main(["a.json", "b.json", "-o", str(nowhere), f"--junit={tmp_path}/j.xml"]) == 2
    error = f"incc-diff: error: {nowhere} could not be written: No such file or directory\n"
    assert capfd.readouterr().err == error
    assert (tmp_path / "j.xml").exists()


def test_an_old_file_stays_where_the_new_one_has_no_room(
    calls: Calls, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def half(descriptor: int, text: str, patience: float | None = None) -> None:
        os.write(descriptor, text[: len(text) // 2].encode())
        raise OSError(errno.ENOSPC, "No space left on device")

    target = tmp_path / "out.txt"
    target.write_text("old")
    monkeypatch.setattr(files, "write_all", half)
    assert diff.main(["a.json", "b.json", "-o", str(target)]) == 2
    assert capfd.readouterr().err == f"incc-diff: error: {target} could not be written: No space left on device\n"
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_what_is_no_file_is_written_to(calls: Calls, tmp_path: pathlib.Path) -> None:
    assert diff.main(["a.json", "b.json", "-o", "/dev/null"]) == 0
    assert not os.path.isfile("/dev/null")
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    assert diff.main(["a.json", "b.json", "-o", str(tmp_path / "link.txt")]) == 0
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text().startswith("A  old")


def test_page(calls: Calls, tmp_path: pathlib.Path) -> None:
    calls.result = with_assembly()
    assert diff.main(["a.json", "b.json", f"--html={tmp_path}/x.html"]) == 0
    assert (tmp_path / "x.html").read_text().startswith("<!DOCTYPE html>")


# --- exit statuses ----------------------------------------------------------------------------------------------------


def test_status_of_what_fails(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    calls.result = fails(ordinary(), (0, 1, "forces: cycles 2 → 5.4"), (1, 1, "sum: …"))
    assert diff.main(["a.json", "b.json", "--fail-if=cycles > +5%"]) == 1
    printed = capfd.readouterr()
    unknown = 'incc-diff: note: 1 kernel passed as not comparable; to fail them, add: or outcome == "unknown"\n'
    assert printed.err == f"incc-diff: 2 kernels for which cycles > +5%: forces, sum\n{unknown}"
    assert printed.out.endswith("  [1] forces: cycles 2 → 5.4\n  [2] sum: …\n")
    calls.result = fails(ordinary())
    assert diff.main(["a.json", "b.json", "--fail-if=cycles > +5%"]) == 0
    assert capfd.readouterr().err == unknown
    (row,) = [n for n, row in enumerate(calls.result.rows) if row.changes[1] and row.changes[1].outcome == "unknown"]
    calls.result = fails(ordinary(), (row, 1, "…"))
    assert diff.main(["a.json", "b.json", '--fail-if=outcome == "unknown"']) == 1
    assert "passed as not comparable" not in capfd.readouterr().err


def test_status_of_what_could_not_be_compiled(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    calls.result = matrix(["a", "b", "c"])
    force_setattr(calls.result.sides[2], "problem", "c: error: no such flag")
    assert diff.main(["a.json", "b.json", "c.json"]) == 1
    assert capfd.readouterr().err == "incc-diff: error: c: error: no such flag\n"
    # What is not there has not passed.
    calls.result = fails(calls.result)
    assert diff.main(["a.json", "b.json", "c.json", "--fail-if=cycles > +5%"]) == 1
    calls.result = ordinary()
    force_setattr(calls.result.sides[1], "problem", "error")
    assert diff.main(["a.json", "b.json"]) == 2


# --- processes --------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
sys.path[:0] = {path!r}
from incc.driver.commands import diff
from incc.comparison import build
from incc.comparison import types as c
from incc.comparison.side import ComparedBuild
from made_comparisons import ordinary, side
def read_sides(names, settings, jobs):
    {reading}
    return [ComparedBuild(side(name), []) for name in names]
diff.read_sides = read_sides
diff.compare = lambda sides, wanted, jobs: ordinary()
sys.exit(diff.run_command(lambda: diff.main(sys.argv[1:])))
"""


def process(reading: str = "pass", redirect: str = "") -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(path=[path for path in sys.path if path], reading=reading)
    command = ["sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-c", program, "a", "b"]
    return subprocess.run(command, capture_output=True, text=True)


def test_closed_streams() -> None:
    assert (process("pass", ">&- 2>&-").returncode, process("pass", "2>&-").returncode) == (2, 0)


def test_closed_output() -> None:
    done = process("pass", ">&-")
    assert done.returncode == 2
    assert done.stderr == "incc-diff: error: the comparison could not be written: Bad file descriptor\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_device() -> None:
    done = process("pass", ">/dev/full")
    assert (done.returncode, done.stderr.count("No space left on device")) == (2, 1)


def test_a_reader_that_has_seen_enough() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = PROGRAM.format(path=[path for path in sys.path if path], reading="pass")
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, "a", "b", "--github"], stdout=writer, stderr=subprocess.PIPE
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_interrupt_ends_it_by_its_signal() -> None:
    done = process("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_help(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        diff.main(["--help"])
    assert end.value.code == 0
    shown = capfd.readouterr().out
    assert "incc-diff --run gcc-11 gcc-12 clang-19 -- -O3 -march=skylake-avx512 foo.c" in shown
    assert "exit status: 0; 1 if --fail-if holds" in shown
    assert "cycles > +5%'" in shown


def test_every_option_is_documented() -> None:
    page = (pathlib.Path(__file__).parents[2] / "docs" / "compare.md").read_text()
    table = page[page.index("## Options") :].partition("## Inputs")[0]
    options = {
        name
        for group in diff.COMMAND.groups
        for o in group.options
        for name in (o.name, *o.aliases)
        if name[:2] == "--"
    }
    named = set(re.findall(r"--[a-z][a-z-]+", table))
    assert options - {"--help", "--output"} <= named
    assert named <= options

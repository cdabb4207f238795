"""Where reports and warnings go, which compiler is run, and what incc's own options mean."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from wrapper_launcher import REPORT, Result, make_incc, run, tree

from incc.driver import UsageError
from incc.driver.cli.own_options import split
from incc.frontends.gcc_wrapper.compiler import child_environment

DATA = Path(__file__).parent / "data" / "wrapper"

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a source and an `incc`."""
    make_incc(tmp_path)
    shutil.copy(DATA / "triad.c", tmp_path)
    return tmp_path


# --- options -------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_characters="\0"))))
def test_what_is_not_ours_stays_as_it_is(arguments: list[str]) -> None:
    arguments = [a for a in arguments if not a.startswith("--")]
    options, rest = split(arguments, {})
    assert rest == arguments
    assert not options.wants_analysis


@pytest.mark.parametrize(
    "argument",
    [
        "--analyzer-output",
        "--analyzer-no-default-checks",
        "--analyz",
        "-analyze",
        "--markers=x",
        "--incc",
        "--",
        "--emit",
    ],
)
def test_what_only_looks_like_ours(argument: str) -> None:
    options, rest = split([argument], {})
    assert rest == [argument]
    assert not options.wants_analysis


@pytest.mark.parametrize("before", ["-Xlinker", "-Xassembler", "-Xclang", "-o", "-mllvm"])
def test_what_belongs_to_another_option(before: str) -> None:
    options, rest = split([before, "--analyze", "x.c"], {})
    assert rest == [before, "--analyze", "x.c"]
    assert not options.report


def test_every_option() -> None:
    arguments = [
        "-O2",
        "--analyze=r",
        "--analyze-format=json",
        "--analyze-mcpu=skx",
        "--analyze-function=f*",
        "--analyze-function=g",
        "--analyze-graph=g.dot",
        "--analyze-fixed-ports",
        "--analyze-strict",
        "--analyze-timeline=0",
        "--emit-marked=m.s",
        "--marker=iaca",
        "--incc-cc=gcc -m64",
        "x.c",
    ]
    options, rest = split(arguments, {"INCC_FORMAT": "text", "INCC_OUTPUT": "/elsewhere"})
    assert rest == ["-O2", "x.c"]
    assert (options.output, options.append) == ("r", False)
    chosen = options.all()
    assert (chosen["format"], chosen["strict"], chosen["timeline"]) == ("json", True, 0)
    assert (chosen["mcpu"], chosen["function"]) == ("skx", ("f*", "g"))
    assert (chosen.files(), chosen["fixed-ports"]) == ({"graph": "g.dot"}, True)
    assert (chosen["--emit-marked"], chosen["--marker"], options.compiler) == ("m.s", "iaca", "gcc -m64")


def test_environment() -> None:
    environment = {
        "INCC_ANALYZE": "1",
        "INCC_OUTPUT": "/out",
        "INCC_FORMAT": "json",
        "INCC_MCPU": "skx",
        "INCC_FUNCTION": "f g*",
        "INCC_STRICT": "1",
    }
    options, _ = split(["x.c"], environment)
    assert options.wants_analysis
    chosen = options.all()
    assert (options.output, options.append, chosen["format"]) == ("/out", True, "json")
    assert chosen["strict"]
    assert (chosen["mcpu"], chosen["function"]) == ("skx", ("f", "g*"))
    # The command line wins.
    assert split(["--analyze-mcpu=hsw", "x.c"], environment)[0].all()["mcpu"] == "hsw"
    for off in ("", "0"):
        assert not split(["x.c"], environment | {"INCC_ANALYZE": off})[0].wants_analysis
    # Under another incc the analysis is being made already.
    options, rest = split(["--analyze", "x.c"], environment | {"INCC_DEPTH": "1"})
    assert (options.wants_analysis, rest) == (False, ["x.c"])


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("--analyze-fromat=json", "unknown option --analyze-fromat; did you mean --analyze-format?"),
        ("--analyze-xyzzy", "unknown option --analyze-xyzzy"),
        ("--analyze-format=xml", "--analyze-format is one of text, json, not 'xml'"),
        ("--analyze-format", "--analyze-format needs a value"),
        ("--analyze-mcpu=", "--analyze-mcpu needs a value"),
        ("--analyze=", "--analyze= needs a file name"),
        ("--analyze-strict=no", "--analyze-strict takes no value"),
        ("--analyze-timeline=-1", "--analyze-timeline needs a number, not '-1'"),
        ("--emit-marked", "--emit-marked needs a value"),
        ("--analyze-what-if=port 5 =+ 1", "what-if 'port 5 =+ 1': column 9: expected a number"),
        ("--analyze-no-dependencies=flag", "--analyze-no-dependencies takes register or memory, not 'flag'"),
        ("--analyze-detail=x", "--analyze-detail takes a line or FILE:LINE, not 'x'"),
        ("--analyze-detail=:4", "--analyze-detail takes a line or FILE:LINE, not ':4'"),
        ("--analyze-loop=0", "--analyze-loop needs a number above 0, not '0'"),
        ("--analyze-alignment=64", "--analyze-alignment is a number below 64, or all, not '64'"),
        ("--analyze-wait-view=yes", "--analyze-wait-view is true or false, not 'yes'"),
        ("--analyze-branch-probability=2", "--analyze-branch-probability is a number from 0 to 1, not '2'"),
        ("--analyze-timeline-max-iterations=3", "unknown option --analyze-timeline-max-iterations"),
        ("--analyze-pathz", "unknown option --analyze-pathz; did you mean --analyze-paths?"),
        ("--marker=vtune", "--marker is one of osaca, llvm-mca, iaca, all, not 'vtune'"),
        ("--incc-cc=", "--incc-cc needs a value"),
    ],
)
def test_mistakes(place: Path, argument: str, words: str) -> None:
    with pytest.raises(UsageError):
        split([argument], {})
    done = run([place / "incc", argument, "-c", "triad.c"], place)
    assert done.status == 2
    assert done.err.decode().startswith(f"incc: error: {words}")
    assert not (place / "triad.o").exists(), "compiled in spite of the mistake"


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["--analyze=triad.c", "-c", "triad.c"], "triad.c"),
        (["--analyze-graph=out/x.o", "-c", "triad.c", "-o", "out/x.o"], "out/x.o"),
        (["--analyze-cfg=./x.o", "-c", "triad.c", "-ox.o"], "x.o"),
        (["--analyze=triad.o", "-c", "src/triad.c"], "triad.o"),
        (["--analyze=triad.s", "-S", "triad.c"], "triad.s"),
        (["--emit-marked=a.out", "triad.c"], "a.out"),
    ],
)
def test_files_of_the_command_are_not_written_to(arguments: list[str], file: str) -> None:
    with pytest.raises(UsageError, match=f"would overwrite {file}$"):
        split(arguments, {})
    # Of an option in the environment it is only a problem, which must not stop a build.
    own, *others = arguments
    options, rest = split(others, {"INCC_ANALYZE": "1", "INCC_OPTIONS": own})
    assert rest == others
    assert options.problems


def test_files_that_are_nobody_elses() -> None:
    for arguments in (["--analyze=triad.s", "-c", "triad.c"], ["--analyze=triad.o", "-c", "triad.c", "-o", "x.o"]):
        assert split(arguments, {})[0].output
    with pytest.raises(UsageError, match="--analyze-cfg and --analyze-html name the same file"):
        split(["--analyze-cfg=x", "--analyze-html=./x", "-c", "a.c"], {})


# --- which compiler --------------------------------------------------------------------------------------------------


def program(folder: Path, name: str, text: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text or 'echo ' + name}\n")
    path.chmod(0o755)
    return path


def test_which_compiler(tmp_path: Path) -> None:
    compilers = tmp_path / "bin"
    for name in ("cc", "gcc", "clang++-19", "icx", "x86_64-linux-gnu-gcc-12", "ccache"):
        program(compilers, name, f'echo {name} "$@"')
    incc = make_incc(tmp_path)
    path = f"{compilers}:/usr/bin:/bin"

    def found(*arguments: str, called: str = "incc", **environment: str) -> str:
        if called != "incc":
            (tmp_path / called).unlink(missing_ok=True)
            (tmp_path / called).symlink_to(incc)
        done = run([tmp_path / called, *arguments], tmp_path, PATH=path, **environment)
        return (done.out or done.err).decode().removesuffix("\n")

    assert found("-c") == "cc -c"
    assert found("-c", called="incc-gcc") == "gcc -c"
    assert found(called="incc-clang++-19") == "clang++-19"
    assert found(called="gcc") == "gcc"
    assert found("--incc-cc=icx", called="incc-gcc") == "icx"
    assert found("--incc-cc=icx", called="incc-gcc", INCC_CC="cc") == "cc"
    assert found(INCC_CC="gcc -m64 '-DX=a b'") == "gcc -m64 -DX=a b"
    assert found(f"--incc-cc={compilers / 'icx'}") == "icx"
    # As a launcher: the first argument names the compiler, and wins.
    assert found("gcc", "-c", "a.c", INCC_CC="icx") == "gcc -c a.c"
    assert found(str(compilers / "clang++-19"), "a.o") == "clang++-19 a.o"
    assert found("x86_64-linux-gnu-gcc-12", "-v") == "x86_64-linux-gnu-gcc-12 -v"
    assert found("ccache", "gcc", "-c", "a.c") == "ccache gcc -c a.c"
    assert found("ccache", "gcc", "-c", "a.c", called="incc-icx") == "icx ccache gcc -c a.c"
    assert found("-c", "gcc") == "cc -c gcc"
    assert found("no-such-gcc", "-c") == "incc: error: no-such-gcc: no such compiler in PATH"
    (tmp_path / "no-such-gcc").touch()
    assert found("no-such-gcc", "-c") == "cc no-such-gcc -c"
    assert found(str(tmp_path / "incc-gcc"), "-c") == "gcc -c"
    # What a compiler links, whatever it is called and allows.
    for name, content in (("gcc", b"\x7fELF\2\1\1" + bytes(9) + b"\1\0>\0"), ("c++", b"text")):
        (tmp_path / "objects").mkdir(exist_ok=True)
        (tmp_path / "objects" / name).write_bytes(content)
        (tmp_path / "objects" / name).chmod(0o755)
        assert found(f"objects/{name}", "-o", "x") == f"cc objects/{name} -o x"


def test_in_front_of_launchers(tmp_path: Path) -> None:
    """A link with a launcher's name stands in front of that; caches are told the compiler itself."""
    real = tmp_path / "real"
    for name in ("cc", "gcc", "icx", "ccache", "sccache", "distcc"):
        program(real, name, f'echo {name} "$@"')
    front = tmp_path / "front"
    front.mkdir()
    incc = make_incc(front)
    for name in ("cc", "gcc", "ccache", "sccache", "distcc"):
        (front / name).symlink_to(incc)
    path = f"{front}:{real}:/usr/bin:/bin"

    def found(*command: str | Path, **environment: str) -> str:
        done = run([*command], tmp_path, PATH=path, **environment)
        return (done.out or done.err).decode().removesuffix("\n")

    assert found("ccache", "gcc", "-c", "a.c") == f"ccache {real}/gcc -c a.c"
    assert found("ccache", front / "gcc", "-c", "a.c") == f"ccache {real}/gcc -c a.c"
    assert found("ccache", real / "gcc", "-c", "a.c") == f"ccache {real}/gcc -c a.c"
    assert found("ccache", "icx", "-c", "a.c") == "ccache icx -c a.c"
    assert found("ccache", "debug=true", "gcc", "-c", "a.c") == f"ccache debug=true {real}/gcc -c a.c"
    assert found(real / "sccache", "gcc") == "sccache gcc"
    assert found("incc", real / "sccache", "gcc", "-v") == f"sccache {real}/gcc -v"
    assert found("gcc", "-v", INCC_CC="ccache gcc") == f"ccache {real}/gcc -v"
    # Other machines know compilers by their names.
    assert found("distcc", "gcc", "-c", "a.c") == "distcc gcc -c a.c"
    # incc itself stands for the compiler that is asked for.
    assert found("ccache", "incc", "-v", INCC_CC="icx -m64") == "ccache icx -m64 -v"
    assert found("ccache", incc, "-v", "--incc-cc=icx") == "ccache icx -v"
    assert found("ccache", "incc", "-v") == f"ccache {real}/cc -v"
    assert found("ccache", "gcc", "-v", INCC_CC="icx") == f"ccache {real}/gcc -v"
    # What is for the launcher alone.
    assert found("ccache", "-s") == "ccache -s"
    assert found("ccache", "-s", INCC_CC="icx") == "ccache -s"
    assert found("ccache", "my-compiler", "-c") == "ccache my-compiler -c"


def test_by_its_own_name_the_compiler_gets_its_path(tmp_path: Path) -> None:
    """gcc looks itself up in PATH by the name that it was called by, and must not find incc."""
    front = tmp_path / "front"
    front.mkdir()
    incc = make_incc(front)
    (front / "gcc").symlink_to(incc)
    compilers = tmp_path / "bin"
    compilers.mkdir()
    # The kernel gives a script its path, so what shows argv[0] is a program.
    (compilers / "gcc").symlink_to(shutil.which("bash") or "/bin/bash")
    path = f"{front}:{compilers}:/usr/bin:/bin"
    assert run([front / "gcc", "-c", "echo $0"], tmp_path, PATH=path).out.decode() == f"{compilers / 'gcc'}\n"
    assert run([incc, "--incc-cc=gcc", "-c", "echo $0"], tmp_path, PATH=path).out.decode() == f"{compilers / 'gcc'}\n"
    behind = f"{compilers}:{front}:/usr/bin:/bin"
    assert run([incc, "--incc-cc=gcc", "-c", "echo $0"], tmp_path, PATH=behind).out.decode() == "gcc\n"


@needs_gcc
def test_gcc_behind_a_link_of_its_name(tmp_path: Path) -> None:
    incc = make_incc(tmp_path)
    (tmp_path / "gcc").symlink_to(incc)
    shutil.copy(DATA / "triad.c", tmp_path)
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert run(["gcc", "-c", "triad.c"], tmp_path, PATH=path) == Result(0, b"", b"")
    done = run(["gcc", "-c", "triad.c", "--analyze"], tmp_path, PATH=path)
    assert done == Result(0, REPORT.encode(), b"")


def test_no_compiler(tmp_path: Path) -> None:
    incc = make_incc(tmp_path)
    (tmp_path / "text").write_text("not a program")
    for command, words, status in (
        ("nowhere", "nowhere: no such compiler in PATH", 127),
        ("/no/where", "/no/where: no such compiler", 127),
        (str(tmp_path / "text"), "not executable", 126),
        (str(tmp_path), "not executable", 126),
        ("'gcc", "cannot read the compiler's name", 127),
    ):
        done = run([incc, "-c", "x.c"], tmp_path, INCC_CC=command)
        assert (done.status, done.out) == (status, b"")
        assert words in done.err.decode()


@pytest.mark.parametrize("own", [[], ["--analyze"]])
def test_no_compiler_from_outside(place: Path, own: list[str]) -> None:
    done = run([place / "incc", "--incc-cc=no-such-compiler", *own, "-c", "triad.c"], place)
    assert done == Result(127, b"", b"incc: error: no-such-compiler: no such compiler in PATH\n")
    done = run([place / "incc", "/no/where/gcc", *own, "-c", "triad.c"], place)
    assert done == Result(127, b"", b"incc: error: /no/where/gcc: no such compiler\n")
    (place / "broken").write_bytes(b"\x7fELF nonsense")
    (place / "broken").chmod(0o755)
    done = run([place / "incc", f"--incc-cc={place / 'broken'}", *own, "-c", "triad.c"], place)
    assert (done.status, done.err.count(b"\n")) == (126, 1)


def test_incc_in_the_place_of_the_compiler(tmp_path: Path) -> None:
    """A link `gcc` to incc in front of PATH runs the next gcc, and incc is never its own compiler."""
    program(tmp_path / "real", "gcc", 'echo "real gcc $@"')
    front = tmp_path / "front"
    front.mkdir()
    incc = make_incc(front)
    (front / "gcc").symlink_to(incc)
    path = f"{front}:{tmp_path / 'real'}:{os.environ['PATH']}"
    assert run(["gcc", "-c"], tmp_path, PATH=path).out == b"real gcc -c\n"
    assert run([front / "gcc", "-c"], tmp_path, PATH=path).out == b"real gcc -c\n"
    assert run(["incc", "--incc-cc=gcc", "-c"], tmp_path, PATH=path).out == b"real gcc -c\n"
    done = run(["incc", "-c"], tmp_path, PATH=path, INCC_CC=str(front / "gcc"))
    assert done == Result(126, b"", f"incc: error: {front / 'gcc'} is incc itself, not a compiler\n".encode())
    # Through a launcher that takes the first gcc of PATH, which is incc.
    program(tmp_path / "real", "launch", 'exec "$@"')
    assert run(["incc", "-c"], tmp_path, PATH=path, INCC_CC="launch gcc").out == b"real gcc -c\n"


def test_two_inccs_that_find_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        make_incc(tmp_path / name, "gcc")
    path = f"{tmp_path / 'a'}:{tmp_path / 'b'}"
    done = run([tmp_path / "a" / "gcc", "-c"], tmp_path, PATH=path)
    assert done.status == 126
    assert b"call incc again and again" in done.err


@pytest.mark.parametrize(
    ("name", "compiler"), [("incc-gcc", "gcc"), ("incc-g++", "g++"), ("incc-clang-19", "clang-19"), ("incc-cc", "cc")]
)
def test_links(place: Path, name: str, compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    (place / name).symlink_to(place / "incc")
    assert run([place / name, "--version"], place) == run([compiler, "--version"], place)


def test_environment_of_the_compiler() -> None:
    environment = child_environment({"A": "1", "LC_CTYPE": "de_DE.UTF-8"})
    assert environment == {"A": "1", "LC_CTYPE": "de_DE.UTF-8", "INCC_DEPTH": "1"}
    assert child_environment({"INCC_DEPTH": "4"})["INCC_DEPTH"] == "5"
    assert child_environment({"INCC_DEPTH": "x"})["INCC_DEPTH"] == "1"


# --- where it goes ---------------------------------------------------------------------------------------------------


@needs_gcc
def test_report_to_a_file(place: Path) -> None:
    (place / "report").write_text("something longer that was there before\n")
    done = run([place / "incc", "--analyze=report", "-c", "triad.c"], place)
    assert done == Result(0, b"", b"")
    assert (place / "report").read_text() == REPORT


@needs_gcc
def test_reports_are_added_by_environment(place: Path) -> None:
    shutil.copy(DATA / "dot.c", place)
    for variables in ({"INCC_ANALYZE": "all"}, {"INCC_ANALYZE": "1", "INCC_OUTPUT": "all"}):
        assert run([place / "incc", "-c", "triad.c"], place, INCC_MODE="full", **variables) == Result(0, b"", b"")
    assert (place / "all").read_text() == REPORT * 2
    done = run(
        [place / "incc", "-c", "triad.c"],
        place,
        INCC_MODE="full",
        INCC_ANALYZE="1",
        INCC_OUTPUT="lines",
        INCC_FORMAT="json",
    )
    assert done == Result(0, b"", b"")
    done = run(
        [place / "incc", "-c", "dot.c"],
        place,
        INCC_MODE="full",
        INCC_ANALYZE="1",
        INCC_OUTPUT="lines",
        INCC_FORMAT="json",
    )
    lines = (place / "lines").read_text().splitlines()
    assert [json.loads(line)["units"][0]["source"] for line in lines] == ["triad.c", "dot.c"]


@needs_gcc
def test_reports_in_a_folder(place: Path) -> None:
    (place / "out").mkdir()
    for flags in (["-O1"], ["-O2"], ["-O2"]):
        command = [place / "incc", *flags, "-c", "triad.c"]
        assert run(command, place, INCC_MODE="full", INCC_ANALYZE="1", INCC_OUTPUT="out") == Result(0, b"", b"")
    command = [place / "incc", "-c", "triad.c", "-o", "other.o"]
    assert run(command, place, INCC_MODE="full", INCC_ANALYZE="1", INCC_OUTPUT="out") == Result(0, b"", b"")
    files = [n for n in tree(place / "out") if not n.startswith(".incc")]
    assert len(files) == 2, "one for each file that is made, replaced when it is made again"
    assert all(n.startswith("triad.c-") and n.endswith(".json") for n in files)
    lines = [json.loads(line) for line in (place / "out" / ".incc" / "manifest.jsonl").read_text().splitlines()]
    assert [line["output"] for line in lines] == ["triad.o"] * 3 + ["other.o"]
    assert {line["report"] for line in lines} == set(files)
    assert lines[1] == lines[2] != lines[0]
    assert lines[3]["digest"] == hashlib.blake2b((place / "other.o").read_bytes(), digest_size=16).hexdigest()


@needs_gcc
def test_nothing_compiled_nothing_reported(place: Path) -> None:
    run([place / "incc", "-E", "triad.c"], place, INCC_ANALYZE="report")
    run([place / "incc", "--version"], place, INCC_ANALYZE="report")
    assert not (place / "report").exists()


@needs_gcc
def test_marked_assembly(place: Path) -> None:
    shutil.copy(DATA / "dot.c", place)
    done = run([place / "incc", "--emit-marked=m.s", "--marker=iaca", "-c", "triad.c", "dot.c"], place)
    assert done == Result(0, b"", b"")
    assert (place / "m.s.triad.c.s").read_text() == "iaca triad.c\n"
    assert (place / "m.s.dot.c.s").read_text() == "iaca dot.c\n"
    (place / "marked").mkdir()
    run([place / "incc", "--emit-marked=marked", "-c", "triad.c", "dot.c"], place)
    assert tree(place / "marked") == {"dot.c.s": b"all dot.c\n", "triad.c.s": b"all triad.c\n"}
    # Sources of one name do not overwrite each other's.
    for folder in ("a", "b"):
        (place / folder).mkdir()
        shutil.copy(DATA / "dot.c", place / folder)
    run([place / "incc", "--emit-marked=m.s", "-c", "a/dot.c", "b/dot.c"], place)
    assert (place / "m.s.a-dot.c.s").read_text() == "all a/dot.c\n"
    assert (place / "m.s.b-dot.c.s").read_text() == "all b/dot.c\n"
    # With a compiler that fails, nothing is written.
    done = run([place / "incc", "--emit-marked=n.s", "-c", "triad.c", "missing.c"], place)
    assert done.status != 0
    assert not (place / "n.s").exists()


@needs_gcc
@pytest.mark.parametrize(
    ("variable", "words"),
    [("FAIL_ANALYSIS", "not analysed: no model for this"), ("CRASH_ANALYSIS", "not analysed: ZeroDivisionError: oh")],
)
def test_failing_analysis(place: Path, variable: str, words: str) -> None:
    expected = Result(0, b"", f"incc: warning: {words}\n".encode())
    assert run([place / "incc", "--analyze", "-c", "triad.c"], place, **{variable: "1"}) == expected
    assert (place / "triad.o").exists()
    logged = run([place / "incc", "--analyze", "-c", "triad.c"], place, INCC_LOG="log", **{variable: "1"})
    assert (logged, (place / "log").read_bytes()) == (Result(0, b"", b""), expected.err)
    done = run([place / "incc", "--analyze", "--analyze-strict", "-c", "triad.c"], place, **{variable: "1"})
    assert done == replace(expected, status=1)
    done = run(
        [place / "incc", "-c", "triad.c"], place, INCC_MODE="full", INCC_ANALYZE="1", INCC_STRICT="1", **{variable: "1"}
    )
    assert done == replace(expected, status=1)


@needs_gcc
@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"INCC_FORMAT": "xml"}, "INCC_FORMAT is one of text, json, not 'xml'"),
        ({"INCC_OUTPUT": "/no/where/at all"}, "the report could not be written: /no/where/at all"),
    ],
)
def test_mistakes_in_the_environment_do_not_stop_a_build(place: Path, environment: dict[str, str], words: str) -> None:
    done = run([place / "incc", "-c", "triad.c"], place, **({"INCC_ANALYZE": "1", "INCC_MODE": "full"} | environment))
    assert done.err.decode().startswith(f"incc: warning: {words}")
    assert (done.status, done.out, done.err.count(b"\n")) == (0, b"", 1)
    assert (place / "triad.o").exists()


@needs_gcc
@pytest.mark.parametrize("mode", ["full", "lean"])
def test_a_pipe_that_nobody_reads(place: Path, mode: str) -> None:
    """Whoever names it for the reports of a build, the build does not wait; `run` gives up after a while."""
    os.mkfifo(place / "pipe")
    done = run([place / "incc", "-c", "triad.c"], place, INCC_ANALYZE="1", INCC_MODE=mode, INCC_OUTPUT="pipe")
    said = f"incc: warning: the report could not be written: {place}/pipe: a pipe without a reader\n"
    assert done.err.decode() == (said if mode == "full" else "")  # in the other one to the log alone
    assert (done.status, done.out) == (0, b"")
    assert (place / "triad.o").exists()
    # Somebody has it open, and does not read.
    reader = os.open(place / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    done = run([place / "incc", "-c", "triad.c"], place, INCC_ANALYZE="1", INCC_MODE=mode, INCC_OUTPUT="pipe")
    assert (done.status, done.out, done.err, os.read(reader, 100)) == (0, b"", b"", REPORT.encode())
    os.close(reader)


def test_a_compiler_that_does_not_say_what_it_runs(place: Path) -> None:
    fake = program(place, "fakecc", 'case "$1" in -\\#*) echo "unknown option $1" >&2; exit 1;; esac; echo compiled')
    done = run([place / "incc", f"--incc-cc={fake}", "--analyze", "-c", "triad.c"], place)
    assert done.out == b"compiled\n"
    assert done.err == b"incc: warning: not analysed: fakecc does not support -###, which lists its sub-commands\n"
    assert done.status == 0


@needs_gcc
def test_dry_run_by_the_user(place: Path) -> None:
    done = run([place / "incc", "--analyze", "-###", "-c", "triad.c"], place)
    assert done.status == 0
    assert REPORT.encode() not in done.out + done.err


# --- builds ----------------------------------------------------------------------------------------------------------

MAKEFILE = """\
OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))
all: lib.a
lib.a: $(OBJECTS)
\t$(AR) rcs $@ $^
%.o: %.c
\t@$(CC) -O2 -MMD -c $< -o $@
"""


@needs_gcc
@pytest.mark.skipif(not shutil.which("make"), reason="no make")
def test_make_with_many_jobs(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    wrapped = tmp_path / "wrapped"
    for folder in (plain, wrapped):
        folder.mkdir()
        (folder / "Makefile").write_text(MAKEFILE)
        for source in DATA.glob("*.c"):
            shutil.copy(source, folder)
    (tmp_path / "bin").mkdir()
    incc = make_incc(tmp_path / "bin")
    output = tmp_path / "reports"
    make = ["make", "-s", "-j4", "ARFLAGS=rcD"]
    assert run([*make, "CC=gcc"], plain).status == 0
    done = run(
        [*make, f"CC={incc}"],
        wrapped,
        INCC_CC="gcc",
        INCC_MODE="full",
        INCC_ANALYZE="1",
        INCC_OUTPUT=str(output),
        INCC_FORMAT="json",
    )
    assert done.status == 0, done.err
    assert tree(wrapped) == tree(plain)
    sources = [json.loads(line)["units"][0]["source"] for line in output.read_text().splitlines()]
    assert sorted(sources) == sorted(p.name for p in DATA.glob("*.c"))
    again = subprocess.run([*make, "CC=gcc"], cwd=wrapped, capture_output=True, text=True)
    assert again.returncode == 0

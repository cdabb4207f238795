"""Link-time optimisation: links are as without incc, and the report has the loops that were generated at them."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wrapper_launcher import Result, front, run

from incc.frontends.gcc_wrapper.dry_run import DryRun, SubCommand
from incc.frontends.gcc_wrapper.linking import find_link, hides_inputs, links, optimised_functions
from incc.frontends.objects import bitcode
from incc.frontends.objects.symbols import elf_facts, linker_inputs
from incc.ranking import manifest
from properties import examples

COMPILERS = [
    pytest.param(cc, marks=pytest.mark.skipif(not shutil.which(cc), reason=f"no {cc}"))
    for cc in ("gcc", "gcc-11", "clang-14", "clang-16", "clang-19")
]
every_compiler = pytest.mark.parametrize("cc", COMPILERS)
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")

# Two functions of one name: one is machine code before the link, the other is not.
MAIN = """
double dot(const double *, const double *, int);
int native(int *, int, double *, double *);
double x[1000], y[1000];
int z[1000];
static __attribute__((noinline)) int tally(const int *p, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += p[i] ^ (sum << 3) ^ i;
  return sum;
}
int main(int count, char **values) { return native(z, count, x, y) + (int)dot(x, y, count) + tally(z, count); }
"""
DOT = """
double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
"""
NATIVE = """
static __attribute__((noinline)) int tally(const int *p, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum -= p[i];
  return sum;
}
int native(int *p, int n, double *a, double *b) {
  p[n] = a[n] = b[n] = n;
  int most = tally(p, n);
  for (int i = 0; i < n; i++) if (p[i] > most) most = p[i];
  return most;
}
"""
FLAGS = ["-O2", "-march=haswell", "-g"]


class Linked(msgspec.Struct, frozen=True):
    """What came of a command: the units of its report, empty if there is none, and what was said."""

    units: list[dict[str, Any]]
    err: str

    def loops(self) -> list[tuple[str, int]]:
        """The lines of the source that the loops of the linked file are in."""
        (unit,) = (unit for unit in self.units if unit["way"] == "object")
        places = {(k["source"]["file"], k["source"]["line"]) for k in unit["kernels"]}
        return sorted((os.path.basename(file), line) for file, line in places)


class Place:
    """A folder with sources, of which `native.c` is compiled already, to machine code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        for name, text in (("main.c", MAIN), ("dot.c", DOT), ("native.c", NATIVE)):
            (folder / name).write_text(text)

    def plain(self, *command: str) -> None:
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def compile(self, cc: str, *flags: str) -> None:
        self.plain(cc, *FLAGS, "-c", "native.c")
        self.plain(cc, *FLAGS, "-flto", *flags, "-c", "main.c", "dot.c")

    def incc(self, cc: str, *arguments: str, **environment: str) -> Linked:
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        asked = [f"--analyze={report}", "--analyze-format=json", "--analyze-simulate=false"]
        words = [sys.executable, "-m", "incc.driver.commands.incc", f"--incc-cc={cc}", *asked, *arguments]
        paths = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
        done = run(words, self.folder, None, PYTHONPATH=paths, **environment)
        assert done.status == 0, done.err.decode()
        return Linked(json.loads(report.read_text())["units"] if report.exists() else [], done.err.decode())

    def same(self, cc: str, *arguments: str, output: str) -> Linked:
        """The same, after making sure that the output is as without incc, where two compilations agree."""
        made = []
        for _ in range(2):
            self.plain(cc, *arguments)
            made.append((self.folder / output).read_bytes())
            (self.folder / output).unlink()
        done = self.incc(cc, *arguments)
        if made[0] == made[1]:
            assert (self.folder / output).read_bytes() == made[0]
        return done


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "work")


LOOPS = [("dot.c", 5), ("main.c", 8)]
"""Those of both sources that are optimised at the link: none of native.c."""


# The lines of a loop's instructions are those of its body, or of its head.
def lines(found: Linked) -> set[tuple[str, int]]:
    return {(file, 5 if (file, line) == ("dot.c", 4) else line) for file, line in found.loops()}


@every_compiler
@pytest.mark.parametrize("flags", ["", "-ffunction-sections", "-flto=thin"])
def test_objects_into_a_program(place: Place, cc: str, flags: str) -> None:
    if "thin" in flags and cc.startswith("gcc"):
        flags = "-flto=auto"
    more = [flags] if flags else []
    place.compile(cc, *more)
    found = place.same(cc, *FLAGS, "-flto", *more, "main.o", "dot.o", "native.o", "-o", "program", output="program")
    (unit,) = found.units
    assert (unit["source"], unit["output"], unit["way"]) == ("program", "program", "object")
    assert (unit["folder"], unit["target_cpu"]) == (str(place.folder), "haswell")
    assert all(k["notes"][0] == "after link-time optimisation of main.o, dot.o" for k in unit["kernels"])
    assert lines(found) == set(LOOPS)
    assert found.err == ""


@every_compiler
def test_without_debug_information_symbols_say_whose_a_loop_is(place: Place, cc: str) -> None:
    place.plain(cc, "-O2", "-c", "native.c")
    place.plain(cc, "-O2", "-flto", "-c", "main.c", "dot.c")
    (unit,) = place.incc(cc, "-O2", "-flto", "main.o", "dot.o", "native.o").units
    assert unit["output"] == "a.out"
    functions = {k["function"].partition(".")[0] for k in unit["kernels"]}
    assert functions <= {"main", "dot", "tally"}
    # Of the two functions of one name only the one that was generated: native's has no shift.
    tallies = [k for k in unit["kernels"] if k["function"].startswith("tally")]
    assert tallies
    assert all(any("xor" in i["text"] for i in k["instructions"]) for k in tallies)


@pytest.mark.long
@every_compiler
@pytest.mark.parametrize("more", [[], ["-save-temps"]], ids=" ".join)
def test_one_command_from_sources_to_the_program(place: Place, cc: str, more: list[str]) -> None:
    place.compile(cc)
    found = place.same(cc, *FLAGS, "-flto", *more, "main.c", "dot.c", "native.o", "-o", "program", output="program")
    assert [unit["source"] for unit in found.units] == ["program"]
    assert found.units[0]["kernels"][0]["notes"][0] == "after link-time optimisation of main.c, dot.c"
    assert lines(found) == set(LOOPS)
    assert found.err == ""


@every_compiler
def test_members_of_libraries(place: Place, cc: str) -> None:
    place.compile(cc)
    clang = cc.startswith("clang")
    archiver = cc.replace("clang", "llvm-ar") if clang else cc.replace("gcc", "gcc-ar")
    if not shutil.which(archiver):
        pytest.skip(f"no {archiver}")
    place.plain(archiver, "rcs", "libmine.a", "dot.o", "native.o")
    command = [*FLAGS, "-flto", "main.o", "-L.", "-lmine", "-o", "program"]
    found = place.same(cc, *command, output="program")
    assert lines(found) == set(LOOPS)
    assert found.units[0]["kernels"][0]["notes"][0] == "after link-time optimisation of main.o, ./libmine.a"


@pytest.mark.long
@every_compiler
def test_shared_libraries_and_objects(place: Place, cc: str) -> None:
    place.compile(cc, "-fPIC")
    found = place.same(cc, *FLAGS, "-flto", "-fPIC", "-shared", "dot.o", "-o", "libdot.so", output="libdot.so")
    assert lines(found) == {("dot.c", 5)}
    found = place.incc(cc, *FLAGS, "-flto", "-r", "dot.o", "main.o", "-o", "both.o")
    if cc.startswith("clang"):
        assert lines(found) == set(LOOPS)
    else:
        assert found.units == []
        assert "incc: note: both.o: nothing to analyse: the next link generates its machine code" in found.err


@needs_gcc
def test_response_files(place: Place) -> None:
    place.compile("gcc")
    (place.folder / "link").write_text("-flto main.o dot.o native.o -o program\n")
    assert lines(place.same("gcc", "@link", output="program")) == set(LOOPS)


@pytest.mark.long
@every_compiler
def test_programs_with_all_of_libc(place: Place, cc: str) -> None:
    place.compile(cc)
    command = [*FLAGS, "-flto", "-static", "main.o", "dot.o", "native.o", "-lm", "-o", "program"]
    if subprocess.run([cc, *command], cwd=place.folder, capture_output=True).returncode:
        pytest.skip("no static libc")
    assert lines(place.same(cc, *command, output="program")) == set(LOOPS)


@needs_gcc
def test_gcc_optimises_what_has_machine_code_as_well(place: Place) -> None:
    place.plain("gcc", *FLAGS, "-c", "native.c")
    for source in ("main.c", "dot.c"):
        found = place.incc("gcc", *FLAGS, "-flto", "-ffat-lto-objects", "-c", source)
        assert [(unit["source"], unit["way"]) for unit in found.units] == [(source, "second-run")]
    files = ["main.o", "dot.o", "native.o", "-o", "program"]
    assert lines(place.incc("gcc", *files)) == set(LOOPS)
    assert place.incc("gcc", "-fno-lto", *files) == Linked([], "")


@pytest.mark.skipif(not shutil.which("clang-19"), reason="no clang-19")
@pytest.mark.skipif(not shutil.which("ld.lld-19"), reason="no ld.lld-19")
def test_llvms_linker(place: Place) -> None:
    lld = ["-flto=thin", "-ffat-lto-objects", "-fuse-ld=lld"]
    place.plain("clang-19", *FLAGS, "-c", "native.c")
    place.plain("clang-19", *FLAGS, *lld[:2], "-c", "main.c", "dot.c")
    files = ["main.o", "dot.o", "native.o", "-o", "program"]
    assert lines(place.same("clang-19", *FLAGS, *lld, *files, output="program")) == set(LOOPS)
    # Objects with both, which are linked as machine code.
    assert place.incc("clang-19", *files) == Linked([], "")
    place.compile("clang-19")
    assert lines(place.same("clang-19", *FLAGS, "-flto", lld[2], *files, output="program")) == set(LOOPS)


@every_compiler
def test_machine_code_alone_has_been_reported_on(place: Place, cc: str) -> None:
    place.plain(cc, *FLAGS, "-c", "native.c", "main.c", "dot.c")
    assert place.incc(cc, "native.o", "main.o", "dot.o") == Linked([], "")
    # -flto says nothing of what was compiled without.
    assert place.incc(cc, "-flto", "native.o", "main.o", "dot.o") == Linked([], "")


@every_compiler
def test_stripped_programs_are_not_analysed(place: Place, cc: str) -> None:
    place.compile(cc)
    found = place.incc(cc, *FLAGS, "-flto", "-s", "main.o", "dot.o", "native.o", "-o", "program")
    assert found.units == []
    assert found.err.startswith("incc: warning: not analysed: program: without symbols")
    assert place.incc(cc, *FLAGS, "-flto", "main.o", "dot.o", "native.o", "-o", "/dev/null") == Linked([], "")


@pytest.mark.long
@every_compiler
def test_sources_without_it(place: Place, cc: str) -> None:
    found = place.same(cc, *FLAGS, "-flto", "-frandom-seed=1", "-c", "dot.c", output="dot.o")
    assert found.units == []
    assert "dot.c: nothing to analyse: -flto writes " in found.err
    assert "--analyze-lto=compile" in found.err
    (place.folder / "plain.o").write_bytes((place.folder / "dot.o").read_bytes())
    found = place.incc(cc, *FLAGS, "-flto", "-frandom-seed=1", "-c", "dot.c", INCC_LTO="compile")
    assert (place.folder / "dot.o").read_bytes() == (place.folder / "plain.o").read_bytes()
    (unit,) = found.units
    assert (unit["source"], unit["way"], found.err) == ("dot.c", "second-run", "")
    assert all("compiled without -flto" in k["notes"][0] for k in unit["kernels"])
    # The note is said where it is so: not of what has machine code anyway, nor of what has nothing else.
    (unit,) = place.incc(cc, *FLAGS, "-c", "dot.c", INCC_LTO="compile").units
    assert unit["kernels"][0]["notes"] == []
    # Whoever asks for sources is not told of links.
    place.compile(cc)
    assert place.incc(cc, "-flto", "main.o", "dot.o", "native.o", INCC_LTO="compile") == Linked([], "")


@needs_gcc
def test_what_is_refused_without_it(place: Place) -> None:
    compiler = place.folder / "refusing"
    refuses = "for word; do test \"$word\" = -fno-lto && echo 'refusing version 1' >&2 && exit 1; done"
    compiler.write_text(f'#!/bin/sh\n{refuses}\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    found = place.incc(str(compiler), "-O2", "-flto", "-c", "dot.c", INCC_LTO="compile")
    assert found.units == []
    assert found.err.startswith("incc: note: dot.c: nothing to analyse: -flto writes GIMPLE")
    assert found.err.endswith("; the compiler rejects the command with -fno-lto\n")


@pytest.mark.skipif(not shutil.which("clang-19"), reason="no clang-19")
def test_options_that_are_for_link_time_optimisation_alone(place: Place) -> None:
    found = place.incc("clang-19", "-O2", "-flto", "-fwhole-program-vtables", "-c", "dot.c", INCC_LTO="compile")
    assert [(unit["source"], unit["way"]) for unit in found.units] == [("dot.c", "second-run")]


# --- links of builds are jobs -----------------------------------------------------------------------------------------


class Build:
    """A folder of reports, into which links are analysed by whoever takes their jobs."""

    def __init__(self, place: Place) -> None:
        self.folder = place.folder
        self.reports = place.folder / "reports"
        self.log = place.folder / "log"
        self.reports.mkdir()

    def run(self, *command: str, status: int = 0, **environment: str) -> None:
        """Run a command, of which nobody should hear anything."""
        asked = {"INCC_ANALYZE": "1", "INCC_OUTPUT": "reports", "INCC_LOG": "log", "INCC_DEFER": "1"}
        done = run([front(), *command], self.folder, None, **{**asked, **environment})
        assert (done.status, done.out) == (status, b"")
        assert done.err == b"" or environment.get("INCC_STRICT")

    def jobs(self) -> list[Path]:
        folder = self.reports / ".incc" / "jobs"
        return sorted(folder.iterdir()) if folder.exists() else []

    def work(self) -> list[str]:
        """Do the jobs; returns what went wrong."""
        words = [sys.executable, "-m", "incc.driver.commands.job", *map(str, self.jobs())]
        paths = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
        assert run(words, self.folder, None, PYTHONPATH=paths).status == 0
        assert self.jobs() == []
        return self.log.read_text().splitlines() if self.log.exists() else []

    def units(self) -> list[dict[str, Any]]:
        reports = self.reports.glob("*.json")
        return [unit for report in reports for unit in json.loads(report.read_text())["units"]]

    def found(self) -> Linked:
        assert len(list(self.reports.glob("*.json"))) == 1
        return Linked(self.units(), "")


@pytest.fixture
def build(place: Place) -> Build:
    return Build(place)


FILES = ("main.o", "dot.o", "native.o", "-o", "program")


@pytest.mark.long
@every_compiler
def test_a_link_leaves_a_job(place: Place, build: Build, cc: str) -> None:
    place.compile(cc)
    expected = place.incc(cc, *FLAGS, "-flto", *FILES, INCC_MCPU="haswell,znver4")
    linked = (place.folder / "program").read_bytes()
    build.run(cc, *FLAGS, "-flto", *FILES, INCC_MCPU="haswell,znver4")
    assert (place.folder / "program").read_bytes() == linked
    (job,) = build.jobs()
    # What becomes of it is nothing to the job.
    (place.folder / "program").write_bytes(b"something else")
    assert build.work() == []
    found = build.found()
    assert lines(Linked(found.units[:1], "")) == set(LOOPS)
    assert [unit["model"]["name"] for unit in found.units] == ["haswell", "znver4"]
    for one, other in zip(found.units, expected.units, strict=True):
        for name in ("source", "output", "way", "folder", "command", "compiler", "compiler_version", "target_cpu"):
            assert one[name] == other[name], name
        assert [(k["kernel_id"], k["content_hash"], k["notes"]) for k in one["kernels"]] == [
            (k["kernel_id"], k["content_hash"], k["notes"]) for k in other["kernels"]
        ]
    assert not job.exists()


@pytest.mark.long
@every_compiler
def test_one_command_from_sources_leaves_a_job(place: Place, build: Build, cc: str) -> None:
    place.compile(cc)
    build.run(cc, *FLAGS, "-flto", "main.c", "dot.c", "native.o", "-o", "program")
    assert build.work() == []
    assert lines(build.found()) == set(LOOPS)
    assert build.found().units[0]["kernels"][0]["notes"][0] == "after link-time optimisation of main.c, dot.c"


@needs_gcc
def test_response_files_and_symbols_may_be_gone_when_a_job_is_done(place: Place, build: Build) -> None:
    place.compile("gcc")
    (place.folder / "link").write_text("-flto main.o dot.o native.o -o program\n")
    build.run("gcc", "@link")
    (place.folder / "link").unlink()
    place.plain("strip", "program")
    assert build.work() == []
    assert lines(build.found()) == set(LOOPS)

    def stale() -> list[str]:
        return list(manifest.stale(list(manifest.read_manifest(str(build.reports)).values()))[0].values())

    # Nobody can tell whether it was linked anew, or is what the report is of without its symbols.
    assert stale() == []
    place.plain("gcc", "-flto", "main.o", "dot.o", "native.o", "-o", "program", "-Wl,--defsym=more=1")
    assert stale() == ["program has changed since"]


@pytest.mark.long
@needs_gcc
@pytest.mark.parametrize("name", ["dot.o", "native.o", "./libmine.a"])
def test_inputs_have_to_be_there_as_they_were(place: Place, build: Build, name: str) -> None:
    place.compile("gcc")
    place.plain("gcc-ar", "rcs", "libmine.a", "native.o")
    command = ["gcc", *FLAGS, "-flto", "main.o", "dot.o", "native.o", "./libmine.a", "-o", "program"]
    build.run(*command)
    (place.folder / name).unlink()
    log = build.work()
    assert len(log) == 1
    where = f"incc: warning: {place.folder}/program: not analysed: {name} was removed after the link"
    assert log[0] == f"{where}; its other inputs can no longer be determined"
    place.compile("gcc")
    place.plain("gcc-ar", "rcs", "libmine.a", "native.o")
    build.run(*command)
    later = (place.folder / "program").stat().st_mtime + 10
    os.utime(place.folder / name, (later, later))
    assert f"{name} was changed after the link" in build.work()[1]
    assert list(build.reports.glob("*.json")) == []


@needs_gcc
def test_a_link_that_was_seen_before_is_no_job(place: Place, build: Build) -> None:
    place.compile("gcc")
    command = ["gcc", *FLAGS, "-flto", *FILES]
    cache = str(place.folder / "cache")
    build.run(*command, INCC_CACHE=cache)
    assert build.work() == []
    first = build.found()
    for report in build.reports.glob("*.json"):
        report.unlink()
    build.run(*command, INCC_CACHE=cache)
    assert build.jobs() == []
    assert build.found() == first
    # Another link has another key.
    build.run(*command, "-Wl,-O1", INCC_CACHE=cache)
    assert len(build.jobs()) == 1


@needs_gcc
def test_links_without_a_report_and_the_log(place: Place, build: Build) -> None:
    place.compile("gcc")
    for command in (["-r", "main.o", "dot.o", "-o", "both.o"], ["-s", *FILES], [*FILES[:-1], "/dev/null"]):
        build.run("gcc", *FLAGS, "-flto", *command)
    note, warning = sorted(build.work())
    # Of machine code alone nothing is to be said.
    place.plain("gcc", *FLAGS, "-c", "main.c", "dot.c")
    build.run("gcc", "-flto", "main.o", "dot.o", "native.o", "-o", "plain")
    assert sorted(build.work()) == [note, warning]
    where = f"incc: note: {place.folder}/both.o: nothing to analyse"
    assert note == f"{where}: the next link generates its machine code"
    assert warning.startswith("incc: warning: program: without symbols")
    assert list(build.reports.glob("*.json")) == []


@needs_gcc
def test_a_link_is_analysed_at_once_where_nobody_takes_jobs(place: Place, build: Build) -> None:
    place.compile("gcc")
    build.run("gcc", *FLAGS, "-flto", *FILES, INCC_DEFER="")
    assert build.jobs() == []
    assert lines(build.found()) == set(LOOPS)
    build.run("gcc", *FLAGS, "-flto", "-s", *FILES, INCC_DEFER="", INCC_STRICT="1", status=1)
    assert "without symbols" in build.log.read_text()


@needs_gcc
def test_what_has_code_beside_is_one_of_the_full_mode(place: Place, build: Build) -> None:
    place.compile("gcc")
    (place.folder / "more.s").write_text('.section .note.GNU-stack,"",@progbits\n')
    for command in (["-ffat-lto-objects", "dot.c"], ["more.s", "dot.o"]):
        build.run("gcc", "-O2", "-flto", "main.o", "native.o", *command, "-o", "program")
        assert build.jobs() == []
        assert "program" in {unit["source"] for unit in build.units()}


@needs_gcc
def test_links_by_which_cmake_tries_the_compiler_are_no_jobs(place: Place, build: Build) -> None:
    place.compile("gcc")
    tries = place.folder / "CMakeFiles" / "CMakeScratch" / "TryCompile-x"
    tries.mkdir(parents=True)
    build.run("gcc", "-flto", *FILES[:-1], str(tries / "cmTC_1"))
    assert (tries / "cmTC_1").exists()
    assert build.jobs() == []


@needs_gcc
def test_reports_on_links_to_standard_output_and_to_a_file(place: Place) -> None:
    place.compile("gcc")
    words = [front(), "gcc", "-flto", *FILES]
    done = run(words, place.folder, None, INCC_ANALYZE="1", INCC_FORMAT="json")
    assert (done.status, done.err) == (0, b"")
    assert lines(Linked(json.loads(done.out)["units"], "")) == set(LOOPS)
    assert run(words, place.folder, None, INCC_ANALYZE="1", INCC_OUTPUT="all.txt") == Result(0, b"", b"")
    assert "after link-time optimisation of main.o, dot.o" in (place.folder / "all.txt").read_text()


@needs_gcc
def test_a_project_says_what_of_a_link_is_wanted(place: Place, build: Build) -> None:
    place.compile("gcc")
    command = ["gcc", *FLAGS, "-flto", *FILES]
    (place.folder / "incc.toml").write_text('[analyze]\nfiles = "dot.c"\ncores = ["znver4", "haswell"]\n')
    build.run(*command)
    assert build.work() == []
    assert [(unit["model"]["name"], len(unit["kernels"])) for unit in build.found().units] == [
        ("znver4", 1),
        ("haswell", 1),
    ]
    assert lines(Linked(build.found().units[:1], "")) == {("dot.c", 5)}
    assert {k["source"]["file"] for u in place.incc(*command[:1], *command[1:]).units for k in u["kernels"]} == {
        "dot.c"
    }
    (place.folder / "incc.toml").write_text('[analyze]\nexclude = "prog*"\n')
    build.run(*command)
    assert build.work() == []
    assert list(build.reports.glob("*.json")) == []
    assert "note: program: not analysed: excluded by" in place.incc(*command[:1], *command[1:]).err


@needs_gcc
def test_a_folder_of_reports_is_told_once(place: Place) -> None:
    (place.folder / "reports").mkdir()
    paths = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
    environment = {"INCC_ANALYZE": "1", "INCC_OUTPUT": "reports", "INCC_FORMAT": "json", "PYTHONPATH": paths}
    place.plain("gcc", "-O2", "-c", "native.c")
    incc = [sys.executable, "-m", "incc.driver.commands.incc", "--incc-cc=gcc", "-O2", "-flto"]
    said = [run([*incc, "-c", name], place.folder, None, **environment).err.decode() for name in ("main.c", "dot.c")]
    assert [text.count("incc: note") for text in said] == [1, 0]
    for _ in range(2):
        done = run([*incc, "main.o", "dot.o", "native.o", "-o", "program"], place.folder, None, **environment)
        assert (done.status, done.out, done.err) == (0, b"", b"")
    (report,) = (place.folder / "reports").glob("*.json")
    assert [unit["source"] for unit in json.loads(report.read_text())["units"]] == ["program"]


# --- the linker's command --------------------------------------------------------------------------------------------


def link_of(folder: Path, *words: str, arguments: tuple[str, ...] = ()) -> Any:
    return find_link(
        DryRun(commands=(SubCommand(words, False),), version="", target=""), arguments or words, str(folder)
    )


@pytest.mark.parametrize(
    "name", ["ld", "ld.lld-19", "/usr/bin/x86_64-linux-gnu-ld.gold", "collect2", "/opt/mold", "ld.bfd"]
)
def test_linkers(name: str) -> None:
    assert links(DryRun(commands=(SubCommand((name, "a.o"), False),), version="", target=""))


@pytest.mark.parametrize("name", ["/usr/lib/gcc/cc1", "as", "clang", "llvm-objcopy", "lto-wrapper"])
def test_other_programs(name: str) -> None:
    assert not links(DryRun(commands=(SubCommand((name, "a.o"), False),), version="", target=""))


def test_inputs_that_are_hidden() -> None:
    assert hides_inputs(DryRun(commands=(SubCommand(("collect2", "@/no/such/file"), False),), version="", target=""))
    assert not hides_inputs(DryRun(commands=(SubCommand(("cc1", "@/no/such/file"), False),), version="", target=""))


@needs_gcc
def test_libraries_as_the_linker_finds_them(tmp_path: Path) -> None:
    place = Place(tmp_path / "work")
    place.compile("gcc")
    folder = place.folder
    for name in ("shared", "static", "script"):
        (folder / name).mkdir()
    place.plain("gcc", "-shared", "-fPIC", "native.c", "-o", "shared/libone.so")
    place.plain("ar", "rcs", "shared/libone.a", "native.o")
    place.plain("ar", "rcs", "static/libtwo.a", "native.o")
    (folder / "script" / "libthree.so").write_text("/* of GNU ld */\nGROUP ( libreal.a AS_NEEDED ( -lthree -ltwo ) )\n")
    place.plain("ar", "rcs", "script/libreal.a", "native.o")
    plugin = ("-plugin", "/usr/lib/liblto_plugin.so", "-Lshared", "-Lstatic", "-Lscript", "main.o")

    def found(*words: str) -> list[str]:
        link = link_of(folder, "collect2", *plugin, *words, arguments=("main.o",))
        return [os.path.relpath(path, folder) for path in link.machine_code][1:]

    assert found("-lone") == ["shared/libone.so"]
    assert found("-Bstatic", "-lone") == ["shared/libone.a"]
    assert found("-static", "-lone") == ["shared/libone.a"]
    assert found("--push-state", "-Bstatic", "-lone", "--pop-state", "-l", "one") == [
        "shared/libone.a",
        "shared/libone.so",
    ]
    assert found("-l:libone.a", "-ltwo", "-lnone") == ["shared/libone.a", "static/libtwo.a"]
    # The script names itself.
    # A script that names itself, as those do that stand for a library of the same name.
    assert found("-lthree") == ["script/libreal.a", "static/libtwo.a"]
    assert found("-o", "native.o", "native.c") == ["native.c"]


@needs_gcc
def test_who_optimises_what(tmp_path: Path) -> None:
    place = Place(tmp_path / "work")
    place.compile("gcc", "-ffat-lto-objects")
    place.plain("gcc-ar", "rcs", "libdot.a", "dot.o")
    plugin = ("-plugin", "/usr/lib/liblto_plugin.so")
    files = ("main.o", "libdot.a", "native.o")

    def inputs(*words: str, more: tuple[str, ...] = ()) -> tuple[str, ...]:
        link = link_of(place.folder, *words, arguments=(*files, *more))
        return link.inputs if link else ()

    assert inputs("collect2", *plugin, *files) == ("main.o", "libdot.a")
    # Without the plugin collect2 does it, which does not look into libraries.
    assert inputs("collect2", "-flto", *files) == ("main.o",)
    assert inputs("collect2", *files) == inputs("collect2", "-flto", "-fno-lto", *files) == ()
    # LLVM's linker takes the machine code that is there.
    assert inputs("collect2", *plugin, *files, more=("-fuse-ld=lld",)) == ()
    assert inputs("ld", "-plugin", "/usr/lib/LLVMgold.so", *files) == ()
    # What the user does not name is not looked into.
    assert link_of(place.folder, "collect2", *plugin, *files, arguments=("other.o",)) is None


# --- symbols ---------------------------------------------------------------------------------------------------------


@needs_gcc
def test_functions_of_objects_and_programs(tmp_path: Path) -> None:
    place = Place(tmp_path / "work")
    place.compile("gcc")
    place.plain("gcc", "-O2", "-flto", "main.o", "dot.o", "native.o", "-o", "program")
    (native,) = linker_inputs(str(place.folder / "native.o"))
    assert (native.lto, native.is_member) == ("", False)
    assert native.elf
    assert {function.name for function in native.elf.functions} == {"native", "tally"}
    (main,) = linker_inputs(str(place.folder / "main.o"))
    assert main.lto == "gcc"
    assert main.elf
    assert "-march=haswell" in main.elf.options
    assert list(linker_inputs(str(place.folder / "program"))) == []
    program = elf_facts(str(place.folder / "program"))
    assert program
    assert not program.is_object
    assert {"main", "native", "_start"} <= {function.name for function in program.functions}
    words = ("collect2", "-plugin", "liblto_plugin.so", "main.o", "dot.o", "native.o")
    users = optimised_functions(link_of(place.folder, *words), program)
    of = {function.address: function.name for function in program.functions}
    assert "main" in {of[address] for address in users}
    assert "native" not in {of[address] for address in users}


CLANGS = [case for case in COMPILERS if str(case.values[0]).startswith("clang")]


@pytest.mark.long
@pytest.mark.parametrize("cc", CLANGS)
@pytest.mark.parametrize("flags", [["-flto"], ["-flto=thin"], ["-flto=thin", "-ffat-lto-objects"]])
def test_bitcode_says_for_which_core_it_is(tmp_path: Path, cc: str, flags: list[str]) -> None:
    if "-ffat-lto-objects" in flags and cc != "clang-19":
        pytest.skip("no clang with fat objects")
    place = Place(tmp_path / "work")

    def target(*more: str) -> tuple[str, ...]:
        place.plain(cc, "-O2", *flags, *more, "-c", "dot.c")
        (found,) = linker_inputs(str(place.folder / "dot.o"))
        return found.target

    assert target("-march=skylake-avx512") == ("-target-cpu", "skylake-avx512")
    assert target("-march=x86-64-v3", "-mtune=znver3") == ("-target-cpu", "x86-64-v3", "-tune-cpu", "znver3")
    if "-ffat-lto-objects" not in flags:
        data = (place.folder / "dot.o").read_bytes()
        wrapped = struct.pack("<5I", 0x0B17C0DE, 0, 20, len(data), 7) + data
        assert bitcode.target(wrapped) == bitcode.target(data)
        assert bitcode.target(data[:40]) == bitcode.target(b"BC\xc0\xde") == bitcode.target(wrapped[:20]) == ()
        # The link need not say it again; what it says is for what has no core of its own.
        place.plain(cc, "-O2", *flags, "-c", "main.c", "-march=x86-64-v3", "-mtune=znver3")
        place.plain(cc, "-O2", "-c", "native.c")
        for more, core in ([], "znver3"), (["-march=haswell"], "znver3"):
            (unit,) = place.incc(cc, "-flto", *more, *FILES).units
            assert unit["target_cpu"] == core
            # Nor how it was optimised.
            assert not {hint["rule"] for k in unit["kernels"] for hint in k["hints"]} & {"not-optimised"}
        place.plain(cc, "-O2", *flags, "-c", "main.c", "dot.c")
        (unit,) = place.incc(cc, "-flto", "-march=haswell", *FILES).units
        assert unit["target_cpu"] == "haswell"


def written(text: bytes) -> bytes:
    """Bitcode of a module that has a block of something else, and a group with these attributes."""
    bits: list[int] = []

    def fixed(value: int, width: int) -> None:
        bits.extend(value >> n & 1 for n in range(width))

    def variable(value: int, width: int) -> None:
        while value >> (width - 1):
            fixed(value & ((1 << (width - 1)) - 1) | 1 << (width - 1), width)
            value >>= width - 1
        fixed(value, width)

    def block(outside: int, number: int, width: int, words: int) -> None:
        fixed(1, outside)
        variable(number, 8)
        variable(width, 4)
        fixed(0, -len(bits) % 32)
        fixed(words, 32)

    block(2, 8, 3, 0)
    fixed(3, 3)
    for value in (1, 1, 2):  # the version: code, one operand
        variable(value, 6)
    block(3, 17, 4, 2)
    fixed(0xDEAD, 64)
    block(3, 10, 3, 0)
    fixed(3, 3)
    for value in (3, len(text) + 3, 1, 1 << 32, *b"\1", *text):
        variable(value, 6)
    fixed(0, 3)
    fixed(0, -len(bits) % 32)
    return b"BC\xc0\xde" + bytes(sum(bit << n for n, bit in enumerate(bits[i : i + 8])) for i in range(0, len(bits), 8))


BITCODE = written(b"\3nounwind\0\4target-cpu\0znver4\0\4tune-cpu\0generic\0")


def test_blocks_of_bitcode() -> None:
    assert bitcode.target(BITCODE) == ("-target-cpu", "znver4", "-tune-cpu", "generic")
    assert bitcode.target(written(b"\3nounwind\0")) == ()


@given(data=st.data())
@examples(200)
def test_damaged_bitcode_says_nothing_or_something(data: st.DataObject) -> None:
    changed = bytearray(BITCODE)
    for _ in range(data.draw(st.integers(0, 6))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    assert len(bitcode.target(bytes(changed[: data.draw(st.integers(0, len(changed)))]))) in (0, 2, 4)


@pytest.fixture(scope="module")
def some_object(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    place = Place(tmp_path_factory.mktemp("lto") / "work")
    place.compile("gcc", "-ffat-lto-objects")
    return (place.folder / "dot.o").read_bytes()


@given(data=st.data())
@examples(100)
def test_damaged_files_are_read_without_an_error(
    data: st.DataObject, some_object: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changed = bytearray(some_object)
    for _ in range(data.draw(st.integers(0, 4))):
        # Headers are at both ends.
        at = data.draw(st.integers(0, 63) | st.integers(len(changed) - 2000, len(changed) - 1))
        changed[at] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("damaged") / "some.o"
    file.write_bytes(changed[: data.draw(st.integers(0, len(changed)) | st.just(len(changed)))])
    found = elf_facts(str(file))
    assert found is None or all(function.size >= 0 for function in found.functions)
    assert len(list(linker_inputs(str(file)))) <= 1

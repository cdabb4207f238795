"""Jobs that compilations leave, and the workers that take them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.builds.jobs import JobError, compiler_version, read_job, remove_job, run_job
from incc.driver.builds.workers import Pool, Queue, run_pending
from incc.frontends.x86 import assembler, kernels
from incc.frontends.x86.assembler import AssembledLines
from incc.report import types as t
from incc.report.folder import manifest
from incc.report.folder.cache import UnitCache
from incc.report.folder.outcome import put_cached
from incc.support.trust import SEAL, key_file, make_key, read_key, seal_of
from properties import examples

TEXT = """\
\t.file\t"sum.c"
\t.text
\t.globl\tsum
\t.type\tsum, @function
sum:
\ttestl\t%esi, %esi
\tjle\t.L4
\tmovslq\t%esi, %rsi
\tvxorpd\t%xmm0, %xmm0, %xmm0
\tleaq\t(%rdi,%rsi,8), %rax
.L3:
\tvaddsd\t(%rdi), %xmm0, %xmm0
\taddq\t$8, %rdi
\tcmpq\t%rdi, %rax
\tjne\t.L3
\tret
.L4:
\tvxorpd\t%xmm0, %xmm0, %xmm0
\tret
\t.size\tsum, .-sum
\t.ident\t"GCC: (Debian 12.2.0-14) 12.2.0"
"""
KEY = "0123456789abcdef" * 2


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Jobs change folder and environment of their process."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("INCC_")]:
        monkeypatch.delenv(name)
    for name in ("INCC_ANALYZE", "INCC_OUTPUT", "INCC_LOG", "INCC_CACHE", "INCC_STRICT", "INCC_MCPU", "INCC_FORMAT"):
        # So that it is put back, whatever a job leaves.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def make_job(place: Path, reports: Path | str, text: str | bytes = TEXT, **changes: Any) -> Path:
    """A job as the front leaves it, with some of its values changed; `unit`: values of its unit, `environment`: more
    variables."""
    place.mkdir(parents=True)
    (place / "kept.s").write_bytes(text if isinstance(text, bytes) else text.encode())
    root = place.parents[len(place.parents) - 4]
    environment = {
        "INCC_ANALYZE": "1",
        "INCC_OUTPUT": str(reports),
        "INCC_LOG": f"{reports}.log",
        "INCC_CACHE": f"{reports}.cache",
    }
    unit = {"source": "src/sum.c", "way": "assembler", "file": "kept.s", "key": KEY}
    unit["proper"] = ["/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "-quiet", "-march=skylake-avx512", "src/sum.c"]
    job: dict[str, Any] = {
        "version": 1,
        "folder": str(root),
        "compiler": "/usr/bin/gcc",
        "words": ["gcc"],
        "arguments": ["-O2", "-march=skylake-avx512", "-c", "src/sum.c", "-o", "sum.o"],
        "output": "sum.o",
        "environment": {**environment, **changes.pop("environment", {})},
        "units": [{**unit, **changes.pop("unit", {})}],
        "digest": {"sum.o": "ab" * 16},
        "log": "",
        **changes,
    }
    (place / "job.json").write_text(json.dumps(job))
    seal(place)
    return place


def seal(place: Path) -> None:
    key = key_file(os.environ)
    make_key(key)
    (place / SEAL).write_text(seal_of((place / "job.json").read_bytes(), read_key(key)))


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    return tmp_path / "reports"


def only_report(reports: Path) -> tuple[str, Any]:
    (path,) = reports.glob("*.json")
    return path.name, json.loads(path.read_text())


def test_a_job_becomes_a_report(tmp_path: Path, reports: Path) -> None:
    place = make_job(tmp_path / "job", reports, folder=str(tmp_path))
    assert run_job(str(place)) == []
    assert not place.exists()
    name, report = only_report(reports)
    assert name.startswith("sum.c-")
    (unit,) = report["units"]
    assert (unit["folder"], unit["source"], unit["output"]) == (str(tmp_path), "src/sum.c", "sum.o")
    assert (unit["way"], unit["assembly_file"], unit["compiler"]) == ("assembler", "sum.s", "gcc")
    assert unit["compiler_version"] == "12.2.0 (Debian 12.2.0-14)"
    assert unit["command"] == ["gcc", "-O2", "-march=skylake-avx512", "-c", "src/sum.c", "-o", "sum.o"]
    assert unit["model"]["name"] == "skylake-avx512"
    (kernel,) = unit["kernels"]
    assert (kernel["function"], kernel["cycles"]) == ("sum", 4)
    assert kernel["incomplete"]
    assert kernel["timeline"] is None or not kernel["timeline"]["rows"]
    listed = manifest.read(str(reports))
    assert listed == {name: manifest.entry_of(name, msgspec.convert(unit, t.UnitReport), "ab" * 16, KEY)}
    # And the next time it is there already.
    found = UnitCache(f"{reports}.cache").find(KEY)
    assert found is not None
    (tmp_path / "again").mkdir()
    put_cached(str(tmp_path / "again"), found.name, found.rest, found.report, "ab" * 16)
    assert only_report(tmp_path / "again") == (name, report)
    assert manifest.read(str(tmp_path / "again")) == listed


def test_made_again_with_other_options_it_replaces_its_report(tmp_path: Path, reports: Path) -> None:
    for flag in ("-O2", "-O3"):
        arguments = [flag, "-c", "src/sum.c", "-o", "sum.o"]
        assert run_job(str(make_job(tmp_path / "job", reports, arguments=arguments))) == []
    _, report = only_report(reports)
    assert report["units"][0]["command"][1] == "-O3"
    arguments = ["-fPIC", "-c", "src/sum.c", "-o", "pic/sum.o"]
    assert run_job(str(make_job(tmp_path / "job", reports, arguments=arguments, output="pic/sum.o"))) == []
    assert len(manifest.read(str(reports))) == len(list(reports.glob("*.json"))) == 2


def test_what_the_environment_and_the_project_say(tmp_path: Path, reports: Path) -> None:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "incc.toml").write_text('[analyze]\ncores = ["znver4", "haswell"]\nexclude = ["old"]\n')

    def models(**changes: Any) -> list[str]:
        for path in reports.glob("*.json"):
            path.unlink()
        assert run_job(str(make_job(tmp_path / "job", reports, folder=str(folder), **changes))) == []
        return [u["model"]["name"] for path in reports.glob("*.json") for u in json.loads(path.read_text())["units"]]

    assert models() == ["znver4", "haswell"]
    assert models(environment={"INCC_MCPU": "skylake"}) == ["skylake"]
    assert models(options=["--analyze-mcpu=skylake"]) == ["skylake"]
    assert models(unit={"source": "old/sum.c"}) == []
    (folder / "incc.toml").write_text("[analyze]\nfunctions = ['other*']\n")
    os.utime(folder / "incc.toml", (1, 1))
    assert models() == ["skylake-avx512"]
    _, report = only_report(reports)
    assert report["units"][0]["kernels"] == []


def test_a_report_of_what_is_excluded_now_goes(tmp_path: Path, reports: Path) -> None:
    assert run_job(str(make_job(tmp_path / "job", reports, folder=str(tmp_path)))) == []
    assert only_report(reports)
    (tmp_path / "incc.toml").write_text("[analyze]\nexclude = ['src']\n")
    assert run_job(str(make_job(tmp_path / "job", reports, folder=str(tmp_path)))) == []
    assert list(reports.glob("*.json")) == []


def test_mistakes_in_a_project_are_told_once(tmp_path: Path, reports: Path) -> None:
    (tmp_path / "incc.toml").write_text("[analyze]\ncors = []\n")
    for _ in range(2):
        run_job(str(make_job(tmp_path / "job", reports, folder=str(tmp_path))))
    log = Path(f"{reports}.log").read_text()
    mistake = "[analyze] has no 'cors'; valid are cores, functions, files, exclude, data"
    assert log == f"incc: warning: {tmp_path}/incc.toml: {mistake}\n"
    assert only_report(reports)


def test_text_reports_and_files(tmp_path: Path, reports: Path) -> None:
    assert run_job(str(make_job(tmp_path / "job", reports, environment={"INCC_FORMAT": "text"}))) == []
    (path,) = reports.glob("sum.c-*.txt")
    assert "cycles" in path.read_text()
    lines = tmp_path / "all.jsonl"
    for _ in range(2):
        changes = {"INCC_FORMAT": "json", "INCC_OUTPUT": str(lines)}
        assert run_job(str(make_job(tmp_path / "job", reports, environment=changes))) == []
    assert [json.loads(line)["units"][0]["source"] for line in lines.read_text().splitlines()] == ["src/sum.c"] * 2


def test_names_of_any_bytes(tmp_path: Path, reports: Path) -> None:
    source = "src/b\udcff\n\u00e9.c"
    arguments = ["-c", source, "-o", "b\udcff.o"]
    made = make_job(tmp_path / "job", reports, unit={"source": source}, arguments=arguments, output="b\udcff.o")
    assert run_job(str(made)) == []
    ((name, entry),) = manifest.read(str(reports)).items()
    assert (entry.source, entry.output) == (source, "b\udcff.o")
    assert (reports / name).exists()


def test_an_analysis_that_fails_is_a_line_in_the_log(tmp_path: Path, reports: Path) -> None:
    log = Path(f"{reports}.log")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"text": b"\x7fELF\0\0"}, "not assembly but an ELF file"),
        ({"arguments": ["-m32", "-c", "src/sum.c"]}, "the code is for 32-bit x86, not for x86-64"),
        ({"unit": {"file": "gone.s"}}, "gone.s: No such file or directory"),
        ({"unit": {"way": "object", "file": "/nowhere.o"}, "digest": {}}, "No such file or directory"),
        ({"environment": {"INCC_MCPU": "z80"}}, "z80"),
        ({"environment": {"INCC_FORMAT": "xml"}}, "INCC_FORMAT is one of text, json, not 'xml'"),
        ({"unit": {"way": "object", "file": str(tmp_path / "new.o"), "output": "sum.o"}}, "was changed or removed"),
        ({"version": 2}, "job of version 2"),
        ({"units": [{"source": "x.c"}]}, "not a job: Object missing required field `way` - at `$.units[0]`"),
    ]
    for changes, problem in cases:
        monkey = {"INCC_LOG": str(log)}
        os.environ.update(monkey)
        place = make_job(tmp_path / "job", reports, **changes)
        problems = run_job(str(place))
        assert len(problems) == 1, changes
        assert problem in problems[0]
        assert log.read_text() == f"incc: warning: {problems[0]}\n"
        log.unlink()
        shutil.rmtree(place, ignore_errors=True)
    assert list(reports.iterdir()) == []
    os.environ.pop("INCC_LOG", None)


def test_an_analysis_that_crashes_is_one_as_well(
    tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from incc.driver import pipeline

    def crash(*_: object) -> None:
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr(pipeline, "analyze_unit", crash)
    place = make_job(tmp_path / "job", reports)
    assert run_job(str(place)) == ["not analysed: ZeroDivisionError: oh no"]
    assert not place.exists()
    assert capfd.readouterr() == ("", "")
    run_job(str(make_job(tmp_path / "job", reports, environment={"INCC_STRICT": "1"})))
    assert capfd.readouterr().err == "incc: warning: not analysed: ZeroDivisionError: oh no\n"


def test_what_cannot_be_written_is_told(tmp_path: Path, reports: Path) -> None:
    (reports / ".incc").write_text("")
    problems = run_job(str(make_job(tmp_path / "job", reports)))
    assert len(problems) == 1
    assert ".incc" in problems[0]


def test_only_what_is_the_jobs_own_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "letter").touch()
    (tmp_path / "x.o").touch()
    job = {
        "version": 1,
        "folder": "/",
        "compiler": "gcc",
        "words": [],
        "arguments": [],
        "output": "",
        "environment": {},
    }
    units = [{"source": "x.c", "way": "object", "file": file} for file in ("../x.o", str(tmp_path / "x.o"), "kept.o")]
    (folder / "job.json").write_text(json.dumps({**job, "units": units}))
    (folder / "kept.o").touch()
    remove_job(str(folder))
    assert sorted(os.listdir(folder)) == ["letter"]
    assert (tmp_path / "x.o").exists()
    (folder / "job.json").write_text("{")
    remove_job(str(folder))
    assert sorted(os.listdir(folder)) == ["letter"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("version", "folder", "compiler", "words", "arguments", "output", "environment", "units", "digest", "log")


@given(st.sampled_from(FIELDS), JSON)
@examples(200)
def test_any_job_is_one_or_an_error(tmp_path_factory: Any, field: str, value: Any) -> None:
    place = tmp_path_factory.mktemp("any") / "job"
    made = json.loads((make_job(place, "/nowhere") / "job.json").read_text())
    (place / "job.json").write_text(json.dumps({**made, field: value}))
    try:
        job = read_job(str(place))
    except JobError:
        pass
    else:
        assert all(isinstance(word, str) for word in job.arguments)
    remove_job(str(place))
    assert not (place / "job.json").exists()


@pytest.mark.parametrize("field", ["folder", "compiler", "output", "log"])
def test_halves_of_characters_are_no_job(tmp_path: Path, field: str) -> None:
    made = json.loads((make_job(tmp_path / "job", "/nowhere") / "job.json").read_text())
    (tmp_path / "job" / "job.json").write_text(json.dumps({**made, field: "\ud800"}))
    with pytest.raises(JobError, match="not a job"):
        read_job(str(tmp_path / "job"))


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ('\t.ident\t"GCC: (Debian 12.2.0-14) 12.2.0"\n', "12.2.0 (Debian 12.2.0-14)"),
        ('\t.ident\t"GCC: (GNU) 15.0.1 20250101 (experimental)"\n', "15.0.1 20250101 (experimental) (GNU)"),
        ('\t.ident\t"Debian clang version 19.1.7 (1)"', "19.1.7 (1)"),
        ('\t.ident\t"mine"\n', ""),
        ("\tret\n", ""),
    ],
)
def test_the_compilers_version(line: str, version: str) -> None:
    assert compiler_version(f"f:\n{line}") == version


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_a_job_of_an_object(tmp_path: Path, reports: Path) -> None:
    (tmp_path / "sum.s").write_text(TEXT)
    subprocess.run(["gcc", "-c", "sum.s", "-o", "sum.o"], cwd=tmp_path, check=True)
    data = (tmp_path / "sum.o").read_bytes()
    digest = {"sum.o": hashlib.blake2b(data, digest_size=16).hexdigest()}
    unit = {"way": "object", "file": str(tmp_path / "sum.o"), "proper": []}
    assert run_job(str(make_job(tmp_path / "job", reports, folder=str(tmp_path), unit=unit, digest=digest))) == []
    _, report = only_report(reports)
    (made,) = report["units"]
    assert (made["way"], made["assembly_file"], made["source"]) == ("object", "sum.o", "src/sum.c")
    assert made["model"]["name"] == "skylake-avx512"
    assert made["compiler_version"] == "12.2.0 (Debian 12.2.0-14)", "from .comment"
    assert [kernel["cycles"] for kernel in made["kernels"]] == [4]
    assert (tmp_path / "sum.o").read_bytes() == data


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_text_is_assembled_again_only_if_its_object_is_gone_or_changed(
    tmp_path: Path, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assembled: list[str] = []

    def assemble(text: str, *arguments: Any) -> AssembledLines:
        assembled.append(text)
        return assembler.assemble(text, *arguments)

    monkeypatch.setattr(kernels, "assemble", assemble)
    found: list[tuple[int, Any]] = []

    def analyse(name: str, *arguments: str) -> None:
        del assembled[:]
        given = ["-O2", "-march=skylake-avx512", *arguments, "-c", "src/sum.c", "-o", "sum.o"]
        job = make_job(tmp_path / name, reports, folder=str(tmp_path), digest=digest, arguments=given)
        assert run_job(str(job)) == []
        found.append((len(assembled), only_report(reports)[1]["units"][0]["kernels"]))

    (tmp_path / "sum.s").write_text(TEXT)
    subprocess.run(["gcc", "-g", "-c", "sum.s", "-o", "sum.o"], cwd=tmp_path, check=True)
    digest = {"sum.o": hashlib.blake2b((tmp_path / "sum.o").read_bytes(), digest_size=16).hexdigest()}
    analyse("there", "-Wa,--noexecstack")
    analyse("options", "-Wa,-mbranches-within-32B-boundaries")
    subprocess.run(["objcopy", "--strip-debug", "sum.o"], cwd=tmp_path, check=True)
    analyse("stripped")
    (tmp_path / "sum.o").unlink()
    analyse("gone")
    (tmp_path / "sum.o").mkdir()
    analyse("folder")
    assert [times for times, _ in found] == [0, 1, 1, 1, 1]
    assert all(kernels == found[0][1] for _, kernels in found)


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_an_object_without_code_has_an_empty_report(tmp_path: Path, reports: Path) -> None:
    (tmp_path / "table.s").write_text("\t.section .rodata\n\t.long 1\n")
    subprocess.run(["gcc", "-c", "table.s", "-o", "table.o"], cwd=tmp_path, check=True)
    # gcc's assembler makes an empty section for code, clang's makes none.
    subprocess.run(["objcopy", "-R", ".text", "table.o"], cwd=tmp_path, check=True)
    unit = {"way": "object", "file": str(tmp_path / "table.o"), "proper": [], "output": "table.o"}
    digest = {"table.o": hashlib.blake2b((tmp_path / "table.o").read_bytes(), digest_size=16).hexdigest()}
    assert run_job(str(make_job(tmp_path / "job", reports, folder=str(tmp_path), unit=unit, digest=digest))) == []
    _, report = only_report(reports)
    assert report["units"][0]["kernels"] == []


def test_one_after_the_other(tmp_path: Path, reports: Path) -> None:
    good = make_job(tmp_path / "good", reports)
    bad = make_job(tmp_path / "bad", reports, version=0)
    command = [sys.executable, "-m", "incc.driver.commands.job", "good", str(bad)]
    for strict, status in (("", 0), ("1", 1)):
        environment = {**os.environ, "INCC_STRICT": strict, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True)
        assert (done.returncode, done.stdout) == (status, b""), done.stderr
        assert not good.exists()
        assert not (bad / "job.json").exists()
        if not strict:
            only_report(reports)
            shutil.rmtree(bad)
            make_job(bad, reports, version=0)


# --- workers ----------------------------------------------------------------------------------------------------------


def fill(reports: Path, count: int) -> None:
    for n in range(count):
        output = f"{n}.o"
        arguments = ["-c", "src/sum.c", "-o", output]
        make_job(reports / ".incc" / "jobs" / f"j{n}", reports, arguments=arguments, output=output, unit={"key": ""})


def test_jobs_that_wait_are_analysed(reports: Path) -> None:
    fill(reports, 12)
    (reports / ".incc" / "jobs" / ".tmp-half").mkdir()
    assert run_pending(str(reports), 3) == []
    assert len(manifest.read(str(reports))) == len(list(reports.glob("*.json"))) == 12
    assert os.listdir(reports / ".incc" / "jobs") == [".tmp-half"], "somebody is still writing it"
    assert os.listdir(reports / ".incc" / "taken") == []
    assert run_pending(str(reports), 3) == []


def test_a_job_that_ends_workers_is_put_aside(reports: Path) -> None:
    fill(reports, 6)
    done = reports / "done"
    done.mkdir()

    def work(place: str) -> None:
        if place.endswith("-j3"):
            os.kill(os.getpid(), signal.SIGKILL)
        (done / os.path.basename(place).partition("-")[2]).touch()
        shutil.rmtree(place)

    pool = Pool(Queue(str(reports)), 2, work)
    pool.queue.make()
    pool.start()
    pool.finish()
    while pool.tend():
        time.sleep(0.01)
    pool.stop()
    assert pool.aside == ["j3"]
    assert sorted(os.listdir(done)) == ["j0", "j1", "j2", "j4", "j5"]
    assert os.listdir(reports / ".incc" / "failed") == ["j3"]
    assert pool.queue.waiting() == []
    assert (reports / ".incc" / "failed" / "j3" / "job.json").exists()


def test_what_is_stopped_can_be_taken_again(reports: Path) -> None:
    fill(reports, 2)
    (reports / "x.json.77.new").touch()

    def work(place: str) -> None:
        (reports / f"x.json.{os.getpid()}.new").touch()
        (reports / "began").touch()
        signal.pause()

    pool = Pool(Queue(str(reports)), 1, work)
    pool.queue.make()
    pool.start()
    while not (reports / "began").exists():
        pool.tend()
        time.sleep(0.01)
    pool.stop()
    assert pool.queue.waiting() == ["j0", "j1"]
    assert pool.aside == []
    assert [path.name for path in reports.glob("*.new")] == ["x.json.77.new"], "another's"


def test_what_is_stopped_leaves_nothing_temporary(
    reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incc.driver import pipeline

    fill(reports, 1)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))

    def analyse(*_: object) -> None:
        tempfile.mkdtemp(prefix=f"incc-{os.getpid()}-", dir=scratch)
        signal.pause()

    monkeypatch.setattr(pipeline, "analyze_unit", analyse)
    monkeypatch.setattr("incc.driver.builds.workers.load_everything", lambda: None)
    pool = Pool(Queue(str(reports)), 1)
    pool.queue.make()
    pool.start()
    while not list(scratch.iterdir()):
        pool.tend()
        time.sleep(0.01)
    pool.stop()
    assert list(scratch.iterdir()) == []
    assert pool.queue.waiting() == ["j0"]


def test_what_a_killed_build_had_is_taken_again(reports: Path) -> None:
    fill(reports, 1)
    gone = subprocess.Popen(["true"])
    gone.wait()
    taken = reports / ".incc" / "taken"
    taken.mkdir()
    (reports / ".incc" / "jobs" / "j0").rename(taken / f"{gone.pid}-j0")
    (taken / f"{os.getpid()}-other").mkdir()
    assert run_pending(str(reports), 1) == []
    assert os.listdir(taken) == [f"{os.getpid()}-other"], "somebody is at it"

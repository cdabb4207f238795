"""Faults around a compilation, in both modes: its outcome is what it is without incc, and nothing temporary is left."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from test_front import GCCS, Lean, needs_gcc
from test_wrapper_same import DATA, if_there, script
from wrapper_launcher import Result, front, run

from incc.frontends.gcc_wrapper import response_files

each_family = pytest.mark.parametrize("cc", [if_there("gcc"), if_there("clang-19")])
each_gcc = pytest.mark.parametrize("cc", GCCS)


@pytest.fixture
def lean(tmp_path: Path) -> Lean:
    return Lean(tmp_path)


@each_gcc
@pytest.mark.parametrize("closed", ["", "<&-", "2>&-", "<&- 2>&-", ">&- 2>&-"])
def test_closed_streams_and_a_pipe(lean: Lean, cc: str, closed: str) -> None:
    """What is opened where a standard stream is closed has its number, and must not be taken for it."""
    lean.place.mkdir()
    lean.reports.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    command = ["sh", "-c", f"'{lean.incc}' -pipe -c triad.c {closed}"]
    assert run(command, lean.place, **lean.environment, INCC_CC=cc) == Result(0, b"", b"")
    assert (lean.place / "triad.o").stat().st_size
    assert len(lean.units()) == 1


@each_family
def test_a_folder_for_temporary_files_with_a_colon(lean: Lean, cc: str) -> None:
    """A colon separates the folders in PATH, in which the compiler looks for what is in such a folder."""
    place = lean.temporary.parent / "a:b"
    place.mkdir()
    assert lean(cc, "-c", "triad.c", sources=["triad.c"], TMPDIR=str(place)).status == 0
    assert len(lean.units()) == 1
    assert list(place.iterdir()) == []


@each_family
@pytest.mark.parametrize("count", [9_000, 12_000])
def test_a_command_as_long_as_commands_may_be(lean: Lean, cc: str, count: int) -> None:
    """gcc's driver tells its options in one variable, which takes no more than Linux lets it."""
    lean(cc, "-c", "triad.c", *(f"-DA{i:05}=1" for i in range(count)), sources=["triad.c"])


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that all users may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.mark.parametrize("cc", [if_there("clang-19")])  # gcc's driver tries again for 15 seconds
@pytest.mark.parametrize("mode", ["lean", "full"])
@pytest.mark.skipif(os.geteuid() != 0, reason="the limit is not root's, and only root can become somebody else")
@pytest.mark.skipif(not os.path.exists("/usr/bin/python3"), reason="no Python that all users may start")
def test_no_room_for_processes(public: Path, cc: str, mode: str) -> None:
    lean = Lean(public)
    lean.log.touch()
    for folder in (lean.place, lean.reports, lean.temporary, lean.log):
        if folder != lean.log:
            folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
    shutil.copy(DATA / "triad.c", lean.place)
    limits = "import os, resource, sys; os.setuid(54321); resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)); "
    become = ["/usr/bin/python3", "-c", limits + "os.execvp(sys.argv[1], sys.argv[1:])"]
    expected = run([*become, cc, "-c", "triad.c"], lean.place, TMPDIR=str(lean.temporary))
    environment = lean.environment | {"INCC_CC": cc, "INCC_MODE": mode}
    assert run([*become, lean.incc, "-c", "triad.c"], lean.place, **environment) == expected
    assert lean.said().count("\n") == 1
    assert "Resource temporarily unavailable" in lean.said()
    assert list(lean.temporary.iterdir()) == []


@each_family
@pytest.mark.parametrize("files", [5, 6, 8])
@pytest.mark.parametrize("mode", ["lean", "full"])
def test_few_open_files(lean: Lean, cc: str, files: int, mode: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    def prepare(place: Path) -> None:
        script(place, "few", f'ulimit -n {files}\nexec "$@"\n')

    few = lean.place / "few"
    results = []
    for command, variables in (
        ([few, cc, "-c", "triad.c"], {}),
        ([few, lean.incc, "-c", "triad.c"], lean.environment | {"INCC_CC": cc, "INCC_MODE": mode}),
    ):
        shutil.rmtree(lean.place, ignore_errors=True)
        lean.place.mkdir()
        lean.reports.mkdir(exist_ok=True)
        shutil.copy(DATA / "triad.c", lean.place)
        prepare(lean.place)
        result = run(command, lean.place, **{"TMPDIR": str(lean.temporary), **variables})
        results.append((result.status, (lean.place / "triad.o").exists()))
    assert results[0] == results[1]
    assert list(lean.temporary.glob("incc-*")) == []
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


@needs_gcc
def test_response_files_that_name_themselves_several_times(lean: Lean) -> None:
    lean.place.mkdir()
    lean.reports.mkdir()
    (lean.place / "r").write_text("@r " * 9)
    expected = run(["gcc", "-c", "triad.c", "@r"], lean.place)
    assert expected.status != 0
    assert run([front(), "-c", "triad.c", "@r"], lean.place, **lean.environment, INCC_CC="gcc") == expected
    bounded = response_files.expanded(["@r"], str(lean.place))
    assert 2000 < len(bounded) < 20_000
    assert set(bounded) == {"@r"}


@pytest.mark.parametrize("cc", [if_there("clang-19")])
@pytest.mark.parametrize("mode", ["lean", "full"])
def test_a_log_that_nobody_reads(lean: Lean, cc: str, mode: str, tmp_path: Path) -> None:
    """A pipe without a reader would be waited for; `run` gives up after a while."""
    log = tmp_path / "pipe"
    os.mkfifo(log)
    lean.place.mkdir()
    lean.reports.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    environment = lean.environment | {"INCC_CC": cc, "INCC_LOG": str(log), "INCC_MODE": mode}
    # With -flto there is something to say.
    assert run([lean.incc, "-flto", "-c", "triad.c"], lean.place, **environment).status == 0
    assert (lean.place / "triad.o").exists()


@needs_gcc
def test_an_output_that_is_no_file(lean: Lean) -> None:
    """A pipe is not opened once more, which would wait for somebody to write to it."""

    def prepare(place: Path) -> None:
        os.mkfifo(place / "pipe")
        script(place, "both", '(cat pipe > text) & "$@" -S triad.c -o pipe; status=$?; wait; exit $status\n')

    results = []
    for command, variables in (
        (["gcc"], {}),
        ([lean.incc], lean.environment | {"INCC_CC": "gcc"}),
    ):
        shutil.rmtree(lean.place, ignore_errors=True)
        lean.place.mkdir()
        lean.reports.mkdir(exist_ok=True)
        shutil.copy(DATA / "triad.c", lean.place)
        prepare(lean.place)
        result = run(["./both", *command], lean.place, **{"TMPDIR": str(lean.temporary), **variables})
        results.append((result, (lean.place / "text").read_bytes()))
    # Python is started for a second compilation, with the output elsewhere.
    assert results[1][0] == replace(results[0][0], err=b"started\n")
    assert results[0][1] == results[1][1]


@needs_gcc
def test_models_in_folders_that_lead_round_in_circles(lean: Lean, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for name in "abcd":
        (models / name).symlink_to(models)
    environment = {"INCC_MODEL_PATH": str(models), "INCC_CACHE": str(tmp_path / "cache")}
    assert lean("gcc", "-c", "triad.c", sources=["triad.c"], **environment).status == 0
    assert len(lean.units()) == 1


@needs_gcc
def test_a_folder_of_reports_that_was_just_removed(lean: Lean) -> None:
    """In a build with a queue it is made again, and not a file of its name."""
    lean.place.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    environment = lean.environment | {"INCC_CC": "gcc", "INCC_QUEUE": str(lean.reports / ".incc/jobs")}
    assert run([lean.incc, "-c", "triad.c"], lean.place, **environment) == Result(0, b"", b"")
    assert len(lean.units()) == 1


# --- what ends Python -------------------------------------------------------------------------------------------------

ENDS = {
    "at its start": "os.kill(os.getpid(), 9)",
    "by a limit": "os.kill(os.getpid(), 24)",
    "without a word": "os._exit(3)",
}

WHEN = (
    "",
    "incc.driver.pipeline.analyze_for_cores",
    "incc.frontends.gcc_wrapper.session.make_plan",
    "incc.driver.builds.wrapping.deliver",
)


def ending_python(lean: Lean, when: str, how: str) -> None:
    """Have Python end itself `when` a name of a module is called: `module.name`, or at once."""
    program = f"import os, sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
    if when:
        module, _, name = when.rpartition(".")
        program += f"import {module} as m\ndef end(*a, **k): {how}\nsetattr(m, '{name}', end)\n"
    else:
        program += f"{how}\n"
    program += "program = sys.argv[3]; del sys.argv[1:4]; exec(program)"
    python = lean.incc.parent / "python3"
    python.write_text(f"#!{sys.executable} -I\nimport sys\nsys.argv[0] = '-c'\n{program}\n")
    python.chmod(0o755)


@pytest.mark.long
@each_family
@pytest.mark.parametrize("how", list(ENDS.values()), ids=list(ENDS))
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("broken", [False, True])
def test_python_that_is_ended_in_the_full_mode(lean: Lean, cc: str, when: str, how: str, broken: bool) -> None:
    """The compilation goes on: one that was started is waited for, one that was not is started."""
    ending_python(lean, when, how)

    def prepare(place: Path) -> None:
        if broken:
            (place / "triad.c").write_text("int f(\n")

    result = lean(cc, "-O2", "-c", "triad.c", sources=["triad.c"], prepare=prepare, INCC_MODE="full")
    assert result.status == int(broken)
    if not broken:
        said = lean.said()
        assert said.count("\n") == 1
        assert ("Python failed" if "_exit" in how else "Python was ended by signal") in said


@each_family
def test_python_that_is_ended_is_a_failure_if_that_is_wanted(lean: Lean, cc: str) -> None:
    ending_python(lean, "incc.driver.pipeline.analyze_for_cores", "os.kill(os.getpid(), 9)")
    lean.place.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    done = run([lean.incc, f"--incc-cc={cc}", "-c", "triad.c", "--analyze", "--analyze-strict"], lean.place)
    assert done == Result(1, b"", b"incc: warning: not analysed: Python was ended by signal 9\n")
    assert (lean.place / "triad.o").exists()


@each_family
def test_links_and_folders_of_others_are_not_removed_as_scratch(lean: Lean, cc: str, tmp_path: Path) -> None:
    """Names of temporary folders can be foreseen, and anybody may make such a name in /tmp."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/kept").touch()
    plant = f"t = '{lean.temporary}/incc-%d-' % os.getpid(); os.mkdir(t + 'own', 0o700); open(t + 'own/a', 'w').close()"
    plant += f"; os.symlink('{tmp_path}/home', t + 'link'); os.mkdir(t + 'open'); os.chmod(t + 'open', 0o777)"
    ending_python(lean, "", f"import os; {plant}; os.kill(os.getpid(), 9)")
    lean.place.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    variables = {"TMPDIR": str(lean.temporary)}
    done = run([lean.incc, f"--incc-cc={cc}", "-c", "triad.c", "--analyze"], lean.place, **variables)
    assert (done.status, done.out) == (0, b"")
    assert (tmp_path / "home/kept").exists()
    assert sorted(path.name.split("-")[2] for path in lean.temporary.iterdir()) == ["link", "open"]


def test_descriptors_are_those_of_the_command(tmp_path: Path) -> None:
    """In the full mode, too, the compiler has the files open that it would have, and does not see who watches."""
    fake = script(tmp_path, "fake", "env | grep INCC_WATCH; for f in /proc/$$/fd/*; do echo ${f##*/}; done\nexit 3\n")
    (tmp_path / "a.c").write_text("")
    plain = subprocess.run([str(fake), "-c", "a.c"], cwd=tmp_path, capture_output=True, check=False)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("INCC_")}
    command = [str(front()), f"--incc-cc={fake}", "--analyze", "-c", "a.c"]
    watched = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, env=environment)
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of a quarter of a megabyte."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "incc-test", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@each_family
@pytest.mark.parametrize("mode", ["lean", "full"])
def test_the_last_bytes_are_the_compilers(lean: Lean, cc: str, mode: str, small: Path) -> None:
    """Of a nearly full file system nothing is taken for the analysis."""
    free = 2 * os.sysconf("SC_PAGESIZE")
    temporary = small / "tmp"
    temporary.mkdir()
    (small / "filled").write_bytes(b"\0" * (262_144 - free))
    lean.place.mkdir()
    lean.reports.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    expected = run([cc, "-c", "triad.c"], lean.place, TMPDIR=str(temporary))
    environment = lean.environment | {"INCC_CC": cc, "INCC_MODE": mode, "TMPDIR": str(temporary)}
    assert run([front(), "-c", "triad.c"], lean.place, **environment) == expected
    assert list(temporary.iterdir()) == []
    if mode == "full":
        assert list(lean.reports.glob("*.json")), "there is room in /tmp"


@each_family
@pytest.mark.parametrize("mode", ["lean", "full"])
@pytest.mark.parametrize("variable", ["INCC_OUTPUT", "INCC_LOG", "INCC_CACHE"])
def test_a_full_file_system(lean: Lean, cc: str, mode: str, variable: str, small: Path) -> None:
    (small / "filled").write_bytes(b"\0" * 262_144)
    lean.place.mkdir()
    lean.reports.mkdir()
    shutil.copy(DATA / "triad.c", lean.place)
    value = str(small / "log" if variable == "INCC_LOG" else small)
    environment = lean.environment | {"INCC_CC": cc, "INCC_MODE": mode, "INCC_FORMAT": "json", variable: value}
    done = run([front(), "-O2", "-c", "triad.c"], lean.place, **environment)
    assert done == Result(0, b"", b"")
    assert (lean.place / "triad.o").exists()
    assert list(lean.temporary.iterdir()) == []
    if variable == "INCC_OUTPUT":
        assert "No space left on device" in lean.said()
        assert [p.name for p in small.iterdir() if p.name not in ("filled", ".incc")] == []

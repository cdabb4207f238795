"""Signals at random moments: nothing is left behind, whatever a command is doing.

$INCC_SIGNAL_MOMENTS is the number of moments for each command and signal, $INCC_SIGNAL_SEED that of the random numbers.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from incc.support import signals

MOMENTS = int(os.environ.get("INCC_SIGNAL_MOMENTS", "2"))
SEED = int(os.environ.get("INCC_SIGNAL_SEED", "1"))
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)

LOOP = """
void {name}{n}(double *restrict a, const double *restrict b, long n) {{
  for (long i = 0; i < n; i++) a[i] = b[i] * {n} + a[i] / (i + {n});
}}
"""
COMMANDS = {
    "lean": "env INCC_ANALYZE=1 INCC_OUTPUT=r INCC_MODE=lean INCC_CACHE=0 incc gcc -O3 -c a.c -o new.o",
    "full": "env INCC_ANALYZE=1 INCC_OUTPUT=r INCC_MODE=full INCC_CACHE=0 incc gcc -O3 -c a.c -o new.o",
    "incc-build": "env INCC_CACHE=0 incc-build -o r -j2 --no-report -- make -j2 new.o other.o",
    "incc-scan": "incc-scan -j2 -mcpu=skylake a.s b.s a.s b.s",
    "incc-scan -p": "incc-scan -j2 -p .",
    "incc-diff": "incc-diff -j2 --mcpu=skylake a.s b.s --all",
    "incc-diff --run": "incc-diff -j2 --mcpu=skylake --run gcc --flags=-O2 --flags=-O3 -- a.c",
    "incc-db": "incc-db --db x.db add --commit c1 one.json",
    "incc-mca": "incc-mca -mcpu=skylake --auto a.s",
    "llvm-mca": "incc-mca --compat -mcpu=skylake a.s",
    "incc-model": "incc-model check",
    "incc-report": "incc-report reports",
    "incc-bench": "incc-bench --simulated --mcpu=skylake --match vadd* --parallel -o new.jsonl",
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    place = tmp_path_factory.mktemp("inputs")
    for file in ("a", "b"):
        (place / f"{file}.c").write_text("".join(LOOP.format(name=file, n=n) for n in range(1, 13)))
        subprocess.run(["gcc", "-O3", "-S", f"{file}.c"], cwd=place, check=True)
    (place / "Makefile").write_text("new.o: a.c\n\tgcc -O3 -c a.c -o $@\nother.o: b.c\n\tgcc -O3 -c b.c -o $@\n")
    entries = [
        f'{{"directory": "{place}", "file": "{f}.c", "command": "gcc -O3 -c {f}.c"}}' for f in ("a", "b", "a", "b")
    ]
    (place / "compile_commands.json").write_text(f"[{', '.join(entries)}]")
    subprocess.run(["incc-mca", "-mcpu=skylake", "--auto", "--json", "-o", "one.json", "a.s"], cwd=place, check=True)
    (place / "reports").mkdir()
    shutil.copy(place / "one.json", place / "reports")
    subprocess.run(["incc-db", "--db", "x.db", "add", "--commit", "c0", "one.json"], cwd=place, check=True)
    return place


class Case:
    """A command in a folder of its own."""

    def __init__(self, inputs: Path, place: Path, command: str) -> None:
        self.folder = place / "work"
        shutil.copytree(inputs, self.folder)
        self.temporary = place / "temporary"
        self.temporary.mkdir()
        self.command = command.split()
        self.mark = uuid.uuid4().hex
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("INCC")},
            "TMPDIR": str(self.temporary),
            "XDG_DATA_HOME": str(place / "data"),
            "MARK": self.mark,
        }

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in SIGNALS[:3]],
        )

    def processes(self) -> list[str]:
        """Return the command lines of the processes that are left."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"MARK={self.mark}".encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found

    def left_processes(self) -> list[str]:
        end = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.02)
        return left

    def files(self) -> list[str]:
        """Return the temporary files that are left, and those that are half written."""
        return [*os.listdir(self.temporary), *(name for name in os.listdir(self.folder) if name.endswith(".new"))]


@pytest.fixture(params=COMMANDS)
def case(request: pytest.FixtureRequest, inputs: Path, tmp_path: Path) -> Case:
    return Case(inputs, tmp_path, COMMANDS[request.param])


@pytest.mark.long
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_at_any_moment_leaves_nothing(case: Case, number: signal.Signals) -> None:
    start = time.monotonic()
    process = case.start()
    _, said = process.communicate(timeout=120)
    usual, duration = process.returncode, time.monotonic() - start
    assert usual in (0, 1), said
    assert (case.left_processes(), case.files()) == ([], [])
    choose = random.Random(f"{SEED} {case.command} {number}")
    for _ in range(MOMENTS):
        moment, group, pause = choose.uniform(0, duration), choose.random() < 0.5, choose.choice((0, 0.001, 0.005))
        what = f"{number.name} {'to the group ' * group}after {moment:.3f} of {duration:.3f} s, again after {pause} s"
        process = case.start()
        time.sleep(moment)
        for wait in (pause, 0):
            try:
                (os.killpg if group else os.kill)(process.pid, number)
            except ProcessLookupError:
                break
            time.sleep(wait)
        _, said = process.communicate(timeout=120)
        assert process.returncode in (usual, -number), f"{what}: {process.returncode} {said}"
        assert not any(word in said for word in ("Traceback", "Exception", "Error")), f"{what}: {said}"
        assert case.left_processes() == [], what
        if number == signal.SIGKILL:
            shutil.rmtree(case.temporary)
            case.temporary.mkdir()
        else:
            assert case.files() == [], what
        with sqlite3.connect(case.folder / "x.db") as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.close()


def test_files_behind_links_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of temporary folders can be foreseen, and anybody may make such a name in /tmp."""
    scratch, home = tmp_path / "tmp", tmp_path / "home"
    for folder in (scratch, home, scratch / "incc-4000000-own", scratch / "incc-4000001-other"):
        folder.mkdir()
    (home / "kept").touch()
    (scratch / "incc-4000000-own" / "file").touch()
    (scratch / "incc-4000000-own" / "inner").symlink_to(home)
    (scratch / "incc-4000000-link").symlink_to(home)
    monkeypatch.setenv("TMPDIR", str(scratch))
    signals._remove_files([4000000])
    assert (home / "kept").exists()
    assert sorted(path.name for path in scratch.iterdir()) == ["incc-4000000-link", "incc-4000001-other"]

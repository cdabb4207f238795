"""Programs without parts of a loop's work: which copies run, which are skipped and why, and what they leave behind."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from incc.running.compiling import RUNTIME

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="not x86-64"),
]

needs_probes = pytest.mark.skipif(not os.path.exists(RUNTIME), reason="no runtime for probes on this platform")

# Each loop has a part that cannot be left out: `scale` divides by what it loads, `find` ends at a value that it loads,
# `follow` crashes without an index, `spin` never ends without its store, since it waits for what it has written.
LOOPS = r"""
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
APART void scale(double *x, const double *y, long n) { for (long i = 0; i < n; i++) x[i] = x[i] / y[i]; }
APART long find(const int *x) { long i = 0; while (x[i] != -1) i++; return i; }
APART double follow(const double *x, const long *index, long n) {
  double s = 0;
  for (long i = 0; i < n; i++) s += x[index[i]];
  return s;
}
APART void spin(volatile long *at, long n) { do { *at = *at + 1; } while (*at < n); }

int main(int argc, char **argv) {
  FILE *log = fopen("log", "a");
  if (log) fputs("ran\n", log), fclose(log);
  static double x[1000], y[1000];
  static long index[1000];
  static int words[1001];
  long n = 0, at = 0;
  if (scanf("%ld", &n) != 1) n = 1000;
  for (long i = 0; i < n; i++) x[i] = y[i] = i + 1, index[i] = n - i - 1, words[i] = i;
  words[n] = -1;
  double s = 0;
  for (int k = 0; k < 100; k++) {
    scale(x, y, n);
    s += find(words) + follow(x, index, n);
    at = 0;
    spin(&at, n);
  }
  printf("%g\n", s);
  return 3;
}
"""


def build(folder: Path, *flags: str) -> Path:
    (folder / "loops.c").write_text(LOOPS)
    command = ["gcc", "-O1", "-g", "-o", "loops", "loops.c", *flags]
    if "--analyze-probe" in flags:
        command.insert(0, "incc")
    subprocess.run(command, cwd=folder, check=True)
    return folder


def decrement(folder: Path, loop: str, *more: str, stdin: str = "") -> dict[str, Any]:
    command = ["incc-run", f"--decrement={loop}", "--repeat=1", "--json", "-o", "out.json", *more, "--", "./loops"]
    run = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    return dict(json.loads((folder / "out.json").read_text()))


def skipped(report: dict[str, Any]) -> dict[str, str]:
    return {each["text"].partition(" (line")[0]: each["skipped"] for each in report["variants"]}


def test_a_program_without_probes_is_timed_and_left_alone(tmp_path: Path) -> None:
    report = decrement(build(tmp_path), "follow", stdin="500")
    assert (report["unit"], report["iterations"], report["loop"]) == ("seconds", None, "loop1")
    assert report["source"]["line"] == 9
    assert report["measured"] > 0
    assert len(report["variants"]) == 5  # two loads, both, the arithmetic, and all but it
    assert not (tmp_path / "log").exists(), "runs happen in copies"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loops", "loops.c", "out.json"]


def test_other_exceptions_are_no_measurement(tmp_path: Path) -> None:
    """The divisor comes from a register in its place, which holds zero when the loop begins."""
    report = decrement(build(tmp_path), "scale")
    reasons = [each["skipped"] for each in report["variants"] if "load" in each["text"]]
    assert any(reason.startswith("raised other floating-point exceptions (") for reason in reasons)


@needs_probes
def test_probes_tell_other_iterations(tmp_path: Path) -> None:
    report = decrement(build(tmp_path, "--analyze-probe"), "find")
    assert (report["unit"], report["iterations"]) == ("cycles", pytest.approx(100_000, rel=0.01))
    (only,) = (each for each in report["variants"] if each["text"].startswith("the load of"))
    assert only["measured"] is None
    assert only["skipped"].startswith(("ran other iterations", "ended by signal", "took more than"))


@needs_probes
def test_probes_give_cycles(tmp_path: Path) -> None:
    report = decrement(build(tmp_path, "--analyze-probe"), "follow:loop1")
    assert report["unit"] == "cycles"
    arithmetic = next(each for each in report["variants"] if each["text"] == "floating-point arithmetic")
    assert arithmetic["measured"] > 0


def test_a_copy_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    report = decrement(build(tmp_path), "spin")
    assert "took more than 5 s" in skipped(report).values()


def test_loops_without_symbols_have_the_names_of_the_overview(tmp_path: Path) -> None:
    build(tmp_path)
    subprocess.run(["strip", "loops"], cwd=tmp_path, check=True)
    listed = subprocess.run(["incc-mca", "--auto", "--json", "loops"], cwd=tmp_path, capture_output=True, check=True)
    names = [kernel["name"] for kernel in json.loads(listed.stdout)["units"][0]["kernels"]]
    report = decrement(tmp_path, names[-1])
    assert report["measured"] > 0


def test_loops_of_libraries_are_found(tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text("double sum(double *x, long n) { double s = 0; while (n--) s += x[n]; return s; }")
    (tmp_path / "main.c").write_text("double sum(double *, long); double x[99]; int main(void) { return sum(x, 99); }")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", "libsum.so", "sum.c"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-o", "loops", "main.c", "-L.", "-lsum", "-Wl,-rpath,$ORIGIN"], cwd=tmp_path, check=True)
    report = decrement(tmp_path, "sum")
    assert report["module"] == str(tmp_path / "libsum.so")
    assert set(skipped(report).values()) == {""}


@pytest.mark.parametrize("threads", [1, 3])
def test_other_iterations_are_seen_without_probes(threads: int, tmp_path: Path) -> None:
    """Several threads run the loop in another order each time, so their iterations cannot be compared."""
    (tmp_path / "main.c").write_text(
        "#include <pthread.h>\n"
        "__attribute__((noinline)) long find(const int *x, long n)"
        "{ long i = 0; while (i < n && x[i] != 7) i++; return i; }\n"
        "static int x[99]; static volatile long s; void *each(void *p)"
        "{ for (int i = 0; i < 100; i++) s += find(x, 99); return 0; }\n"
        f"int main(void) {{ pthread_t t[{threads}]; for (int i = 0; i < 99; i++) x[i] = i;"
        f" for (int i = 0; i < {threads}; i++) pthread_create(t + i, 0, each, 0);"
        f" for (int i = 0; i < {threads}; i++) pthread_join(t[i], 0); }}"
    )
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", "loops", "main.c"], cwd=tmp_path, check=True)
    report = decrement(tmp_path, "find")
    if threads == 1:
        assert skipped(report)["the load of (%rdi,%rax,4)"] == "ran other iterations"
        assert "it is unknown if" not in report["notes"][0]
    assert report["measured"] > 0


def test_a_signal_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        "int find(int n) { while (n > 1) n &= n - 1; return n; } int main(void) { for (;;) find(7); }"
    )
    folder = tmp_path / "tmp"
    folder.mkdir()
    subprocess.run(["gcc", "-O1", "-fno-inline", "-o", "loops", "main.c"], cwd=tmp_path, check=True)
    run = subprocess.Popen(
        ["incc-run", "--decrement=find", "--", "./loops"], cwd=tmp_path, env={**os.environ, "TMPDIR": str(folder)}
    )
    while not list(folder.glob("*/folder")) and run.poll() is None:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    assert run.wait(30) == -signal.SIGTERM
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--decrement=nothing", "--", "./loops"], "no loop is named 'nothing'"),
        (["--decrement=main", "--", "./loops"], "'main' names 2 loops; choose one of main:loop1 (loops.c:"),
        (["--decrement=find", "--", "./missing"], "./missing: no such program"),
        (["--decrement=find", "--html=x.html", "--", "./loops"], "--decrement and --html cannot be combined"),
        (["--decrement=find", "--limit=1", "--", "./sleeps"], "./sleeps: takes more than 1 s; allow more with --limit"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    build(tmp_path)
    (tmp_path / "main.c").write_text(
        "int find(int n) { while (n > 1) n &= n - 1; return n; } int main(void) { for (;;) find(7); }"
    )
    subprocess.run(["gcc", "-O1", "-fno-inline", "-o", "sleeps", "main.c"], cwd=tmp_path, check=True)
    run = subprocess.run(["incc-run", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert message in run.stderr
    assert run.stderr.startswith("incc-run: error: ")
    assert run.stderr.count("\n") == 1

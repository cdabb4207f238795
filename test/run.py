"""Runs every test: `run.py CORE_TEST [--all]`, where CORE_TEST is the program of the core's C++ tests.

All runners run, also after a failure: the core's tests, lit and pytest, the latter two on all CPUs. What they
counted is taken from the files that they write for programs. The last line is "N passed, N failed, N skipped"; before
it stands what was skipped and what it wanted. With --all, property tests are run with more examples, the tests that
are marked as long ones (`REQUIRES: long`, `@pytest.mark.long`) as well, and the fuzzer (test/fuzz) for a minute, where
each kind of input counts as a test.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import msgspec

ROOT = Path(__file__).resolve().parent.parent
LONG = "long"


class Outcome(msgspec.Struct, frozen=True):
    """What one runner counted, and for each skipped test why."""

    passed: int
    failed: int
    skipped: tuple[tuple[str, str], ...] = ()


def core_tests(program: str) -> Outcome:
    """The core's C++ tests. They end with a line that counts them."""
    done = subprocess.run([program], stdout=subprocess.PIPE, encoding="utf-8", errors="replace")
    sys.stdout.write(done.stdout)
    counted = re.search(r"^core: (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    passed, failed = (int(counted[1]), int(counted[2])) if counted else (0, 1)
    return Outcome(passed, max(failed, int(done.returncode != 0)))


def lit_tests(results: Path, everything: bool) -> Outcome:
    """test/lit, in as many processes as there are CPUs; only the output of tests that fail is shown."""
    start = "import sys; from lit.main import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "--verbose", f"--output={results}"]
    done = subprocess.run([*command, *(["--param=long=1"] if everything else []), str(ROOT / "test" / "lit")])
    return read_lit(results, done.returncode)


def read_lit(results: Path, status: int) -> Outcome:
    """From lit's JSON."""
    if not results.exists():
        return Outcome(0, 1)
    passed = failed = 0
    skipped = []
    for test in json.loads(results.read_text(encoding="utf-8"))["tests"]:
        name = test["name"].partition(" :: ")[2]
        if test["code"] in ("PASS", "FLAKYPASS", "XFAIL"):
            passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            skipped.append((name, test["output"].rpartition("unavailable features:")[2]))
        else:
            failed += 1
    return Outcome(passed, max(failed, int(status != 0)), tuple(skipped))


def unit_tests(results: Path, everything: bool) -> Outcome:
    """test/unit and the fuzzer's own tests in test/fuzz, in as many processes as there are CPUs."""
    command = [sys.executable, "-m", "pytest", "--numprocesses=auto", "--dist=worksteal", f"--junitxml={results}"]
    command += ["--hypothesis-profile=thorough"] if everything else ["-m", f"not {LONG}"]
    done = subprocess.run([*command, str(ROOT / "test" / "unit"), str(ROOT / "test" / "fuzz")], cwd=ROOT)
    return read_junit(results, done.returncode)


def read_junit(results: Path, status: int) -> Outcome:
    """From pytest's JUnit XML."""
    if not results.exists():
        return Outcome(0, 1)
    passed = failed = 0
    skipped = []
    for case in ElementTree.parse(results).iter("testcase"):
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif skip is not None and skip.get("type") != "pytest.xfail":
            skipped.append((case.get("classname", "").rpartition(".")[2] + ".py", skip.get("message", "")))
        else:
            passed += 1
    return Outcome(passed, max(failed, int(status != 0)), tuple(skipped))


def fuzz_tests() -> Outcome:
    """test/fuzz on all CPUs, with the same examples each time: a minute. It ends with a line that counts its finds."""
    command = [sys.executable, "-m", "test.fuzz", "--rounds=4", "--seed=1", f"-j{len(os.sched_getaffinity(0))}"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", errors="replace")
    sys.stdout.write(done.stdout)
    return read_fuzz(done.stdout, done.returncode)


def read_fuzz(output: str, status: int) -> Outcome:
    """From the fuzzer's last line."""
    counted = re.search(r"^fuzz: \d+ runs of (\d+) kinds .*, (\d+) finds$", output, re.MULTILINE)
    kinds, finds = (int(counted[1]), int(counted[2])) if counted else (0, 1)
    return Outcome(max(kinds - finds, 0), max(finds, int(status != 0)))


def wanted(reason: str) -> str:
    """What a test wanted that was skipped: tests say "no gfortran", and pytest "could not import 'yaml': …"."""
    return re.sub(r"^no |^could not import '([^']+)'.*", r"\1", reason.strip())


def skipped_tests(skipped: tuple[tuple[str, str], ...]) -> list[str]:
    """A line for each thing that was absent, with the tests that wanted it."""
    by_want: dict[str, Counter[str]] = {}
    for test, reason in skipped:
        by_want.setdefault(wanted(reason), Counter())[test] += 1
    lines = []
    for want, tests in sorted(by_want.items()):
        names = (name if count == 1 else f"{name} ({count} tests)" for name, count in sorted(tests.items()))
        lines.append(
            f"{'left to make check-all' if want == LONG else f'skipped for want of {want}'}: {', '.join(names)}"
        )
    return lines


def main(program: str, everything: bool) -> int:
    """Runs all and returns 1 if a test failed, or a runner did."""
    sys.stdout.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as folder:
        outcomes = [
            core_tests(program),
            lit_tests(Path(folder, "lit.json"), everything),
            unit_tests(Path(folder, "pytest.xml"), everything),
            *([fuzz_tests()] if everything else []),
        ]
    skipped = tuple(s for o in outcomes for s in o.skipped)
    failed = sum(o.failed for o in outcomes)
    print("", *skipped_tests(skipped), sep="\n")
    print(f"\n{sum(o.passed for o in outcomes)} passed, {failed} failed, {len(skipped)} skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--all" in sys.argv[2:]))

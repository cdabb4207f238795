"""Profiles and programs that are damaged, hostile, or changed since, and incc-run in bad surroundings."""

from __future__ import annotations

import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_probes import build, environment, recorded, report, run

from incc.running.compiling import RUNTIME
from incc.running.profile import ProfileError, read_profile
from incc.running.run_report import run_report
from incc.running.units import SECTION, units_in
from incc.support.errors import AnalysisError
from incc.views.layout import Layout
from incc.views.running.text import lines
from properties import examples

pytestmark = pytest.mark.skipif(not os.path.exists(RUNTIME), reason="no runtime for probes on this platform")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a folder with a program and a profile of it."""
    made = tmp_path_factory.mktemp("program")
    recorded(made, build(made, "gcc", "-O2"))
    return made


def profile_of(folder: pathlib.Path) -> pathlib.Path:
    (path,) = (folder / "profiles").iterdir()
    return path


@examples(200)
@given(seed=st.integers(0, 1 << 32))
def test_damaged_profiles_are_errors_or_numbers(folder: pathlib.Path, seed: int) -> None:
    chosen = random.Random(seed)
    data = bytearray(profile_of(folder).read_bytes())
    for _ in range(chosen.choice([1, 5, 300])):
        at = chosen.randrange(len(data) // 8) * 8
        # Most of a file is empty: the beginnings of its parts matter more.
        at = chosen.choice([at, at % 512, 4096 + at % 1024, at // 4096 * 4096 + at % 64])
        value = chosen.choice([0, 1, 4096, (1 << 64) - 1, 1 << 63, chosen.getrandbits(64), chosen.getrandbits(16)])
        data[at : at + 8] = value.to_bytes(8, "little")
    path = folder / f"damaged{os.getpid()}.probes"
    path.write_bytes(data[: chosen.choice([len(data), chosen.randrange(len(data))])])
    try:
        profile = read_profile(str(path))
    except ProfileError:
        return
    finally:
        path.unlink()
    ran = run_report([profile, profile], {}, {})
    assert all("\x1b" not in line and "\n" not in line for line in lines(ran, Layout(100, False), 20))


def test_a_profile_that_names_anything_as_its_program_is_read(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    data = profile_of(folder).read_bytes()
    program = str(folder / "program").encode()
    os.mkfifo(tmp_path / "pipe")
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    places = [b"/dev/zero", str(tmp_path / "pipe").encode(), b"/", b"/proc/self/mem", b"\x1b[31mred", b"a\0b"]
    for number, place in enumerate(places):
        if len(place) <= len(program):
            changed = data.replace(program + b"\n", place + b"\n" + b" " * (len(program) - len(place)), 1)
            changed = changed.replace(b"\n" + b" " * (len(program) - len(place)), b"\n", 1) + b"\0" * 4096
            (profiles / f"{number}.probes").write_bytes(changed)
    os.mkfifo(profiles / "pipe.probes")
    (profiles / "folder.probes").mkdir()
    (profiles / "empty.probes").touch()
    done = report(tmp_path, "--mcpu=znver4", "--probes", "profiles")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    for name in ("pipe", "folder", "empty"):
        assert f"error: profiles/{name}.probes: " in done.stderr.replace("\n", " ")


def test_programs_that_were_changed_since_have_no_predictions(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for change in ("strip", "replace", "remove", "build"):
        place = tmp_path / change
        place.mkdir()
        program = place / "program"
        program.write_bytes((folder / "program").read_bytes())
        program.chmod(0o755)
        recorded(place, str(program))
        if change == "strip":
            subprocess.run(["objcopy", "--remove-section", SECTION, program], check=True)
        elif change == "replace":
            program.write_bytes(b"#!/bin/sh\n")
        elif change == "build":
            program.unlink()
            build(place, "gcc", "-O1")
        else:
            program.unlink()
        done = report(place, "--mcpu=znver4", "--json", "--probes", "profiles")
        assert done.returncode == 0
        ran = json.loads(done.stdout)
        assert ran["loops"]
        assert all(loop["predicted"] is None for loop in ran["loops"])
        (note,) = ran["notes"]
        assert "loops are not analysed" in note
        assert note.count(str(program)) == 1


def section(head: bytes, text: bytes = b"") -> bytes:
    packed = zlib.compress(head + b"\0" + text)
    return struct.pack("<8sQ", b"inccunit", len(packed)) + packed


@pytest.mark.parametrize(
    "content",
    [
        section(b"{"),
        section(b"{}"),
        section(b"[" * 100_000),
        section(b'{"key": 5}'),
        struct.pack("<8sQ", b"inccunit", 1 << 63) + b"abc",
        struct.pack("<8sQ", b"inccunit", 5) + b"abcde",
        section(b"{}")[:-3],
        section(b"", bytes(300 << 20)),
    ],
    ids=["open", "empty", "deep", "type", "size", "bytes", "cut", "bomb"],
)
def test_damaged_units_are_errors(content: bytes) -> None:
    with pytest.raises(AnalysisError, match="damaged code in the section"):
        list(units_in(content))


# --- incc-run ---------------------------------------------------------------------------------------------------------


def started(folder: pathlib.Path, *words: str) -> subprocess.Popen[str]:
    """Start incc-run, and return it when its program has printed a line."""
    process = subprocess.Popen(
        ["incc-run", "--", *words], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM])
def test_a_signal_to_incc_run_reaches_the_program(number: signal.Signals, tmp_path: pathlib.Path) -> None:
    name = number.name.removeprefix("SIG")
    process = started(tmp_path, "sh", "-c", f"trap 'echo got; exit 7' {name}; echo ready; while :; do sleep 0.05; done")
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (7, "got\n")


def test_a_stopped_program_continues(tmp_path: pathlib.Path) -> None:
    process = started(tmp_path, "sh", "-c", "echo ready; kill -STOP $$; echo again")
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    (child,) = children.read_text().split()
    for _ in range(600):
        if pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            break
        time.sleep(0.05)
    os.kill(int(child), signal.SIGCONT)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "again\n")


def test_incc_run_with_closed_and_full_streams(folder: pathlib.Path) -> None:
    for redirection, expected in ((">&-", 3), ("2>&-", 3), (">/dev/full", 3), ("</dev/null", 3), ("2>/dev/full", 3)):
        done = subprocess.run(
            f"incc-run --mcpu=znver4 -- ./program {redirection}", shell=True, cwd=folder, env=environment(),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == expected, redirection
        assert "Traceback" not in done.stderr
    assert run(folder, "--", "sh", "-c", "cat", "").returncode == 0


def test_incc_run_in_incc_run_reports_twice(folder: pathlib.Path) -> None:
    done = run(folder, "--mcpu=znver4", "--", "incc-run", "--mcpu=znver4", "--", "./program")
    assert done.returncode == 3
    assert done.stderr.count("1 process with probes") == 1
    assert "no process has recorded anything" in done.stderr.replace("\n", " ")

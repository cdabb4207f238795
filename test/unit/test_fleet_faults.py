"""Scans that are disturbed: harmful inputs, signals, full disks, readers that end."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="no pyarrow")

import scan_faults
from scan_faults import Scans, check_harmful, check_signal, failures_of, rows_of, wait_for

scans, rows = scan_faults.scans, scan_faults.rows  # fixtures


def test_lines_are_the_rows_of_the_dataset(scans: Scans, rows: list[dict[str, Any]]) -> None:
    status, out, errors = scans.run("-j2", "--json")
    assert (status, errors) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines == [{name: row[name] for name in lines[0]} for row in rows]


def test_harmful_inputs_are_listed_and_all_others_analysed(scans: Scans, rows: list[dict[str, Any]]) -> None:
    check_harmful(scans, rows, "-j2")


def test_a_dataset_is_the_same_after_processes_were_killed_at_random(scans: Scans, rows: list[dict[str, Any]]) -> None:
    chance = random.Random(3)
    folder = scans.folder / "killed"
    for attempt in range(6):
        resumed = ["--resume"] if (folder / "_kernels.sqlite").exists() else []
        process = scans.start(["-j2", "-o", "killed", *resumed], SLOW="0.05")
        if attempt < 5:
            wait_for(folder / "_inputs", process)
            time.sleep(chance.random() / 2)
            process.kill()
        _, errors = process.communicate()
        assert not scans.left()
        if process.returncode != -signal.SIGKILL:
            assert process.returncode == 0, errors
    assert rows_of(folder) == rows
    assert not (folder / "_inputs").exists()
    assert json.loads((folder / "_about.json").read_bytes())["complete"]
    status, _, errors = scans.run("-o", "killed", "--resume")
    assert (status, errors) == (0, "incc-scan: note: killed: complete already\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_processes_and_the_scan_goes_on(
    scans: Scans, rows: list[dict[str, Any]], number: signal.Signals
) -> None:
    process = scans.start(["-j2", "-o", number.name], SLOW="1")
    wait_for(scans.folder / number.name / "_inputs", process)
    check_signal(scans, rows, process, number)


def test_a_full_disk_ends_the_scan_with_a_message_and_it_goes_on(scans: Scans, rows: list[dict[str, Any]]) -> None:
    for limit in (20_000, 90_000):
        name = f"full{limit}"

        def limited(size: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        status, _, errors = scans.run("-j2", "-o", name, preexec=limited)
        assert status == 2, errors
        assert "Traceback" not in errors
        assert errors.count("error: ") == 1
        begun = (scans.folder / name / "_about.json").exists()
        status, _, errors = scans.run("-o", name, *(["--resume"] if begun else []))
        assert status == 0, errors
        assert rows_of(scans.folder / name) == rows


def test_a_reader_that_ends_is_no_error(scans: Scans) -> None:
    process = scans.start(["-j2", "--json"], SLOW="0.1")
    assert process.stdout is not None
    assert process.stderr is not None
    assert json.loads(process.stdout.readline())["row"] == 0
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 0
    assert not scans.left()


def test_files_that_change_cost_only_themselves(scans: Scans, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    process = scans.start(["-j1", "-o", "changed"], SLOW="0.3")
    wait_for(scans.folder / "changed" / "_inputs", process)
    last = Path(scans.objects[-1])
    before = last.stat()
    os.utime(last, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    _, errors = process.communicate()
    os.utime(last, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert process.returncode == 1, errors
    assert failures_of(scans.folder / "changed") == {last.name: ("changed while it was scanned, or gone", False)}
    assert rows_of(scans.folder / "changed") == [row for row in rows if row["binary"] != str(last)]


def test_a_file_that_changes_after_it_was_read_does_not_take_equal_code_with_it(
    scans: Scans, rows: list[dict[str, Any]]
) -> None:
    changed = Path(scans.objects[0])
    own = [row["hash"] for row in rows if row["binary"] == str(changed)]
    assert {*own} & {row["hash"] for row in rows if row["binary"] != str(changed)}
    before = changed.stat()
    status, _, errors = scans.run("-j1", "-o", "later", CHANGED=changed.name)
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert status == 1, errors
    assert errors.count("not analysed: changed while it was scanned, or gone") == len(own)
    assert errors.count("error: ") == len(own)
    left = [row for row in rows if row["binary"] != str(changed)]
    assert [{**row, "row": 0} for row in rows_of(scans.folder / "later")] == [{**row, "row": 0} for row in left]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume"], "--resume requires -o FOLDER"),
        (["--resume", "-o", "none"], "none: no dataset to resume"),
        (["--resume", "-o", "undisturbed", "--bounds"], "undisturbed: begun with other settings: --bounds"),
        (["--resume", "-o", "undisturbed", "-mcpu=znver3"], "undisturbed: begun for skylake, not for znver3"),
        (["--resume", "-o", "undisturbed", "none.o"], "undisturbed: begun with other inputs"),
        (["-o", "undisturbed"], "undisturbed: holds a dataset; --resume continues it"),
        (["-o", "site"], "site: not empty; name a new folder for the dataset"),
        (["-o", "new", "--top=3"], "--top and -o FOLDER cannot be combined"),
        (["-o", "new/", "--json"], "--format and -o FOLDER cannot be combined; new/ is one, so name a file"),
        (["-o", "none/file.json", "--json"], "none/file.json: No such file or directory"),
        (["--cluster="], "--cluster needs a value"),
    ],
)
def test_mistakes_on_the_command_line_are_explained(
    scans: Scans, rows: list[dict[str, Any]], words: list[str], message: str
) -> None:
    status, out, errors = scans.run(*words)
    assert (status, out) == (2, "")
    assert errors.startswith(f"incc-scan: error: {message}")
    assert errors.count("\n") == 1
    assert not (scans.folder / "none").exists()
    assert not (scans.folder / "new").exists()

"""Removes what killed processes have left: folders of temporary files, jobs that were begun, reports half written.

Only what has a name of ours with the number of a process that is no more, is this user's, and has not changed for a
day: in containers that share a folder the others' processes cannot be seen.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OLD = 24 * 3600
"""Seconds."""

# As front/files.cpp (makeScratch: the time and the process), session.py and assembler.py name them.
_SCRATCH = re.compile(r"incc-(?:\d{20}-(?P<front>\d+)|(?P<python>\d+)-[a-z0-9_]{8})")
_BEGUN_JOB = re.compile(r"\.tmp-\d{20}-(?P<process>\d+)")
_BEGUN_FILE = re.compile(r".*\.(?P<process>\d+)\.new", re.DOTALL)


def is_alive(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is another user's
        return True
    return True


def sweep_scratch(environment: Mapping[str, str]) -> None:
    """Remove folders of temporary files that are nobody's any more."""
    for place in dict.fromkeys((environment.get("TMPDIR") or "/tmp", "/tmp")):
        _sweep(place, _SCRATCH, folders=True)


def sweep_reports(folder: str, jobs: str) -> None:
    """The same in a folder of reports, and in its folder of jobs."""
    _sweep(jobs, _BEGUN_JOB, folders=True)
    _sweep(folder, _BEGUN_FILE, folders=False)


def _sweep(place: str, names: re.Pattern[str], folders: bool) -> None:
    import time

    try:
        found = os.listdir(place)
    except OSError:
        return
    for name in found:
        match = names.fullmatch(name)
        if match is None or is_alive(int(next(number for number in match.groups() if number))):
            continue
        path = os.path.join(place, name)
        try:
            status = os.lstat(path)
            if status.st_uid != os.getuid() or status.st_mtime > time.time() - OLD:
                continue
            if folders and stat.S_ISDIR(status.st_mode):
                import shutil

                shutil.rmtree(path, ignore_errors=True)
            elif not folders and stat.S_ISREG(status.st_mode):
                os.unlink(path)
        except OSError:
            continue

"""Removal of files left by killed processes: temporary folders, incomplete jobs, incomplete reports.

A file is removed if its name is one of incc's with the number of a process that does not exist, it belongs to this
user, and it has not changed for a day, since processes of other containers that share the folder are invisible.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Mapping

from incc.support.signals import temporary_places

OLD = 24 * 3600
"""Smallest age of files to remove, in seconds."""

# Named by front/files.cpp (makeScratch: the time and the process), session.py and assembler.py.
_SCRATCH = re.compile(r"incc-(?:\d{20}-(?P<front>\d+)|(?P<python>\d+)-[a-z0-9_]{8})")
_BEGUN_JOB = re.compile(r"\.tmp-\d{20}-(?P<process>\d+)")
_BEGUN_FILE = re.compile(r".*\.(?P<process>\d+)\.new", re.DOTALL)


def is_alive(process: int) -> bool:
    """Return True if there is a process with this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's process
        return True
    return True


def sweep_scratch(environment: Mapping[str, str], process: int = 0) -> None:
    """Remove abandoned temporary folders: of a child that this process has waited for, or of any process."""
    for place in temporary_places(environment):
        _sweep(place, _SCRATCH, folders=True, child=process)


def sweep_reports(folder: str, jobs: str) -> None:
    """Remove incomplete files from a folder of reports, and incomplete jobs from its queue."""
    _sweep(jobs, _BEGUN_JOB, folders=True)
    _sweep(folder, _BEGUN_FILE, folders=False)


def _sweep(place: str, names: re.Pattern[str], folders: bool, child: int = 0) -> None:
    try:
        files = os.listdir(place)
    except OSError:
        return
    for name in files:
        match = names.fullmatch(name)
        if match is None:
            continue
        process = int(next(number for number in match.groups() if number))
        if process != child if child else is_alive(process):
            continue
        path = os.path.join(place, name)
        try:
            status = os.lstat(path)
            if status.st_uid != os.getuid() or (not child and status.st_mtime > time.time() - OLD):
                continue
            if folders and stat.S_ISDIR(status.st_mode):
                shutil.rmtree(path, ignore_errors=True)
            elif not folders and stat.S_ISREG(status.st_mode):
                os.unlink(path)
        except OSError:
            continue

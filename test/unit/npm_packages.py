"""Packages of npm in the project: a copy with its dependencies, in which their scripts run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNREACHABLE = r"code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED|E5\d\d)"
"""Errors of npm if it cannot reach its registry."""


def installed(package: Path, copy: Path) -> None:
    """Copy a package and install its dependencies. Skips without npm or its registry."""
    if not shutil.which("npm"):
        pytest.skip("no npm")
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("node_modules"))
    done = npm(copy, "ci", "--no-audit", "--no-fund", "--fetch-retries=1")
    if found := re.search(UNREACHABLE, done.stderr):
        pytest.skip(f"no npm registry ({found[1]})")
    assert done.returncode == 0, done.stdout + done.stderr


def npm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run npm in a folder."""
    return subprocess.run(["npm", *words], cwd=folder, capture_output=True, text=True, timeout=240)


def check(folder: Path, *words: str) -> None:
    """Run npm in a folder; it must succeed."""
    done = npm(folder, *words)
    assert done.returncode == 0, done.stdout + done.stderr

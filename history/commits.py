"""The commit of the working directory, from git."""

from __future__ import annotations

import subprocess

import msgspec
from msgspec.structs import replace


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """A commit in git."""

    name: str
    """The full hash."""
    date: int
    """The commit date, in seconds since 1970."""
    branch: str = ""
    """The branch that is checked out; "" for none, and for other commits."""
    modified: bool = False
    """True if files of the working directory differ from the commit."""


def checked_out() -> Checkout | None:
    """Return the commit of the working directory; None without a repository, a commit or git."""
    commit = commit_of("HEAD")
    if commit is None:
        return None
    branch = _git("symbolic-ref", "--quiet", "--short", "HEAD") or ""
    status = _git("status", "--porcelain", "--untracked-files=no")
    return replace(commit, branch=branch, modified=bool(status))


def commit_of(name: str) -> Checkout | None:
    """Return the commit that git resolves a name to; None if there is none."""
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not commit:
        return None
    date = _git("show", "--no-patch", "--no-show-signature", "--format=%ct", commit)
    return Checkout(name=commit, date=int(date)) if date and date.isdecimal() else None


def _git(*arguments: str) -> str | None:
    """Return the output of a git command; None if it fails."""
    try:
        run = subprocess.run(
            ["git", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, ValueError):
        return None
    return run.stdout.decode("utf-8", "replace").strip() if run.returncode == 0 else None

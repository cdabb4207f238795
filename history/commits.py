"""What git says of the working directory, where it is one of a repository."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that git knows: its name in full, its date (seconds since 1970); of what is checked out also the branch
    ("" for none), and whether files are not as they were committed."""

    name: str
    date: int
    branch: str = ""
    modified: bool = False


def checked_out() -> Checkout | None:
    """The commit of the working directory; None where there is no repository, commit or git."""
    found = commit_of("HEAD")
    if found is None:
        return None
    branch = _git("symbolic-ref", "--quiet", "--short", "HEAD") or ""
    status = _git("status", "--porcelain", "--untracked-files=no")
    return replace(found, branch=branch, modified=bool(status))


def commit_of(name: str) -> Checkout | None:
    """The commit that git calls so; None if it knows none."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not found:
        return None
    date = _git("show", "--no-patch", "--no-show-signature", "--format=%ct", found)
    return Checkout(name=found, date=int(date)) if date and date.isdecimal() else None


def _git(*arguments: str) -> str | None:
    """What git prints; None if it cannot say."""
    import subprocess

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

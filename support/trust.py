"""Authentication of files that this user's incc has written: keyed seals, and folders that only the user can write to.

A job names programs to run and files to write, and waits in a folder that may come from elsewhere, such as an archive.
Compiled tables decide the results of an analysis, and wait in a folder of caches. Each has a seal, BLAKE2b of its
content with a key that only this user can read: the file that INCC_KEY_FILE names, or `incc/key` in `$XDG_STATE_HOME`
(`~/.local/state`). The front does the same for jobs (front/seal.cpp).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from collections.abc import Mapping

SEAL = "seal"
"""The file in a job's folder."""
KEY_FILE = "INCC_KEY_FILE"
_SIZE = 32


def user_folder(environment: Mapping[str, str], variable: str, otherwise: str) -> str:
    """Return incc's folder in one of the user's base folders; "" if the environment names none.

    Args:
        environment: The environment.
        variable: The variable that names the base folder; the XDG specification ignores relative paths there.
        otherwise: The base folder within HOME if the variable does not name one.
    """
    base, home = environment.get(variable, ""), environment.get("HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(home, otherwise) if os.path.isabs(home) else ""
    return os.path.join(base, "incc") if base else ""


def cache_home(environment: Mapping[str, str]) -> str:
    """Return incc's folder of caches; "" if the environment names none."""
    return user_folder(environment, "XDG_CACHE_HOME", ".cache")


def key_file(environment: Mapping[str, str]) -> str:
    """Return the path of the key; "" if the environment names no place for it."""
    if named := environment.get(KEY_FILE, ""):
        return named
    folder = user_folder(environment, "XDG_STATE_HOME", ".local/state")
    return os.path.join(folder, "key") if folder else ""


def read_key(path: str) -> bytes:
    """Return the key in a file; b"" if there is none, or if others can read it or may have written it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        status = os.fstat(descriptor)
        own = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077 and status.st_uid == os.geteuid()
        key = os.read(descriptor, _SIZE + 1) if own else b""
    finally:
        os.close(descriptor)
    return key if len(key) == _SIZE else b""


def make_key(path: str) -> None:
    """Make a key, unless there is one. Raises OSError."""
    if read_key(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    begun = f"{path}.{os.getpid()}"
    descriptor = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(os.urandom(_SIZE))
        with contextlib.suppress(FileExistsError):
            os.link(begun, path)
    finally:
        os.unlink(begun)


def seal_of(text: bytes, key: bytes) -> str:
    """Return the seal of a text."""
    return hashlib.blake2b(text, digest_size=32, key=key).hexdigest()


def is_sealed(place: str, key: bytes) -> bool:
    """Return True if a job's folder has the seal of its job.json."""
    if not key or os.path.islink(place):
        return False
    try:
        with open(os.path.join(place, "job.json"), "rb") as job, open(os.path.join(place, SEAL), "rb") as file:
            seal = file.read(2 * _SIZE + 1)
            return hmac.compare_digest(seal_of(job.read(), key).encode(), seal)
    except OSError:
        return False


def distrusted(folder: str, private: bool = False) -> str:
    """Return the reason not to trust a folder's contents, as a clause; "" if there is none, or no folder.

    `private`: the folder's group must not be able to write there either.
    """
    try:
        status = os.lstat(folder)
    except OSError:
        return ""
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    others = stat.S_IWOTH | (stat.S_IWGRP if private else 0)
    if not status.st_mode & others:
        return ""
    return "everybody can write to it" if status.st_mode & stat.S_IWOTH else "its group can write to it"


def make_private(folder: str) -> bool:
    """Make a folder that only the user can read, unless it exists. Return True if its contents can be trusted."""
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
    except OSError:
        return False
    return not distrusted(folder, private=True)

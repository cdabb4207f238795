"""The inputs of incc-scan: machine code in hexadecimal, assembly, sources, and code in files, archives and folders."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from incc.driver.code import ASSEMBLY_ENDINGS, kind_of
from incc.driver.sources import is_source
from incc.frontends.archives.formats import is_debian
from incc.frontends.archives.walk import HEADER, Address, Walk, is_archive, read_member
from incc.frontends.objects import parts
from incc.frontends.objects.spans import Addresses
from incc.support.files import no_file_name

_LONGEST_LINE = 1 << 21
"""Characters of a line of hexadecimal digits. A longer block has more instructions than are analysed."""

_MOST_BLOCKS = 5_000_000
"""The most blocks of a file: it may be a pipe without an end."""

_BITCODE = "LLVM bitcode without machine code; link it and name the result, or compile without -flto"


class HexBlock(Struct, frozen=True, tag=True):
    """A block of machine code: a line of a file of hexadecimal digits."""

    file: str
    line: int
    digits: str

    @property
    def name(self) -> str:
        """The place of the block, for messages."""
        return f"{self.file}:{self.line}"


class AssemblyFile(Struct, frozen=True, tag=True):
    """An assembly file, "-" for standard input."""

    name: str
    path: str
    """The file on the disk."""


class SourceFile(Struct, frozen=True, tag=True):
    """A source to compile."""

    name: str


class CodeFile(Struct, frozen=True, kw_only=True, tag=True):
    """An object, a library, a program, or one of these in an archive."""

    name: str
    """The name in messages: the path, followed by `inside` in parentheses."""
    path: str
    """The file on the disk."""
    member: Address | None = None
    """The place in an archive, by which every process finds it; None for the file itself."""
    inside: str = ""
    """The path in the archive, as in "lib/libx.a(a.o)"."""
    length: int = 0
    """The size of a member in bytes."""
    part: Addresses | None = None
    """The part of a large file, None for all of it."""

    def source(self) -> str | bytes:
        """Return a path, or the bytes of a member. Raises OSError.

        Members that are read in order are unpacked once.
        """
        return self.path if self.member is None else read_member(self.path, self.member, parts.forget)

    def size(self) -> int:
        """Return the size in bytes, 0 if the file is gone."""
        if self.member is not None:
            return self.length
        try:
            return os.path.getsize(self.path)
        except OSError:
            return 0


class UnreadableInput(Struct, frozen=True, tag=True):
    """A message about an unreadable file, at its place among the inputs."""

    message: str


def read_inputs(
    names: Sequence[str], input_format: str
) -> Iterator[HexBlock | AssemblyFile | SourceFile | CodeFile | UnreadableInput]:
    """Yield the code in files, archives and folders.

    Folders and archives are searched for code by content, without following symbolic links. A file that is reached by
    several names is read once. So are equal files in folders: an object goes before an equal member of a library, and
    what is in other archives comes last. `input_format` is the format of all files, "" to detect each file's.
    """
    reader = _InputReader(input_format)
    for source in reader.read(names):
        yield from map(UnreadableInput, reader.problems)
        reader.problems.clear()
        yield source
    yield from map(UnreadableInput, reader.problems)


class _InputReader:
    """Reads inputs; messages about unreadable files are added to `problems`."""

    def __init__(self, input_format: str) -> None:
        self.problems: list[str] = []
        self._format = input_format
        self._files: set[tuple[int, int]] = set()
        """The devices and inodes of the files that were read."""
        self._contents = _Contents()
        """The contents of the files in folders."""

    def read(self, names: Sequence[str]) -> Iterator[HexBlock | AssemblyFile | SourceFile | CodeFile]:
        """Yield the readable code."""
        for name in names:
            format_ = self._format or _format_of(name)
            if "\0" in name:
                self.problems.append(f"{name}: {no_file_name(name).strerror}")
            elif os.path.isdir(name) and format_ == "obj":
                yield from self._in_folder(name)
            elif not self._is_new(name):
                continue
            elif format_ == "hex":
                yield from _blocks(name, self.problems)
            elif format_ == "asm":
                yield AssemblyFile(name, name)
            elif format_ == "source":
                yield SourceFile(name)
            else:
                yield from self._in_file(name)

    def _is_new(self, path: str) -> bool:
        """Return False for a regular file that has been read by another name."""
        try:
            status = os.stat(path)
        except OSError:
            return True  # its reader reports it
        identity = (status.st_dev, status.st_ino)
        if not stat.S_ISREG(status.st_mode) or identity not in self._files:
            self._files.add(identity)
            return True
        return False

    def _in_file(self, path: str) -> Iterator[CodeFile]:
        """Yield the code in a file that the user has named."""
        try:
            kind = _kind_of_file(path)
        except OSError as error:
            self.problems.append(f"{path}: {error.strerror}")
            return
        if kind in ("library", "archive"):
            for file, data in self._members(path):
                yield from self._in_parts(file, data)
        elif kind == "bitcode":
            self.problems.append(f"{path}: {_BITCODE}")
        else:
            yield from self._in_parts(CodeFile(name=path, path=path))

    def _in_folder(self, folder: str) -> Iterator[CodeFile]:
        """Yield the code in a folder: objects, members of static libraries, linked files, and what is in archives."""
        paths: dict[str, list[str]] = {}
        bitcode: list[str] = []
        before = len(self.problems)
        for path in _regular_files(folder, self.problems):
            try:
                kind = _kind_of_file(path)
            except OSError as error:
                self.problems.append(f"{path}: {error.strerror}")
                continue
            if kind == "bitcode":
                bitcode.append(path)
            elif kind:
                paths.setdefault(kind, []).extend([path] if self._is_new(path) else [])
        if bitcode:
            more = f" (and {len(bitcode) - 1:,} more)" if bitcode[1:] else ""
            self.problems.append(f"{bitcode[0]}{more}: {_BITCODE}")
        if not paths and len(self.problems) == before:
            self.problems.append(f"{folder}: no object, library or program in this folder")
        yield from self._different(paths.get("object", ()))
        for kind in ("library", "linked", "archive"):
            if kind == "linked":
                yield from self._different(paths.get(kind, ()))
                continue
            for path in paths.get(kind, ()):
                for file, data in self._members(path):
                    if self._contents.add(file, data):
                        yield from self._in_parts(file, data)

    def _different(self, paths: Iterable[str]) -> Iterator[CodeFile]:
        for path in paths:
            file = CodeFile(name=path, path=path)
            try:
                is_new = self._contents.add(file)
            except OSError as error:
                self.problems.append(f"{path}: {error.strerror}")
                continue
            if is_new:
                yield from self._in_parts(file)

    def _members(self, path: str) -> Iterator[tuple[CodeFile, bytes]]:
        """Yield the code in an archive, with its bytes."""
        try:
            walk = Walk(path)
        except OSError as error:
            self.problems.append(f"{path}: {error.strerror}")
            return
        with closing(walk):
            for leaf in walk.leaves:
                name = f"{path}({leaf.inside})" if leaf.inside else path
                kind = kind_of(leaf.start)
                problem = leaf.problem or (kind and leaf.refusal) or (_BITCODE if kind == "bitcode" else "")
                if problem:
                    self.problems.append(f"{name}: {problem}")
                elif kind:
                    try:
                        data = walk.read(leaf)
                    except OSError as error:
                        self.problems.append(f"{name}: {error.strerror}")
                        continue
                    yield (
                        CodeFile(name=name, path=path, member=leaf.address, inside=leaf.inside, length=len(data)),
                        data,
                    )

    def _in_parts(self, file: CodeFile, data: bytes | None = None) -> Iterator[CodeFile]:
        """Yield the parts of a large file, so that results are there early and memory is bounded."""
        of_file: Sequence[Addresses] = ()
        if file.size() > parts.LARGE:
            try:
                of_file = parts.code_parts(file.path if data is None else data)
            except OSError as error:
                self.problems.append(f"{file.name}: {error.strerror}")
                return
        yield from [replace(file, name=f"{file.name} ({part})", part=part) for part in of_file] or [file]


class _Contents:
    """The contents of files, by size and digest. A file on the disk is only read if another one has its size."""

    def __init__(self) -> None:
        self._unread: dict[int, CodeFile] = {}
        """The first file of a size, if there was no other."""
        self._digests: dict[int, set[bytes]] = {}

    def add(self, file: CodeFile, data: bytes | None = None) -> bool:
        """Add a file, of a member also its bytes, and return False if there is an equal one. Raises OSError."""
        size = file.size()
        digests = self._digests.get(size)
        if digests is None:
            self._digests[size] = digests = set()
            if data is None:
                self._unread[size] = file
                return True
        if earlier := self._unread.pop(size, None):
            with suppress(OSError):  # it was there a moment ago; its reader reports it
                digests.add(_digest(earlier.path))
        digest = _digest(file.path if data is None else data)
        is_new = digest not in digests
        digests.add(digest)
        return is_new


def _format_of(name: str) -> str:
    """Return the format that a file seems to have. For an unreadable file, the later reader reports the error."""
    if os.path.isdir(name):
        return "obj"
    if is_source(name):
        return "source"
    by_name = "asm" if name.endswith(ASSEMBLY_ENDINGS) else "hex"
    if name != "-" and os.path.isfile(name):
        try:
            with open(name, "rb") as file:
                start = file.read(HEADER)
        except OSError:
            return by_name
        if start.lstrip()[:1] == b"{":  # JSON: the reader of assembly reports it
            return "asm"
        # Text contains no zero bytes. What is no object, or empty, gets the message of the reader of objects.
        if kind_of(start) or is_archive(start) or (by_name == "hex" and (b"\0" in start or not start)):
            return "obj"
    return by_name


def _blocks(file: str, problems: list[str]) -> Iterator[HexBlock]:
    """Yield the blocks of a file: the first word of each line that is neither empty nor a comment."""
    name = "<stdin>" if file == "-" else file
    try:
        with open(0 if file == "-" else file, encoding="ascii", errors="replace") as lines:
            number = blocks = 0
            while line := lines.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    raise OSError(errno.EFBIG, f"line {number} has more than {_LONGEST_LINE >> 20} MiB")
                words = line.split(maxsplit=1)
                if words and not words[0].startswith("#"):
                    blocks += 1
                    if blocks > _MOST_BLOCKS:
                        raise OSError(errno.EFBIG, f"more than {_MOST_BLOCKS:,} blocks; only these are analysed")
                    yield HexBlock(name, number, words[0])
    except OSError as error:
        problems.append(f"{name}: {error.strerror}")


def _kind_of_file(path: str) -> Literal["object", "linked", "library", "archive", "bitcode", ""]:
    """Return the kind of a file: `kind_of`, "linked" for programs and shared libraries, "archive". Raises OSError."""
    with open(path, "rb") as file:
        start = file.read(HEADER)
    kind = kind_of(start)
    if kind == "library":
        return "archive" if is_debian(start) else kind
    if is_archive(start):  # a tar archive may begin like a COFF object
        return "archive"
    if kind == "object" and start.startswith((b"\x7fELF", b"MZ")) and start[16:18] != b"\x01\x00":
        return "linked"
    return kind


def _regular_files(folder: str, problems: list[str]) -> Iterator[str]:
    """Yield the files in a folder and its subfolders, sorted by name. Links, pipes and devices are skipped."""

    def failed(error: OSError) -> None:
        problems.append(f"{error.filename}: {error.strerror}")

    for place, folders, names in os.walk(folder, onerror=failed):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path
            except OSError as error:
                failed(error)


def _digest(source: str | bytes) -> bytes:
    if isinstance(source, bytes):
        return hashlib.blake2b(source).digest()
    with open(source, "rb") as opened:
        return hashlib.file_digest(opened, "blake2b").digest()

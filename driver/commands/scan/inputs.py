"""The inputs of incc-scan: files of machine code in hexadecimal, assembly files, and code in objects and folders."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from incc.driver.code import ASSEMBLY_ENDINGS, kind_of
from incc.driver.sources import is_source
from incc.frontends.objects import parts
from incc.frontends.objects.archive import ArchiveMember, listed
from incc.frontends.objects.read import ObjectError
from incc.frontends.objects.spans import Addresses
from incc.support.files import no_file_name

_HEADER = 4096
"""The number of bytes at the start of a file that identify its format."""

_LONGEST_LINE = 1 << 21
"""Characters of a line of hexadecimal digits. A longer block has more instructions than are analysed."""

_BITCODE = "LLVM bitcode without machine code; link it and name the result, or compile without -flto"


class HexBlock(Struct, frozen=True):
    """A block of machine code: a line of a file of hexadecimal digits."""

    file: str
    line: int
    digits: str

    @property
    def name(self) -> str:
        """The place of the block, for messages."""
        return f"{self.file}:{self.line}"


class AssemblyFile(Struct, frozen=True):
    """An assembly file, "-" for standard input."""

    name: str


class SourceFile(Struct, frozen=True):
    """A source to compile."""

    name: str


class CodeFile(Struct, frozen=True):
    """An object, a library, a program, or a member of a static library."""

    name: str
    """The name in messages."""
    path: str
    member: ArchiveMember | None = None
    part: Addresses | None = None
    """The part of a large file, None for all of it."""

    def source(self) -> str | bytes:
        """Return a path, or the bytes of a member. Raises OSError."""
        if self.member is None:
            return self.path
        return self.member.path if self.member.size < 0 else self.member.read()

    def size(self) -> int:
        """Return the size in bytes, 0 if the file is gone."""
        if self.member and self.member.size >= 0:
            return self.member.size
        path = self.member.path if self.member else self.path
        return os.path.getsize(path) if os.path.exists(path) else 0


class UnreadableInput(Struct, frozen=True):
    """A message about an unreadable file, at its place among the inputs."""

    message: str


def read_inputs(
    names: Sequence[str], input_format: str
) -> Iterator[HexBlock | AssemblyFile | SourceFile | CodeFile | UnreadableInput]:
    """Yield the code in files and folders.

    Folders are searched for code by content, without following symbolic links. Equal files in a folder count once, and
    an object goes before an equal member of a library. A file on the command line is never skipped. `input_format` is
    the format of all files, "" to detect each file's.
    """
    problems: list[str] = []
    for source in _read(names, input_format, problems):
        yield from map(UnreadableInput, problems)
        problems.clear()
        yield source
    yield from map(UnreadableInput, problems)


def _read(
    names: Sequence[str], input_format: str, problems: list[str]
) -> Iterator[HexBlock | AssemblyFile | SourceFile | CodeFile]:
    """Yield the readable code. Messages about unreadable files are added to `problems`."""
    for name in names:
        format_ = input_format or _format_of(name)
        if "\0" in name:
            problems.append(f"{name}: {no_file_name(name).strerror}")
        elif format_ == "hex":
            yield from _blocks(name, problems)
        elif format_ == "asm":
            yield AssemblyFile(name)
        elif format_ == "source":
            yield SourceFile(name)
        elif os.path.isdir(name):
            yield from _in_parts(_in_folder(name, problems), problems)
        else:
            yield from _in_parts(_in_file(name, problems, named=True), problems)


def _in_parts(files: Iterable[CodeFile], problems: list[str]) -> Iterator[CodeFile]:
    """Yield the parts of large files in their place, so that results are there early and memory is bounded."""
    for file in files:
        of_file: Sequence[Addresses] = ()
        if file.size() > parts.LARGE:
            try:
                of_file = parts.code_parts(file.source())
            except OSError as error:
                problems.append(f"{file.name}: {error.strerror}")
                continue
        yield from [replace(file, name=f"{file.name} ({part})", part=part) for part in of_file] or [file]


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
                start = file.read(_HEADER)
        except OSError:
            return by_name
        if start.lstrip()[:1] == b"{":  # JSON: the reader of assembly reports it
            return "asm"
        # Text contains no zero bytes. A binary that is not an object gets the message of the reader of objects.
        if kind_of(start) or (by_name == "hex" and b"\0" in start):
            return "obj"
    return by_name


def _blocks(file: str, problems: list[str]) -> Iterator[HexBlock]:
    """Yield the blocks of a file: the first word of each line that is neither empty nor a comment."""
    name = "<stdin>" if file == "-" else file
    try:
        with open(0 if file == "-" else file, encoding="ascii", errors="replace") as lines:
            number = 0
            while line := lines.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE:
                    raise OSError(errno.EFBIG, f"line {number} has more than {_LONGEST_LINE >> 20} MiB")
                words = line.split(maxsplit=1)
                if words and not words[0].startswith("#"):
                    yield HexBlock(name, number, words[0])
    except OSError as error:
        problems.append(f"{name}: {error.strerror}")


def _in_file(path: str, problems: list[str], named: bool) -> Iterator[CodeFile]:
    """Yield the code in a file. A file of another kind is skipped, unless the user has `named` it."""
    try:
        with open(path, "rb") as file:
            kind = kind_of(file.read(_HEADER))
        if kind == "library":
            yield from _members(path, problems)
        elif kind == "bitcode":
            problems.append(f"{path}: {_BITCODE}")
        elif kind or named:
            yield CodeFile(path, path)
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")


def _members(path: str, problems: list[str]) -> Iterator[CodeFile]:
    try:
        for member in listed(path):
            name = f"{path}({member.name})"
            try:
                kind = kind_of(replace(member, size=min(member.size, _HEADER) if member.size >= 0 else _HEADER).read())
            except OSError as error:
                problems.append(f"{name}: {error.strerror}")
                continue
            if kind == "object":
                yield CodeFile(name, path, member)
            elif kind == "library":
                problems.append(f"{name}: a static library in a static library; unpack it first")
            elif kind == "bitcode":
                problems.append(f"{name}: {_BITCODE}")
    except ObjectError as error:
        problems.append(f"{path}: {error}")


def _in_folder(folder: str, problems: list[str]) -> list[CodeFile]:
    """Return the code in a folder: objects, then members of libraries, then files linked from these."""
    files: list[CodeFile] = []
    for path in _regular_files(folder, problems):
        files += _in_file(path, problems, named=False)
    if not files and not problems:
        problems.append(f"{folder}: no object, library or program in this folder")
    unlinked: list[CodeFile] = []
    linked: list[CodeFile] = []
    sizes = Counter(file.size() for file in files)
    contents: set[tuple[int, bytes]] = set()
    for file in sorted(files, key=lambda file: file.member is not None):
        try:
            content = file.size(), _digest(file) if sizes[file.size()] > 1 else b""
            if content not in contents:
                contents.add(content)
                (linked if _is_linked(file) else unlinked).append(file)
        except OSError as error:
            problems.append(f"{file.name}: {error.strerror}")
    return unlinked + linked


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


def _digest(file: CodeFile) -> bytes:
    source = file.source()
    if isinstance(source, bytes):
        return hashlib.blake2b(source).digest()
    with open(source, "rb") as opened:
        return hashlib.file_digest(opened, "blake2b").digest()


def _is_linked(file: CodeFile) -> bool:
    """Return True for programs and shared libraries, whose code may also be in the folder as objects."""
    if file.member:
        return False
    with open(file.path, "rb") as opened:
        start = opened.read(18)
    return start.startswith((b"\x7fELF", b"MZ")) and start[16:18] != b"\x01\x00"

"""What incc-scan finds where it is sent: objects, the members of libraries, and all that is in folders."""

from __future__ import annotations

import os
import stat

import msgspec
from msgspec.structs import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.frontends.objects.archive import Member

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


class CodeFile(msgspec.Struct, frozen=True):
    """An object, library or program: what messages call it, its path, and for a member of a static library which."""

    name: str
    path: str
    member: Member | None = None

    def source(self) -> str | bytes:
        """A path, or bytes. Raises OSError."""
        if self.member is None:
            return self.path
        return self.member.path if self.member.size < 0 else self.member.read()


class Found(msgspec.Struct, frozen=True):
    """The files to look at, in order; what could not be, as messages; and whether there was a folder among them, in
    which the same code may lie several times."""

    files: list[CodeFile]
    problems: list[str]
    in_folders: bool


def printable(text: str) -> str:
    """A text fit for a terminal: names may have any bytes in them."""
    return "".join(c if c.isprintable() else "?" for c in text)


def kind_of(start: bytes) -> str:
    """What a file with these first bytes is: "object", "library", "bitcode" (LLVM's), or "" for anything else."""
    from incc.frontends.objects.archive import MAGIC, THIN_MAGIC

    if start.startswith((MAGIC, THIN_MAGIC)):
        return "library"
    if start.startswith(_BITCODE):
        return "bitcode"
    if start.startswith((b"\x7fELF", b"\xcf\xfa\xed\xfe")):
        return "object"
    if start.startswith(b"\xfe\xed\xfa\xcf"):
        return "object"
    if start.startswith(b"\xca\xfe\xba\xbe"):
        # Java's classes begin so too; there the version follows, which is at least 45, here a count.
        return "object" if 0 < int.from_bytes(start[4:8], "big") < 40 else ""
    if start.startswith(b"MZ"):
        # An older program for DOS has nothing at that place.
        at = int.from_bytes(start[0x3C:0x40], "little")
        return "object" if start[at : at + 4] == b"PE\0\0" else ""
    # COFF has only the number of its machine: then sections, and in objects no more header.
    if start.startswith(b"\x64\x86") and len(start) >= 20:
        sections, optional = int.from_bytes(start[2:4], "little"), int.from_bytes(start[16:18], "little")
        return "object" if sections and not optional else ""
    return ""


def find(names: Sequence[str]) -> Found:
    """What the names of files and folders stand for.

    Folders are searched by content, whatever files are called, without following symbolic links; what is in them twice,
    byte by byte, counts once, as an object rather than as a member of a library. In what is named itself nothing is
    left out.
    """
    files: list[CodeFile] = []
    problems: list[str] = []
    in_folders = False
    for name in names:
        if os.path.isdir(name):
            in_folders = True
            files += _in_folder(name, problems)
        else:
            files += _of_file(name, problems, named=True)
    return Found(files, problems, in_folders)


def _of_file(path: str, problems: list[str], named: bool) -> Iterator[CodeFile]:
    """What is to be read of a file, by its first bytes. `named`: by the user, who is told if it is something else."""
    try:
        with open(path, "rb") as file:
            kind = kind_of(file.read(4096))
        if kind == "library":
            yield from _members(path, problems)
            return
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
        return
    if kind == "bitcode":
        problems.append(f"{path}: {_NO_CODE}")
    elif kind or named:  # of what is no object the reader says so
        yield CodeFile(path, path)


_NO_CODE = "LLVM's bitcode, no machine code: link it and name what comes out, or compile without -flto"


def _members(path: str, problems: list[str]) -> Iterator[CodeFile]:
    from incc.frontends.objects.archive import listed
    from incc.frontends.objects.read import ObjectError

    found = False
    try:
        for member in listed(path):
            found = True
            name = f"{path}({member.name})"
            try:
                start = replace(member, size=min(4096, member.size) if member.size >= 0 else 4096).read()
            except OSError as error:
                problems.append(f"{name}: {error.strerror}")
                continue
            kind = kind_of(start)
            if kind == "object":
                yield CodeFile(name, path, member)
            elif kind == "library":
                problems.append(f"{name}: a static library in another one: unpack it first")
            elif kind == "bitcode":
                problems.append(f"{name}: {_NO_CODE}")
            # Else a table, a text or the like.
    except ObjectError as error:
        problems.append(f"{path}: {error}")
    if not found:
        return


def _in_folder(folder: str, problems: list[str]) -> list[CodeFile]:
    """The code in a folder: objects, then the members of libraries, then what is linked."""
    found: list[CodeFile] = []
    for path in _regular_files(folder, problems):
        found += _of_file(path, problems, named=False)
    if not found and not problems:
        problems.append(f"{folder}: no object, library or program in this folder")
    kept: list[CodeFile] = []
    linked: list[CodeFile] = []
    by_size: dict[int, list[CodeFile]] = {}
    digests: dict[CodeFile, bytes] = {}
    for file in sorted(found, key=lambda file: file.member is not None):
        try:
            size = file.member.size if file.member and file.member.size >= 0 else os.path.getsize(_path(file))
            same = by_size.setdefault(size, [])
            if same and any(_digest(file, digests) == _digest(other, digests) for other in same):
                continue
            same.append(file)
            (linked if _is_linked(file) else kept).append(file)
        except OSError as error:
            problems.append(f"{file.name}: {error.strerror}")
    return kept + linked


def _regular_files(folder: str, problems: list[str]) -> Iterator[str]:
    """The files in a folder and those in it, in the order of their names. What a link leads to is either found where it
    is, or not in the folder."""

    def failed(error: OSError) -> None:
        problems.append(f"{error.filename}: {error.strerror}")

    for place, folders, names in os.walk(folder, onerror=failed):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            try:
                # Pipes and devices would wait for somebody.
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path
            except OSError as error:
                problems.append(f"{path}: {error.strerror}")


def _path(file: CodeFile) -> str:
    return file.member.path if file.member else file.path


def _digest(file: CodeFile, known: dict[CodeFile, bytes]) -> bytes:
    if file not in known:
        import hashlib

        source = file.source()
        if isinstance(source, str):
            with open(source, "rb") as opened:
                known[file] = hashlib.file_digest(opened, "blake2b").digest()
        else:
            known[file] = hashlib.blake2b(source).digest()
    return known[file]


def _is_linked(file: CodeFile) -> bool:
    """Whether an ELF file is a program or shared library, made of what may be there as objects, too."""
    if file.member:
        return False
    with open(file.path, "rb") as opened:
        start = opened.read(18)
    return start.startswith((b"\x7fELF", b"MZ")) and start[16:18] != b"\x01\x00"

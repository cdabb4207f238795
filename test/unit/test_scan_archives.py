"""Archives as inputs of incc-scan: what is read, and what hostile ones cannot do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pathlib
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import archive_fixtures as made
from archive_fixtures import COMPRESSIONS, FORMATS
from incc.driver.commands import scan
from incc.driver.commands.scan.inputs import CodeFile, UnreadableInput, read_inputs
from incc.frontends.archives import streams, walk
from incc.frontends.objects import parts
from incc.support import zstd
from properties import examples

CODE = [b"\x7fELF" + bytes([number]) * size for number, size in ((1, 20), (2, 20), (3, 5000), (4, 33_333))]
OTHER = [b"", b"text\n", bytes(2000), b"\x7fEL"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("archives")


@pytest.fixture(scope="module")
def code(folder: pathlib.Path) -> bytes:
    """An object with a loop."""
    (folder / "a.c").write_text("double f(double *a, long n) { double s = 0; while (n--) s += a[n]; return s; }\n")
    subprocess.run(["gcc", "-O2", "-c", "a.c"], cwd=folder, check=True)
    return (folder / "a.o").read_bytes()


def read(*paths: pathlib.Path) -> tuple[list[CodeFile], list[str]]:
    """The code at paths, and messages."""
    read = list(read_inputs([str(path) for path in paths], ""))
    messages = [item.message for item in read if isinstance(item, UnreadableInput)]
    return [item for item in read if isinstance(item, CodeFile)], messages


def problems(path: pathlib.Path, content: bytes) -> list[str]:
    """The names of the code in a file, and messages, without the folder."""
    path.write_bytes(content)
    files, messages = read(path)
    return [text.removeprefix(f"{path.parent}/") for text in (*(file.name for file in files), *messages)]


def stored(file: CodeFile) -> bytes:
    source = file.source()
    return source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()


# --- contents ---------------------------------------------------------------------------------------------------------

_words = st.text(st.characters(exclude_characters="/\0\n", exclude_categories=["Cs"]), min_size=1, max_size=60)
_names = st.lists(_words.filter(lambda word: word not in (".", "..")), min_size=1, max_size=4).map("/".join)
trees = st.dictionaries(_names.filter(lambda name: len(name) < 90), st.sampled_from(CODE + OTHER), max_size=6)


def _is_tree(files: dict[str, bytes]) -> bool:
    return not any(other.startswith(f"{name}/") for name in files for other in files)


@examples(60)
@given(trees.filter(_is_tree), st.sampled_from(list(FORMATS)))
def test_any_tree_in_any_archive_has_the_files_of_the_folder(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], kind: str
) -> None:
    place = tmp_path_factory.mktemp("tree")
    if kind == "ustar.tar":
        files = {name: data for name, data in files.items() if name.isascii()}
    assume(files)  # an empty archive may be nothing but zeros
    path = place / f"x.{kind}"
    path.write_bytes(FORMATS[kind](list(files.items())))
    found, messages = read(path)
    assert messages == []
    expected = [(name, data) for name, data in files.items() if data in CODE]
    assert [(file.inside, stored(file)) for file in found] == expected
    assert [file.name for file in found] == [f"{path}({name})" for name, _ in expected]
    assert [file.size() for file in found] == [len(data) for _, data in expected]
    # In another process files come in any order.
    for file in reversed(found):
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(file), type=CodeFile)
        assert (again, stored(again)) == (file, dict(expected)[file.inside])


@pytest.mark.parametrize("kind", FORMATS)
def test_the_kernels_of_an_archive_are_those_of_the_folder(
    tmp_path: pathlib.Path, code: bytes, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.o").write_bytes(code)
    (tmp_path / f"x.{kind}").write_bytes(FORMATS[kind]([("a.o", code), ("README", b"text\n")]))
    printed = []
    for name in ("tree", f"x.{kind}"):
        assert scan.main(["-mcpu=skylake", "--format=cycles", str(tmp_path / name)]) == 0
        printed.append(capsys.readouterr().out.partition(":f+")[2])
    assert printed[0] == printed[1] != ""


@pytest.mark.parametrize("inner", FORMATS)
@pytest.mark.parametrize("outer", FORMATS)
def test_archives_in_archives_are_read_once(tmp_path: pathlib.Path, outer: str, inner: str) -> None:
    deepest = FORMATS[inner]([("x.o", CODE[0]), ("y", b"text"), ("z.o", CODE[1])])
    content = FORMATS[outer]([("1.o", CODE[2]), (f"a/{inner}", deepest), ("2.o", CODE[3])])
    path = tmp_path / "outer"
    assert problems(path, content) == [
        "outer(1.o)", f"outer(a/{inner}(x.o))", f"outer(a/{inner}(z.o))", "outer(2.o)"
    ]  # fmt: skip
    files, _ = read(path)
    assert [stored(files[number])[4] for number in (2, 1, 0, 3)] == [2, 1, 3, 4]
    assert problems(path, made.tar([("b", content), ("3.o", CODE[2])])) == [
        "outer(b(1.o))", "outer(b(2.o))", "outer(3.o)",
        f"outer(b(a/{inner})): an archive in an archive in an archive; unpack the outermost first",
    ]  # fmt: skip


@pytest.mark.parametrize("end", COMPRESSIONS)
def test_a_compressed_file_is_read_as_itself(tmp_path: pathlib.Path, end: str) -> None:
    packed = COMPRESSIONS[end](CODE[2])
    assert problems(tmp_path / "x.ko", packed) == ["x.ko"]
    assert [stored(file) for file in read(tmp_path / "x.ko")[0]] == [CODE[2]]
    assert problems(tmp_path / "x.deb", made.deb([("lib/x.ko", packed)])) == ["x.deb(lib/x.ko)"]
    assert problems(tmp_path / "x.1", COMPRESSIONS[end](b".TH X 1\n")) == []


def test_pieces_of_compression_after_each_other_are_one(tmp_path: pathlib.Path) -> None:
    content = made.tar([("x.o", CODE[3])])
    for compress in COMPRESSIONS.values():
        packed = compress(content[:700]) + compress(content[700:]) + bytes(40 if compress is not bytes else 0)
        assert problems(tmp_path / "x", packed) == ["x(x.o)"]


def test_members_in_order_are_unpacked_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [(f"{number}.o", b"\x7fELF" + struct.pack("<q", number)) for number in range(50)]
    (tmp_path / "x").write_bytes(made.COMPRESSIONS[".xz"](made.tar(files)))
    found, _ = read(tmp_path / "x")
    opened = []

    class Counted(walk.Walk):
        def __init__(self, path: str) -> None:
            opened.append(path)
            super().__init__(path)

    monkeypatch.setattr(walk, "Walk", Counted)
    assert [stored(file) for file in found[::3]] == [data for _, data in files[::3]]
    assert len(opened) == 1


def test_a_changed_archive_is_noticed(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(made.tar([("1.o", CODE[0]), ("2.o", CODE[1])]))
    files, _ = read(path)
    path.write_bytes(made.tar([("1.o", CODE[2])]))
    assert stored(files[0]) == CODE[2]
    with pytest.raises(OSError, match="the archive has changed"):
        files[1].source()


def test_processes_do_not_share_their_place_in_an_archive(tmp_path: pathlib.Path) -> None:
    files = [(f"{number}.o", b"\x7fELF" + struct.pack("<q", number) * 3000) for number in range(40)]
    (tmp_path / "x").write_bytes(made.tar(files))
    found, _ = read(tmp_path / "x")
    assert stored(found[3]) == files[3][1]
    children = []
    for _ in range(2):
        if not (child := os.fork()):
            os._exit([stored(file) for file in found[4:]] != [data for _, data in files[4:]])
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert [stored(file) for file in found[4:]] == [data for _, data in files[4:]]


def test_large_members_are_read_in_parts(
    tmp_path: pathlib.Path, code: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(f"double f{n}(double *a, long n) {{ while (n--) a[n] *= {n}; return *a; }}\n" for n in range(2, 31))
    (tmp_path / "a.c").write_text(text)
    subprocess.run(["gcc", "-O2", "-c", "a.c"], cwd=tmp_path, check=True)
    content = (tmp_path / "a.o").read_bytes()
    (tmp_path / "x.tar.xz").write_bytes(lzma.compress(made.tar([("a.o", content), ("b.o", code)])))
    run = ["-mcpu=skylake", "--format=cycles", "-j1", str(tmp_path / "x.tar.xz")]
    assert scan.main(run) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr(parts, "PART", 500)
    monkeypatch.setattr(parts, "LARGE", 1000)
    assert scan.main(run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("(a.o) (0x" in line for line in lines) == 29
    assert [line.rsplit(":", 1)[1] for line in lines] == [line.rsplit(":", 1)[1] for line in whole.splitlines()]


# --- files that are reached several times -----------------------------------------------------------------------------


def test_a_file_with_several_names_is_read_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("sub").mkdir()
    pathlib.Path("sub/a.o").write_bytes(CODE[0])
    pathlib.Path("equal.o").write_bytes(CODE[0])
    pathlib.Path("x.zip").write_bytes(made.zipped([("b.o", CODE[1])]))
    os.link("sub/a.o", "hard.o")
    os.symlink("sub/a.o", "soft.o")
    pathlib.Path("a.s").write_text("nop\n")

    def names(*given: str) -> list[str]:
        return [getattr(item, "name", "") for item in read_inputs(given, "")]

    assert names("a.s", "./a.s", "soft.o", "sub/../hard.o", "sub/a.o", "sub", "sub") == ["a.s", "soft.o"]
    assert names("sub", "sub/a.o", "equal.o", "x.zip", "./x.zip") == ["sub/a.o", "equal.o", "x.zip(b.o)"]
    assert names("/dev/null", "/dev/null") == []


def test_equal_files_of_a_folder_are_read_once(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.tar").write_bytes(made.tar([("1.o", CODE[0]), ("2.o", CODE[1]), ("3.o", CODE[1])]))
    (tmp_path / "b.deb").write_bytes(
        made.deb([("4.o", CODE[1]), ("5.o", CODE[2]), ("lib.a", made.ar([("6.o", CODE[3])]))])
    )
    (tmp_path / "c.a").write_bytes(made.ar([("7.o", CODE[3])]))
    (tmp_path / "d.o").write_bytes(CODE[0])
    files, messages = read(tmp_path)
    assert messages == []
    # Objects, members of static libraries, linked files, and then archives.
    assert [f"{os.path.basename(file.path)} {file.inside}".strip() for file in files] == [
        "c.a 7.o", "d.o", "a.tar 2.o", "b.deb 5.o"
    ]  # fmt: skip


# --- hostile archives -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMATS)
def test_an_archive_that_is_cut_off_is_read_to_there(tmp_path: pathlib.Path, kind: str) -> None:
    noise = b"\x7fELF" + os.urandom(400_000)
    content = FORMATS[kind]([("1.o", CODE[0]), ("2.o", noise), ("3.o", CODE[1])])
    lines = problems(tmp_path / "x", content[: len(content) // 2])
    if kind.endswith("zip"):  # its table is at the end
        assert lines == ["x: a damaged zip archive: File is not a zip file"]
    elif "bz2" in kind or "zst" in kind:  # blocks of up to 900 kB
        assert len(lines) in (1, 2)
        assert lines[-1].startswith("x")
        assert " is cut off" in lines[-1]
    else:
        assert lines[0] == "x(1.o)"
        assert len(lines) == 2
        assert " cut off" in lines[1]


@examples(100)
@given(st.data(), st.sampled_from(list(FORMATS)))
def test_damaged_archives_are_messages(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kind: str
) -> None:
    inner = FORMATS[data.draw(st.sampled_from(list(FORMATS)))]([("x.o", CODE[0])])
    content = bytearray(
        FORMATS[kind]([("1.o", CODE[0]), ("in", inner), ("n" * 60 + "/" + "n" * 60, CODE[1]), ("text", b"text")])
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, 1 << 16)) % len(content)  # their sizes vary with the time of day
        content[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(bytes(content))
    files, messages = read(path)
    assert len(files) <= 4
    assert len(messages) <= 5
    for file in files:
        assert len(stored(file)) == file.size()


BOMB = 32 << 20


@pytest.mark.parametrize("end", [end for end in COMPRESSIONS if end])
def test_bombs_are_defused(tmp_path: pathlib.Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = COMPRESSIONS[end](bytes(BOMB))
    bomb = zeros if end != ".gz" else gzip.compress(zeros)
    limit = "it unpacks to more than 1,000 times its size"
    monkeypatch.setattr(streams, "FREE", 1 << 20)
    if end != ".gz":  # gzip packs at most 1030 bytes into one
        header = made.tar([("1.o", CODE[0])])[:1024]
        member = tarfile.TarInfo("zeros")
        member.size = BOMB
        packed = COMPRESSIONS[end](header + member.tobuf() + bytes(BOMB))
        assert problems(tmp_path / "x", packed) == ["x(1.o)", f"x: {limit}"]
        assert problems(tmp_path / "y", made.zipped([("z", made.tar([("b", packed)])), ("2.o", CODE[1])])) == [
            "y(2.o)",
            "y(z(b)): an archive in an archive in an archive; unpack the outermost first",
        ]
    elf = COMPRESSIONS[end](b"\x7fELF" + bytes(BOMB))
    monkeypatch.setattr(streams, "RATIO", 10)
    assert problems(tmp_path / "x", elf) == ["x: it unpacks to more than 10 times its size"]
    assert len(bomb) < BOMB


def test_a_member_has_a_largest_size(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "LARGEST_MEMBER", 1 << 20)
    large = b"\x7fELF" + bytes(1 << 20)
    content = made.tar([("1.o", CODE[0]), ("2.o", large), ("3.o", CODE[1])])
    for compress in COMPRESSIONS.values():
        assert problems(tmp_path / "x", compress(content)) == [
            "x(1.o)", "x(3.o)", "x(2.o): it has more than 1 MiB; unpack it first"
        ]  # fmt: skip


def test_sizes_in_headers_take_no_memory(tmp_path: pathlib.Path) -> None:
    """Each is a header that claims much more than there is."""
    import resource

    huge = tarfile.TarInfo("x.o")
    huge.size = 1 << 62
    name = tarfile.TarInfo("x")
    name.size, name.type = 1 << 40, tarfile.GNUTYPE_LONGNAME
    buf = tarfile.GNU_FORMAT
    rpm = made.rpm([("x", b"")])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for content, message in (
        (huge.tobuf(buf) + CODE[0], "the archive is cut off"),
        (name.tobuf(buf), "a damaged tar archive: a header of 1,099,511,627,776 bytes"),
        (rpm[:104] + b"\xff" * 8 + rpm[112:], "a damaged rpm package: its header cannot be read"),
        (made.rpm([("x", b"y")], bytes).replace(b"00000001" + b"0" * 32, b"FFFFFFF0" + b"0" * 32, 1), None),
    ):
        lines = problems(tmp_path / "x", content)
        assert len(lines) == 1
        assert message is None or lines[0].endswith(message)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def special(name: str, kind: bytes, target: str = "") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member.tobuf()


def test_only_regular_files_of_a_tar_archive_are_read(tmp_path: pathlib.Path) -> None:
    files = made.tar([("./a.o", CODE[0])])[:1024]
    content = (
        files
        + special("device", tarfile.CHRTYPE)
        + special("pipe", tarfile.FIFOTYPE)
        + special("folder", tarfile.DIRTYPE)
        + special("soft", tarfile.SYMTYPE, "/etc/passwd")
        + special("hard", tarfile.LNKTYPE, "a.o")
        + special("astray", tarfile.LNKTYPE, "/etc/passwd")
        + special("sparse", tarfile.GNUTYPE_SPARSE)
        + made.tar([("b.o", CODE[1])])
    )
    assert problems(tmp_path / "x", content) == [
        "x(a.o)",
        "x(b.o)",
        "x(astray): a hard link to '/etc/passwd', which is not before it in the archive",
        "x(sparse): a sparse file; unpack it first",
    ]


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("length", [5, 99, 100, 101, 300])
def test_hard_links_to_long_names_are_passed_over(tmp_path: pathlib.Path, form: int, length: int) -> None:
    name = "d/" * (length // 2) + "a.o"
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=form) as tar:
        file = tarfile.TarInfo(name)
        file.size = len(CODE[0])
        tar.addfile(file, io.BytesIO(CODE[0]))
        link = tarfile.TarInfo("link.o")
        link.type, link.linkname = tarfile.LNKTYPE, name
        tar.addfile(link)
    assert problems(tmp_path / "x", content.getvalue()) == [f"x({name})"]


@pytest.mark.parametrize("kind", ["zip", "tar", "gz.rpm", "gz.deb"])
def test_names_that_lead_elsewhere_or_are_taken_are_refused(tmp_path: pathlib.Path, kind: str) -> None:
    names = ("a.o", "/etc/x.o", "../x.o", "a/../../x.o", "a.o")
    files = [*((name, CODE[0]) for name in names), ("../text", b"text"), ("../x.a", made.ar([("x.o", CODE[1])]))]
    refused = [name for name in names[1:4] if kind == "zip" or kind == "tar" or not name.startswith("/")]
    with pytest.warns(UserWarning, match="Duplicate name") if kind == "zip" else nullcontext():
        content = FORMATS[kind](files)
    lines = problems(tmp_path / "x", content)
    assert [line for line in lines if ": " not in line][:1] == ["x(a.o)"]
    assert [line for line in lines if "leads out" in line] == [
        f"x({name}): its name leads out of the archive" for name in (*refused, "../x.a")
    ]
    assert "x(a.o): the archive has another member of this name" in lines
    assert os.listdir(tmp_path) == ["x"]


def test_a_static_library_may_have_members_of_one_name(tmp_path: pathlib.Path) -> None:
    content = made.ar([("util.o", CODE[0]), ("util.o", CODE[1]), ("../x.o", CODE[2])])
    assert problems(tmp_path / "x.a", content) == ["x.a(util.o)", "x.a(util.o)", "x.a(../x.o)"]


def test_a_zip_member_may_have_no_name(tmp_path: pathlib.Path) -> None:
    content = made.zipped([("1.o", CODE[0])]).replace(b"1.o", b"\0.o")
    assert problems(tmp_path / "x.zip", content) == ["x.zip(#0)"]


def test_zip_members_that_cannot_be_read_are_named(tmp_path: pathlib.Path) -> None:
    content = bytearray(made.zipped([("1.o", CODE[0]), ("2.o", CODE[1]), ("3.o", CODE[2]), ("4.o", CODE[3])]))
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as archive:
        table = archive.start_dir
        at = [info.header_offset for info in archive.infolist()]
    entries = [content.index(b"PK\x01\x02", table + 46 * number) for number in range(4)]
    content[entries[0] + 8] |= 1  # encrypted
    content[entries[1] + 10] = 14  # lzma
    content[at[2] + 40] ^= 0xFF
    first, damaged, *common = problems(tmp_path / "x.zip", bytes(content))
    assert first == "x.zip(4.o)"
    assert damaged.startswith("x.zip(3.o): a damaged zip archive: ")
    assert common == ["x.zip(1.o): encrypted", "x.zip(2.o): compressed with method 14 of zip; unpack it first"]


def test_thin_libraries_in_archives_name_no_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.o").write_bytes(CODE[0])
    thin = b"!<thin>\n" + b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"x.o/", 0, 0, 0, 0o644, 24)
    assert problems(tmp_path / "thin.a", thin) == ["thin.a(x.o)"]
    assert problems(tmp_path / "t.tar", made.tar([("thin.a", thin)])) == [
        "t.tar(thin.a): a thin static library, whose members are not in the archive"
    ]


def test_the_missing_extra_is_named_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Iterator[None]:
        raise ImportError

    monkeypatch.setattr(zstd, "decompressor", missing)
    packed = b"\x28\xb5\x2f\xfd" + bytes(20)
    message = "compressed with zstd, which needs the extra incc[archives] (pip install 'incc[archives]')"
    assert problems(tmp_path / "x.tar.zst", packed) == [f"x.tar.zst: {message}"]
    content = made.tar([("1.zst", packed), ("2.zst", packed), ("3.o", CODE[0])])
    assert problems(tmp_path / "x", content) == ["x(3.o)", f"x(1.zst): {message} (and 1 more)"]


def test_xz_with_a_huge_dictionary_is_refused(tmp_path: pathlib.Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    packed = bytearray(lzma.compress(made.tar([("x.o", CODE[0])]), filters=[{**filters[0], "dict_size": 1 << 20}]))
    # The size of the dictionary is the property of the filter, in the first block's header.
    at = packed.index(b"\x21\x01", 12) + 2
    packed[at] = 38  # 1 GiB
    start, size = 12, (packed[12] + 1) * 4
    import zlib

    packed[start + size - 4 : start + size] = struct.pack("<I", zlib.crc32(packed[start : start + size - 4]))
    (line,) = problems(tmp_path / "x", bytes(packed))
    assert line.startswith("x: the xz compression is broken: Memory usage limit")


def test_compressions_with_nothing_in_them_have_no_code(tmp_path: pathlib.Path) -> None:
    for packed in (gzip.compress(b""), bz2.compress(b""), lzma.compress(b""), gzip.compress(bytes(10240))):
        assert problems(tmp_path / "x", packed) == []
    assert problems(tmp_path / "x", made.zipped([])) == []

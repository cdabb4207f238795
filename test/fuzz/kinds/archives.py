"""Archives and packages, also in each other: damaged, with odd names, before and after they are compressed."""

from __future__ import annotations

import io
import tarfile
import zipfile

from hypothesis import strategies as st

from test.fuzz.corpus import objects
from test.fuzz.kinds.common import some_cores, ways
from test.fuzz.mutation import TEXTS, changed_binary
from test.fuzz.runs import Run
from test.unit.archive_fixtures import COMPRESSIONS, FORMATS, cpio, rpm, tar

_names = st.sampled_from(
    ("a.o", "a.o", "b.o", "lib/libx.so.1", "x" * 120, "/etc/x.o", "\udcff.o", "ÿ", *filter(None, TEXTS))
)


@st.composite
def _files(draw: st.DrawFn, depth: int) -> list[tuple[str, bytes]]:
    contents: st.SearchStrategy[bytes] = st.sampled_from(
        [b"", b"text\n", bytes(700), *list(objects("elf").values())[:4]]
    )
    if depth:
        contents = st.one_of(contents, _archives(depth - 1))
    files = draw(st.lists(st.tuples(_names, contents), max_size=4))
    return [(name[:100], data) for name, data in files]


def _tar_fields(data: bytes) -> list[tuple[int, int]]:
    """Return the fields of the headers: sizes, types, links, and the flag of sparse members."""
    return [
        (header + at, width)
        for header in range(0, len(data) - 511, 512)
        if data[header + 257 : header + 262] == b"ustar"
        for at, width in ((0, 8), (124, 8), (132, 4), (156, 1), (157, 8), (482, 1))
    ]


def _with_sums(data: bytes) -> bytes:
    """Return a tar archive in which the check sums of headers are right."""
    text = bytearray(data)
    for header in range(0, len(text) - 511, 512):
        if text[header + 257 : header + 262] == b"ustar":
            text[header + 148 : header + 156] = b" " * 8
            text[header + 148 : header + 156] = b"%06o\0 " % sum(text[header : header + 512])
    return bytes(text)


def _zip_fields(data: bytes) -> list[tuple[int, int]]:
    fields = []
    for magic, offsets in ((b"PK\3\4", (4, 6, 8, 14, 18, 22, 26, 28)), (b"PK\1\2", (8, 10, 20, 24, 28, 30, 42))):
        at = data.find(magic)
        while at >= 0:
            fields += [(at + offset, 2 if offset in (4, 6, 8, 10, 26, 28, 30) else 4) for offset in offsets]
            at = data.find(magic, at + 4)
    return [*fields, *((max(len(data) - 22, 0) + offset, 4) for offset in (8, 12, 16))]


@st.composite
def _archives(draw: st.DrawFn, depth: int) -> bytes:
    """Return an archive with up to `depth` levels of others inside, as a rule damaged."""
    files = draw(_files(depth))
    kind = draw(st.sampled_from(("tar", "cpio", "zip", "any")))
    compress = COMPRESSIONS[draw(st.sampled_from(list(COMPRESSIONS)))]
    if kind == "tar":
        plain = tar(files, draw(st.sampled_from((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))))
        return compress(_with_sums(draw(changed_binary(plain, _tar_fields(plain)))))
    if kind == "cpio":
        plain = cpio(files)
        fields = [(at, 8) for at in range(6, min(len(plain), 110), 8)]
        damaged = draw(changed_binary(plain, fields))
        return rpm([], lambda _: compress(damaged))
    if kind == "zip":
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", draw(st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))) as archive:
            for number, (name, data) in enumerate(files):
                archive.writestr(zipfile.ZipInfo(f"{number}{name}".replace("\udcff", "ÿ")), data)
        return draw(changed_binary(made.getvalue(), _zip_fields(made.getvalue())))
    maker = FORMATS[draw(st.sampled_from([name for name in FORMATS if "zip" not in name and "ustar" not in name]))]
    return draw(changed_binary(maker(files)))


_scans = st.sampled_from(((), ("--json",), ("--format=cycles",), ("--input-format=obj",), ("--top=1",)))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-scan on archives, by name and in a folder."""
    made = draw(st.lists(_archives(2), min_size=1, max_size=2))
    files = {f"{number}.pkg": data for number, data in enumerate(made)}
    args = (f"--mcpu={draw(some_cores)}", "-j1", *draw(_scans), draw(st.sampled_from((".", "0.pkg"))))
    return Run(command="incc-scan", args=args, files=files, **draw(ways(jobs=True)))

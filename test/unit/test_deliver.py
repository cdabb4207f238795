"""Where reports and the files beside them go, and what is said of what was not written or not found."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from incc.driver.cli.kinds import MCA
from incc.driver.cli.values import OptionValues
from incc.driver.commands import mca
from incc.driver.deliver import (
    DeliveryRequest,
    Undelivered,
    UnmetRequest,
    deliver,
    file_name,
    source_lines,
    unmet,
    write_stream,
)
from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.support import files
from incc.support.files import write_file
from struct_fixtures import filled

LOOP = "f:\n.L1:\n\tmulsd %xmm1, %xmm0\n\tdecq %rcx\n\tjne .L1\n\tret\n"


def report(*options: str, text: str = LOOP, **unit: Any) -> t.AnalysisReport:
    given = OptionValues(MCA)
    for option in ("-mcpu=skylake", "-auto", *options):
        name, equals, value = option.partition("=")
        given.take(name, value if equals else None)
    return analyze_units([Unit(assembly=text, assembly_file="dir/x.s", **unit)], given.settings())


@pytest.fixture(scope="module")
def plain() -> t.AnalysisReport:
    return report()


def test_to_a_stream(plain: t.AnalysisReport, capfd: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    assert deliver(plain, DeliveryRequest(views=("summary",)), stream) == Undelivered((), ())
    assert "Iterations:        100" in stream.getvalue()
    assert "Resource pressure" not in stream.getvalue()
    with os.fdopen(os.dup(1), "w") as file:
        file.write("before\n")
        assert deliver(plain, DeliveryRequest(views=("summary",)), file) == Undelivered((), ())
    assert capfd.readouterr().out == "before\n" + stream.getvalue()


def test_closed_streams(plain: t.AnalysisReport) -> None:
    undelivered = deliver(plain, DeliveryRequest(), None)
    assert (undelivered.failures, undelivered.empty) == (("the report could not be written: Bad file descriptor",), ())
    # A reader that has seen enough is no failure.
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as file:
        assert deliver(plain, DeliveryRequest(), file) == Undelivered((), ())


def test_to_a_file(plain: t.AnalysisReport, tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("something that was there before\n" * 1000)
    assert deliver(plain, DeliveryRequest(format="json", output=str(path)), None) == Undelivered((), ())
    assert json.loads(path.read_text()) == msgspec.to_builtins(plain)
    assert len(path.read_text().splitlines()) > 1
    for _ in range(2):
        deliver(plain, DeliveryRequest(format="json", output=str(path) + "l", append=True), None)
    lines = Path(f"{path}l").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [msgspec.to_builtins(plain)] * 2


def test_to_a_folder(plain: t.AnalysisReport, tmp_path: Path) -> None:
    request = DeliveryRequest(format="text", output=str(tmp_path), files={"graph": str(tmp_path), "cfg": str(tmp_path)})
    deliver(plain, request, None)
    deliver(plain, request, None)
    deliver(plain, replace(request, format="json"), None)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(file_name(plain, ending) for ending in ("txt", "dot", "cfg.dot", "json"))
    assert all(name.startswith("x.s-") for name in names)


def test_names_in_a_folder() -> None:
    def unit(
        *command: str, source: str = "a/x.c", file: str = "x.s", folder: str = "", output: str = ""
    ) -> t.AnalysisReport:
        of = {"source": source, "assembly_file": file, "command": list(command), "folder": folder, "output": output}
        return filled(t.AnalysisReport, {"units": [of]})

    name = file_name(unit("gcc", "-O2"), "txt")
    assert name == file_name(unit("gcc", "-O2"), "txt")
    assert name.startswith("x.c-")
    assert name != file_name(unit("gcc", "-O3"), "txt")
    # What is compiled into the same file replaces what was compiled into it before.
    made = file_name(unit("gcc", "-O2", folder="/b", output="x.o"), "txt")
    assert made == file_name(unit("gcc", "-O3", folder="/b", output="x.o"), "txt")
    others = [{"folder": "/c", "output": "x.o"}, {"folder": "/b", "output": "y.o"}]
    assert made not in [file_name(unit("gcc", "-O2", **other), "txt") for other in others]
    assert file_name(unit(source="", file="<stdin>"), "txt").startswith("stdin-")
    assert file_name(unit(source="", file="a/x.s"), "txt") != file_name(unit(source="", file="b/x.s"), "txt")


def test_what_cannot_be_written_keeps_nothing_else_from_it(plain: t.AnalysisReport, tmp_path: Path) -> None:
    missing, good = tmp_path / "no" / "where", tmp_path / "cfg.dot"
    stream = io.StringIO()
    files = {"graph": str(missing), "cfg": str(good), "html": str(tmp_path / "page.html")}
    delivery = deliver(plain, DeliveryRequest(files=files), stream)
    failures, empty = delivery.failures, delivery.empty
    assert failures == (f"{missing}: not written: No such file or directory",)
    assert empty == ()
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert stream.getvalue()
    assert good.read_text().startswith("digraph")
    delivery = deliver(plain, DeliveryRequest(output=str(missing)), stream)
    failures = delivery.failures
    assert failures == (f"the report could not be written: {missing}: No such file or directory",)


def test_nothing_to_show(tmp_path: Path) -> None:
    """No loop is no failure, and in a folder nothing to speak of: most sources of a build have none."""
    without = report(text="f:\n\tret\n")
    page = tmp_path / "page.html"
    stream = io.StringIO()
    assert deliver(without, DeliveryRequest(files={"html": str(tmp_path)}), stream) == Undelivered((), ())
    undelivered = deliver(without, DeliveryRequest(files={"html": str(page)}), stream)
    assert (undelivered.failures, undelivered.empty) == ((), (f"{page}: not written: no kernel to show",))
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    write_file(str(tmp_path / "x"), b"\xff\n".decode("utf-8", "surrogateescape"))
    assert (tmp_path / "x").read_bytes() == b"\xff\n"


def _add(path: str, letter: str) -> None:
    for _ in range(20):
        write_file(path, letter * 100_000 + "\n", append=True)


def test_additions_do_not_mix(tmp_path: Path) -> None:
    path = str(tmp_path / "all")
    context = multiprocessing.get_context("fork")
    jobs = [context.Process(target=_add, args=(path, letter)) for letter in "abcd"]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    lines = Path(path).read_text().splitlines()
    assert len(lines) == 80
    assert all(line == line[0] * 100_000 for line in lines)


def test_width_of_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    stream = io.StringIO()
    write_stream(stream, lambda width, colour: f"{width} {colour}")
    assert stream.getvalue() == "77 False"


@pytest.mark.parametrize(
    ("unit", "where"),
    [({}, "dir/x.s"), ({"source": "dir/x.c", "compiler": "gcc"}, "dir/x.c")],
)
def test_what_was_asked_for_and_is_not_there(unit: dict[str, str], where: str) -> None:
    given = OptionValues(MCA)
    for value in ("99", "other.h:3"):
        given.take("-detail", value)
    for value in ("latency PADDB = 2", "rob = 512"):
        given.take("-what-if", value)
    found = report("-what-if=latency PADDB = 2", "-what-if=rob = 512", **unit)
    messages = unmet(found, given.settings(), given.request("text", ""), "--analyze-")
    assert messages == [
        UnmetRequest(where, "what-if 'latency PADDB': no kernel has such an instruction"),
        UnmetRequest(f"{where}:99", "--analyze-detail: no analysed instruction in this line"),
        UnmetRequest("other.h:3", "--analyze-detail: no analysed instruction in this line"),
    ]


def test_several_units() -> None:
    """A line without a file is one of any of them."""
    given = OptionValues(MCA)
    given.take("-detail", "99")
    found = analyze_units(
        [Unit(assembly=LOOP, assembly_file="x.s"), Unit(assembly=LOOP, assembly_file="y.s")],
        given.settings().on("skylake"),
    )
    assert [message.where for message in unmet(found, given.settings(), given.request("text", ""), "-")] == ["line 99"]


def test_exit_status(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What incc-mca was asked for and did not do ends in status 1 or 2, after everything else was done."""
    source = tmp_path / "x.s"
    source.write_text(LOOP)
    common = ["-mcpu=skylake", "-auto", str(source)]
    assert mca.main(common) == 0
    out = capfd.readouterr().out
    assert mca.main([*common, f"-graph={tmp_path}/no/x.dot"]) == 2
    captured = capfd.readouterr()
    assert captured.out == out
    assert captured.err == f"incc-mca: error: {tmp_path}/no/x.dot: not written: No such file or directory\n"
    assert mca.main([*common, "-detail=7"]) == 1
    captured = capfd.readouterr()
    assert captured.err == f"{source}:7: error: --detail: no analysed instruction in this line\n"
    assert mca.main([*common, "-o", str(tmp_path)]) == 0
    assert [path.read_text() for path in tmp_path.glob("x.s-*.txt")] == [out]


def test_lines_of_sources_are_read_where_they_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_bytes(b"one\ntwo \xff\x0c\r\nthree\n")
    os.mkfifo("pipe.c")
    names = {"a.c": [2, 3, 99, 0], "gone.c": [1], "pipe.c": [1], "n\0l.c": [1], ".": [1]}
    instructions = [{"source": {"file": name, "line": line}} for name, lines in names.items() for line in lines]
    kernel = {"instructions": [*instructions, {"source": None}]}
    found = source_lines(filled(t.AnalysisReport, {"units": [{"kernels": [kernel]}]}))
    assert found == {"a.c": {2: "two \ufffd\x0c", 3: "three"}}


def test_a_pipe_that_is_not_read_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever does not wait gives up where nobody reads, and where somebody no longer does."""
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a pipe without a reader"):
        write_file(str(pipe), "text", wait=False)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match="a pipe without a reader"):
            write_file(str(pipe), "x" * (1 << 21), wait=False)
    finally:
        os.close(reader)


def test_a_stream_that_others_have_made_so_that_it_does_not_block() -> None:
    """As programs with an event loop leave what they share with those that they start."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    text = "x" * (1 << 20)
    found = bytearray()

    def read() -> None:
        while part := os.read(reading, 1 << 12):
            found.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    files.write_all(writing, text)
    os.close(writing)
    reader.join()
    os.close(reading)
    assert found == text.encode()

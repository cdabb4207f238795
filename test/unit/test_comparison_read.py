"""Reading the sides of a comparison: reports, lines, folders, code, and what is none of these."""

from __future__ import annotations

import copy
import errno
import io
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_api import TRIAD
from test_report_schema import SCHEMA

import incc
from incc.comparison import types as c
from incc.comparison.side import ComparedBuild, without_details
from incc.driver.settings import Scope
from incc.driver.sides.analyse import CODE
from incc.driver.sides.labels import distinct, labels
from incc.driver.sides.read import read_sides, side_of_file
from incc.report import types as t
from incc.report.build import SCHEMA_VERSION
from incc.report.documents import InputError
from incc.views.json import render
from properties import examples
from settings_fixtures import settings_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from incc.comparison.side import SideKernel

DATA = pathlib.Path(__file__).parent / "data/reports"
RECORDED = DATA / "report.json"


@pytest.fixture(scope="module")
def report() -> Any:
    return incc.analyze(TRIAD, name="triad.s", mcpu="skylake").to_dict()


def compiled(report: Any, source: str = "triad.c") -> Any:
    """The report as one of a compilation."""
    new = copy.deepcopy(report)
    new["units"][0].update(source=source, compiler="gcc", compiler_version="12.2.0", command=["gcc", "-c", source])
    return new


def written(folder: pathlib.Path, name: str, *reports: Any, compact: bool = False) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(render(r, compact) for r in reports))
    return str(path)


def one(path: Any, jobs: int = 1, **settings: Any) -> ComparedBuild:
    (side,) = read_sides([os.fspath(path)], settings_with(CODE, **settings), jobs)
    return side


def ids(side: ComparedBuild) -> list[str]:
    return [entry.kernel.kernel_id for entry in side.entries]


def refused(path: Any) -> str:
    with pytest.raises(InputError) as error:
        read_sides([os.fspath(path)])
    assert "\n" not in str(error.value)
    return str(error.value)


# --- reports ----------------------------------------------------------------------------------------------------------


def test_entries_are_what_the_report_says(tmp_path: pathlib.Path, report: Any) -> None:
    side = one(written(tmp_path, "a.json", report))
    (unit,) = msgspec.convert(report, t.AnalysisReport).units
    assert len(side.entries) == len(unit.kernels) == 2
    for entry, kernel in zip(side.entries, unit.kernels, strict=True):
        assert entry.kernel == without_details(kernel)
        assert entry.instructions() == kernel.instructions
        assert entry.unit == replace(unit, kernels=[], ways=None, control_flow=None, trials=None)
    model = unit.model
    assert side.info == c.Side(
        label="a",
        input=str(tmp_path / "a.json"),
        compilers=[],
        models=[c.ComparedModel(name=model.name, title=model.title, version=model.version)],
        kernels=2,
        variant=None,
        problem="",
        notes=[],
    )


@pytest.mark.parametrize("compact", [True, False])
def test_several_reports_in_a_file(tmp_path: pathlib.Path, report: Any, compact: bool) -> None:
    files = [compiled(report, f"{name}.c") for name in "cab"]
    side = one(written(tmp_path, "build.json", *files, compact=compact))
    assert [entry.unit.source for entry in side.entries] == ["c.c"] * 2 + ["a.c"] * 2 + ["b.c"] * 2


def test_what_is_compiled_again_replaces_what_it_was(tmp_path: pathlib.Path, report: Any) -> None:
    before, other, after = compiled(report), compiled(report, "other.c"), compiled(report)
    after["units"][0]["kernels"][0]["cycles"] = 77.0
    side = one(written(tmp_path, "build.json", before, other, after, compact=True))
    assert [e.unit.source for e in side.entries] == ["other.c"] * 2 + ["triad.c"] * 2
    assert side.entries[2].kernel.cycles == 77
    assert side.info.notes == ["triad.c was compiled several times; the last time counts."]
    # A file of that name in another folder, built by the same command, has other functions.
    for kernel in after["units"][0]["kernels"]:
        kernel["kernel_id"] = f"elsewhere/{kernel['kernel_id']}"
    assert len(one(written(tmp_path, "build.json", before, after, compact=True)).entries) == 4
    # Nothing tells whether code that was given is the same.
    assert len(one(written(tmp_path, "build.json", report, report, compact=True)).entries) == 4


def test_reports_of_incc_scan(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    from incc.driver.commands.scan import main

    (tmp_path / "triad.s").write_text(TRIAD)
    assert main(["--output=json", "-mcpu=skylake,znver4", str(tmp_path / "triad.s")]) == 0
    lines = capfd.readouterr().out
    (tmp_path / "scan.json").write_text(lines)
    side = one(tmp_path / "scan.json")
    names = [
        ("skylake", "triad/loop1"),
        ("skylake", "product/loop1"),
        ("znver4", "triad/loop1"),
        ("znver4", "product/loop1"),
    ]
    assert [(e.unit.model.name, e.kernel.kernel_id) for e in side.entries] == names
    assert {e.unit.assembly_file for e in side.entries} == {str(tmp_path / "triad.s")}
    assert side.info.notes == []


def test_functions_are_chosen(tmp_path: pathlib.Path, report: Any) -> None:
    path = written(tmp_path, "a.json", report)
    assert ids(one(path, functions=("tri*",))) == ["triad/loop1"]
    side = one(path, functions=("nothing",))
    assert side.info.kernels == 0
    assert side.info.notes == ["No function has such a name."]


@pytest.mark.parametrize(("function", "status"), [("triad*", 0), ("nosuch", 1)])
def test_a_function_that_is_not_there_fails_incc_diff(
    tmp_path: pathlib.Path, report: Any, function: str, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    from incc.driver.commands import diff

    name = written(tmp_path, "a.json", report)
    assert diff.main([name, name, f"--function={function}", "--fail-if=cycles > +1000%"]) == status
    assert ("no kernel of a function named nosuch" in capfd.readouterr().err) == bool(status)


def test_kernels_of_one_name_are_numbered(tmp_path: pathlib.Path, report: Any) -> None:
    new = copy.deepcopy(report)
    for kernel in new["units"][0]["kernels"]:
        kernel["kernel_id"] = "f/loop1"
    side = one(written(tmp_path, "a.json", new))
    assert ids(side) == ["f/loop1", "f/loop1 (2)"]
    assert side.info.notes == ["triad.s has several kernels called 'f/loop1', which are numbered here."]


def test_what_must_be_known_of_a_report_is_noted(tmp_path: pathlib.Path, report: Any) -> None:
    new = copy.deepcopy(report)
    new["units"][0]["model"]["note"] = "no model for x: analysed for y"
    new["units"][0]["left_out"] = [{"first_line": 1, "last_line": 2, "function": "f", "label": "", "reason": "r"}]
    side = one(written(tmp_path, "a.json", new))
    assert side.info.notes == ["No model for x: analysed for y.", "1 loop was not analysed."]
    new["units"] = []
    assert one(written(tmp_path, "b.json", new)).info.notes == ["It has no kernels."]


def test_names_of_files_that_are_no_text(tmp_path: pathlib.Path, report: Any) -> None:
    new = compiled(report, "gr\udcfcn.c")
    (tmp_path / "a.json").write_bytes(render(new).encode("utf-8", "surrogateescape"))
    side = one(tmp_path / "a.json")
    assert side.entries[0].unit.source == "gr\udcfcn.c"
    assert side.info.notes == []


def test_halves_of_surrogate_pairs(tmp_path: pathlib.Path, report: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text(render(compiled(report)).replace('"triad.c"', '"tri\\ud800ad.c"', 1))
    assert one(path).entries[0].unit.source == "tri\ud800ad.c"


# --- versions ---------------------------------------------------------------------------------------------------------


@cache
def validator(kind: str) -> Any:
    """Checks a unit, kernel or instruction as JSON has it."""
    return jsonschema.Draft202012Validator({**SCHEMA["$defs"][kind], "$defs": SCHEMA["$defs"]})


def validate(kind: str, value: Any) -> None:
    validator(kind).validate(msgspec.to_builtins(value))


def test_a_recorded_report_is_read() -> None:
    side = one(RECORDED)
    (entry,) = side.entries
    validate("UnitReport", entry.unit)
    validate("KernelReport", entry.kernel)
    for instruction in entry.instructions():
        validate("InstructionReport", instruction)
    recorded = json.loads(RECORDED.read_text())["units"][0]["kernels"][0]
    # Older reports do not place instructions in their function.
    assert msgspec.to_builtins(entry.instructions()) == [{**each, "offset": -1} for each in recorded["instructions"]]
    assert msgspec.to_builtins(entry.kernel.memory) == recorded["memory"]
    assert entry.kernel.measured
    assert entry.kernel.measured.cycles == 1.40242
    assert side.info.notes == []


@pytest.mark.parametrize(
    "version", ["0.9", "1", "1.", "one", "1.4.1", " 1.0", "1.00", "1.1", "1.9", "2.0", 1.0, ["1.0"], "9" * 5000]
)
def test_another_schema_version_is_refused(tmp_path: pathlib.Path, report: Any, version: Any) -> None:
    path = written(tmp_path, "a.json", {**report, "schema_version": version})
    message = refused(path)
    assert message == (
        f"{path}: report schema {repr(version)[:40]} is not supported (this incc reads {SCHEMA_VERSION}); "
        "analyse again with this incc"
    )


def test_a_report_without_a_schema_version_is_refused(tmp_path: pathlib.Path, report: Any) -> None:
    path = written(tmp_path, "a.json", {**report, "schema_version": None})
    assert refused(path) == f"{path}: the report has no schema version; this incc reads {SCHEMA_VERSION}"


# --- what is no report ------------------------------------------------------------------------------------------------


def test_other_files(tmp_path: pathlib.Path) -> None:
    def file(name: str, content: bytes | str) -> pathlib.Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    assert refused(tmp_path / "missing.json") == f"{tmp_path}/missing.json: no such file or directory"
    assert refused(file("empty.json", "")).endswith("empty.json: the file is empty")
    assert refused(file("blank.json", " \n\n")).endswith("blank.json: the input is empty")
    assert refused(file("blanks.json", " \n" * 10_000)).endswith(
        "blanks.json:1: not JSON: it begins with ' \\n \\n \\n \\n \\n \\n \\n \\n \\n \\n'"
    )
    assert refused(file("a.json", "hello")).endswith("a.json:1: not JSON: it begins with 'hello'")
    assert "not an incc report (expected a JSON object with" in refused(file("a.json", "[1, 2]"))
    assert "a report of incc-run, where a report on code" in refused(file("a.json", '{"schema": "incc-run"}'))
    assert 'not an incc report (expected a JSON object with "units")' in refused(file("a.json", '{"name": "x"}'))
    assert "a comparison written by incc-diff, where a report is expected" in refused(
        file("a.json", '{"schema_version": "1.0", "tool": {}, "sides": [], "rows": []}')
    )
    assert "compressed with gzip; decompress it first" in refused(file("a.json.gz", b"\x1f\x8b\x08\x00"))
    assert "UTF-16" in refused(file("a.json", "{}".encode("utf-16")))
    assert "not a report, database, object, library or program" in refused(file("a.bin", bytes(range(256))))
    assert "not a report (JSON), a source in C, C++ or Fortran, or assembly" in refused(file("a.txt", "hello"))
    assert "not a report (JSON), a source in C, C++ or Fortran, or assembly" in refused(file("a.rs", "fn main() {}"))
    assert "a.o: code for NONE" in refused(file("a.o", b"\x7fELF" + bytes(100)))
    assert refused("nothing\0here").startswith("nothing?here: ")
    assert refused("/dev/null") == "/dev/null: a device, not a file that can be read"
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe").endswith("pipe: a named pipe, not a file that can be read")
    with pytest.raises(InputError, match="standard input can be read only once"):
        read_sides(["-", "-"])


def test_units_in_messages_are_as_they_are_written(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_all(file: object) -> bytes:
        raise OSError(errno.EFBIG, "more than 512 MiB")

    monkeypatch.setattr("incc.driver.sides.read.read_all", read_all)
    reading, writing = os.pipe()
    os.close(writing)
    assert refused(f"/dev/fd/{reading}") == f"/dev/fd/{reading}: more than 512 MiB"
    os.close(reading)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: pathlib.Path, report: Any) -> None:
    path = written(tmp_path, "a.json", report)
    os.chmod(path, 0)
    assert refused(path) == f"{path}: permission denied"


def test_nested_without_end(tmp_path: pathlib.Path) -> None:
    for text in ('{"future": ' * 1_000_000, '{"units": [{"future": ' + "[" * 1_000_000):
        (tmp_path / "a.json").write_text(text)
        assert refused(tmp_path / "a.json") == f"{tmp_path}/a.json:1: nested too deep for a report"


def test_places_of_mistakes(tmp_path: pathlib.Path, report: Any) -> None:
    def changed(change: Any, compact: bool = False) -> str:
        new = copy.deepcopy(report)
        change(new["units"][0]["kernels"][1])
        return refused(written(tmp_path, "a.json", report, new, compact=compact)).removeprefix(f"{tmp_path}/a.json:")

    def text_for_cycles(kernel: Any) -> None:
        kernel["cycles"] = "many"

    lines = render(report).count("\n")
    assert changed(text_for_cycles) == f"{lines + 1}: $.units[0].kernels[1].cycles: expected float, got str"
    assert changed(text_for_cycles, True) == "2: $.units[0].kernels[1].cycles: expected float, got str"
    assert "$.units[0].kernels[1].cycles: expected float >= 0" in changed(lambda k: k.update(cycles=-1.0))
    assert "object missing required field bounds" in changed(lambda k: k.pop("bounds"))
    assert "kernels[1].instructions[0].bytes: expected int" in changed(lambda k: k["instructions"][0].update(bytes=1.5))
    found = changed(lambda k: k["instructions"][0]["pressure"].append(1.0), True)
    wanted = len(report["units"][0]["kernels"][1]["resources"])
    assert found == f"2: $.units[0].kernels[1].instructions[0].pressure: {wanted + 1} figures for {wanted} resources"
    found = changed(lambda k: k["simulated"]["port_uops"].pop(), True)
    assert found == f"2: $.units[0].kernels[1].simulated.port_uops: {wanted - 1} figures for {wanted} resources"
    found = changed(lambda k: k["instructions"][0].update(index=1), True)
    assert "kernels[1].instructions: their indices are not 0 to " in found
    data = incc.analyze(TRIAD, mcpu="skylake", data="all").to_dict()["units"][0]["kernels"][1]["data"]
    refer: tuple[Callable[[Any], None], ...] = (
        lambda k: k["critical_path"].update(instructions=[99]),
        lambda k: k.update(data={**data, "unknown": [99]}),
        lambda k: k.update(data={**data, "streams": [{**data["streams"][0], "instructions": [0, 99]}]}),
    )
    for change in refer:
        assert changed(change, True) == (
            "2: $.units[0].kernels[1]: no instruction 99, which other parts of the kernel refer to"
        )
    assert "kernels[1].kind: invalid enum value 'x'" in changed(lambda k: k.update(kind="x"))
    assert "kernels[1].content_hash" in changed(lambda k: k.update(content_hash="x"))


def test_lines_of_broken_json(tmp_path: pathlib.Path, report: Any) -> None:
    path = tmp_path / "a.json"
    text = render(report)
    line = text[: text.index('"cycles"')].count("\n") + 1
    for number in ("NaN", "Infinity", "1.5.2", "01"):
        broken = text.replace('"cycles": ', f'"cycles": {number}, "x": ', 1)
        path.write_text(broken)
        assert refused(path).startswith(f"{path}:{line}: not valid JSON: ")
    path.write_text(text[: text.index('"cycles"') + 4])
    assert refused(path) == f"{path}:{line}: the file is truncated: it ends in '\"cyc'"
    one = render(report, True)
    path.write_text(one * 2 + one[: one.index('"cycles"') + 4])
    assert refused(path).startswith(f"{path}:3: the file is truncated: it ends in ")
    path.write_text(text + "x")
    assert "not valid JSON: trailing characters" in refused(path)


TEXT = render(incc.analyze(TRIAD, name="triad.s", mcpu="skylake").to_dict()).encode()


@given(st.integers(0, len(TEXT) - 3))
def test_no_part_of_a_report_is_taken_for_it(end: int) -> None:
    """But for the line break behind it."""
    with pytest.raises(InputError):
        side_of_file(io.BytesIO(TEXT[:end]), "a.json", Scope())


def read_or_refused(text: bytes) -> Sequence[SideKernel]:
    """The entries, none if the text is refused with a message that names the file."""
    try:
        return side_of_file(io.BytesIO(text), "a.json", Scope()).entries
    except InputError as error:
        if not str(error).startswith("a.json"):
            raise
        return []


@given(st.integers(0, len(TEXT) - 1), st.binary(min_size=1, max_size=3))
@examples(200)
@example(at=5, damage=b"\x80")  # in the name of a field
def test_damaged_bytes_are_read_or_refused(at: int, damage: bytes) -> None:
    for entry in read_or_refused(TEXT[:at] + damage + TEXT[at + len(damage) :]):
        entry.instructions()


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in items for found in _paths(item, (*path, key)))]


PATHS = _paths(json.loads(TEXT))
ODD = st.sampled_from([None, True, -1, 0, 1.5, 1e300, 10**30, "", "x", [], {}, [None], {"a": 1}])


@given(st.sampled_from(PATHS[1:]), ODD)
@example(("units", 0, "kernels", 0, "range", "causes"), [])
def test_values_of_other_types_are_read_or_refused(path: tuple[Any, ...], odd: Any) -> None:
    new = json.loads(TEXT)
    place = new
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = odd
    # What is read is what the schema says.
    for entry in read_or_refused(json.dumps(new).encode()):
        validate("KernelReport", entry.kernel)
        validate("UnitReport", entry.unit)
        for instruction in entry.instructions():
            validate("InstructionReport", instruction)


# --- folders ----------------------------------------------------------------------------------------------------------


def test_a_folder_is_read_in_order(tmp_path: pathlib.Path, report: Any) -> None:
    for name in ("b/2.json", "b/10.json", "a.json", "c.json"):
        written(tmp_path, name, compiled(report, name))
    (tmp_path / "compile_commands.json").write_text("[]")
    (tmp_path / "notes.txt").write_text("x")
    side = one(tmp_path)
    assert [e.unit.source for e in side.entries[::2]] == ["a.json", "c.json", "b/10.json", "b/2.json"]
    assert side.info.notes == ["compile_commands.json: not a report, skipped."]
    (tmp_path / "b/2.json").write_text(render(report)[:-20])
    assert "b/2.json" in refused(tmp_path)
    assert "truncated" in refused(tmp_path)


def test_a_folder_without_anything(tmp_path: pathlib.Path) -> None:
    assert refused(tmp_path) == f"{tmp_path}: no report (*.json), assembly or object in this folder"
    (tmp_path / "compile_commands.json").write_text("[]")
    assert refused(tmp_path) == f"{tmp_path}: only JSON files that are not reports in this folder"


def test_a_folder_of_code(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/triad.s").write_text(TRIAD)
    (tmp_path / "compile_commands.json").write_text("[]")
    side = one(tmp_path, mcpu="skylake")
    assert ids(side) == ["triad/loop1", "product/loop1"]
    assert {e.unit.assembly_file for e in side.entries} == {"sub/triad.s"}


# --- code -------------------------------------------------------------------------------------------------------------


def test_assembly_is_analysed_as_by_the_api(tmp_path: pathlib.Path) -> None:
    (tmp_path / "triad.s").write_text(TRIAD)
    side = one(tmp_path / "triad.s", mcpu="skylake")
    report = incc.analyze(TRIAD, name=str(tmp_path / "triad.s"), mcpu="skylake", timeline=0).to_dict()
    for entry, kernel in zip(side.entries, msgspec.convert(report, t.AnalysisReport).units[0].kernels, strict=True):
        assert entry.kernel == without_details(kernel)
        assert entry.instructions() == kernel.instructions
    assert ids(one(tmp_path / "triad.s", mcpu="skylake", functions=("prod*",))) == ["product/loop1"]
    for mcpu, said in (("nonsense", "no machine model"), ("neoverse-v2", "aarch64")):
        with pytest.raises(InputError, match=said):
            one(tmp_path / "triad.s", mcpu=mcpu)


def test_code_for_several_cores_makes_a_side_each(tmp_path: pathlib.Path, report: Any) -> None:
    (tmp_path / "triad.s").write_text(TRIAD)
    sides = read_sides([str(tmp_path / "triad.s")], settings_with(CODE, mcpu="skylake,znver4"), 2)
    assert [side.info.label for side in sides] == ["skylake", "znver4"]
    assert [side.info.models[0].name for side in sides] == ["skylake", "znver4"]
    sides = read_sides(
        [str(tmp_path / "triad.s"), written(tmp_path, "r.json", report)], settings_with(CODE, mcpu="skylake,znver4")
    )
    assert [side.info.label for side in sides] == ["triad · skylake", "triad · znver4", "r"]


@pytest.fixture
def objects(tmp_path: pathlib.Path) -> pathlib.Path:
    assembler = shutil.which("as")
    if not assembler:
        pytest.skip("no as")
    (tmp_path / "triad.s").write_text(TRIAD)
    for name in ("triad", "a_member_with_a_long_name"):
        subprocess.run([assembler, "-o", tmp_path / f"{name}.o", tmp_path / "triad.s"], check=True)
    return tmp_path


def test_objects_are_analysed_in_any_number_of_processes(
    objects: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = one(objects / "triad.o", mcpu="skylake")
    assert ids(side) == ["triad/loop1", "product/loop1"]
    report = incc.analyze(objects / "triad.o", input="obj", mcpu="skylake", timeline=0).to_dict()
    kernels = msgspec.convert(report, t.AnalysisReport).units[0].kernels
    assert [e.kernel for e in side.entries] == [without_details(kernel) for kernel in kernels]
    monkeypatch.setattr("incc.driver.sides.analyse.AT_A_TIME", 1)
    again = one(objects / "triad.o", mcpu="skylake", jobs=2)
    assert [(e.kernel, e.unit, e.instructions()) for e in again.entries] == [
        (e.kernel, e.unit, e.instructions()) for e in side.entries
    ]
    with pytest.raises(InputError, match="x86 code, but neoverse-v2 is an aarch64 core"):
        one(objects / "triad.o", mcpu="neoverse-v2")


@pytest.mark.parametrize("thin", [False, True])
def test_static_libraries(objects: pathlib.Path, thin: bool) -> None:
    ar = shutil.which("ar")
    if not ar:
        pytest.skip("no ar")
    (objects / "readme").write_text("no code")
    names = ["triad.o", "a_member_with_a_long_name.o", "readme"]
    subprocess.run([ar, "rcsT" if thin else "rcs", "lib.a", *names], check=True, cwd=objects)
    side = one(objects / "lib.a", mcpu="skylake")
    assert ids(side) == ["triad/loop1", "product/loop1"] * 2
    files = [f"{objects}/lib.a({name})" for name in names]
    assert [e.unit.assembly_file for e in side.entries[::2]] == files[:2]
    assert side.info.notes == [f"{files[2]}: not an ELF, PE/COFF or Mach-O file."]
    data = (objects / "lib.a").read_bytes()
    for broken in (data[:100], data[:-10], data[:66] + b"xx" + data[68:]):
        (objects / "broken.a").write_bytes(broken)
        if thin and broken == data[:-10]:
            continue  # what is cut off there is the last member's header
        assert "broken.a: " in refused(objects / "broken.a")


def test_a_database_is_read_by_its_own_module(
    tmp_path: pathlib.Path, report: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys
    import types

    from incc.report.documents import read_report

    asked: list[tuple[str, str]] = []

    def read_commit(path: str, name: str, take: Any) -> list[str]:
        asked.append((path, name))
        take(read_report(json.dumps(report).encode(), path))
        return ["A note."]

    module = types.ModuleType("incc.history.read")
    module.read_commit = read_commit  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    path = tmp_path / "perf@home.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (x)")
    sides = read_sides([str(path), f"{path}@main", f"{path}@v1@x"])
    assert asked == [(str(path), ""), (str(path), "main"), (str(path), "v1@x")]
    assert "A note." in sides[0].info.notes
    assert sides[0].info.kernels == 2
    other = written(tmp_path, "r.json", report)
    assert refused(f"{other}@main") == f"{other}: not a database, so @main cannot name a baseline in it"


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["old/report.json", "new/report.json"], ["old", "new"]),
        (["gcc.json", "clang.json"], ["gcc", "clang"]),
        (["/a/old/x/r.json", "/a/new/x/r.json"], ["old", "new"]),
        (["x.json", "x.json"], ["A", "B"]),
        (["x.json", "./x.json", "y.json"], ["A", "B", "C"]),
        (["v1/gcc.json", "v1/clang.json", "v2/gcc.json"], ["v1/gcc", "v1/clang", "v2/gcc"]),
        (["a/b/r.json", "a/c/r.json", "d/b/r.json"], ["a/b", "a/c", "d/b"]),
        (["x.json", "x.s"], ["A", "B"]),
        (["build.db@main", "build.db@dev"], ["main", "dev"]),
        (["perf.db@main", "new.json"], ["main", "new"]),
        (["-", "b/"], ["stdin", "b"]),
        (["libm-2.31.so", "libm-2.36.so"], ["libm-2.31", "libm-2.36"]),
        (["a\nb.json", "c.json"], ["a?b", "c"]),
        ([".", ".."], ["/", ".."]),
    ],
)
def test_labels(names: list[str], expected: list[str]) -> None:
    assert labels(names) == expected


@given(st.lists(st.text("ab/.-@", min_size=1, max_size=8), min_size=1, max_size=30))
def test_labels_are_distinct(names: list[str]) -> None:
    found = labels(names)
    assert len(set(found)) == len(found) == len(names)
    assert all(found)


@given(st.lists(st.sampled_from(["a", "a (2)", "b"]), max_size=6))
def test_distinct(names: list[str]) -> None:
    found = distinct(names)
    assert len(set(found)) == len(names)
    assert all(new == old or new.startswith(f"{old} (") for old, new in zip(names, found, strict=True))


def test_of_reports_for_several_cores_those_that_are_named(tmp_path: pathlib.Path) -> None:
    from comparison_fixtures import loop, report_of

    from incc.driver.sides.read import read_sides

    text = loop("\tvaddpd (%rdi,%rax), %ymm0, %ymm0\n\taddq $32, %rax\n", line=3)
    report = report_of(text, mcpu="skylake-avx512")
    report.units.extend(report_of(text, mcpu="znver4").units)
    file = tmp_path / "both.json"
    file.write_bytes(msgspec.json.encode(report))

    def sides(mcpu: str) -> list[tuple[str, list[str], int]]:
        found = read_sides([str(file)], settings_with(CODE, mcpu=mcpu))
        return [(s.info.label, [m.name for m in s.info.models], len(s.entries)) for s in found]

    assert sides("") == sides("haswell") == [("both", ["skylake-avx512", "znver4"], 2)]
    assert sides("znver4") == [("both", ["znver4"], 1)]
    assert sides("znver4,haswell,skylake-avx512") == [
        ("znver4", ["znver4"], 1),
        ("skylake-avx512", ["skylake-avx512"], 1),
    ]

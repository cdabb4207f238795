"""incc-scan: order, bad lines, worker processes, outputs."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_report_schema import SCHEMA

from incc.driver.cli.parsers import Parser
from incc.driver.commands import scan
from incc.driver.commands.scan import inputs, request
from incc.driver.commands.scan.analysis import InputAnalyser, Scan
from incc.driver.commands.scan.inputs import HexBlock
from incc.driver.commands.scan.options import COMMAND
from settings_fixtures import settings_with

REPORT = jsonschema.Draft202012Validator(SCHEMA)
BLOCKS = ["4801c0", "480fafc3ebfa", "c5fd58c1", "90", "48ffc975fb", "f20f59c1f20f58c1"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    status = scan.main(["-mcpu=skylake", *arguments])
    printed = capsys.readouterr()
    return status, printed.out.splitlines(), printed.err


def kernels(line: str) -> dict[str, Any]:
    """The kernel of a report on one block, by core."""
    return {unit["model"]["name"]: unit["kernels"][0] for unit in json.loads(line)["units"]}


def write(folder: pathlib.Path, lines: list[str]) -> str:
    file = folder / "blocks.txt"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def test_cycles_in_the_order_of_the_input(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines, errors = run(capsys, "--format=cycles", write(tmp_path, [f"{b} 1.00 name" for b in BLOCKS]))
    assert (status, errors) == (0, "")
    assert [line.split()[0] for line in lines] == BLOCKS
    assert lines[0] == "4801c0 1"
    assert lines[-1] == "f20f59c1f20f58c1 8"


def test_pipes_without_an_end_are_cut(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "_MOST_BLOCKS", 3)
    with subprocess.Popen(["yes", "90"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        pipe = f"/dev/fd/{endless.stdout.fileno()}"
        status, lines, errors = run(capsys, "--format=cycles", pipe)
        endless.kill()
    assert (status, len(lines)) == (1, 3)
    assert errors == f"incc-scan: error: {pipe}: more than 3 blocks; only these are analysed\n"


def test_workers_print_the_same(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, BLOCKS * 50)
    alone = run(capsys, "--format=cycles", file)
    assert run(capsys, "--format=cycles", "-j3", file) == alone
    assert len(alone[1]) == 50 * len(BLOCKS)


def test_bad_lines_are_named_and_do_not_stop_the_rest(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, ["4801c0", "", "# a comment", "48zz", "06", "90"])
    status, lines, errors = run(capsys, "--format=cycles", file)
    assert status == 1
    assert [line.split()[0] for line in lines] == ["4801c0", "90"]
    assert f"{file}:4: " in errors
    assert f"{file}:5: offset 0x0" in errors


def test_json_is_a_report_on_each_line(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, BLOCKS)
    _, lines, _ = run(capsys, "--format=reports", file)
    rows = [kernels(line)["skylake"] for line in lines]
    assert [row["name"] for row in rows] == [f"{file}:{n}" for n in range(1, len(BLOCKS) + 1)]
    assert ["".join(i["encoding"] for i in row["instructions"]) for row in rows] == BLOCKS
    found = rows[0]
    assert found["cycles"] == found["simulated"]["cycles"] == found["bounds"]["loop_carried"]["cycles"] == 1
    assert found["bounds"]["prediction"]["limited_by"] == ["loop_carried"]
    assert found["unknown_instructions"] == []
    assert [i["text"] for i in found["instructions"]] == ["add %rax, %rax"]
    for line in lines:
        REPORT.validate(json.loads(line))


def test_a_prediction_is_never_below_a_bound(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Its simulation goes on without a period, at 2.99 cycles on average.
    block = "4801d8488b0e488b0e4883c7084883070148895e404889cb0f1f44000050"
    file = write(tmp_path, [block])
    assert run(capsys, "--format=cycles", file)[1] == [f"{block} 3"]
    (kernel,) = kernels(run(capsys, "--format=reports", file)[1][0]).values()
    assert kernel["cycles"] == kernel["bounds"]["prediction"]["cycles"] == 3
    assert " 3.00 " in run(capsys, file)[1][-1]


def test_counters_of_the_simulation(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A chain of three dependent additions, which is a loop: three µops an iteration, dec and jne fused.
    _, lines, _ = run(capsys, "--format=reports", write(tmp_path, ["4801c04801c048ffc975f5"]))
    counted = kernels(lines[0])["skylake"]["simulated"]
    assert sum(counted["uops"].values()) == pytest.approx(1)
    assert counted["uops"]["microcode"] == 0
    assert counted["run_cycles"] >= 2 * (counted["iterations"] - 1)
    assert set(counted["lost_slots"]) == {
        *("no_uops", "reorder_buffer", "scheduler", "group", "load_buffer", "store_buffer", "registers")
    }


def test_a_loop_is_run_as_one_and_another_block_in_copies(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Seven bytes of nop each; copies of it come from the decoders, 16 bytes a cycle, the loop from the µop cache.
    nops = "0f1f8000000000" * 3
    _, lines, _ = run(capsys, "--format=cycles", write(tmp_path, [nops, nops + "48ffc975e6"]))
    straight, loop = (float(line.split()[1]) for line in lines)
    assert straight == pytest.approx(7 * 3 / 16, rel=0.02)
    assert loop == pytest.approx(4 / 4, rel=0.02)


def test_with_bounds_the_largest_bound_is_predicted(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, BLOCKS)
    _, lines, _ = run(capsys, "--format=reports", "--bounds", file)
    rows = [kernels(line)["skylake"] for line in lines]
    assert all(row["simulated"] is None and row["bounds"]["prediction"]["by"] == "bounds" for row in rows)
    for row in rows:
        assert row["cycles"] == max(b["cycles"] for name, b in row["bounds"].items() if name != "prediction")
    _, cycles, _ = run(capsys, "--format=cycles", "--bounds", file)
    assert [float(line.split()[1]) for line in cycles] == pytest.approx([row["cycles"] for row in rows], rel=1e-5)


def test_all_stands_for_every_core(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scan.main(["-mcpu=all", "--format=reports", write(tmp_path, ["c5fd58c1"])]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert {"skylake", "skylake-avx512", "cascadelake"} <= kernels(line).keys()


def test_the_format_of_a_file_is_detected(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ".globl f\nf:\n.L1:\n\tmulsd %xmm1, %xmm0\n\tdecq %rcx\n\tjne .L1\n\tret\n"
    (tmp_path / "a.s").write_text(text)
    subprocess.run(["as", "-o", tmp_path / "object", tmp_path / "a.s"], check=True)
    for name in ("a.s", "object"):
        status, lines, errors = run(capsys, "--format=cycles", str(tmp_path / name))
        assert (status, errors, [line.split()[-1] for line in lines]) == (0, "", ["4"])
    status, lines, errors = run(capsys, "--format=cycles", str(tmp_path / "a.s"), write(tmp_path, ["90"]))
    assert (status, errors) == (0, "")
    assert lines == [f"{tmp_path / 'a.s'}:f:.L1 4", "90 0.25"]


def test_a_report_has_a_unit_for_each_core(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, ["f20f59c1f20f58c1"])
    assert scan.main(["-mcpu=skylake,znver4,SKL", "--format=reports", file]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert {core: kernel["cycles"] for core, kernel in kernels(line).items()} == {"skylake": 8, "znver4": 6}
    assert scan.main(["-mcpu=skylake,znver4", file]) == 0
    assert "on 2 cores:" in capsys.readouterr().out
    assert scan.main(["-mcpu=skylake,skylke", file]) == 1
    assert "skylake" in capsys.readouterr().err


def test_conditions_select_kernels(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a long path takes another line
    file = pathlib.Path(write(tmp_path, BLOCKS)).name
    for output, heading in (("text", 4), ("reports", 0), ("cycles", 0)):
        _, lines, errors = run(capsys, f"--format={output}", "--where", "cycles > 3 and flop > 0", file)
        assert (len(lines) - heading, errors) == (2, "")
    alone = run(capsys, "--where=cycles>3 and flop>0", file)
    assert run(capsys, "--where", "cycles > 3 and flop > 0", "-j2", file) == alone
    for condition, message in (("cycels > 3", "cycles"), ("cycles >", "column"), ("cycles > +5%", "baseline")):
        status, lines, errors = run(capsys, f"--where={condition}", file)
        assert (status, lines) == (2, [])
        assert errors.startswith("incc-scan: error: --where: ")
        assert message in errors


def test_unknown_cores_and_missing_files_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert scan.main(["-mcpu=nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err
    assert scan.main(["-mcpu=skylake", "/nonexistent/blocks"]) == 1
    assert "/nonexistent/blocks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("asm", b"", "not analysed: the file has no instruction"),
        ("asm", b"\t.data\nx:\t.long 1\n", "not analysed: the file has no instruction"),
        ("asm", b"\x7fELF\x02\x01\x00\x00 text", "not assembly but an ELF file; incc-scan reads objects"),
        ("asm", b'{\n  "schema_version": "1.0"}', "not assembly but JSON; incc-report and incc-diff read reports"),
        ("asm", b"\tnop\x00\n", "not assembly: it contains NUL bytes"),
        ("obj", b"", "the file is empty"),
        ("", b"", "the file is empty"),
        ("obj", b"\t.text\n", "not an ELF, PE/COFF or Mach-O file"),
    ],
)
def test_files_of_another_format_are_refused(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], kind: str, content: bytes, message: str
) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    options = [f"--input-format={kind}"] if kind else []
    status, lines, errors = run(capsys, *options, "--format=reports", str(file))
    assert (status, lines) == (1, [])
    assert errors == f"incc-scan: error: {file}: {message}\n"


def test_reports_are_no_input(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    file.write_text('{"schema_version": "1.0"}\n')
    assert run(capsys, str(file))[::2] == (
        1,
        f"incc-scan: error: {file}: not assembly but JSON; incc-report and incc-diff read reports\n",
    )


def test_a_function_that_does_not_exist_is_named(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.s"
    file.write_text("f:\n1:\taddq $1, %rax\n\tjne 1b\n")
    assert run(capsys, "-mcpu=skylake", "--function=nope", str(file))[2] == (
        "incc-scan: note: no loop to analyse in a function named nope\n"
    )


def test_assembly_files(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "a.s"
    good.write_text(".L1:\n\tmulsd %xmm1, %xmm0\n\tdecq %rcx\n\tjne .L1\n")
    bad = tmp_path / "b.s"
    bad.write_text(".L1:\n\tfrobnicate %rax\n\tdecq %rcx\n\tjne .L1\n")
    status, lines, errors = run(capsys, "--input-format=asm", "--format=reports", str(bad), str(good))
    assert status == 1
    assert f"{bad}:2: " in errors
    assert [kernels(line)["skylake"]["cycles"] for line in lines] == [1, 4]


@given(st.binary(max_size=40))
def test_any_line_is_analysed_or_named(code: bytes) -> None:
    analyser = InputAnalyser(Scan(cores=[settings_with(mcpu="skylake")], format="reports"))
    outcome = analyser(HexBlock("x", 7, code.hex()))
    assert len(outcome.reports) + len(outcome.problems) == 1
    assert all(message.startswith("x:7: ") for message in outcome.problems)


def test_former_spellings_of_options_still_work(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, BLOCKS)
    for former, form in (("table", "text"), ("json", "reports"), ("cycles", "cycles")):
        assert run(capsys, f"--output={former}", file) == run(capsys, f"--format={form}", file)
    lines = run(capsys, "--format=cycles", file)[1]
    assert run(capsys, "--format=cycles", f"--output={tmp_path / 'x'}", file) == (0, [], "")
    assert (tmp_path / "x").read_text().splitlines() == lines


def test_top_shows_the_kernels_with_the_most_to_gain(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, BLOCKS)
    _, lines, _ = run(capsys, "--format=cycles", file)
    for form in ("cycles", "reports", "text"):
        _, shown, _ = run(capsys, f"--format={form}", "--top=1", "-j2", file)
        assert form == "text" or len(shown) == 1 < len(lines)
    # Those that are chosen keep their order.
    _, some, _ = run(capsys, "--format=cycles", f"--top={len(lines) - 1}", file)
    assert some == [line for line in lines if line in some]
    assert run(capsys, "--format=cycles", "--top=1000", file)[1] == lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-j0"], "-j needs a number above 0, not '0'"),
        (["--top=-1"], "--top needs a number above 0, not '-1'"),
        (["--reports=x"], "--reports requires -p"),
        (["--cluster=local", "-j2"], "--cluster and -j cannot be combined"),
        (["--cluster=local:2", "--measure"], "--measure requires --cluster=local:1"),
    ],
)
def test_mistakes_in_options_are_explained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scan.main([*arguments, "x.s"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--output=cycles", "x.s"],
        ["--output=reports", "x.s"],
        ["--output=json", "x.s"],
        ["--output=file", "x.s"],
        ["--json", "--where=cycles > 3", "x.s"],
        ["-o", "folder-1.1", "x.s"],
        ["-o", "file", "x.s"],
        ["-o", "new", "folder-1.1"],
    ],
)
def test_another_machine_makes_the_same_scan(
    words: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here / "folder-1.1", there / "file", there / "new"):
        folder.mkdir(parents=True)
    (here / "file").touch()
    monkeypatch.setattr(request, "responding", lambda scan: scan)
    words = ["-mcpu=skylake", *words]
    monkeypatch.chdir(here)
    asked = request.requested_scan(Parser(COMMAND).parse_args(words))
    monkeypatch.chdir(there)
    made = request.responder_of(request.encoded_scan(words, asked))
    assert isinstance(made, Scan)
    if asked.condition and made.condition:  # conditions are equal if their texts are
        assert made.condition.text == asked.condition.text
        made = replace(made, condition=asked.condition)
    assert made == asked


def test_an_output_that_cannot_be_written(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, BLOCKS)
    output = tmp_path / "none" / "a.txt"
    assert scan.main(["-mcpu=skylake", "-o", str(output), file]) == 2
    assert capsys.readouterr().err == f"incc-scan: error: {output}: No such file or directory\n"


def test_function_selects(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "".join(
        f".globl {f}\n.type {f}, @function\n{f}:\n.L{f}:\n add $1, %rax\n dec %rcx\n jne .L{f}\n ret\n" for f in "fg"
    )
    (tmp_path / "x.s").write_text(text)
    _, lines, _ = run(capsys, "--format=cycles", "--function=g", str(tmp_path / "x.s"))
    assert [line.rpartition(":")[2].split()[0] for line in lines] == [".Lg"]

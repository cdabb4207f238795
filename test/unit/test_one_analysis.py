"""The same hundred kernels through every command and through Python: the same numbers everywhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from generated_kernels import some_statements

import incc
from incc.driver.commands import mca, scan

COUNT = 100
CPUS = ("skylake", "znver4", "bonnell")


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """What must be the same: the prediction and all bounds as fractions, what limits the kernel, critical path."""

    prediction: str
    bounds: tuple[str, ...]
    limits: tuple[str, ...]
    critical_path: int


def numbers_of(kernel: dict[str, Any]) -> Numbers:
    bounds = dict(kernel["bounds"])
    prediction = bounds.pop("prediction")
    assert kernel["cycles"] == prediction["cycles"] >= max(bound["cycles"] for bound in bounds.values())
    return Numbers(
        prediction=prediction["exact"],
        bounds=tuple(bounds[name]["exact"] for name in sorted(bounds)),
        limits=tuple(prediction["limited_by"]),
        critical_path=kernel["critical_path"]["cycles"],
    )


class Files(msgspec.Struct, frozen=True):
    assembly: Path
    object: Path
    machine_code: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A hundred loops, each at the start of a line so that it is the same as machine code without a place."""
    folder = tmp_path_factory.mktemp("kernels")
    made = Files(folder / "kernels.s", folder / "kernels.o", folder / "kernels.txt")
    functions = []
    for n in range(COUNT):
        body = "\n\t".join(some_statements(n, old=True))
        head = f"\t.p2align 6\n\t.globl f{n}\n\t.type f{n}, @function\nf{n}:\n.L{n}:\n"
        functions.append(f"{head}\t{body}\n\tdec %r15\n\tjne .L{n}\n\tret\n")
    made.assembly.write_text("\t.text\n" + "".join(functions))
    subprocess.run(["as", "-o", made.object, made.assembly], check=True)
    report = incc.analyze(made.assembly, mcpu="skylake", what_ifs=False)
    codes = [
        b"".join(i.encoding for i in result.kernel.instructions).hex()
        for unit in report._found.units
        for result in unit.results
    ]
    made.machine_code.write_text("\n".join(codes) + "\n")
    return made


@pytest.fixture(scope="module", params=CPUS)
def expected(request: pytest.FixtureRequest, files: Files) -> tuple[str, list[Numbers]]:
    """A core, and what Python says of the kernels on it."""
    report = incc.analyze(files.assembly, mcpu=request.param)
    assert len(report) == COUNT
    return request.param, [numbers_of(dict(kernel.to_dict())) for kernel in report.kernels]


def printed(capsys: pytest.CaptureFixture[str], command: Callable[[list[str]], int], *arguments: str) -> str:
    assert command(list(arguments)) == 0
    return capsys.readouterr().out


def test_python(files: Files, expected: tuple[str, list[Numbers]]) -> None:
    cpu, numbers = expected
    report = incc.analyze(files.object, mcpu=cpu, input="obj", what_ifs=False)
    assert [numbers_of(dict(kernel.to_dict())) for kernel in report.kernels] == numbers
    for code, kernel, wanted in zip(files.machine_code.read_text().split(), report.kernels, numbers, strict=True):
        assert kernel.cycles == float(kernel.exact_cycles) == kernel.row()["cycles"]
        assert str(kernel.exact_cycles) == wanted.prediction
        (alone,) = incc.analyze(code, mcpu=cpu, input="hex", what_ifs=False)
        assert numbers_of(dict(alone.to_dict())) == wanted


def test_incc_mca(files: Files, expected: tuple[str, list[Numbers]], capsys: pytest.CaptureFixture[str]) -> None:
    cpu, numbers = expected
    report = json.loads(printed(capsys, mca.main, f"-mcpu={cpu}", "--auto", "--json", str(files.assembly)))
    assert [numbers_of(kernel) for kernel in report["units"][0]["kernels"]] == numbers
    text = printed(capsys, mca.main, f"-mcpu={cpu}", "--auto", "-v", str(files.assembly))
    shown = re.findall(r"^  Prediction +([\d.]+)", text, re.MULTILINE)
    assert [float(cycles) for cycles in shown] == pytest.approx([value(n.prediction) for n in numbers], abs=0.0051)


def value(fraction: str) -> float:
    numerator, _, denominator = fraction.partition("/")
    return int(numerator) / int(denominator or 1)


@pytest.mark.parametrize("kind", ["asm", "obj", "hex"])
def test_incc_scan(
    files: Files, expected: tuple[str, list[Numbers]], capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    cpu, numbers = expected
    file = {"asm": files.assembly, "obj": files.object, "hex": files.machine_code}[kind]

    def lines(output: str) -> list[str]:
        return printed(
            capsys, scan.main, f"-mcpu={cpu}", f"--input-format={kind}", f"--output={output}", str(file)
        ).splitlines()

    reports = [json.loads(line) for line in lines("json")]
    assert [numbers_of(k) for report in reports for unit in report["units"] for k in unit["kernels"]] == numbers
    predictions = [value(n.prediction) for n in numbers]
    assert [float(line.split()[-1]) for line in lines("cycles")] == pytest.approx(predictions, rel=1e-5)
    shown = re.findall(r"^ *\d+ .*?(\d+\.\d\d) ", "\n".join(lines("table")), re.MULTILINE)
    assert [float(cycles) for cycles in shown] == pytest.approx(predictions, abs=0.0051)


def test_incc(files: Files, expected: tuple[str, list[Numbers]], tmp_path: Path) -> None:
    cpu, numbers = expected
    out = tmp_path / "report.json"
    path = [p for p in sys.path if p]
    code = f"import sys; sys.path[:0] = {path!r}; from incc.driver.commands.incc import main; sys.exit(main())"
    options = [f"--analyze={out}", "--analyze-format=json", f"--analyze-mcpu={cpu}"]
    arguments = ["--incc-cc=gcc", "-c", str(files.assembly), "-o", str(tmp_path / "x.o")]
    subprocess.run([sys.executable, "-c", code, *options, *arguments], check=True, cwd=tmp_path)
    report = json.loads(out.read_text())
    assert [numbers_of(kernel) for kernel in report["units"][0]["kernels"]] == numbers

"""The loops that stream through arrays on AArch64: the lines that they move, and the results in an emulator."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from incc.driver.commands import bench, bench_memory
from incc.measuring.streams import aarch64, study
from incc.measuring.streams.fit import core_times, fit
from incc.measuring.streams.loops import UNROLL, StreamLoop, loops, widths
from incc.models.loading import load

if TYPE_CHECKING:
    from pathlib import Path

ASSEMBLER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"

DRIVER = """
#include <stdio.h>
void loop(double *, double *, double *, double *, long);
static double arrays[4][128];
int main(void) {
  for (int n = 0; n < 4; ++n)
    for (int i = 0; i < 128; ++i)
      arrays[n][i] = 1000 * n + i + (n == 3);
  loop(arrays[0], arrays[1], arrays[2], arrays[3], 3);
  for (int i = 0; i < 128; ++i)
    printf("%.0f ", arrays[0][i]);
}
"""


def expected(name: str) -> list[float]:
    """Return the first array after three iterations."""
    places = range(128)
    after = {
        "load": lambda i: i,
        "store": lambda i: 1,
        "copy": lambda i: 1000 + i,
        "update": lambda i: i,
        "triad": lambda i: 1000 + i + 2000 + i,
        "schoenauer": lambda i: 1000 + i + (2000 + i) * (3001 + i),
    }[name]
    return [after(i) if i < 3 * UNROLL // 8 else i for i in places]


@pytest.mark.skipif(shutil.which(ASSEMBLER) is None, reason=f"no {ASSEMBLER}")
@pytest.mark.skipif(shutil.which(EMULATOR) is None, reason=f"no {EMULATOR}")
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_loops_compute_what_their_names_say(tmp_path: Path, bits: int) -> None:
    (tmp_path / "driver.c").write_text(DRIVER)
    for loop in loops([bits]):
        text = aarch64.text_of_function(loop.text("aarch64"), loop.bits, loop.non_temporal)
        (tmp_path / "loop.s").write_text(f".global loop\nloop:\n{text}")
        command = [ASSEMBLER, "-static", "-o", "a.out", "driver.c", "loop.s"]
        subprocess.run(command, cwd=tmp_path, check=True)
        emulated = [EMULATOR, "-cpu", f"max,sve{bits}=on,sve-default-vector-length={bits // 8}", "./a.out"]
        output = subprocess.run(emulated, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        assert [float(word) for word in output.split()] == expected(loop.name), loop


@pytest.mark.parametrize("loop", list(loops([128, 512])))
def test_loops_move_the_lines_that_their_names_say(loop: StreamLoop) -> None:
    lines = core_times(loop, load("a64fx"), line=256).times.traffic.missing(1 << 15)
    loads = {"load": 1, "store": 0, "copy": 1, "update": 1, "triad": 2, "schoenauer": 3}[loop.name]
    stores = loop.name != "load"
    allocated = stores and loop.name != "update" and not loop.non_temporal
    per_iteration = [loads, allocated, stores and not loop.non_temporal, loop.non_temporal]
    assert [lines.read, lines.allocate, lines.written, lines.direct] == per_iteration


def test_streams_of_a_simulated_core_show_its_memory_hierarchy() -> None:
    core = load("a64fx")
    assert core.memory is not None
    machine = bench_memory._simulated(core, frozenset())
    assert machine.bits == (128, 512)
    wanted = study.points(machine.levels, machine.bits, 1, quick=False)
    figures = {p: machine.streams.measure(p).cycles for p in wanted if p.bytes & p.bytes - 1 == 0}
    for level in fit(figures, machine.levels, machine.line, core).levels:
        assert level.error < 0.03


def test_widths_of_vectors() -> None:
    """Vectors of 384 bits, which some emulators have, do not fill an iteration."""
    assert [widths("aarch64", (), bits) for bits in (0, 128, 256, 512, 384)] == [
        [128], [128], [128, 256], [128, 512], [128],
    ]  # fmt: skip


def test_a_core_of_another_instruction_set_is_not_measured_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert bench.main(["--memory", "-mcpu=a64fx"]) == 1
    assert "AArch64 code cannot be measured on x86_64" in capsys.readouterr().err

"""What flags bring: loops before and after, matched by function and line."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.hints.trials import flag_sets, follow_ups, trial
from settings_fixtures import settings_with
from struct_fixtures import filled

SCALAR = "\tvaddsd (%rdi,%rax,8), %xmm0, %xmm0\n\tincq %rax\n\tcmpq %rdx, %rax\n"
PACKED = "\tvaddpd (%rdi,%rax,8), %ymm0, %ymm0\n\taddq $4, %rax\n\tcmpq %rdx, %rax\n"


def unit(*loops: tuple[str, int, str], arguments: tuple[str, ...] = ("-O3",)) -> t.UnitReport:
    """A unit with loops: (function, line, body)."""
    text = '\t.file 1 "x.c"\n'
    for number, (function, line, body) in enumerate(loops):
        start = f"{function}:\n" if not number or loops[number - 1][0] != function else ""
        text += f"{start}\t.loc 1 {line}\n.L{number}:\n{body}\tjne .L{number}\n"
        if number + 1 == len(loops) or loops[number + 1][0] != function:
            text += "\tret\n"
    made = Unit(
        assembly=text,
        assembly_file="x.s",
        source="x.c",
        compiler="gcc",
        compiler_version="12.2.0",
        command=("gcc", *arguments),
    )
    settings = settings_with(mcpu="skylake-avx512", timeline_iterations=0)
    return analyze_units([made], settings).units[0]


def loops_of(before: t.UnitReport, after: t.UnitReport) -> list[Any]:
    return [*trial(["-fassociative-math"], before, after).loops]


def test_sets_of_flags() -> None:
    sets = flag_sets([unit(("f", 3, SCALAR), ("g", 9, SCALAR))])
    reorder = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
    assert sets == [reorder]
    divide = "\tvmovsd (%rdi,%rax,8), %xmm0\n\tvdivsd %xmm1, %xmm0, %xmm0\n\tvmovsd %xmm0, (%rsi,%rax,8)\n\tincq %rax\n"
    several = flag_sets([unit(("f", 3, SCALAR), ("g", 9, divide))])
    assert several == [reorder, ("-funsafe-math-optimizations",), (*reorder, "-funsafe-math-optimizations")]
    assert flag_sets([unit()]) == []


def test_hints_on_the_new_code_are_followed_as_well() -> None:
    reorder = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
    after = [unit(("f", 3, PACKED), arguments=("-O3", *reorder))]
    ((*flags,),) = follow_ups(reorder, after, reorder)
    assert flags[:3] == [*reorder]
    assert "-fvariable-expansion-in-unroller" in flags
    # All flags that were suggested before are tried together anyway.
    assert follow_ups(reorder, after, flags) == []


def test_measurements_confirm_a_gain() -> None:
    before, after = unit(("f", 3, SCALAR)), unit(("f", 3, PACKED), ("f", 3, SCALAR))
    before.kernels[0].measured = filled(t.MeasurementReport, {"cycles": 4.2})
    after.kernels[0].measured = filled(t.MeasurementReport, {"cycles": 4.8})
    (loop,) = loops_of(before, after)
    assert (loop.measured_before, loop.measured_after, loop.measured_gain) == (4.2, 4.8, 2.5)
    assert loop.text.endswith("4 times as fast; measured: 3.5 times as fast")


def test_four_times_the_work_in_the_same_time() -> None:
    (loop,) = loops_of(unit(("f", 3, SCALAR)), unit(("f", 3, PACKED), ("f", 3, SCALAR)))
    assert (loop.before, loop.after, loop.work, loop.gain) == (4.0, 4.0, 4.0, 3.0)
    assert loop.text == "4 → 4 cycles per iteration, for 4 times the work; 4 → 1 per element: 4 times as fast"


def test_loops_are_matched_by_function_and_line() -> None:
    before = unit(("f", 3, SCALAR), ("f", 30, SCALAR), ("g", 50, SCALAR))
    after = unit(("f", 3, SCALAR), ("f", 29, PACKED), ("f", 30, SCALAR), ("g", 50, SCALAR))
    assert [loop.gain for loop in loops_of(before, after)] == [0.0, 3.0, 0.0]
    assert [loop.text.endswith("no gain") for loop in loops_of(before, after)] == [True, False, True]


def test_a_loop_that_is_gone() -> None:
    first, second = loops_of(unit(("f", 3, SCALAR), ("f", 30, SCALAR)), unit(("f", 3, SCALAR)))
    assert first.gain == 0.0
    assert (second.after, second.gain) == (None, None)
    assert "no longer exists" in second.text


def test_the_only_loop_of_a_function_may_move_anywhere() -> None:
    (loop,) = loops_of(unit(("f", 3, SCALAR)), unit(("f", 300, PACKED)))
    assert loop.gain == 3.0


def test_what_is_called_is_not_compared() -> None:
    called = f"\tcall exp\n{SCALAR}"
    (loop,) = loops_of(unit(("f", 3, called)), unit(("f", 3, PACKED)))
    assert loop.gain is None
    assert "excluding called functions" in loop.text


def test_a_unit_that_could_not_be_compiled() -> None:
    found = trial(["-fassociative-math"], unit(("f", 3, SCALAR)), None, "not analysed")
    assert (found.problem, found.loops) == ("not analysed", [])


def test_another_place_of_the_same_code_is_no_gain() -> None:
    before, after = unit(("f", 3, SCALAR)), unit(("f", 3, SCALAR))
    places = {"rule": "code-placement", "text": "", "evidence": {"cycles_at": {"0": 3.0, "16": 5.0}}, "flags": []}
    before.kernels[0].hints = [filled(t.Hint, places)]
    after.kernels[0].cycles = 4.5
    after.kernels[0].hints = []
    (loop,) = loops_of(before, after)
    assert (loop.before, loop.after, loop.gain) == (4.0, 4.5, 0.0)
    assert loop.element_after == 4.5
    assert loop.text.endswith("4 → 4.5 per element: no gain")
    # Below all of them it is a gain, above them a loss; and a flag that aligns the loop is there to choose a place.
    after.kernels[0].cycles = 2.0
    assert loops_of(before, after)[0].gain == 1.0
    after.kernels[0].cycles = 8.0
    assert loops_of(before, after)[0].gain == -0.5
    after.kernels[0].cycles = 3.0
    before.kernels[0].hints = [replace(before.kernels[0].hints[0], flags=["-fassociative-math"])]
    assert loops_of(before, after)[0].gain > 0.3

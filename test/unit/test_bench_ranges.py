"""bench/ranges.py: its cases, rows and summary; nothing here depends on time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import ranges
from msgspec.structs import replace

from incc.frontends.isa import APART

ROW = ranges.Row(name="f", cycles=2, least=1.5, most=3, measured={"aligned": 2.0, "malloc": 3.05, "4 KiB apart": 3.3})


def test_there_are_ten_placements_of_which_the_first_is_the_usual_one() -> None:
    assert len(ranges.PLACEMENTS) == 10
    assert next(iter(ranges.PLACEMENTS.values())) == APART


def test_a_measurement_is_inside_up_to_the_difference_of_two_readings() -> None:
    assert ROW.outside == {"4 KiB apart": 3.3}
    assert ranges.line(ROW).split() == ["f", "2.00", "1.50", "3.00", "2.00", "3.30", "2/3", "outside"]
    assert not replace(ROW, most=None).outside
    shares = list(ranges.summary([ROW, replace(ROW, most=4.0), replace(ROW, least=2.5, most=4.0)]))
    assert shares[0] == "of 3 loops: all placements inside 33 %, placements inside 77.8 %"
    assert shares[1].startswith("of 2 loops that are right for aligned arrays: all placements inside 50 %")


def test_each_code_is_taken_once_and_the_choice_is_even(tmp_path: Path) -> None:
    file = tmp_path / "loops.txt"
    loads = ["488b07ffc975f9 1.0", "488b06ffc975f9", "# nothing", "488b07ffc975f9", "48ffc0ffc975f9", "488b02ffc975f9"]
    file.write_text("\n".join(loads))

    def cases() -> Iterator[ranges.Case]:
        yield from ranges.written(file, "znver4")

    assert [case.name.strip() for case in ranges.chosen(cases(), 100)] == ["loops:1", "loops:2", "loops:6"]
    assert len(ranges.chosen(cases(), 2)) == 2
    file.write_text("not hexadecimal")
    with pytest.raises(ValueError, match="non-hexadecimal"):
        list(cases())

"""The timeline page: complete in itself, its data what the report says, nothing in the text can end the script."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from incc.driver.pipeline import Settings, analyze_units
from incc.driver.views.html import render
from incc.frontends.unit import Unit

LOOP = ".L1:\n\tvaddpd (%rsi), %ymm0, %ymm0\n\taddq $32, %rsi\n\tcmpq %rsi, %rdx\n\tjne .L1\n"


def report(text: str = LOOP, name: str = "a.s", iterations: int = 3) -> dict[str, Any]:
    settings = Settings(mcpu="skylake", regions="loops", timeline_iterations=iterations)
    return analyze_units([Unit(text, name)], settings)


def data(page: str) -> list[dict[str, Any]]:
    found = re.search(r"^const kernels = (.*);$", page, re.MULTILINE)
    assert found
    kernels: list[dict[str, Any]] = json.loads(found[1])
    return kernels


def test_every_event_is_there() -> None:
    made = report()
    (kernel,) = data(render(made))
    timeline = made["units"][0]["kernels"][0]["timeline"]
    assert len(kernel["events"]) == 3 * 4
    for shown, event in zip(kernel["events"], timeline["events"], strict=True):
        times = ("dispatched", "earliest", "ready", "started", "executed", "retired")
        assert shown[:8] == [event[key] for key in ("iteration", "instruction", *times)]
        assert event["dispatched"] <= event["earliest"] <= event["started"] <= event["executed"] < event["retired"]
    assert kernel["cycles"] == timeline["cycles"]
    assert [0, 0, 1, "ymm0", 4] in kernel["dependencies"]


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = render(report())
    assert not re.search(r"https?://|src=|@import|url\(", page)
    assert "@DATA@" not in page
    assert "@TITLE@" not in page


def test_names_cannot_break_out_of_the_page() -> None:
    made = report()
    kernel = made["units"][0]["kernels"][0]
    kernel["function_name"] = "f</script><script>alert(1)</script>"
    page = render(made)
    scripts: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "script":
                scripts.append(tag)

    Reader().feed(page)
    assert len(scripts) == 1
    assert data(page)[0]["title"].startswith("f</script><script>alert(1)</script>, ")


def test_no_timeline_is_an_error() -> None:
    with pytest.raises(ValueError, match="timeline"):
        render(report(iterations=0))

"""incc-build: for which programs incc stands in, and what a build finds in its environment."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from incc.driver.builds.workers import Queue
from incc.driver.commands import build
from incc.driver.commands.build import LAUNCHERS, make_links, stands_for
from incc.frontends.gcc_wrapper.compiler import programs

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "name", ["gcc", "/usr/bin/x86_64-linux-gnu-g++-12", "clang++-19", "f95", "c99", "ccache", "icx"]
)
def test_what_incc_stands_for(name: str) -> None:
    assert stands_for(name)


@pytest.mark.parametrize("name", ["gcc-ar", "clang-format-19", "ccache-swig", "distccd", "gcov", "cc1", "incc", ""])
def test_what_incc_does_not_stand_for(name: str) -> None:
    assert not stands_for(name)


def test_all_parts_know_the_same_launchers() -> None:
    """What is found to be incc has to be known by it, and to stand behind it where CMake puts it in front."""
    front = (ROOT / "front" / "names.cpp").read_text(encoding="utf-8")
    listed = re.search(r"Launchers\[\] = \{([^}]*)\}", front)
    assert listed
    assert set(LAUNCHERS) <= set(re.findall(r'"(\w+)"', listed[1]))
    package = (ROOT / "cmake" / "InccConfig.cmake").read_text(encoding="utf-8")
    behind = re.search(r'MATCHES "\^\(\.\*/\)\?\(([\w|]+)\)\$"', package)
    assert behind
    assert sorted(behind[1].split("|")) == sorted(LAUNCHERS)


def test_links_lead_to_incc_for_what_is_in_path(tmp_path: Path) -> None:
    place, incc = tmp_path / "bin", tmp_path / "incc"
    place.mkdir()
    for name in ("gcc", "ccache", "ld", "g++-12"):
        (place / name).touch(0o755)
    (place / "clang").touch(0o644)
    incc.touch(0o755)
    (place / "cc").symlink_to(incc)
    assert programs(f"{place}:/no/where", stands_for, str(incc)) == ["ccache", "g++-12", "gcc"]
    environment = {"PATH": str(place), "XDG_DATA_HOME": str(tmp_path / "data")}
    for _ in range(2):
        links = make_links(environment, str(incc), Queue(str(tmp_path / "reports")))
        assert {name: os.readlink(Path(links) / name) for name in os.listdir(links)} == dict.fromkeys(
            ["ccache", "g++-12", "gcc"], str(incc)
        )


def test_a_report_that_is_written_twice_counts_once(tmp_path: Path) -> None:
    grown = build._Grown(str(tmp_path / "manifest.jsonl"))
    names = ["a.c-1.json", 'x"y\\.json', "a.c-1.json", "b.c-1.json"]
    lines = [
        json.dumps({"digest": "", "report": name, "source": '"report":"no"'}, separators=(",", ":")) for name in names
    ]
    (tmp_path / "manifest.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert build._reports_in(grown.lines()) == 3


def test_an_unknown_core_ends_the_build_before_it_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    started = tmp_path / "started"
    assert build.main(["--mcpu=skylake,skylaek", "-o", str(tmp_path / "r"), "--", "touch", str(started)]) == 2
    assert "no machine model named 'skylaek'; did you mean skylake" in capsys.readouterr().err
    assert not started.exists()

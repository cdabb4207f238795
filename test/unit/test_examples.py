"""The example of a workflow: what it runs exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="no PyYAML")

WORKFLOW = Path(__file__).parents[2] / "examples" / "github" / "loops.yml"


def commands() -> list[list[str]]:
    """The words of incc's commands in the workflow, one by one."""
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    # YAML reads the key "on" as true.
    assert workflow["name"] == "loops"
    assert workflow[True] == ["push", "pull_request"]
    steps = workflow["jobs"]["loops"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    return [words for words in (shlex.split(line.partition(">>")[0]) for line in lines) if words[0].startswith("incc-")]


def test_the_workflow_runs_what_there_is() -> None:
    from incc.driver.cli.parsers import Parser
    from incc.driver.commands import build, diff
    from incc.driver.commands import report as rank

    parsers = {each.COMMAND.name: Parser(each.COMMAND) for each in (build, diff, rank)}
    found = commands()
    assert {words[0] for words in found} == set(parsers)
    for words in found:
        # Ends the process where an option does not exist, or has another value.
        parsers[words[0]].parse_args(words[1:])


def test_its_folders_are_those_that_were_written() -> None:
    found = commands()
    written = {words[words.index("-o") + 1] for words in found if words[0] == "incc-build"}
    read = {word for words in found if words[0] != "incc-build" for word in words if re.fullmatch(r"reports\S*", word)}
    assert read == written == {"reports", "reports-before"}

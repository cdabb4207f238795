"""The faults of a run: crashes, undocumented exit statuses, leftovers and unequal results."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from test.fuzz.execute import CPU_SECONDS, MEMORY, SANITIZED, Outcome, execute
from test.fuzz.runs import Run

STATUSES = frozenset((0, 1, 2))
"""The documented exit statuses of commands; a run of incc ends as the compiler does."""
_STATUSES_OF_COMMANDS = frozenset((126, 127))
"""Further statuses of incc-build and incc-run, for a command that cannot be executed or is not found."""

_CRASHES = (
    re.compile(r"^Traceback \(most recent call last\):.*?^\w[^\n]*$", re.DOTALL | re.MULTILINE),
    re.compile(r"^Exception ignored in.*", re.DOTALL | re.MULTILINE),
    re.compile(r"^Fatal Python error.*", re.DOTALL | re.MULTILINE),
    # Of `^.*` without an end, each line of a long output would look for the text in all that follow.
    re.compile(r"^[^\n]*(ERROR: AddressSanitizer|runtime error: ).*", re.DOTALL | re.MULTILINE),
)
_PAGES, _TABLES = (".html", ".svg"), (".csv",)
_HARMS = (
    (
        "a control character",
        (*_PAGES, *_TABLES, ".dot", ".graphml", ".yaml", ".md", ".txt", ".xml", "a message", "standard output"),
        re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
    ),
    ("a script of the input", _PAGES, re.compile(r"<script>alert\(1\)")),
    ("a formula of the input", _TABLES, re.compile(r"(?m)(?:^|,)\"?=1\+1")),
)
"""Harmful text: its name, the endings of the files in which it does harm, and a pattern that matches it."""


def fault_of(run: Run, top: Path) -> str:
    """Execute a run, as often as it says, and return its first fault, or ""."""
    if run.command == "incc":
        return _compiled_otherwise(run, top)
    jobs = run.again == "jobs"
    outcome = execute(_with_jobs(run, 1) if jobs else run, top)
    fault = _fault(run, outcome)
    if fault or not run.again:
        return fault
    return _difference(outcome, execute(_with_jobs(run, 2) if jobs else run, top), run.again)


def signature(fault: str) -> str:
    """Return what faults with the same cause have in common: the place and type of an exception, or the first line."""
    places = re.findall(r'File "[^"]*?/?(?:incc|dev)/([^"]*)", line (\d+)', fault)
    last = fault.strip().split("\n")[-1]
    if places:
        return f"{places[-1][0]}:{places[-1][1]}: {last.partition(':')[0]}"
    return re.sub(r"\d+", "N", fault.split("\n", 1)[0])


def _with_jobs(run: Run, jobs: int) -> Run:
    return replace(run, args=(*run.args, "-j", str(jobs)))


def _fault(run: Run, outcome: Outcome) -> str:
    """Return what is wrong with one outcome, or ""."""
    stderr = outcome.stderr.decode("utf-8", "replace")
    if crash := _crash(stderr):
        return crash
    if outcome.hung or outcome.status == -24 or outcome.cpu > CPU_SECONDS:
        return f"more than {CPU_SECONDS} s"
    if outcome.peak > MEMORY and not SANITIZED:
        return f"{outcome.peak >> 20} MiB of memory"
    statuses = STATUSES | _STATUSES_OF_COMMANDS if run.command in ("incc-build", "incc-run") else STATUSES
    if outcome.status not in statuses and not (run.streams == "reader gone" and outcome.status == -13):
        return f"exit status {outcome.status}, which is not documented: {stderr[-200:]}"
    if outcome.left:
        return f"left behind: {outcome.left}"
    unread = "std" in run.streams or run.streams == "reader gone"
    if outcome.status and not unread and not stderr + outcome.stdout.decode("latin-1"):
        return f"exit status {outcome.status} without a message"
    printed = "standard output"
    if outcome.stdout[:9].lower() == b"<!doctype" or "csv" in run.args:
        printed += _TABLES[0] if "csv" in run.args else _PAGES[0]
    written = {"a message": outcome.stderr, printed: outcome.stdout, **outcome.files}
    return next(filter(None, (_harm(name, data.decode("utf-8", "replace")) for name, data in written.items())), "")


def _harm(name: str, text: str) -> str:
    """Return what a text that a command wrote can do to its reader, or ""."""
    for what, names, pattern in _HARMS:
        if name.endswith(names) and (match := pattern.search(text)):
            return f"{what} in {name}:\n{text[max(0, match.start() - 80) : match.end() + 20]!r}"
    return ""


def _crash(stderr: str) -> str:
    for pattern in _CRASHES:
        if match := pattern.search(stderr):
            # A recursion without end is long, and where it begins and ends is of interest.
            return match[0] if len(match[0]) < 4000 else f"{match[0][:2000]}\n…\n{match[0][-2000:]}"
    return ""


def _difference(first: Outcome, second: Outcome, again: str) -> str:
    """Return how two outcomes of a run differ that should be equal, or ""."""
    how = {"twice": "the second time", "jobs": "with -j2"}[again]
    if first.status != second.status:
        return f"other exit status {how}: {first.status}, {second.status}"
    for name, one, other in (
        ("standard output", first.stdout, second.stdout),
        ("standard error", first.stderr, second.stderr),
        *((name, first.files.get(name), second.files.get(name)) for name in sorted(first.files | second.files)),
    ):
        if one != other:
            lines = [(one or b"").split(b"\n"), (other or b"").split(b"\n")]
            at = next((n for n, pair in enumerate(zip(*lines, strict=False)) if pair[0] != pair[1]), 0)
            return f"other content of {name} {how}:\n" + "\n".join(repr(text[at : at + 1])[:300] for text in lines)
    return ""


def _compiled_otherwise(run: Run, top: Path) -> str:
    """Compile with incc and with gcc, using the arguments after `--`; return a fault or the difference, or ""."""
    at = run.args.index("--")
    own = execute(replace(run, args=run.args[:at] + run.args[at + 1 :]), top)
    plain = execute(replace(run, command="gcc", args=run.args[at + 1 :]), top)
    if crash := _crash(own.stderr.decode("utf-8", "replace")):
        return crash
    if own.hung or (own.status == -24 and plain.status != -24):
        return f"more than {CPU_SECONDS} s"
    if own.status != plain.status:
        return f"exit status {own.status}, but {plain.status} of gcc: {own.stderr[-300:].decode('utf-8', 'replace')}"
    for name, data in plain.files.items():
        # -flto names its sections at random.
        if own.files.get(name) != data and "-flto" not in run.args:
            return f"incc and gcc write other content to {name}"
    return f"left behind: {own.left}" if own.left else ""

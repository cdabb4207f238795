"""Samples of a profiler, as perf script, perf report --stdio and perf annotate --stdio print them.

The layouts are those of perf-script(1), perf-report(1) and perf-annotate(1) as perf 6 prints them. Their columns depend
on options, so only what all layouts have in common is used.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from incc.frontends.isa import mnemonic
from incc.ranking.hot.records import SAMPLES, FunctionListing, HotError, HotFunction, Profile, Sample

# --- perf script ------------------------------------------------------------------------------------------------------

# A frame has an address, a symbol with an offset, and a file.
_FRAME = re.compile(
    r"^\s*([0-9a-f]{3,16})\s+(\[unknown\]|\S.*?)(?:\+0x([0-9a-f]+))?(?:\s+\((/\S*|\[[^\]]*\])[^()]*\))?\s*$"
)
_TIME = re.compile(r"\s\d+\.\d+:\s")
_LINE = re.compile(r"^\s+(\S.*?):(\d+)(?:\s.*)?$")


def script(path: str, text: str) -> Profile:
    """Return the samples of perf script: one per line, or a head with a line for each frame.

    The first frame is the place of the sample; -F +srcline adds source lines. A sample counts as many events as perf
    prints for it.
    """
    samples: list[Sample] = []
    elsewhere = 0.0
    weight = 1.0
    # The state is "between" samples, after a "head" whose frames follow, or after the first of the "frames".
    state = "between"
    fresh = False  # True if the source line of a sample may follow
    headless_chains = "\n\n" in text.strip()
    for row in text.split("\n"):
        if not row.strip():
            state, fresh = "between", False
            continue
        if fresh and (line := _LINE.match(row)) and not _FRAME.match(row):
            samples[-1] = replace(samples[-1], file=line[1], line=int(line[2]))
            fresh = False
            continue
        fresh = False
        head = _head(row)
        if head is not None:
            weight, row = head
            state = "head"
            if not row.strip():
                continue
        frame = _FRAME.match(row)
        if frame is None:
            if head is not None:
                elsewhere += weight
                state = "between"
            continue
        if state == "frames" or (state == "between" and head is None and row[:1] not in " \t"):
            continue
        if state == "between":
            weight = 1.0
        state = "frames" if (state == "head" and head is None) or headless_chains else "between"
        if frame[2] == "[unknown]":
            elsewhere += weight
            continue
        offset = int(frame[3], 16) if frame[3] else -1
        function = (frame[4] or "", int(frame[1], 16) - offset) if offset >= 0 else ("", 0)
        samples.append(Sample(symbol=frame[2], amount=weight, offset=offset, function=function))
        fresh = True
    if not samples:
        raise HotError(f"{path}: no sample of perf script names its function; run perf script with -F +sym")
    return Profile(path=path, kind="perf-script", unit=SAMPLES, samples=tuple(samples), elsewhere=elsewhere)


def _head(row: str) -> tuple[float, str] | None:
    """Return the events of a sample and the text after its head; None for another line.

    A head has a command, perhaps with blanks, the numbers of process and processor, a time, perhaps the number of
    events, and their name.
    """
    time = _TIME.search(row)
    if time is None or not any(word.partition("/")[0].isdecimal() for word in row[: time.start()].split()[1:]):
        return None
    rest = row[time.end() :]
    words = rest.split(None, 1)
    weight = 1.0
    if len(words) > 1 and words[0].isdecimal() and len(words[0]) < 30:
        weight, words = float(words[0]), words[1].split(None, 1)
    if not words or not words[0].endswith(":"):
        return None
    return weight, f" {words[1]}" if len(words) > 1 else ""


def begins_sample(row: str) -> bool:
    """Return True if a line is the head of a sample, or a whole sample: an address and a symbol."""
    return _head(row) is not None or bool(re.match(r"\s+[0-9a-f]{6,16}\s+\S", row))


# --- perf report ------------------------------------------------------------------------------------------------------

_SHARE = re.compile(r"^\s*([0-9]+\.[0-9]+)%(?:\s+([0-9]+\.[0-9]+)%)?\s+(.*)$")
_SYMBOL = re.compile(r"\[[.kugH]\]\s+(.+?)(?:\s{2,}.*)?$")


def report(path: str, text: str) -> Profile:
    """Return the shares of functions from perf report --stdio, in percent of all samples.

    With call chains (`Children`, `Self`) it is the function's own share.
    """
    functions: list[HotFunction] = []
    samples: list[Sample] = []
    total = 0.0
    heads = [row for row in text.split("\n") if row.startswith("#") and ("Overhead" in row or "Children" in row)]
    if len(heads) > 1:
        raise HotError(f"{path}: several events; print one of them (perf report --stdio -F …, perf script -e EVENT)")
    by_line = any("Source:Line" in head or "srcline" in head.lower() for head in heads)
    for row in text.split("\n"):
        match = _SHARE.match(row)
        if row.startswith("#") or match is None:
            continue
        share = float(match[2] or match[1])
        total += share
        symbol = _SYMBOL.search(match[3])
        place = re.search(r"(\S+):(\d+)\s*$", match[3]) if by_line else None
        if place:
            name = symbol[1] if symbol and symbol[1] != place[0].strip() else ""
            samples.append(Sample(symbol=name, amount=share, offset=-1, file=place[1], line=int(place[2])))
        elif symbol:
            functions.append(HotFunction(symbol[1].strip(), share, False))
    if not functions and not samples:
        raise HotError(f"{path}: no functions; run perf report with --stdio --sort=symbol")
    unnamed = total - sum(f.amount for f in functions) - sum(s.amount for s in samples)
    rest = max(100 - total, 0.0) + max(unnamed, 0.0)
    return Profile(
        path=path, kind="perf-report", unit=SAMPLES, functions=tuple(functions), samples=tuple(samples), elsewhere=rest
    )


# --- perf annotate ----------------------------------------------------------------------------------------------------

_TITLE = re.compile(r"Source code & Disassembly of (.*?)(?: for (\S+))?(?: \((\d+) samples\b.*)?$")
_INSTRUCTION = re.compile(r"^\s*(?:([0-9]+\.[0-9]+)\s*)?:\s*(?:\d+\s+)?([0-9a-f]+):\s+(\S.*)$")
_SOURCE = re.compile(r"^\s*:\s*(\d+)\s{1,4}(.*)$")
_FUNCTION = re.compile(r"^\s*:\s*(?:\d+\s+)?(?:[0-9a-f]{8,16}\s+)?<(.+)>:\s*$")


def annotate(path: str, text: str) -> Profile:
    """Return the listings of perf annotate --stdio, with source lines if there are any.

    Each instruction has its share of the function's samples, in percent.
    """
    listings: list[FunctionListing] = []
    rows: list[tuple[str, float, int]] = []
    symbol, scale, line = "", 1.0, 0
    counted = True

    def end() -> None:
        if symbol and rows:
            listings.append(FunctionListing(symbol, tuple(rows)))
        rows.clear()

    for row in text.split("\n"):
        if title := _TITLE.search(row):
            end()
            symbol, line = "", 0
            counted = counted and title[3] is not None
            scale = float(title[3] or 100) / 100
        elif function := _FUNCTION.match(row):
            end()
            symbol = function[1]
        elif instruction := _INSTRUCTION.match(row):
            rows.append((mnemonic(instruction[3]), float(instruction[1] or 0) * scale, line))
        elif source := _SOURCE.match(row):
            line = int(source[1])
    end()
    if not listings:
        raise HotError(f"{path}: no instructions of perf annotate --stdio with their functions")
    if not counted and len(listings) > 1:
        raise HotError(f"{path}: no sample counts of functions, so shares of several functions cannot be combined; "
                       "use perf annotate --stdio --percent-type=global-period, or perf script")  # fmt: skip
    return Profile(path=path, kind="perf-annotate", unit=SAMPLES, listings=tuple(listings))

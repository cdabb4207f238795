"""Import of ibench's output: throughput and latency of instruction forms, a line each.

`vaddpd-xmm_xmm_xmm-TP:    0.500 (clk cy)    [DEBUG - result: 1.000000]`; ending in -LT it is a latency. The figure may
also stand on the line below, as in the appendix of Laukemann's thesis (2020).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from incc.models.importers import ImportRequest
from incc.models.importers.benchmarks import common as benchmark
from incc.models.importers.benchmarks.common import PublishedFigures, read_lines
from incc.models.importers.common import Imported

_HEAD = re.compile(r"\s*(?P<name>[\w.]+(?:-\w*)?)-(?P<what>TP|LT)\s*:\s*(?P<rest>.*)$")
_FIGURE = re.compile(r"(?P<cycles>\d+(?:\.\d*)?)\s*\((?:clk|clock) cy(?:cles?)?\)(?:\s*\[DEBUG.*\])?\s*$")
_OTHER = re.compile(r"\s*($|#|Using frequency|\[DEBUG)")


ISAS = ("x86", "aarch64")
NEW_MODEL = ""
add_arguments = benchmark.add_arguments


def import_forms(request: ImportRequest) -> Imported:
    """Return the figures of all forms that the names in the files stand for."""
    return benchmark.import_forms(read, "ibench", request)


def read(path: str) -> Iterator[PublishedFigures | tuple[int, str]]:
    """Yield measurements, or (line, error) for a line that cannot be read. Raises ImportFailed."""
    waiting: tuple[int, str, str] | None = None
    for line, text in read_lines(path):
        if waiting is not None:
            figure = _FIGURE.match(text.strip())
            number, name, what = waiting
            waiting = None
            if figure is None:
                yield number, f"no cycles after {name}-{what}:"
                continue
            yield _measured(name, what, figure["cycles"])
            continue
        head = _HEAD.match(text)
        if head is None:
            if not _OTHER.match(text):
                yield line, f"{text.strip()!r} is no measurement: NAME-TP: 0.500 (clk cy)"
            continue
        if not head["rest"].strip():
            waiting = line, head["name"], head["what"]
            continue
        figure = _FIGURE.match(head["rest"])
        if figure is None:
            yield line, f"no cycles in {head['rest'].strip()!r}"
            continue
        yield _measured(head["name"], head["what"], figure["cycles"])
    if waiting is not None:
        yield waiting[0], f"no cycles after {waiting[1]}-{waiting[2]}:"


def _measured(name: str, what: str, cycles: str) -> PublishedFigures:
    figure = {"TP": "throughput", "LT": "latency"}[what]
    return PublishedFigures(name=name, **{figure: float(cycles)})

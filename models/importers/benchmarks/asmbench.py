"""Import of asmbench's output with the name of the form before it, as OSACA wants it (Laukemann's thesis, 2020).

    vaddpd-xmm_xmm_xmm
    Latency: 4.00 cycle
    Throughput: 0.50 cycle

and an empty line. Operands are in the order of AT&T syntax for x86.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from incc.models.importers import ImportRequest
from incc.models.importers.benchmarks import common as benchmark
from incc.models.importers.benchmarks.common import PublishedFigures, read_lines
from incc.models.importers.common import Imported

_NAME = re.compile(r"[A-Za-z][\w.]*(-\w*)?$")
_FIGURE = re.compile(r"(Latency|Throughput):\s*(\d+(?:\.\d*)?)\s*(?:cycles?|cy)\b.*$")


ISAS = ("x86", "aarch64")
NEW_MODEL = ""
add_arguments = benchmark.add_arguments


def import_forms(request: ImportRequest) -> Imported:
    """Return the figures of all forms that the names in the files stand for."""
    return benchmark.import_forms(read, "asmbench", request)


def read(path: str) -> Iterator[PublishedFigures | tuple[int, str]]:
    """Yield measurements, or (line, error) for a record that cannot be read. Raises ImportFailed."""
    name, start = "", 0
    figures: dict[str, float] = {}
    for line, text in [*read_lines(path), (0, "")]:
        text = text.strip()
        if text.startswith("#"):
            continue
        if not text:
            if name and len(figures) == 2:
                yield PublishedFigures(name=name, throughput=figures["Throughput"], latency=figures["Latency"])
            elif name:
                missing = [w for w in ("Latency", "Throughput") if w not in figures]
                yield start, f"{name} has no {' and no '.join(missing)}"
            name, figures = "", {}
        elif name:
            figure = _FIGURE.match(text)
            if figure is None or figure[1] in figures:
                yield line, f"{text!r} is not expected after {name}: Latency: 4.00 cycle, Throughput: 0.50 cycle"
                name, figures = "", {}
                continue
            figures[figure[1]] = float(figure[2])
        elif _NAME.match(text):
            name, start = text, line
        else:
            yield line, f"{text!r} is no name of an instruction form: vaddpd-xmm_xmm_xmm"

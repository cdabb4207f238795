"""Check properties that hold for every kernel, over files of references.

`bench/properties.py [-mcpu=CPU] [--worst N] FILE…`: files as those of `bench/accuracy.py --set blocks`. For each file,
first the prediction against the exact bounds: how often it is below the largest one (reading off in the middle of a
pattern may be off by a slot), and by how much at most; and one pass on its own against the critical path. Then a line
for each change for the better, one more of a busy port, a larger buffer, a dependency less: the mean of the cycles with
it over those without, the largest one, and the share of kernels that it makes slower by more than 1 and 5 %. None
should be, but for those that change the order of events: µops get their ports when they are issued, by rules that
count what waits at that time, so that more room or another port may have a chain's µops wait behind others.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Iterator
from copy import copy
from fractions import Fraction

from accuracy import core_of, read_reference
from msgspec.structs import replace

from incc import core
from incc.core import whatif
from incc.core.whatif import CoreChange, Scenario
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding.bind import bind
from incc.models.loading import load
from incc.models.model import ModelError

BUFFERS = ("rob", "rs", "load_buffer", "store_buffer", "idq")


def doubled(parameter: str) -> CoreChange:
    """A buffer twice as large, with all that it is made of."""

    def apply(s: Scenario) -> Scenario:
        bound = copy(s.bound)
        bound.pipeline = copy(bound.pipeline)
        whatif.set_parameter(bound, parameter, 2 * whatif.get_parameter(bound, parameter))
        return replace(s, bound=bound)

    return CoreChange(name=f"2 x {parameter}", text=f"with twice the {parameter}", apply=apply)


def changes(s: Scenario, base: core.Simulation) -> Iterator[CoreChange]:
    """Those for the better that the kernel could notice."""
    yield from whatif.changes(s.bound, core.analyze(s.bound), base)
    for parameter in BUFFERS:
        if whatif.get_parameter(s.bound, parameter) > 0:
            yield doubled(parameter)


def bound_of(a: core.Analysis) -> Fraction:
    """The largest exact bound, in cycles per iteration."""
    return max(a.port_bound, a.resource_bound, a.front_end_bound, a.retire_bound, a.latency_bound)


def check(file: pathlib.Path, cpu: str | None, worst: int) -> None:
    """Print what is found in one file. Raises OSError, ValueError and ModelError."""
    model = load(cpu or core_of(file))
    ratios: dict[str, list[tuple[float, str]]] = {}
    below: list[float] = []
    passes = cases = 0
    for code, _ in read_reference(file):
        kernel = decode_bytes(bytes.fromhex(code))
        s = Scenario(kernel, bind(kernel, model)[0], {})
        a, base = core.analyze(s.bound), core.simulate(s.bound)
        cases += 1
        if base.cycles_per_iteration < bound_of(a):
            below.append(float(base.cycles_per_iteration / bound_of(a)) - 1)
        passes += core.simulate(s.bound, iterations=1).cycles < a.critical_path_cycles
        text = "; ".join(i.text for i in kernel.instructions)
        for change in changes(s, base):
            cycles = whatif.simulate(change.apply(s)).cycles_per_iteration
            name = "port" if change.name.startswith("port ") else change.name
            found = float(cycles / base.cycles_per_iteration), f"{float(base.cycles_per_iteration):.2f}  {text}"
            ratios.setdefault(name, []).append(found)
    print(f"{'/'.join(file.parts[-2:])}: {cases} kernels on {model.name}")
    print(f"  below a bound: {len(below)}, by {-100 * min(below, default=0):.1f} % at most")
    print(f"  one pass shorter than the critical path: {passes}")
    print(f"  {'change':<24}{'kernels':>8}{'mean':>8}{'largest':>9}{'> 1 %':>8}{'> 5 %':>8}")
    for name, found in ratios.items():
        values = [ratio for ratio, _ in found]
        slower = [sum(v > limit for v in values) / len(values) for limit in (1.01, 1.05)]
        print(f"  {name:<24}{len(values):>8}{sum(values) / len(values):>8.3f}{max(values):>9.3f}", end="")
        print("".join(f"{100 * share:>7.1f}%" for share in slower))
        for ratio, text in sorted(found, reverse=True)[:worst]:
            if ratio > 1.01:
                print(f"      {ratio:.3f} of {text}")


def main() -> int:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-mcpu", metavar="CPU", help="the core, else by the files' names")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="also print the N kernels that lose most")
    parser.add_argument("paths", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    try:
        for file in arguments.paths:
            check(file, arguments.mcpu, arguments.worst)
    except (OSError, ModelError, ValueError) as problem:
        print(f"properties.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Count the port sets that are found correctly from times alone (docs/ports.md), on cores with known ports.

`bench/port_sets.py [--by simulation|bound] [--noise P] [--forms N] [CORE RELATIVE PORTS]…`: the forms' throughputs come
from the simulation of the model CORE, or its port bound, up to P % beside the truth; what is found, from the model
RELATIVE, is compared with CORE's own µops, ports renamed so that they agree best. For each core a line for each
answer: *measured* (nothing else explains the figures), *relative* (the relative's µops do, and others), *smallest*
(others as small), *contradiction*; and how many of them are

    right       the very µops
    as good     others, but no mixture of up to four forms tells them from the right ones
    among       not chosen, but the right ones are among the other explanations
    wrong

`--host` measures on this machine instead, with the models named as the truth. `--seed` chooses other forms, `--show N`
prints N of those that are not right, `--keep FILE` keeps the throughputs.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from incc import core
from incc.frontends.x86.kernels import decode_bytes
from incc.measuring.ports import loops as port_loops
from incc.measuring.ports.experiments import Copies, Noise
from incc.measuring.ports.sets import Usage, aligned, cycles, total, usage_of
from incc.measuring.ports.study import Findings, FormPorts, Relative, study
from incc.models.binding.bind import bind
from incc.models.loading import load
from incc.models.model import MachineModel, ModelError

CORES = [
    ("skylake", "haswell"),
    ("znver4", "znver3"),
    ("icelake-client", "skylake"),
    ("sapphirerapids", "icelake-client"),
]

ANSWERS = ("measured", "relative", "smallest", "contradiction", "unmeasured")
VERDICTS = ("right", "as good", "among", "wrong")


def chosen_forms(model: MachineModel, count: int, seed: int, host: bool) -> list[str]:
    """Forms of a model, by chance, whose copies can run together and that take a few µops."""
    found = []
    keys = sorted(model.forms())
    random.Random(seed).shuffle(keys)
    for key in keys:
        form = model.lookup(key, frozenset())
        if form is None or sum(n for _, n in form.uops) > 5 or form.divider > 30:
            continue
        # Vectors of 512 bits close ports to others while they are in flight.
        if "ZMM" in key and model.parameters["wide_vectors"]:
            continue
        # Legacy SSE keeps what is above 128 bits, once that is in use.
        if host and ("XMM" in key and not key.startswith(("VEX", "EVEX"))):
            continue
        try:
            port_loops.loop_of({key: 1}, counted=False)
        except port_loops.NotIndependent:
            continue
        found.append(key)
        if len(found) == count:
            break
    # What waits for nothing makes better blockers.
    return sorted(found, key=port_loops.waits)


def simulation(model: MachineModel) -> Callable[[Copies], float | None]:
    """Throughputs by simulation of machine code."""

    def oracle(copies: Copies) -> float | None:
        try:
            code, times = port_loops.loop_of(copies, counted=False)
        except port_loops.NotIndependent:
            return None
        bound, forms = bind(decode_bytes(code, is_loop=True, text=False), model)
        if any(form is None for form in forms):
            return None
        return float(core.simulate(bound).cycles_per_iteration) / times

    return oracle


def by_bound(model: MachineModel, truth: Mapping[str, Usage]) -> Callable[[Copies], float | None]:
    """Throughputs by the bounds of ports, issue and dividers."""
    forms = {key: model.lookup(key, frozenset()) for key in truth}
    width = model.parameters["issue_width"]

    def oracle(copies: Copies) -> float:
        uops = [(mask, n * k) for key, k in copies.items() for mask, n in truth[key]]
        slots = units = 0.0
        for key, k in copies.items():
            form = forms[key]
            assert form is not None
            slots += k * form.retire_slots
            units += k * (form.divider or form.throughput or 0)
        return max(cycles(uops, len(model.ports)), slots / width, units)

    return oracle


def on_host() -> Callable[[Copies], float | None]:
    """Throughputs on this machine: the least of three."""
    from incc.measuring.harness import Harness, MachineLoop, Measurement  # type: ignore[attr-defined]

    harness = Harness()
    harness.__enter__()

    def oracle(copies: Copies) -> float | None:
        try:
            code, times = port_loops.loop_of(copies, counted=True)
        except port_loops.NotIndependent:
            return None
        loop = MachineLoop(
            code=code, counter=port_loops.COUNTER, registers=(0x100000,) * 16, content=0x3FF0000000000000
        )
        found = [harness.measure(loop) for _ in range(2)]
        good = [m.cycles / times for m in found if isinstance(m, Measurement)]
        return min(good) if good else None

    return oracle


def disturbed(oracle: Callable[[Copies], float | None], noise: float) -> Callable[[Copies], float | None]:
    """Other figures by up to so much of them, the same ones for the same question."""

    def asked(copies: Copies) -> float | None:
        found = oracle(copies)
        chance = random.Random(zlib.crc32(repr(sorted(copies.items())).encode()))
        return None if found is None else found * (1 + chance.uniform(-noise, noise))

    return asked


def most_of_a_slot(model: MachineModel, truth: Mapping[str, Usage]) -> int:
    """Port cycles for which an issue slot of a core stands at most."""
    most = 2
    for key, usage in truth.items():
        form = model.lookup(key, frozenset())
        assert form is not None
        most = max(most, -(-total(usage) // form.retire_slots))
    return min(4, most)


def renaming(found: Findings, truth: Mapping[str, Usage], names: Sequence[str]) -> dict[str, int]:
    """The bit of each port that was found, such that sets agree best with the truth of forms with as many µops."""
    new = sorted({p for m in found.mappings for s, _ in m.uops for p in s.split(",")} - set(names))
    new += sorted({p for s in found.sets for p in s.ports} - {*names, *new})
    ports = [*names, *new]
    here, there = [], []
    single = [(m.uops[0][0].split(","), m.form) for m in found.mappings if len(m.uops) == 1]
    for set_, form in [*single, *((s.ports, s.forms[0]) for s in found.sets)]:
        mask = sum(1 << ports.index(p) for p in set_)
        # Of µops that are always together one set is found.
        same = [t for t, _ in truth[form] if t.bit_count() == mask.bit_count()]
        if same:
            here.append(mask)
            there.append(same[0])
    return dict(zip(ports, aligned(here, there, len(ports), len(names)), strict=True))


def as_good(a: Usage, b: Usage, others: Sequence[Usage], ports: int, slots: int, width: int) -> bool:
    """Return True if mixtures with other forms cannot distinguish two usages."""
    chance = random.Random(1)
    for _ in range(150):
        beside = [(mask, n * chance.randint(1, 8)) for u in chance.sample(others, min(3, len(others))) for mask, n in u]
        k = chance.randint(1, 3)
        front_end = (k * slots + sum(n for _, n in beside) / 2) / width
        times = [max(cycles([*beside, *((m, n * k) for m, n in u)], ports), front_end) for u in (a, b)]
        if abs(times[0] - times[1]) > 0.02 * max(times):
            return False
    return True


def verdict(m: FormPorts, truth: Mapping[str, Usage], bits: Mapping[str, int], ports: int, model: MachineModel) -> str:
    """One of VERDICTS."""

    def usage(uops: Sequence[tuple[str, int]]) -> Usage:
        return usage_of((sum(1 << bits.get(p, ports) for p in s.split(",")), n) for s, n in uops)

    right = truth[m.form]
    if m.how in ("contradiction", "unmeasured"):
        return "wrong"
    if usage(m.uops) == right:
        return "right"
    form = model.lookup(m.form, frozenset())
    assert form is not None
    others = sorted(set(truth.values()))
    width = model.parameters["issue_width"]
    if as_good(usage(m.uops), right, others, ports + 8, form.retire_slots, width):
        return "as good"
    return "among" if any(usage(u) == right for u in m.others) else "wrong"


def main() -> int:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cores", nargs="*", metavar="CORE RELATIVE", help="default: four cores with their predecessors")
    parser.add_argument("--by", choices=["simulation", "bound"], default="simulation")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--noise", type=float, default=0.0, metavar="P")
    parser.add_argument("--tolerance", type=float, metavar="P", help="noise that is reckoned with, default: 1 + P")
    parser.add_argument("--forms", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, metavar="N")
    parser.add_argument("--keep", metavar="FILE", default="")
    arguments = parser.parse_args()
    if len(arguments.cores) % 2:
        parser.error("cores come in pairs: CORE RELATIVE")
    pairs = list(zip(arguments.cores[::2], arguments.cores[1::2], strict=True)) or CORES
    try:
        for name, relative in pairs:
            run(name, relative, arguments)
    except (ModelError, ValueError, OSError) as problem:
        print(f"port_sets.py: {problem}", file=sys.stderr)
        return 1
    return 0


def run(name: str, relative: str, arguments: argparse.Namespace) -> None:
    """Print how it went on one core."""
    model = load(name)
    forms = chosen_forms(model, arguments.forms, arguments.seed, arguments.host)
    truth = Relative.of(model, forms).usages
    noise = arguments.noise / 100
    if arguments.host:
        oracle = on_host()
    else:
        oracle = disturbed(simulation(model) if arguments.by == "simulation" else by_bound(model, truth), noise)
    tolerance = (1 + arguments.noise if arguments.tolerance is None else arguments.tolerance) / 100
    start = time.process_time()
    found = study(
        forms,
        oracle,
        load(relative),
        ports=len(model.ports),
        issue_width=model.parameters["issue_width"],
        fused=most_of_a_slot(model, truth),
        noise=Noise(tolerance, 0.02),
        path=arguments.keep,
    )
    seconds = time.process_time() - start
    bits = renaming(found, truth, model.ports)
    table: Counter[tuple[str, str]] = Counter()
    shown = 0
    for m in found.mappings:
        which = verdict(m, truth, bits, len(model.ports), model)
        table[m.how, which] += 1
        if which != "right" and shown < arguments.show:
            shown += 1
            print(f"    {which}: {m.form}: {m.uops}, {m.how}; right: {ports_of(model, truth[m.form])} {m.notes}")
    way = "on this machine" if arguments.host else f"by {arguments.by}, {arguments.noise:g} % noise"
    print(f"{name} from {relative}, {way}: {len(forms)} forms, {found.experiments} throughputs", end="")
    print(
        f" ({found.experiments / len(forms):.1f} a form), {seconds:.0f} s; {len(found.sets)} sets of blockers,", end=""
    )
    print(f" {found.systems}{'' if found.systems_complete else ' or more'} systems of them")
    print(f"  {'answer':<15}" + "".join(f"{v:>9}" for v in VERDICTS))
    for how in ANSWERS:
        if any(table[how, v] for v in VERDICTS):
            print(f"  {how:<15}" + "".join(f"{table[how, v]:>9}" for v in VERDICTS))
    if arguments.show:
        for s in found.sets:
            print(f"    {','.join(s.ports)}: {', '.join(s.forms[:3])}")
        print(*(f"    {c}" for c in found.contradictions), sep="\n")
    sys.stdout.flush()


def ports_of(model: MachineModel, usage: Usage) -> str:
    """µops in words."""
    return "+".join(f"{n}*{','.join(p for k, p in enumerate(model.ports) if mask >> k & 1)}" for mask, n in usage)


if __name__ == "__main__":
    sys.exit(main())

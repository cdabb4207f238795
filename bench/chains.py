"""Chains compared with OSACA's, and throughputs with llvm-mca's, with the reason for each difference.

Chains are the critical path (CP) and the loop-carried dependency (LCD) of a kernel.

`bench/chains.py --osaca PROGRAM loops DIR`: `DIR/loops.jsonl.gz` has loops of compilers for AArch64 cores. OSACA
(`pip install osaca`) is run on each of them, and its figures are compared with those in the file, too.

`bench/chains.py --osaca PROGRAM expected DIR KERNELS`: `DIR/osaca_expected.csv` has the CP and LCD of the kernels that
OSACA comes with, which are somewhere in the folder KERNELS.

`bench/chains.py thesis DIR`: `DIR/table_b1.csv` and the marked files beside it are those of Laukemann's thesis (2020,
Table B.1), 51 kernels with the CP and LCD of OSACA 0.3. What is known of that version's latencies is in `OSACA_03`.

`bench/chains.py mca DIR`: incc's simulated cycles of the loops in `DIR/loops.jsonl.gz` and those of llvm-mca 19's
steady state, which the file has. The classes of larger differences are in `MCA_CLASSES`.

Of chains, the first columns count equal figures, each tool with its own latencies. "Same chains" compares like with
like: incc's dependency graph (the core's own) is evaluated with OSACA's latencies, and OSACA's figure is computed anew
from the registers that incc decodes, its latencies and, one by one, its rules (`RULES`). If both computations agree
without the rules, and with them give OSACA's figure, incc has found each of its dependencies.

A difference is classified by these steps. The rules whose absence changes the figure are classes of it, and so are
"latencies" if incc's graph gives another figure with incc's own. The class "operands of" an instruction says that
OSACA's figure follows if the first operand counts as only written, which is what OSACA assumes of instructions that
its table of operands lacks. Anything else is the class "dependencies". `-v` prints each kernel that differs. The last
table lists the instructions on incc's paths and chains whose latencies differ.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from incc import core
from incc.core.whatif import UNLIMITED_PORTS, UNLIMITED_WINDOW, Scenario, simulate
from incc.driver.pipeline import AnalysisError, decode_unit, find_regions, read_assembly
from incc.driver.settings import Scope
from incc.frontends.kernel import Instruction, KernelCode
from incc.frontends.unit import Unit
from incc.models.binding import bound as b
from incc.models.binding.bind import bind
from incc.models.loading import load

RULES = {
    "no flags": "flags carry no dependency",
    "no predicates": "predicates carry no dependency",
    "load as a whole": "where it has no figures for a form of a load, the written-back base waits for the loaded value",
    "store as a whole": "the base that a store writes back is ready its own latency after the stored data",
    "last latency": "the path ends with the whole latency of its last instruction, even of a store",
}
"""OSACA's rules that incc does not have."""
OSACA_03 = {
    "TX2": {"ld": 4, "stur": 4, "st|b|mov": 0, "f": 6, "dup": 5, "": 1},
    "CSX": {"v?mov|j": 0, r".*[ps][ds]\b": 4, "": 1},
    "ZEN": {"v?mov|j": 0, r"vfn?m.*\(": 4, r"v?(add|sub)[ps]": 3, r"v?mul": 4, r"vfn?m": 5, "": 1},
}
"""The latencies of OSACA 0.3 by the beginning of the mnemonic, worked out from the thesis' listings and table."""
OSACA = {"a64fx": "A64FX", "thunderx2t99": "TX2", "neoverse-v2": "V2", "neoverse-n1": "N1", "cortex-a72": "A72"}
OSACA |= {"apple-m1": "M1", "tsv110": "TSV110"}
"""OSACA's names of cores."""
MCA_CLASSES = {
    "write-back": "llvm-mca lets a written-back base wait for the whole instruction",
    "µops": "llvm-mca counts more µops, which its dispatch takes longer for",
    "window": "with unlimited queues, reorder buffer and registers incc's cycles are llvm-mca's, which has larger ones",
    "chain": "incc's cycles are those of its longest chain, whose latencies llvm-mca has shorter",
    "binding": "with unlimited ports incc is no slower: it binds µops to ports at dispatch, llvm-mca at issue",
    "ports": "incc's cycles are those of its busiest port or divider, which llvm-mca has less busy",
    "front end": "incc's cycles are those of dispatch or retirement, which llvm-mca has wider",
    "less": "incc has fewer cycles: llvm-mca has longer latencies or busier ports",
    "more": "incc has more cycles, from several limits together",
}
"""Why throughputs differ by more than 10 %, the first that applies."""
NEAR = 0.1
"""Throughputs that differ by this share count as equal."""
OTHER_CORE = "apple-m1"
"""A core that LLVM analyses as another one."""
SCALE = 4
"""Parts of a cycle in which the latencies of a peer are passed to the core, which has whole numbers."""
WRITE_BACK = {"cortex-a72": 3}
"""OSACA's latency of a write-back where it is not 1 (`p_index_latency`)."""
FIGURES = ("cp", "lcd")
THESIS = {"TX2": "thunderx2t99", "CSX": "cascadelake", "ZEN": "znver1"}


class Latencies(msgspec.Struct, frozen=True):
    """Latencies by a peer, in cycles."""

    of: tuple[float, ...]
    """Latency of each instruction, or of the computation if it also loads."""
    loads: tuple[float, ...]
    """Latency of the load in each instruction that also computes."""
    write_back: float | None
    """Latency of a written-back base; None: that of the whole instruction."""
    last: tuple[float, ...]
    """Latency of each instruction if it ends the critical path."""


class Figures(msgspec.Struct, frozen=True):
    """CP and LCD of a kernel, in cycles."""

    cp: float
    lcd: float


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel with a peer's figures."""

    name: str
    cpu: str
    instructions: tuple[Instruction, ...]
    own: Figures
    peer: Figures
    latencies: Latencies | None
    """The peer's, None if they are not known."""
    own_latencies: tuple[int, ...]
    """incc's, of each instruction."""
    path: tuple[int, ...]
    """The instructions on incc's critical path and longest loop-carried dependency."""
    through_memory: bool
    """incc finds a load of a value that the kernel stores."""
    unknown: bool
    """One of the tools has no figures for an instruction."""
    forms: tuple[str, ...]
    """The form of each instruction."""
    kernel: KernelCode
    bound: b.BoundKernel


# --- a peer's figures, computed anew ---------------------------------------------------------------------------------


class Input(msgspec.Struct, frozen=True):
    """A dependency on an earlier instruction."""

    producer: int
    written_back: bool
    """The producer writes the register back as the base of its address."""
    addresses: bool
    """The register is part of the consumer's address."""


def inputs(instructions: Sequence[Instruction], rules: frozenset[str], overwrites: frozenset[str]) -> list[list[Input]]:
    """Return the dependencies of the instructions of two iterations.

    The first operand of instructions named `overwrites` counts as only written.
    """
    last: dict[str, tuple[int, bool]] = {}
    found = []
    for number, i in enumerate((*instructions, *instructions)):
        accesses = [a for a in i.registers if "no predicates" not in rules or a.register.kind != "mask"]
        reads = {a.register.root: a.address for a in accesses if a.read}
        writes = {a.register.root: a.address for a in accesses if a.write}
        if i.mnemonic in overwrites:
            first = {a.register.root for a in accesses if a.operand == 0}
            others = {a.register.root for a in accesses if a.read and a.operand != 0}
            reads = {root: at for root, at in reads.items() if root not in first - others}
            writes |= dict.fromkeys(first, False)
        if "no flags" not in rules:
            reads |= dict.fromkeys(i.flags_read, False)
            writes |= dict.fromkeys(i.flags_written, False)
        found.append([Input(*last[root], at) for root, at in reads.items() if root in last])
        last |= {root: (number, written_back) for root, written_back in writes.items()}
    return found


class Graph:
    """Longest paths through two iterations. An instruction is two nodes: its work, and what it writes back."""

    def __init__(
        self,
        instructions: Sequence[Instruction],
        latencies: Latencies,
        rules: frozenset[str],
        overwrites: frozenset[str],
    ) -> None:
        self.count = len(instructions)
        self.inputs = inputs(instructions, rules, overwrites)
        self.latencies = latencies
        self.rules = rules
        self.stores = [any(m.store for m in i.memory) for i in instructions]

    def starts(self, origin: tuple[int, bool] | None) -> dict[tuple[int, bool], float]:
        """Return when the nodes that depend on `origin` start, or all nodes for None."""
        starts: dict[tuple[int, bool], float] = {}
        for n in range(2 * self.count):
            own = n % self.count
            for back in (False, True):
                # What is written back waits for the address alone, or for all that the instruction waits for.
                whole = not back or ("store as a whole" if self.stores[own] else "load as a whole") in self.rules
                loads = self.latencies.loads[own] * whole
                times = [loads * (origin is None)] if origin in (None, (n, back)) else []
                for each in self.inputs[n]:
                    before = starts.get((each.producer, each.written_back))
                    if before is not None and (whole or each.addresses):
                        latency = self.latencies.of[each.producer % self.count]
                        if each.written_back and self.latencies.write_back is not None:
                            latency = self.latencies.write_back
                        times.append(before + latency + loads * each.addresses)
                if back and (n, False) in starts and (whole or (self.stores[own] and origin is None)):
                    times.append(starts[n, False] - (self.latencies.write_back or 0) * (not whole))
                if times:
                    starts[n, back] = max(times)
        return starts

    def critical_path(self) -> float:
        starts = self.starts(None)
        ends = [(starts[n, False], n) for n in range(self.count)]
        if "last latency" not in self.rules:
            return max(start + self.latencies.of[n] * (not self.stores[n]) for start, n in ends)
        longest = max(ends)[0]
        # The first of the instructions at the end of such a path.
        end = next(n for start, n in ends if start == longest)
        last = self.latencies.last
        return max(last) if max(last) > longest else longest + last[end]

    def carried(self) -> float:
        longest = 0.0
        for n in range(self.count):
            for back in (False, True):
                starts = self.starts((n, back))
                longest = max(longest, starts.get((n + self.count, back), 0.0))
        return longest


def figures(
    instructions: Sequence[Instruction],
    latencies: Latencies,
    rules: Iterable[str],
    overwrites: frozenset[str] = frozenset(),
) -> Figures:
    """Return CP and LCD by these latencies and rules (names of `RULES`)."""
    graph = Graph(instructions, latencies, frozenset(rules), overwrites)
    return Figures(graph.critical_path(), graph.carried())


def with_peers_latencies(case: Case, peers: Latencies) -> Figures:
    """Return the figures of incc's own dependency graph with a peer's latencies."""
    k = b.BoundKernel()
    for name in b.BoundKernel.__slots__:
        setattr(k, name, getattr(case.bound, name))
    none = [0] * len(case.instructions)
    k.forward_group, k.forward_delay, k.delays_from, k.delays_to = [-1] * len(none), none, none, none
    k.early_for = none
    k.input_early = [0] * len(k.input_id)
    k.input_latency = [0] * len(k.input_id)
    for n, i in enumerate(case.instructions):
        base = {a.register.root for a in i.registers if a.address and a.write}
        computes = any(m.load for m in i.memory) and peers.loads[n] == 0
        for value in range(k.value_start[n], k.value_start[n + 1]):
            outputs = k.output_location[k.output_start[value] : k.output_start[value + 1]]
            cycles = 0.0 if computes else peers.of[n]
            if k.value_kind[value] == b.VALUE_STORE:
                cycles = 0.0
            elif k.value_kind[value] == b.VALUE_LOAD:
                cycles = peers.loads[n] or peers.of[n]
            elif {k.location_names[x] for x in outputs} & base:
                cycles = peers.write_back
            for at in range(k.input_start[value], k.input_start[value + 1]):
                k.input_latency[at] = round(cycles * SCALE)
    found = core.analyze(k)
    return Figures(found.critical_path_cycles / SCALE, float(found.latency_bound) / SCALE)


class Comparison(msgspec.Struct, frozen=True):
    """The steps from one of incc's figures to the peer's."""

    own: float
    peer: float
    graph: float
    """The figure of incc's dependency graph with the peer's latencies."""
    plain: float
    """The figure computed anew with the peer's latencies, without its rules."""
    ruled: float
    """The figure computed with the peer's latencies and all of its rules."""
    rules: tuple[str, ...]
    """The rules that matter: without each of them the figure is another one."""
    operands: tuple[str, ...]
    """Instructions whose first operand the peer takes for only written, if that alone explains its figure."""

    @property
    def same(self) -> bool:
        """True if the graphs agree: with equal latencies the figures are equal, up to the peer's rules."""
        return self.graph == self.plain and self.peer in (self.plain, self.ruled)

    @property
    def classes(self) -> list[str]:
        """The classes of the difference."""
        if not self.same and not self.operands:
            return ["dependencies"]
        found = [] if self.plain == self.peer else [*self.rules]
        if self.operands:
            found.insert(0, "operands of " + ", ".join(self.operands))
        return [*found, "latencies"] if self.own != self.graph else found


def compare(case: Case, peers: Latencies, what: str) -> Comparison:
    """Compare a figure ("cp" or "lcd")."""

    def computed(rules: Iterable[str], overwrites: Iterable[str] = ()) -> float:
        return float(getattr(figures(case.instructions, peers, rules, frozenset(overwrites)), what))

    peer, ruled = getattr(case.peer, what), computed(RULES)
    value, rules, remaining = ruled, [], list(RULES)
    for rule in RULES:
        remaining.remove(rule)
        without = computed(remaining)
        if without != value:
            rules.append(rule)
        value = without
    operands: tuple[str, ...] = ()
    if peer not in (value, ruled):
        updating = dict.fromkeys(
            i.mnemonic for i in case.instructions if any(a.operand == 0 and a.read for a in i.registers)
        )
        candidates = [*((name,) for name in updating), tuple(updating)]
        operands = next((names for names in candidates if computed(RULES, names) == peer), ())
    return Comparison(
        own=getattr(case.own, what),
        peer=peer,
        graph=getattr(with_peers_latencies(case, peers), what),
        plain=value,
        ruled=ruled,
        rules=tuple(rules),
        operands=operands,
    )


def other_latencies(case: Case, peers: Latencies) -> list[str]:
    """Return the instructions on incc's path or longest chain that have other latencies in both tools."""
    found: dict[str, None] = {}
    for n in sorted(case.path):
        form, own, peer = case.forms[n], case.own_latencies[n], peers.of[n] + peers.loads[n]
        if own != peer and not any(m.store for m in case.instructions[n].memory):
            found[f"{form}: incc {own:g}, OSACA {peer:g}"] = None
    return list(found)


# --- kernels ---------------------------------------------------------------------------------------------------------


def case_of(name: str, text: str, cpu: str, peer: Figures, latencies: Latencies | None, unknown: bool) -> Case:
    """Return the marked kernel of a text, or the whole text, with incc's figures. Raises AnalysisError."""
    unit = Unit(assembly=text, assembly_file=name)
    parsed = read_assembly(unit)
    regions, _ = find_regions(parsed, Scope(regions="marked"))
    if len(regions) != 1:
        raise AnalysisError(f"{name}: {len(regions)} regions instead of one")
    (kernel,) = decode_unit(unit, parsed, [msgspec.structs.replace(regions[0], is_loop=True)])
    bound, forms = bind(kernel, load(cpu))
    found = core.analyze(bound)
    return Case(
        name=name,
        cpu=cpu,
        instructions=kernel.instructions,
        own=Figures(found.critical_path_cycles, float(found.latency_bound)),
        peer=peer,
        latencies=latencies,
        own_latencies=tuple(bound.latency),
        path=(*found.critical_path_instructions, *(s.producer for c in found.chains[:1] for s in c.steps)),
        through_memory=any(e.location < 0 and e.producer != e.consumer for e in found.edges),
        unknown=unknown or None in forms,
        forms=tuple(i.form for i in kernel.instructions),
        kernel=kernel,
        bound=bound,
    )


def run_osaca(program: str, text: str, cpu: str) -> tuple[Figures, Latencies, bool]:
    """Return OSACA's figures for a text, its latencies of the instructions, and whether it knows all of them."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "kernel.s"), pathlib.Path(folder, "kernel.yml")
        source.write_text(text, encoding="utf-8")
        command = [program, "--arch", OSACA[cpu], "--ignore-unknown", "--yaml-out", str(target), str(source)]
        subprocess.run(command, capture_output=True, check=True)
        return read_osaca(target.read_text(encoding="utf-8"), cpu)


def read_osaca(text: str, cpu: str) -> tuple[Figures, Latencies, bool]:
    """Return the same of OSACA's output as YAML."""
    kernel, _, summary = text.partition("\nSummary:")
    total = {name: float(value) for name, value in re.findall(r"^  (CriticalPath|LCD): (\S+)$", summary, re.MULTILINE)}
    of, loads, last, unknown = [], [], [], False
    for entry in re.split(r"^- Comment:", kernel, flags=re.MULTILINE)[1:]:
        field = dict(re.findall(r"^  (Instruction|Latency|LatencyWithoutLoad|Flags): (.*)$", entry, re.MULTILINE))
        if field.get("Instruction", "null") == "null":
            continue
        whole, alone = float(field["Latency"]), float(field["LatencyWithoutLoad"])
        # A load by itself is not split into load and computation.
        split = "is_load_instruction" not in field["Flags"] and whole != alone
        of.append(alone if split else whole)
        loads.append(whole - alone if split else 0.0)
        last.append(whole)
        unknown |= "unknown" in field["Flags"]
    latencies = Latencies(tuple(of), tuple(loads), WRITE_BACK.get(cpu, 1), tuple(last))
    return Figures(total["CriticalPath"], total["LCD"]), latencies, unknown


def loops(folder: pathlib.Path, program: str) -> Iterator[Case]:
    """Yield the loops of compilers that OSACA has figures for."""
    for line in gzip.decompress((folder / "loops.jsonl.gz").read_bytes()).splitlines():
        row = json.loads(line)
        if not row["osaca_cp"]:
            continue
        peer, latencies = Figures(float(row["osaca_cp"]), float(row["osaca_lcd"])), None
        unknown = row["osaca_unknown"] != "0"
        if program and not unknown:
            again, latencies, _ = run_osaca(program, row["assembly"], row["core"])
            if again != peer:
                print(f"{row['loop_id']}: the file has {peer}, OSACA says {again}", file=sys.stderr)
        yield case_of(row["loop_id"], row["assembly"], row["core"], peer, latencies, unknown)


def thesis(folder: pathlib.Path) -> Iterator[Case]:
    """Yield the thesis' kernels."""
    with (folder / "table_b1.csv").open(encoding="utf-8") as f:
        for row in csv.DictReader(f):
            text = (folder / row["file"]).read_text(encoding="utf-8", errors="surrogateescape")
            peer = Figures(float(row["osaca_cp"]), float(row["osaca_lcd"]))
            case = case_of(row["file"], text, THESIS[row["arch"]], peer, None, False)
            yield msgspec.structs.replace(case, latencies=latencies_of_version_03(case, OSACA_03[row["arch"]]))


def expected(folder: pathlib.Path, kernels: pathlib.Path, program: str) -> Iterator[Case]:
    """Yield the kernels that OSACA comes with and that are in a folder, without dependencies through flags."""
    files = {file.name: file for file in sorted(kernels.rglob("*.s"))}
    with (folder / "osaca_expected.csv").open(encoding="utf-8") as f:
        for row in csv.DictReader(f):
            file = files.get(pathlib.Path(row["kernel_file"]).name)
            cpu = next((cpu for cpu, name in OSACA.items() if name.lower() == row["arch"]), "")
            if file is None or not cpu or not row["cp"] or not row["lcd"] or row["flag_deps"] != "no":
                continue
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
            peer, latencies = Figures(float(row["cp"]), float(row["lcd"])), None
            if program and row["unknown"] == "0":
                _, latencies, _ = run_osaca(program, text, cpu)
            yield case_of(file.name, text, cpu, peer, latencies, row["unknown"] != "0")


def latencies_of_version_03(case: Case, table: Mapping[str, float]) -> Latencies:
    """Return the latencies of a kernel by `OSACA_03`; loads that compute take 4 cycles for the load."""
    of = [next(cycles for name, cycles in table.items() if re.match(name, i.text)) for i in case.instructions]
    splits = THESIS["TX2"] != case.cpu
    loads = [4.0 * (splits and any(m.load for m in i.memory)) for i in case.instructions]
    return Latencies(tuple(of), tuple(loads), 0, tuple(of))


# --- throughput ------------------------------------------------------------------------------------------------------


def near(value: float, other: float) -> bool:
    return abs(value - other) <= NEAR * other


def mca_class(case: Case, cycles: float, theirs: float, uops: float) -> str:
    """Return the class of the difference between incc's throughput and llvm-mca's, a name in `MCA_CLASSES`.

    `uops`: llvm-mca's number of µops per iteration.
    """
    if cycles < theirs:
        none = (0.0,) * len(case.instructions)
        own = Latencies(tuple(max(1.0, cycles) for cycles in case.own_latencies), none, None, none)
        whole = figures(case.instructions, own, ("load as a whole", "store as a whole")).lcd
        if whole > case.own.lcd and whole >= (1 - 2 * NEAR) * theirs:
            return "write-back"
        more = uops > sum(case.bound.issue_slots) and uops / case.bound.issue_width >= (1 - 3 * NEAR) * theirs
        return "µops" if more else "less"
    start = Scenario(case.kernel, case.bound, {})
    if near(float(simulate(UNLIMITED_WINDOW.apply(start)).cycles_per_iteration), theirs):
        return "window"
    bounds = core.bounds(case.bound)
    limits = {
        "chain": bounds.loop_carried,
        "ports": max(bounds.port, bounds.divider),
        "front end": max(bounds.front_end, bounds.retire),
    }
    found = next((name for name, limit in limits.items() if near(cycles, float(limit))), "")
    if not found and float(simulate(UNLIMITED_PORTS.apply(start)).cycles_per_iteration) <= (1 + NEAR) * theirs:
        found = "binding"
    return found or "more"


def throughputs(folder: pathlib.Path, verbose: bool) -> None:
    """Print how many throughputs are llvm-mca's, the classes of the others, and with `verbose` each of these."""
    counts: dict[str, Counter[str]] = {}
    lines = []
    for line in gzip.decompress((folder / "loops.jsonl.gz").read_bytes()).splitlines():
        row = json.loads(line)
        if not row["mca_steady"] or row["core"] == OTHER_CORE:
            continue
        case = case_of(row["loop_id"], row["assembly"], row["core"], Figures(0, 0), None, False)
        cycles, theirs = float(core.simulate(case.bound).cycles_per_iteration), float(row["mca_steady"])
        name = "" if near(cycles, theirs) else mca_class(case, cycles, theirs, float(row["mca_uops"]) / 100)
        counts.setdefault(row["core"], Counter())[name] += 1
        if name:
            text = (
                f"{row['loop_id']:<34}{row['source']:<12}{cycles:>8.2f}{theirs:>10.2f}{cycles / theirs:>7.2f}  {name}"
            )
            lines.append((cycles / theirs, text))
    counts["all"] = sum(counts.values(), Counter())
    print(f"{'core':<14}{'loops':>6}{'within 10 %':>13}" + "".join(f"{name:>11}" for name in MCA_CLASSES))
    for cpu, of_core in counts.items():
        total = of_core.total()
        shares = f"{of_core['']:>6}{100 * of_core[''] / total:>5.0f} %"
        print(f"{cpu:<14}{total:>6}{shares}" + "".join(f"{of_core[name]:>11}" for name in MCA_CLASSES))
    if verbose:
        print(f"\n{'loop':<34}{'source':<12}{'incc':>8}{'llvm-mca':>10}{'ratio':>7}  class")
        print("\n".join(text for _, text in sorted(lines)))


# --- tables ----------------------------------------------------------------------------------------------------------


def table(cases: Sequence[Case], verbose: bool) -> None:
    """Print the agreement and the classes of the differences, and with `verbose` each kernel that differs."""
    compared = [case for case in cases if not case.unknown and not case.through_memory]
    results = [
        {what: compare(case, case.latencies, what) for what in FIGURES} if case.latencies is not None else {}
        for case in compared
    ]
    print(f"{'':<39}{'own figures':>16}{'same chains':>16}")
    print(f"{'core':<14}{'kernels':>8}{'known':>7}{'compared':>10}" + f"{'CP':>10}{'LCD':>6}" * 2)
    for cpu in [*dict.fromkeys(case.cpu for case in cases), ""]:
        of_core = [case for case in cases if cpu in ("", case.cpu)]
        rows = [(case, result) for case, result in zip(compared, results, strict=True) if cpu in ("", case.cpu)]
        counts = [len(of_core), sum(not case.unknown for case in of_core), len(rows)]
        counts += [sum(getattr(case.own, what) == getattr(case.peer, what) for case, _ in rows) for what in FIGURES]
        counts += [sum(what in result and result[what].same for _, result in rows) for what in FIGURES]
        print(
            f"{cpu or 'all':<14}" + "".join(f"{n:>{w}}" for n, w in zip(counts, (8, 7, 10, 10, 6, 10, 6), strict=True))
        )
    differing = [differences(what, compared, results, verbose) for what in FIGURES]
    print("\nOther latencies on paths and chains that differ:")
    for text, count in sorted(sum(differing, Counter()).items()):
        print(f"{count:>6}  {text}")


def differences(
    what: str, cases: Sequence[Case], results: Sequence[Mapping[str, Comparison]], verbose: bool
) -> Counter[str]:
    """Print the classes of the differences in a figure, and return the latencies that differ, with their numbers."""
    counts: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    for case, result in zip(cases, results, strict=True):
        own, peer = getattr(case.own, what), getattr(case.peer, what)
        if own == peer:
            continue
        found = result[what].classes if what in result else ["not classified"]
        counts[" + ".join(found)] += 1
        if "latencies" in found and case.latencies is not None:
            forms.update(f"{case.cpu}: {text}" for text in other_latencies(case, case.latencies))
        if verbose:
            print(f"{what.upper():<4} {case.name:<34} incc {own:>6g}  OSACA {peer:>6g}  {' + '.join(found)}")
    print(f"\n{what.upper()} differs:")
    for name, count in counts.most_common():
        print(f"{count:>6}  {name}")
    return forms


def main() -> int:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=["loops", "thesis", "expected", "mca"])
    parser.add_argument("--osaca", metavar="PROGRAM", default="", help="the program that gives OSACA's latencies")
    parser.add_argument("-v", dest="verbose", action="store_true", help="print each kernel that differs")
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("kernels", metavar="KERNELS", type=pathlib.Path, nargs="?", default=pathlib.Path())
    arguments = parser.parse_args()
    folder, program = arguments.folder, arguments.osaca
    try:
        if arguments.set == "mca":
            throughputs(folder, arguments.verbose)
            return 0
        if arguments.set == "thesis":
            cases = list(thesis(folder))
        elif arguments.set == "expected":
            cases = list(expected(folder, arguments.kernels, program))
        else:
            cases = list(loops(folder, program))
        table(cases, arguments.verbose)
    except (OSError, AnalysisError, subprocess.CalledProcessError) as problem:
        print(f"chains.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

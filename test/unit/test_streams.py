"""Caches and memory, measured with loops that stream through arrays: `incc-bench --memory`, and uses of its records."""

from __future__ import annotations

import json
import platform
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from incc.driver.commands import bench, bench_memory, make_host, model
from incc.measuring.harness import missing
from incc.measuring.host import model as host_model
from incc.measuring.records import Records
from incc.measuring.streams import caches, cpuid, study
from incc.measuring.streams.fit import core_times, error_of, fit
from incc.measuring.streams.loops import NAMES, StreamLoop, loops
from incc.measuring.streams.simulated import SimulatedStreams
from incc.measuring.streams.study import HostStreams, StreamTime, StudyPoint
from incc.models.loading import load
from incc.models.memory import MemoryHierarchy, MemoryLevel, described, read, table_text, with_table

ARGUMENTS = ["--memory", "--quick", "--simulated", "-mcpu=znver5"]


@pytest.mark.parametrize("loop", list(loops([128, 256, 512])))
def test_loops_move_the_lines_that_their_names_say(loop: StreamLoop) -> None:
    lines = core_times(loop, load("znver5")).times.traffic.missing(1 << 15)
    loads = {"load": 1, "store": 0, "copy": 1, "update": 1, "triad": 2, "schoenauer": 3}[loop.name]
    stores = loop.name != "load"
    allocated = stores and loop.name != "update" and not loop.non_temporal
    assert loop.arrays == max(loads + stores - (loop.name == "update"), 1)
    per_line = [4 * lines_of for lines_of in (loads, allocated, stores and not loop.non_temporal, loop.non_temporal)]
    assert [lines.read, lines.allocate, lines.written, lines.direct] == per_line


@pytest.mark.parametrize("name", ["znver5", "graniterapids", "haswell", "skylake-avx512"])
def test_streams_of_a_simulated_core_show_its_memory_hierarchy(name: str) -> None:
    core = load(name)
    assert core.memory is not None
    machine = bench_memory._simulated(core, frozenset(("AVX", "AVX2", "AVX512F")))
    wanted = study.points(machine.levels, [128, max(machine.bits)], 1, quick=False)
    figures = {p: machine.streams.measure(p).cycles for p in wanted if p.bytes & p.bytes - 1 == 0}
    fitted = fit(figures, machine.levels, machine.line, core)
    assert len(fitted.memory.levels) == len(core.memory.levels)
    for level in fitted.levels:
        # The memory of some cores has more costs than these loops tell apart.
        most = 0.03 if level.level.size is None else 0.01
        assert level.error < most
        assert level.held_out is not None
        assert level.held_out < most or level.level.size is None
    assert error_of(core.memory, figures, machine.levels, core) < 0.001


def test_cores_that_limit_each_other_are_found() -> None:
    core = load("znver5")
    assert core.memory is not None
    *levels, last = core.memory.levels
    shared = replace(core.memory, levels=(*levels, replace(last, all_cores=2.0)))
    machine = SimulatedStreams(core, 8)
    machine.memory = shared
    sizes = [level for level in shared.levels if level.size is not None]
    figures = {p: machine.measure(p).cycles for p in study.points(sizes, [512], 8, quick=True)}
    found = fit(figures, sizes, 64, core).memory.levels
    assert [level.all_cores for level in found] == [None, None, None, 2.0]


def interrupted_after(count: int, how: Callable[[], None]) -> type[SimulatedStreams]:
    class Stand(SimulatedStreams):
        measured = 0

        def measure(self, point: StudyPoint) -> StreamTime:
            type(self).measured += 1
            if self.measured > count:
                how()
            return super().measure(point)

    return Stand


def interrupt() -> None:
    raise KeyboardInterrupt


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_interrupted_run_keeps_what_it_measured_and_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    path = tmp_path / "a.jsonl"
    monkeypatch.setattr(bench_memory, "SimulatedStreams", interrupted_after(50, interrupt))
    assert bench.main([*ARGUMENTS, "-o", str(path)]) == 1
    printed = capsys.readouterr()
    assert "interrupted after 50 of 232" in printed.err
    assert f"the results are in {path}, and the same command continues" in printed.err
    assert "that explains them best" not in printed.out
    before = records(path)
    assert len(before) == 51
    rest = interrupted_after(10_000, interrupt)
    monkeypatch.setattr(bench_memory, "SimulatedStreams", rest)
    assert bench.main([*ARGUMENTS, "-o", str(path)]) == 0
    assert records(path)[:51] == before
    assert len({json.dumps(record) for record in records(path)}) == len(records(path)) == 234
    assert rest.measured == 232 - 50
    assert "that explains them best" in capsys.readouterr().out


def test_the_announced_time_is_that_of_measurements_that_are_missing() -> None:
    machine = SimulatedStreams(load("znver5"), 1)
    wanted = study.plan(HIERARCHY.levels[:-1], [512], 1, quick=True)
    wanted = study.Plan(wanted.points, 2)
    kept = Records("", "znver5")
    assert study.remaining(wanted, kept).measurements == wanted.measurements
    measured = [record for record, _ in zip(study.run(machine, wanted, kept), range(5), strict=False)]
    assert study.remaining(wanted, kept).measurements == wanted.measurements - len(kept.done)
    assert len(measured) <= len(kept.done) <= len(measured) + 1
    assert [*study.run(machine, wanted, kept)][:5] == measured
    assert study.remaining(wanted, kept).points == []


def test_a_run_without_time_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(study, "MOST_SECONDS", -1.0)
    assert bench.main([*ARGUMENTS, "-o", str(tmp_path / "a.jsonl")]) == 1
    assert "the time limit is reached after 0 of 232" in capsys.readouterr().err


@pytest.mark.parametrize("cores", [1, 64])
def test_a_run_takes_ten_minutes_at_most(cores: int) -> None:
    levels = [
        MemoryLevel(name="L1", size=48 << 10),
        MemoryLevel(name="L2", size=2 << 20),
        MemoryLevel(name="L3", size=480 << 20, cores=cores),
    ]
    wanted = study.plan(levels, [128, 256, 512], cores, quick=False)
    assert wanted.rounds >= 1
    assert wanted.seconds < 600


def test_the_fastest_of_several_rounds_counts() -> None:
    core = load("znver5")
    wanted = study.Plan([StudyPoint(StreamLoop("load", 256), 1 << 16)], 3)
    slower = iter([1.5, 1.0, 2.0])

    class Noisy(SimulatedStreams):
        def measure(self, point: StudyPoint) -> StreamTime:
            return replace(super().measure(point), cycles=next(slower) * 4)

    found = list(study.run(Noisy(core), wanted, study.Records("", core.name)))
    assert [record.round for record in found] == [0, 1, 2]
    assert study.fastest(found) == {wanted.points[0]: 4.0}


@pytest.mark.skipif(bool(missing()), reason="nothing can be measured here")
def test_this_machine_streams_through_arrays() -> None:
    cpus = caches.one_cpu_per_core()
    with closing(HostStreams("x86", cpus, 1 << 22)) as machine:
        for point in (
            StudyPoint(StreamLoop("triad", 128), 1 << 14),
            StudyPoint(StreamLoop("copy", 128, True), 1 << 22, len(cpus)),
        ):
            measured = machine.measure(point)
            assert measured.cycles > 0
            assert measured.ghz > 0
            assert 0 <= measured.disturbed <= 1


def made_system(folder: Path) -> Path:
    """Make a /sys of a CPU with two threads per core and an L3 of eight cores."""
    topology = folder / "cpu0/topology"
    topology.mkdir(parents=True)
    (topology / "thread_siblings_list").write_text("0,64\n")
    rows = [("1", "Data", "48K", "12", "0,64"), ("1", "Instruction", "32K", "8", "0,64")]
    rows += [("2", "Unified", "1024K", "0", "0,64"), ("3", "Unified", "32M", "16", "0-7,64-71")]
    for number, (level, kind, size, ways, cpus) in enumerate(rows):
        cache = folder / f"cpu0/cache/index{number}"
        cache.mkdir(parents=True)
        names = ("level", "type", "size", "ways_of_associativity", "shared_cpu_list", "coherency_line_size")
        for name, text in zip(names, (level, kind, size, ways, cpus, "64"), strict=True):
            (cache / name).write_text(f"{text}\n")
    return folder


def test_the_system_describes_caches(tmp_path: Path) -> None:
    levels, line = caches.read(0, made_system(tmp_path))
    assert line == 64
    assert levels == [
        MemoryLevel(name="L1", size=48 << 10, ways=12),
        MemoryLevel(name="L2", size=1 << 20),
        MemoryLevel(name="L3", size=32 << 20, ways=16, cores=8),
    ]
    assert caches.read(1, tmp_path) == ([], 64)


HIERARCHY = MemoryHierarchy(
    levels=(
        MemoryLevel(name="L1", size=32768, ways=8),
        MemoryLevel(name="L2", size=1 << 20, read=1.5, write=2.0, overlap="evictions"),
    ),
    source="measured",
    configuration='a "machine"',
)


def test_a_hierarchy_as_text_is_read_back() -> None:
    assert read(tomllib.loads(table_text(HIERARCHY))["memory"], {"measured": ""}) == (HIERARCHY, [])


@pytest.mark.parametrize(
    "header",
    [
        'name = "x"\n',
        'name = "x"\n[sources]\nmeasured = "m"\n\n[parameters]\nrob = 3\n',
        'name = "x"\n[sources]\nother = "m"\n# Costs\n[memory]\nsource = "other"\nlevels = [\n  { name = "L1" },\n]\n\n'
        "# Ports\n[ports]\nrob = 3\n",
    ],
)
def test_a_measured_hierarchy_replaces_that_of_a_file_and_nothing_else(header: str) -> None:
    before, after = tomllib.loads(header), tomllib.loads(with_table(header, HIERARCHY, "long"))
    assert after.pop("memory") == described(HIERARCHY)
    assert "measured" in after["sources"]
    before.pop("memory", None)
    after["sources"] = before.setdefault("sources", after["sources"])
    assert after == before
    assert ("# Ports" in header) == ("# Ports" in with_table(header, HIERARCHY, "long"))


def test_import_takes_the_hierarchy_and_keeps_the_forms(tmp_path: Path) -> None:
    measured, output = tmp_path / "a.jsonl", tmp_path / "mine.toml"
    lines = [{"core": "znver5"}, {"memory": described(HIERARCHY), "errors": {}, "held_out": {}}]
    measured.write_text("".join(json.dumps(line) + "\n" for line in lines))
    head = 'format = 1\nname = "mine"\nisa = "x86"\ntitle = "Mine"\ninherits = "znver5"\n\n[sources]\nmine = "me"\n\n'
    output.write_text(head + '[forms]\n"ADD_R64_RM64/r" = { latency = "0<0:2", source = "mine" }\n')
    assert model.main(["import", "measured", "-o", str(output), str(measured)]) == 0
    made = load(str(output))
    assert made.memory == HIERARCHY
    assert 'latency = "0<0:2"' in output.read_text()


@pytest.mark.parametrize("cycles", ["0", "-1", "NaN", '"x"'])
def test_records_without_a_time_are_refused(cycles: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.jsonl"
    assert bench.main([*ARGUMENTS, "-o", str(path)]) == 0
    header, first, *rest = path.read_text().splitlines()
    broken = {**json.loads(first), "cycles": 0}
    path.write_text("\n".join([header, json.dumps(broken).replace('"cycles": 0', f'"cycles": {cycles}'), *rest, ""]))
    assert bench.main([*ARGUMENTS, "-o", str(path)]) == 2
    assert f"{path}:2: not a record of measurements" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "better"), [("znver4", True), ("znver5", False)])
def test_the_model_of_the_host_gets_its_hierarchy(name: str, better: bool, tmp_path: Path, capsys: Any) -> None:
    relative = load("znver5")
    options = make_host.MakeHostOptions(output=str(tmp_path / "mine.toml"), quick=True)
    features = frozenset(("AVX", "AVX512F"))
    this = make_host._with_memory(
        make_host._begin(options, relative, str(tmp_path)), lambda _: bench_memory._simulated(load(name), features)
    )
    assert this.memory is not None
    assert this.memory_is_better == better
    assert "caches and memory: mean error" in capsys.readouterr().out
    text = host_model.model_text("mine", relative, "Mine", [], {}, None, memory=this.memory).text
    assert read(tomllib.loads(text)["memory"], {"measured": ""}) == (this.memory, [])
    # The same command continues from what was measured.
    lines = (tmp_path / "memory.jsonl").read_text()
    make_host._with_memory(this, lambda _: bench_memory._simulated(load(name), features))
    assert len((tmp_path / "memory.jsonl").read_text().splitlines()) <= len(lines.splitlines()) + 1


def test_a_malformed_hierarchy_is_named(tmp_path: Path, capsys: Any) -> None:
    measured, output = tmp_path / "a.jsonl", tmp_path / "mine.toml"
    measured.write_text('{"core": "znver5"}\n{"memory": {"levels": [], "source": "measured"}}\n')
    output.write_text('format = 1\nname = "mine"\nisa = "x86"\ninherits = "znver5"\n')
    before = output.read_text()
    assert model.main(["import", "measured", "-o", str(output), str(measured)]) == 1
    assert f"{measured}:2: memory.levels: must be some of" in capsys.readouterr().err
    assert output.read_text() == before


def test_the_plot_is_black_on_white(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.svg"
    assert bench.main([*ARGUMENTS, f"--html={path}"]) == 0
    picture = ElementTree.fromstring(path.read_text())
    colours = {node.get(name) for node in picture.iter() for name in ("fill", "stroke")}
    assert colours <= {None, "none", "currentColor"}
    dashes = [node.get("stroke-dasharray") for node in picture.iter("{http://www.w3.org/2000/svg}polyline")]
    assert len(set(dashes)) == len(NAMES) + 2  # each loop has a pattern of its own


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--memory", "--pairs"], "--memory and --pairs cannot be combined"),
        (["--memory", "imul r64, r64"], "--memory and forms cannot be combined"),
        (["--quick", "imul r64, r64"], "--quick requires --memory"),
        (["--memory", "--simulated", "-mcpu=tremont"], "has no costs of caches"),
    ],
)
def test_mistakes_are_named(arguments: list[str], message: str, capsys: Any) -> None:
    assert bench.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_the_processor_says_which_caches_have_copies() -> None:
    """Leaf 4 is Intel's, leaf 8000_001Dh AMD's; bit 1 of edx is set for copies of all inner lines."""
    server = {(0, 0): (22, 0, 0, 0), (4, 0): (0x1C004121, 0, 0, 0), (4, 2): (0x1C004143, 0, 0, 0)}
    server |= {(4, 1): (0x1C004122, 0, 0, 2), (4, 3): (0x1C03C163, 0, 0, 4), (0x8000_0000, 0): (0x8000_0008, 0, 0, 0)}
    client = {**server, (4, 3): (0x1C03C163, 0, 0, 6)}
    zen = {(0, 0): (16, 0, 0, 0), (0x8000_0000, 0): (0x8000_0028, 0, 0, 0), (0x8000_001D, 0): (0x121, 0, 0, 0)}
    zen |= {(0x8000_001D, 1): (0x122, 0, 0, 0), (0x8000_001D, 2): (0x143, 0, 0, 2), (0x8000_001D, 3): (0x4163, 0, 0, 1)}

    def said(answers: dict[tuple[int, int], tuple[int, int, int, int]]) -> dict[str, bool]:
        return cpuid.inclusive(lambda leaf, subleaf: answers.get((leaf, subleaf), (0, 0, 0, 0)))

    assert said(server) == {"L1": False, "L2": False, "L3": False}
    assert said(client) == {"L1": False, "L2": False, "L3": True}
    assert said(zen) == {"L1": False, "L2": True, "L3": False}
    assert said({}) == {}


@pytest.mark.parametrize(("copies", "victim"), [({}, True), ({"L3": True}, False), ({"L3": False}, True)])
def test_an_l3_without_copies_is_filled_by_evictions(copies: dict[str, bool], victim: bool) -> None:
    core = load("znver5")
    simulated = bench_memory._simulated(core, frozenset(("AVX",)))
    levels = [replace(level, victim=False) for level in simulated.levels]
    machine = bench_memory._machine(simulated.streams, levels, 64, [128], 0, "", core, copies)
    assert [level.victim for level in machine.levels] == [False, False, victim]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="not x86-64")
def test_this_processor_is_asked() -> None:
    assert set(cpuid.inclusive()) <= {"L1", "L2", "L3", "L4"}

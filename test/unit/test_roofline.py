"""The roofline model: ceilings of cores, points of kernels, and the figure."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_levels import TRIAD, loop

import incc
from incc.core import Stream
from incc.core.memory.levels import times
from incc.core.memory.roofline import _beyond_l1, ceilings
from incc.core.memory.traffic import traffic
from incc.driver.commands import report as ranked
from incc.models.loading import list_models, load
from incc.models.memory import MemoryHierarchy, MemoryLevel
from incc.report import types as t
from incc.report.parts.roofline import ceilings_report
from incc.views import roofline
from incc.views.roofline.chart import drawing
from incc.views.roofline.figure import Figure, Loop
from properties import examples

SVG = "{http://www.w3.org/2000/svg}"


# --- ceilings ---------------------------------------------------------------------------------------------------------


def peak(core: str, element: int, width: int, kind: str) -> float:
    """Return the peak of a core in flop per cycle."""
    of_core = ceilings(load(core, ())).peaks
    (found,) = {p.flop for p in of_core if (p.element, p.width, p.kind) == (element, width, kind)}
    return float(found)


@pytest.mark.parametrize(
    ("core", "width", "flop"),
    [
        # Intel 64 and IA-32 Architectures Optimization Reference Manual: two units for fused multiply-adds.
        ("haswell", 256, 16),
        ("skylake-avx512", 512, 32),
        # AMD's Software Optimization Guides: two units of 128 bits (Zen 1), of 256 (Zen 2 and 4), of 512 (Zen 5).
        ("znver1", 128, 8),
        ("znver2", 256, 16),
        ("znver4", 512, 16),
        ("znver5", 512, 32),
        # Alappat et al., "ECM modeling and performance tuning of SpMV and Lattice QCD on A64FX" (2022): 32 per cycle.
        ("a64fx", 512, 32),
        # Arm's Software Optimization Guides: two and four pipes of 128 bits, or two of 256 bits.
        ("neoverse-n1", 128, 8),
        ("neoverse-v1", 256, 16),
        ("neoverse-v2", 128, 16),
    ],
)
def test_peaks_in_double_precision_are_the_published_ones(core: str, width: int, flop: float) -> None:
    assert peak(core, 64, width, "fused") == flop
    assert peak(core, 32, width, "fused") == 2 * flop


def test_cores_without_fused_multiply_adds_have_no_such_peak() -> None:
    kinds = {(p.width, p.kind) for p in ceilings(load("sandybridge", ())).peaks}
    assert kinds == {(width, "separate") for width in (32, 64, 128, 256)}


KINDS = {"separate": ("vadd", "vmul"), "fused": ("vfmadd231",), "mixed": ("vfmadd231", "vadd", "vmul")}


@pytest.mark.parametrize("core", ["skylake-avx512", "alderlake", "znver1", "znver4", "gracemont"])
@pytest.mark.parametrize("suffix", ["sd", "pd", "ss", "ps"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_no_kernel_exceeds_a_peak_and_one_reaches_it(core: str, suffix: str, kind: str) -> None:
    """The bounds that the native core finds for independent instructions are compared with the peaks."""
    element, packed = (64 if suffix[1] == "d" else 32), suffix[0] == "p"
    width, register = (256, "ymm") if packed else (element, "xmm")
    reached = 0.0
    for numbers in product(range(3), repeat=len(KINDS[kind])):
        mix = [f"{name}{suffix}" for name, number in zip(KINDS[kind], numbers, strict=True) for _ in range(number)]
        if not mix:
            continue
        code = "\n".join(f"{name} %{register}15, %{register}14, %{register}{n}" for n in range(12) for name in mix)
        (kernel,) = incc.analyze(code, mcpu=core, simulate=False, what_ifs=False).kernels
        flop = sum(2 if "fmadd" in name else 1 for name in mix) * 12 * width // element
        reached = max(reached, float(flop / max(kernel.bounds.port, kernel.bounds.front_end)))
    of_core = {
        p.kind: float(p.flop) for p in ceilings(load(core, ())).peaks if (p.element, p.width) == (element, width)
    }
    assert reached == pytest.approx(of_core.get(kind, of_core["fused"]))


@pytest.mark.parametrize("model", [name.name for name in list_models([])])
def test_every_core_has_peaks_and_a_bandwidth_of_l1(model: str) -> None:
    of_core = ceilings(load(model, ()))
    assert of_core.peaks
    assert all(p.flop > 0 for p in of_core.peaks)
    assert of_core.bandwidths[0].level == "L1"
    assert of_core.bandwidths[0].bytes >= 8
    for one in of_core.peaks:
        wider = [p for p in of_core.peaks if (p.element, p.kind) == (one.element, one.kind) and p.width > one.width]
        assert all(p.flop * 2 >= one.flop for p in wider), "wider vectors are not much slower"


@pytest.mark.parametrize(("core", "expected"), [("skylake", 96), ("skylake-avx512", 192), ("a64fx", 128)])
def test_bandwidth_of_l1_counts_loads_and_stores(core: str, expected: int) -> None:
    assert ceilings(load(core, ())).bandwidths[0].bytes == expected


costs = st.floats(0.5, 40, allow_nan=False).map(lambda value: round(value, 2))


@examples(60)
@given(
    st.lists(
        st.tuples(costs, costs, st.booleans(), st.sampled_from(["none", "evictions", "all"])), min_size=3, max_size=3
    ),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_no_loop_exceeds_the_bandwidth_of_a_level(
    levels: list[tuple[float, float, bool, str]], read: int, updated: int
) -> None:
    memory = MemoryHierarchy(
        levels=(
            MemoryLevel(name="L1", size=1 << 15),
            *(
                MemoryLevel(name=name, size=size, read=read, write=write, both_ways=both, overlap=overlap)  # type: ignore[arg-type]
                for (name, size), (read, write, both, overlap) in zip(
                    (("L2", 1 << 20), ("L3", 1 << 25), ("memory", None)), levels, strict=True
                )
            ),
        ),
        source="test",
    )
    accesses = [
        Stream(instruction=2 * n + store, store=store, size=64, part=n, object=n, offset=0, step=64)
        for n in range(read + updated)
        for store in (False, True)[: 1 + (n < updated)]
    ]
    none = Fraction(0)
    for time, most in zip(
        times(memory, traffic(accesses, 64), none, none, none).levels[1:], _beyond_l1(memory), strict=True
    ):
        moved = 64 * (time.lines.read + time.lines.allocate + time.lines.written)
        # Mixes are tried in steps of a sixteenth.
        assert moved <= most * time.cycles * Fraction(105, 100)


def test_cores_together_have_a_share_of_the_memory() -> None:
    model = load("skylake-avx512", ())
    assert model.memory is not None
    *_, cache, last = model.memory.levels
    for cores, sharing in ((1, cache.cores), (6, 6), (10, 10)):
        share = ceilings(model, cores).bandwidths[-1]
        assert (share.level, share.cores) == ("memory", sharing)
        assert float(share.bytes) == pytest.approx(64 / (last.all_cores or 0) / sharing)


# --- points -----------------------------------------------------------------------------------------------------------


def points(code: str, **settings: Any) -> t.RooflineReport:
    """Return the points of a kernel on Skylake-SP, without their roofs."""
    report = incc.analyze(code, mcpu="skylake-avx512", **settings)._with_roofline()
    (unit,) = report.units
    (kernel,) = unit.kernels
    assert kernel.roofline is not None
    return kernel.roofline


def test_a_triad_has_a_point_for_each_level() -> None:
    roof = points(TRIAD, data="all")
    # Two flop of doubles for each 24 bytes of instructions, and 32 bytes with the write-allocate.
    assert [(p.level, p.flop_per_byte) for p in roof.points] == [
        ("L1", pytest.approx(2 / 24)),
        *[(level, 2 / 32) for level in ("L2", "L3", "memory")],
    ]
    (kernel,) = incc.analyze(TRIAD, mcpu="skylake-avx512", data="all").kernels
    assert [p.flop_per_cycle for p in roof.points] == [
        pytest.approx(8 / cycles, rel=1e-5) for cycles in kernel.levels.values()
    ]
    assert all(p.roof is not None and p.flop_per_cycle <= p.roof for p in roof.points)
    assert [p.roof_by for p in roof.points] == ["L1", "L2", "L3", "memory"]
    assert not roof.remarks


def test_without_data_there_is_a_point_for_l1() -> None:
    assert [p.level for p in points(TRIAD).points] == ["L1"]


@pytest.mark.parametrize(
    ("code", "settings", "reason"),
    [
        (loop("vpaddd (%rsi,%rax), %ymm0, %ymm1", "addq $32, %rax"), {}, "no floating-point arithmetic"),
        (loop("vmulpd %ymm1, %ymm1, %ymm2", "addq $32, %rax"), {}, "L1: it loads and stores no bytes"),
        (loop("vmulpd (%rsi), %ymm1, %ymm2", "addq $32, %rax"), {"data": "L2"}, "L2: no cache lines come from there"),
        (loop("vmulsd (%rsi), %xmm1, %xmm2", "movq (%rsi), %rsi"), {"data": "all"}, "the traffic beyond L1 is unknown"),
        (loop("vaddsd %xmm1, %xmm1, %xmm2", "rep movsb"), {}, "it moves an unknown number of bytes"),
        (
            loop("vmulpd (%rsi,%rax), %ymm0, %ymm1", "addq $32, %rax", "call f"),
            {},
            "slower than drawn, because not all of its work is counted",
        ),
        (
            loop("vmovupd (%rsi), %ymm0", "vaddpd (%rsi,%rdx), %ymm0, %ymm1", "addq $32, %rsi"),
            {"data": "L2"},
            "L2: drawn as if no row found the lines of its neighbour in L1",
        ),
        (
            loop(*[f"vaddpd {4096 * n}(%rsi), %ymm{n}, %ymm{n}" for n in range(13)], "addq $32, %rsi"),
            {"data": "L2"},
            "L2: drawn as if L1 replaced lines that share a set with too many others before they are used again",
        ),
    ],
)
def test_missing_points_have_a_reason(code: str, settings: dict[str, Any], reason: str) -> None:
    assert any(reason in text for text in points(code, **settings).remarks)


def test_types_of_elements_are_those_of_most_operations_first() -> None:
    code = loop("vaddps (%rsi,%rax), %ymm0, %ymm1", "vmulpd %ymm0, %ymm1, %ymm2", "addq $32, %rax")
    (unit,) = incc.analyze(code, mcpu="skylake").to_dict()["units"]
    assert unit["kernels"][0]["arithmetic"]["flop_elements"] == [32, 64]


# --- figure -----------------------------------------------------------------------------------------------------------


def made(loops: list[tuple[float, float]], name: str = "loop", core: str = "skylake-avx512", **more: Any) -> Figure:
    """Return a figure of loops with these operations per byte and per cycle."""
    point = {"measured": None, "roof": None, "roof_by": ""} | more
    return Figure(
        title="A core",
        ceilings=ceilings_report(load(core, ())),
        loops=[
            Loop(
                number=n,
                name=f"{name}{n}",
                place=f"a.c:{n}",
                elements=[64],
                roofline=t.RooflineReport(
                    points=[t.RooflinePoint(level="L1", flop_per_byte=across, flop_per_cycle=up, **point)], remarks=[]
                ),
            )
            for n, (across, up) in enumerate(loops, 1)
        ],
    )


def numbers_of(svg: str) -> list[float]:
    """Return all numbers in the attributes of a picture; raises ValueError for NaN and infinity."""
    root = ET.fromstring(svg)
    assert not re.search(r"\b(nan|inf)\b", svg)
    return [
        float(number)
        for element in root.iter()
        for value in element.attrib.values()
        for number in re.findall(r"-?\d+\.?\d*", value)
    ]


positive = st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False) | st.floats(1e-9, 1e9)


@examples(60)
@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=20))
def test_figures_are_valid_for_any_loops(loops: list[tuple[float, float]]) -> None:
    svg = roofline.svg([made(loops)])
    assert all(abs(number) < 1e5 for number in numbers_of(svg))


@examples(60)
@given(
    st.lists(st.just(0.0) | positive, max_size=4), st.lists(st.just(0.0) | positive, max_size=4), st.none() | positive
)
def test_figures_are_valid_for_any_ceilings(peaks: list[float], bandwidths: list[float], ghz: float | None) -> None:
    """A report that was read may have any numbers."""
    figure = made([(0.1, 1.0), (2.0, 8.0)])
    figure.ceilings = t.CeilingsReport(
        peaks=[t.PeakReport(element_bits=64, vector_bits=256, kind="fused", flop_per_cycle=each) for each in peaks],
        bandwidths=[t.BandwidthReport(level="L1", cores=1, bytes_per_cycle=each) for each in bandwidths],
        ghz=ghz,
        configuration="",
    )
    assert all(abs(number) < 1e5 for number in numbers_of(roofline.svg([figure])))


def boxes(figure: Figure) -> list[tuple[float, float, float, float]]:
    """Return the boxes of the labels of markers and peaks."""
    drawn = drawing(figure, [])
    labels = [(m["label"][0], m["label"][1], m["label"][2], 0) for m in drawn["markers"] if m["label"]]
    labels += [(f["label"][0], f["label"][1], f["label"][2], 1) for f in drawn["flats"] if f["label"]]
    return [(x - right * 6.3 * len(text), y - 9, x + (1 - right) * 6.3 * len(text), y) for x, y, text, right in labels]


@examples(60)
@given(st.lists(st.tuples(st.floats(0.05, 4), st.floats(0.5, 30)), min_size=1, max_size=60))
def test_labels_do_not_cover_each_other(loops: list[tuple[float, float]]) -> None:
    for a, b in combinations(boxes(made(loops)), 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (a, b)


def test_a_thousand_loops_are_all_named() -> None:
    figure = made([(0.05 + n % 37 / 10, 0.1 + n % 101 / 7) for n in range(1000)], name="f")
    texts = [element.text or "" for element in ET.fromstring(roofline.svg([figure])).iter(f"{SVG}text")]
    named = {int(match[1]) for text in texts if (match := re.match(r"(\d+) f", text))}
    assert named == set(range(1, 1001))


def test_loops_at_one_place_share_a_marker() -> None:
    drawn = drawing(made([(0.1, 1.0)] * 5), [])
    (marker,) = drawn["markers"]
    assert marker["label"][2] == "1 loop1 +4"
    assert len(marker["title"].splitlines()) == 5


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a&b\"'", "x" * 3000, "\x00\x1b[31m", "]]>", "\udcff"])
def test_hostile_names_stay_texts(name: str) -> None:
    figure = made([(0.1, 1.0), (0.1, 1.1)], name=name)
    svg = roofline.svg([figure])
    assert not list(ET.fromstring(svg).iter(f"{SVG}script"))
    page = roofline.page([figure], t.Tool(name="incc", version="1"))
    assert "<script" not in page
    assert "\x1b" not in page


def test_measured_and_hot_loops_are_marked() -> None:
    figure = made([(0.1, 1.0)], measured=2.0)
    figure.loops = [Loop(**{f: getattr(figure.loops[0], f) for f in Loop.__struct_fields__} | {"share": 0.25})]
    drawn = drawing(figure, [])
    (marker,) = drawn["markers"]
    assert marker["measured"] < marker["y"]
    assert marker["r"] > 5
    texts = [entry["text"] for _, row in drawn["legend"] for entry in row]
    assert "measured" in texts
    assert "area: share of the time" in texts


def test_without_points_there_are_the_ceilings_of_double_precision() -> None:
    figure = made([(1.0, 1.0)])
    figure.loops = [replace(figure.loops[0], elements=[], roofline=t.RooflineReport(points=[], remarks=["no flop"]))]
    drawn = roofline.svg([figure])
    assert "32 flop/cycle: 512-bit FMA" in drawn
    assert "no flop" in drawn
    numbers_of(drawn)


def test_a_report_without_kernels_has_no_figure() -> None:
    with pytest.raises(ValueError, match="no kernel to show"):
        roofline.svg([])


def test_python_and_saved_reports_draw_the_same(tmp_path: Path) -> None:
    report = incc.analyze(TRIAD, mcpu="skylake-avx512", data="L2", ghz=2.0)
    (tmp_path / "r.json").write_text(report.to_json())
    saved = incc.load(tmp_path / "r.json")
    assert report.roofline() == saved.roofline()
    assert report.roofline(page=True) == saved.roofline(page=True)
    assert "GFLOP/s at 2 GHz" in report.roofline()


def test_ceilings_of_a_read_report_are_those_of_its_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = incc.analyze(TRIAD, mcpu="haswell")
    path, picture = tmp_path / "r.json", tmp_path / "r.svg"
    path.write_text(report.to_json())
    assert ranked.main([str(path), f"--roofline={picture}"]) == 0
    assert "Intel Haswell" in picture.read_text()
    version = report._document.units[0].model.version
    path.write_text(report.to_json().replace(version, "1.0"))
    assert ranked.main([str(path), f"--roofline={picture}"]) == 0
    assert "warning: the ceilings of haswell are those of its current model" in capsys.readouterr().err
    path.write_text(report.to_json().replace('"name": "haswell"', '"name": "gone"'))
    assert ranked.main([str(path), f"--roofline={picture}"]) == 2
    messages = capsys.readouterr().err
    assert "warning: no ceilings of gone: no machine model named 'gone'" in messages
    assert "not written: no kernel to show" in messages

"""Strategies that several kinds of input share."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st

from test.fuzz.corpus import ARM_CORES, CORES
from test.fuzz.runs import STREAMS

T = TypeVar("T")

VALUES = (
    "0", "1", "2", "-1", "3", "10", "100", "4294967295", "4294967296", "1000000000000", "99999999999999999999999",
    "0x10", "true", "false", "", "nan", "inf", "1e308", "all", "none", "help", "intel", "att", "skylake", "znver4",
    "native", "skylake,znver3", ",", "btver2", "x86_64", "i386-pc-linux", "aarch64", "+avx512f,-sse", "any", "f", "*",
    "[", "f:3", "3", "a.s:1", "0-10", "0+ffffffffffffffff", "port 5 += 1", "rob = 0", "rob = 100000000", "width = 1000",
    "latency ADD = 1000000000", "-", ".", "/dev/null", "/dev/full", "missing/x", "out.dot", "out.svg", "\udcff", "%s%n",
    "cycles > 1", "cycles > 1 and (", "not " * 2000 + "cycles", "cycles_b > 1.1*cycles_a", "cycles > +5%",
    "has('gather')", "1" + "+1" * 3000 + " > cycles", "2026-01-31", "9999999-99-99", "\x1b[2J", "a\nb", "\u202e",
)  # fmt: skip
"""Values of options, each valid for some."""

values = st.sampled_from(VALUES)
cores = st.sampled_from(CORES)
some_cores = st.sampled_from((*CORES * 4, *ARM_CORES))
"""Cores, a few of them of Arm."""
arm_cores = st.sampled_from(ARM_CORES)
conditions = st.sampled_from(
    ("cycles > 1", "cycles > 1 and not (bound == 1)", "has('gather')", "headroom > 0.3", "cycles_b > 1.1*cycles_a", "(")
)

VIEWS = (
    ("-all-views",), ("-all-stats",), ("-json",), ("-timeline",), ("-bottleneck-analysis",), ("-instruction-tables",),
    ("-html=out.html",), ("-dependency-graph=out.dot",), ("-graph=out.graphml",), ("-cfg=out.cfg.dot",),
    ("-sarif=out.sarif",), ("-opt-record=out.yaml",), ("-what-if",), ("-wait-states",), ("-critical-path",),
    ("-loop-carried",), ("-port-model",), ("-views=all",), ("-paths",), ("-auto",),
    ("-auto", "-paths"), ("-function=*",), ("-function=f*",), ("-mcpu=skylake,znver4,icelake-server",),
    ("-iterations=1",), ("-timeline", "-timeline-max-iterations=3", "-timeline-max-cycles=0"), ("-show-encoding",),
    ("-roofline=out.svg", "-data=all"), ("-roofline=out.html", "-data=L2,64M", "-cores=4"),
    ("-data=memory", "-let=rsi=-8"), ("-show-barriers",), ("-skip-unsupported-instructions=any",),
    ("-output-asm-variant=1",),
)  # fmt: skip
"""Options of incc-mca that make most of the program run."""

views = st.lists(st.sampled_from(VIEWS), max_size=3).map(lambda chosen: [word for words in chosen for word in words])


@st.composite
def many(draw: st.DrawFn, elements: st.SearchStrategy[T], most: int) -> list[T]:
    """Return a list of 1 to `most` elements. Those of `st.lists` have six on average, whatever their largest size."""
    return draw(st.lists(elements, min_size=draw(st.sampled_from((1, most // 4, most // 2))), max_size=most))


@st.composite
def ways(draw: st.DrawFn, jobs: bool = False) -> dict[str, str]:
    """Return how a run is executed: as a rule in a fork, once; with `jobs` now and then with -j1 and -j2."""
    chosen = draw(st.integers(0, 39))
    if chosen == 39:
        return {"streams": draw(st.sampled_from(STREAMS))}
    if chosen >= 32:
        return {"again": draw(st.sampled_from(("twice", "jobs"))) if jobs else "twice"}
    return {}

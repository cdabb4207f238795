"""What crosses between Python and the core is defined once: what is made of it is current, and both sides agree."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from bind_kernels import bound
from incc.core import _core, counters, simulate
from incc.models.binding import bound as b
from incc.models.loading import load
from incc.models.schema.parameters import PARAMETERS

GENERATOR = runpy.run_path(str(Path(__file__).parents[2] / "core" / "generate.py"))


def test_made_modules_are_current() -> None:
    for path, text in GENERATOR["outputs"]().items():
        assert path.read_text(encoding="utf-8") == text, f"run core/generate.py: {path.name}"


def test_check_notices_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "bound.py"
    stale.write_text("", encoding="utf-8")
    main: Any = GENERATOR["main"]
    monkeypatch.setitem(main.__globals__, "outputs", lambda: {stale: "x = 1\n"})
    monkeypatch.setitem(main.__globals__, "ROOT", tmp_path)
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_a_line_that_is_no_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="KERNEL_SCALAR"):
        GENERATOR["read"]("KERNEL_SCALAR(Rob, rob")


def test_defaults_are_those_of_the_core() -> None:
    assert _core.defaults() == (b.KERNEL_DEFAULTS, b.PIPELINE_DEFAULTS)


def test_parameters_have_the_defaults_of_the_model() -> None:
    def number(value: Any) -> int:
        return b.UNLIMITED if value == "unlimited" else int(value)

    known = {p.name: p.default for p in PARAMETERS}
    assert {name: number(known[name]) for name in b.PIPELINE_PARAMETERS} == b.PIPELINE_PARAMETERS


@pytest.mark.parametrize("cpu", ["skylake", "znver4", "sandybridge", "bonnell"])
def test_binding_sets_every_field(cpu: str) -> None:
    load(cpu)
    k = bound("add %rax, %rbx", cpu)
    assert [name for name in b.BoundKernel.__slots__ if not hasattr(k, name)] == []
    assert [name for name in b.Pipeline.__slots__ if not hasattr(k.pipeline, name)] == []


@pytest.mark.parametrize("name", b.Pipeline.__slots__)
def test_every_field_of_the_pipeline_is_read(name: str) -> None:
    """And what is wrong with it is said by its name."""
    k = bound("add %rax, %rbx", "sandybridge")
    setattr(k.pipeline, name, "no number")
    with pytest.raises(ValueError, match=f"^{name}: "):
        simulate(k)
    delattr(k.pipeline, name)
    with pytest.raises(ValueError, match=f"^{name}: not set"):
        simulate(k)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("idq", 0, "must be at least 1"),
        ("dsb_block", 0, "must be at least 1"),
        ("in_order", 2, "must be at most 1"),
        ("port_binding", 4, "must be at most 3"),
        ("move_class", [3], "outside 0..2"),
        ("move_from", [99], "entry 0 is 99"),
        ("length", [-1], "entry 0 is -1"),
        ("slot_ports", [0, 1], "not a row for each port"),
        ("slot_set", 1 << 20, "not a set of ports"),
        ("port_order", [9], "entry 0 is 9"),
        ("picked_from", [1], "has another length"),
        ("scheduler_entries", [0], "entry 0 is 0"),
    ],
)
def test_ranges(name: str, value: Any, message: str) -> None:
    k = bound("add %rax, %rbx", "sandybridge")
    setattr(k.pipeline, name, value)
    with pytest.raises(ValueError, match=f"^pipeline: {name}: .*{message}"):
        simulate(k)


def test_counters_have_names() -> None:
    s = simulate(bound("add %rax, %rbx"))
    assert isinstance(s.lost_slots, counters.LostSlots)
    assert isinstance(s.uops_by_source, counters.UopsBySource)
    assert counters.UopsBySource.__struct_fields__ == ("decoders", "uop_cache", "loop_stream_detector", "microcode")
    assert counters.LostSlots.__struct_fields__[::5] == ("no_uops", "store_buffer")

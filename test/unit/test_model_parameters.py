"""The table of parameters: what it lets through, what is generated from it, and that binding sees every one of them."""

from __future__ import annotations

import json
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bind_kernels import kernel
from incc.models import loading
from incc.models import model as m
from incc.models.binding import bound as b
from incc.models.binding.bind import bind
from incc.models.check import check
from incc.models.schema import describe, parameters
from incc.models.schema.fields import FUNCTIONS
from incc.models.schema.parameters import BY_NAME, PARAMETERS, REQUIRED

HEADER = """\
format = 1
name = "small"
title = "A small core"
isa = "x86"
source = "test"
[sources]
test = "made up"
[ports]
names = ["0", "1", "2", "4"]
resources = ["0DV"]
[ports.functions]
load = "p2"
store_address = "p2"
store_data = "p4"
[parameters]
issue_width = 4
retire_width = 4
rob = 100
rs = 50
load_latency = { gpr = 5 }
store_forward = { gpr = 5 }
[forms]
"ADD_RM64_R64/r" = { ports = "1*p01", retire = 1, latency = "0,C,SPAZO<0,1:1" }
"""


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("INCC_MODEL_PATH", raising=False)


def write(folder: Path, text: str, name: str = "small") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text.replace('name = "small"', f'name = "{name}"'))
    return path


# --- names and values that are not understood -------------------------------------------------------------------------


MISTAKES = [
    ("rob = 100", "rob = 100\ndsb_widht = 6", "unknown parameter 'dsb_widht'; did you mean dsb_width?"),
    ("rob = 100", 'rob = 100\nport_binding = "ten_port"', "is unknown: 'ten_port'; did you mean ten_ports?"),
    ("rob = 100", "rob = 100\nport_binding = 3", "'port_binding' must be one of least_loaded,"),
    ("rob = 100", "rob = 0", "'rob' must be a whole number, 1 or more, not 0"),
    ("rob = 100", 'rob = "many"', "'rob' must be a whole number, 1 or more, not 'many'"),
    ("rob = 100", "rob = true", "'rob' must be a whole number, 1 or more, not True"),
    ("rob = 100", "rob = 100\nlsd = 1", "'lsd' must be true or false, not 1"),
    ("rob = 100", 'rob = 100\nmove_elim_gpr = "unlimitted"', 'or "unlimited", not'),
    ("rob = 100", "rob = 100\nidq = -5", "'idq' must be a whole number, 1 or more, not -5"),
    ("rob = 100", "rob = 100\nlsd_unroll = { 9-3 = 2 }", "'lsd_unroll.9-3' must be a number of µops"),
    ("rob = 100", "rob = 100\nlsd_unroll = { 3 = 0 }", "'lsd_unroll.3' must be a whole number, 1 or more"),
    ("rob = 100", 'rob = 100\nschedulers = { "0,1" = "x" }', "'schedulers.0,1' must be a whole number, 1 or more"),
    ("rob = 100", 'rob = 100\nqueued_at = { "0" = "0,9" }', "queued_at names an unknown port in '0,9'"),
    ("rob = 100", 'rob = 100\nwide_vectors = { widht = 5 }', "'wide_vectors.widht' is unknown; did you mean width?"),
    ("rob = 100", 'rob = 100\nwide_vectors = { width = 512 }', "parameter 'wide_vectors.closes' is missing"),
    ("rob = 100", "rob = 100\nalternating_ports = 3", "'alternating_ports' must be a list of ports"),
    ("load_latency = { gpr = 5 }", "load_latency = { grp = 5 }", "'load_latency.grp' is unknown; did you mean gpr?"),
    ('load = "p2"', 'laod = "p2"', "unknown function of ports 'laod'; did you mean load?"),
    ('resources = ["0DV"]', 'resource = ["0DV"]', "unknown key 'ports.resource'; did you mean ports.resources?"),
    ('title = "A small core"', 'titel = "A small core"', "unknown key 'titel'; did you mean title?"),
    ("retire = 1,", "retires = 1,", "unknown field 'retires'; did you mean retire?"),
    ("retire = 1,", "retire = 1, divider = -4,", "divider of -4"),
    ("retire = 1,", 'retire = 1, divider = 4, unit = "0VD",', "unit '0VD' is not in ports.resources"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_are_errors_when_loaded_and_when_checked(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert HEADER.count(old) == 1
    text = HEADER.replace(old, new)
    path = write(tmp_path, text)
    line = 1 + text[: text.index(new)].count("\n") + new.count("\n")
    with pytest.raises(m.ModelError) as error:
        loading.load(str(path))
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}:{line}: "), error.value
    found = [f for f in check(str(path), [str(tmp_path)]) if f.level == "error"]
    assert any(message in f"{f.place}: {f.message}" and f.place.startswith(f"{path}:{line}") for f in found), found


def test_nothing_wrong(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER)
    assert check(str(path), [str(tmp_path)]) == []
    assert loading.load(str(path)).why_not_simulated == "its model does not say how µops get their ports"
    assert loading.load("skylake").why_not_simulated == ""


def test_the_line_of_a_table(tmp_path: Path) -> None:
    text = HEADER.replace("[forms]", "[parameters.lsd_unroll]\n1 = 2\n2 = 0\n[forms]")
    path = write(tmp_path, text)
    line = text.splitlines().index("2 = 0") + 1
    with pytest.raises(m.ModelError, match=rf"small.toml:{line}: parameter 'lsd_unroll.2'"):
        loading.load(str(path))


def test_tables_are_completed_by_what_inherits(tmp_path: Path) -> None:
    whole = 'wide_vectors = { width = 512, closes = "1", instead = "0" }\n'
    write(tmp_path, HEADER.replace("[forms]", f"{whole}[forms]"))
    child = 'format = 1\nname = "child"\ninherits = "small"\n[parameters.wide_vectors]\ncloses = "4"\n'
    model = loading.load(str(write(tmp_path, child, "child")))
    assert dict(model.parameters["wide_vectors"]) == {"width": 512, "closes": "4", "instead": "0"}


def test_mistakes_of_what_is_inherited_are_named_where_they_are(tmp_path: Path) -> None:
    parent = write(tmp_path, HEADER.replace("rob = 100", "rob = 100\ndsb_widht = 6"))
    line = parent.read_text().splitlines().index("dsb_widht = 6") + 1
    child = write(tmp_path, 'format = 1\nname = "child"\ninherits = "small"\n', "child")
    with pytest.raises(m.ModelError) as error:
        loading.load(str(child))
    assert str(error.value).startswith(f"{parent}:{line}: unknown parameter")


# --- the table and what is made of it ---------------------------------------------------------------------------------


def in_tree(path: str) -> Path:
    """The file in the tree, also where the package is installed, which has no documents."""
    return Path(__file__).resolve().parents[2] / Path(path).relative_to(Path(describe.MODELS).parent)


def test_generated_parts_are_current() -> None:
    """`make describe` writes them."""
    for path, make in describe.WRITTEN:
        text = in_tree(path).read_text(encoding="utf-8")
        assert make(text) == text, path


def test_generating_notices_changes(tmp_path: Path) -> None:
    text = in_tree(describe.DOCUMENT).read_text(encoding="utf-8")
    assert describe.document(text.replace("| `rob` |", "| `bor` |")) == text
    with pytest.raises(ValueError, match="no place for parameters"):
        describe.document(text.replace("<!-- end of parameters -->", ""))
    schema = in_tree(describe.SCHEMA).read_text(encoding="utf-8")
    assert describe.schema(schema.replace('"rob"', '"bor"')) == schema


def test_entries_are_complete() -> None:
    assert list(describe.descriptions()) == list(BY_NAME)
    for p in PARAMETERS:
        assert p.read_by, p.name
        if p.default is not REQUIRED and p.default != "":
            assert p.kind.problems(p.default) == [], p.name


def test_defaults_are_those_of_the_core() -> None:
    for name, default in b.PIPELINE_PARAMETERS.items():
        value = BY_NAME[name].default
        assert (b.UNLIMITED if value == "unlimited" else int(value)) == default, name


BY_PORTS = ("queued_at", "schedulers", "dispatch_limits")


def test_schema_and_loader_agree() -> None:
    """On values of all sorts, for each parameter."""
    schema = json.loads(Path(describe.SCHEMA).read_text(encoding="utf-8"))
    values: list[Any] = [True, 0, 1, -1, 1.5, "", "0", "0,1", "x y", "unlimited", "ten_ports", [], ["0,1"], [3], {}]
    values += [{"gpr": 3}, {"gpr": -1}, {"grp": 3}, {"0,1": 4}, {"0,1": "0"}, {"3": 4}, {"9-12": 1}, {"x": 1}]
    for p in PARAMETERS:
        validator = jsonschema.Draft202012Validator(schema["properties"]["parameters"]["properties"][p.name])
        for value in values:
            if p.kind.ports(value) if isinstance(value, dict) and p.name in BY_PORTS else False:
                # The schema is stricter about characters in names; whether a port exists, only the loader knows.
                continue
            good = p.kind.problems(value) == []
            if good and not validator.is_valid(value):
                assert value == "x y", (p.name, value)  # a name of ports that no port can have
            elif not good:
                assert not validator.is_valid(value), (p.name, value)


def test_functions_of_all_models_are_known() -> None:
    used = {name for entry in loading.list_models() for name in loading.load(entry.name).functions}
    assert used == set(FUNCTIONS)


def test_every_parameter_is_used_by_a_model() -> None:
    stated = {name for entry in loading.list_models() for name in loading.load(entry.name).stated_parameters}
    assert stated == set(BY_NAME)


# --- models do not change; binding sees what they say -----------------------------------------------------------------

PROGRAM = """
1: push %rbx; pop %r12; mov $1, %eax; mov $3, %ah; add %ebx, %eax; mov (%rsi), %rcx; mov (%rcx), %rdx
mov %rdx, (%rdi); mov (%rdi), %r8; vmovups (%rsi), %ymm0; vmovups (%rsi), %zmm1; vaddpd %zmm1, %zmm1, %zmm1
vmovups %ymm0, (%rdi); mov %r8, %r9; vmovaps %ymm2, %ymm3; imul %r9, %r8; inc %rcx; mov %r9, %r9; nop
vaddpd (%rsi), %ymm4, %ymm4; vcvtsi2sd %eax, %xmm5, %xmm5
mov %r8, %r10; add %rax, %r10; cmovb %rcx, %rdi; mov (%rsi,%r10,8), %r11; incb 8(%rdi); cmp %rcx, %rax; jne 1b
"""

CHANGES: dict[str, tuple[str, Any]] = {
    # core, another value
    "alternating_ports": ("skylake", ["0,1"]),
    "load_latency": ("skylake-avx512", {"gpr": 9, "xmm": 9, "ymm": 9, "zmm": 9}),
    "store_forward": ("skylake-avx512", {"gpr": 9, "xmm": 9, "ymm": 9, "zmm": 9}),
    "forward_delays": ("skylake-avx512", {"*": 1}),
    "lsd_unroll": ("skylake", {"1-40": 3}),
    "memory_bits": ("znver1", 0),
    "renames_narrow": ("znver5", False),
    "groups_in_turn": ("znver5", ["AG0", "AG1"]),
    "ports_at_start": ("znver5", "ALU0,ALU3"),
    "dispatch_limits": ("znver4", {"AG0,AG1": 2}),
    "dsb_constants": ("znver3", {"beside": 3, "each": 2, "most": 8}),
    "port_binding": ("skylake", "least_loaded"),
    "port_order": ("skylake", ["1", "0"]),
    "ports_by_slot": ("sandybridge", ["0,1", "1,0"]),
    "queued_at": ("znver4", {"AG0": "AG0,AG1"}),
    "renamer_ports": ("skylake", "0"),
    "schedulers": ("skylake", {"0,1": 9}),
    "stack_engine": ("skylake", ""),
    "waiting_queue": ("znver4", {"ports": "FP0", "entries": 3}),
    "wide_vectors": ("skylake-avx512", {"width": 512, "closes": "5", "instead": "0"}),
    "address_aliasing": (
        "skylake",
        {"bits": 12, "stores": 2, "cycles": 7, "after_retirement": 6, "starts_again": False},
    ),
    "sum_folding": ("skylake", {"constant_bits": 4, "taken_by": ["0"], "refused_by": [], "late": 2}),
    "late_beside_flags": ("skylake", {"ADD_*": "CMOV*"}),
    "port_delays": ("skylake", {"classes": {"all": "*"}, "rules": {"all@0,1,5,6 all@0,1,5,6": 1}}),
    "move_fusion": ("skylake", {"MOV_*": "ADD_*"}),
    "prefix_fusion": ("skylake", {"MOV_*": "ADD_*"}),
    "late_accumulators": ("skylake", {"*": {"after": "*", "cycles": 1}}),
    "jump_fusion": ("bonnell", {"CMP_*": "JNE_*"}),
    "skips_zero_elements": ("skylake", "*CVTSI2SD_*"),
    "self_moves_execute": ("znver4", True),
    "fused_jump_computes": ("skylake", True),
    "memory_renaming": (
        "skylake",
        {"indexed": True, "bytes": True, "computing": True, "register_updates": True},
    ),
}


def contents(model: m.MachineModel) -> Any:
    """All that the core sees of a kernel on this model."""
    bound, _ = bind(kernel(PROGRAM), model)
    pipeline = bound.pipeline
    fields = {k: getattr(bound, k) for k in bound.__slots__ if k != "pipeline"}
    return fields, {k: getattr(pipeline, k) for k in pipeline.__slots__} if pipeline is not None else None


def changed(p: parameters.Parameter) -> tuple[str, Any]:
    """A core and a value of the parameter that is not the core's."""
    if p.name in CHANGES:
        return CHANGES[p.name]
    core = "skylake-avx512"
    now = loading.load(core).parameters[p.name]
    if isinstance(now, bool):
        return core, not now
    return core, 7 if now == "unlimited" else now + 1


BOUND = [p for p in PARAMETERS if p.read_by not in (parameters.CALLS, parameters.COUNTS, parameters.MEASURING)]


@pytest.mark.parametrize("p", BOUND, ids=[p.name for p in BOUND])
def test_binding_sees_every_parameter(p: parameters.Parameter) -> None:
    """Also when kernels were bound before, whose pieces are kept."""
    core, value = changed(p)
    model = loading.load(core)
    before = contents(model)
    other = model.with_parameters({p.name: value})
    after = contents(other)
    assert after != before
    assert contents(model) == before
    assert contents(other) == after
    loading.purge()
    assert contents(loading.load(core)) == before
    assert contents(loading.load(core).with_parameters({p.name: value})) == after


def test_a_model_does_not_change() -> None:
    model = loading.load("skylake")
    for table in (model.parameters, model.functions, model.parameters["load_latency"]):
        with pytest.raises(TypeError):
            table["gpr"] = 1  # type: ignore[index]
    assert isinstance(model.parameters["alternating_ports"], tuple)
    other = model.with_parameters({"rob": 300})
    assert (other.parameters["rob"], model.parameters["rob"]) == (300, 224)
    assert other.version != model.version
    assert other.with_parameters({"rob": 224}).version == other.with_parameters({"rob": 224}).version
    assert other.name == "skylake"
    assert other.stated_parameters == {**model.stated_parameters, "rob": 300}
    for wrong, message in (({"robb": 1}, "unknown parameter 'robb'; did you mean rob"), ({"rob": 0}, "'rob' must")):
        with pytest.raises(m.ModelError, match=message):
            model.with_parameters(wrong)
    with pytest.raises(m.ModelError, match="unknown port"):
        model.with_parameters({"renamer_ports": "0,99"})


def test_asked_again_load_gives_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER)
    assert loading.load("skylake") is loading.load("skylake")
    assert loading.load("SKL") is loading.load("skylake")
    first = loading.load(str(path))
    assert loading.load(str(path)) is first
    path.write_text(HEADER.replace("rob = 100", "rob = 101"))
    assert loading.load(str(path)).parameters["rob"] == 101
    loading.purge()
    assert loading.load("skylake") is loading.load("skylake")


def test_models_kept_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_MOST_LOADED", 3)
    paths = [write(tmp_path, HEADER, f"core{n}") for n in range(8)]
    for path in paths:
        loading.load(str(path))
        assert len(loading._LOADED) <= 3
        loading.list_models([str(path)])
        assert len(loading._INDEXES) <= 4


def test_what_is_kept_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from incc.models.binding import pieces, pipeline

    monkeypatch.setattr(pieces, "MOST_KEPT", 40)
    monkeypatch.setattr(pipeline, "_MOST_KEPT", 10)
    monkeypatch.setattr(m, "_MOST_LOOKED_UP", 10)
    model = loading.load("skylake").with_parameters({"rob": 225})
    for n in range(100):
        bind(
            kernel(
                f"mov ${n}, %ah; lea {n}(%rbx), %rcx; add {n}(%rsi), %rax; imul ${n}, %rsi, %rdx; mov %eax, {n}(%rdi)"
            ),
            model,
        )
        assert sum(len(k.pieces) + len(k.shapes) for k in model.caches["known"].values()) <= 60
        assert all(len(s.facts) <= 10 for k in model.caches["known"].values() for s in k.shapes.values())
        assert len(pieces._FACTS) <= 60
        assert len(model._cache) <= 10


def test_binding_from_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """With caches so small that they are dropped all the time."""
    from incc import core
    from incc.models.binding import pieces, pipeline

    monkeypatch.setattr(pieces, "MOST_KEPT", 8)
    monkeypatch.setattr(pipeline, "_MOST_KEPT", 8)
    monkeypatch.setattr(m, "_MOST_LOOKED_UP", 4)
    texts = [f"1: imul %rbx, %rax; add {8 * n}(%rsi), %rcx; mov %rcx, (%rdi); dec %rdx; jne 1b" for n in range(12)]
    kernels = [kernel(text) for text in texts]
    expected = [core.analyze(bind(k, loading.load("haswell"))[0]).port_bound for k in kernels]
    shared = loading.load("haswell").with_parameters({"rob": 193})
    wrong: list[tuple[int, Fraction]] = []

    def work(start: int) -> None:
        for turn in range(60):
            n = (start + turn) % len(kernels)
            bound = core.analyze(bind(kernels[n], shared)[0]).port_bound
            if bound != expected[n]:
                wrong.append((n, bound))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []

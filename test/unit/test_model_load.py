"""Loading of machine models: notation, inheritance, lookup, names, and the cache."""

from __future__ import annotations

import os
import shutil
import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.models import loading, notation
from incc.models import model as m
from incc.models.files import compile as compiler
from incc.models.files import source

HEADER = """\
format = 1
name = "{name}"
aliases = {aliases}
title = "A core"
isa = "x86"
source = "test"
{inherits}
[sources]
test = "made up"
[ports]
names = ["0", "1", "2", "FP0", "FP1"]
resources = ["0DV"]
[ports.functions]
load = "p2"
[parameters]
issue_width = {width}
retire_width = 4
rob = 100
rs = 50
store_forward = {{ gpr = 5 }}
[parameters.load_latency]
gpr = 5
[macro_fusion]
cmp = "je jne"
[forms]
"""


def write(folder: Path, name: str, forms: str = "", aliases: str = "[]", inherits: str = "", width: int = 4) -> Path:
    path = folder / f"{name}.toml"
    text = HEADER.format(name=name, aliases=aliases, inherits=inherits and f'inherits = "{inherits}"', width=width)
    path.write_text(text + forms)
    return path


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.delenv("INCC_MODEL_PATH", raising=False)
    loading.purge()
    return home


# --- notation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("1*p0", (("0", 1),)),
        ("1*p01+2*p2", (("0,1", 1), ("2", 2))),
        ("1*p10", (("0,1", 1),)),
        ("3*FP01", (("FP0,FP1", 3),)),
        ("1*p(0|FP1)", (("0,FP1", 1),)),
    ],
)
def test_ports(text: str, expected: object) -> None:
    assert notation.parse_ports(text, ["0", "1", "2", "FP0", "FP1"]) == expected


@pytest.mark.parametrize("text", ["p01", "1*p9", "0*p0", "1*", "x*p0", "1*p0+", "1*01"])
def test_malformed_ports(text: str) -> None:
    with pytest.raises(ValueError, match="port"):
        notation.parse_ports(text, ["0", "1", "2"])


def test_latency() -> None:
    assert notation.parse_latency("0,C<1,m:2 M<0:1") == (
        ("0", "1", 2),
        ("0", "m", 2),
        ("C", "1", 2),
        ("C", "m", 2),
        ("M", "0", 1),
    )


@pytest.mark.parametrize("text", ["0<1", "0:1", "<1:2", "0<:2", "0<1:x", "0<1,:1", "0<1:-1"])
def test_malformed_latency(text: str) -> None:
    with pytest.raises(ValueError, match="malformed latency"):
        notation.parse_latency(text)


OPERANDS = st.sampled_from(["0", "1", "2", "k", "m", "a", "C", "SPAZO", "M", "rax", "rdx"])


@given(st.dictionaries(st.tuples(OPERANDS, OPERANDS), st.integers(0, 99)))
def test_latency_round_trip(pairs: dict[tuple[str, str], int]) -> None:
    written = notation.write_latency([(t, s, c) for (t, s), c in pairs.items()])
    assert {(t, s): c for t, s, c in notation.parse_latency(written)} == pairs


@given(
    st.dictionaries(st.sets(st.sampled_from("012345"), min_size=1).map(lambda s: "".join(sorted(s))), st.integers(1, 9))
)
def test_ports_round_trip(usage: dict[str, int]) -> None:
    parsed = notation.parse_ports(notation.write_numbered_usage(usage), list("012345"))
    assert {p.replace(",", ""): n for p, n in parsed} == usage


@given(st.text(string.ascii_letters + '"\\ µ', max_size=20), st.integers(0, 9), st.booleans())
def test_fields_round_trip(text: str, number: int, flag: bool) -> None:
    import tomllib

    fields = {"ports": "1*p0", "derived": text, "retire": number, "no_lsd": flag, "tp": number + 0.5}
    forms: source.Forms = {"NOPD/r": {(): fields, ("rep", "x"): fields}}
    data = tomllib.loads(source.write_forms(forms, {"a": ("je", "jne")}))
    assert data["forms"] == {"NOPD/r": fields, "NOPD/r [rep, x]": fields}
    assert data["macro_fusion"] == {"a": "je jne"}


# --- lookup ----------------------------------------------------------------------------------------------------------


def test_conditions(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "one",
        """
"F/r" = { ports = "1*p0", retire = 1, latency = "0<1:3", fusion = "cmp" }
"F/r [a]" = { latency = "0<1:4", uops_ms = 2 }
"F/r [a, b]" = { ports = "", breaks = true }
""",
    )
    model = loading.load(str(path))
    plain = model.lookup("F/r", frozenset())
    assert plain is not None
    assert (plain.uops, plain.latency, plain.source) == ((("0", 1),), (("0", "1", 3),), "test")
    assert model.lookup("F/r", frozenset(["b"])) == plain
    both = model.lookup("F/r", frozenset(["a", "b", "c"]))
    assert both is not None
    assert (both.key, both.uops, both.latency) == ("F/r [a, b]", (), (("0", "1", 4),))
    assert both.breaks_dependency
    assert both.attributes == {"uops_ms": 2}
    assert model.lookup("F/m", frozenset()) is None
    assert model.fuses(plain, "je")
    assert not model.fuses(plain, "jo")


@given(
    st.dictionaries(
        st.frozensets(st.sampled_from("abcd")),
        st.dictionaries(st.sampled_from(["divider", "uops_ms"]), st.integers(1, 9)),
    ),
    st.frozensets(st.sampled_from("abcde")),
)
def test_most_specific_wins(entries: dict[frozenset[str], dict[str, int]], traits: frozenset[str]) -> None:
    table = {tuple(sorted(c)): f for c, f in entries.items()}
    header = m.Header(
        name="x",
        aliases=(),
        title="",
        isa="x86",
        source="s",
        sources={},
        parameters={},
        stated=(),
        macro_fusion={},
        memory=b"",
        functions={},
        ports=("0",),
        resources=(),
        llvm=b"",
    )
    model = m.MachineModel(header, {"F/r": compiler.pack(table)}, ("f",), "1")
    form = model.lookup("F/r", traits)
    assert form is not None
    for field, value in (("divider", form.divider), ("uops_ms", form.attributes.get("uops_ms", 0))):
        holding = [c for c in entries if c <= traits and field in entries[c]]
        most = max((len(c) for c in holding), default=0)
        assert value in ({entries[c][field] for c in holding if len(c) == most} or {0})


def test_inheritance(tmp_path: Path) -> None:
    write(
        tmp_path, "old", '"F/r" = { ports = "1*p0", tp = 5 }\n"F/r [a]" = { divider = 3 }\n"G/r" = { ports = "1*p1" }\n'
    )
    write(tmp_path, "mid", '"F/r" = { ports = "1*p01", tp = 0 }\n', inherits="old", width=6)
    write(tmp_path, "new", '"G/r" = { absent = true }\n"H/m" = { ports = "1*p2" }\n', inherits="mid", width=6)
    model = loading.load("new", [str(tmp_path)])
    form = model.lookup("F/r", frozenset("a"))
    assert form is not None
    assert (form.uops, form.throughput, form.divider) == ((("0,1", 1),), None, 3)
    assert model.lookup("G/r", frozenset()) is None
    assert model.lookup("H/m", frozenset()) is not None
    assert model.parameters["issue_width"] == 6
    assert [os.path.basename(f) for f in model.files] == ["new.toml", "mid.toml", "old.toml"]


def test_inheritance_in_a_circle(tmp_path: Path) -> None:
    write(tmp_path, "a", inherits="b")
    write(tmp_path, "b", inherits="a")
    with pytest.raises(m.ModelError, match="inherits from it"):
        loading.load("a", [str(tmp_path)])


# --- names -----------------------------------------------------------------------------------------------------------


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "mycore", aliases='["Fast One", "MC"]')
    assert loading.load("MYCORE", [str(tmp_path)]).name == "mycore"
    assert loading.load("mc", [str(tmp_path)]).name == "mycore"
    assert loading.find_cpu("mC", [str(tmp_path)]).model == "mycore"
    monkeypatch.setenv("INCC_MODEL_PATH", os.pathsep.join(["/nonexistent", str(tmp_path / "mycore.toml")]))
    assert loading.load("fast one").name == "mycore"
    assert "mycore" in [e.name for e in loading.list_models()]


def test_unknown_name() -> None:
    with pytest.raises(m.ModelError, match=r"no machine model named 'skylak'; did you mean .*skylake"):
        loading.load("skylak")
    with pytest.raises(m.ModelError, match="incc-model list"):
        loading.load("zzzzzzzz")


@pytest.mark.parametrize("name", ["SKX", "skylake-avx512", "Skylake-X"])
def test_skylake_server(name: str) -> None:
    assert loading.find_cpu(name).model == "skylake-avx512"
    assert loading.load(name).isa == "x86"


def test_compiler_names() -> None:
    assert loading.find_cpu("cascadelake").model == "cascadelake"
    assert not loading.find_cpu("cascadelake").nearest
    assert loading.find_cpu("x86-64-v3").model == loading.find_cpu("").model == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = = 1\n", "line 1"),
        ('format = 99\nname = "bad"\n', "format 99"),
        ('format = 1\nname = "bad"\nfoo = 1\n', "unknown key 'foo'"),
        ('format = 1\nname = "bad"\nisa = "x86"\n', "no ports"),
        ('format = 1\nname = "bad"\n[forms]\n"F/r" = { port = 1 }\n', "bad.toml:4: unknown field 'port'"),
        ('format = 1\nname = "bad"\n[forms]\n"F" = {}\n', "bad.toml:4: malformed key"),
        ('format = 1\nname = "bad"\n[forms]\n"F/r [a" = {}\n', "malformed key"),
        ('format = 1\nname = "bad"\n[forms]\n"F/r" = { retire = "x" }\n', "field 'retire'"),
        ('format = 1\nname = "bad"\ninherits = "nobody"\n', "unknown model"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(m.ModelError) as error:
        loading.load(str(path))
    assert message in str(error.value)
    assert "bad.toml" in str(error.value)


def test_bad_figures_are_reported_when_looked_up(tmp_path: Path) -> None:
    model = loading.load(str(write(tmp_path, "bad", '"F/r" = { ports = "1*p9" }\n')))
    with pytest.raises(m.ModelError, match=r"F/r: unknown port '9'"):
        model.lookup("F/r", frozenset())


# --- cache -----------------------------------------------------------------------------------------------------------


def cached(home: Path, name: str) -> Path:
    (found,) = home.glob(f"incc/tables/{name}.toml-*")
    return found


def test_cache_is_used_and_follows_changes(tmp_path: Path, cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "one", '"F/r" = { ports = "1*p0" }\n')
    first = loading.load(str(path))
    compile_model = compiler.compile_model
    monkeypatch.setattr(compiler, "compile_model", None)
    loading.purge()
    again = loading.load(str(path))
    assert again.version == first.version
    monkeypatch.setattr(compiler, "compile_model", compile_model)
    # Same size and time, other content.
    stat = path.stat()
    write(tmp_path, "one", '"F/r" = { ports = "1*p1" }\n')
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    changed = loading.load(str(path))
    form = changed.lookup("F/r", frozenset())
    assert form is not None
    assert form.uops == (("1", 1),)
    assert changed.version != first.version


@pytest.mark.parametrize("damage", [b"", b"garbage", None, b"flip"])
def test_damaged_cache(tmp_path: Path, cache_home: Path, damage: bytes | None) -> None:
    path = write(tmp_path, "one", '"F/r" = { ports = "1*p0" }\n')
    loading.load(str(path))
    file = cached(cache_home, "one")
    data = file.read_bytes()
    if damage is None:
        data = data[: len(data) // 2]
    elif damage == b"flip":
        data = data[:-9] + bytes([data[-9] ^ 0x40]) + data[-8:]
    else:
        data = damage
    file.write_bytes(data)
    loading.purge()
    model = loading.load(str(path))
    assert model.lookup("F/r", frozenset()) is not None
    assert list(model.forms()) == ["F/r"]
    assert file.read_bytes() != data


def test_nothing_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    path = write(tmp_path, "one", '"F/r" = { ports = "1*p0" }\n')
    for _ in range(2):
        loading.purge()
        assert loading.load(str(path)).lookup("F/r", frozenset()) is not None


def test_concurrent_writers(tmp_path: Path, cache_home: Path) -> None:
    forms = "".join(f'"F{n}/r" = {{ ports = "1*p0", retire = {n} }}\n' for n in range(300))
    path = write(tmp_path, "one", forms)
    program = f"from incc.models.loading import load\nprint(len(list(load({str(path)!r}).forms())))"
    workers = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(4)]
    assert [w.communicate()[0].strip() for w in workers] == [b"300"] * 4
    assert not list(cache_home.glob("incc/tables/*.tmp"))
    assert len(list(loading.load(str(path)).forms())) == 300


# --- the models that come with incc ----------------------------------------------------------------------------------


def figures(name: str, form: str, *traits: str) -> m.Form:
    found = loading.load(name).lookup(form, frozenset(traits))
    assert found is not None, form
    return found


def test_known_figures() -> None:
    """Figures that anybody can look up, to catch an importer that goes wrong."""
    fma = figures("skylake", "VEX_VFMADD213PD_YMM_YMM_YMMM256/m")
    assert fma.uops == (("0,1", 1), ("2,3", 1))
    assert fma.latency == (("0", "0", 4), ("0", "1", 4), ("0", "m", 4))
    assert fma.retire_slots == 1
    assert figures("skylake", "VEX_VFMADD213PD_YMM_YMM_YMMM256/m", "indexed").retire_slots == 2
    add = figures("skylake", "ADD_RM64_R64/m")
    assert ("M", "m", 1) in add.latency
    assert ("M", "1", 1) in add.latency
    assert figures("skylake", "MOV_RM64_R64/m").latency == (("M", "1", 0),)
    assert figures("skylake", "MOV_R64_RM64/m").latency == (("0", "m", 0),)
    assert figures("skylake", "MOV_R64_RM64/r").uops == ()
    assert figures("skylake", "XOR_R32_RM32/r", "same_reg").breaks_dependency
    assert not figures("skylake", "XOR_R32_RM32/r").breaks_dependency
    assert figures("skylake", "LEA_R64_M/m", "agen:B_IS_D8", "indexed").latency == (("0", "a", 3),)
    assert figures("skylake", "IDIV_RM32/r").divider > 0
    assert figures("skylake", "NOPD/r").uops == ()
    assert figures("SKX", "EVEX_VFMADD231PD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r").uops == (("0,5", 1),)
    assert figures("SKX", "EVEX_VMOVUPD_ZMM_K1Z_ZMMM512/m").uops == (("2,3", 1),)
    assert figures("SKX", "EVEX_VPXORQ_ZMM_K1Z_ZMM_ZMMM512B64/r", "same_reg").breaks_dependency
    assert not figures("SKX", "EVEX_VPXORQ_ZMM_K1Z_ZMM_ZMMM512B64/r", "same_reg", "mask").breaks_dependency
    assert figures("CSX", "EVEX_VPDPBUSD_ZMM_K1Z_ZMM_ZMMM512B32/r").uops == (("0,5", 1),)


def test_fusion_of_skylake() -> None:
    model = loading.load("skylake")
    compare, increment, test = (figures("skylake", f) for f in ("CMP_RM64_R64/r", "INC_RM64/r", "TEST_RM64_R64/r"))
    assert model.fuses(compare, "jne")
    assert model.fuses(compare, "ja")
    assert not model.fuses(compare, "js")
    assert model.fuses(test, "js")
    assert model.fuses(increment, "jne")
    assert not model.fuses(increment, "ja")
    assert not model.fuses(figures("skylake", "IMUL_R64_RM64/r"), "jne")


@pytest.mark.parametrize("name", ["skylake", "skylake-avx512", "cascadelake"])
def test_every_form_can_be_read(name: str) -> None:
    model = loading.load(name)
    for form in model.forms():
        for conditions, _ in model.entries(form):
            assert model.lookup(form, frozenset(conditions)) is not None


def test_latencies_name_what_the_decoder_reports() -> None:
    """Model and decoder must agree in forms' keys and in the names of operands, or latencies would not be found."""
    from incc.frontends.x86.decode import decode
    from incc.models.forms.shapes import by_key, encode, example

    model = loading.load("cascadelake")
    checked = 0
    for key in model.forms():
        code = encode(example(by_key()[key]))
        if code is None:
            continue
        decoded = decode(code)
        assert decoded.form == key
        operands = {"k" if a.operand == -1 else str(a.operand) for a in decoded.registers if a.operand is not None}
        implicit = {a.register.root for a in decoded.registers if a.operand is None}
        flags = decoded.flags_read + decoded.flags_written
        names = operands | implicit | {"C"} & set(flags) | ({"SPAZO"} if set("SPAZO") & set(flags) else set())
        names |= {"m"} if any(x.load for x in decoded.memory) else set()
        names |= {"M"} if any(x.store for x in decoded.memory) else set()
        names |= {"a"} if any(a.address for a in decoded.registers) else set()
        form = model.lookup(key, decoded.traits)
        assert form is not None
        assert {n for to, source, _ in form.latency for n in (to, source)} <= names, key
        checked += 1
    assert checked > 6000


def test_cascade_lake_differs_in_its_loop_detector() -> None:
    assert loading.load("CLX").parameters["lsd"] is True
    assert loading.load("SKX").parameters["lsd"] is False
    assert loading.load("SKX").parameters["wide_vectors"]["closes"] == "1"


def test_tables_compiled_ahead(tmp_path: Path) -> None:
    """What the build compiles is what a first run would; it is found where nothing can be written, and when it fits."""
    package = tmp_path / "incc"
    source = Path(loading.data_folder()).parent
    for file in (*source.rglob("*.py"), *source.glob("data/skylake*.toml")):
        copy = tmp_path / "source" / "models" / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    for part in ("frontends", "support"):
        shutil.copytree(source.parent / part, tmp_path / "source" / part)
        shutil.copytree(source.parent / part, package / part)
    run = [sys.executable, str(source / "files" / "precompile.py"), str(tmp_path / "source"), str(tmp_path / "tables")]
    subprocess.run(run, check=True, env={**os.environ, "INCC_MODEL_PATH": ""})
    (package / "__init__.py").touch()
    shutil.copytree(tmp_path / "source" / "models", package / "models")
    shutil.copytree(tmp_path / "tables", package / "models" / "tables")
    program = (
        "import sys; from incc.models.loading import load\n"
        "m = load('skx'); print(len(list(m.forms())), 'incc.models.files.compile' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": "/dev/null/none", "INCC_MODEL_PATH": ""}

    def run_it() -> str:
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        ).stdout.strip()

    assert run_it() == f"{len(list(loading.load('skx').forms()))} False"
    with open(package / "models" / "data" / "skylake.toml", "a", encoding="utf-8") as f:
        f.write('"MINE_R64/r" = { ports = "1*p0", retire = 1 }\n')
    assert run_it().endswith(" True"), "tables of another model file must not be used"


def test_a_pipe_among_models(tmp_path: Path) -> None:
    """Nobody waits for somebody to write to it."""
    os.mkfifo(tmp_path / "pipe.toml")
    code = (
        "import sys; from incc.models.loading import load; from incc.models.model import ModelError\n"
        "assert load('skylake', sys.argv[1:]).name == 'skylake'\n"
        "for places in sys.argv[1:], [*sys.argv[1:], sys.argv[1] + '/pipe.toml']:\n"
        "    try: load('no such', places)\n"
        "    except ModelError as error: print(error)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "no machine model named 'no such'" in done.stdout
    assert "pipe.toml: neither a folder nor a model file (.toml)" in done.stdout

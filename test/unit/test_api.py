"""`import incc`: what is documented for Python users."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import subprocess
import sys
import threading
from fractions import Fraction
from typing import Any

import jsonschema
import networkx
import pytest
from test_report_schema import SCHEMA, VALIDATOR

import incc
from incc.driver.commands import mca

TRIAD = """\
\t.text
\t.globl triad
\t.type triad, @function
triad:
\txorl %eax, %eax
.L4:
\tvmovupd (%rsi,%rax), %ymm0
\tvfmadd213pd (%rdx,%rax), %ymm1, %ymm0
\tvmovupd %ymm0, (%rdi,%rax)
\taddq $32, %rax
\tcmpq %r8, %rax
\tjne .L4
\tret
\t.type product, @function
product:
.L7:
\tmulsd (%rdi), %xmm0
\taddq $8, %rdi
\tcmpq %rdi, %rsi
\tjne .L7
\tret
"""


@pytest.fixture(scope="module")
def report() -> incc.Report:
    return incc.analyze(TRIAD, mcpu="skylake")


def test_kernels(report: incc.Report) -> None:
    assert len(report) == 2
    triad, product = report.kernels
    assert triad is report[0]
    assert list(report) == [triad, product]
    assert triad.cycles == 1.75  # of arrays at multiples of 16 bytes, on average
    assert triad.exact_cycles == Fraction(7, 4)
    assert triad.bounds.port == triad.bounds.largest == Fraction(7, 4)
    assert triad.bounds.loop_carried == 1
    assert (triad.name, triad.function, triad.kernel_id) == ("triad:.L4", "triad", "triad/loop1")
    assert triad.source is None
    assert triad.instructions[0] == "vmovupd (%rsi,%rax), %ymm0"
    assert product.limited_by == ("loop_carried",)
    assert product.cycles == 4
    assert product.verdict.startswith("bound by the loop-carried chain through xmm0")
    assert product.critical_path > 4
    assert product.what_ifs
    assert product.model.name == "skylake"
    assert product.unknown == ()
    assert product.simulation is not None
    assert {event.iteration for event in product.events} == {0, 1}


def test_the_graph_marks_critical_path_and_carried_dependencies(report: incc.Report) -> None:
    product = report[1].graph()
    assert isinstance(product, networkx.DiGraph)
    assert list(product) == [0, 1, 2, 3]
    assert product.nodes[0]["text"] == "mulsd (%rdi), %xmm0"
    carried = [(a, b, d["latency"], d["distance"]) for a, b, d in product.edges(data=True) if d["lcd"] == 0]
    assert carried == [(0, 0, 4, 1)]
    assert product.graph["lcd"] == 4
    # The longest path over edges within an iteration is what the critical path says, beside its first instruction.
    inside = networkx.DiGraph((a, b, d) for a, b, d in product.edges(data=True) if d["distance"] == 0)
    assert networkx.is_directed_acyclic_graph(inside)
    on_path = {n for n, d in product.nodes(data=True) if d["critical_path"]}
    assert on_path
    assert sum(product.nodes[n]["cycles"] for n in on_path) == product.graph["critical_path"] == report[1].critical_path


def test_what_can_be_taken_away(report: incc.Report) -> None:
    VALIDATOR.validate(report.to_dict())
    assert json.loads(report.to_json()) == report.to_dict()
    kernel = report[0].to_dict()
    jsonschema.Draft202012Validator({**SCHEMA["$defs"]["KernelReport"], "$defs": SCHEMA["$defs"]}).validate(kernel)
    kernel["cycles"] = 0
    assert report[0].to_dict()["cycles"] == 1.75
    assert [row["cycles"] for row in report.rows()] == [1.75, 4]
    assert [kernel.function for kernel in report.where("limited_by like '*loop_carried*' and cycles > 3")] == [
        "product"
    ]
    assert "Bound by the loop-carried chain" in report.text(80)
    for html in (report._repr_html_(), report[1]._repr_html_()):
        assert "product" in html
        assert "<script" not in html


def test_nothing_can_be_changed(report: incc.Report) -> None:
    for thing, name in ((report, "kernels"), (report[0], "cycles"), (report[0].model, "name"), (report[0], "anything")):
        with pytest.raises(AttributeError):
            setattr(thing, name, 1)
    with pytest.raises(TypeError):
        report[0].what_ifs["faster"] = 1.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        report[0].bounds.port = Fraction(1)  # type: ignore[misc]
    model = incc.Model.load("skylake")
    with pytest.raises(TypeError):
        model.parameters["load_latency"]["gpr"] = 99
    assert incc.Model.load("skylake").parameters["load_latency"]["gpr"] == model.parameters["load_latency"]["gpr"] == 5


def test_every_kind_of_source(tmp_path: pathlib.Path, report: incc.Report) -> None:
    file = tmp_path / "k.s"
    file.write_text(TRIAD)
    subprocess.run(["as", "-o", tmp_path / "k.o", file], check=True)
    wanted = [kernel.cycles for kernel in report]
    for source in (file, str(file), TRIAD.encode()):
        assert [kernel.cycles for kernel in incc.analyze(source, mcpu="skylake", what_ifs=False)] == wanted
    for thing in (tmp_path / "k.o", str(tmp_path / "k.o"), (tmp_path / "k.o").read_bytes()):
        assert [k.cycles for k in incc.analyze(thing, mcpu="skylake", input="obj", what_ifs=False)] == wanted
    for code in ("4801c048ffc975f8", bytes.fromhex("4801c048ffc975f8"), " 48 01c0\n48ffc9 75f8"):
        assert [k.cycles for k in incc.analyze(code, mcpu="skylake", input="hex")] == [1]
    assert [k.name for k in incc.analyze(file, mcpu="skylake", functions=["prod*"])] == ["product:.L7"]
    assert [k.name for k in incc.analyze(tmp_path / "k.o", mcpu="skylake", input="obj", functions=["tri*"])]
    marked = TRIAD.replace("\taddq $8", "# LLVM-MCA-BEGIN two\n\taddq $8").replace(
        "\tjne .L7", "# LLVM-MCA-END\n\tjne .L7"
    )
    (two,) = incc.analyze(marked, mcpu="skylake", loops="marked")
    assert len(two.instructions) == 2
    assert two.kernel_id == "product/region two"


def test_options(tmp_path: pathlib.Path) -> None:
    (kernel,) = incc.analyze(
        "mulsd %xmm0, %xmm0\n",
        mcpu="SKL",
        loops="marked",
        changes=["latency mulsd = 9"],
        alignment="all",
        cold_iterations=3,
        timeline=5,
        waits=True,
    )
    found = kernel.to_dict()
    assert kernel.what_ifs["with latency mulsd = 9"] == 9
    assert len(found["alignments"]) == 64
    assert found["cold"] is not None
    assert found["cold"]["iterations"] == 3
    assert found["waits"] is not None
    assert {event.iteration for event in kernel.events} == set(range(5))
    (bounds,) = incc.analyze("mulsd %xmm0, %xmm0\n", mcpu="skylake", loops="marked", simulate=False)
    assert bounds.simulation is None
    assert bounds.cycles == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mcpu": "skylke"}, "skylake"),
        ({"source": "/nonexistent/k.s"}, "/nonexistent/k.s: no such file"),
        ({"source": pathlib.Path("/nonexistent/k")}, "/nonexistent/k: No such file or directory"),
        ({"source": pathlib.Path("/nonexistent/k"), "input": "obj"}, "/nonexistent/k"),
        ({"source": b"no object", "input": "obj"}, "<object>: not an ELF"),
        ({"source": "4g", "input": "hex"}, "not hexadecimal"),
        ({"source": "06", "input": "hex"}, "offset 0x0"),
        ({"source": b"", "input": "hex"}, "no machine code"),
        ({"model_path": ["/nonexistent"]}, "/nonexistent"),
    ],
)
def test_what_cannot_be_analysed(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(incc.AnalysisError, match=message):
        incc.analyze(**{"source": TRIAD, "mcpu": "skylake", **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input": "elf"}, "input must be one of 'auto', 'asm', 'hex', 'obj', not 'elf'"),
        ({"loops": "all"}, "loops must be one of"),
        ({"alignment": 64}, "alignment must be below 64"),
        ({"timeline": -1}, "timeline must be at least 0"),
        ({"functions": "triad"}, "functions must be a list"),
        ({"changes": ["port += 1"]}, "port"),
    ],
)
def test_arguments_that_are_no_good(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        incc.analyze(TRIAD, mcpu="skylake", **arguments)  # type: ignore[arg-type]


def test_problems_do_not_stop_the_rest() -> None:
    report = incc.analyze(TRIAD.replace("mulsd (%rdi), %xmm0", "frobnicate %rax"), mcpu="skylake", name="k.s")
    assert [kernel.function for kernel in report] == ["triad", "product"]
    assert any(message.startswith("k.s:17: error: ") for message in report.problems)


def test_models_and_cores() -> None:
    names = {core.name: core for core in incc.cores()}
    assert {"skylake", "znver4", "neoverse-v2"} <= names.keys()
    assert names["neoverse-v2"].isa == "aarch64"
    model = incc.Model.load("SKL")
    assert (model.name, model.isa) == ("skylake", "x86")
    assert "SKL" in model.aliases
    assert model.ports == tuple("01234567")
    form = model.form("VEX_VFMADD213PD_YMM_YMM_YMMM256/m")
    assert form is not None
    assert dict(form.uops) == {"0,1": 1, "2,3": 1}
    assert model.form("NO_SUCH/r") is None
    assert model.figures("vfmadd213pd ymm, ymm, m256").ports == "1*p01+1*p23"
    with pytest.raises(incc.AnalysisError, match="skylake"):
        incc.Model.load("skylke")


def test_threads() -> None:
    """Each thread analyses kernels of its own, on cores that they share."""
    texts = [f".L{n}:\n" + "\tmulsd %xmm1, %xmm0\n" * (n % 7 + 1) + f"\tdecq %rcx\n\tjne .L{n}\n" for n in range(60)]
    found: dict[int, float] = {}
    failures: list[BaseException] = []

    def work(start: int) -> None:
        try:
            for n in range(start, len(texts), 4):
                (kernel,) = incc.analyze(texts[n], mcpu=("skylake", "znver4")[n % 2], what_ifs=False)
                found[n] = kernel.cycles
        except BaseException as error:  # to be seen by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert found == {n: (4, 3)[n % 2] * (n % 7 + 1) for n in range(60)}


WORKERS = """\
import multiprocessing, sys
import incc

def cycles_of(number):
    text = f".L{number}:\\n" + "\\tmulsd %xmm1, %xmm0\\n" * number + f"\\tdecq %rcx\\n\\tjne .L{number}\\n"
    return incc.analyze(text, mcpu="skylake", what_ifs=False)[0].cycles

if __name__ == "__main__":
    cycles_of(1)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(cycles_of, range(1, 7)))
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(tmp_path: pathlib.Path, method: str) -> None:
    (tmp_path / "workers.py").write_text(WORKERS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, str(tmp_path / "workers.py"), method]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[4.0, 8.0, 12.0, 16.0, 20.0, 24.0]"


def test_reports_stay_in_their_process(report: incc.Report) -> None:
    for thing in (report, report[0], report[0].model):
        with pytest.raises(TypeError, match="to_dict"):
            pickle.dumps(thing)
    assert pickle.loads(pickle.dumps(report.to_dict())) == report.to_dict()


def test_importing_incc_imports_nothing_else() -> None:
    code = "import sys, incc; print(sorted(name for name in sys.modules if name.startswith('incc')))"
    path = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=path)
    assert done.stdout.strip() == "['incc', 'incc.support', 'incc.support.version']"
    assert set(incc.__all__) <= set(dir(incc))
    with pytest.raises(AttributeError, match="frobnicate"):
        _ = incc.frobnicate


SOURCE = """\
double sum(const double *a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}
"""


def test_compile(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sum.c").write_text(SOURCE)
    report = incc.compile(["gcc", "-O2", "-march=skylake", "-c", "sum.c"], folder=tmp_path)
    assert report.status == 0
    (kernel,) = report
    assert (kernel.function, kernel.cycles, kernel.model.name) == ("sum", 4, "skylake")
    assert kernel.source is not None
    assert (tmp_path / "sum.o").exists()
    other = incc.compile("gcc -O2 -march=skylake -c sum.c", folder=tmp_path, mcpu="znver4", what_ifs=False)
    assert [kernel.cycles for kernel in other] == [3]
    (tmp_path / "bad.c").write_text("double f( {\n")
    failed = incc.compile(["gcc", "-c", "bad.c"], folder=tmp_path)
    assert (failed.status, len(failed)) == (1, 0)
    assert any("bad.c:1" in line for line in failed.compiler_messages)
    with pytest.raises(incc.AnalysisError, match="no-such-compiler"):
        incc.compile(["no-such-compiler", "-c", "sum.c"], folder=tmp_path)
    with pytest.raises(ValueError, match="compiler"):
        incc.compile([])


def test_graphml(tmp_path: pathlib.Path) -> None:
    (tmp_path / "k.s").write_text(TRIAD)
    path = tmp_path / "k.graphml"
    arguments = [f"--graph={path}", "-o", str(tmp_path / "k.txt"), str(tmp_path / "k.s")]
    assert mca.main(["-mcpu=skylake", "--auto", *arguments]) == 0
    graph = networkx.read_graphml(path, force_multigraph=True)
    assert graph.nodes["1/0"]["text"] == "mulsd (%rdi), %xmm0"
    assert graph.nodes["1/0"]["kernel"] == "product:.L7"
    assert {data["latency"] for a, b, data in graph.edges(data=True) if (a, b) == ("1/0", "1/0")} == {4}


# --- what is found out, and what is refused --------------------------------------------------------------------------

INTEL = """\
.L3:
\tvmovupd ymm0, YMMWORD PTR [rdi+rax]
\tvaddpd ymm0, ymm0, ymm1
\tadd rax, 32
\tcmp rax, rdx
\tjne .L3
"""


@pytest.mark.parametrize("text", ["add %rax, %rbx", "add rbx, rax"])
def test_a_single_instruction(text: str) -> None:
    (kernel,) = incc.analyze(text, mcpu="skylake")
    assert (kernel.instructions, kernel.cycles) == ((text,), 1)


def test_the_syntax_is_detected() -> None:
    (kernel,) = incc.analyze(INTEL, mcpu="skylake")
    assert len(kernel.instructions) == 5
    assert incc.analyze(INTEL, mcpu="skylake", syntax="intel")[0].cycles == kernel.cycles
    with pytest.raises(incc.AnalysisError, match="'add rax, rbx' is neither a file nor assembly"):
        incc.analyze("add rax, rbx", mcpu="skylake", syntax="att")
    with pytest.raises(ValueError, match="syntax must be one of 'auto', 'att', 'intel', not 'gas'"):
        incc.analyze(INTEL, syntax="gas")  # type: ignore[arg-type]


def test_a_source_is_compiled(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CC", "CFLAGS"):
        monkeypatch.delenv(name, raising=False)
    source = tmp_path / "sum.c"
    source.write_text("double f(double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n")
    report = incc.analyze(source, mcpu="skylake")
    assert report[0].source == (str(source), 1)
    assert report.compiler_messages == (f"{source}: compiled by cc -O3 -march=skylake -c {source}",)
    source.write_text("int f( {")
    with pytest.raises(incc.AnalysisError, match=r"sum.c:1"):
        incc.analyze(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nope", "'nope' is neither a file nor assembly: no such instruction: `nope'"),
        ("", "there is no instruction to analyse"),
        ("hello world\nfoo bar\n", "<text>: not assembly: no such instruction: `hello world'"),
        ("f:\n hello\n", "<text>: not assembly"),
        ("missing.s", "missing.s: no such file"),
        ("missing.c", "missing.c: no such file"),
        ("folder/missing", "folder/missing: no such file"),
        (pathlib.Path("missing"), "missing: No such file"),
        (pathlib.Path("/"), "/: Is a directory"),
        (b"", "there is no instruction"),
    ],
)
def test_inputs_without_code(source: str, message: str) -> None:
    with pytest.raises(incc.AnalysisError) as error:
        incc.analyze(source, mcpu="skylake")
    assert message in str(error.value)


def test_reports_in_words(report: incc.Report) -> None:
    assert repr(report) == "<incc.Report of 2 kernels on skylake: triad:.L4 1.75, product:.L7 4.00>"
    assert str(report) + "\n" == report.text()


def test_load(report: incc.Report, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(report.to_json())
    loaded = incc.load(file)
    assert loaded.to_dict() == report.to_dict()
    assert loaded.to_json() == report.to_json()
    assert loaded.rows() == report.rows()
    assert (str(loaded), loaded.html()) == (str(report), report.html())
    assert repr(loaded) == repr(report).replace("Report", "SavedReport")
    assert [kernel.cycles for kernel in loaded] == [kernel.cycles for kernel in report]
    assert [kernel.name for kernel in loaded.where("cycles > 2")] == ["product:.L7"]
    file.write_text("".join(json.dumps(report.to_dict()) + "\n" for _ in range(2)))
    assert len(incc.load(file)) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "no such file"), ("", "the file is empty"), ("{", "truncated"), ('{"a": 1}', "not an incc report")],
)
def test_files_that_are_no_reports(text: str | None, message: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "report.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(incc.AnalysisError, match=message) as error:
        incc.load(file)
    assert str(error.value).startswith(str(file))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("vfmadd231pd ymm, ymm, ymm", "vfmadd231pd ymm, ymm, ymm"),
        ("VFMADD231PD  ymm,ymm,m", "vfmadd231pd ymm, ymm, m256"),
        ("vaddpd zmm, zmm, zmm {k}{z}", "vaddpd zmm, zmm, zmm {k}{z}"),
        ("add rax, rbx", "add r64, r64"),
        ("addq $1, %rax", "add r64, i8"),
        ("lock add m64, r64", "lock add m64, r64"),
        ("vmovupd (%rdi), %ymm0", "vmovupd ymm, m256"),
        ("VEX_VFMADD231PD_YMM_YMM_YMMM256/r", "vfmadd231pd ymm, ymm, ymm"),
    ],
)
def test_figures(text: str, spelled: str) -> None:
    figures = incc.figures(text, "znver4")
    assert (figures.instruction, figures.model) == (spelled, "znver4")
    assert figures == incc.Model("znver4").figures(text)


def test_figures_are_those_of_the_model() -> None:
    figures = incc.figures("vfmadd231pd ymm, ymm, ymm", "znver4")
    assert str(figures) == "vfmadd231pd ymm, ymm, ymm on znver4: latency 4, throughput 0.5, 1 µop, ports 1*FP01"
    assert (figures.latency_cycles, figures.throughput, figures.uops, figures.ports) == (4, 0.5, 1, "1*FP01")
    arm = incc.figures("fmla v.2d, v.2d, v.2d", "neoverse-v2")
    assert arm.form == "fmla/v.2d,v.2d,v.2d"


@pytest.mark.parametrize(
    ("text", "core", "message"),
    [
        ("nope", "skylake", "'nope' is not an instruction; did you mean nop"),
        ("", "skylake", "no instruction"),
        ("vaddpd zmm, zmm, zmm", "skylake", "skylake has no figures of vaddpd zmm, zmm, zmm"),
        ("vaddpd ymm, ymm", "skylake", "vaddpd has no such operands: there is vaddpd xmm, xmm, xmm"),
        ("vaddpd ymm, ymm, yym", "skylake", "'yym' is not an operand"),
        ("vaddpd ymm, ymm, ymm", "skylaek", "did you mean skylake"),
        ("nope", "neoverse-v2", "'nope' is not an instruction; did you mean nop"),
    ],
)
def test_figures_that_there_are_not(text: str, core: str, message: str) -> None:
    with pytest.raises(incc.AnalysisError) as error:
        incc.figures(text, core)
    assert message in str(error.value)


def test_instructions_of_a_pattern() -> None:
    rows = incc.Model("skylake-avx512").instructions("vfmadd231pd zmm*")
    assert {row.instruction for row in rows} >= {"vfmadd231pd zmm, zmm, zmm", "vfmadd231pd zmm, zmm, m512"}
    assert incc.Model("skylake").instructions("nosuch*") == ()


@pytest.mark.parametrize("source", ["4801c375fb", bytes.fromhex("4801c375fb")])
def test_machine_code_without_its_kind_names_the_argument(source: str | bytes) -> None:
    with pytest.raises(incc.AnalysisError, match='for machine code, pass input="hex"'):
        incc.analyze(source, mcpu="skylake")
    assert incc.analyze(source, mcpu="skylake", input="hex")[0].cycles == 1


def test_a_misspelt_argument_has_a_suggestion() -> None:
    misspelt: Any = {"function": ["dot"]}
    with pytest.raises(TypeError, match="unexpected argument 'function'; did you mean functions"):
        incc.analyze("add %rax, %rbx", **misspelt)
    with pytest.raises(TypeError, match="unexpected argument 'function'"):
        incc.compile("gcc -c x.c", **misspelt)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"data": 64 << 20}, "data must be a string"),
        ({"data": ["L2"]}, "data must be a string"),
        ({"data": "L9"}, "L9"),
        ({"let": {"rsi": "8000"}}, "let must be integers"),
        ({"let": "rsi=8000"}, "let must be integers"),
        ({"cores": 0}, "cores must be at least 1"),
    ],
)
def test_invalid_options_on_data_are_named(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        incc.analyze(b"", mcpu="skylake", input="asm", **option)

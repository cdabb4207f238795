"""The variables of the source whose values decide how far apart the rows of an array are."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import incc
from incc.driver.pipeline import decode_unit, read_assembly, select
from incc.driver.settings import Scope
from incc.frontends.kernel import Affine, KernelCode, with_values
from incc.frontends.unit import Unit

if TYPE_CHECKING:
    from pathlib import Path

PLANE = """
void plane(long n, double *restrict b, const double *restrict a) {
  for (long j = 1; j < n - 1; ++j)
    for (long i = 1; i < n - 1; ++i)
      b[j * n + i] = a[j * n + i - 1] + a[j * n + i + 1] + a[(j - 1) * n + i] + a[(j + 1) * n + i];
}
"""
VOLUME = """
void volume(long n, double *restrict b, const double *restrict a) {
  for (long k = 1; k < n - 1; ++k)
    for (long j = 1; j < n - 1; ++j)
      for (long i = 1; i < n - 1; ++i)
        b[(k * n + j) * n + i] = a[(k * n + j) * n + i - 1] + a[(k * n + j) * n + i + 1] +
                                 a[(k * n + j - 1) * n + i] + a[(k * n + j + 1) * n + i] +
                                 a[((k - 1) * n + j) * n + i] + a[((k + 1) * n + j) * n + i];
}
"""
OTHERS = """
long count;
void global(double *restrict b, const double *restrict a, long m) {
  for (long i = 1; i < m; ++i)
    b[i] = a[i] + a[i + count];
}
struct grid { long n; double *u, *v; };
void member(struct grid *g) {
  long n = g->n;
  double *restrict b = g->u;
  const double *restrict a = g->v;
  for (long j = 1; j < n - 1; ++j)
    for (long i = 1; i < n - 1; ++i)
      b[j * n + i] = a[j * n + i] + a[j * n + i + n] + a[j * n + i - n];
}
double column(const double *a, long n, long m) {
  double s = 0;
  for (long i = 0; i < m; ++i)
    s += a[i * n];
  return s;
}
"""
HIDDEN = """
static inline void row(double *restrict b, const double *restrict a, long n) {
  for (long i = 1; i < n; ++i)
    b[i] = a[i] + a[i + n] + a[i - n];
}
void outer(double *b, const double *a, long n, long m) {
  for (long j = 1; j < n; ++j)
    row(b + j * m, a + j * m, m);
}
"""
COMPILERS = ("gcc", "clang-14", "clang-19")
X86 = ("-O3", "-march=skylake-avx512")


def compiler_of(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"no {name}")
    return path


def assembly(folder: Path, compiler: str, source: str, *flags: str) -> Path:
    (folder / "a.c").write_text(source)
    command = [compiler_of(compiler), *flags, "-S", "a.c", "-o", "a.s"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "a.s"


def named(path: Path) -> list[KernelCode]:
    """Return the loops of an assembly text with the names of values."""
    unit = Unit(assembly=path.read_text(), assembly_file=path.name)
    parsed = read_assembly(unit)
    return decode_unit(unit, parsed, select(unit, parsed, Scope(regions="loops")).regions, variables=True)


def main_loop(path: Path, **options: object) -> incc.Kernel:
    """Return the analysed loop with the widest vectors."""
    kernels = incc.analyze(path, data="all", mcpu="skylake-avx512", **options)  # type: ignore[arg-type]
    return max(kernels, key=lambda kernel: sum(abs(s["step"]) for s in data_of(kernel)["streams"]))


def data_of(kernel: incc.Kernel) -> dict[str, Any]:
    data: dict[str, Any] = kernel.to_dict()["data"]
    return data


def distances(kernel: incc.Kernel) -> set[int]:
    """Return the known distances between rows to within a line."""
    streams = data_of(kernel)["streams"]
    return {round(s["distance"]["bytes"] / 64) * 64 for s in streams if s["distance"]}


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("source", "apart", "known"),
    [(PLANE, {"n elements"}, {6400}), (VOLUME, {"n elements", "n*n elements"}, {6400, 799 * 6400})],
)
def test_a_parameter_tells_the_distance_of_rows(
    tmp_path: Path, compiler: str, version: str, source: str, apart: set[str], known: set[int]
) -> None:
    if source == VOLUME and compiler == "clang-14":
        pytest.skip("its pointers into the planes are not related")
    path = assembly(tmp_path, compiler, source, *X86, version)
    code = tmp_path / "a.o"
    subprocess.run([compiler_of(compiler), "-c", path, "-o", code], check=True)
    for file in (path, code):
        before, after = main_loop(file), main_loop(file, let={"n": 800})
        texts = {s["apart"] for s in data_of(before)["streams"]} - {""}
        assert {text.replace("8*n", "n").replace("bytes", "elements") for text in texts} == apart
        assert data_of(before)["deciding"] == ["n"]
        assert distances(before) == set()
        assert distances(after) == known
        assert data_of(after)["deciding"] == []


@pytest.mark.parametrize("compiler", ["aarch64-linux-gnu-gcc", "clang-19 --target=aarch64-linux-gnu"])
def test_names_on_aarch64(tmp_path: Path, compiler: str) -> None:
    name, *flags = compiler.split()
    kernels = named(assembly(tmp_path, name, PLANE, "-O3", "-g", *flags))
    assert any(kernel.variables.get("n", "").startswith("x0 ") for kernel in kernels)


def test_globals_members_and_steps_are_named(tmp_path: Path) -> None:
    kernels = incc.analyze(assembly(tmp_path, "gcc", OTHERS, "-O2", "-g"), data="all", mcpu="skylake-avx512")
    assert {kernel.function: data_of(kernel)["deciding"] for kernel in kernels} == {
        "global": ["count"],
        "member": ["n"],
        "column": ["n"],
    }


def test_a_name_means_the_variable_that_the_loop_sees(tmp_path: Path) -> None:
    """In the loop, `n` is the inlined function's parameter, which `outer` calls `m`."""
    path = assembly(tmp_path, "gcc", HIDDEN, *X86, "-g")
    loops = [kernel for kernel in named(path) if kernel.region and kernel.region.function == "outer"]
    assert any("m" in kernel.variables for kernel in loops)
    for kernel in loops:
        assert kernel.variables.get("n", kernel.variables.get("m")) == kernel.variables.get("m")
    assert distances(main_loop(path, functions=["outer"], let={"m": 800, "n": 5})) == {6400}


def test_a_name_means_the_value_at_the_start_of_the_loop(tmp_path: Path) -> None:
    source = """
    void two(double *restrict b, const double *restrict a, long n, long m) {
      const double *c = a + n;
      n = m;
      for (long i = 0; i < 1000; ++i)
        b[i] = a[i] + c[i] + a[i + n];
    }
    """
    (kernel, *_) = named(assembly(tmp_path, "gcc", source, "-O2", "-g"))
    assert "n" not in kernel.variables
    assert kernel.variables["m"] == "rcx before block 0"


def test_without_debug_information_a_name_is_noted(tmp_path: Path) -> None:
    kernel = main_loop(assembly(tmp_path, "gcc", PLANE, *X86), let={"n": 800})
    assert (
        "no address is known to depend on a variable n, whose value was given; debug information (-g) tells which do"
        in kernel.notes
    )
    assert data_of(kernel)["deciding"] == []


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_wrapper_needs_no_debug_information_of_the_users(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "a.c").write_text(PLANE.replace("    for", "    // incc: analyze let(n = 800)\n    for"))
    incc_command = [
        shutil.which("incc") or "incc", compiler_of(compiler), *X86, "-c", "a.c", "-o", "a.o",
        "--analyze", "--analyze-data=all", "--analyze-views=memory", "--analyze-output=report",
    ]  # fmt: skip
    subprocess.run(incc_command, cwd=tmp_path, check=True)
    assert "at a distance of 799 to 801 elements" in " ".join((tmp_path / "report").read_text().split())
    subprocess.run([compiler, *X86, "-c", "a.c", "-o", "b.o"], cwd=tmp_path, check=True)
    assert (tmp_path / "a.o").read_bytes() == (tmp_path / "b.o").read_bytes()


NAMES = ("u", "v", "w")
NUMBERS = st.integers(-(2**63), 2**63 - 1)


@given(
    st.dictionaries(st.sampled_from([*NAMES, "(u * v)", "((u * v) * w)"]), NUMBERS, max_size=4),
    NUMBERS,
    st.dictionaries(st.sampled_from(NAMES), NUMBERS),
    st.fixed_dictionaries(dict.fromkeys(NAMES, NUMBERS)),
)
def test_values_of_variables_are_put_into_sums_and_products(
    terms: dict[str, int], constant: int, given_values: dict[str, int], others: dict[str, int]
) -> None:
    def value(entry: Affine, values: dict[str, int]) -> int:
        products = {"(u * v)": values["u"] * values["v"], "((u * v) * w)": values["u"] * values["v"] * values["w"]}
        return (entry.constant + sum(times * {**values, **products}[name] for name, times in entry.terms)) % 2**64

    entry = Affine("rax", tuple(sorted(terms.items())), constant)
    kernel = KernelCode(
        name="", isa="x86", region=None, instructions=(), is_loop=True, alignment=0, entry=(entry,),
        products={"(u * v)": ("u", "v"), "((u * v) * w)": ("(u * v)", "w")}, variables={name: name for name in NAMES},
    )  # fmt: skip
    (known,) = with_values(kernel, given_values).entry
    values = {**others, **given_values}
    assert value(known, values) == value(entry, values)
    assert not {name for name, _ in known.terms} & given_values.keys()
    if given_values.keys() == set(NAMES):
        assert known.terms == ()

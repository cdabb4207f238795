"""Probes in programs: where they are put, what they record, and that programs do what they did without them."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess

import msgspec
import pytest

from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.parse import parse
from incc.running import x86
from incc.running.compiling import RUNTIME
from incc.running.edges import OUTSIDE, ControlEdge, NoProbes, edges, ways
from incc.running.explain import mixed
from incc.running.frames import Frames
from incc.running.insertion import with_probes
from incc.running.profile import LoopProfile, ProfileError, read_profile

pytestmark = pytest.mark.skipif(not os.path.exists(RUNTIME), reason="no runtime for probes on this platform")

SUM = """
	.type	sum, @function
sum:
	.cfi_startproc
	testq	%rsi, %rsi
	jle	.L4
	xorl	%eax, %eax
	.p2align 4
.L3:
	addq	(%rdi), %rax
	addq	$8, %rdi
	decq	%rsi
	jne	.L3
	ret
.L4:
	xorl	%eax, %eax
	ret
	.cfi_endproc
"""


def test_edges_enter_and_leave_a_loop() -> None:
    (graph,) = control_flow(parse(SUM))
    assert set(edges(graph)) == {
        ControlEdge(OUTSIDE, 0, "fall"),
        ControlEdge(0, 1, "fall"),
        ControlEdge(0, 4, "jump"),
        ControlEdge(1, 2, "fall"),
        ControlEdge(2, 2, "jump"),
        ControlEdge(2, 3, "fall"),
    }
    assert ways(graph, {2}) == ([ControlEdge(1, 2, "fall")], [ControlEdge(2, 3, "fall")])


def test_a_loop_that_a_jump_table_enters_has_no_probes() -> None:
    text = SUM.replace("jle\t.L4", "jmp\t*.Ltable(,%rsi,8)") + ".section .rodata\n.Ltable:\n.quad .L3, .L4\n"
    (graph,) = control_flow(parse(text))
    with pytest.raises(NoProbes, match="jump table"):
        ways(graph, {2})
    assert [skipped.reason for skipped in with_probes(text).skipped] == ["it is entered through a jump table"]


def test_the_loop_itself_does_not_change() -> None:
    probed = with_probes(SUM)
    assert probed.kernels == ("sum/loop1",)
    lines = [line.strip() for line in SUM.splitlines() if line.strip()]
    after = [line.strip() for line in probed.text.splitlines() if line.strip()]
    first, last = after.index(".p2align 4"), after.index("jne\t.L3")
    assert after[first : last + 1] == lines[lines.index(".p2align 4") : lines.index("jne\t.L3") + 1]
    # Everything else is still there, in its order.
    rest = iter(after)
    assert all(line in rest for line in lines)


@pytest.mark.parametrize("step", [1, -1, 8, -8, 24, -24, 7, 1 << 40, -(1 << 31)])
def test_the_inverse_divides_by_the_step(step: int) -> None:
    description = x86.RuntimeDescription(
        symbol=".Lx", text=b"{}", bits=64, step=step, step_sign=1, places=(), registers=()
    )
    lines = x86.data([description])
    at = lines.index(".Lx:")
    shift = int(lines[at + 3].split(",")[2])
    inverse = int(lines[at + 4].removeprefix(".quad "))
    for iterations in (0, 1, 5, 123_456):
        assert (iterations * step * inverse % (1 << 64)) >> shift == iterations


def test_frames_follow_the_directives() -> None:
    lines = [".cfi_startproc", "pushq %rbp", ".cfi_def_cfa_offset 16", ".cfi_offset 6, -16", ".cfi_remember_state"]
    lines += [".cfi_def_cfa_register 6", ".cfi_restore_state", ".cfi_endproc"]
    frames = Frames(lines)
    assert [frames.at(line).by_stack_pointer for line in range(9)] == [False, *[True] * 5, False, True, False]
    assert frames.at(3).offset == 16
    assert frames.at(5) == frames.at(7)


PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
struct node { struct node *next; long value; };
NOINLINE long up(const long *a, long n) { long s = 0; for (long i = 0; i < n; ++i) s += a[i]; return s; }
NOINLINE long find(const int *a, int n, int x) { for (int i = 0; i < n; ++i) if (a[i] == x) return i; return -1; }
NOINLINE long down(const char *a, long n) { long s = 0; while (n > 0) s += a[--n]; return s; }
NOINLINE long strided(const long *a, long n, long step) {
  long s = 0; for (long i = 0; i < n; i += step) s ^= a[i]; return s;
}
NOINLINE long list(const struct node *n) { long s = 0; for (; n; n = n->next) s += n->value; return s; }
NOINLINE long red(const int *a, int n) {
  int local[16]; long s = 0;
  for (int i = 0; i < 16; ++i) local[i] = a[i] + i;
  for (int i = 0; i < n; ++i) { local[i & 15] += a[i]; s += local[(i * 7) & 15]; }
  return s;
}
NOINLINE int three_ways(const int *a, int n) {
  int i = 0;
  for (;; ++i) { if (a[i] > n) return i; if (a[i] == n) return -i; if (i > 900) break; }
  return 7;
}
static int by_recursion(int n) { int s = 0; for (int i = 0; i < n; ++i) s += by_recursion(n - 2 - i) + 1; return s; }
int main(void) {
  static long a[1000]; static int b[1000]; static char c[1000]; long r = 0;
  struct node *n = 0;
  for (int i = 0; i < 1000; ++i) { a[i] = i; b[i] = i; c[i] = i % 50; }
  for (int i = 0; i < 50; ++i) { struct node *m = malloc(sizeof *m); m->next = n; m->value = i; n = m; }
  for (int k = 0; k < 2000; ++k) {
    __asm__ volatile("" ::: "memory");
    r += up(a, 700) + find(b, 1000, 299) + down(c, 333) + strided(a, 1000, 10) + list(n) + red(b, 100);
    r += three_ways(b, k % 100) + by_recursion(5);
  }
  printf("%ld\n", r);
  return 3;
}
"""
ITERATIONS = {"up": 700, "down": 333, "strided": 100, "list": 50}
"""Iterations of a call, if compilers neither vectorise nor unroll."""

COMPILERS = ("gcc", "clang-14", "clang-19")


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INCC_")}
    return {**kept, **more}


def build(folder: pathlib.Path, compiler: str, *options: str, source: str = PROGRAM, name: str = "program.c") -> str:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (folder / name).write_text(source)
    command = ["incc", compiler, "--analyze-probe", *options, name, "-o", "program", "-lm"]
    done = subprocess.run(
        command, cwd=folder, env=environment(XDG_DATA_HOME=str(folder)), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return str(folder / "program")


def recorded(folder: pathlib.Path, program: str, *arguments: str, **more: str) -> tuple[int, str, list[LoopProfile]]:
    """Run a program; its status, its output, and what all of its processes have recorded."""
    profiles = folder / "profiles"
    profiles.mkdir()
    done = subprocess.run(
        [program, *arguments], env=environment(INCC_PROBES=str(profiles), **more), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    loops = [loop for file in sorted(profiles.iterdir()) for loop in read_profile(str(file)).loops]
    return done.returncode, done.stdout, loops


def plain(folder: pathlib.Path, compiler: str, *options: str) -> tuple[int, str]:
    program = str(folder / "plain")
    subprocess.run([compiler, *options, "program.c", "-o", program, "-lm"], cwd=folder, check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("options", ["-O0", "-O1", "-O2", "-O3", "-Os -g", "-O2 -fPIC -masm=intel", "-O2 -static"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_program_with_probes_does_what_it_did(compiler: str, options: str, tmp_path: pathlib.Path) -> None:
    program = build(tmp_path, compiler, *options.split())
    status, output, loops = recorded(tmp_path, program)
    assert (status, output) == plain(tmp_path, compiler, *options.split())
    assert loops
    for loop in loops:
        assert loop.samples + loop.lost + loop.disturbed <= loop.entries


@pytest.mark.parametrize("compiler", COMPILERS)
def test_data_keep_their_places_in_lines(compiler: str, tmp_path: pathlib.Path) -> None:
    # Vectors of 64 bytes cross a line in each iteration, or never.
    first = (
        "#include <stdio.h>\nstatic char odd = 1; static double a[100], b[100]; static const double c[100] = {1};\n"
        "static int d[100] = {1}; double *other(void); int main(void) {\n"
        "for (int i = 0; i < 100; ++i) a[i] = b[i] * c[i] + d[i] + odd++;\n"
        "void *each[] = {a, b, (void *)c, d, other()};\n"
        'for (int i = 0; i < 5; ++i) printf("%d\\n", (int)((long)each[i] & 63)); return (int)a[3] & 1; }\n'
    )
    (tmp_path / "second.c").write_text(
        "static double e[30]; double *other(void) { for (int i = 0; i < 30; ++i) e[i] *= 3; return e; }\n"
    )
    program = build(tmp_path, compiler, "-O2", "second.c", source=first)
    _, output, loops = recorded(tmp_path, program)
    assert loops
    assert output == plain(tmp_path, compiler, "-O2", "second.c")[1]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_entries_and_iterations_are_exact(compiler: str, tmp_path: pathlib.Path) -> None:
    options = ["-O1", *(["-fno-vectorize", "-fno-unroll-loops"] if "clang" in compiler else [])]
    _, _, loops = recorded(tmp_path, build(tmp_path, compiler, *options))
    by_function = {loop.loop.kernel.partition("/")[0]: loop for loop in loops}
    for function, iterations in ITERATIONS.items():
        loop = by_function[function]
        assert loop.entries == 2000
        assert loop.iterations / loop.entries == pytest.approx(iterations, abs=1.01)


@pytest.mark.parametrize("options", [["-g"], ["-g", "--analyze-where=cycles > 3", "--analyze-mcpu=znver4"]])
def test_marks_and_conditions_choose_the_loops(options: list[str], tmp_path: pathlib.Path) -> None:
    marked = PROGRAM.replace("NOINLINE long list", "// incc: analyze\nNOINLINE long list")
    marked = marked.replace("NOINLINE long up", "// incc: analyze\nNOINLINE long up")
    where = ["--analyze=report.txt"] if len(options) > 1 else []
    _, _, loops = recorded(tmp_path, build(tmp_path, "gcc", "-O2", *options, *where, source=marked))
    wanted = {"list/loop1"} if len(options) > 1 else {"list/loop1", "up/loop1"}
    assert {loop.loop.kernel for loop in loops} == wanted


def test_without_incc_run_nothing_is_recorded(tmp_path: pathlib.Path) -> None:
    program = build(tmp_path, "gcc", "-O2")
    before = set(tmp_path.iterdir())
    done = subprocess.run([program], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 3
    assert set(tmp_path.iterdir()) == before


def test_a_fault_of_the_probes_does_not_stop_the_compilation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from incc.driver.cli.own_options import split
    from incc.driver.commands import incc
    from incc.frontends.gcc_wrapper.compiler import Compiler
    from incc.running import compiling

    def fail(*_: object) -> None:
        raise ZeroDivisionError("of\nours")

    monkeypatch.setattr(compiling, "probed_command", fail)
    options, arguments = split(["--analyze-probe", "-c", "a.c"], {})
    assert incc._with_probes(options, Compiler("/usr/bin/gcc", ["gcc"]), arguments, {}) is None
    assert capsys.readouterr().err == "incc: warning: no probes: ZeroDivisionError: of ours\n"


def test_a_program_linked_without_incc_works(tmp_path: pathlib.Path) -> None:
    build(tmp_path, "gcc", "-O2")
    data = environment(XDG_DATA_HOME=str(tmp_path))
    compile_only = ["incc", "gcc", "--analyze-probe", "-O2", "-c", "program.c", "-o", "program.o"]
    subprocess.run(compile_only, cwd=tmp_path, env=data, check=True)
    subprocess.run(["gcc", "program.o", "-o", "other"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "other"], env=environment(INCC_PROBES=str(tmp_path)), check=False)
    assert done.returncode == 3
    assert not list(tmp_path.glob("*.probes"))


def run(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["incc-run", *words], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


def test_incc_run_keeps_output_and_status(tmp_path: pathlib.Path) -> None:
    program = build(tmp_path, "gcc", "-O2", "-g")
    done = run(tmp_path, "--mcpu=znver4", "--", program)
    assert (done.returncode, done.stdout) == plain(tmp_path, "gcc", "-O2")
    assert "1 process with probes" in done.stderr
    assert "predicted for znver4" in done.stderr
    page = run(tmp_path, "--html=run.html", "--mcpu=znver4", "--", program)
    assert page.returncode == 3
    text = (tmp_path / "run.html").read_text()
    for part in ("up/loop1", "list/loop1", "predicted", "unexplained", "measured", "Entries by their number"):
        assert part in text
    again = run(tmp_path, "-o", "run.json", "--json", "--mcpu=znver4", "--", program)
    assert (again.returncode, again.stderr) == (3, "")
    report = json.loads((tmp_path / "run.json").read_bytes())
    assert report["status"] == 3
    assert {loop["function_name"] for loop in report["loops"]} >= {"up", "find", "list"}


def test_the_loops_of_a_killed_program_are_explained(tmp_path: pathlib.Path) -> None:
    (tmp_path / "program.c").write_text(
        "#include <signal.h>\nint a[5000];\n"
        "int main(void) { for (int r = 0; r < 500; ++r) for (int i = 0; i < 5000; ++i) a[i] ^= r; raise(SIGKILL); }\n"
    )
    command = ["incc", "gcc", "--analyze-probe", "-O1", "program.c", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, env=environment(XDG_DATA_HOME=str(tmp_path)), check=True)
    done = run(tmp_path, "--mcpu=znver4", "--", "./program")
    assert done.returncode == -signal.SIGKILL
    assert "1 of them killed" in done.stderr
    assert "measured cycles per iteration" in done.stderr


def test_short_entries_have_a_range(tmp_path: pathlib.Path) -> None:
    (tmp_path / "program.c").write_text(
        "__attribute__((noipa)) int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; ++i)"
        " s = s * 31 + a[i]; return s; }\nstatic int a[5000];\n"
        "int main(int count, char **words) { for (int r = 0; r < 500; ++r) sum(a, count > 1 ? 20 : 5000); return 0; }\n"
    )
    command = ["incc", "gcc", "--analyze-probe", "-O1", "program.c", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, env=environment(XDG_DATA_HOME=str(tmp_path)), check=True)
    for words, is_short in ((["short"], True), ([], False)):
        assert run(tmp_path, "-orun.json", "--json", "--mcpu=znver4", "--", "./program", *words).returncode == 0
        loops = json.loads((tmp_path / "run.json").read_bytes())["loops"]
        (loop,) = [loop for loop in loops if loop["kernel_id"] == "sum/loop1"]
        assert loop["is_short"] == is_short
        # A multiplication and an addition in a chain take 4 cycles.
        assert loop["cycles_done"] > max(2, loop["cycles"]) if is_short else loop["cycles_done"] is None


SELDOM = """
#define NOIPA __attribute__((noipa))
static volatile char memory[1 << 22];
NOIPA void touch(long n) { for (long i = 0; i < n; ++i) memory[i << 12] = 1; }
NOIPA void work(long n) { for (long i = 0; i < n; ++i) __asm__ volatile(""); }
NOIPA void outer(long n, long of) { for (long i = 0; i < 4; ++i) { work(n), touch(of); } }
int main(void) {
  for (int i = 0; i < 1000; ++i)
    if (i % 100 == 99) outer(3000000, i); else outer(10000, 0);
  return 0;
}
"""


def test_seldom_entries_that_are_long_count(tmp_path: pathlib.Path) -> None:
    """Neither reading clocks nor page faults makes samples so rare that they miss the entries that take the time."""
    program = build(tmp_path, "gcc", "-O1", source=SELDOM)
    _, _, loops = recorded(tmp_path, program)
    (profile,) = (read_profile(str(file)) for file in (tmp_path / "profiles").iterdir())
    of = {loop.loop.kernel: loop for loop in loops}
    period = profile.sampled_cost * 200 / (of["outer/loop1"].ticks / of["outer/loop1"].entries)
    assert of["outer/loop1"].samples > of["outer/loop1"].entries / (2 + 4 * period)
    # They are left out only if something else ran, and the next ones stand for them.
    assert of["outer/loop1"].ticks > 0.7 * of["main/loop1"].ticks


RECURSION = r"""
#include <setjmp.h>
#include <stdlib.h>
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
struct node { struct node *child[5]; long value; };
NOINLINE struct node *grow(int depth) {
  struct node *n = calloc(1, sizeof *n);
  for (int i = 0; i < 5 && depth; ++i) { n->child[i] = grow(depth - 1); n->value += i; }
  return n;
}
NOINLINE long walk(struct node *n) {
  long s = n->value++;
  for (int i = 0; i < 5; ++i) s += n->child[i] ? walk(n->child[i]) : 1;
  return s;
}
NOINLINE long odd(struct node *n);
NOINLINE long even(struct node *n) {
  long s = n->value--;
  for (int i = 0; i < 5; ++i) s += n->child[i] ? odd(n->child[i]) : 1;
  return s;
}
NOINLINE long odd(struct node *n) {
  long s = n->value--;
  for (int i = 0; i < 5; ++i) s ^= n->child[i] ? even(n->child[i]) : 1;
  return s;
}
NOINLINE void sort(long *a, long n) {
  while (n > 1) {
    long pivot = a[n / 2], i = 0, j = n - 1;
    for (;;) {
      while (a[i] < pivot) ++i;
      while (a[j] > pivot) --j;
      if (i >= j) break;
      long t = a[i]; a[i++] = a[j]; a[j--] = t;
    }
    sort(a, i); a += i; n -= i;
  }
}
NOINLINE long wide(long x, int depth) {
  if (!depth) return x ^ 1;
  for (int i = 0; i < 100; ++i) x += wide(x + i, depth - 1);
  return x;
}
NOINLINE long wider(long rounds) {
  long s = 0;
  for (long r = 0; r < rounds; ++r) s += wide(r, 3);
  return s;
}
static jmp_buf out;
NOINLINE void check(long x) { if (x == 10) longjmp(out, 1); }
NOINLINE long leave(const long *a, long n) {
  long s = 0;
  for (long i = 0; i < n; ++i) { check(a[i]); s += a[i] * i; }
  return s;
}
int main(void) {
  struct node *root = grow(6);
  volatile long s = wider(5);
  for (int r = 0; r < 20; ++r) s += walk(root);
  for (int r = 0; r < 20; ++r) s += even(root);
  long *a = malloc(80000);
  for (int i = 0; i < 10000; ++i) a[i] = i * 7919 % 10007;
  sort(a, 10000);
  for (int i = 1; i < 10000; ++i) if (a[i - 1] > a[i]) return 1;
  for (volatile int r = 0; r < 100; ++r) if (!setjmp(out)) s += leave(a, r);
  return 0;
}
"""
NODES = [5**depth for depth in range(7)]


@pytest.mark.parametrize("options", ["-O1", "-O2 -fno-unroll-loops", "-O2 -fno-unroll-loops -fno-omit-frame-pointer"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_recursion_loses_no_samples(compiler: str, options: str, tmp_path: pathlib.Path) -> None:
    status, _, loops = recorded(tmp_path, build(tmp_path, compiler, *options.split(), source=RECURSION))
    assert status == 0
    of = {loop.loop.kernel: loop for loop in loops}
    for name, entries in (("walk", sum(NODES)), ("even", sum(NODES[::2])), ("odd", sum(NODES[1::2]))):
        loop = of.get(f"{name}/loop1")
        if loop is None:  # clang has unrolled it
            continue
        assert loop.entries == 20 * entries
        assert loop.lost == 0
        assert loop.nested > 0
        if not loop.loop.counted:
            assert loop.iterations == pytest.approx(5 * loop.entries)
    # Nested entries count once: they take what the loop takes that calls the first of them.
    wide, wider = (
        sum(loop.ticks for loop in loops if loop.loop.kernel.startswith(f"{name}/")) for name in ("wide", "wider")
    )
    assert wider / 2 < wide < 2 * wider
    assert all(loop.lost == 0 for loop in loops if loop.loop.kernel.startswith("sort/"))
    assert all(loop.lost > 0 for loop in loops if loop.loop.kernel.startswith("leave/"))


def test_recursion_and_lost_samples_are_marked(tmp_path: pathlib.Path) -> None:
    program = build(tmp_path, "gcc", "-O1", source=RECURSION)
    text = run(tmp_path, "--mcpu=znver4", "--", program).stderr
    rows = {words[1]: words for line in text.splitlines() if len(words := line.split()) > 5 and "%" in words[0]}
    assert "↻" in rows["walk/loop1"][3]
    assert "↻" not in rows["main/loop1"][3]
    assert "By recursion, entries contain" in text
    assert any(word.endswith("?") for word in rows["leave/loop1"])


FILL = """
#include <stdlib.h>
#include <sys/mman.h>
#define NOIPA __attribute__((noipa))
NOIPA void fill(volatile char *p, long n) { for (long i = 0; i < n; ++i) p[i] = 1; }
NOIPA void refill(volatile char *p, long n) { for (long i = 0; i < n; ++i) p[i] = 2; }
int main(int count, char **words) {
  long total = 16 << 20, row = atol(words[1]);
  char *p = mmap(0, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(p, total, MADV_NOHUGEPAGE);
  for (long at = 0; at + row <= total; at += row) { fill(p + at, row); refill(p + at, row); }
  return 0;
}
"""


@pytest.mark.parametrize(("row", "off"), [(16 << 20, 0.01), (10_000, 0.3), (1024, 1.0)])
def test_page_faults_are_counted_in_the_loop_that_touches_memory_first(
    row: int, off: float, tmp_path: pathlib.Path
) -> None:
    _, _, loops = recorded(tmp_path, build(tmp_path, "gcc", "-O1", source=FILL), str(row))
    of = {loop.loop.kernel: loop for loop in loops}
    assert of["fill/loop1"].faults == pytest.approx(4096, rel=off)
    assert of["fill/loop1"].fault_ticks > 0
    assert of["refill/loop1"].faults <= 0.01 * 4096


def test_page_faults_are_a_part_of_the_cycles(tmp_path: pathlib.Path) -> None:
    build(tmp_path, "gcc", "-O1", source=FILL)
    done = run(tmp_path, "-orun.json", "--json", "--mcpu=znver4", "--", "./program", str(16 << 20))
    assert done.returncode == 0
    loops = {loop["kernel_id"]: loop for loop in json.loads((tmp_path / "run.json").read_bytes())["loops"]}
    (faults,) = [part for part in loops["fill/loop1"]["parts"] if part["kind"] == "faults"]
    assert 0 < faults["cycles"] < loops["fill/loop1"]["cycles"]
    assert faults["text"].startswith("4,09")
    assert not [part for part in loops["refill/loop1"]["parts"] if part["kind"] == "faults"]


SIDES = r"""
#include <stdlib.h>
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
NOINLINE long chosen(const int *a, long n, int *out, int by) {
  long k = 0;
  for (long i = 0; i < n; ++i) if (a[i] > 0) out[k++] = a[i] / by;
  return k;
}
NOINLINE int merged(const int *a, const int *b, int *out, int n) {
  int i = 0, j = 0, k = 0;
  while (i < n && j < n) { if (a[i] < b[j]) out[k++] = a[i++]; else out[k++] = b[j++]; }
  return k;
}
static int up(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
  enum { N = 4000 };
  static int a[N], out[N], b[N], c[N], d[2 * N];
  for (int i = 0; i < N; ++i) { a[i] = i % 4 ? -1 : 1 + i; b[i] = rand() % 1000; c[i] = rand() % 500; }
  qsort(b, N, sizeof *b, up); qsort(c, N, sizeof *c, up);
  long s = 0;
  for (int r = 0; r < 200; ++r) s += chosen(a, N, out, 3 + r) + merged(b, c, d, N);
  return s == 0;
}
"""


@pytest.mark.parametrize(("compiler", "function"), [("gcc", "chosen"), ("gcc", "merged"), ("clang-19", "chosen")])
def test_sides_of_branches_are_told_apart(compiler: str, function: str, tmp_path: pathlib.Path) -> None:
    options = ["-O2", "-g", *(["-fno-unroll-loops"] if compiler == "clang-19" else [])]
    program = build(tmp_path, compiler, *options, source=SIDES)
    _, _, loops = recorded(tmp_path, program)
    (loop,) = [loop for loop in loops if loop.loop.kernel == f"{function}/loop1"]
    # One of four elements is chosen. When all of c are merged, half of b are.
    first, *others = [passes / loop.iterations for passes in loop.sides.values()]
    assert first == pytest.approx(1 / 4 if function == "chosen" else 1 / 3, rel=0.05)
    assert others == ([] if function == "chosen" else [pytest.approx(2 / 3, rel=0.05)])
    done = run(tmp_path, "-orun.json", "--json", "--mcpu=znver4", "--", program)
    assert done.returncode == 0
    (reported,) = [
        loop for loop in json.loads((tmp_path / "run.json").read_bytes())["loops"] if function in loop["kernel_id"]
    ]
    assert any(f"{100 * first:.0f} % of the iterations take another way" in cause for cause in reported["possible"])
    if function == "chosen":
        (part,) = [part for part in reported["parts"] if part["kind"] == "sides"]
        assert part["text"].startswith("of the iterations, 25 % through line 10 (asm ")
        assert reported["predicted"] + part["cycles"] > 0


@pytest.mark.parametrize("shares", [[1.0], [0.25, 0.75], [1 / 3, 2 / 3], [0.0, 1.0], [0.5, 0.3, 0.2]])
def test_ways_are_mixed_by_their_shares(shares: list[float]) -> None:
    order = mixed(shares)
    assert [order.count(n) / len(order) for n in range(len(shares))] == pytest.approx(shares)


STRIDES = """
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
struct body { double x, y, z, mass; };
#define SUM(value) { double s = 0; for (long i = 0; i < n; i++) s += value; return s; }
NOINLINE double masses(const struct body *b, long n) SUM(b[i].mass)
NOINLINE double column(const double *a, long n, long m) SUM(a[i * m])
NOINLINE double rows(const double *a, long n, long m) SUM(a[-i * m])
NOINLINE double sum(const double *a, long n) SUM(a[i])
int main() {
  double *a = calloc(400000, 8), s = 0;
  for (int i = 0; i < 16; i++) {
    s += masses((void *)a, 10000) + column(a + i % 8, 300, 1250) + rows(a + 399999, 300, i < 12 ? 100 : 200);
    s += sum(a, 1000);
  }
  return s != 0;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_strides_in_registers_are_those_of_samples(compiler: str, tmp_path: pathlib.Path) -> None:
    program = build(tmp_path, compiler, "-O1", "-fno-unroll-loops", source=STRIDES)
    run(tmp_path, "--json", "-o", "run.json", "--mcpu=znver4", "--", program)
    loops = json.loads((tmp_path / "run.json").read_text())["loops"]
    accesses = {loop["function_name"]: "\n".join(loop["accesses"]) for loop in loops}
    data = {loop["function_name"]: loop["data_bytes"] for loop in loops}
    assert "8 of every 32 bytes, like one field of an array of structures; 25 % of each line" in accesses["masses"]
    assert "8 of every 10,000 bytes, each in a new page; 12.5 % of each line is used" in accesses["column"]
    # Each entry goes through 300 lines, at most in other places than all others do.
    assert 300 * 64 <= data["column"] <= 16 * 300 * 64
    assert "8 of every 800 bytes, each in a new line, downwards" in accesses["rows"]
    assert "12 of 16 samples have these strides." in accesses["rows"]
    assert accesses["sum"] == ""


def test_two_runs_are_compared(tmp_path: pathlib.Path) -> None:
    for number, options in enumerate((["-O1"], ["-O3"])):
        program = build(tmp_path, "gcc", *options)
        assert run(tmp_path, f"-orun{number}.json", "--json", "--mcpu=znver4", "--", program).returncode == 3
    command = ["incc-diff", "run0.json", "run1.json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "A: " in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert any(words[:1] == ["down/loop1"] for words in rows)
    written = diff(tmp_path, "run0.json", "run1.json", "--json", "--html=page.html")
    comparison = json.loads(written.stdout)
    assert comparison["first"]["command"] == comparison["second"]["command"]
    names = {row[run]["kernel_id"] for row in comparison["rows"] for run in ("first", "second") if row[run]}
    assert names >= {"up/loop1", "down/loop1"}
    assert "down/loop1" in (tmp_path / "page.html").read_text()
    assert "| down/loop1 |" in diff(tmp_path, "run0.json", "run1.json", "--format=markdown").stdout
    (tmp_path / "run2.json").write_text('{"schema": "incc-run", "version": 7}')
    for arguments, message in (
        (["run1.json", "--fail-if=cycles > 3"], "--fail-if does not apply to runs"),
        (["run1.json", "--function=up"], "--function does not apply to runs"),
        (["run1.json", "-o", "run0.json"], "-o would overwrite run0.json"),
        (["run1.json", "run2.json"], "two runs are compared, not 3"),
        (["run2.json"], "run2.json: not a report of this version of incc-run"),
        (["none.json"], "none.json: No such file or directory"),
        (["program.c"], "program.c: not a profile of a program with probes"),
    ):
        refused = diff(tmp_path, "run0.json", *arguments)
        assert refused.returncode == 2, arguments
        assert message in refused.stderr


def diff(folder: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["incc-diff", *arguments], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


def test_what_probes_recorded_is_compared_without_a_report(tmp_path: pathlib.Path) -> None:
    for number, options in enumerate((["-O1"], ["-O3"])):
        recorded(tmp_path, build(tmp_path, "gcc", *options))
        (tmp_path / "profiles").rename(tmp_path / f"recorded{number}")
        (tmp_path / "program").rename(tmp_path / f"program{number}")
    done = diff(tmp_path, "recorded0", "recorded1", "--mcpu=znver4")
    assert (done.returncode, done.stderr) == (0, "")
    assert any(line.startswith("down/loop1") for line in done.stdout.splitlines())


def test_a_ranking_takes_the_time_of_loops_from_a_run(tmp_path: pathlib.Path) -> None:
    (tmp_path / "reports").mkdir()
    variables = environment(
        XDG_DATA_HOME=str(tmp_path), INCC_ANALYZE="1", INCC_OUTPUT=str(tmp_path / "reports"), INCC_MCPU="znver4"
    )
    (tmp_path / "program.c").write_text(PROGRAM)
    command = ["incc", "gcc", "--analyze-probe", "-O2", "program.c", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, env=variables, check=True)
    arguments = ["-orun.json", "--json", "--mcpu=znver4", "--probes=recorded", "--", "./program"]
    assert run(tmp_path, *arguments).returncode == 3
    loops = json.loads((tmp_path / "run.json").read_bytes())["loops"]
    shares = {loop["kernel_id"]: loop["share"] for loop in loops}
    for recorded in ("recorded", "run.json"):
        done = report(tmp_path, "reports", "--json", "--probes", recorded)
        assert (done.returncode, done.stderr) == (0, "")
        rows = {row["kernel_id"]: row for row in json.loads(done.stdout)["rows"]}
        for kernel in ("up/loop1", "down/loop1", "find/loop1", "list/loop1"):
            assert rows[kernel]["weight"]["share"] == pytest.approx(shares[kernel], abs=1e-3)
            assert rows[kernel]["run"]["entries"] > 0
    done = report(tmp_path, "reports", "--probes", "recorded")
    assert "measured cycles per iteration" in done.stdout
    assert "Measured" in done.stdout
    done = report(tmp_path, "reports", "--where=measured < 0", "--probes", "recorded")
    assert "No kernel for which it holds" in done.stdout


def report(folder: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["incc-report", *arguments], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


def test_the_report_on_a_run_is_printed_later(tmp_path: pathlib.Path) -> None:
    program = build(tmp_path, "gcc", "-O2")
    at_once = run(tmp_path, "--mcpu=znver4", "--probes=recorded", "--", program)
    assert run(tmp_path, "--mcpu=znver4", "-orun.json", "--json", "--", program).returncode == 3
    later = report(tmp_path, "--mcpu=znver4", "--probes", "recorded")
    assert (later.returncode, later.stderr) == (0, "")
    assert later.stdout == at_once.stderr.partition("\n")[2]  # without the command
    (file,) = (tmp_path / "recorded").iterdir()
    assert report(tmp_path, "--mcpu=znver4", "--probes", str(file)).stdout == later.stdout
    stored = report(tmp_path, "--probes", "run.json")
    assert "predicted for znver4" in stored.stdout
    assert stored.stdout.startswith(f"{program}\n")
    page = report(tmp_path, "--probes", "run.json", "--html=page.html", "--json")
    assert json.loads(page.stdout) == json.loads((tmp_path / "run.json").read_bytes())
    assert "up/loop1" in (tmp_path / "page.html").read_text()


def test_the_data_of_processes_are_not_added_up(tmp_path: pathlib.Path) -> None:
    (tmp_path / "program.c").write_text(
        "#include <stdlib.h>\n__attribute__((noipa)) int sum(const int *a, int n) { int s = 0; "
        "for (int i = 0; i < n; ++i) s += a[i]; return s; }\n"
        "int main(void) { int *a = calloc(50000, 4), s = 0; for (int r = 0; r < 50; ++r) s += sum(a, 50000);"
        " return s; }\n"
    )
    command = ["incc", "gcc", "--analyze-probe", "-O1", "program.c", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, env=environment(XDG_DATA_HOME=str(tmp_path)), check=True)
    (tmp_path / "profiles").mkdir()
    for _ in range(3):
        subprocess.run(["./program"], cwd=tmp_path, env=environment(INCC_PROBES="profiles"), check=False)
    done = report(tmp_path, "--mcpu=znver4", "--json", "--probes", "profiles")
    (size,) = [loop["data_bytes"] for loop in json.loads(done.stdout)["loops"] if loop["kernel_id"] == "sum/loop1"]
    assert size == pytest.approx(200_000, rel=0.01)


def test_the_report_on_earlier_runs_says_what_it_cannot_do(tmp_path: pathlib.Path) -> None:
    recorded(tmp_path, build(tmp_path, "gcc", "-O2"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.probes").write_text("text")
    for arguments, status, message in (
        (["--probes", "empty"], 2, "empty: nothing that probes recorded (*.probes) in this folder; set INCC_PROBES"),
        (["--probes", "none"], 2, "none: no such file or directory"),
        (["--probes", "text.probes"], 2, "text.probes: not a profile of a program with probes"),
        (["--probes", "profiles", "text.probes"], 1, "text.probes: not a profile of a program with probes"),
        (["--where=hot", "--probes", "profiles"], 2, "--where needs the reports of a build before --probes"),
        (["--format=markdown", "--probes", "profiles"], 2, "printed as text, json or html"),
        (["--mcpu=neoverse-n1", "--probes", "profiles"], 2, "AArch64 code, which has no probes"),
        (["profiles", "--hot=x", "--probes", "profiles"], 2, "--hot and --probes cannot be combined"),
    ):
        done = report(tmp_path, *arguments)
        assert done.returncode == status, arguments
        assert message in done.stderr
        assert ("up/loop1" in done.stdout) == (status < 2)


def test_incc_run_reports_what_it_cannot_do(tmp_path: pathlib.Path) -> None:
    missing = run(tmp_path, "--", "./none")
    assert (missing.returncode, missing.stderr) == (127, "incc-run: error: ./none: No such file or directory\n")
    (tmp_path / "text").write_text("text")
    assert run(tmp_path, "--", "./text").returncode == 126
    assert run(tmp_path).returncode == 2
    for core, message in (("skylaek", "did you mean skylake"), ("neoverse-n1", "AArch64 code, which has no probes")):
        unknown = run(tmp_path, f"--mcpu={core}", "--", "touch", "ran")
        assert unknown.returncode == 2
        assert message in unknown.stderr
        assert not (tmp_path / "ran").exists()
    for file, message in (("none/run.html", "--html: there is no folder none"), (".", "-o and --html name the same")):
        early = run(tmp_path, "-orun.html", f"--html={file if file != '.' else 'run.html'}", "--", "touch", "ran")
        assert (early.returncode, message in early.stderr) == (2, True)
        assert not (tmp_path / "ran").exists()
    killed = run(tmp_path, "--", "sh", "-c", "kill -TERM $$")
    assert killed.returncode == -signal.SIGTERM
    nothing = run(tmp_path, "--", "true")
    assert nothing.returncode == 0
    assert "no process has recorded anything" in nothing.stderr.replace("\n", " ")


@pytest.mark.parametrize("cut", [0, 100, 4095, 4096, 5000])
def test_a_damaged_profile_is_an_error_or_empty(cut: int, tmp_path: pathlib.Path) -> None:
    program = build(tmp_path, "gcc", "-O2")
    recorded(tmp_path, program)
    (whole,) = (tmp_path / "profiles").iterdir()
    path = tmp_path / "cut.probes"
    path.write_bytes(whole.read_bytes()[:cut])
    if cut < 4096:
        with pytest.raises(ProfileError, match="not a profile"):
            read_profile(str(path))
    else:
        assert msgspec.json.encode(read_profile(str(path)))
    path.write_bytes(b"x" * 8192)
    with pytest.raises(ProfileError, match="not a profile"):
        read_profile(str(path))

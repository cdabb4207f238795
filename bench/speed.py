"""Speed: `bench/speed.py [--loop FILE.s]` times incc-mca against its peers, many loops in one file, and the wrapper.

Every time is the best of several runs of a whole process, in milliseconds, start-up included, peers in the same run.
Where there are two columns, processor time comes first, which other processes disturb less, then wall time. The budget
of `incc-mca` on one kernel is 90 ms of processor time where `python -c pass` takes 10.

`bench/speed.py --mca` only compares with llvm-mca: both faces of incc-mca on one kernel, on 200 regions with all views,
with summaries alone and as JSON, and on long inputs. The 200 regions differ in constants and registers, as generated
code does, and results are shared between regions that cannot be told apart; 200 regions that have no instruction in
common are another row.

`bench/speed.py --loops DIR` times incc-mca on files of many different loops, on one processor and on all: with the
AArch64 loops of compilers in `DIR/aarch64/loops.jsonl.gz`, and the x86 loops in `DIR/zen4/loops.txt` and
`DIR/redwood_cove/loops.txt`, whose lines begin with machine code in hexadecimal.

`bench/speed.py --scan FILE` times incc-scan instead, on a file whose lines begin with the machine code of a block in
hexadecimal: user time, which other processes on the machine disturb less.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

TRIAD = """\
# OSACA-BEGIN
# LLVM-MCA-BEGIN
.L4:
	vmovupd	(%rdx,%rax), %ymm1
	vfmadd213pd	(%rsi,%rax), %ymm2, %ymm1
	vmovupd	%ymm1, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%r8, %rax
	jne	.L4
# LLVM-MCA-END
# OSACA-END
"""

LOOP = """\
	.globl	f{n}
	.type	f{n}, @function
f{n}:
.L{n}:
	vmovupd	(%rdx,%rax), %ymm{a}
	vmovupd	32(%rdx,%rax), %ymm{b}
	vfmadd213pd	(%rsi,%rax), %ymm2, %ymm{a}
	vfmadd213pd	32(%rsi,%rax), %ymm2, %ymm{b}
	vaddpd	%ymm{a}, %ymm{b}, %ymm{b}
	vmulpd	%ymm{a}, %ymm2, %ymm{a}
	vmovupd	%ymm{a}, (%rdi,%rax)
	vmovupd	%ymm{b}, 32(%rdi,%rax)
	leaq	{n}(%rax,%rcx,4), %r9
	movq	%r9, -8(%rsp)
	addq	$64, %rax
	cmpq	%r8, %rax
	jne	.L{n}
	ret
	.size	f{n}, .-f{n}
"""

FUNCTION = """\
double f{n}(double *restrict a, const double *restrict b, long n) {{
  double s = 0;
  for (long i = 0; i < n; ++i) {{
    a[i] = b[i] * {n}.5 + a[i];
    s += a[i] * b[i];
  }}
  for (long i = 1; i < n; ++i)
    if (b[i] > {n})
      a[i] += a[i - 1];
  return s;
}}
"""


def best(command: list[str], runs: int, environment: dict[str, str] | None = None) -> float:
    """The shortest of `runs` wall times of a command, in milliseconds. Raises CalledProcessError if it fails."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        times.append(1000 * (time.perf_counter() - start))
        if run.returncode:
            raise subprocess.CalledProcessError(run.returncode, command, stderr=run.stderr)
    return min(times)


def row(name: str, value: str) -> None:
    """One line of the table."""
    print(f"{name:<66}{value:>14}", flush=True)


def tool(name: str) -> str | None:
    """A program beside this Python or on PATH."""
    beside = pathlib.Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def one_kernel(folder: pathlib.Path, given: pathlib.Path | None, osaca: str | None) -> None:
    """Print the times of incc-mca, Python's start, llvm-mca and OSACA on one kernel."""
    file = given or folder / "triad.s"
    if given is None:
        file.write_text(TRIAD)
    row(f"one kernel, {file.name}", "ms CPU      wall")
    incc = tool("incc-mca")
    if incc is None:
        raise FileNotFoundError("incc-mca is not installed")
    for name, command, runs in (
        ("python -c pass", [sys.executable, "-c", "pass"], 15),
        ("incc-mca -mcpu=skylake-avx512 (budget: 90 ms CPU)", [incc, "-mcpu=skylake-avx512", str(file)], 15),
        ("incc-mca --compat -mcpu=skylake-avx512", [incc, "--compat", "-mcpu=skylake-avx512", str(file)], 15),
    ):
        cpu, wall = processor_and_clock(command, runs)
        row(f"  {name}", f"{cpu:.0f}  {wall:>8.0f}")
    for name in ("llvm-mca-19", "llvm-mca"):
        if program := tool(name):
            # llvm-mca's assembler does not take other compilers' directives: give it the region alone.
            region = folder / "region.s"
            region.write_text(TRIAD)
            cpu, wall = processor_and_clock([program, "-mcpu=skylake-avx512", str(region)], 15)
            row(f"  {name} -mcpu=skylake-avx512", f"{cpu:.0f}  {wall:>8.0f}")
            break
    if osaca:
        cpu, wall = processor_and_clock([osaca, "--arch", "SKX", str(file)], 3)
        row("  osaca --arch SKX", f"{cpu:.0f}  {wall:>8.0f}")


REGION = """\
# LLVM-MCA-BEGIN r{n}
	vmovupd	(%rdx,%rax), %ymm1
	vfmadd213pd	(%rsi,%rax), %ymm2, %ymm1
	vmovupd	%ymm1, (%rdi,%rax)
	vaddpd	%ymm{a}, %ymm3, %ymm4
	imulq	${b}, %r9, %r9
	addq	$32, %rax
	cmpq	%r8, %rax
	jne	.L4
# LLVM-MCA-END
"""


def different(count: int) -> list[str]:
    """So many instructions of which no two are alike: arithmetic on vectors, and every fourth one a lea."""
    operations = ("vaddpd", "vmulpd", "vsubps", "vmaxps", "vfmadd213pd", "vpaddd", "vpmulld", "vandpd", "vpsrlvd")
    three = list(itertools.product(operations, "xyz", range(16), range(16), range(16)))
    found = []
    for n in range(count):
        if n % 4 == 3:
            found.append(f"\tleaq\t{n}(%rax,%rcx,4), %r{8 + n // 4 % 6}")
        else:
            operation, width, a, b, c = three[n * 7919 % len(three)]
            found.append(f"\t{operation}\t" + ", ".join(f"%{width}mm{register}" for register in (a, b, c)))
    return found


def processor_and_clock(command: list[str], runs: int) -> tuple[float, float]:
    """The least processor time of `runs` runs of a command and its children, and the least wall time, in milliseconds.

    Raises CalledProcessError if it fails.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    cpu, wall = [], []
    for _ in range(runs):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        wall.append(1000 * (time.perf_counter() - start))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run.returncode:
            raise subprocess.CalledProcessError(run.returncode, command, stderr=run.stderr)
        cpu.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return min(cpu), min(wall)


def beside_llvm_mca(folder: pathlib.Path) -> None:
    """Compare both faces of incc-mca with llvm-mca: many regions with various views, and long inputs."""
    incc, llvm = tool("incc-mca"), tool("llvm-mca-19") or tool("llvm-mca")
    if incc is None:
        raise FileNotFoundError("incc-mca is not installed")
    one = folder / "one.s"
    one.write_text(TRIAD)
    regions = folder / "regions200.s"
    regions.write_text("".join(REGION.format(n=n, a=n % 16, b=n + 3) for n in range(200)))
    body = REGION.format(n=0, a=5, b=7).split("\n")[1:-3]
    long = folder / "long.s"
    long.write_text("\n".join((body * (5000 // len(body) + 1))[:5000]) + "\n")
    marked = folder / "marked.s"
    before = "\tvaddpd\t%ymm1, %ymm3, %ymm4\n" * 10000
    marked.write_text(before + REGION.format(n=0, a=5, b=7) + before)
    lines = different(9000)
    tables = folder / "tables.s"
    tables.write_text("\n".join(lines) + "\n")
    unlike = folder / "different200.s"
    unlike.write_text(
        "".join(
            f"# LLVM-MCA-BEGIN r{n}\n" + "\n".join(lines[8 * n : 8 * n + 8]) + "\n# LLVM-MCA-END\n" for n in range(200)
        )
    )
    tools = [("incc-mca", [incc]), ("incc-mca --compat", [incc, "--compat"])]
    tools += [(pathlib.Path(llvm).name, [llvm])] if llvm else []
    rows = (
        ("200 regions, all views", regions, ["-all-views"], 9),
        ("200 regions, summaries alone", regions, ["-instruction-info=0", "-resource-pressure=0"], 9),
        ("200 regions, JSON", regions, ["-json"], 9),
        ("200 regions of different instructions, all views", unlike, ["-all-views"], 3),
        ("the same, summaries alone", unlike, ["-instruction-info=0", "-resource-pressure=0"], 9),
        ("instruction tables of 9,000 different instructions", tables, ["-instruction-tables"], 1),
        ("one region of 5,000 instructions, all views", long, ["-all-views"], 1),
        ("a million iterations", one, ["-iterations=1000000"], 1),
        ("20,000 lines, one region marked in them", marked, [], 1),
    )
    row("beside llvm-mca, -mcpu=skylake-avx512", "ms CPU      wall")
    for name, file, options, runs in rows:
        row(f"  {name}", "")
        for called, command in tools:
            cpu, wall = processor_and_clock([*command, "-mcpu=skylake-avx512", *options, str(file)], runs)
            row(f"    {called}", f"{cpu:.0f}  {wall:>8.0f}")


def many_loops(folder: pathlib.Path) -> None:
    """Kernels per second in one file of 1,000 loops."""
    file = folder / "loops.s"
    file.write_text("\t.text\n" + "".join(LOOP.format(n=n, a=3 + n % 5, b=8 + n % 7) for n in range(1000)))
    incc = tool("incc-mca")
    assert incc is not None
    ms = best([incc, "-mcpu=skylake-avx512", "--auto", str(file)], 3)
    row("1,000 loops of 13 instructions in one file, incc-mca --auto", f"{ms:.0f} ms")
    row("", f"{1e6 / ms:.0f} loops/s")


def assembly(loops: Sequence[str], kind: str) -> str:
    """Return a file with a function for each of these loops, with labels of its own. `kind`: the mark of functions."""
    functions = []
    for n, loop in enumerate(loops):
        body = re.sub(r"\.L\w+", rf"\g<0>_{n}", loop.rstrip())
        functions.append(f"\t.type\tf{n}, {kind}function\nf{n}:\n{body}\n\tret\n\t.size\tf{n}, .-f{n}\n")
    return "\t.text\n" + "".join(functions)


def different_loops(data: pathlib.Path, folder: pathlib.Path) -> None:
    """Processor time and kernels per second of incc-mca in files of different loops, AArch64's also each twice.

    Up to 500 loops have what-if analyses.
    """
    from incc.frontends.x86.kernels import decode_bytes

    rows = gzip.decompress((data / "aarch64/loops.jsonl.gz").read_bytes()).splitlines()
    a64 = list(dict.fromkeys(json.loads(row)["assembly"] for row in rows))
    x86 = []
    for name in ("zen4", "redwood_cove"):
        for line in dict.fromkeys((data / name / "loops.txt").read_text().splitlines()):
            *instructions, jump = [i.text for i in decode_bytes(bytes.fromhex(line.split()[0])).instructions]
            x86.append("\n".join([".L1:", *instructions, f"{jump.split()[0]} .L1"]))
    incc = shutil.which("incc-mca") or tool("incc-mca")
    assert incc is not None
    processors = sorted(os.sched_getaffinity(0))
    row("incc-mca --auto", "ms CPU  kernels/s")
    for cpu, loops, kind in (
        ("neoverse-v2", a64, "%"),
        ("neoverse-v2", a64 * 2, "%"),
        ("neoverse-n1", a64 * 2, "%"),
        ("znver4", x86[: len(a64)], "@"),
        ("znver4", x86[: 2 * len(a64)], "@"),
        ("znver4", x86, "@"),
    ):
        file, count = folder / "loops.s", len(loops)
        file.write_text(assembly(loops, kind))
        for used in (processors[:1], processors):
            os.sched_setaffinity(0, used)
            spent, wall = processor_and_clock([incc, f"-mcpu={cpu}", "--auto", str(file)], 5)
            os.sched_setaffinity(0, processors)
            row(f"  {count} loops, {cpu}, processors: {len(used)}", f"{spent:.0f}  {1000 * count / wall:>9.0f}")


def wrapper(folder: pathlib.Path) -> None:
    """Print the time that the wrapper adds to the compilation of a C file of 2,000 lines."""
    source = folder / "long.c"
    source.write_text("".join(FUNCTION.format(n=n) for n in range(1, 168)))
    lines = source.read_text().count("\n")
    incc = tool("incc")
    assert incc is not None
    flags = ["-O3", "-march=skylake-avx512", "-c", str(source), "-o", str(folder / "long.o")]
    environment = dict(os.environ, INCC_CC="cc")
    plain = best(["cc", *flags], 3)
    through = best([incc, *flags], 3, environment)
    analysed = best([incc, *flags, f"--analyze={folder / 'report.txt'}"], 3, environment)
    row(f"wrapper, C file of {lines} lines, -O3", "ms")
    row("  cc", f"{plain:.0f}")
    row("  incc, nothing asked for", f"{through:.0f}")
    row("  incc --analyze", f"{analysed:.0f}")
    row("  added by the analysis", f"{analysed - plain:.0f}")


# --- many kernels -----------------------------------------------------------------------------------------------------


def user_seconds(command: list[str]) -> float:
    """User time of a command and its children, in seconds: unlike wall time, what else runs hardly matters.

    Raises CalledProcessError if it fails.
    """
    before = os.times().children_user
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command, stderr=run.stderr)
    return os.times().children_user - before


def peak_megabytes(command: list[str]) -> float:
    """The most memory that a command had at a time, in megabytes. Raises CalledProcessError if it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_maxrss / 1024


def scan(file: pathlib.Path, folder: pathlib.Path) -> None:
    """incc-scan on a file of blocks in hexadecimal: all of them, in two processes, by length, by iterations."""
    blocks = [line.split()[0] for line in file.read_text().splitlines() if line.strip() and line[0] != "#"]
    incc = tool("incc-scan")
    if incc is None:
        raise FileNotFoundError("incc-scan is not installed")
    command = [incc, "-mcpu=skylake", "--input-format=hex", "--output=cycles"]
    row(f"{len(blocks)} blocks of {file.name}, incc-scan -mcpu=skylake", "user s  blocks/s")
    for name, options in (("  --output=cycles", []), ("  the same --bounds", ["--bounds"])):
        seconds = min(user_seconds([*command, *options, str(file)]) for _ in range(3))
        row(name, f"{seconds:.2f}  {len(blocks) / seconds:>8.0f}")
    many = folder / "many.txt"
    many.write_text("\n".join(blocks * 4) + "\n")
    row("  the file four times, wall time, best of 5", "s  blocks/s")
    times = {}
    for jobs in (1, 2):
        times[jobs] = best([*command, f"-j{jobs}", str(many)], 5) / 1000
        row(f"    -j {jobs}", f"{times[jobs]:.2f}  {4 * len(blocks) / times[jobs]:>8.0f}")
    row("    -j 2 is so many times as fast", f"{times[1] / times[2]:.2f}")
    peers(blocks, folder)
    by_length(folder, command)
    by_iterations(blocks)


def peers(blocks: list[str], folder: pathlib.Path) -> None:
    """llvm-mca on the same blocks, as the regions of one file, where it is installed."""
    program = tool("llvm-mca-19") or tool("llvm-mca")
    if program is None:
        return
    from incc.frontends.x86.kernels import decode_bytes

    regions = []
    for number, block in enumerate(blocks):
        # llvm-mca takes no jump to an address: the jump back is left to what begins the next iteration anyway.
        lines = [i.text for i in decode_bytes(bytes.fromhex(block)).instructions if not i.branch]
        regions += [f"# LLVM-MCA-BEGIN b{number}", *lines, f"# LLVM-MCA-END b{number}"]
    file = folder / "regions.s"
    file.write_text("\n".join(regions) + "\n")
    seconds = user_seconds(
        [program, "-mcpu=skylake", "-iterations=100", "-skip-unsupported-instructions=any", str(file)]
    )
    row(
        f"  {pathlib.Path(program).name}, 100 iterations, without the jumps",
        f"{seconds:.2f}  {len(blocks) / seconds:>8.0f}",
    )


def by_length(folder: pathlib.Path, command: list[str]) -> None:
    """Cost against the length of a kernel: vector additions of many registers, unrolled."""
    row("kernel of so many instructions, copies of it in a file", "ms each  MB at most")
    empty = folder / "empty.txt"
    empty.write_text("")
    start = min(user_seconds([*command, str(empty)]) for _ in range(3))
    for length in (10, 100, 1000, 10000):
        # vaddpd %xmm1, %xmmN, %xmmN, in turn over eight registers.
        code = "".join(f"c5{0xF9 - 8 * (n % 8):02x}58{0xC1 + 8 * (n % 8):02x}" for n in range(length))
        file = folder / f"length{length}.txt"
        count = 40 if length < 10000 else 4
        file.write_text(f"{code}\n" * count)
        seconds = min(user_seconds([*command, str(file)]) for _ in range(3)) - start
        row(f"  {length:,}", f"{1000 * max(seconds, 0) / count:.2f}  {peak_megabytes([*command, str(file)]):>10.0f}")


def by_iterations(blocks: list[str]) -> None:
    """Cost of the simulation alone against the number of iterations, mean over the blocks."""
    from incc import core
    from incc.frontends.x86.kernels import decode_bytes
    from incc.models.binding.bind import bind
    from incc.models.loading import load

    model = load("skylake")
    bound = [bind(decode_bytes(bytes.fromhex(block)), model)[0] for block in blocks]
    row("simulation of so many iterations, mean over the blocks", "ms each")
    for iterations in (1, 10, 100, 1000, 0):
        start = os.times().user
        for kernel in bound:
            core.simulate(kernel, iterations=iterations)
        ms = 1000 * (os.times().user - start) / len(bound)
        row(f"  {f'{iterations:,}' if iterations else 'until steady'}", f"{ms:.3f}")


def main() -> int:
    """Parse the command line, print the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loop", type=pathlib.Path, help="a marked assembly file instead of the built-in triad")
    parser.add_argument("--scan", type=pathlib.Path, metavar="FILE", help="time incc-scan on the blocks of this file")
    parser.add_argument("--loops", type=pathlib.Path, metavar="DIR", help="time incc-mca on the loops in this folder")
    parser.add_argument("--mca", action="store_true", help="only compare incc-mca with llvm-mca")
    parser.add_argument("--osaca", default=tool("osaca"), help="OSACA's program (default: on PATH)")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as name:
            if arguments.scan:
                scan(arguments.scan, pathlib.Path(name))
                return 0
            if arguments.loops:
                different_loops(arguments.loops, pathlib.Path(name))
                return 0
            one_kernel(pathlib.Path(name), arguments.loop, "" if arguments.mca else arguments.osaca)
            beside_llvm_mca(pathlib.Path(name))
            if arguments.mca:
                return 0
            many_loops(pathlib.Path(name))
            wrapper(pathlib.Path(name))
    except (OSError, subprocess.CalledProcessError) as problem:
        stderr = getattr(problem, "stderr", b"") or b""
        print(f"speed.py: {problem}\n{stderr.decode(errors='replace')}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

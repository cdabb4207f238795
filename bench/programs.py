"""Real programs with probes: `bench/programs.py --folder DIR [PROGRAM …]`.

The programs of programs.toml are built by each compiler without probes and with probes at all loops, and run on data of
some MB. Printed are for each the loops with probes that ran and their entries, the mean iterations per entry, whether
all files that the two write are the same, the processor time while probes record as a multiple of that without them,
and the largest difference between a loop's share of the time by its probes and by a sampler, in percentage points, with
the share by the sampler. `--all-shares` prints those of all loops.

The sampler interrupts the program without probes each millisecond (SIGPROF). Its timer has the wall time: timers of the
processor time are as coarse as the kernel's ticks. Labels mark the loops. A sample counts for each loop that has the
interrupted instruction or a call on the stack, since probes count the functions that a loop calls. Loops without probes
are left out.

`--under "flock FILE chrt -f 10 taskset -c 1"` runs each measurement under a command. Sources are fetched and kept as by
builds.py. Needed are make and the compilers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import random
import resource
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Mapping

import msgspec
from builds import PROJECTS, emptied, extracted, fetched

from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.report.identity import region_ids

HERE = pathlib.Path(__file__).with_suffix("")
FLAGS = "-O2 -g"
LEAST_SHARE = 0.005
"""The least share of the time of loops whose shares are compared."""
LoopName = tuple[str, str]
"""The name of the source without its folder, and the loop's identity in its report."""


class Program(msgspec.Struct, frozen=True):
    """A program of programs.toml, which explains the fields."""

    build: str
    run: str
    sources: tuple[str, ...] = ()


PROGRAMS = msgspec.toml.decode(pathlib.Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, Program])

# --- the sampler ------------------------------------------------------------------------------------------------------

SAMPLER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
enum { Samples = 1 << 16, Depth = 64 };
static void *places[Samples][Depth]; // the interrupted instruction, then the calls
static int count;
static timer_t timer;
static void sample(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  void *interrupted = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP], *stack[Depth + 8];
  if (count == Samples)
    return;
  int depth = backtrace(stack, Depth + 8), from = 0, to = 0;
  while (from < depth && stack[from] != interrupted)
    ++from;
  places[count][to++] = interrupted;
  for (++from; from < depth && to < Depth; ++from)
    places[count][to++] = (char *)stack[from] - 1;
  ++count;
}
__attribute__((constructor)) static void start(void) {
  void *load_now[1];
  backtrace(load_now, 1);
  struct sigaction action = {.sa_sigaction = sample, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  struct itimerspec each = {{0, 1000000}, {0, 1000000}};
  sigaction(SIGPROF, &action, 0);
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &each, 0);
}
__attribute__((destructor)) static void stop(void) {
  char name[4096], program[4096];
  Dl_info found;
  timer_delete(timer);
  program[readlink("/proc/self/exe", program, sizeof program - 1)] = 0;
  snprintf(name, sizeof name, "%s/%d", getenv("SAMPLES"), getpid());
  FILE *file = fopen(name, "w");
  fprintf(file, "%s\n", program);
  for (int i = 0; i < count; ++i, fputc('\n', file))
    for (int j = 0; j < Depth && places[i][j]; ++j)
      if (dladdr(places[i][j], &found) && found.dli_fbase)
        fprintf(file, "%s@%lx ", found.dli_fname, (unsigned long)((char *)places[i][j] - (char *)found.dli_fbase));
  fclose(file);
}
"""


def marked(text: str) -> str:
    """Return an assembly text with symbols at the beginning and end of the code of innermost loops."""
    assembly = parse(text)
    regions, _ = innermost_loops(assembly)
    (file,) = [line.split('"')[1] for line in text.split("\n") if line.startswith('\t.file\t"')][:1] or ["?"]
    before: dict[int, list[str]] = {}
    behind: dict[int, list[str]] = {}
    for region, name in zip(regions, region_ids(regions, regions), strict=True):
        for number, line in enumerate(region.body_lines):
            symbol = f"incc|{os.path.basename(file)}|{name}|{number}"
            before.setdefault(line, []).append(f'"{symbol}<":')
            behind.setdefault(line, []).append(f'"{symbol}>":')
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        lines += [*before.get(number, ()), line, *behind.get(number, ())]
    return "\n".join(lines)


def assemble(arguments: list[str]) -> int:
    """Stand in for the assembler: mark the loops of a text, and assemble it."""
    for name in (each for each in arguments if each.endswith(".s") and os.path.isfile(each)):
        path = pathlib.Path(name)
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if "\n\t.ident\t" in text:
            path.write_text(marked(text), encoding="utf-8", errors="surrogateescape")
    return subprocess.run(["as", *arguments], check=False).returncode


def loops_at(program: pathlib.Path) -> dict[int, set[LoopName]]:
    """Return the loops of a program with marks at each address of their code."""
    listed = subprocess.run(["nm", str(program)], check=True, capture_output=True, text=True).stdout.split("\n")
    bounds: dict[str, dict[str, int]] = {}
    for line in listed:
        words = line.split(" ", 2)
        if len(words) == 3 and words[2].startswith("incc|"):
            bounds.setdefault(words[2][:-1], {})[words[2][-1]] = int(words[0], 16)
    loops: dict[int, set[LoopName]] = {}
    for symbol, bound in bounds.items():
        _, rest = symbol.split("|", 1)
        source, rest = rest.split("|", 1)
        for address in range(bound["<"], bound[">"]):
            loops.setdefault(address, set()).add((source, rest.rpartition("|")[0]))
    return loops


def sampled(program: pathlib.Path, command: str, place: pathlib.Path, under: str) -> tuple[dict[LoopName, float], int]:
    """Return the shares of the time of a program's loops by the sampler, and the number of samples."""
    library, samples = place / "sampler.so", place / "samples"
    (place / "sampler.c").write_text(SAMPLER)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(place / "sampler.c"), "-o", str(library)], check=True)
    emptied(samples)
    execute(command, place, {"LD_PRELOAD": str(library), "SAMPLES": str(samples)}, under)
    loops = loops_at(program)
    counts: Counter[LoopName] = Counter()
    total = 0
    for file in samples.iterdir():
        name, *lines = file.read_text().split("\n")[:-1]
        if name != str(program):
            continue
        for line in lines:
            total += 1
            on_stack: set[LoopName] = set()
            for each in line.split():
                module, _, offset = each.rpartition("@")
                if os.path.basename(module) == program.name:
                    on_stack |= loops.get(int(offset, 16), set())
            counts.update(on_stack)
    return {loop: number / total for loop, number in counts.items()}, total


# --- building and running ---------------------------------------------------------------------------------------------


def data(folder: pathlib.Path) -> pathlib.Path:
    """Make the data of the programs and return their folder."""
    place = folder / "input"
    if place.exists():
        return place
    emptied(place)
    with tarfile.open(fetched(PROJECTS["eigen"].package, folder)) as tar:
        parts = [tar.extractfile(member).read() for member in tar if member.isfile()]  # type: ignore[union-attr]
    (place / "text").write_bytes(b"".join(parts)[:8_000_000])
    chosen = random.Random(1)
    rows = [
        {"number": i, "mass": chosen.uniform(0, 1e6), "name": f"body-{chosen.randrange(10**9):x}", "near": i % 3 == 0}
        for i in range(10000)
    ]
    for row in rows:
        row["at"] = [chosen.gauss(0, 100) for _ in range(3)]
        row["remark"] = 'first "line"\nsecond \\ line' if row["near"] else None
    (place / "bodies.json").write_text(json.dumps(rows))
    elements = [
        f'<body mass="{row["mass"]}"><number>{row["number"]}</number><name>{row["name"]} &amp; &lt;others&gt;</name>'
        f"{''.join(f'<at>{each}</at>' for each in row['at'])}</body>"  # type: ignore[attr-defined]
        for row in rows
    ]
    (place / "bodies.xml").write_text(f"<list>{''.join(elements)}</list>")
    return place


def build(name: str, compiler: Mapping[str, str], how: str, options: argparse.Namespace) -> pathlib.Path:
    """Build a program in a folder of its own with the data, and return the folder. `how`: plain, probes, or marks."""
    program = PROGRAMS[name]
    place = options.folder / "programs" / f"{name}-{compiler['CC']}-{how}"
    emptied(place)
    for source in program.sources:
        archive = fetched(PROJECTS[source].package, options.folder)
        extracted(archive, place / "unpacked").rename(place / source)
    before = {"plain": "", "probes": "incc ", "marks": ""}[how]
    behind = f" -B{options.folder / 'marks'}" if how == "marks" else ""
    if how == "marks" and "clang" in compiler["CC"]:
        behind += " -fno-integrated-as"
    environment = {key: f"{before}{value}{behind}" for key, value in compiler.items()}
    environment |= {"FLAGS": options.flags, "HERE": str(HERE)}
    if how == "probes":
        environment["INCC_PROBE"] = "1"
    log = place / "log"
    with log.open("w") as file:
        done = subprocess.run(
            ["sh", "-ec", program.build], cwd=place, env={**outside(), **environment}, stdout=file, stderr=file,
            check=False,
        )  # fmt: skip
    if done.returncode:
        raise ChildProcessError(f"{name} is not built with {how}: see {log}")
    for file in data(options.folder).iterdir():
        shutil.copy(file, place)
    return place


def outside() -> dict[str, str]:
    """Return the environment without the variables of incc."""
    return {key: value for key, value in os.environ.items() if not key.startswith("INCC_")}


def execute(command: str, place: pathlib.Path, variables: Mapping[str, str], under: str) -> float:
    """Run a command of a shell and return its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = {**outside(), **variables, "HERE": str(HERE)}
    # What runs it must not be sampled.
    named = [f"{key}={given.pop(key)}" for key in ("LD_PRELOAD",) if key in variables]
    words = [*shlex.split(under), "env", *named, "sh", "-ec", command]
    subprocess.run(words, cwd=place, env=given, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def written(place: pathlib.Path) -> dict[str, str]:
    """Return the digests of the files that a run has written."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in place.iterdir()
        if path.is_file() and path.name not in ("log", "program", "sampler.c", "sampler.so")
    }


# --- the table --------------------------------------------------------------------------------------------------------

HEADING = f"{'program':8} {'loops':>5} {'entries':>13} {'iterations':>10} {'files':9} {'time':>6}  shares"


def main() -> int:
    if sys.argv[1:2] == ["--as"]:
        return assemble(sys.argv[2:])
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)} (all)")
    parser.add_argument("--folder", required=True, type=pathlib.Path, help="for sources and builds")
    parser.add_argument("--compilers", default="gcc/g++,clang-19/clang++-19", help="pairs for C and C++")
    parser.add_argument("--flags", default=FLAGS, help=f"for all programs ({FLAGS})")
    parser.add_argument("--times", type=int, default=3, help="runs of each program, of which the fastest counts (3)")
    parser.add_argument("--under", default="", help="a command that runs each measurement, such as taskset -c 1")
    parser.add_argument("--all-shares", action="store_true", help="print the shares of all loops")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if unknown := [each for each in options.programs if each not in PROGRAMS]:
        parser.error(f"no such program {unknown[0]}")
    emptied(options.folder / "marks")
    assembler = options.folder / "marks" / "as"
    assembler.write_text(f'#!/bin/sh\nexec {sys.executable} {pathlib.Path(__file__).resolve()} --as "$@"\n')
    assembler.chmod(0o755)
    good = True
    for pair in options.compilers.split(","):
        compiler = dict(zip(("CC", "CXX"), pair.split("/"), strict=True))
        print(f"{compiler['CC']} {options.flags}\n{HEADING}")
        for name in options.programs or PROGRAMS:
            good &= compared(name, compiler, options)
    return 0 if good else 1


def compared(name: str, compiler: Mapping[str, str], options: argparse.Namespace) -> bool:
    """Build and run a program, print its line, and return False if it writes other files with probes."""
    try:
        plain, probes, marks = (build(name, compiler, how, options) for how in ("plain", "probes", "marks"))
    except ChildProcessError as error:
        print(f"{name:8} {error}")
        return False
    command = PROGRAMS[name].run
    profiles = probes / "profiles"
    fastest: dict[str, float] = {}
    for _ in range(options.times):
        emptied(profiles)
        for place, variables in ((plain, {}), (probes, {"INCC_PROBES": str(profiles)})):
            took = execute(command, place, variables, options.under)
            fastest[place.name] = min(took, fastest.get(place.name, took))
    same = written(plain) == written(probes)
    words = ["incc-report", "--json", "--top=1000000", "-o", str(probes / "run.json"), "--probes", str(profiles)]
    subprocess.run(words, check=True)
    loops = json.loads((probes / "run.json").read_bytes())["loops"]
    by_sampler, samples = sampled(marks / "program", command, marks, options.under)
    by_probes: Counter[LoopName] = Counter()
    for loop in loops:
        by_probes[os.path.basename(loop["unit"]), loop["kernel_id"]] += loop["share"] or 0
    shares = sorted(
        ((by_probes[loop] - by_sampler.get(loop, 0), loop) for loop in by_probes),
        key=lambda each: -abs(each[0]),
    )
    entries, iterations = sum(loop["entries"] for loop in loops), sum(loop["iterations"] for loop in loops)
    apart, (source, kernel) = shares[0]
    by_sampler_too = by_sampler.get((source, kernel), 0)
    print(
        f"{name:8} {len(loops):5} {entries:13,} {iterations / entries:10.1f} {'the same' if same else 'DIFFERENT':9}"
        f" {fastest[probes.name] / fastest[plain.name]:6.3f}  {100 * apart:+.1f} of {by_sampler_too:.1%}: {kernel} in"
        f" {source} ({samples} samples)",
        flush=True,
    )
    if options.all_shares:
        for _, loop in sorted(shares, key=lambda each: -by_sampler.get(each[1], 0)):
            if max(by_sampler.get(loop, 0), by_probes[loop]) >= LEAST_SHARE:
                print(f"    {by_sampler.get(loop, 0):6.1%} {by_probes[loop]:6.1%}  {loop[1]} in {loop[0]}")
    return same


if __name__ == "__main__":
    sys.exit(main())

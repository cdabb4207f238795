"""Measure time and memory of comparisons of whole builds, made of real kernels under other names.

    python bench/compare.py make 10000 /tmp/old [--report-kernels 10]
    python bench/compare.py make 10000 /tmp/new --seed 2
    python bench/compare.py diff /tmp/old /tmp/new
    python bench/compare.py read /tmp/old /tmp/new

`make` compiles this repository's examples with the first compiler there is, and writes reports of so many kernels into
a folder: the functions, files and lines of each copy are others, and so are its content hash, and constants in its
instructions. Kernels take as much as in real reports, timelines and all. With another seed it is what a build is some
commits later (CHANGES): of most functions nothing is new, others have moved, or other code, or are gone or new.
`diff` runs `incc-diff A B` as a user does, and then says which part takes how much of that, in another process: time,
time on the CPU (other programs may run as well) and the largest memory so far. A and B are anything that incc-diff
takes, as two commits of a database. `read` prints what reading each of the inputs takes, each in a process of its own.
"""

from __future__ import annotations

import argparse
import copy
import glob
import hashlib
import os
import random
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = os.path.dirname(os.path.abspath(__file__))

CHANGES = {"moved": 0.10, "code": 0.07, "renamed": 0.01, "removed": 0.01, "added": 0.01}
"""Shares of the functions of which that is true in a build of another seed: they stand some lines further down; they
were compiled with other flags; they are called otherwise; they are gone; another one stands before them."""

FLAGS = ("-O3",)
OTHER_FLAGS = (("-O3", "-funroll-loops"), ("-O2", "-fno-tree-vectorize"), ("-O3", "-mprefer-vector-width=512"))


# --- synthetic builds -------------------------------------------------------------------------------------------------


def real_units(compiler: str, flags: Sequence[str] = FLAGS) -> list[dict[str, Any]]:
    """Units of reports on the examples of this folder, with the timelines that reports have."""
    import incc
    from incc.views.json import render  # noqa: F401 -- fails here rather than after the compilations

    sources = [os.path.join(HERE, "elements_kernels.c"), *sorted(glob.glob(os.path.join(HERE, "hints", "*.c")))]
    units = []
    for source in sources:
        report = incc.compile([compiler, *flags, "-g1", "-march=skylake-avx512", "-c", source, "-o", os.devnull])
        units += [unit for unit in report.to_dict()["units"] if unit["kernels"]]
    if not units:
        raise SystemExit(f"{compiler} compiles no example")
    return units  # type: ignore[return-value]


def make(count: int, folder: str, report_kernels: int, seed: int, compiler: str) -> None:
    """Write reports of `count` kernels into a folder."""
    from incc.report.build import SCHEMA_VERSION
    from incc.views.json import render

    units = real_units(compiler)
    pool = [(unit, kernel) for unit in units for kernel in unit["kernels"]]
    others = [
        {
            (unit["source"], kernel["kernel_id"]): kernel
            for unit in real_units(compiler, flags)
            for kernel in unit["kernels"]
        }
        for flags in (OTHER_FLAGS if seed != 1 else ())
    ]
    # What is in a build does not depend on the seed, only what became of it.
    layout, changes = random.Random(0), random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    done = written = number = 0
    while done < count:
        unit, _ = pool[layout.randrange(len(pool))]
        kernels: list[Any] = []
        for place in range(min(report_kernels, count - done)):
            home, kernel = pool[layout.randrange(len(pool))]
            name, shift, constant = f"{number}_{place}", layout.randrange(1000), layout.randrange(1 << 20)
            change = drawn(changes) if seed != 1 else ""
            if change == "added":
                kernels.append(copied(pool[changes.randrange(len(pool))][1], f"{name}_new", shift, constant))
            if change == "code":
                kernel = changes.choice(others).get((home["source"], kernel["kernel_id"]), kernel)
            if change == "moved":
                shift += changes.randrange(1, 100)
            if change != "removed":
                kernels.append(copied(kernel, f"{name}_renamed" if change == "renamed" else name, shift, constant))
            done += 1
        source = f"src/module{number % 97}/file{number}.c"
        command = [*unit["command"][:-3], source, "-o", os.path.basename(source)[:-1] + "o"]
        new = {**unit, "source": source, "assembly_file": f"file{number}.s", "command": command, "kernels": kernels}
        text = render({"schema_version": SCHEMA_VERSION, "tool": {"name": "incc", "version": "0"}, "units": [new]})  # type: ignore[typeddict-item]
        with open(os.path.join(folder, f"file{number:06}.json"), "w", encoding="utf-8") as file:
            written += file.write(text)
        number += 1
    print(f"{done} kernels in {number} reports: {written / 1e6:.0f} MB, {written / done / 1e3:.1f} KB a kernel")


def drawn(changes: random.Random) -> str:
    """Return the new name of a function, "" if it is gone."""
    left = changes.random()
    for name, share in CHANGES.items():
        left -= share
        if left < 0:
            return name
    return ""


def copied(kernel: dict[str, Any], name: str, shift: int, constant: int) -> Any:
    """A copy of a kernel in a function of another name, so many lines further down, with another constant in it. What
    it is known by and its hash are what they would be."""
    new = copy.deepcopy(kernel)
    old = kernel["function"]
    function = f"{old}_{name}"
    for key in ("function", "function_name", "source_function", "kernel_id", "name"):
        new[key] = new[key].replace(old, function)
    new["overview"]["function"] = function
    for place in (new["source"], *(i["source"] for i in new["instructions"])):
        if place:
            place["line"] += shift
    for instruction in new["instructions"]:
        instruction["line"] += shift
        instruction["text"] = instruction["text"].replace("$1,", f"${constant},")
    new["content_hash"] = hashlib.blake2b(f"{kernel['content_hash']} {constant}".encode(), digest_size=8).hexdigest()
    return new


# --- measurements -----------------------------------------------------------------------------------------------------


def measured(what: str, work: Callable[[], str]) -> None:
    """Do it in a process of its own, and print how long it took (and how long it was running: others may have been as
    well), its largest memory and what it says."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        start, start_busy = time.perf_counter(), time.process_time()
        said = work()
        seconds, busy = time.perf_counter() - start, time.process_time() - start_busy
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{seconds:>8.2f} s ({busy:.2f} busy)  {megabytes:>6.0f} MB  {what}: {said}", flush=True)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    if status:
        raise SystemExit(f"{what}: failed")


def read(folders: list[str]) -> None:
    """Read each folder, then all together."""

    def work(names: list[str]) -> str:
        from incc.driver.sides.read import read_sides

        return ", ".join(f"{side.info.label} {side.info.kernels} kernels" for side in read_sides(names))

    for folder in folders:
        measured("read", lambda folder=folder: work([folder]))  # type: ignore[misc]
    if len(folders) > 1:
        measured("read", lambda: work(folders))


def diff(inputs: list[str]) -> None:
    """Compare them with the command, then in parts."""
    start = time.perf_counter()
    command = [
        sys.executable,
        "-c",
        "import sys; from incc.driver.commands.diff import main; sys.exit(main())",
        *inputs,
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"incc-diff: status {os.waitstatus_to_exitcode(status)}")
    busy = used.ru_utime + used.ru_stime
    print(f"incc-diff: {time.perf_counter() - start:.2f} s, {busy:.2f} s busy, {used.ru_maxrss / 1024:.0f} MB at most")
    measured("in parts", lambda: parts(inputs))


def parts(inputs: list[str]) -> str:
    """Compare them, and print what each part takes."""
    import incc.comparison.build as build
    from incc.driver.sides.read import read_sides
    from incc.views.comparison import text
    from incc.views.comparison.cells import ComparisonParts

    last, last_busy = time.perf_counter(), time.process_time()

    def end(part: str) -> None:
        nonlocal last, last_busy
        now, now_busy = time.perf_counter(), time.process_time()
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  {part:<8} {now - last:>6.2f} s ({now_busy - last_busy:>5.2f} busy)  {megabytes:>6.0f} MB", flush=True)
        last, last_busy = now, now_busy

    sides = read_sides(inputs)
    end("read")
    match = build.match

    def timed(*given: Any) -> Any:
        end("")
        found = match(*given)
        end("match")
        return found

    build.match = timed  # type: ignore[assignment]
    comparison = build.compare(sides)
    end("compare")
    said = text.render(comparison, 120, False, ComparisonParts())
    end("print")
    return next(line for line in said.split("\n") if " kernels: " in line)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    maker = modes.add_parser("make", help="make a build's folder of reports")
    maker.add_argument("kernels", type=int)
    maker.add_argument("folder")
    maker.add_argument("--report-kernels", type=int, default=10, help="kernels in a report")
    maker.add_argument("--seed", type=int, default=1, help="others are that of seed 1 some commits later")
    maker.add_argument("--compiler", default="gcc")
    reader = modes.add_parser("read", help="measure reading")
    reader.add_argument("folders", nargs="+")
    differ = modes.add_parser("diff", help="measure a comparison")
    differ.add_argument("inputs", nargs="+")
    options = parser.parse_args()
    if options.mode == "make":
        make(options.kernels, options.folder, options.report_kernels, options.seed, options.compiler)
    elif options.mode == "diff":
        diff(options.inputs)
    else:
        read(options.folders)


if __name__ == "__main__":
    main()

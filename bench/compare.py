"""How long comparisons of whole builds take, and how much memory: on builds made of real kernels under other names.

    python bench/compare.py make 10000 /tmp/old [--report-kernels 10] [--seed 1]
    python bench/compare.py read /tmp/old /tmp/new

`make` compiles this repository's examples with the first compiler there is, and writes reports of so many kernels into
a folder: the functions, files and lines of each copy are others, and so are its content hash, and constants in its
instructions. Kernels take as much as in real reports, timelines and all. With another seed, a tenth of the functions
has other figures and another hash, as after a commit. `read` prints what reading each of the folders takes, each in a
process of its own.
"""

from __future__ import annotations

import argparse
import copy
import glob
import hashlib
import os
import random
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))

CHANGED = 0.1
"""The share of functions that differ between two seeds."""


# --- synthetic builds -------------------------------------------------------------------------------------------------


def real_units(compiler: str) -> list[dict[str, Any]]:
    """Units of reports on the examples of this folder, with the timelines that reports have."""
    import incc
    from incc.driver.views.json import render  # noqa: F401 -- fails here rather than after the compilations

    sources = [os.path.join(HERE, "elements_kernels.c"), *sorted(glob.glob(os.path.join(HERE, "hints", "*.c")))]
    units = []
    for source in sources:
        report = incc.compile([compiler, "-O3", "-g1", "-march=skylake-avx512", "-c", source, "-o", os.devnull])
        units += [unit for unit in report.to_dict()["units"] if unit["kernels"]]
    if not units:
        raise SystemExit(f"{compiler} compiles no example")
    return units  # type: ignore[return-value]


def make(count: int, folder: str, report_kernels: int, seed: int, compiler: str) -> None:
    """Write reports of `count` kernels into a folder."""
    from incc.driver.report.build import SCHEMA_VERSION
    from incc.driver.views.json import render

    units = real_units(compiler)
    pool = [(unit, kernel) for unit in units for kernel in unit["kernels"]]
    # What is in a build does not depend on the seed, only what became of it.
    layout, changes = random.Random(0), random.Random(seed)
    os.makedirs(folder, exist_ok=True)
    done = written = number = 0
    while done < count:
        unit, _ = pool[layout.randrange(len(pool))]
        kernels = []
        while len(kernels) < min(report_kernels, count - done):
            _, kernel = pool[layout.randrange(len(pool))]
            changed = seed != 1 and changes.random() < CHANGED
            kernels.append(copied(kernel, f"{number}_{len(kernels)}", seed if changed else 0, layout, changes))
        done += len(kernels)
        source = f"src/module{number % 97}/file{number}.c"
        command = [*unit["command"][:-3], source, "-o", os.path.basename(source)[:-1] + "o"]
        new = {**unit, "source": source, "assembly_file": f"file{number}.s", "command": command, "kernels": kernels}
        text = render({"schema_version": SCHEMA_VERSION, "tool": {"name": "incc", "version": "0"}, "units": [new]})  # type: ignore[typeddict-item]
        with open(os.path.join(folder, f"file{number:06}.json"), "w", encoding="utf-8") as file:
            written += file.write(text)
        number += 1
    print(f"{done} kernels in {number} reports: {written / 1e6:.0f} MB, {written / done / 1e3:.1f} KB a kernel")


def copied(kernel: dict[str, Any], name: str, changed: int, layout: random.Random, changes: random.Random) -> Any:
    """A copy of a kernel under another name and at another place."""
    new = copy.deepcopy(kernel)
    old = kernel["function"]
    function = f"{old}_{name}"
    shift, constant = layout.randrange(1000), layout.randrange(1 << 20)
    for key in ("function", "function_name", "source_function", "kernel_id", "name"):
        new[key] = new[key].replace(old, function)
    new["overview"]["function"] = function
    for place in (new["source"], *(i["source"] for i in new["instructions"])):
        if place:
            place["line"] += shift
    for instruction in new["instructions"]:
        instruction["line"] += shift
        instruction["text"] = instruction["text"].replace("$1,", f"${constant},")
    new["content_hash"] = hashlib.blake2b(
        f"{kernel['content_hash']} {name} {changed}".encode(), digest_size=8
    ).hexdigest()
    if changed:
        factor = changes.choice((0.5, 0.75, 1.0, 1.25, 2.0))
        new["cycles"] = round(new["cycles"] * factor, 6)
        new["bounds"]["prediction"]["cycles"] = new["cycles"]
        if new["elements"]:
            new["elements"]["cycles"] = round(new["elements"]["cycles"] * factor, 6)
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

        return ", ".join(f"{side.info['label']} {side.info['kernels']} kernels" for side in read_sides(names))

    for folder in folders:
        measured("read", lambda folder=folder: work([folder]))  # type: ignore[misc]
    if len(folders) > 1:
        measured("read", lambda: work(folders))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    maker = modes.add_parser("make", help="make a build's folder of reports")
    maker.add_argument("kernels", type=int)
    maker.add_argument("folder")
    maker.add_argument("--report-kernels", type=int, default=10, help="kernels in a report")
    maker.add_argument("--seed", type=int, default=1, help="builds of other seeds differ in a tenth of their functions")
    maker.add_argument("--compiler", default="gcc")
    reader = modes.add_parser("read", help="measure reading")
    reader.add_argument("folders", nargs="+")
    options = parser.parse_args()
    if options.mode == "make":
        make(options.kernels, options.folder, options.report_kernels, options.seed, options.compiler)
    else:
        read(options.folders)


if __name__ == "__main__":
    main()

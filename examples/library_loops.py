# %% [markdown]
# # The hottest loops of a library, on five cores
#
# Finds the innermost loops of a library, takes those that matter most, predicts them for five cores, and plots cycles
# per iteration side by side. Run it as a script (`python examples/library_loops.py [LIBRARY]`), or cell by cell in an
# editor or notebook that knows `# %%`. The plot needs matplotlib (`pip install matplotlib`); without it the table is
# printed.

# %%
from __future__ import annotations

import ctypes.util
import os
import sys
from collections.abc import Sequence

from matplotlib import pyplot

import incc

CORES = ("haswell", "skylake", "icelake-server", "znver3", "znver4")
LOOPS = 12


# %% [markdown]
# Which library: the one that is named, else the C library's mathematics.


# %%
def find_library() -> str:
    """The library's file: the first argument, or where the system keeps libm."""
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        return sys.argv[1]
    name = ctypes.util.find_library("m") or "libm.so.6"
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"):
        if os.path.exists(path := os.path.join(folder, name)):
            return path
    sys.exit(f"no {name} found: name a library")


# %% [markdown]
# Which loops: nobody has measured how often each runs, so take those that are nested deepest, which run most often in
# any program, and of these the ones that take longest. With a profile at hand, sort by its weights instead.


# %%
def analyze(library: str, core: str) -> dict[str, incc.Kernel]:
    """The library's loops of which the core's model knows every instruction, by name."""
    report = incc.analyze(library, input="obj", mcpu=core, what_ifs=False)
    return {kernel.name: kernel for kernel in report.where("is_loop and unknown == 0")}


# %%
def predictions(library: str, cores: Sequence[str], count: int) -> dict[str, dict[str, incc.Kernel]]:
    """The hottest loops by name, and each by core; those that some core does not know are left out."""
    found = {core: analyze(library, core) for core in cores}
    first = found[cores[0]]
    rows = {name: kernel.row() for name, kernel in first.items() if all(name in found[core] for core in cores)}
    hottest = sorted(rows, key=lambda name: (-rows[name]["depth"], -rows[name]["cycles"]))[:count]
    return {name: {core: found[core][name] for core in cores} for name in hottest}


# %%
def print_table(found: dict[str, dict[str, incc.Kernel]], cores: Sequence[str]) -> None:
    width = max((len(name) for name in found), default=4)
    print(f"{'loop':<{width}}" + "".join(f"{core:>16}" for core in cores) + "  limited by, on the last")
    for name, kernels in found.items():
        last = kernels[cores[-1]]
        limits = ", ".join(last.limited_by) or "the pipeline"
        print(f"{name:<{width}}" + "".join(f"{kernels[core].cycles:>16.2f}" for core in cores) + f"  {limits}")


# %%
def plot(found: dict[str, dict[str, incc.Kernel]], cores: Sequence[str], file: str) -> bool:
    """Bars for each loop and core; False where there is no matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")

    height = 0.8 / len(cores)
    figure, axes = pyplot.subplots(figsize=(10, 0.5 * len(found) + 2), layout="constrained")
    for number, core in enumerate(cores):
        places = [row + number * height for row in range(len(found))]
        axes.barh(places, [kernels[core].cycles for kernels in found.values()], height, label=core)
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(found))], labels=list(found))
    axes.invert_yaxis()
    axes.set_xlabel("cycles per iteration")
    axes.legend(loc="lower right")
    figure.savefig(file, dpi=120)
    return True


# %%
def main() -> None:
    library = find_library()
    found = predictions(library, CORES, LOOPS)
    if not found:
        sys.exit(f"{library}: no loop of which every instruction is known")
    print_table(found, CORES)
    file = "library_loops.png"
    print(f"\n{file}" if plot(found, CORES, file) else "\nno plot: pip install matplotlib")


if __name__ == "__main__":
    main()

"""Report the share of real code whose instructions the models have: `bench/coverage.py DIR [FILE.s …]`.

DIR holds block files (`hex cycles` a line) in `zen4/` and `intel/`; the assembly files are compilers' output, by
default all under test/. Every core is set against every set of its instruction set: the share of instructions, by
count, that the model has figures for, those that it derives, and those that it lacks, which --lacking lists. Of
instructions that a core does not have at all (AVX-512 on Haswell) nothing can be known; they count as lacking, too.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Iterator

from incc.driver.coverage import DERIVED, LACKING, CoverageError, Used, measure, read_assembly, read_hex
from incc.models.loading import list_models, load
from incc.models.model import ModelError

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sets(folder: pathlib.Path, assembly: list[pathlib.Path]) -> Iterator[tuple[str, str, list[Used]]]:
    """(instruction set, name of the set, its instructions)."""
    for path in sorted([*folder.glob("zen4/*.txt"), *folder.glob("intel/*.txt")]):
        name = f"{path.parent.name}/{path.stem}"
        yield "x86", name, [u for u in read_hex(str(path)) if isinstance(u, Used)]
    for isa in ("x86", "aarch64"):
        code: list[Used] = []
        for path in assembly:
            try:
                code += (u for u in read_assembly(str(path), isa) if isinstance(u, Used))
            except CoverageError:
                continue  # of the other instruction set, or not meant to be read
        if code:
            yield isa, f"assembly ({isa})", code


def main() -> int:
    """Prints a table; exit status 0, or 1 if there is nothing to measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR")
    parser.add_argument("assembly", nargs="*", type=pathlib.Path, metavar="FILE")
    parser.add_argument("-mcpu", "--mcpu", action="append", default=[], metavar="NAME", help="only these cores")
    parser.add_argument("--lacking", type=int, default=0, metavar="N", help="list so many forms that are lacking")
    options = parser.parse_args()
    assembly = options.assembly or sorted((ROOT / "test").rglob("*.s"))
    found = list(sets(options.folder, assembly))
    if not found:
        print(f"coverage: no code in {options.folder}", file=sys.stderr)
        return 1
    print(f"{'set':<20}{'core':<17}{'instructions':>13}{'known %':>10}{'derived %':>11}{'lacks %':>9}")
    for isa, name, code in found:
        for entry in list_models():
            if entry.isa != isa and entry.isa:
                continue
            if options.mcpu and entry.name not in options.mcpu:
                continue
            try:
                model = load(entry.path)
            except ModelError as error:
                print(f"coverage: {error}", file=sys.stderr)
                continue
            if model.isa != isa:
                continue
            result = measure(model, code)
            derived, lacking = 100 * result.share(DERIVED), 100 * result.share(LACKING)
            known = 100 * sum(result.share(kind) for kind in result.weights if kind not in (DERIVED, LACKING))
            print(f"{name:<20}{model.name:<17}{result.total:>13g}{known:>10.2f}{derived:>11.2f}{lacking:>9.2f}")
            for weight, key, _, used in result.lacking[: options.lacking]:
                print(f"    {weight:g} {key}  {used.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

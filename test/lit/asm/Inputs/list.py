"""List the regions of assembly files: list.py loops|marked|file FILE."""

import sys

from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops, marked_regions, whole_file

with open(sys.argv[2], encoding="utf-8") as file:
    assembly = parse(file.read())
regions, left_out = {"loops": innermost_loops, "marked": marked_regions, "file": whole_file}[sys.argv[1]](assembly)
for region in regions:
    shape = f"loop of depth {region.depth}" if region.is_loop else "straight line"
    print(f"{region.kind} {region.name} ({region.source}): {shape}, lines {','.join(map(str, region.lines))}")
    for note in region.notes:
        print(f"  note: {note}")
for problem in left_out:
    print(f"line {problem.first_line}: {problem.label}: {problem.reason}")

"""Mark the innermost loops of an assembly file: mark.py FILE DIALECT."""

import sys

from incc.frontends.asm.markers import insert_markers
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
sys.stdout.write(insert_markers(text, innermost_loops(parse(text))[0], sys.argv[2]))

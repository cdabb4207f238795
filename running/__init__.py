"""Probes in programs: they record how often loops are entered, how long they run, and with which addresses.

The way of the data:

- `compiling` gives a compiler's command the options by which it starts incc as its assembler, and links the runtime.
- `insertion` finds the loops in the assembly text. `edges` lists the ways into and out of each, `induction` looks for
  the value that tells its iterations (in a register or on the `stack`), `sides` for registers that tell its ways,
  `liveness` for registers that are free. `plan` has the result for a loop, `editing` puts the code of `x86` into the
  text, with the descriptions of frames in `frames`.
- `units` stores the text itself in the object, so that the program has what the report needs.
- The runtime (`runtime/probe.c`) records, `profile` reads its files.
- `explain` compares what a loop took with predictions, `strides` tells how far its accesses moved, and `run_report`
  makes the report of it.
- `decremental` runs programs without parts of a loop's work, with probes or without.
"""

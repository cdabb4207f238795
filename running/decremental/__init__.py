"""Runs of programs without parts of a loop's work.

`patching` writes copies of a program or library with other instructions in a loop. `measure` runs them in copies of the
working directory, and compares each with the unchanged program. `traced` follows a run through ptrace to its end, and
`passes` through the first iterations of the loop.
"""

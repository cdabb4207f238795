"""Measuring on the processor that this runs on: instruction forms, their conflicts, kernels, and a core's pipeline.

Everything is measured by one harness (`harness.py`): machine code that runs as a loop, in a child of its own, beside a
chain of dependent additions that tells how long a core cycle is.
"""

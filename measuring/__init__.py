"""Measurements on this processor: instruction forms, their conflicts, kernels, and the core's pipeline.

The harness (`harness.py`) makes all measurements. It runs machine code as a loop in a child process, together with a
chain of dependent additions that gives the length of a core cycle.
"""

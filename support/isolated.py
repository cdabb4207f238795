"""Other interpreters that run a part of incc, isolated from Python's variables and from the working directory.

The launchers of the commands do the same (front/python.cpp).
"""

from __future__ import annotations

import sys


def isolated(module: str, function: str = "main") -> list[str]:
    """Return a command that runs a function of a module in an interpreter with the search path of this one."""
    path = [place for place in sys.path if place]
    program = f"import sys; sys.path[:] = {path!r}; from {module} import {function}; sys.exit({function}())"
    return [sys.executable, "-I", "-c", program]

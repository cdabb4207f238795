"""incc: how many cycles a loop iteration takes on a core, and what stops it from being fewer.

Nothing is imported here: a compiler wrapper is started thousands of times, and pays only for what a run needs.
"""

__version__ = "0.1.0"

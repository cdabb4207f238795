"""incc: how many cycles a loop iteration takes on a core, and what stops it from being fewer.

    import incc

    report = incc.analyze("kernel.s", mcpu="skylake")
    for kernel in report.kernels:
        print(kernel.name, kernel.cycles, kernel.limited_by, kernel.verdict)

`analyze` takes assembly, machine code, objects or sources, `compile` a compiler's command; both give a `Report` of
`Kernel`s, and `load` reads one that a command has written.
`compare` takes two builds or more, and gives a `Comparison` of their kernels. `cores` lists the supported cores,
`Model` describes a core, and `figures` gives the speed of an instruction. See docs/python.md.

Nothing is imported before it is used: a compiler wrapper is started thousands of times, and pays only for what each run
needs.
"""

from typing import TYPE_CHECKING

from incc.support.version import __version__

if TYPE_CHECKING:
    from incc.driver.api import (
        Core,
        Kernel,
        Model,
        Report,
        SavedReport,
        analyze,
        compile,
        cores,
        figures,
        load,
    )
    from incc.driver.api_compare import Comparison, compare
    from incc.report.instructions import InstructionFigures
    from incc.support.errors import AnalysisError

__all__ = [
    "AnalysisError",
    "Comparison",
    "Core",
    "InstructionFigures",
    "Kernel",
    "Model",
    "Report",
    "SavedReport",
    "__version__",
    "analyze",
    "compare",
    "compile",
    "cores",
    "figures",
    "load",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("Comparison", "compare"):
        from incc.driver import api_compare

        value: object = getattr(api_compare, name)
    else:
        from incc.driver import api

        value = getattr(api, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

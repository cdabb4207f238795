"""The analysis of what a link has made of objects for link-time optimisation: of the loops in the linked file those of
functions that were generated at the link."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.driver.errors import AnalysisError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from incc.driver.pipeline import Settings
    from incc.driver.report.build import UnitResult
    from incc.frontends.gcc_wrapper.linking import Link
    from incc.frontends.objects.kernels import KernelSource
    from incc.frontends.unit import Unit


TO_BE_LINKED_AGAIN = "it is to be linked again, which makes machine code"
"""Why there is nothing to analyse where `analyze_linked` finds nothing."""


def analyze_linked(
    unit: Unit, link: Link, asked: Sequence[Settings], wants: Callable[[str], bool], path: str = ""
) -> list[UnitResult]:
    """What was found of a linked file, for each core that is asked for; nothing where no code was generated after all.

    `unit`: what is known of it. `wants`: says whether a source, by its absolute path, is to be analysed; loops that are
    in another one are left out. `path`: where the file is, if not where it was linked to. Raises AnalysisError and
    OSError.
    """
    from incc.driver.code import ObjectCode, of_functions
    from incc.driver.pipeline import analyze_kernels, choose_model
    from incc.frontends.gcc_wrapper.linking import optimised_functions
    from incc.frontends.objects.kernels import located_kernels
    from incc.frontends.objects.read import ObjectError
    from incc.frontends.objects.symbols import elf_facts

    path = path or os.path.join(unit.folder, link.output)
    program = elf_facts(path)
    if program is None:
        raise AnalysisError(f"{unit.source}: not an ELF file of 64 bits")
    if program.is_object and program.lto == "gcc" and not program.functions:
        return []  # objects linked into another one (-r), for the next link to generate code
    if not program.has_symbols:
        raise AnalysisError(
            f"{unit.source}: it has no symbols, by which the code of link-time optimisation is told from "
            "that of libraries: link without -s, and strip it afterwards"
        )
    try:
        found = located_kernels(
            path,
            folder=os.path.dirname(os.path.join(unit.folder, link.output)),
            starts=optimised_functions(link, program),
            folders=unit.folders,
        )
    except ObjectError as error:
        raise AnalysisError(f"{unit.source}: {error}") from error
    results = []
    for settings in asked:
        cpu = "" if settings.measure else unit.cpu
        choice = choose_model(settings.mcpu, cpu, settings.model_path)
        if found.kernels and found.kernels[0].isa != choice.model.isa:
            isa = found.kernels[0].isa
            raise AnalysisError(f"{unit.source}: {isa} code, but {choice.model.name} is an {choice.model.isa} core")
        kernels, sources = found.kernels, found.sources
        system_loops = 0
        if sources:
            hides = not settings.functions and not settings.system_headers
            users = [
                n for n, source in enumerate(sources) if not hides or source.place is None or source.place.is_users
            ]
            system_loops = len(kernels) - len(users)
            kept = [n for n in users if _wants(wants, unit, sources[n])]
            kernels, sources = [kernels[n] for n in kept], [sources[n] for n in kept]
        code = of_functions(ObjectCode(kernels, found.left_out, sources), settings.functions)
        result = analyze_kernels(
            unit, code.kernels, settings, choice.model, choice.reason, places=code.places(), left_out=code.left_out
        )
        results.append(replace(result, model_note=choice.note, system_loops=system_loops))
    return results


def _wants(wants: Callable[[str], bool], unit: Unit, source: KernelSource) -> bool:
    if source.place is None or source.place.source is None:
        return True
    return wants(os.path.normpath(os.path.join(unit.folder, source.place.source.file)))

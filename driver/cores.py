"""Several cores in one wish: `-mcpu=skylake-avx512,znver4` is an analysis for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.support.errors import AnalysisError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.pipeline import Settings


def named_cores(mcpu: str) -> list[str]:
    """The names in a list with commas between them."""
    return [name for part in mcpu.split(",") if (name := part.strip())]


def for_each_core(settings: Settings, names: Sequence[str]) -> list[Settings]:
    """The settings once for each of the cores that are named, in that order; names of one model (aliases, or two cores
    that have the same nearest one) count once: readers of reports know a unit's analyses by their models. Raises
    AnalysisError for a name without a model."""
    if len(names) <= 1:
        return [replace(settings, mcpu="".join(names))]
    from incc.driver.pipeline import choose_model

    found: dict[str, Settings] = {}
    wrong: list[str] = []
    for name in names:
        try:
            model = choose_model(name, "", settings.model_path).model
        except AnalysisError as error:
            wrong.append(str(error))
        else:
            found.setdefault(model.name, replace(settings, mcpu=name))
    if wrong:
        raise AnalysisError("; ".join(dict.fromkeys(wrong)))
    return list(found.values())


def cores_of(settings: Settings, otherwise: Sequence[str] = ()) -> list[Settings]:
    """The settings for each core that they name themselves, else for each of the others'. Raises AnalysisError."""
    names = named_cores(settings.mcpu)
    if settings.mcpu and not names:
        raise AnalysisError(f"no core is named in {settings.mcpu!r}")
    return for_each_core(settings, names or otherwise)

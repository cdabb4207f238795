"""Lists of cores: `-mcpu=skylake-avx512,znver4` requests an analysis for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from incc.driver.settings import Settings
from incc.support.errors import AnalysisError


def named_cores(mcpu: str) -> list[str]:
    """Split a list of names at its commas."""
    return [name for part in mcpu.split(",") if (name := part.strip())]


def for_each_core(settings: Settings, names: Sequence[str]) -> list[Settings]:
    """Return the settings for each named core, in order.

    Names of the same model (aliases, or cores with the same nearest model) count once, since reports identify the
    analyses of a unit by their models. Raises AnalysisError for names without a model.
    """
    if len(names) <= 1:
        return [settings.on("".join(names))]
    from incc.driver.pipeline import choose_model

    by_model: dict[str, Settings] = {}
    errors: list[str] = []
    for name in names:
        try:
            model = choose_model(name, "", settings.core.model_path).model
        except AnalysisError as error:
            errors.append(str(error))
        else:
            by_model.setdefault(model.name, settings.on(name))
    if errors:
        raise AnalysisError("; ".join(dict.fromkeys(errors)))
    return list(by_model.values())


def cores_of(settings: Settings, otherwise: Sequence[str] = ()) -> list[Settings]:
    """Return the settings for each core in them, or if there are none, in `otherwise`. Raises AnalysisError."""
    names = named_cores(settings.core.mcpu)
    if settings.core.mcpu and not names:
        raise AnalysisError(f"no core in {settings.core.mcpu!r}")
    return for_each_core(settings, names or otherwise)

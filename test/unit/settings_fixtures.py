"""Settings of an analysis by the names of their fields alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from incc.driver.settings import Settings, with_values
from incc.frontends.asm.call_path import WantedTrips


def fields_of(part: msgspec.Struct, prefix: str = "") -> Iterator[str]:
    """The fields of settings and of their parts, as in "kernel.altered.decoders"."""
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, msgspec.Struct) and not isinstance(value, WantedTrips):
            yield from fields_of(value, f"{prefix}{name}.")
        else:
            yield prefix + name


FIELDS = list(fields_of(Settings()))


def settings_with(start: Settings | None = None, /, **fields: Any) -> Settings:
    """Settings (or those to start with) with other values of these fields, in whichever part they are."""
    full = {name.rpartition(".")[2]: name for name in FIELDS}
    return with_values(start or Settings(), {full[name]: value for name, value in fields.items()})

"""Types of numbers in records that are read from JSON: decoding refuses other values, and schemas state the limits."""

from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Above = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Exact = Annotated[str, Meta(pattern="^[0-9]+(/[0-9]+)?$", description="A fraction, or a whole number.")]
Index = Annotated[int, Meta(ge=0, description="An instruction of the kernel.")]
Finite = Annotated[float, Meta(ge=-1e30, le=1e30)]
"""A number whose sums and products with a few others are finite, too."""

"""Records."""

from typing import NamedTuple as NamedTuple

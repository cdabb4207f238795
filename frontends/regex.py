"""Regular expressions."""

from re import *  # noqa: F403
from re import Match as Match
from re import Pattern as Pattern


def keep() -> None:
    """Do nothing."""

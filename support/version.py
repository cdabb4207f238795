"""The version of incc."""

__version__ = "0.1.0"

"""The environment variables that the commands read, for help and manual pages."""

from __future__ import annotations

ENVIRONMENT = (("INCC_MODEL_PATH", "folders and files of models separated by colons, after those of the option"),)

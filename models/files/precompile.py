"""Compiles all models when incc is built: `python models/files/precompile.py SOURCE_FOLDER OUT_FOLDER`.

The tables are those that a first run would leave in its cache, and are read as such (models.loading).
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile


def main(source: str, out: str) -> None:
    """Write the tables of every model and of their index. Raises ModelError for an invalid model."""
    with tempfile.TemporaryDirectory() as folder:
        # The sources are not laid out as the package is, and the cache must not find what earlier runs left.
        os.mkdir(os.path.join(folder, "incc"))
        with open(os.path.join(folder, "incc", "__init__.py"), "wb"):
            pass
        package = os.path.join(folder, "incc", "models")
        for part in ("frontends", "models", "support"):
            shutil.copytree(
                os.path.join(source, part),
                os.path.join(folder, "incc", part),
                ignore=shutil.ignore_patterns("__pycache__", "tables"),
            )
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        model = importlib.import_module("incc.models.loading")
        for entry in model.list_models():
            model.load(entry.path)
        made = os.path.join(package, "data", "__pycache__")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Compiles all models when incc is built: `python models/files/precompile.py SOURCE_FOLDER OUT_FOLDER`.

The tables become those that come with incc (models.cache).
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile


def main(source: str, out: str) -> None:
    """Write the tables of every model and of their index. Raises ModelError for an invalid model."""
    # What this user has kept is not used.
    for name in ("HOME", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        # The sources are not laid out as the package is.
        os.mkdir(os.path.join(folder, "incc"))
        with open(os.path.join(folder, "incc", "__init__.py"), "wb"):
            pass
        for part in ("frontends", "models", "support"):
            shutil.copytree(
                os.path.join(source, part),
                os.path.join(folder, "incc", part),
                ignore=shutil.ignore_patterns("__pycache__", "tables"),
            )
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        loading = importlib.import_module("incc.models.loading")
        cache = importlib.import_module("incc.models.cache")
        compiler = importlib.import_module("incc.models.files.compile")
        data = loading.data_folder()
        index = loading.make_index(data, loading.read_heads(loading.model_files(data)))
        tables = {"models.index": index}
        for entry in index.entries:
            path = os.path.join(data, entry.path)
            tables[entry.path] = compiler.compile_model(path, [data], loading.find_model)
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        for name, content in tables.items():
            with open(os.path.join(out, name + cache.ENDING), "wb") as file:
                file.write(cache.packed(content, loading.COMPILED_VERSION))


if __name__ == "__main__":
    main(*sys.argv[1:])

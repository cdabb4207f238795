"""OSACA's machine files (YAML) as they are written, for the readers of both instruction sets."""

from __future__ import annotations

from typing import Any

from incc.models.importers.common import ImportFailed, read_text

# Marks left in the files by OSACA's importer of uops.info's XML, or by its measurements with ibench and asmbench.
_MEASURED = ("# uops.info import", "# model_importer.py instructions.xml", "# ibench", "# asmbench", "# uops.info")


def read_forms(path: str) -> list[tuple[int, dict[str, Any], bool]]:
    """Return (line, entry, True if it is marked as measured) of each instruction form."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise ImportFailed("the import of OSACA's files needs PyYAML: pip install pyyaml") from None
    try:
        text = read_text(path)
        loader = yaml.CSafeLoader(text)
        root = loader.get_single_node()
        forms = next((v for k, v in root.value if k.value == "instruction_forms"), None) if root is not None else None
        if forms is None or not isinstance(forms.value, list):
            raise ImportFailed(f"{path}:1: no instruction_forms: not a machine file of OSACA")
        lines = text.split("\n")
        return [
            (
                node.start_mark.line + 1,
                loader.construct_document(node),
                any(mark in lines[node.start_mark.line] for mark in _MEASURED),
            )
            for node in forms.value
        ]
    except yaml.MarkedYAMLError as e:
        line = e.problem_mark.line + 1 if e.problem_mark else 1
        raise ImportFailed(f"{path}:{line}: {e.problem}") from None
    except yaml.reader.ReaderError as e:
        raise ImportFailed(f"{path}: not YAML: {e.reason} at character {e.position}") from None
    except (AttributeError, TypeError, ValueError) as e:
        raise ImportFailed(f"{path}:1: {e}") from None

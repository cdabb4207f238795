"""Access to the iced-x86 decoder at a quarter of what `import iced_x86` costs.

The package's `__init__` loads forty modules of constants and `enum`, 16 ms; decoding needs the extension module and a
few tables of names, 4 ms. They are found and loaded one by one, and the extension is registered under its own name, so
that a later `import iced_x86` shares it. Should the package be laid out differently, it is imported as usual.
"""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

__all__ = [
    "CODE_NAMES",
    "MNEMONIC_NAMES",
    "REGISTER_NAMES",
    "Decoder",
    "Formatter",
    "InstructionInfoFactory",
    "MemorySizeExt",
    "constants",
]

_EXTENSION = "iced_x86._iced_x86_py"


def _package_folder() -> str | None:
    """The folder of iced_x86, or None where it is not a plain folder (or the package is imported already)."""
    if "iced_x86" in sys.modules:
        return None
    spec = PathFinder.find_spec("iced_x86")
    if spec is None or not spec.submodule_search_locations:
        return None
    return str(next(iter(spec.submodule_search_locations)))


def _load_extension(folder: str) -> Any:
    """The extension module in `folder`. Raises ImportError."""
    if _EXTENSION in sys.modules:
        return sys.modules[_EXTENSION]
    finder_spec = None
    for suffix in EXTENSION_SUFFIXES:
        path = f"{folder}/_iced_x86_py{suffix}"
        loader = ExtensionFileLoader(_EXTENSION, path)
        spec = ModuleSpec(_EXTENSION, loader, origin=path)
        try:
            module = loader.create_module(spec)
        except ImportError as error:
            finder_spec = error
            continue
        # What importlib.util.module_from_spec would set, without importing importlib.util.
        module.__spec__, module.__loader__, module.__package__, module.__file__ = spec, loader, "iced_x86", path
        loader.exec_module(module)
        sys.modules[_EXTENSION] = module
        return module
    raise finder_spec or ImportError(f"no extension module in {folder}")


def _load() -> tuple[Any, str | None]:
    folder = _package_folder()
    if folder is not None:
        try:
            return _load_extension(folder), folder
        except (ImportError, OSError, AttributeError):
            sys.modules.pop(_EXTENSION, None)
    import iced_x86

    return iced_x86, None


def constants(name: str) -> dict[str, int]:
    """The constants of one of iced-x86's modules, such as "OpKind", by name.

    SourceFileLoader takes the compiled file from the cache as an import does. Raises ImportError.
    """
    if _FOLDER is None:
        namespace: dict[str, Any] = vars(__import__(f"iced_x86.{name}", fromlist=[name]))
    else:
        code = _code(name)
        # These modules ask `typing`, 7 ms of imports, for nothing but TYPE_CHECKING, which is here as well.
        builtins = {"int": int, "__import__": lambda *_: sys.modules[__name__]}
        namespace = {"__builtins__": builtins}
        try:
            exec(code, namespace)
        except (NameError, AttributeError):  # otherwise than they were in version 1.21
            exec(code, namespace := {})
    return {key: value for key, value in namespace.items() if type(value) is int}


def _code(name: str) -> CodeType:
    code = SourceFileLoader(f"iced_x86.{name}", f"{_FOLDER}/{name}.py").get_code(f"iced_x86.{name}")
    assert code is not None  # only namespace packages have none
    return code


def _names(name: str) -> dict[int, str]:
    """The names of such constants by their values. Raises ImportError.

    A module that numbers its names from 0 has them, and the numbers, in this order in its code: running thousands of
    assignments for their sake would take 2 ms.
    """
    if _FOLDER is not None:
        code = _code(name)
        names = [name for name in code.co_names if name.isupper() and name != "TYPE_CHECKING"]
        numbers = [value for value in code.co_consts if type(value) is int]
        if names and numbers == list(range(len(names))):
            return dict(enumerate(names))
    return {value: name for name, value in constants(name).items()}


_MODULE, _FOLDER = _load()

Decoder = _MODULE.Decoder
Formatter = _MODULE.Formatter
InstructionInfoFactory = _MODULE.InstructionInfoFactory
MemorySizeExt = _MODULE.MemorySizeExt

CODE_NAMES: dict[int, str] = _names("Code")
MNEMONIC_NAMES: dict[int, str] = _names("Mnemonic")
REGISTER_NAMES: dict[int, str] = _names("Register")

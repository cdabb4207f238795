"""Access to the iced-x86 decoder at a quarter of what `import iced_x86` costs.

The package's `__init__` loads forty modules of constants and `enum`, 16 ms; decoding needs the extension module, 3 ms,
and a few tables, which are read once and kept. They are found and loaded one by one, and the extension is registered
under its own name, so that a later `import iced_x86` shares it. Should the package be laid out differently, it is
imported as usual.
"""

from __future__ import annotations

import os
import sys

from incc.frontends import sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, SourceFileLoader
    from types import CodeType
    from typing import Any, Literal, SupportsIndex
else:
    try:
        # Without `importlib`, which imports `warnings`.
        from _frozen_importlib import ModuleSpec
        from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader
        from _imp import extension_suffixes

        EXTENSION_SUFFIXES = extension_suffixes()
    except ImportError:
        from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, SourceFileLoader

__all__ = [
    "CODE_NAMES",
    "MNEMONIC_NAMES",
    "REGISTER_NAMES",
    "Decoder",
    "Formatter",
    "InstructionInfoFactory",
    "MemorySizeExt",
    "Narrow",
    "bits_of",
    "constants",
]

_EXTENSION = "iced_x86._iced_x86_py"


def _package_folder() -> str | None:
    """The folder of iced_x86, or None where it is not a plain folder (or the package is imported already)."""
    if "iced_x86" in sys.modules:
        return None
    for finder in list(sys.meta_path):
        spec = finder.find_spec("iced_x86", None)
        if spec is not None:
            places = spec.submodule_search_locations
            return str(next(iter(places))) if places else None
    return None


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


_TABLES = (
    *("CpuidFeature", "DecoderOptions", "EncodingKind", "FlowControl", "FormatterSyntax", "OpAccess", "OpKind"),
    *("RflagsBits", "RoundingControl"),
)
"""The modules of constants that are kept by name."""

_NAMES = ("Code", "Mnemonic", "Register")
"""Those of which only the names are wanted, by number."""


def constants(name: str) -> dict[str, int]:
    """The constants of one of iced-x86's modules, such as "OpKind", by name. Raises ImportError."""
    known = _KEPT.get(name)
    return _constants(name) if known is None else known


def _constants(name: str) -> dict[str, int]:
    """The same, from the module. SourceFileLoader takes the compiled file from the cache as an import does."""
    if _FOLDER is None:
        namespace: dict[str, Any] = vars(__import__(f"iced_x86.{name}", fromlist=[name]))
    else:
        loader = SourceFileLoader(f"iced_x86.{name}", f"{_FOLDER}/{name}.py")
        code: CodeType | None = loader.get_code(f"iced_x86.{name}")
        assert code is not None  # only namespace packages have none
        # These modules ask `typing`, 7 ms of imports, for nothing but TYPE_CHECKING, which is here as well.
        builtins = {"int": int, "__import__": lambda *_: sys.modules[__name__]}
        namespace = {"__builtins__": builtins}
        try:
            exec(code, namespace)
        except (NameError, AttributeError):  # otherwise than they were in version 1.21
            exec(code, namespace := {})
    return {key: value for key, value in namespace.items() if type(value) is int}


class Names:
    """The names of constants by their numbers, "" for numbers without one."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str, starts: bytes) -> None:
        """`text`: a line for each number; `starts`: of the lines and of its end, 4 bytes each."""
        self._text = text
        self._starts = memoryview(starts).cast("I")

    def __getitem__(self, number: int) -> str:
        if number < 0:
            raise IndexError(number)
        return self._text[self._starts[number] : self._starts[number + 1] - 1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._text.split("\n")[:-1])

    def __len__(self) -> int:
        return len(self._starts) - 1


def _names(name: str) -> tuple[str, bytes]:
    """What `Names` of such constants are made from. Raises ImportError."""
    named = {value: key for key, value in _constants(name).items()}
    names = [named.get(number, "") for number in range(max(named) + 1)]
    starts = [0]
    for each in names:
        starts.append(starts[-1] + len(each) + 1)
    return "".join([f"{each}\n" for each in names]), b"".join([start.to_bytes(4, sys.byteorder) for start in starts])


def _tables() -> tuple[dict[str, dict[str, int]], list[tuple[str, bytes]]]:
    """The tables by their modules' names, and the names of _NAMES, from what is kept of this very package."""
    if _FOLDER is None:
        return {}, [_names(name) for name in _NAMES]
    stamps = []
    for file in (f"{_FOLDER}/Code.py", _MODULE.__file__):
        try:
            status = os.stat(file)
            stamps.append((file, status.st_size, status.st_mtime_ns))
        except OSError:  # in an archive
            stamps.append((file, 0, 0))
    version = (2, sys.byteorder, *stamps)
    files = sealed.places(os.path.dirname(os.path.abspath(__file__)), "iced")
    found = sealed.read(files, version)
    if found is None:
        content = (
            version,
            {name: _constants(name) for name in _TABLES},
            [_names(name) for name in _NAMES],
        )
        sealed.write(files, content)
    else:
        content = found[0]
    _, tables, names = content
    return tables, names


_MODULE, _FOLDER = _load()

Decoder = _MODULE.Decoder
Formatter = _MODULE.Formatter
InstructionInfoFactory = _MODULE.InstructionInfoFactory
MemorySizeExt = _MODULE.MemorySizeExt

_KEPT, _ALL_NAMES = _tables()
CODE_NAMES, MNEMONIC_NAMES, REGISTER_NAMES = [Names(*each) for each in _ALL_NAMES]

# --- modes of the processor -------------------------------------------------------------------------------------------


class Narrow(bytes):
    """Machine code of 32-bit mode. The same bytes are other instructions in 64-bit mode, so the two are never equal:
    what is known of one by its bytes is not taken for the other. Slices are code of the same mode."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is Narrow and bytes.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return ~bytes.__hash__(self)

    def __getitem__(self, key: SupportsIndex | slice) -> int | Narrow:  # type: ignore[override]
        found = bytes.__getitem__(self, key)
        return found if isinstance(found, int) else Narrow(found)


def bits_of(code: bytes) -> Literal[32, 64]:
    """The bits of the mode that machine code is for."""
    return 32 if type(code) is Narrow else 64


CODE32 = 2
"""The `code_size` of an instruction of 32-bit mode."""

"""The modules that a command imports, in one file: to find, open and read each takes longer than to run most of them.

What is in the file is what Python has compiled, and good as long as the source has the size and time that it had, as in
`__pycache__`. A run that imports others of the package adds them for the next.
"""

from __future__ import annotations

import marshal
import os
import sys

from incc.frontends import sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec, SourceFileLoader
    from types import CodeType, ModuleType

    from incc.frontends.sealed import Parts
else:
    try:
        # Without `importlib`, which imports `warnings`.
        from _frozen_importlib import ModuleSpec
        from _frozen_importlib_external import SourceFileLoader
    except ImportError:
        from importlib.machinery import ModuleSpec, SourceFileLoader

PACKAGE = "incc"

MOST = 2_000_000
"""Bytes of a file, beyond which it has the modules of one run alone."""


class _Loader(SourceFileLoader):
    """Loads a module from a bundle."""

    def __init__(self, name: str, source: str, codes: Parts, number: int) -> None:
        super().__init__(name, source)
        self._codes = codes
        self._number = number

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            code: CodeType = marshal.loads(self._codes.get(self._number))
        except sealed.Damaged:
            return super().get_code(fullname)
        return code


class Bundle:
    """A finder of modules (`importlib.abc.MetaPathFinder`), for one command."""

    def __init__(self, command: str) -> None:
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self._files = sealed.places(folder, f"{command}.modules")
        self._version = (1, sys.version, sys.flags.optimize)
        found = sealed.read(self._files, self._version)
        # Of each module the source, its size and time, where it is compiled, and the number of its code here.
        self._known: dict[str, tuple[str, int, int, str, int]] = {}
        self._codes: Parts | None = None
        if found is not None:
            (_, self._known), self._codes = found

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As `importlib.abc.MetaPathFinder` has it."""
        known = self._known.get(name)
        if known is None or path is None or self._codes is None:
            return None
        source, size, time, cached, number = known
        folder, _, file = source.rpartition(os.sep)
        package = file == "__init__.py"
        try:
            status = os.stat(source)
            same = status.st_size == size and status.st_mtime_ns == time
        except OSError:
            same = False
        # The same package may also be somewhere else.
        if not same or (os.path.dirname(folder) if package else folder) not in path:
            del self._known[name]
            return None
        loader = _Loader(name, source, self._codes, number)
        spec = ModuleSpec(name, loader, origin=source, is_package=package)
        spec.has_location = True
        spec.cached = cached
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(folder)
        return spec

    def keep(self) -> None:
        """Keep what this run has imported otherwise. Nothing comes of it where it cannot be kept."""
        if sys.dont_write_bytecode:
            return
        new = {}
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] != PACKAGE or name in self._known:
                continue
            spec = getattr(module, "__spec__", None)
            # Not what is no Python, and not what is imported before there is a bundle.
            if spec is None or type(spec.loader) is not SourceFileLoader or name in _EARLIER:
                continue
            try:
                status = os.stat(spec.origin)
                code = spec.loader.get_code(name)
            except (OSError, ImportError, SyntaxError, ValueError):
                continue
            new[name] = spec.origin, status.st_size, status.st_mtime_ns, spec.cached or "", marshal.dumps(code)
        if not new:
            return
        old = {}
        for name, known in self._known.items():
            try:
                old[name] = (*known[:4], bytes(self._codes.get(known[4]) if self._codes else b""))
            except sealed.Damaged:
                continue
        if sum(len(known[4]) for each in (old, new) for known in each.values()) > MOST:
            old = {name: known for name, known in old.items() if name in sys.modules}
        modules = old | new
        table = {name: (*known[:4], number) for number, (name, known) in enumerate(modules.items())}
        sealed.write(self._files, (self._version, table), [known[4] for known in modules.values()])


_EARLIER = frozenset(name for name in sys.modules if name.partition(".")[0] == PACKAGE)

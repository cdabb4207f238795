"""The start of a command by its program (front/start.cpp), in a Python without `site`.

What `site` would have found (folders that .pth files name, the user's packages, the system's, hooks of editable
installations) is looked for when something cannot be found without.
"""

from __future__ import annotations

import builtins
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class Site:
    """The last of the finders of modules: does what `site` does at Python's start, once, and looks again."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As `importlib.abc.MetaPathFinder` has it."""
        if path is not None:  # of a package, which was found
            return None
        sys.meta_path.remove(cls)
        import site

        site.main()
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, None, target)
            if spec is not None:
                return spec
        return None


class Fractions:
    """The first of the finders, of the module `fractions` alone: without what it imports to read texts and decimals,
    which are `re`, and `decimal` with `collections`, and take longer than all else of it."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As `importlib.abc.MetaPathFinder` has it."""
        if name != "fractions":
            return None
        sys.meta_path.remove(cls)
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                loader: Any = spec.loader
                if hasattr(loader, "get_code"):
                    loader = _Loader(loader)
                spec.loader = loader
                return spec
        return None


class _Loader:
    """Loads a module with `regex` in the place of `re`, and with `_Decimal` in that of the module `decimal`."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        """As `importlib.abc.Loader` has it. Whatever goes wrong, the module is loaded as usual."""
        from incc.frontends import regex

        decimal = type(sys)("decimal")
        vars(decimal)["Decimal"] = _Decimal
        others = {"re": regex, "decimal": decimal}

        def instead(name: str, *arguments: Any, **named: Any) -> Any:
            return others.get(name) or __import__(name, *arguments, **named)

        names = vars(module)
        usual = dict(names)
        try:
            code = self._loader.get_code(module.__name__)
            names["__builtins__"] = {**vars(builtins), "__import__": instead}
            exec(code, names)
        except Exception:
            names.clear()
            names.update(usual)
            self._loader.exec_module(module)


class _Decimals(type):
    def __instancecheck__(cls, value: object) -> bool:
        decimal = sys.modules.get("decimal")
        return decimal is not None and isinstance(value, decimal.Decimal)


class _Decimal(metaclass=_Decimals):
    """Whose instances are those of `decimal.Decimal`, which is there if there are any."""


def start(command: str) -> None:
    """Run the command whose module in `incc.driver` has that name; does not return."""
    import gc

    from incc.driver.bundle import Bundle
    from incc.frontends import regex

    if command == "mca":
        # Collections during the imports take 2 to 3 ms of a run on one kernel.
        gc.set_threshold(100_000)
    if sys.flags.no_site:
        sys.meta_path.append(Site)
    bundle = Bundle(command)
    sys.meta_path[:0] = [bundle] if "fractions" in sys.modules else [bundle, Fractions]
    from incc.driver.messages import interruptible

    # `importlib.import_module` is another import.
    status = interruptible(lambda: __import__(f"incc.driver.{command}", fromlist=["main"]).main())
    regex.keep()
    bundle.keep()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError):  # closed, or a reader that has gone; the command has said what there was to say
        pass
    # Taking the interpreter and its libraries apart takes 2 to 4 ms.
    os._exit(status)

"""The start of a command by its program (front/start.cpp), in a Python without `site`.

What `site` would have found (folders that .pth files name, the user's packages, the system's, hooks of editable
installations) is looked for when something cannot be found without.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


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


def start(command: str) -> None:
    """Run the command whose module in `incc.driver` has that name; does not return."""
    if sys.flags.no_site:
        sys.meta_path.append(Site)
    try:
        # `importlib.import_module` is another import.
        __import__(f"incc.driver.{command}", fromlist=["command"]).command()
    except KeyboardInterrupt:
        from incc.driver.messages import interrupted

        sys.exit(interrupted())

"""Where lit's tests see the tree that they are of.

lit puts the places of a test (%s, %S, %t) unquoted into commands, which it splits at blanks, and messages with a path
in them are filled to a width. So that neither depends on where somebody has put the tree, tests see one with a long or
unusual path through a link with a short one.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from typing import Any

from lit.formats import ShTest

LONGEST = 40


def plain(root: str) -> str:
    """The folder itself, or a link to it that lasts as long as this process."""
    if len(root) <= LONGEST and re.fullmatch(r"[A-Za-z0-9_./+-]+", root):
        return root
    folder = tempfile.mkdtemp(prefix="incc-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = os.path.join(folder, "tree")
    os.symlink(root, link)
    return link


class Tests(ShTest):
    """Tests below `source_root` with results below `exec_root`, by these names: lit itself would resolve links."""

    def __init__(self, source_root: str, exec_root: str) -> None:
        super().__init__(execute_external=False)
        self.source_root = source_root
        self.exec_root = exec_root

    def execute(self, test: Any, litConfig: Any) -> Any:
        """Runs one test, in one of lit's processes."""
        test.suite.source_root, test.suite.exec_root = self.source_root, self.exec_root
        return super().execute(test, litConfig)

"""Compare standard input with a golden file, or write the file: `golden.py FILE`.

`make golden` sets INCC_GOLDEN=write and so regenerates every golden file; the differences are then reviewed with
`git diff`. The version of the model, which changes with every figure in it, is masked.
"""

from __future__ import annotations

import difflib
import os
import pathlib
import re
import sys


def main() -> int:
    """Returns 1 if the input differs from the golden file."""
    file = pathlib.Path(sys.argv[1])
    text = re.sub(r"^(Model \S+) \S+,", r"\1 VERSION,", sys.stdin.read(), flags=re.MULTILINE)
    text = re.sub(r"incc \d+\.\d+\.\d+", "incc VERSION", text)
    if os.environ.get("INCC_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
        return 0
    golden = file.read_text(encoding="utf-8") if file.exists() else ""
    lines = difflib.unified_diff(golden.splitlines(True), text.splitlines(True), file.name, "what was printed")
    differences = "".join(lines)
    sys.stdout.write(differences)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

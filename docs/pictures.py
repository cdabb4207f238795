"""Make the pictures of the documents from reports of examples/ in headless Chromium: `make pictures`.

Each picture shows a part of a page that the commands below write. The commands are given in the documents that show
the picture, so that readers can open the page itself.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Picture(NamedTuple):
    """A screenshot of a page."""

    commands: tuple[str, ...]
    """The commands that write the page, run from the root of the tree; `{page}` is its path."""
    width: int
    """The width of the window in pixels."""
    height: int
    """The height of the window in pixels."""
    anchor: str = ""
    """The part of the page that the window begins with."""


PICTURES = {
    "report": Picture(
        (
            "incc -O3 -march=skylake-avx512 --analyze-function=triad --analyze-html={page}"
            " -c examples/triad.c -o /dev/null",
        ),
        width=1100,
        height=918,
    ),
}


def make(picture: Picture, image: Path, chromium: str) -> None:
    """Run the commands of `picture` and write the screenshot to `image`."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        for command in picture.commands:
            words = shlex.split(command.format(page=page))
            subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={folder}/profile", f"--window-size={picture.width},{picture.height}",
             "--virtual-time-budget=20000", f"--screenshot={image.resolve()}", page.as_uri() + picture.anchor],
            check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def main() -> None:
    """Write the pictures to the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "pictures", metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"pictures to make: {', '.join(PICTURES)} (all)")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(PICTURES):
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        sys.exit("error: pictures need chromium; install it, as in: apt-get install chromium")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or PICTURES:
        make(PICTURES[name], arguments.output / f"{name}.png", chromium)


if __name__ == "__main__":
    main()

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


TUTORIAL = "examples/tutorial"
SKYLAKE = "-march=skylake-avx512"
ONLY_TIMELINE = "nav, #title, #model, #verdict, #more, #figures, .pair, .side, footer, section:not(#timeline)"


class Picture(NamedTuple):
    """A screenshot of a page."""

    commands: tuple[str, ...]
    """The commands that write the page, run from the root of the tree; `{page}` is its path, `{folder}` its folder."""
    width: int
    """The width of the window in pixels."""
    height: int
    """The height of the window in pixels."""
    without: str = "none"
    """The parts of the page that are left out, as a CSS selector."""
    suffix: str = ".html"
    """The end of the page's name."""


def report(source: str, flags: str, output: str) -> str:
    """Return the command that analyses a source and writes `output`."""
    return f"incc {flags} {SKYLAKE} {output} -c {source} -o /dev/null"


STEPS = {
    "start": ("gravity.c", "-O2"),
    "arrays": ("gravity-arrays.c", "-O3 -fno-math-errno"),
    "end": ("gravity-arrays.c", "-O3 -ffast-math -mprefer-vector-width=512"),
}
"""Steps of the tutorial, for its roofline."""

PICTURES = {
    "report": Picture(
        (report("examples/triad.c", "-O3", "--analyze-function=triad --analyze-html={page}"),), width=1100, height=918
    ),
    "chain": Picture((report(f"{TUTORIAL}/gravity-float.c", "-O2", "--analyze-html={page}"),), width=1100, height=790),
    "timeline": Picture(
        (report(f"{TUTORIAL}/gravity-float.c", "-O2", "--analyze-html={page}"),),
        width=1100,
        height=815,
        without=ONLY_TIMELINE,
    ),
    "diff": Picture(
        (
            "incc-diff --run gcc --flags=-mno-recip --flags=-mrecip"
            " --flags='-mno-recip -mprefer-vector-width=512' --flags='-mrecip -mprefer-vector-width=512' --html={page}"
            f" -- -O3 -ffast-math {SKYLAKE} -c {TUTORIAL}/gravity-arrays.c",
        ),
        width=1100,
        height=545,
    ),
    "roofline": Picture(
        (
            *(
                report(f"{TUTORIAL}/{source}", flags, f"--analyze-json --analyze={{folder}}/{name}.json")
                for name, (source, flags) in STEPS.items()
            ),
            f"incc-report --copies --roofline={{page}} {' '.join(f'{{folder}}/{name}.json' for name in STEPS)}",
        ),
        width=976,
        height=700,
        suffix=".svg",
    ),
    "live": Picture((f"{sys.executable} docs/live_page.py {{page}}",), width=1400, height=760),
    "editor": Picture((f"{sys.executable} docs/editor_page.py {{page}}",), width=1200, height=232),
}


def make(picture: Picture, image: Path, chromium: str) -> None:
    """Run the commands of `picture` and write the screenshot to `image`."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, f"page{picture.suffix}")
        for command in picture.commands:
            words = shlex.split(command.format(page=page, folder=folder))
            subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        style = f"<style>{picture.without} {{display: none !important}}</style></head>"
        page.write_text(page.read_text(encoding="utf-8").replace("</head>", style, 1), encoding="utf-8")
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={folder}/profile", f"--window-size={picture.width},{picture.height}",
             "--virtual-time-budget=20000", f"--screenshot={image.resolve()}", page.as_uri()],
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

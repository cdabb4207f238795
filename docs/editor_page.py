"""Write a page with a terminal in which Neovim shows the loops of a file: the picture of docs/editors.md.

Neovim runs in tmux with the settings that the document gives, and gets the keys that it names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, ROWS = 150, 12
MOST_SECONDS = 60
FORM = """<html><head><meta charset="utf-8"></head><body style="margin: 0; background: #fff">
<pre style="margin: 12px; font: 13px/1.45 monospace">{code}</pre></body></html>"""


def settings() -> str:
    """Return the Lua that docs/editors.md gives for Neovim before 0.11."""
    blocks = re.findall(r"^```lua\n(.*?)^```", (ROOT / "docs" / "editors.md").read_text(encoding="utf-8"), re.M | re.S)
    (block,) = (each for each in blocks if "start_client" in each)
    return str(block)


def shown(source: Path, command: str, keys: str, last: str) -> str:
    """Return the terminal after keys, with escape sequences, once it shows the text `last` in two lines."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(source, folder))
        entry = {"directory": folder, "file": copy.name, "command": f"{command} -c {copy.name}"}
        Path(folder, "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
        Path(folder, "settings.lua").write_text(settings(), encoding="utf-8")

        def tmux(*words: str) -> str:
            command = ["tmux", "-S", f"{folder}/tmux", "-f", os.devnull, *words]
            return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

        def wait_for(text: str) -> str:
            end = time.monotonic() + MOST_SECONDS
            while (found := tmux("capture-pane", "-e", "-p")).count(text) < 2:
                if time.monotonic() > end:
                    sys.exit(f"error: Neovim does not show {text!r}:\n{found}")
                time.sleep(0.2)
            return found

        before = [
            "let mapleader=' '",
            "set background=light noswapfile laststatus=0 noruler",
            "filetype on",
            "syntax on",
        ]
        before += ["highlight SignColumn ctermbg=none", "highlight link LspCodeLens Comment"]
        nvim = ["nvim", "-u", "NONE", *(word for line in before for word in ("--cmd", line))]
        nvim += ["--cmd", "luafile settings.lua", copy.name]
        tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-e", "LC_ALL=C.UTF-8", *nvim)
        try:
            wait_for(" cycles")
            tmux("send-keys", keys)
            return wait_for(last)
        finally:
            tmux("kill-server")


def page(terminal: str) -> str:
    """Return the page of a terminal."""
    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME
    from rich.text import Text

    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, color_system="256")
        console.print(Text.from_ansi(terminal), soft_wrap=True)
    return console.export_html(theme=DEFAULT_TERMINAL_THEME, inline_styles=True, code_format=FORM)


if __name__ == "__main__":
    terminal = shown(ROOT / "examples" / "triad.c", "gcc -O3 -march=skylake-avx512", " a", "clang-19:")
    Path(sys.argv[1]).write_text(page(terminal), encoding="utf-8")

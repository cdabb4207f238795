"""The command `incc-lsp`: a language server that shows the cycles of loops in an editor."""

from __future__ import annotations

import os
from types import ModuleType
from typing import TYPE_CHECKING

from incc.driver import UsageError
from incc.driver.cli.command import Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.messages import collect_seldom, run_command
from incc.live.jobs import Jobs

if TYPE_CHECKING:
    import argparse

COMMAND = Command(
    name="incc-lsp",
    summary="show the cycles of loops in an editor, as a language server",
    usage=("incc-lsp [--stdio]",),
    about=(
        "Serve an editor over standard input and output (Language Server Protocol 3.17), beside clangd or another "
        "server. The editor starts it; docs/editors.md has settings for Neovim, Helix, Emacs and VS Code. Files are "
        "compiled by their commands in compile_commands.json, else by CC, CXX or FC with -O3, without any output.",
    ),
    groups=(
        group("options", Option("--stdio", "flag", "accepted for editors that pass it; there is no other way")),
    ),
    examples=("nvim --cmd \"lua vim.lsp.start_client({cmd = {'incc-lsp'}})\" foo.c",),
    environment=(
        ("CC, CXX, FC", "compilers of files without a command, with CFLAGS, CXXFLAGS, FFLAGS"),
        ("INCC_PLUGIN", "follow loops through the passes of clang: a plugin's path, or no"),
    ),
    status="0 after the editor has ended it; 2 for a mistake on the command line, or without pygls",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run(COMMAND, arguments, _run, (), 2, prints=False)


def command() -> int:
    """Run the installed command."""
    return run_command(main)


def _load() -> ModuleType:
    """Load what analyses need, and return the module with their functions."""
    from incc.driver.builds.workers import load_everything
    from incc.driver.editing import analysis

    load_everything()
    collect_seldom()
    return analysis


def _run(options: argparse.Namespace) -> int:
    # Compilers and what they run must neither read the editor's requests nor write between the answers.
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), 0)
    os.dup2(2, 1)
    jobs = Jobs(_load)
    try:
        from incc.live.lsp.features import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("the language server needs pygls: pip install 'pygls>=2'") from None
    make_server(jobs).start_io(reading, writing)
    return 0

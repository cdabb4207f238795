"""The command `incc-web`: a live page in the browser, for code that is typed there."""

from __future__ import annotations

import secrets
import socket
import sys
import webbrowser
from types import ModuleType
from typing import TYPE_CHECKING

from incc.driver import UsageError
from incc.driver.cli.command import Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.messages import collect_seldom, run_command, tell
from incc.live.jobs import Jobs

if TYPE_CHECKING:
    import argparse

COMMAND = Command(
    name="incc-web",
    summary="show the cycles of loops in a live page in the browser",
    usage=("incc-web [options]",),
    about=(
        "Serve a page on this machine in which code is typed, compiled and analysed: overview, assembly with ports, "
        "critical path and loop-carried dependencies, bounds, timeline, what-ifs, up to four compilers, options or "
        "cores side by side. The page is at the address that is printed; its token lets nobody else use it. Code is "
        "compiled without access to files, and never run (docs/security.md).",
    ),
    groups=(
        group(
            "options",
            Option("--port N", "count", "port to listen on (default: 0, a free one)", 0),
            Option("--host ADDRESS", "text", "address to listen on (default: 127.0.0.1)", "127.0.0.1"),
            Option("--no-browser", "flag", "only print the address; do not open it"),
        ),
    ),
    examples=("incc-web", "incc-web --port=8000 --no-browser"),
    environment=(("BROWSER", "browsers to try, as Python's webbrowser reads it"),),
    status="0 after it was ended by Ctrl-C; 2 for a mistake on the command line, an address that is in use, or without "
    "starlette and uvicorn",
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
    from incc.driver.exploring import analysis

    load_everything()
    analysis.warm_up()
    collect_seldom()
    return analysis


def _run(options: argparse.Namespace) -> int:
    try:
        import uvicorn

        from incc.live.web.app import make_app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise UsageError("the live page needs starlette and uvicorn: pip install starlette uvicorn") from None
    listening = _listen(options.host, options.port)
    jobs = Jobs(_load)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    names = [options.host, "127.0.0.1", "localhost", "[::1]"]
    hosts = [f"[{name}]:{port}" if ":" in name and name[0] != "[" else f"{name}:{port}" for name in names]
    address = f"http://{hosts[0]}/?token={token}"
    tell(f"incc-web: {address}\n")
    if not options.no_browser:
        webbrowser.open(address)
    config = uvicorn.Config(
        make_app(jobs, token, hosts, port), log_level="error", server_header=False, timeout_graceful_shutdown=1
    )
    uvicorn.Server(config).run([listening])
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises UsageError."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "ports are from 0 to 65535"
        raise UsageError(f"{host}:{port}: {reason}") from None
    return listening


if __name__ == "__main__":
    sys.exit(main())

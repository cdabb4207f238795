"""Command lines of every command, from the tables of their options."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from test.fuzz.corpus import reports
from test.fuzz.kinds.common import VALUES, ways
from test.fuzz.runs import Run

_CODE = b".L0:\n\taddl %eax, %ebx\n\tvmulpd (%rax), %ymm0, %ymm1\n\tjne .L0\n"
_INPUTS = ("a.s", "a.s", "r.json", ".", "missing", "-", "/dev/null")

# Hostile code is never run, nothing on this machine is measured, and no command is started.
_NEVER = frozenset(
    ("measure", "unsafe", "trust", "trust-includes", "resume", "p", "j", "clear-cache", "prune", "model-path")
)
_TAKES_MINUTES = ("incc-bench", "--all")
_OWN = {
    "incc-bench": ("--simulated",),
    "incc-build": ("-o", "reports", "--", "true"),
    "incc-web": ("--port=70000",),  # with one that there is, it would serve until it is stopped
}
_SUBCOMMANDS_NEVER = frozenset(("make", "import"))


@functools.cache
def _commands() -> dict[str, list[tuple[tuple[str, ...], tuple[tuple[str, str, tuple[str, ...]], ...]]]]:
    """Return for each command its sub-commands, if it has any, with their options: name, kind, choices."""
    from incc.driver.cli.command import NAMES, Command, command_lines, names
    from incc.driver.cli.usage import command_of
    from incc.driver.llvm_mca.options import IGNORED

    def options(command: Command) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        for option in (option for group in command.all_groups() for option in group.options):
            if option.name.lstrip("-") in _NEVER or (command.name, option.name) == _TAKES_MINUTES:
                continue
            if option.kind not in ("operand", "rest"):
                choices = tuple(option.choices()) if option.kind in ("choice", "mode", "views") else ()
                yield from ((name, option.kind, choices) for name in names(option, command.name))
        if command.name == "incc-mca":
            yield from ((f"-{name}", "text" if value else "flag", ()) for name, value in IGNORED.items())

    return {
        name: [
            (words, tuple(options(each)))
            for words, each in command_lines(command_of(name))
            if _SUBCOMMANDS_NEVER.isdisjoint(words)
        ]
        for name in NAMES
        if name != "incc"
    }


@st.composite
def _option(draw: st.DrawFn, options: Sequence[tuple[str, str, tuple[str, ...]]]) -> list[str]:
    name, kind, choices = draw(st.sampled_from(options))
    usual = draw(st.sampled_from(choices)).strip("=[]") if choices else draw(st.sampled_from(VALUES))
    value = usual if draw(st.integers(0, 4)) else draw(st.sampled_from(VALUES))
    if kind in ("flag", "switch") and draw(st.integers(0, 4)):
        return [name]
    spelled = draw(st.sampled_from(("=", " ", "")))
    if kind in ("file", "output"):
        value = draw(st.sampled_from(("out", "out.html", "missing/x", "-", ".", "a.s", "/dev/full", "")))
    return [f"{name}={value}"] if spelled == "=" else [name, value] if spelled else [name]


@st.composite
def some_options(draw: st.DrawFn, command: str) -> list[str]:
    """Return up to four options of a command without sub-commands, with valid and invalid values."""
    ((_, options),) = _commands()[command]
    return [word for words in draw(st.lists(_option(options), max_size=4)) for word in words]


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of all commands but incc with any of their options."""
    command = draw(st.sampled_from(sorted(_commands())))
    words, options = draw(st.sampled_from(_commands()[command]))
    given = [word for words in draw(st.lists(_option(options), max_size=5)) for word in words] if options else []
    # Without a model, all of incc's own are checked, for 9 s.
    model = ["skylake"] if words == ("check",) else []
    args = [*words, *model, *given, *draw(st.lists(st.sampled_from(_INPUTS), max_size=2))]
    if command == "incc-mca" and draw(st.booleans()):
        args.insert(0, "--compat")
    if command in _OWN:
        args = [*([] if command == "incc-build" else args), *_OWN[command]]
        args[:0] = given if command == "incc-build" else []
    args = [word for word in args if not word.lstrip("-").startswith("me") or not word.startswith("-")]
    return Run(command=command, args=tuple(args), files={"a.s": _CODE, "r.json": reports()[0]}, **draw(ways()))

"""Completion of all commands for bash, and for zsh through its bashcompinit: `incc-mca --help=bash`.

The options of `incc` and `incc-mca` come from the table, those of the others from their parsers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import msgspec

from incc.driver.cli.options import BOTH, MCA, options_of
from incc.driver.cli.usage import names

if TYPE_CHECKING:
    import argparse

    from incc.driver.cli.options import Option

_HEAD = """\
# Completion of incc's commands for bash; for zsh, too, through bashcompinit.
#   bash:  incc-mca --help=bash > ~/.local/share/bash-completion/completions/incc
#          and links incc-mca, incc-scan, incc-diff … to it; or `. <(incc-mca --help=bash)`
#   zsh:   . <(incc-mca --help=bash)
if [ -n "${ZSH_VERSION-}" ]; then autoload -U +X bashcompinit && bashcompinit; fi

_incc_models() { incc-model list 2>/dev/null | cut -d ' ' -f 1; }

# _incc_complete CURRENT WORDS FILES: the words that begin with CURRENT, or names of files if FILES is 1.
_incc_complete() {
  COMPREPLY=($(compgen -W "$2" -- "$1"))
  if [ ${#COMPREPLY[@]} -eq 0 ] && [ "$3" = 1 ]; then
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$1"))
    compopt -o filenames 2>/dev/null
  fi
  # A value is still to come behind =.
  case "${#COMPREPLY[@]} ${COMPREPLY[0]-}" in "1 "*=) compopt -o nospace 2>/dev/null ;; esac
}

# _incc_word: the word to complete in `current`, the option that it is the value of in `option` ("" for none), and
# in `glued` what stands before the value in the same word. bash takes `--mcpu=sky` for three words, zsh for one.
# What comes before the word is in `before`.
_incc_word() {
  current=${COMP_WORDS[COMP_CWORD]-} before=${COMP_WORDS[COMP_CWORD-1]-} option='' glued=''
  case "$current" in
  =) option=$before current='' ;;
  -*=*) option=${current%%=*} glued="${current%%=*}=" current=${current#*=} ;;
  *) if [ "$before" = = ] && [ "$COMP_CWORD" -gt 1 ]; then option=${COMP_WORDS[COMP_CWORD-2]-}; fi ;;
  esac
}
"""


PARSED = ("bench", "build", "db", "diff", "report", "scan", "model")
"""The modules of the commands that have a parser."""


class _Value(msgspec.Struct, frozen=True):
    """What may follow an option: words, "models" for the names of cores, or "files"."""

    words: tuple[str, ...] = ()
    models: bool = False
    files: bool = False


class _Completed(msgspec.Struct, frozen=True, kw_only=True):
    """A command's options and sub-commands as they are offered, what values of options may be, the options whose value
    may be the next word, and whether options may have one dash for two."""

    options: list[str]
    commands: list[str]
    values: dict[str, _Value]
    separate: list[str]
    one_dash: bool = False


def script() -> str:
    """The shell script."""
    parts = [_HEAD]
    for command in BOTH:
        parts.append(_function(command, _of_table(command)))
    for name in PARSED:
        # By name: the commands print this script themselves.
        parser = importlib.import_module(f"incc.driver.commands.{name}")._parser()
        found = _of_parser(parser)
        found.options.append("--help=")
        found.values["--help"] = _Value(tuple(parser.HELP_VALUES))
        parts.append(_function(parser.prog, found))
    return "\n".join(parts)


def _of_table(command: str) -> _Completed:
    found = _Completed(options=[], commands=[], values={}, separate=[], one_dash=command == MCA)
    for option in options_of(command):
        for name in names(option, command):
            if option.kind in ("switch", "flag", "mode") or option.value.startswith("["):
                found.options.append(name)
            if len(name) > 2 and option.kind not in ("switch", "flag"):
                found.options.append(f"{name}=")
            if command == MCA and option.needs_value:
                found.separate.append(name)
            if option.kind != "flag":
                found.values[name] = _value(option)
    return found


def _value(option: Option) -> _Value:
    if option.kind in ("choice", "mode"):
        return _Value(tuple(option.choices()))
    if option.kind == "switch":
        return _Value(("true", "false"))
    if option.kind == "alignment":
        return _Value(("all",))
    return _Value(models=option.name == "mcpu", files="FILE" in option.value or "FOLDER" in option.value)


def _of_parser(parser: argparse.ArgumentParser) -> _Completed:
    """The options of a parser and of all its commands, and the commands."""
    import argparse

    found = _Completed(options=[], commands=[], values={}, separate=[])
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, parser_of_command in action.choices.items():
                inner = _of_parser(parser_of_command)
                found.commands.extend([name, *inner.commands])
                found.options.extend(word for word in inner.options if word not in found.options)
                found.separate.extend(inner.separate)
                found.values.update(inner.values)
            continue
        for name in action.option_strings:
            takes_value = action.nargs != 0
            if not takes_value or action.nargs == "?":
                found.options.append(name)
            if not takes_value:
                continue
            found.options.append(f"{name}=" if name.startswith("--") else name)
            if action.nargs != "?":  # a value that may be left out stands behind =
                found.separate.append(name)
            metavar = action.metavar if isinstance(action.metavar, str) else ""
            words = tuple(map(str, action.choices or ()))
            files = metavar in ("FILE", "DIR", "FOLDER", "DB[@NAME]")
            found.values[name] = _Value(words, models=name.endswith("mcpu"), files=files)
    return found


def _function(command: str, completed: _Completed) -> str:
    """The shell function that completes a command."""
    function = f"_{command.replace('-', '_')}"
    lines = [f"{function}() {{", "  local current before option glued", "  _incc_word"]
    if completed.separate:
        pattern = _pattern(completed.separate, completed.one_dash)
        lines.append(f'  if [ -z "$option" ]; then case "$before" in {pattern}) option=$before ;; esac; fi')
    lines.append('  case "$option" in')
    by_value: dict[_Value, list[str]] = {}
    for name, value in completed.values.items():
        by_value.setdefault(value, []).append(name)
    for value, spelled in by_value.items():
        words = '"$(_incc_models)"' if value.models else f"'{' '.join(value.words)}'"
        pattern = _pattern(spelled, completed.one_dash)
        lines.append(f'  {pattern}) _incc_complete "$current" {words} {int(value.files)} ;;')
    lines.append('  "")')
    if completed.one_dash:
        lines.append('    case "$current" in -[!-]?*) current=-$current ;; esac')
    lines.append('    case "$current" in')
    # Operands are files, and so are to us all arguments of a compiler.
    lines += [
        f"    -*) _incc_complete \"$current\" '{' '.join(completed.options)}' 0 ;;",
        f"    *) _incc_complete \"$current\" '{' '.join(dict.fromkeys(completed.commands))}' 1 ;;",
        "    esac ;;",
        "  *) _incc_complete \"$current\" '' 1 ;;",
        "  esac",
        '  if [ -n "$glued" ]; then COMPREPLY=("${COMPREPLY[@]/#/$glued}"); fi',
        "}",
        f"complete -F {function} {command}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _pattern(spelled: list[str], one_dash: bool) -> str:
    """A shell's pattern for names of options."""
    others = [name[1:] for name in spelled if one_dash and name.startswith("--")]
    return "|".join(dict.fromkeys((*spelled, *others)))

"""Completion of all commands for bash, and for zsh through bashcompinit: `incc-mca --help=bash`."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from incc.driver.cli.command import NAMES, Command, names
from incc.driver.cli.kinds import MCA, WRAPPER, Option
from incc.driver.cli.usage import command_of

_HEAD = """\
# Completion of incc's commands for bash, and for zsh through bashcompinit.
#   bash:  incc-mca --help=bash > ~/.local/share/bash-completion/completions/incc
#          and link incc-mca, incc-scan, incc-diff … to it; or `. <(incc-mca --help=bash)`
#   zsh:   . <(incc-mca --help=bash)
if [ -n "${ZSH_VERSION-}" ]; then autoload -U +X bashcompinit && bashcompinit; fi

_incc_models() { incc-model list 2>/dev/null | cut -d ' ' -f 1; }

# _incc_complete CURRENT WORDS FILES: offer the words that begin with CURRENT, or file names if FILES is 1.
_incc_complete() {
  COMPREPLY=($(compgen -W "$2" -- "$1"))
  if [ ${#COMPREPLY[@]} -eq 0 ] && [ "$3" = 1 ]; then
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$1"))
    compopt -o filenames 2>/dev/null
  fi
  # A value follows the =.
  case "${#COMPREPLY[@]} ${COMPREPLY[0]-}" in "1 "*=) compopt -o nospace 2>/dev/null ;; esac
}

# _incc_word sets `current` (the word to complete), `before` (the previous word), `option` (the option whose value
# it is, "" for none) and `glued` (the text before the value in the same word). bash splits `--mcpu=sky` into three
# words, zsh does not.
_incc_word() {
  current=${COMP_WORDS[COMP_CWORD]-} before=${COMP_WORDS[COMP_CWORD-1]-} option='' glued=''
  case "$current" in
  =) option=$before current='' ;;
  -*=*) option=${current%%=*} glued="${current%%=*}=" current=${current#*=} ;;
  *) if [ "$before" = = ] && [ "$COMP_CWORD" -gt 1 ]; then option=${COMP_WORDS[COMP_CWORD-2]-}; fi ;;
  esac
}
"""


class _Value(msgspec.Struct, frozen=True):
    """The completions of an option's value: words, names of models, or files."""

    words: tuple[str, ...] = ()
    models: bool = False
    files: bool = False


class _Completed(msgspec.Struct, frozen=True, kw_only=True):
    """The completions of a command and its sub-commands."""

    options: list[str]
    commands: list[str]
    values: dict[str, _Value]
    """The completions of each option's value."""
    separate: list[str]
    """Options whose value may be the next word."""
    one_dash: bool
    """True if options may have one dash instead of two."""


def script() -> str:
    """Return the shell script."""
    return "\n".join([_HEAD, *(_function(name, _completed(command_of(name))) for name in NAMES)])


def _completed(command: Command) -> _Completed:
    completed = _Completed(options=[], commands=[], values={}, separate=[], one_dash=command.name == MCA)
    _add(command, completed)
    return completed


def _add(command: Command, completed: _Completed) -> None:
    for group in command.all_groups():
        _add_options(group.options, command.name, completed)
    for inner in command.commands:
        completed.commands.append(inner.name.rpartition(" ")[2])
        _add(inner, completed)


def _add_options(options: Iterable[Option], command: str, completed: _Completed) -> None:
    for option in options:
        for name in names(option, command):
            if option.kind in ("operand", "rest"):
                continue
            if option.kind in ("switch", "flag", "mode") or option.value.startswith("["):
                completed.options.append(name)
            if len(name) > 2 and option.kind not in ("switch", "flag"):
                completed.options.append(f"{name}=" if name.startswith("--") else name)
            elif option.needs_value:
                completed.options.append(name)
            if command != WRAPPER and option.needs_value and not option.value.startswith("["):
                completed.separate.append(name)
            if option.kind != "flag":
                completed.values[name] = _value(option)


def _value(option: Option) -> _Value:
    if option.kind in ("choice", "mode"):
        return _Value(tuple(option.choices()))
    if option.kind == "switch":
        return _Value(("true", "false"))
    if option.kind == "alignment":
        return _Value(("all",))
    files = any(word in option.value for word in ("FILE", "FOLDER", "DB"))
    return _Value(models=option.name.endswith("mcpu"), files=files)


def _function(command: str, completed: _Completed) -> str:
    """Return the shell function that completes a command."""
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
    # Operands and all other arguments of a compiler complete to files.
    lines += [
        f"    -*) _incc_complete \"$current\" '{' '.join(dict.fromkeys(completed.options))}' 0 ;;",
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
    """Return a shell pattern for names of options."""
    others = [name[1:] for name in spelled if one_dash and name.startswith("--")]
    return "|".join(dict.fromkeys((*spelled, *others)))

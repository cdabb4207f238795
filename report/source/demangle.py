"""Demangling of C++ and Fortran names, for reports and for choosing functions by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

# The Itanium ABI's mangling, Rust's legacy mangling with it.
_MANGLED = re.compile(r"\b_{1,3}Z[A-Za-z0-9_.$]+")

# gfortran's names of procedures in modules; the module's name is in lower case, so that the first _MOD_ ends it.
_FORTRAN = re.compile(r"\b__([a-z0-9_]+)_MOD_([a-z0-9_]+)")

_known: dict[str, str] = {}
"""The readable forms of names: a process takes longer than their reports."""

_MOST_KNOWN = 100_000


def is_mangled(text: str) -> bool:
    """Return True if the text may have mangled names in it."""
    return "_Z" in text or "_MOD_" in text


def demangle(texts: Iterable[str]) -> dict[str, str]:
    """Return the readable form of every mangled name in the texts.

    Without binutils' c++filt, or if it fails, C++ names are left out.
    """
    texts = list(texts)
    fortran = (match for text in texts if "_MOD_" in text for match in _FORTRAN.finditer(text))
    return {match[0]: f"{match[1]}::{match[2]}" for match in fortran} | _demangle_cxx(texts)


def _demangle_cxx(texts: list[str]) -> dict[str, str]:
    names = sorted({name for text in texts if "_Z" in text for name in _MANGLED.findall(text)})
    readable = {name: _known[name] for name in names if name in _known}
    if unknown := [name for name in names if name not in readable]:
        import subprocess

        try:
            run = subprocess.run(
                ["c++filt"],
                input="\n".join(unknown),
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return readable
        lines = run.stdout.splitlines()
        if len(lines) == len(unknown):
            readable.update(zip(unknown, lines, strict=True))
            if len(_known) > _MOST_KNOWN:
                _known.clear()
            _known.update(readable)
    return readable


def replace(text: str, readable: dict[str, str]) -> str:
    """Return the text with its mangled names made readable."""
    if "_MOD_" in text:
        text = _FORTRAN.sub(lambda match: readable.get(match[0], match[0]), text)
    return _MANGLED.sub(lambda match: readable.get(match[0], match[0]), text) if "_Z" in text else text


# What c++filt and compilers add to a function's name for a part or a copy of it.
_OPENMP = r" ?\[clone \._omp_[^]]*\]|\._omp_(?:cpy)?fn\.\d+|\.omp_outlined[\w.]*"
_PART = r" \[clone [^]]*\]|\.(?:_omp_fn|_omp_cpyfn|omp_outlined|part|constprop|isra|cold|lto_priv|llvm)\b.*"
_OPERATOR = r"operator(?:\(\)|\[\]|(?:<=>|<<=?|>>=?|->\*?|&&|\|\||\+\+|--|[-+*/%^&|~!=<>]=?|,)|\s*\"\"\s*\w+)"
_CLOSING = {"(": ")", "<": ">", "{": "}", "[": "]"}


def of_openmp(name: str) -> str:
    """Return the function that an outlined region of OpenMP is part of; other names unchanged."""
    return re.sub(_OPENMP, "", name) if "omp_" in name else name


def short_name(name: str) -> str:
    """Return a function's name without parameters, template arguments and return type.

    Examples are `std::transform` and `lambda in my::scale`.
    """
    if "." in name or "[" in name:
        name = re.sub(_PART, "", name)
    if not any(sign in name for sign in "(<{ "):
        return name
    text = ""
    at = 0
    while at < len(name):
        sign = name[at]
        operator = re.compile(_OPERATOR).match(name, at) if sign == "o" and not text[-1:].isalnum() else None
        if operator:
            at = operator.end()
            # `operator<<int>` is a template that compares.
            if operator[0] == "operator<<" and name.count(">", at) > name.count("<", at) + name.count("->", at):
                at -= 1
            text += name[operator.start() : at]
        elif sign in _CLOSING:
            inside = name[at + 1 : at + 7]
            end = _group_end(name, at)
            if inside.startswith("lambda"):
                text += "{lambda}"
            elif sign == "{" or (sign == "[" and text):  # an unnamed type, an ABI's mark
                text += name[at:end]
            elif inside == "anonym" and name.startswith("::", end):
                end += 2
            at = end
        elif sign == " ":
            if not name[at:].replace("const", "").replace("volatile", "").strip(" &"):
                break
            # The text before is the return type. A conversion has its type after it, like new and delete.
            if text.endswith("operator"):
                text += " "
            elif name[at + 1] != "<":
                text = ""
            at += 1
        else:
            text += sign
            at += 1
    return _lambda_name(text) or name


def _lambda_name(text: str) -> str:
    """Return the name of a lambda with the function around it; other names unchanged."""
    for closure in ("{lambda}::operator()", "{lambda}"):
        if text.endswith(closure):
            outer = text.removesuffix(closure).removesuffix("::")
            return f"lambda in {outer}" if outer else "lambda"
    return text


def _group_end(name: str, at: int) -> int:
    """Return the position after the bracket that closes the one at `at`."""
    open_: list[str] = []
    for i in range(at, len(name)):
        sign = name[i]
        if sign in _CLOSING:
            open_.append(_CLOSING[sign])
        elif sign in ")}]" and sign in open_:
            # A comparison among template arguments closes nothing.
            while open_.pop() != sign:
                pass
        elif sign == ">" and open_ and open_[-1] == ">" and name[i - 1] != "-":
            open_.pop()
        if not open_:
            return i + 1
    return len(name)


def choose_functions(functions: Iterable[str], globs: Sequence[str]) -> frozenset[str]:
    """Return the functions (symbols) that a glob matches.

    A glob matches the symbol, or the C++ name with or without its parameters.
    """
    functions = list(functions)
    readable = demangle(functions)

    def fits(function: str) -> bool:
        name = readable.get(function, function)
        names = (function, name, name.split("(")[0], of_openmp(function), of_openmp(name).split("(")[0])
        return any(fnmatchcase(n, g) for n in names for g in globs)

    return frozenset(function for function in functions if fits(function))

"""The pages of the site that are made from code: the options of each command, cores, Python and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import incc
from incc.driver.cli.command import NAMES, Command, entries
from incc.driver.cli.usage import command_of
from incc.views.schemas import DOCUMENTS, schema

CORES = """# Cores

To choose the core that code is analysed for, give `-mcpu` one of these names.

| name | core | other names |
| --- | --- | --- |"""
"""The beginning of the page of cores."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the places of all pages below docs, and their Markdown."""
    for name in NAMES:
        yield f"reference/{name}.md", "\n".join(command_lines(command_of(name)))
    rows = [f"| `{core.name}` | {prose(core.title)} | {', '.join(core.aliases)} |" for core in incc.cores()]
    yield "reference/cores.md", "\n".join([CORES, *rows])
    # Functions, then classes, then the types of arguments.
    names = sorted((name for name in incc.__all__ if name != "__version__"), key=str.swapcase)
    names += ["driver.api.AssemblySyntax", "driver.api.Input", "driver.api.Loops", "driver.api.Path"]
    yield "reference/python-api.md", "\n\n".join(["# Python API", *(f"::: incc.{name}" for name in names)])
    for place in DOCUMENTS:
        yield f"reference/json-{place.rpartition('/')[2]}.md", "\n".join(schema_lines(schema(place), place))


def command_lines(command: Command) -> Iterator[str]:
    """Yield the lines of the page of a command, with the content of its manual page."""
    yield from [f"# {command.name}", "", f"{sentence(command.summary)}", ""]
    yield from usage_lines(command)
    for paragraph in command.about:
        yield from [prose(paragraph), ""]
    yield from option_lines(command)
    for inner in command.commands:
        yield from [f"## {inner.name}", "", sentence(inner.summary), ""]
        yield from usage_lines(inner)
        yield from option_lines(inner, is_whole=False)
    for paragraph in command.after:
        yield from [prose(paragraph), ""]
    if command.examples:
        yield from ["## Examples", "", *(f"    {line}" for line in command.examples), ""]
    if command.environment:
        yield from ["## Environment", ""]
    for variables, text in command.environment:
        yield from [f"`{variables}`", f":   {prose(text)}", ""]
    yield from ["## Exit status", "", sentence(command.status)]


def usage_lines(command: Command) -> Iterator[str]:
    """Yield the ways to call a command."""
    yield from [*(f"    {line}" for line in command.synopsis()), ""]


def option_lines(command: Command, is_whole: bool = True) -> Iterator[str]:
    """Yield the options of a command, or of a sub-command without headings."""
    before = None
    for group in command.all_groups():
        if is_whole and group.heading != before:
            heading, _, remark = (group.heading or "other options").rstrip(")").partition(" (")
            yield from [f"## {heading[0].upper()}{heading[1:]}", "", sentence(remark), ""]
        before = group.heading
        for entry in entries(command, group.options):
            yield from [*(f"`{head}`" for head in entry.heads), f":   {prose(entry.text)}", ""]


def schema_lines(document: dict[str, Any], place: str) -> Iterator[str]:
    """Yield the lines of the page of a JSON document, with a table of the fields of each of its records."""
    definitions = document["$defs"]
    yield from [f"# JSON: {place.rpartition('/')[2]}", "", prose(document["description"]), ""]
    yield from [f"The schema is [`{place}.schema.json`](../../{place}.schema.json).", ""]
    yield from field_lines(document["properties"])
    for name, definition in definitions.items():
        yield from [f"## {name}", "", prose(definition["description"]), ""]
        yield from field_lines(definition["properties"])


def field_lines(properties: dict[str, Any]) -> Iterator[str]:
    """Yield the table of the fields of a record."""
    yield from ["| field | type | meaning |", "| --- | --- | --- |"]
    for name, field in properties.items():
        yield f"| `{name}` | {kind(field)} | {prose(field.get('description', '')).replace('|', '&#124;')} |"
    yield ""


def kind(field: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    match field:
        case {"$ref": reference}:
            name = reference.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": kinds}:
            return " or ".join(map(kind, kinds))
        case {"enum": values}:
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case {"type": "array", "prefixItems": items}:
            return f"[{', '.join(map(kind, items))}]"
        case {"type": "array", "items": items}:
            return f"list of {kind(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object of {kind(values)}"
        case {"type": name}:
            return str(name)
    return "anything"


def sentence(text: str) -> str:
    """Return a text of the help as a sentence."""
    return prose(f"{text[0].upper()}{text[1:]}.") if text else ""


def prose(text: str) -> str:
    """Return plain text as Markdown: options are code, as is text in backquotes, and names of documents are links."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    """Return text without code as Markdown."""
    text = re.sub(r"([\\`*_\[\]{}])", r"\\\1", text).replace("<", "&lt;")
    text = re.sub(r"(?<![\w\\(-])--?[A-Za-z][\w-]*(?:=[\w./…-]+)?", lambda option: f"`{option[0]}`", text)
    return re.sub(r"\bdocs/([\w/-]+\.md)", r"[\1](../\1)", text)

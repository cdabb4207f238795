"""Hooks of MkDocs: pages that are made from code, and links to files outside docs.

Documents link to such files (`../examples/make/Makefile`), which works in the repository. The site gets a page with the
text of each of them, and the links lead there. CONTRIBUTING.md and CHANGELOG.md become pages like those in docs.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from pygments.lexers.shell import BashSessionLexer
from reference import pages

log = logging.getLogger("mkdocs.plugins.incc")
ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<=\]\()[^)\s#:]+(?=[)#])")
"""The path of a link to a file."""

NAMED = re.compile(r"\[([\w/-]+\.md)\]\(([^)#]+\.md)")
"""A link with the name of a document as its text."""

ROW = re.compile(r"^ *\|.*", re.MULTILINE)
CODE = re.compile(r"`[^`]*`")

ELSEWHERE = re.compile(r'<(?:script|link|img|iframe)\b[^>]* (?:src|href)="((?:https?:)?//[^"]*)"')

# In sessions of incc, lines that begin with # are no commands of root, but headings of tables.
BashSessionLexer._ps1rgx = re.compile(r"^(\$ )(.*\n?)")

DOCUMENTS = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""The documents of the root, and the pages that stand for them."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and those of files that documents link to."""
    made = dict(pages())
    for document, uri in DOCUMENTS.items():
        if not files.get_file_from_path(uri):
            made[uri] = (ROOT / document).read_text(encoding="utf-8")
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    for page in list(files.documentation_pages()):
        for link in LINK.findall(page.content_string):
            outside = _outside(page.src_uri, link)
            if outside and outside not in DOCUMENTS and not files.get_file_from_path(_uri(outside)):
                files.append(_copy(outside, config))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files outside docs to their pages, name pages by their titles, and adapt tables."""
    folder = posixpath.dirname(page.file.src_uri)

    def lead(link: re.Match[str]) -> str:
        outside = _outside(page.file.src_uri, link[0])
        return posixpath.relpath(DOCUMENTS.get(outside) or _uri(outside), folder) if outside else link[0]

    def name(link: re.Match[str]) -> str:
        target = files.get_file_from_path(posixpath.normpath(posixpath.join(folder, link[2])))
        title = target.content_string.partition("\n")[0].lstrip("# ") if target else link[1]
        return f"[{title}]({link[2]}"

    return tables(NAMED.sub(name, LINK.sub(lead, markdown)))


def tables(markdown: str) -> str:
    r"""Return Markdown with `|` for `\|` in the code of tables: Python-Markdown prints a backslash there."""
    return ROW.sub(lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> None:
    """Warn of anything that a page would load from elsewhere."""
    for place in ELSEWHERE.findall(output):
        log.warning("%s loads %s from elsewhere", page.file.src_uri, place)


def _outside(uri: str, link: str) -> str:
    """Return the path in the repository of a link's target that is not in docs; "" for other links."""
    place = posixpath.dirname(f"docs/{uri}") if uri not in DOCUMENTS.values() else ""
    path = posixpath.normpath(posixpath.join(place, link))
    return path if not path.startswith("docs/") and (ROOT / path).exists() else ""


def _uri(path: str) -> str:
    """Return the place of the page of a file, or of the copy of a JSON file."""
    return f"files/{path}" if path.endswith(".json") else f"files/{path}.md"


def _copy(path: str, config: MkDocsConfig) -> File:
    """Return the page of a file or of the files of a folder; JSON files are copied."""
    if path.endswith(".json"):
        return File.generated(config, _uri(path), abs_src_path=str(ROOT / path))
    place = ROOT / path
    texts = [f"# {path}"]
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file() and "__pycache__" not in file.parts:
            texts += [f"## {file.relative_to(place)}"] * place.is_dir()
            language = file.suffix.lstrip(".") or file.name.lower()
            texts.append(f"````{language}\n{file.read_text(encoding='utf-8')}\n````")
    return File.generated(config, _uri(path), content="\n\n".join(texts), inclusion=InclusionLevel.NOT_IN_NAV)

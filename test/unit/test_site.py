"""Documents read the same in the repository, where Markdown is CommonMark, and on the site, where it is not."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted((ROOT / "docs").rglob("*.md"))
PARTS = ("h1", "h2", "h3", "h4", "p", "li", "pre", "table", "blockquote", "a", "em", "strong", "code")


class Parts(HTMLParser):
    """The parts of a page, and the text in each, without blanks except in code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, list[str]]] = []
        self.parts: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in PARTS:
            self.open.append((tag, []))

    def handle_data(self, data: str) -> None:
        for _, texts in self.open:
            texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in PARTS:
            opened, texts = self.open.pop()
            assert opened == tag
            # An item's text is a paragraph in lists with blank lines, whose rules differ.
            if tag != "p" or all(outer != "li" for outer, _ in self.open):
                text = "".join(texts)
                self.parts[f"{tag}: {text.strip() if tag == 'pre' else ''.join(text.split())}"] += 1


@pytest.fixture(scope="module")
def config() -> Any:
    return pytest.importorskip("mkdocs.config", reason="no mkdocs").load_config(str(ROOT / "mkdocs.yml"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT / "docs")))
def test_documents_read_the_same_in_the_repository_and_on_the_site(path: Path, config: Any) -> None:
    import markdown
    from markdown_it import MarkdownIt

    text = path.read_text(encoding="utf-8")
    settings = {**config.mdx_configs, "toc": {**config.mdx_configs["toc"], "permalink": False}}
    (hooks,) = config.hooks.values()
    site = markdown.markdown(hooks.tables(text), extensions=config.markdown_extensions, extension_configs=settings)
    repository = MarkdownIt("commonmark").enable("table").render(text)
    assert Parts(site).parts == Parts(repository).parts

"""Pages from templates (jinja2), which escapes the text of reports.

Templates are in the folders of the modules that use them, and are named by their paths below views/.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parents[1]

_INVALID = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, those that turn the direction of text, and bytes of names that are not UTF-8: no page may have
them."""


def render(template: str, **values: object) -> str:
    """Return a template with these values."""
    return _INVALID.sub("\ufffd", _environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        extensions=["jinja2.ext.do"],
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Styles and scripts are put in as they are.
    environment.globals["file"] = lambda name: Markup((FOLDER / name).read_text(encoding="utf-8"))
    # Characters as they are, so that `render` finds those that no page may have.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment

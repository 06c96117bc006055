"""Renders pages and fragments from templates in which everything is escaped."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jinja2

from adapters.web.assets import asset
from bot.core.lines import label, one_line, titled
from bot.core.texts import Texts

FOLDER = Path(__file__).with_name("templates")


@functools.cache
def environment(root: str = "") -> jinja2.Environment:
    """The templates, each compiled once in a process; ``root`` as for ``Templates``."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["label"] = label
    made.filters["titled"] = lambda page: titled(page.url, page.title)
    made.filters["decoded"] = lambda path: one_line(unquote(path))
    made.globals["root"] = root
    made.globals["asset"] = lambda name: root + asset(name)
    return made


class Templates:
    """Renders the files of ``templates``. A missing value is an error.

    ``root`` precedes the paths of all links: see ``Settings.root``.
    """

    def __init__(self, root: str = "") -> None:
        self.root = root
        self._environment = environment(root)

    def fragment(self, template: str, texts: Texts, **values: Any) -> str:
        """Render a piece of a page as HTML."""
        return self._environment.get_template(template).render(t=texts, **values)

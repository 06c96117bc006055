"""MkDocs hook: takes the navigation of the web site from the handbook's index page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINE = re.compile(r"^## (?P<section>.+)$|^- \[(?P<title>[^\]]+)\]\((?P<page>[a-z-]+\.md)\)", re.M)


def on_config(config: Any) -> Any:
    """Set ``nav`` to the sections of ``index.md`` with the pages that each lists."""
    index = Path(config["docs_dir"], "index.md").read_text(encoding="utf-8")
    nav: list[dict[str, Any]] = [{"Handbook": "index.md"}]
    for match in _LINE.finditer(index):
        if section := match["section"]:
            nav.append({section: []})
        else:
            (pages,) = nav[-1].values()
            pages.append({match["title"]: match["page"]})
    config["nav"] = nav
    return config

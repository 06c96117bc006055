"""The handbook's pages in the console, from the files that `footnote demo` searches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import bot
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.html.markdown import safe
from adapters.web.templating import TYPES

HANDBOOK = Path(bot.__file__).parent / "handbook"
PREFIX = "/handbook"
INDEX = "index"
OF_HEADINGS = {f"h{level}": {"id"} for level in range(1, 7)}
PICTURES = (".svg", ".png")
_PAGE_LINK = re.compile(r"(?P<name>[a-z-]+)\.md(?P<anchor>#.*)?")


@dataclass(frozen=True, slots=True)
class HandbookPage:
    """One page: its ``title`` as plain text and its whole text as safe HTML."""

    title: str
    html: str


def handbook_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of the handbook: its index, its pages and their pictures."""

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", INDEX)
        if name not in _names():
            raise HTTPException(404, texts_of(request)("web-handbook-gone"))
        return console.page(
            request, "handbook.html", page=_page(name, console.settings.root), index=PREFIX
        )

    return [
        Route(PREFIX, page),
        Route(PREFIX + "/{name}", page),
        Route(PREFIX + "/pictures/{name}", _picture),
    ]


async def _picture(request: Request) -> Response:
    body = _pictures().get(request.path_params["name"])
    if body is None:
        raise HTTPException(404)
    media_type = TYPES[Path(request.path_params["name"]).suffix]
    return Response(body, media_type=media_type, headers={"Cache-Control": "max-age=3600"})


def render(text: str, pictures: Mapping[str, bytes], root: str = "") -> HandbookPage:
    """Render a page's Markdown as safe HTML. A picture that is not among ``pictures`` (the wheel
    has no screenshots) is replaced by its description. ``root`` precedes the paths of links."""
    parser = _parser()
    tokens = parser.parse(text)
    title = ""
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            words = "".join(each.content for each in inline.children or () if each.content)
            heading.attrSet("id", anchor(words))
            title = title or words
    for token in tokens:
        for child in token.children or ():
            _set_target(child, pictures, root + PREFIX)
    rendered = parser.renderer.render(tokens, parser.options, {})
    return HandbookPage(title, safe(rendered, {**OF_HEADINGS, "img": {"src", "alt"}}))


def anchor(heading: str) -> str:
    """Return a heading's fragment, as Python-Markdown's ``toc`` makes it for the handbook's site.

    https://github.com/Python-Markdown/markdown/blob/master/markdown/extensions/toc.py
    """
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def _set_target(token: Token, pictures: Mapping[str, bytes], prefix: str) -> None:
    if token.type == "link_open":
        match = _PAGE_LINK.fullmatch(str(token.attrs.get("href", "")))
        if match is not None:
            path = prefix if match["name"] == INDEX else f"{prefix}/{match['name']}"
            token.attrs["href"] = path + (match["anchor"] or "")
    elif token.type == "image":
        name = str(token.attrs["src"])
        if name in pictures:
            token.attrs["src"] = f"{prefix}/pictures/{name}"
        else:
            token.type, token.tag, token.content = "text", "", token.content


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


@cache
def _names() -> frozenset[str]:
    return frozenset(path.stem for path in HANDBOOK.glob("*.md"))


@cache
def _page(name: str, root: str) -> HandbookPage:
    return render((HANDBOOK / f"{name}.md").read_text(encoding="utf-8"), _pictures(), root)


@cache
def _pictures() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in HANDBOOK.iterdir() if path.suffix in PICTURES}

"""The console's templates, and its scripts, styles and images.

Templates escape everything. Static files have paths that change with their content.
"""

from __future__ import annotations

import functools
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jinja2
from jinja2.utils import urlize
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.lines import label, one_line, titled
from bot.core.texts import Texts
from bot.pages.bm25 import asked_words

STATIC = Path(__file__).with_name("static")
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".png": "image/png",
}
_CODE = re.compile("`([^`]+)`")
FOR_EVER = "public, max-age=31536000, immutable"


@cache
def files() -> dict[str, bytes]:
    """Return the files by name."""
    return {path.name: path.read_bytes() for path in sorted(STATIC.iterdir()) if path.is_file()}


@cache
def edition() -> str:
    """Return one version for all files, so that scripts can import each other by plain names."""
    digest = hashlib.sha256()
    for name, body in files().items():
        digest.update(f"{name}\0{len(body)}\0".encode() + body)
    return digest.hexdigest()[:12]


def asset(name: str) -> str:
    """Return the path of a file. Raises ``KeyError`` for an unknown one."""
    if name not in files():
        raise KeyError(name)
    return f"/static/{edition()}/{name}"


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    body = files().get(name)
    if body is None:
        raise HTTPException(404)
    etag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'  # weak: the same with compression
    current = request.path_params["edition"] == edition()
    headers = {"Cache-Control": FOR_EVER if current else "no-cache", "ETag": etag}
    if etag in request.headers.get("if-none-match", "").split(", "):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=TYPES[Path(name).suffix], headers=headers)


def asset_routes() -> list[Route]:
    return [Route("/static/{edition}/{name}", _serve, name="asset")]


FOLDERS = [Path(__file__).with_name(name) for name in ("pages", "access")]


@functools.cache
def environment(root: str = "") -> jinja2.Environment:
    """The templates, each compiled once in a process; ``root`` as for ``Templates``."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDERS),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["label"] = label
    made.filters["words"] = asked_words
    made.filters["titled"] = lambda page: titled(page.url, page.title)
    made.filters["sentence"] = sentence_html
    made.filters["decoded"] = lambda path: one_line(unquote(path))
    made.globals["root"] = root
    made.globals["asset"] = lambda name: root + asset(name)
    made.globals["m"] = made.get_template("macros.html").module
    made.globals["show"] = made.get_template("run_trace.html").module
    return made


def sentence_html(sentence: str) -> Markup:
    """Return a sentence for operators with its code and links as such."""
    escaped = urlize(sentence, rel="noreferrer")
    return Markup(_CODE.sub(r"<code>\1</code>", escaped))  # noqa: S704


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

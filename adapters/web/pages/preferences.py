"""The forms of the preferences, the list of keys, and the manifest for installing the console."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import own_path
from adapters.web.console import Console
from adapters.web.display import keep, zones
from adapters.web.forms import form_of
from adapters.web.templating import asset

MANIFEST = "/manifest.webmanifest"
KEYS = (
    ("Enter", "send"),
    ("Shift + Enter", "line"),
    ("/", "box"),
    ("Tab", "mark"),
    ("Escape", "close"),
    ("?", "keys"),
)


def preference_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of the preferences, the list of keys, and the manifest."""
    root = console.settings.root
    secure = console.settings.public_url.startswith("https://")

    async def kept(request: Request) -> Response:
        form = await form_of(request)
        answer = RedirectResponse(root + own_path(form.get("to", "/")), status_code=303)
        keep(answer, form, root, secure=secure)
        return answer

    async def shown(request: Request) -> Response:
        """Show all preferences, including the time zones, which are too many for every page."""
        to = own_path(request.query_params.get("to", "/"))
        return console.page(request, "preferences.html", to=to, zones=zones())

    async def keys(request: Request) -> Response:
        return console.page(request, "preferences_keys.html", keys=KEYS)

    return [
        Route("/preferences", shown),
        Route("/preferences", kept, methods=["POST"]),
        Route("/keys", keys),
        Route(MANIFEST, _manifest(root), methods=["GET"]),
    ]


def _manifest(root: str) -> Response:
    """Return the manifest for installing the console (https://www.w3.org/TR/appmanifest/)."""
    pictures = [("icon.svg", "any"), ("icon-192.png", "192x192"), ("icon-512.png", "512x512")]
    return JSONResponse(
        {
            "name": "Footnote",
            "short_name": "Footnote",
            "id": f"{root}/",
            "start_url": f"{root}/",
            "scope": f"{root}/",
            "display": "standalone",
            "background_color": "#faf8f3",
            "theme_color": "#1f4e5f",
            "icons": [{"src": root + asset(name), "sizes": size} for name, size in pictures],
        },
        media_type="application/manifest+json",
        headers={"Cache-Control": "no-cache"},
    )

"""The pages for signing in with the token, and for signing out."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import SIGN_IN, SIGN_OUT, Proxies, own_path, set_cookie
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import form_of
from bot.core.lines import LOCAL
from bot.storage.console import Identity


def sign_in_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of the way in which the settings sign people in; none if they do not."""
    if (sign_ins := console.sign_ins) is None:
        return ()
    if console.settings.oidc_issuer:
        from adapters.web.access.single_sign_on import single_sign_on_pages  # needs an extra

        return single_sign_on_pages(console, sign_ins)
    secure = console.settings.public_url.startswith("https://")
    root = console.settings.root
    proxies = Proxies.of(console.settings)

    async def ask(request: Request) -> Response:
        to = own_path(request.query_params.get("to", "/"))
        return console.page(request, "sign_in.html", to=to, wrong=False)

    async def sign_in(request: Request) -> Response:
        fields = await form_of(request)
        to = own_path(fields.get("to", "/"))
        guess = console.guesses.judge(fields.get("token", ""), proxies.client_of(request))
        if guess == "too many":
            raise HTTPException(429, texts_of(request)("refused-tries"))
        if guess == "wrong":
            await console.audit.note("signed-in", outcome="refused")
            return console.page(request, "sign_in.html", status=403, to=to, wrong=True)
        secret = await sign_ins.begin(Identity(LOCAL, "You", (), ""))
        headers = {"Set-Cookie": set_cookie(secret, root, secure=secure)}
        return RedirectResponse(root + to, status_code=303, headers=headers)

    async def ask_how(request: Request) -> Response:
        return console.page(request, "sign_out.html")

    async def sign_out(request: Request) -> Response:
        everywhere = (await form_of(request)).get("all") == "true"
        await sign_ins.end(request.state.visitor.session, everywhere=everywhere)
        headers = {"Set-Cookie": set_cookie("", root, secure=secure)}
        return RedirectResponse(root + SIGN_IN, status_code=303, headers=headers)

    return [
        Route(SIGN_IN, ask),
        Route(SIGN_IN, sign_in, methods=["POST"]),
        Route(SIGN_OUT, ask_how),
        Route(SIGN_OUT, sign_out, methods=["POST"]),
    ]

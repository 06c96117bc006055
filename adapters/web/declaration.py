"""Declares the web console as a platform of Footnote."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from bot.core.messages import CONSOLE
from bot.core.settings import Settings
from bot.operation.console_access import has_console
from bot.service.platform import Declaration, Platform

if TYPE_CHECKING:
    from bot.core.measurements import Observed
    from bot.storage.workspaces import Workspaces


def _open(
    settings: Settings, workspaces: Workspaces, observed: Observed | None
) -> AbstractAsyncContextManager[Platform]:
    from adapters.web.platform import open_web

    return open_web(settings, workspaces, observed)


async def _check(settings: Settings) -> str:
    from bot.service.access import shut_to_console

    where = f"`footnote serve` opens it on {settings.http_host}:{settings.http_port}"
    if settings.oidc_issuer:
        from adapters.web.access.single_sign_on import report  # needs an extra

        where += f". {await report(settings)}"
    shut = shut_to_console(settings)
    if not shut:
        return where
    return f"{where}, but no one may ask there. {'. '.join(shut)}. Or set FOOTNOTE_CONSOLE=off"


def _to_connect(settings: Settings) -> str:
    if settings.console == "off":
        return "off. Unset FOOTNOTE_CONSOLE to ask in a browser"
    return (
        "shut, since others may reach it. Set FOOTNOTE_CONSOLE_TOKEN or FOOTNOTE_OIDC_ISSUER to "
        "open it"
    )


PLATFORM = Declaration(
    name=CONSOLE,
    title="Console",
    settings=Settings,
    listens=has_console,
    posts=lambda settings: settings.console != "off",
    open=_open,
    check=_check,
    to_connect=_to_connect,
    is_chat=False,
)

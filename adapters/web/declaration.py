"""Declares the web console as a platform of Footnote."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from bot.core.messages import CONSOLE
from bot.core.settings import Settings
from bot.core.texts import Said, said
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


async def _check(settings: Settings) -> Said:
    from bot.service.access import shut_to_console

    told = said("check-console", place=f"{settings.http_host}:{settings.http_port}")
    if settings.oidc_issuer:
        from adapters.web.access.single_sign_on import report  # needs an extra

        told += await report(settings)
    if shut := shut_to_console(settings):
        told = sum(shut, told + said("check-console-shut")) + said("check-console-without")
    return told


def _to_connect(settings: Settings) -> Said:
    return said("check-console-off" if settings.console == "off" else "check-console-closed")


PLATFORM = Declaration(
    name=CONSOLE,
    title=said("part-console"),
    settings=Settings,
    listens=has_console,
    posts=lambda settings: settings.console != "off",
    open=_open,
    check=_check,
    to_connect=_to_connect,
    is_chat=False,
)

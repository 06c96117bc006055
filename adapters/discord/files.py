"""Files that people attach to their messages, from Discord's own servers only."""

from __future__ import annotations

import asyncio

import aiohttp
from discord.http import Route
from yarl import URL

from bot.errors import PageUnreadable, PlatformUnavailable
from bot.messages import Attachment
from bot.posting import collected

HOSTS = frozenset(("cdn.discordapp.com", "media.discordapp.net"))
SECONDS = 60.0
CHUNK = 64 * 1024  # bytes


async def download(attachment: Attachment, limit: int) -> bytes:
    """The file, at most ``limit`` bytes.

    Raises ``PageUnreadable`` (too large, gone, elsewhere) and ``PlatformUnavailable``.
    """
    url = URL(attachment.download or attachment.url)
    if not _is_discords(url):
        raise PageUnreadable(
            f"The file {attachment.name} was not read: it is not on Discord's servers.",
            detail=str(url.host),
        )
    try:
        async with (
            asyncio.timeout(SECONDS),
            aiohttp.ClientSession() as session,
            session.get(url, allow_redirects=False) as response,
        ):
            _check(attachment, response)
            return await collected(response.content.iter_chunked(CHUNK), attachment, limit)
    except (aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable(
            f"The file {attachment.name} could not be fetched from Discord: ask again later.",
            detail=repr(error),
        ) from error


def _is_discords(url: URL) -> bool:
    if url.scheme == "https" and url.host in HOSTS:
        return True
    api = URL(Route.BASE)  # another server in Discord's place keeps files too
    return api.host != "discord.com" and (url.scheme, url.host, url.port) == (
        api.scheme,
        api.host,
        api.port,
    )


def _check(attachment: Attachment, response: aiohttp.ClientResponse) -> None:
    if response.status >= 500 or response.status == 429:
        raise PlatformUnavailable(
            f"The file {attachment.name} could not be fetched from Discord: ask again later.",
            detail=str(response.status),
        )
    if response.status != 200:
        raise PageUnreadable(
            f"The file {attachment.name} is no longer there: attach it again.",
            detail=str(response.status),
        )

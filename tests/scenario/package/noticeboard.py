"""A search provider of another package: one notice, which it finds and reads by itself."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import Field

from bot.core.plugins import PartSettings
from bot.pages.page import Page
from bot.search.provider import Declaration, Hit, ProviderKind, Query

URL = "https://noticeboard.example/lift"


class NoticeboardSettings(PartSettings):
    noticeboard_notice: str = Field("", description="the notice that is up")


class Noticeboard:
    name = "noticeboard"
    kind: ProviderKind = "knowledge"

    def __init__(self, notice: str) -> None:
        self._notice = notice

    async def search(self, query: Query) -> list[Hit]:
        return [Hit("The lift", URL, self._notice, self.name)]

    def reads(self, url: str) -> bool:
        return url == URL

    async def read(self, url: str) -> Page:
        return Page(url, "The lift", self._notice, datetime.now(UTC))


PROVIDER = Declaration(
    name=Noticeboard.name,
    settings=NoticeboardSettings,
    build=lambda settings, client: Noticeboard(settings.noticeboard_notice),
    is_on=lambda settings: bool(settings.noticeboard_notice),
)

"""Other apps that speak, such as workflows: who they are, and how often one may ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cachetools import TTLCache

from adapters.slack.guests import Home, teams_of
from adapters.slack.incoming import SHARED
from adapters.slack.people import Person
from bot.messages import Author

Json = Mapping[str, Any]

# Two apps that answer each other by beginning conversations would never end.
APP_QUESTIONS = 20  # of one app in one channel
APP_SECONDS = 3_600.0
APPS_REMEMBERED = 10_000


def author_id(message: Json) -> str:
    """The id of a message's author: a person's, an app's user, or an app."""
    return str(message.get("user") or message.get("bot_id") or "")


def name_of_app(message: Json) -> str:
    """The name of an app in a message."""
    profile = message.get("bot_profile") or {}
    return str(profile.get("name") or message.get("username") or author_id(message))


def app_of(event: Json, home: Home) -> Author:
    """The app that said something. It is a guest where only another team can have installed it."""
    guest = None
    if event.get(SHARED) is not False:
        profile = event.get("bot_profile") or {}
        team = str(profile.get("team_id") or next(teams_of(event), ""))
        guest = home.is_guest(Person(author_id(event), "", "", team=team))
    return Author(author_id(event), name_of_app(event), guest=bool(guest))


class AppQuestions:
    """Counts what apps ask."""

    def __init__(self) -> None:
        self._asked: TTLCache[tuple[str, str], list[str]] = TTLCache(APPS_REMEMBERED, APP_SECONDS)

    def may_ask(self, channel: str, message: Json) -> bool:
        """Whether an app may put one more question; a message counts once."""
        asked: list[str] = self._asked.setdefault((channel, author_id(message)), [])
        ts = str(message["ts"])
        if ts not in asked:
            asked.append(ts)
        return asked.index(ts) < APP_QUESTIONS

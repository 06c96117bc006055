"""The people of a workspace, other apps that post there, and which of them are guests.

https://docs.slack.dev/apis/slack-connect, https://docs.slack.dev/reference/objects/user-object
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache

from adapters.slack.calls import Calls, Refusal
from adapters.slack.incoming import Json, mentions_in
from adapters.slack.places import SHARED
from adapters.slack.words import words_of
from bot.core.errors import FootnoteError
from bot.core.logs import get_logger
from bot.core.messages import Author

PEOPLE_REMEMBERED = 20_000
REMEMBERED_SECONDS = 3_600.0
PATIENCE_SECONDS = 0.3  # how long an event waits for names
PAUSE_SECONDS = 10.0  # without quick look-ups, after one took too long
# Errors of users.info about the person: https://docs.slack.dev/reference/methods/users.info
STRANGER = frozenset(("user_not_found", "user_not_visible"))
MOST_ASKED = 20  # people looked up for one message
# Guests of several channels, guests of one, and strangers known through a shared channel only:
# https://docs.slack.dev/reference/objects/user-object
GUESTS = ("is_restricted", "is_ultra_restricted", "is_stranger")

log = get_logger()


@dataclass(frozen=True, slots=True)
class Person:
    """A person in Slack.

    ``locale`` is the language of their Slack, such as ``en-US``; ``team`` and ``enterprise`` are
    the ids of their workspace and organisation. ``guest`` is True for people whom Slack calls
    guests or strangers, or does not let Footnote look up. ``zone`` is an IANA time zone name.
    """

    id: str
    name: str
    locale: str
    admin: bool = False
    team: str = ""
    enterprise: str = ""
    guest: bool = False
    zone: str = ""


class People:
    """Looks people up by ``users.info``, each once an hour; concurrent callers share one call."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._known: TTLCache[str, Person] = TTLCache(PEOPLE_REMEMBERED, REMEMBERED_SECONDS)
        self._asking: dict[str, asyncio.Task[Person]] = {}
        self._hurry_until = 0.0

    async def aclose(self) -> None:
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    async def quickly(self, ids: Iterable[str]) -> dict[str, Person]:
        """Return the people who are cached or can be looked up within ``PATIENCE_SECONDS``."""
        wanted = list(dict.fromkeys(ids))[:MOST_ASKED]
        if time.monotonic() >= self._hurry_until and (
            tasks := [self._ask(id) for id in wanted if id not in self._known]
        ):
            _, late = await asyncio.wait(tasks, timeout=PATIENCE_SECONDS)
            if late:
                self._hurry_until = time.monotonic() + PAUSE_SECONDS
        known = ((id, self._known.get(id)) for id in wanted)
        return {id: person for id, person in known if person is not None}

    async def person(self, id: str) -> Person:
        """Return one person, without a time limit. Raises ``PlatformUnavailable``,
        ``PostRefused``."""
        known: Person | None = self._known.get(id)
        return known if known is not None else await asyncio.shield(self._ask(id))

    def _ask(self, id: str) -> asyncio.Task[Person]:
        task = self._asking.get(id)
        if task is None:
            task = self._asking[id] = asyncio.create_task(self._look_up(id))
            task.add_done_callback(lambda done: self._asked(id, done))
        return task

    def _asked(self, id: str, task: asyncio.Task[Person]) -> None:
        self._asking.pop(id, None)
        if task.cancelled() or (error := task.exception()) is None:
            return
        log.debug("person not looked up", id=id, error=str(error))
        if isinstance(error, Refusal) and error.code in STRANGER:
            self._known[id] = Person(id, id, "", guest=True)
        else:  # Slack is away, or refused for a reason that has nothing to do with the person
            self._hurry_until = time.monotonic() + PAUSE_SECONDS

    async def _look_up(self, id: str) -> Person:
        # Not ``patiently``: the next message looks the name up again.
        answer = await self._calls.once("users.info", user=id, include_locale=True)
        user = answer["user"]
        profile = user.get("profile") or {}
        name = profile.get("display_name") or profile.get("real_name") or user.get("name") or id
        person = Person(
            id=id,
            name=" ".join(str(name).split()),
            locale=str(user.get("locale") or ""),
            admin=bool(user.get("is_admin") or user.get("is_owner")),
            team=str(user.get("team_id") or ""),
            enterprise=str((user.get("enterprise_user") or {}).get("enterprise_id") or ""),
            guest=any(user.get(kind) for kind in GUESTS),
            zone=str(user.get("tz") or ""),
        )
        self._known[id] = person
        return person


ORGANISATION = "E"  # first letter of an organisation's id; a workspace's id begins with T


@dataclass(frozen=True, slots=True)
class Home:
    """The workspace in which Footnote is installed.

    ``enterprise`` is the organisation it is part of, or "". If a whole organisation installed the
    app, ``team`` and ``enterprise`` are both the organisation's id.
    """

    team: str
    enterprise: str = ""

    def is_guest(self, person: Person | None, teams: Iterable[str] = ()) -> bool | None:
        """Return True if a person comes from outside; None if that is unknown.

        ``teams`` are the ids of workspaces and organisations that a payload gives for the person;
        they decide if ``person`` is None. People from other workspaces of the same organisation are
        not guests.
        """
        if person is not None:
            return person.guest or not self._includes(person)
        return True if any(map(self._is_elsewhere, teams)) else None

    def _includes(self, person: Person) -> bool:
        if self.enterprise and person.enterprise == self.enterprise:
            return True
        return person.team == self.team

    def _is_elsewhere(self, team: str) -> bool:
        """Return True if an id is certainly not ours. Within an organisation a workspace's id
        proves nothing, because the organisation's workspaces are not known."""
        if team.startswith(ORGANISATION):
            return team != self.enterprise
        return bool(team) and team != self.team and not self.enterprise


def teams_of(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield the author's teams that an event, message, command or interaction names.

    ``source_team`` is ignored: in channels that another team shares, Slack has been seen to give
    that team's id for our own members.
    """
    for name in ("user_team", "team", "team_id"):
        if isinstance(payload.get(name), str):
            yield payload[name]
            break
    user = payload.get("user")  # in an interaction, where "team" is the place it happened
    if isinstance(user, dict) and isinstance(user.get("team_id"), str):
        yield user["team_id"]


# Without a limit, two apps that answer each other with new conversations would never stop.
APP_QUESTIONS = 20  # per app and channel, within APP_SECONDS
APP_SECONDS = 3_600.0
APPS_REMEMBERED = 10_000


def author_id(message: Json) -> str:
    """Return the id of a message's author: a person, an app's user, or an app."""
    return str(message.get("user") or message.get("bot_id") or "")


def name_of_app(message: Json) -> str:
    """Return the name of the app that posted a message."""
    profile = message.get("bot_profile") or {}
    return str(profile.get("name") or message.get("username") or author_id(message))


def app_of(event: Json, home: Home) -> Author:
    """Return the app that posted a message, as a guest if only another team can have installed
    it."""
    guest = None
    if event.get(SHARED) is not False:
        profile = event.get("bot_profile") or {}
        team = str(profile.get("team_id") or next(teams_of(event), ""))
        guest = home.is_guest(Person(author_id(event), "", "", team=team))
    return Author(author_id(event), name_of_app(event), guest=bool(guest))


class AppQuestions:
    """Limits how many questions each app may ask in a channel."""

    def __init__(self) -> None:
        self._asked: TTLCache[tuple[str, str], list[str]] = TTLCache(APPS_REMEMBERED, APP_SECONDS)

    def may_ask(self, channel: str, message: Json) -> bool:
        """Return True if the app may ask this question; a message that comes twice counts once."""
        asked: list[str] = self._asked.setdefault((channel, author_id(message)), [])
        ts = str(message["ts"])
        if ts not in asked:
            asked.append(ts)
        return asked.index(ts) < APP_QUESTIONS


async def names_of(people: People, messages: Sequence[Json]) -> dict[str, str]:
    """Return the names of authors and mentioned people by id, without those who cannot be looked
    up."""
    ids: dict[str, None] = {}
    for message in messages:
        if message.get("user") and not message.get("bot_id"):
            ids[str(message["user"])] = None
        ids |= dict.fromkeys(mentions_in(words_of(message)))
    found = await asyncio.gather(*map(people.person, ids), return_exceptions=True)
    names: dict[str, str] = {}
    for id, person in zip(ids, found, strict=True):
        if isinstance(person, FootnoteError):
            continue
        if isinstance(person, BaseException):
            raise person
        names[id] = person.name
    return names

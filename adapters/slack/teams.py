"""The workspaces Footnote is installed in, each with its token, its people and its user groups.

If many workspaces install the app, each has its own token, which is stored in the database, so a
poster works in any process. Look-ups are cached for ``KNOWN_SECONDS``, because an acknowledgement
must not wait for the database, let alone for Slack.

https://docs.slack.dev/apis/slack-connect, https://docs.slack.dev/reference/objects/user-object
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Self

from cachetools import TTLCache
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import FAILURES, Calls, Json, Refusal, Timing
from adapters.slack.incoming import Place, SlackMessage, is_direct
from adapters.slack.installations import CHANNELS, ORGANISATION, READERS, Installations
from bot.core.errors import FootnoteError, InvalidSetting, PlatformUnavailable, PostRefused
from bot.core.logs import get_logger
from bot.core.messages import Audience, Author, Message
from bot.search.guarded import InFlight
from bot.service.background import BackgroundTasks

log = get_logger()

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


@dataclass(frozen=True, slots=True)
class Person:
    """A person in Slack.

    ``locale`` is the language of their Slack, such as ``en-US``; ``team`` and ``enterprise`` are
    the ids of their workspace and organisation. ``guest`` is True for people whom Slack calls
    guests or strangers, or does not let Footnote look up. ``zone`` is an IANA time zone name.
    ``is_app`` is True for the user of an app.
    """

    id: str
    name: str
    locale: str
    admin: bool = False
    team: str = ""
    enterprise: str = ""
    guest: bool = False
    zone: str = ""
    is_app: bool = False


class People:
    """Looks people up by ``users.info``, each once an hour; concurrent callers share one call."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._known: TTLCache[str, Person] = TTLCache(PEOPLE_REMEMBERED, REMEMBERED_SECONDS)
        self._direct: TTLCache[str, str] = TTLCache(PEOPLE_REMEMBERED, REMEMBERED_SECONDS)
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

    async def direct(self, id: str) -> str:
        """Return the direct conversation with a person. Raises as ``Calls.once`` does."""
        known: str | None = self._direct.get(id)
        if known is None:
            opened = await self._calls.once("conversations.open", users=id)
            known = self._direct[id] = str(opened["channel"]["id"])
        return known

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
            self._known[id] = Person(id, id, "", guest=True, is_app=True)
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
            is_app=bool(user.get("is_bot")),
        )
        self._known[id] = person
        return person


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


def app_of(message: SlackMessage, home: Home) -> Author:
    """Return the app that posted a message, as a guest if only another team can have installed
    it."""
    made_by = Person(message.author, "", "", team="".join(message.teams))
    guest = message.place.shared is not False and home.is_guest(made_by)
    return Author(message.author, message.app_name, guest=guest)


async def names_of(people: People, messages: Iterable[SlackMessage]) -> dict[str, str]:
    """Return the names of authors and mentioned people by id, without those who cannot be looked
    up."""
    ids = list(dict.fromkeys(id for message in messages for id in message.people()))
    found = await asyncio.gather(*map(people.person, ids), return_exceptions=True)
    names: dict[str, str] = {}
    for id, person in zip(ids, found, strict=True):
        if isinstance(person, FootnoteError):
            continue
        if isinstance(person, BaseException):
            raise person
        names[id] = person.name
    return names


GROUPS_REMEMBERED = 1_000
SCOPES_SECONDS = 600.0
CHANNELS_REMEMBERED, CHANNELS_SECONDS = 10_000, 60.0
GROUPS_SECONDS = 60.0  # Slack allows about 20 of these calls a minute


class UserGroups:
    """Looks up user groups by ``usergroups.users.list``. A group that Slack does not show counts as
    empty.

    ``clock`` returns seconds.
    """

    def __init__(self, calls: Calls, clock: Callable[[], float] = monotonic) -> None:
        self._calls = calls
        self._known: TTLCache[tuple[str, str], frozenset[str]] = TTLCache(
            GROUPS_REMEMBERED, GROUPS_SECONDS, timer=clock
        )
        self._asking: InFlight[frozenset[str]] = InFlight()

    async def groups_held(
        self, person: str, among: Collection[str], team: str = ""
    ) -> frozenset[str]:
        """Return the user groups among ``among`` to which a person belongs. ``team`` is the groups'
        workspace, needed if the app is installed for a whole organisation."""
        return frozenset([id for id in sorted(among) if person in await self._members(id, team)])

    async def _members(self, group: str, team: str) -> frozenset[str]:
        known: frozenset[str] | None = self._known.get((group, team))
        if known is not None:
            return known
        return await self._asking.join((group, team), lambda: self._look_up(group, team))

    async def _look_up(self, group: str, team: str) -> frozenset[str]:
        where = {"team_id": team} if team else {}
        try:
            answer = await self._calls.once("usergroups.users.list", usergroup=group, **where)
        except (PlatformUnavailable, PostRefused) as error:
            log.warning("user group not looked up", group=group, error=str(error))
            return frozenset()
        members = frozenset(map(str, answer.get("users") or ()))
        self._known[group, team] = members
        return members


class NotInstalled(PostRefused):
    """The app is not installed in a workspace, or not any more."""

    def __init__(self, workspace: str) -> None:
        super().__init__(
            "Footnote is not installed in that Slack workspace: one of its admins can install it.",
            detail=workspace,
        )


class Team:
    """One workspace, or an organisation that installed the app for all of its workspaces.

    Everything that posts or listens there shares its caches and its rate limits. Close it with
    ``aclose``.
    """

    def __init__(self, client: AsyncWebClient, timing: Timing) -> None:
        self.calls = Calls(client, timing)
        self.people = People(self.calls)
        self.user_groups = UserGroups(self.calls)
        self._identity: Json = {}  # the response of auth.test, once it was called
        self._scopes: TTLCache[str, frozenset[str]] = TTLCache(1, SCOPES_SECONDS)
        self._channels: TTLCache[str, Json] = TTLCache(CHANNELS_REMEMBERED, CHANNELS_SECONDS)
        self._told: set[str] = set()

    async def aclose(self) -> None:
        await self.people.aclose()

    async def bot_user(self, *, patience: float | None = None) -> str:
        """Return the bot's own user id. Raises as ``Calls.patiently`` does."""
        return str((await self._who(patience))["user_id"])

    async def link_to(self, channel: str, ts: str, thread: str) -> str:
        """Return the URL of a message. Raises as ``Calls.patiently`` does."""
        home = str((await self._who(self.calls.timing.reading)).get("url") or "")
        link = f"{home}archives/{channel}/p{ts.replace('.', '')}"
        return f"{link}?thread_ts={thread}&cid={channel}" if thread != ts else link

    async def scopes(self) -> frozenset[str]:
        """Return the scopes of the app, at most ten minutes old. Raises ``FootnoteError``."""
        scopes: frozenset[str] | None = self._scopes.get("")
        if scopes is None:
            scopes = self._scopes[""] = await self.calls.scopes()
        return scopes

    def forget_scopes(self) -> None:
        """Clear the cached scopes after they have changed."""
        self._scopes.clear()

    def tell_once(self, event: str, sentence: str) -> None:
        """Log a warning, once in this process."""
        if event not in self._told:
            self._told.add(event)
            log.warning(event, why=sentence)

    async def about(self, channel: str) -> Json:
        """Return Slack's description of a channel, at most a minute old; empty without the scope,
        or if the call fails."""
        if (known := self._channels.get(channel)) is not None:
            return known
        try:
            if CHANNELS not in await self.scopes():
                return {}
            answer = await self.calls.once("conversations.info", channel=channel)
        except FootnoteError as error:
            log.info("channel not looked up", channel=channel, error=str(error))
            return {}
        about = self._channels[channel] = dict(answer["channel"])
        return about

    async def audience(self, channel: str) -> Audience:
        """Return who reads in a channel now; "unknown" if Slack does not tell."""
        if is_direct(channel):
            return Place.of_id(channel).audience
        about = await self.about(channel)
        if not about:
            self.tell_once(
                "readers_not_known",
                f"Slack does not tell who reads in a channel: grant the app the scopes "
                f"{', '.join(READERS)}, or commands, shortcuts and buttons there search no "
                "documents.",
            )
            return "unknown"
        return Place.of_description(about).audience

    async def _home(self) -> Home:
        """Return the workspace in which Footnote is installed."""
        identity = await self._who(self.calls.timing.reading)
        enterprise = str(identity.get("enterprise_id") or "")
        whole = bool(identity.get("is_enterprise_install"))
        return Home(enterprise if whole else str(identity["team_id"]), enterprise)

    async def _who(self, patience: float | None) -> Json:
        if not self._identity:
            self._identity = await self.calls.patiently("auth.test", patience=patience)
        return self._identity

    async def workspace_of_author(self, message: Message) -> str:
        """Return the id of the author's own workspace, which need not be the one where Footnote is
        installed; the latter if Slack does not answer in time."""
        installed = message.thread.workspace
        try:
            async with asyncio.timeout(self.calls.timing.first_sign):
                return (await self.people.person(message.author.id)).team or installed
        except (FootnoteError, TimeoutError):
            return installed

    async def groups_of_author(self, message: Message, among: Collection[str]) -> frozenset[str]:
        """Return the user groups among ``among`` to which a message's author belongs."""
        within = ""
        if message.thread.workspace.startswith(ORGANISATION):
            within = await self.workspace_of_author(message)
        return await self.user_groups.groups_held(message.author.id, among, within)

    async def is_guest(self, message: Message) -> bool:
        """Return True if a message's author comes from outside. Raises ``PlatformUnavailable``."""
        try:
            home = await self._home()
            return bool(home.is_guest(await self.people.person(message.author.id)))
        except PostRefused:
            return True  # Slack does not show this person


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's identity: the ids of its workspace, its user, its bot, and the workspace's
    organisation or ""."""

    team: str
    user: str
    bot: str
    enterprise: str = ""

    @classmethod
    def of(cls, identity: Json) -> Self:
        """Return the identity that ``auth.test`` tells."""
        bot, enterprise = (str(identity.get(key) or "") for key in ("bot_id", "enterprise_id"))
        return cls(str(identity["team_id"]), str(identity["user_id"]), bot, enterprise)

    @property
    def home(self) -> Home:
        return Home(self.team, self.enterprise)


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation of the app, with the bot's identity in the workspace."""

    me: Me
    team: Team = field(repr=False)


class OneTeam:
    """The only workspace: that of SLACK_BOT_TOKEN. ``me`` must be set before ``installed``. Close
    it with ``aclose``."""

    me: Me

    def __init__(self, client: AsyncWebClient, timing: Timing) -> None:
        self.team = Team(client, timing)

    async def of(self, workspace: str) -> Team:
        return self.team

    async def installed(self, workspace: str) -> Installed:
        return Installed(self.me, self.team)

    async def aclose(self) -> None:
        await self.team.aclose()


KNOWN_SECONDS = 60.0
WORKSPACES_KNOWN = 10_000
ROTATION_MINUTES = 120  # a token, which lasts twelve hours, is exchanged so long before it expires
URGENT_SECONDS = 300.0  # with less time left, the token is exchanged before its next use


class InstalledTeams:
    """Every workspace that installed the app. Close it with ``aclose``."""

    def __init__(
        self,
        store: Installations,
        rotator: AsyncTokenRotator,
        client: AsyncWebClient,
        timing: Timing,
        known_seconds: float = KNOWN_SECONDS,
    ) -> None:
        """``client`` has no token: it is the model for the clients of the workspaces."""
        self._store = store
        self._rotator = rotator
        self._client = client
        self._timing = timing
        self._known: TTLCache[str, Installed] = TTLCache(WORKSPACES_KNOWN, known_seconds)
        self._teams: dict[str, Team] = {}
        self._looking: InFlight[Installed] = InFlight()
        self._rotating: set[str] = set()
        self._background = BackgroundTasks("slack")

    async def aclose(self) -> None:
        await self._background.aclose()
        for team in self._teams.values():
            await team.aclose()

    async def of(self, workspace: str) -> Team:
        """Return the team whose threads name ``workspace``.

        Raises ``NotInstalled``, ``PlatformUnavailable`` and ``StorageUnavailable``.
        """
        try:
            return (await self.installed(workspace)).team
        except InvalidSetting as error:  # a key is missing: an operator may put it back
            raise PlatformUnavailable(error.sentence, detail=error.detail) from error

    async def installed(self, workspace: str) -> Installed:
        """Return an installation. Raises as ``of`` does, and ``InvalidSetting`` if its token cannot
        be decrypted."""
        known: Installed | None = self._known.get(workspace)
        if known is not None:
            return known
        return await self._looking.join(workspace, lambda: self._look_up(workspace))

    async def forget(self, workspace: str) -> None:
        """Drop a workspace that uninstalled the app."""
        self._known.pop(workspace, None)
        if (team := self._teams.pop(workspace, None)) is not None:
            await team.aclose()

    async def _look_up(self, workspace: str) -> Installed:
        bot = await self._store.bot_of(workspace)
        if bot is None:
            await self.forget(workspace)
            raise NotInstalled(workspace)
        bot = await self._with_time_left(workspace, bot)
        team = self._teams.get(workspace)
        if team is None:
            team = self._teams[workspace] = Team(self._client, self._timing)
        team.calls.client.token = bot.bot_token
        me = Me(workspace, bot.bot_user_id, bot.bot_id, bot.enterprise_id or "")
        known = self._known[workspace] = Installed(me, team)
        return known

    # ------------------------------------------------------------ tokens that expire

    async def _with_time_left(self, workspace: str, bot: Bot) -> Bot:
        """Return the bot with a token that is still valid for a while, exchanging it if needed.

        https://docs.slack.dev/authentication/using-token-rotation
        """
        if bot.bot_token_expires_at is None or bot.bot_refresh_token is None:
            return bot
        left = bot.bot_token_expires_at - time.time()
        if left > ROTATION_MINUTES * 60 or workspace in self._rotating:
            return bot
        if left > URGENT_SECONDS:
            self._background.later(self._rotate(workspace, bot))
            return bot
        return await self._rotate(workspace, bot)

    async def _rotate(self, workspace: str, bot: Bot) -> Bot:
        """Exchange the token. Raises ``PlatformUnavailable`` and ``StorageUnavailable``."""
        self._rotating.add(workspace)
        try:
            fresh = await self._exchanged(workspace, bot)
        finally:
            self._rotating.discard(workspace)
        if workspace in self._teams:
            self._teams[workspace].calls.client.token = fresh.bot_token
        return fresh

    async def _exchanged(self, workspace: str, bot: Bot) -> Bot:
        try:
            fresh = await self._rotator.perform_bot_token_rotation(
                bot=bot, minutes_before_expiration=ROTATION_MINUTES
            )
        except SlackTokenRotationError as error:
            # A refresh token works only once: another process may have used it first.
            stored = await self._store.bot_of(workspace)
            if stored is None or stored.bot_token == bot.bot_token:
                log.warning("Slack token not refreshed", workspace=workspace, error=_code(error))
            return stored or bot
        except FAILURES as error:
            raise PlatformUnavailable(
                "Slack does not answer: the answer is kept and posted when it does.",
                detail=f"token of {workspace}: {type(error).__name__}",
            ) from error
        if fresh is None:
            return bot
        await self._store.async_save_bot(fresh)
        return fresh


Teams = OneTeam | InstalledTeams


def _code(error: SlackTokenRotationError) -> str:
    answer = getattr(error.api_error.response, "data", None)
    return str(answer.get("error", "")) if isinstance(answer, dict) else ""

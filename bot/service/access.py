"""What operators and admins set: who may ask, and the rules of a channel.

A deny list wins over an allow list; an empty allow list allows all. Ids are the platforms' own. A
channel's tone, language, default depth, providers and daily budget come from the setting
``channels``; rules set by an admin's command take precedence.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import get_args

from cachetools import TTLCache
from pydantic import ValidationError

from bot.core.errors import Denied, Invalid, invalid
from bot.core.lines import LOCAL
from bot.core.messages import CONSOLE, EVERYWHERE, Depth, Message, RunOptions, Sources, Thread
from bot.core.settings import ChannelRules, Settings
from bot.core.texts import Said, said
from bot.storage.audit_log import Audit
from bot.storage.database import Database
from bot.storage.workspaces import Workspaces

IN_CONSOLE = "console"  # the workspace of the console in these lists
# The workspace of Discord's direct and group messages in these lists, named as in Discord's links.
IN_NO_SERVER = "@me"
NO_ROLES = said(
    "denied-console-roles", setting="FOOTNOTE_ALLOW_ROLES", instead="FOOTNOTE_ALLOW_USERS"
)

APP_QUESTIONS = 20  # per app and channel, within APP_SECONDS
APP_SECONDS = 3_600.0
APPS_REMEMBERED = 10_000


class AppLimit:
    """Limit of the questions of each app in a channel. Without it, two apps that answer each other
    with new conversations would never stop."""

    def __init__(self) -> None:
        self._asked: TTLCache[tuple[str, str], list[str]] = TTLCache(APPS_REMEMBERED, APP_SECONDS)

    def allows(self, channel: str, app: str, id: str) -> bool:
        """Return True if an app may ask with message ``id``, which counts once."""
        asked: list[str] = self._asked.setdefault((channel, app), [])
        if id not in asked:
            asked.append(id)
        return asked.index(id) < APP_QUESTIONS


async def admit(settings: Settings, database: Database, message: Message) -> None:
    """Check access as ``check_access`` does, and record a refusal in the audit log."""
    async with Audit(database).refusals(message):
        check_access(settings, message)


def check_access(settings: Settings, message: Message) -> None:
    """Raise ``Denied`` if the lists do not let the author ask in the message's place."""
    check_author(settings, message)
    author, thread = message.author, message.thread
    if not settings.direct_messages and (message.direct or thread.workspace == IN_NO_SERVER):
        raise Denied(said("denied-direct"))
    allowed, denied = settings.allow_channels, settings.deny_channels
    if not message.direct and not _passes([thread.channel], allowed, denied):
        _check_console(message, "FOOTNOTE_ALLOW_CHANNELS", thread.channel, denied)
        raise Denied(said("denied-channel"))
    if not _passes(author.roles, settings.allow_roles):
        if thread.platform == CONSOLE:
            raise Denied(NO_ROLES)
        raise Denied(said("denied-role"))


def check_author(settings: Settings, message: Message) -> None:
    """Raise ``Denied`` because of the author or workspace, which are known for stored messages
    too."""
    author, thread = message.author, message.thread
    if settings.guests == "deny" and author.guest:
        raise Denied(said("denied-guest"))
    if settings.guests == "deny" and author.guest is None:
        raise Denied(said("denied-unknown"))
    if not _passes([author.id], settings.allow_users, settings.deny_users):
        _check_console(message, "FOOTNOTE_ALLOW_USERS", author.id, settings.deny_users)
        raise Denied(said("denied-user"))
    if not _passes([thread.workspace], settings.allow_workspaces):
        _check_console(message, "FOOTNOTE_ALLOW_WORKSPACES", thread.workspace)
        raise Denied(said("denied-workspace"))


def shut_to_console(settings: Settings) -> list[Said]:
    """Return a sentence for each list that keeps everyone from asking in an open console because it
    names other places only. Lists of channels and users may name people known to a proxy or an
    OpenID provider."""
    needed = [("workspaces", settings.allow_workspaces, IN_CONSOLE)]
    if not (settings.console_user_header or settings.oidc_issuer):
        needed += [
            ("channels", settings.allow_channels, LOCAL),
            ("users", settings.allow_users, LOCAL),
        ]
    told = [
        said("check-console-list", setting=f"FOOTNOTE_ALLOW_{name.upper()}", id=id)
        for name, allowed, id in needed
        if allowed and id not in allowed
    ]
    return told + ([NO_ROLES] if settings.allow_roles else [])


def _check_console(message: Message, setting: str, id: str, denied: Collection[str] = ()) -> None:
    """Raise a ``Denied`` that names the list without the console: operators read it, and often did
    not think of the console when making the list."""
    if message.thread.platform == CONSOLE and id not in denied:
        raise Denied(said("denied-console", setting=setting, id=id))


def is_admin(settings: Settings, message: Message) -> bool:
    """Return True if the author may set channel rules."""
    return message.author.admin or message.author.id in settings.admins


def _passes(ids: Collection[str], allowed: Collection[str], denied: Collection[str] = ()) -> bool:
    if any(one in denied for one in ids):
        return False
    return not allowed or any(one in allowed for one in ids)


KEYS = tuple(ChannelRules.model_fields)
DEPTHS: tuple[str, ...] = get_args(Depth)


class RulesOfChannels:
    """The rules of each channel: those set there by an admin, otherwise those of the settings."""

    def __init__(self, settings: Settings, workspaces: Workspaces) -> None:
        self._settings = settings
        self._workspaces = workspaces

    async def of(self, thread: Thread) -> ChannelRules:
        stored = await self._workspaces.rules(thread.platform, thread.workspace, thread.channel)
        if stored is not None:
            rules = ChannelRules.model_validate(stored)
            return within_operator_limits(rules, self._settings, thread.channel)
        return self._settings.channels.get(thread.channel, ChannelRules())

    async def set(self, message: Message, rules: ChannelRules | None) -> None:
        """Set the rules of the channel in which the command ``message`` was sent.

        None goes back to the settings. Raises ``Denied`` unless its author is an admin.
        """
        if not is_admin(self._settings, message):
            raise Denied(said("rules-not-admin"))
        thread = message.thread
        await self._workspaces.set_rules(
            thread.platform,
            thread.workspace,
            thread.channel,
            None if rules is None else rules.model_dump(mode="json"),
            message.author.id,
        )


def options_for(
    rules: ChannelRules, depth: Depth = "auto", sources: Sources = EVERYWHERE
) -> RunOptions:
    """Return the options for a run in a channel; the asker's ``depth`` overrides the channel's, and
    the asker's ``sources`` narrow those searched there."""
    chosen = (name for name in sources.providers if name in (rules.providers or sources.providers))
    return RunOptions(
        depth=rules.depth if depth == "auto" else depth,
        providers=tuple(chosen) or rules.providers,
        collections=sources.collections,
        within=sources.within,
        since=sources.since,
        until=sources.until,
        instructions=_instructions(rules),
        daily_usd=rules.daily_usd,
    )


def within_operator_limits(rules: ChannelRules, settings: Settings, channel: str) -> ChannelRules:
    """Limit rules set by command: they may lower the operator's spending limit, not raise it.
    Admins of a workspace may not be the ones who pay.
    """
    own = settings.channels.get(channel, ChannelRules()).daily_usd or settings.channel_daily_usd
    limits = [limit for limit in (rules.daily_usd, own) if limit is not None]
    return rules.model_copy(update={"daily_usd": min(limits, default=None)})


def with_rule(
    rules: ChannelRules, key: str, value: str, known_providers: Collection[str]
) -> ChannelRules:
    """Return the rules with one of them set to an admin's input; an empty value unsets it. Raises
    ``Invalid``, which names the possible rules or values.
    """
    key = key.strip().lower()
    if key not in KEYS:
        raise invalid("rules-unknown", key=key, known=", ".join(KEYS))
    value = " ".join(value.split())
    new: object = value
    if key == "depth":
        new = depth_named(value or "auto")
    if key == "providers":
        new = tuple(name.lower() for name in value.replace(",", " ").split())
        for name in new:
            if name not in known_providers:
                raise _not_possible(key, name, sorted(known_providers))
    if key == "daily_usd":
        new = _dollars(value)
    try:
        return ChannelRules.model_validate({**rules.model_dump(), key: new})
    except ValidationError as error:  # only the length is left to validate
        most = error.errors()[0]["ctx"]["max_length"]
        raise invalid("rules-too-long", key=key, most=most) from None


def depth_named(word: str) -> Depth:
    """Return the depth for a typed word. Raises ``Invalid``, which names all depths."""
    for depth in get_args(Depth):
        if word.lower() == depth:
            return depth  # type: ignore[no-any-return]
    raise _not_possible("depth", word, DEPTHS)


def _dollars(value: str) -> float | None:
    """Return a typed amount of US dollars; None if empty. Raises ``Invalid``."""
    try:
        dollars = float(value.strip("$ ")) if value else None
    except ValueError:
        dollars = math.nan
    if dollars is not None and not 0 < dollars < math.inf:
        raise _not_possible("daily_usd", value, ["> 0 (USD)"])
    return dollars


def _not_possible(key: str, value: str, possible: Collection[str]) -> Invalid:
    return invalid("rules-invalid", key=key, value=value, allowed=", ".join(possible))


def rule_values(rules: ChannelRules) -> list[tuple[str, str]]:
    values = [
        (key, ", ".join(value) if isinstance(value, tuple) else str(value))
        for key, value in rules.model_dump(exclude_none=True).items()
    ]
    return [(key, value) for key, value in values if value and (key, value) != ("depth", "auto")]


def _instructions(rules: ChannelRules) -> str:
    sentences = []
    if rules.language:
        sentences.append(f"Answer in this language: {rules.language}.")
    if rules.tone:
        sentences.append(f"Tone: {rules.tone.rstrip('.')}.")
    return " ".join(sentences)

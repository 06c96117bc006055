"""Channel rules: tone, language, default depth, providers and daily budget of one channel.

They come from the setting ``channels``; rules set by an admin's command take precedence.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import get_args

from pydantic import ValidationError

from bot.core.errors import Denied, Invalid
from bot.core.messages import EVERYWHERE, Depth, Message, RunOptions, Sources, Thread
from bot.core.settings import ChannelRules, Settings
from bot.core.texts import invalid
from bot.service.access import is_admin
from bot.storage.workspaces import Workspaces

KEYS = tuple(ChannelRules.model_fields)
DEPTHS: tuple[str, ...] = get_args(Depth)


class RulesOfChannels:
    """The rules of each channel: those set there by an admin, otherwise those of the settings."""

    def __init__(self, settings: Settings, workspaces: Workspaces) -> None:
        self._settings = settings
        self._workspaces = workspaces

    async def of(self, thread: Thread) -> ChannelRules:
        """Return the rules of the thread's channel."""
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
            raise Denied("rules-not-admin", "Only an admin may set this: ask one of yours.")
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
    except ValidationError:  # only the length is left to validate
        raise invalid("rules-too-long", key=key, most=_longest(key)) from None


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


def _longest(key: str) -> int:
    """Return the maximum length of a rule's value, in characters."""
    limits = (getattr(one, "max_length", None) for one in ChannelRules.model_fields[key].metadata)
    return next((limit for limit in limits if limit is not None), 0)


def rule_values(rules: ChannelRules) -> list[tuple[str, str]]:
    """Return the rules that are set, as name and value."""
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

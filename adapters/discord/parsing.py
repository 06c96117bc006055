"""Protects discord.py's parsers of gateway events from events that they cannot parse."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from bot.core.logs import get_logger

Data = dict[str, Any]
Parser = Callable[[Any], None]

READY = "READY"  # without it there is no session: the client reconnects
VOICE, STAGE = 2, 13  # types of channels in which Footnote does not answer
MOST_TOLD = 100  # kinds of errors that are logged, once each

# Fields that Footnote does not need.
_OF_SERVER = ("emojis", "stickers")
_OF_MESSAGE = (
    *("mention_roles", "embeds", "sticker_items", "stickers", "components", "reactions", "poll"),
    *("activity", "application", "interaction", "interaction_metadata", "call"),
    *("role_subscription_data", "purchase_notification", "message_snapshots"),
)
_SPARE = {
    "GUILD_CREATE": (
        *(*_OF_SERVER, "voice_states", "presences", "stage_instances"),
        *("guild_scheduled_events", "soundboard_sounds"),
    ),
    "GUILD_UPDATE": _OF_SERVER,
    "MESSAGE_CREATE": _OF_MESSAGE,
    "MESSAGE_UPDATE": _OF_MESSAGE,
}
_LISTS = {"mention_roles", "embeds", "emojis", "stickers", "voice_states", "presences"}

log = get_logger()


class SafeParsers:
    """Wraps one client's parsers. An event that they cannot parse is parsed again without the
    fields that Footnote does not need, or skipped.

    discord.py (2.7) passes such an error on to the client's caller, which ends the connection.
    """

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def wrapped(self, parsers: dict[str, Parser]) -> dict[str, Parser]:
        """Return the same parsers, of which only that of ``READY`` raises."""
        return {
            event: parser if event == READY else functools.partial(self._parse, event, parser)
            for event, parser in parsers.items()
        }

    def _parse(self, event: str, parser: Parser, data: Any) -> None:
        try:
            return parser(data)
        except Exception as error:  # noqa: BLE001  (of any kind: the event is foreign)
            spare = _without_spare(event, data)
            self._tell(event, error, again=spare is not None)
        if spare is None:
            return None
        try:
            return parser(spare)
        except Exception as error:  # noqa: BLE001
            self._tell(event, error, again=False)
        return None

    def _tell(self, event: str, error: Exception, *, again: bool) -> None:
        kind = event, f"{type(error).__name__}: {error}"[:200]
        if kind in self._told or len(self._told) >= MOST_TOLD:
            return
        self._told.add(kind)
        then = "read without what is not needed" if again else "skipped"
        log.warning("discord event not parsed", event_name=event, error=kind[1], then=then)


def _without_spare(event: str, data: Any) -> Data | None:
    """Return the event's data without the fields that Footnote does not need; None if it has none
    of them."""
    if event not in _SPARE or not isinstance(data, dict):
        return None
    kept = {name: value for name, value in data.items() if name not in _SPARE[event]}
    kept |= {name: [] for name in _LISTS & data.keys() & set(_SPARE[event])}
    channels = data.get("channels")
    if isinstance(channels, list):
        kept["channels"] = [
            channel
            for channel in channels
            if isinstance(channel, dict) and channel.get("type") not in (VOICE, STAGE)
        ]
    return kept

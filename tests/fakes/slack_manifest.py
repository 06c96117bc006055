"""What the app's manifest grants: scopes, events, commands, shortcuts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.fakes.slack_limits import ALL_SCOPES


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of a manifest that change what Slack sends and allows; ``None`` means all."""

    scopes: frozenset[str]
    events: frozenset[str] | None
    commands: frozenset[str] | None
    escaped_commands: frozenset[str]
    shortcuts: frozenset[str] | None
    agent: bool
    interactive: bool

    def subscribes(self, event: str) -> bool:
        return self.events is None or event in self.events


EVERYTHING = Manifest(ALL_SCOPES, None, None, frozenset(), None, agent=True, interactive=True)


def read_manifest(given: Mapping[str, Any] | str | Path | None) -> Manifest:
    """From a mapping, YAML text or the path of a YAML file; ``None`` grants everything.

    Raises ``ValueError`` for a manifest that Slack would not accept in the parts used here.
    """
    if given is None:
        return EVERYTHING
    if isinstance(given, Path):
        given = given.read_text(encoding="utf-8")
    tree = yaml.safe_load(given) if isinstance(given, str) else given
    if not isinstance(tree, Mapping):
        raise ValueError("a manifest is a mapping")  # noqa: TRY004
    features = tree.get("features") or {}
    settings = tree.get("settings") or {}
    scopes = ((tree.get("oauth_config") or {}).get("scopes") or {}).get("bot") or []
    commands = features.get("slash_commands") or []
    shortcuts = features.get("shortcuts") or []
    events = (settings.get("event_subscriptions") or {}).get("bot_events") or []
    if not (tree.get("display_information") or {}).get("name"):
        raise ValueError("a manifest names its app in display_information.name")
    if scopes and "bot_user" not in features:
        raise ValueError("bot scopes need features.bot_user")
    if commands and "commands" not in scopes:
        raise ValueError("slash commands need the scope commands")
    return Manifest(
        scopes=frozenset(scopes),
        events=frozenset(events),
        commands=frozenset(one["command"] for one in commands),
        escaped_commands=frozenset(one["command"] for one in commands if one.get("should_escape")),
        shortcuts=frozenset(one["callback_id"] for one in shortcuts),
        agent="agent_view" in features or "assistant_view" in features,
        interactive=bool((settings.get("interactivity") or {}).get("is_enabled")),
    )

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
    home_tab: bool
    messages_tab: bool

    def subscribes(self, event: str) -> bool:
        return self.events is None or event in self.events


EVERYTHING = Manifest(
    ALL_SCOPES,
    None,
    None,
    frozenset(),
    None,
    agent=True,
    interactive=True,
    home_tab=True,
    messages_tab=True,
)


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
    home = features.get("app_home") or {}
    agent = "agent_view" in features or "assistant_view" in features
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
        agent=agent,
        interactive=bool((settings.get("interactivity") or {}).get("is_enabled")),
        home_tab=bool(home.get("home_tab_enabled")),
        # Agents are written to in their own pane; others need a messages tab that takes input.
        messages_tab=agent
        or (
            bool(home.get("messages_tab_enabled"))
            and not home.get("messages_tab_read_only_enabled")
        ),
    )

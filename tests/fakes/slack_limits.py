"""Slack's limits as named numbers, the needs of each method, and the grants of an app's manifest.

Sources: https://docs.slack.dev/apis/web-api/rate-limits (tiers), the reference page of each method
(scopes, errors), https://docs.slack.dev/reference/block-kit (lengths) and
https://docs.slack.dev/apis/events-api (acknowledgement and redelivery).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TEXT = 40_000  # characters of `text` in chat.postMessage
UPDATE_TEXT = 4_000  # characters of `text` in chat.update, which refuses more with msg_too_long
# Seen, and not documented: characters of all blocks of a message, as JSON.
# https://github.com/slackapi/bolt-js/issues/2509
BLOCK_CHARACTERS = 13_200
MARKDOWN = 12_000  # characters of `markdown_text`, and of all markdown blocks of a message
STREAM_CHARACTERS = 12_000  # everything one stream may hold: text, task titles, details, outputs
STREAM_SECONDS = 300.0  # a stream ends by itself
TASK_FIELD = 256  # characters of a task's `details` and `output` in one chunk
MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
METADATA_BYTES = 8_000
TITLE = 200  # characters of an agent session's title
STATUS_PROMPTS = 4  # suggested prompts shown at once
RESPONSE_URL_USES = 5
RESPONSE_URL_SECONDS = 1_800.0
TRIGGER_SECONDS = 3.0
ACK_SECONDS = 3.0
REDELIVERY_SECONDS = (0.0, 60.0, 300.0)  # waits before the second, third and fourth attempt
PAGE = 1_000  # the largest `limit` of conversations.replies and .history
RESTRICTED_PAGE = 15  # the same for commercially distributed apps outside the Marketplace

TIER_2, TIER_3, TIER_4 = 20, 50, 100  # calls a minute, per method and workspace
SPECIAL = 600  # "special limits": hundreds of calls a minute
POSTS = 60  # chat.postMessage: one a second for each channel, short bursts allowed


@dataclass(frozen=True, slots=True)
class Rule:
    """The needs of a method. The kind of channel replaces a ``*`` in ``scopes``."""

    calls_a_minute: int
    scopes: tuple[str, ...] = ()
    token: str = "bot"
    by_channel: bool = False


# The kind of a channel determines the scope for reading it.
SCOPE_OF_KIND = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}

RULES: dict[str, Rule] = {
    "agents.sessions.setStatus": Rule(TIER_3, ("chat:write",)),
    # Tier 1, but every reconnect needs one: Slack lets bursts pass.
    "apps.connections.open": Rule(TIER_2, ("connections:write",), token="app"),
    "assistant.search.context": Rule(TIER_3),  # the scopes depend on what is searched
    "assistant.search.info": Rule(TIER_3),
    "assistant.threads.setSuggestedPrompts": Rule(SPECIAL, ("assistant:write",)),
    "auth.test": Rule(SPECIAL, token="any"),
    "chat.appendStream": Rule(TIER_4, ("chat:write",)),
    "chat.delete": Rule(TIER_3, ("chat:write",)),
    "chat.postEphemeral": Rule(TIER_4, ("chat:write",)),
    "chat.postMessage": Rule(POSTS, ("chat:write",), by_channel=True),
    "chat.startStream": Rule(TIER_2, ("chat:write",)),
    "chat.stopStream": Rule(TIER_2, ("chat:write",)),
    "chat.unfurl": Rule(TIER_3, ("links:write",)),
    "chat.update": Rule(TIER_3, ("chat:write",)),
    "conversations.history": Rule(TIER_3, ("*:history",)),
    "conversations.info": Rule(TIER_3),  # scopes by the kind of the channel: see the method
    "conversations.open": Rule(TIER_3, ("im:write",)),
    "conversations.replies": Rule(TIER_3, ("*:history",)),
    "files.info": Rule(TIER_4, ("files:read",)),
    "usergroups.users.list": Rule(TIER_2, ("usergroups:read",)),
    "users.info": Rule(TIER_4, ("users:read",)),
    "views.open": Rule(TIER_4),
    "views.publish": Rule(TIER_4),
}

# Scope an event needs besides the subscription, https://docs.slack.dev/reference/events
EVENT_SCOPES: dict[str, str] = {
    "app_mention": "app_mentions:read",
    "link_shared": "links:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
}

# Events that only apps declared as agents get.
AGENT_EVENTS = frozenset({"agent_session_stopped", "app_context_changed"})

ALL_SCOPES = frozenset(
    {scope for rule in RULES.values() for scope in rule.scopes if "*" not in scope}
    | {f"{name}:{right}" for name in SCOPE_OF_KIND.values() for right in ("history", "read")}
    | set(EVENT_SCOPES.values())
    | {"commands", "chat:write.customize", "chat:write.public", "files:read"}
) - {"connections:write", "chat:write.public"}

SEARCH_SCOPES = frozenset(
    f"search:read.{kind}" for kind in ("public", "private", "mpim", "im", "files")
)

UNLIMITED: dict[str, int] = dict.fromkeys(RULES, 1_000_000_000)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of a manifest that change what Slack sends and allows; ``None`` means all.

    ``optional`` are scopes that an installation may request in addition."""

    scopes: frozenset[str]
    events: frozenset[str] | None
    commands: frozenset[str] | None
    escaped_commands: frozenset[str]
    shortcuts: frozenset[str] | None
    agent: bool
    interactive: bool
    home_tab: bool
    messages_tab: bool
    optional: frozenset[str] = frozenset()

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
    optional=SEARCH_SCOPES,
)


@cache
def _tree(text: str) -> Any:
    return yaml.safe_load(text)


def read_manifest(given: Mapping[str, Any] | str | Path | None) -> Manifest:
    """Read a mapping, YAML text or the path of a YAML file; ``None`` grants everything.

    Raises ``ValueError`` for a manifest that Slack would not accept in the parts used here.
    """
    if given is None:
        return EVERYTHING
    if isinstance(given, Path):
        given = given.read_text(encoding="utf-8")
    tree = _tree(given) if isinstance(given, str) else given
    if not isinstance(tree, Mapping):
        raise ValueError("a manifest is a mapping")  # noqa: TRY004
    features = tree.get("features") or {}
    settings = tree.get("settings") or {}
    asked = (tree.get("oauth_config") or {}).get("scopes") or {}
    scopes = asked.get("bot") or []
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
        # People write to agents in their own pane; other apps need a writable messages tab.
        messages_tab=agent
        or (
            bool(home.get("messages_tab_enabled"))
            and not home.get("messages_tab_read_only_enabled")
        ),
        optional=frozenset(asked.get("bot_optional") or []),
    )

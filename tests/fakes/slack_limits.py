"""What Slack allows, as named numbers, and what each method needs.

Sources: https://docs.slack.dev/apis/web-api/rate-limits (tiers), the reference page of each method
(scopes, errors), https://docs.slack.dev/reference/block-kit (lengths) and
https://docs.slack.dev/apis/events-api (acknowledgement and redelivery).
"""

from __future__ import annotations

from dataclasses import dataclass

TEXT = 40_000  # characters of `text` in chat.postMessage
UPDATE_TEXT = 4_000  # characters of `text` in chat.update, which refuses more with msg_too_long
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
SIGNATURE_SECONDS = 300  # older requests are to be refused by the app
PAGE = 1_000  # the largest `limit` of conversations.replies and .history
RESTRICTED_PAGE = 15  # the same for commercially distributed apps outside the Marketplace

TIER_1, TIER_2, TIER_3, TIER_4 = 1, 20, 50, 100  # calls a minute, per method and workspace
SPECIAL = 600  # "special limits": hundreds of calls a minute
POSTS = 60  # chat.postMessage: one a second for each channel, short bursts allowed


@dataclass(frozen=True, slots=True)
class Rule:
    """What a method needs. ``scopes`` that hold a ``*`` are filled in by the kind of channel."""

    calls_a_minute: int
    scopes: tuple[str, ...] = ()
    token: str = "bot"
    by_channel: bool = False


# The kind of channel decides which scope reading it needs.
SCOPE_OF_KIND = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}

RULES: dict[str, Rule] = {
    "agents.sessions.rename": Rule(TIER_3, ("chat:write",)),
    "agents.sessions.setStatus": Rule(TIER_3, ("chat:write",)),
    "api.test": Rule(SPECIAL, token="any"),
    # Tier 1, but every reconnect needs one: Slack lets bursts pass.
    "apps.connections.open": Rule(TIER_2, ("connections:write",), token="app"),
    "assistant.threads.setStatus": Rule(SPECIAL, ("assistant:write", "chat:write")),
    "assistant.threads.setSuggestedPrompts": Rule(SPECIAL, ("assistant:write",)),
    "assistant.threads.setTitle": Rule(SPECIAL, ("assistant:write",)),
    "auth.test": Rule(SPECIAL, token="any"),
    "blocks.validate": Rule(SPECIAL),
    "bots.info": Rule(TIER_3, ("users:read",)),
    "chat.appendStream": Rule(TIER_4, ("chat:write",)),
    "chat.delete": Rule(TIER_3, ("chat:write",)),
    "chat.getPermalink": Rule(SPECIAL),
    "chat.postEphemeral": Rule(TIER_4, ("chat:write",)),
    "chat.postMessage": Rule(POSTS, ("chat:write",), by_channel=True),
    "chat.startStream": Rule(TIER_2, ("chat:write",)),
    "chat.stopStream": Rule(TIER_2, ("chat:write",)),
    "chat.update": Rule(TIER_3, ("chat:write",)),
    "conversations.history": Rule(TIER_3, ("*:history",)),
    "conversations.info": Rule(TIER_3, ("*:read",)),
    "conversations.members": Rule(TIER_4, ("*:read",)),
    "conversations.open": Rule(TIER_3, ("im:write", "mpim:write")),
    "conversations.replies": Rule(TIER_3, ("*:history",)),
    "files.info": Rule(TIER_4, ("files:read",)),
    "reactions.add": Rule(TIER_3, ("reactions:write",)),
    "reactions.remove": Rule(TIER_2, ("reactions:write",)),
    "team.info": Rule(TIER_3, ("team:read",)),
    "usergroups.users.list": Rule(TIER_2, ("usergroups:read",)),
    "users.info": Rule(TIER_4, ("users:read",)),
    "views.open": Rule(TIER_4),
    "views.publish": Rule(TIER_4),
}

# Scope an event needs besides the subscription, https://docs.slack.dev/reference/events
EVENT_SCOPES: dict[str, str] = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
}

# Events only an app declared as an agent gets.
AGENT_EVENTS = frozenset(
    {
        "agent_session_stopped",
        "app_context_changed",
        "assistant_thread_context_changed",
        "assistant_thread_started",
    }
)

ALL_SCOPES = frozenset(
    {scope for rule in RULES.values() for scope in rule.scopes if "*" not in scope}
    | {f"{name}:{right}" for name in SCOPE_OF_KIND.values() for right in ("history", "read")}
    | set(EVENT_SCOPES.values())
    | {"commands", "chat:write.customize", "chat:write.public", "files:read"}
) - {"connections:write", "chat:write.public"}

UNLIMITED: dict[str, int] = dict.fromkeys(RULES, 1_000_000_000)

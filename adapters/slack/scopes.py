"""Scopes of the bot token and their reasons; ``deploy/slack-manifest.yaml`` asks for exactly these.

Sources: https://docs.slack.dev/reference/methods and https://docs.slack.dev/reference/events, each
one's page.
"""

from __future__ import annotations

from collections.abc import Mapping

_READING = ("channels:history", "groups:history", "im:history", "mpim:history")

# Web API method that the adapter calls → scopes.
METHODS: Mapping[str, tuple[str, ...]] = {
    "agents.sessions.setStatus": ("chat:write",),
    "apps.connections.open": (),  # connections:write of the app-level token
    "assistant.threads.setSuggestedPrompts": ("assistant:write",),
    "assistant.threads.setTitle": ("assistant:write",),
    "auth.test": (),
    "chat.appendStream": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.startStream": ("chat:write",),
    "chat.stopStream": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": _READING,
    "conversations.replies": _READING,
    "usergroups.users.list": ("usergroups:read",),
    "users.info": ("users:read",),
    "views.open": (),
    "views.publish": (),
}

# Event as a manifest subscribes to it → scope.
EVENTS: Mapping[str, str] = {
    "agent_session_stopped": "chat:write",
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "app_uninstalled": "",
    "assistant_thread_started": "assistant:write",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "tokens_revoked": "",
}

# What is neither called nor subscribed to.
OTHER = (
    "commands",  # slash commands and the message shortcut
    "files:read",  # fetching a file that came with a question
)


# What is called only where collections name user groups: apps without it work as well.
FOR_USER_GROUPS = "usergroups:read"


def needed() -> frozenset[str]:
    """Every scope that the manifest asks for."""
    called = {scope for scopes in METHODS.values() for scope in scopes}
    return frozenset(called | set(filter(None, EVENTS.values())) | set(OTHER))

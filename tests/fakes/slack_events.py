"""Events, commands and interactions in the shapes Slack sends them.

https://docs.slack.dev/apis/events-api, https://docs.slack.dev/reference/interaction-payloads
"""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from tests.fakes.slack_limits import EVENT_SCOPES
from tests.fakes.slack_workspace import (
    APP_ID,
    VERIFICATION_TOKEN,
    Channel,
    Json,
    Message,
    Workspace,
)


def callback(ws: Workspace, event: Json) -> Json:
    """Return the envelope of an event."""
    ended = event.get("type") in ("tokens_revoked", "app_uninstalled")
    shared = str(event.get("channel")) in ws.channels and ws.is_shared(event["channel"])
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": event.get("team") or ws.team,  # the place of the event, perhaps another team
        "enterprise_id": ws.enterprise,
        "context_team_id": ws.team,
        "context_enterprise_id": ws.enterprise,
        "api_app_id": APP_ID,
        "event": event,
        "type": "event_callback",
        "event_id": ws.new_id("Ev"),
        "event_time": int(float(event.get("event_ts") or ws.clock.ts())),
        "authorizations": []
        if ended  # the app has no authorization left
        else [
            {
                "enterprise_id": ws.enterprise,
                "team_id": None if ws.whole else ws.team,
                "user_id": ws.bot_user,
                "is_bot": True,
                "is_enterprise_install": ws.whole,
            }
        ],
        "is_ext_shared_channel": shared,
        "event_context": f"4-{ws.new_id('ctx')}",
    }


def _new_token(ws: Workspace, message: Message) -> Json:
    """Return the action token for the event of a person's message, if the app may search."""
    if not any(scope.startswith("search:read") for scope in ws.scopes):
        return {}
    token = f"{secrets.randbelow(10**10)}.{secrets.token_hex(8)}"
    ws.action_tokens[token] = (message.user, ws.clock.now())
    return {"action_token": token}


def endings(ws: Workspace) -> list[Json]:
    """Return the events that Slack sends when the app is uninstalled."""
    revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [ws.bot_user]}}
    return [
        {**revoked, "event_ts": ws.clock.ts()},
        {"type": "app_uninstalled", "event_ts": ws.clock.ts()},
    ]


def subscription(event: Json) -> str:
    """Return the name under which a manifest subscribes to ``event``."""
    if event["type"] != "message":
        return str(event["type"])
    kinds = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
    return f"message.{kinds[event['channel_type']]}"


def message_posted(ws: Workspace, message: Message) -> Json:
    """Return the event ``message``, which Slack also sends for the bot's own posts."""
    shown = ws.message_json(message, metadata=False)
    for key in ("reply_count", "reply_users", "latest_reply", "reactions"):
        shown.pop(key, None)
    kind = ws.channels[message.channel].kind
    return {
        **shown,
        "channel": message.channel,
        "channel_type": kind,
        "event_ts": message.ts,
        **(_new_token(ws, message) if kind == "im" and message.bot_id is None else {}),
    }


def app_mention(ws: Workspace, message: Message) -> Json:
    """Return ``app_mention`` for the same message, without files and channel type."""
    event = message_posted(ws, message)
    for key in ("files", "channel_type", "subtype", "upload"):
        event.pop(key, None)
    return {**event, "type": "app_mention", **_new_token(ws, message)}


def link_shared(ws: Workspace, message: Message, urls: list[str], source: str) -> Json:
    """https://docs.slack.dev/reference/events/link_shared"""
    links = [{"domain": urlsplit(url).hostname, "url": url} for url in urls]
    return {
        "type": "link_shared",
        "channel": "COMPOSER" if source == "composer" else message.channel,
        "is_bot_user_member": ws.bot_user in ws.channels[message.channel].members,
        "user": message.user,
        "message_ts": ws.new_id("draft-") if source == "composer" else message.ts,
        **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
        "unfurl_id": ws.new_id("unfurl"),
        "source": source,
        "links": links,
        "event_ts": message.ts,
    }


def message_changed(ws: Workspace, message: Message, before: Json) -> Json:
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": ws.message_json(message),
        "previous_message": before,
        "channel": message.channel,
        "hidden": True,
        "ts": (when := ws.clock.ts()),
        "event_ts": when,
        "channel_type": ws.channels[message.channel].kind,
    }


def message_deleted(ws: Workspace, message: Message, before: Json) -> Json:
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": before,
        "channel": message.channel,
        "hidden": True,
        "deleted_ts": message.ts,
        "ts": (when := ws.clock.ts()),
        "event_ts": when,
        "channel_type": ws.channels[message.channel].kind,
    }


def reaction_added(ws: Workspace, user: str, name: str, message: Message) -> Json:
    return {
        "type": "reaction_added",
        "user": user,
        "reaction": name,
        "item": {"type": "message", "channel": message.channel, "ts": message.ts},
        "item_user": message.user,
        "event_ts": ws.clock.ts(),
    }


def member_joined(ws: Workspace, user: str, channel: Channel) -> Json:
    return {
        "type": "member_joined_channel",
        "user": user,
        "channel": channel.id,
        "channel_type": "C" if channel.kind == "channel" else "G",
        "team": ws.team,
        "event_ts": ws.clock.ts(),
    }


def home_opened(ws: Workspace, user: str, channel: str, tab: str) -> Json:
    event: Json = {
        "type": "app_home_opened",
        "user": user,
        "channel": channel,
        "tab": tab,
        "event_ts": ws.clock.ts(),
    }
    return {**event, "view": ws.views[user]} if user in ws.views and tab == "home" else event


def context_changed(ws: Workspace, user: str, entities: list[Json], *, typed: bool) -> Json:
    """Return ``app_context_changed``.

    Its page shows an event that is only a context, with the person in ``authorizations``; the types
    of Slack's SDK (``typed``) name the person and the conversation with the app.
    https://docs.slack.dev/reference/events/app_context_changed
    """
    event: Json = {
        "type": "app_context_changed",
        "context": {"entities": entities} if entities else {},
    }
    if typed:
        event |= {"user": user, "channel": ws.im(user).id, "event_ts": ws.clock.ts()}
    return event


def needed_scope(event: Json) -> str | None:
    """Return the scope an app needs to receive ``event``."""
    if event["type"] == "member_joined_channel":
        return "channels:read" if event["channel_type"] == "C" else "groups:read"
    return EVENT_SCOPES.get(subscription(event))


def session_stopped(ws: Workspace, user: str, channel: str, root: str, streams: list[str]) -> Json:
    return {
        "type": "agent_session_stopped",
        "channel": channel,
        "thread_ts": root,
        "user": user,
        "streaming_message_ts": streams,
        "event_ts": ws.clock.ts(),
    }


# --- commands and interactions ---


def command(
    ws: Workspace,
    user: str,
    channel: Channel,
    name: str,
    text: str,
    response_url: str,
    trigger: str,
) -> dict[str, str]:
    """Return the payload of a slash command: a flat form without a thread."""
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": ws.team,
        "team_domain": ws.domain,
        "channel_id": channel.id,
        "channel_name": channel.shown_name,
        "user_id": user,
        "user_name": ws.users[user].name,
        "command": name,
        "text": text,
        "api_app_id": APP_ID,
        "is_enterprise_install": str(ws.whole).lower(),
        **({"enterprise_id": ws.enterprise} if ws.enterprise else {}),
        "response_url": response_url,
        "trigger_id": trigger,
    }


def _interaction(ws: Workspace, kind: str, user: str, trigger: str) -> Json:
    name, team = ws.users[user].name, ws.users[user].team
    return {
        "type": kind,
        "token": VERIFICATION_TOKEN,
        "team": {"id": ws.team, "domain": ws.domain},
        "enterprise": {"id": ws.enterprise, "name": ws.name} if ws.enterprise else None,
        "is_enterprise_install": ws.whole,
        "api_app_id": APP_ID,
        "user": {"id": user, "username": name, "name": name, "team_id": team},
        "trigger_id": trigger,
    }


def message_action(
    ws: Workspace, user: str, callback_id: str, message: Message, response_url: str, trigger: str
) -> Json:
    """Return the payload of a message shortcut."""
    return {
        **_interaction(ws, "message_action", user, trigger),
        "action_ts": ws.clock.ts(),
        "callback_id": callback_id,
        "channel": _place(ws, message.channel),
        "message_ts": message.ts,
        "message": ws.message_json(message),
        "response_url": response_url,
    }


def message_press(
    ws: Workspace, user: str, message: Message, action: Json, response_url: str, trigger: str
) -> Json:
    """Return ``block_actions`` from a message."""
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": message.ephemeral_to is not None,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    press = {
        **_interaction(ws, "block_actions", user, trigger),
        "container": container,
        "channel": _place(ws, message.channel),
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [action],
    }
    # The payload has no ephemeral message, only its place.
    return press if message.ephemeral_to else {**press, "message": ws.message_json(message)}


def pressed(ws: Workspace, block_id: str, element: Json, value: str | None) -> Json:
    """Return the ``actions`` entry for a pressed button, or a chosen option of a menu."""
    action: Json = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block_id,
        "action_ts": ws.clock.ts(),
    }
    if element["type"] == "static_select":
        options = element["options"]
        found = [one for one in options if value in (None, one["value"])]
        if not found:
            raise AssertionError(f"no option has the value {value!r}")
        return {**action, "selected_option": found[0], "placeholder": element["placeholder"]}
    if element["type"] == "feedback_buttons":  # the same payload, whether chosen or taken back
        halves = (element["positive_button"], element["negative_button"])
        element = next(half for half in halves if value in (None, half["value"]))
    action["text"] = element["text"]
    if "value" in element:
        action["value"] = element["value"]
    return action


def _place(ws: Workspace, channel: str) -> Json:
    return {"id": channel, "name": ws.channels[channel].shown_name}

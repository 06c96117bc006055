"""The methods that read, agent sessions, the assistant pane, and views."""

from __future__ import annotations

import base64
import math
from typing import TypeVar

from tests.fakes.slack_call import Fault, Refused, faults_in_view, number_of, text_of, truth
from tests.fakes.slack_chat import need_scope, readable, writable
from tests.fakes.slack_limits import PAGE, SCOPE_OF_KIND, STATUS_PROMPTS, TITLE, TRIGGER_SECONDS
from tests.fakes.slack_stream import SESSION_STATES
from tests.fakes.slack_workspace import APP_ID, Channel, Json, Message, Session, Workspace

T = TypeVar("T")


def auth_test(ws: Workspace, args: Json) -> Json:
    return {
        "ok": True,
        "url": f"https://{ws.domain}.slack.com/",
        "team": ws.name,
        "user": ws.users[ws.bot_user].name,
        "team_id": ws.team,
        "user_id": ws.bot_user,
        "bot_id": ws.bot_id,
        "enterprise_id": ws.enterprise,
        "is_enterprise_install": ws.whole,
    }


def users_info(ws: Workspace, args: Json) -> Json:
    user = ws.users.get(text_of(args, "user"))
    if user is None:
        raise Refused("user_not_found")
    return {"ok": True, "user": user.json(truth(args.get("include_locale")))}


def user_group(ws: Workspace, args: Json) -> Json:
    team = text_of(args, "team_id")
    if ws.whole and not team:  # the token is valid for many workspaces
        raise Refused("missing_argument")
    if team and team != ws.team:
        raise Refused("team_not_found")
    members = ws.user_groups.get(text_of(args, "usergroup"))
    if members is None:
        raise Refused("no_such_subteam")
    return {"ok": True, "users": sorted(members)}


def conversations_info(ws: Workspace, args: Json) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.info"""
    channel = ws.channels.get(text_of(args, "channel"))
    is_public = channel is not None and channel.kind == "channel"
    if channel is None or not (is_public or ws.bot_user in channel.members):
        raise Refused("channel_not_found")
    need_scope(ws, f"{SCOPE_OF_KIND[channel.kind]}:read")
    about = {
        "id": channel.id,
        "name": channel.name,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "channel",
        "is_archived": channel.archived,
        "is_shared": channel.org or ws.is_shared(channel.id),
        "is_org_shared": channel.org,
        "is_ext_shared": ws.is_shared(channel.id),
    }
    return {"ok": True, "channel": about}


def conversations_open(ws: Workspace, args: Json) -> Json:
    """Open the direct conversation with one person; returns the one there is, if any.

    https://docs.slack.dev/reference/methods/conversations.open
    """
    users = text_of(args, "users")
    if not users or "channel" in args:
        raise Refused("invalid_arguments", "[ERROR] only one user is known here")
    user = ws.users.get(users)
    if user is None:
        raise Refused("user_not_found")
    if user.is_bot:
        raise Refused("cannot_dm_bot")
    there = any(place.kind == "im" and user.id in place.members for place in ws.channels.values())
    already: Json = {"no_op": True, "already_open": True} if there else {}
    return {"ok": True, **already, "channel": {"id": ws.im(user.id).id}}


def files_info(ws: Workspace, args: Json) -> Json:
    """https://docs.slack.dev/reference/methods/files.info"""
    file = ws.files.get(text_of(args, "file"))
    if file is not None and file.deleted:
        raise Refused("file_deleted")
    if file is None or not ws.shows_bot(file):
        raise Refused("file_not_found")
    return {"ok": True, "file": ws.file_json(file), "comments": []}


def conversations_replies(ws: Workspace, args: Json) -> Json:
    channel = _inside(ws, args)
    root = ws.find(channel.id, text_of(args, "ts"))
    if root is None or root.ephemeral_to:
        raise Refused("thread_not_found")
    return _listing(ws, args, ws.thread(channel.id, root.root), keep=root.root)


def conversations_history(ws: Workspace, args: Json) -> Json:
    channel = _inside(ws, args)
    top = [
        m for m in ws.in_channel(channel.id) if m.root == m.ts or m.subtype == "thread_broadcast"
    ]
    return _listing(ws, args, top[::-1], keep=None)


def _inside(ws: Workspace, args: Json) -> Channel:
    channel = readable(ws, text_of(args, "channel"))
    if ws.bot_user not in channel.members:
        raise Refused("not_in_channel")
    return channel


def _listing(ws: Workspace, args: Json, found: list[Message], keep: str | None) -> Json:
    """Return a page of messages; ``keep`` is the thread's root, the first on each page."""
    oldest, latest = _moment(args, "oldest", 0.0), _moment(args, "latest", math.inf)
    edges = truth(args.get("inclusive"))
    within = [
        message
        for message in found
        if message.ephemeral_to is None
        and message.ts != keep
        and (
            oldest < float(message.ts) < latest or (edges and float(message.ts) in (oldest, latest))
        )
    ]
    page, more = _page(within, args, 100 if keep is None else PAGE)
    root = [message for message in found if message.ts == keep]
    metadata = truth(args.get("include_all_metadata"))
    reply: Json = {
        "ok": True,
        "messages": [ws.message_json(message, metadata) for message in [*root, *page]],
        "has_more": bool(more),
    }
    return {**reply, "response_metadata": {"next_cursor": more}} if more else reply


def _moment(args: Json, name: str, default: float) -> float:
    try:
        return float(args.get(name) or default)
    except (TypeError, ValueError):
        raise Refused(f"invalid_ts_{name}") from None


def _page(items: list[T], args: Json, default: int) -> tuple[list[T], str]:
    limit = number_of(args, "limit", default)
    if not 1 <= limit <= PAGE:
        raise Refused("invalid_limit")
    try:
        start = int(base64.b64decode(args["cursor"], validate=True)) if args.get("cursor") else 0
    except ValueError:
        raise Refused("invalid_cursor") from None
    end = start + limit
    more = base64.b64encode(str(end).encode()).decode() if end < len(items) else ""
    return items[start:end], more


NO_STOP_EVENT = "missing_agent_session_stopped_event_subscription"


def set_session_status(ws: Workspace, args: Json) -> Json:
    channel = _agent_channel(ws, args)
    if not args.get("thread_ts"):
        raise Refused("thread_ts_required")
    status = args["status"]
    if status not in SESSION_STATES:
        raise Refused("invalid_status")
    if len(text_of(args, "title")) > TITLE:
        raise Refused("invalid_arguments", f"[ERROR] must be less than {TITLE + 1} characters")
    root = _root(ws, channel, args)
    session = ws.sessions.setdefault((channel.id, root), Session(status, args.get("title")))
    session.status = status
    session.history.append(status)
    reply: Json = {"ok": True, "status": status, "agent_status": status, "title": session.title}
    if status == "processing" and not ws.manifest.subscribes("agent_session_stopped"):
        reply |= {"warning": NO_STOP_EVENT, "response_metadata": {"warnings": [NO_STOP_EVENT]}}
    return reply


def _agent_channel(ws: Workspace, args: Json) -> Channel:
    if not ws.manifest.agent:
        raise Refused("feature_disabled")
    channel = readable(ws, text_of(args, "channel_id"))
    if ws.bot_user not in channel.members:
        raise Refused("not_authorized")
    return channel


def _root(ws: Workspace, channel: Channel, args: Json) -> str:
    message = ws.find(channel.id, text_of(args, "thread_ts"))
    if message is None:
        raise Refused("thread_not_found")
    return message.root


# --- the assistant pane, reported to retire in February 2027 ---


def set_prompts(ws: Workspace, args: Json) -> Json:
    prompts = args["prompts"]
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= STATUS_PROMPTS:
        raise Refused("invalid_arguments", f"[ERROR] 1 to {STATUS_PROMPTS} prompts")
    for prompt in prompts:
        if not isinstance(prompt, dict) or set(prompt) != {"title", "message"}:
            raise Refused("invalid_arguments", "[ERROR] a prompt is a title and a message")
    _assistant(ws, args)["prompts"] = {"title": args.get("title"), "prompts": prompts}
    return {"ok": True}


def _assistant(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel_id"), users_open_ims=False)
    root = text_of(args, "thread_ts")
    if root and ws.find(channel.id, root) is None:
        raise Refused("thread_not_found")
    return ws.assistant.setdefault((channel.id, root), {})


# --- views ---


def publish_view(ws: Workspace, args: Json) -> Json:
    user = text_of(args, "user_id")
    if user not in ws.users:
        raise Refused("user_not_found")
    if not ws.manifest.home_tab:
        raise Refused("not_enabled")
    _refuse_view(faults_in_view(args["view"], ("home",)))
    current = ws.views.get(user)
    if args.get("hash") and current and current["hash"] != args["hash"]:
        raise Refused("hash_conflict")
    ws.views[user] = _view(ws, args["view"], current["id"] if current else None)
    return {"ok": True, "view": ws.views[user]}


def open_view(ws: Workspace, args: Json) -> Json:
    use_trigger(ws, text_of(args, "trigger_id"))
    _refuse_view(faults_in_view(args["view"], ("modal",)))
    view = _view(ws, args["view"], None)
    ws.modals.append(view)
    return {"ok": True, "view": view}


def use_trigger(ws: Workspace, trigger: str) -> None:
    made, used = ws.triggers.get(trigger, (None, False))
    if made is None:
        raise Refused("invalid_trigger_id")
    if used:
        raise Refused("exchanged_trigger_id")
    if ws.clock.now() - made > TRIGGER_SECONDS:
        raise Refused("expired_trigger_id")
    ws.triggers[trigger] = (made, True)


def _refuse_view(faults: list[Fault]) -> None:
    if faults:
        raise Refused("invalid_arguments", *(fault.line("/view") for fault in faults))


def _view(ws: Workspace, view: Json, old: str | None) -> Json:
    blocks = [{"block_id": ws.new_id("b"), **block} for block in view["blocks"]]
    names: Json = {"id": old or ws.new_id("V"), "hash": ws.clock.ts(), "team_id": ws.team}
    return {**view, **names, "blocks": blocks, "app_id": APP_ID, "bot_id": ws.bot_id}

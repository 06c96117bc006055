"""Methods that read: conversations, people, files, the app itself."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import TypeVar

from tests.fakes.slack_call import Refused, number_of, text_of, truth
from tests.fakes.slack_chat import readable
from tests.fakes.slack_limits import PAGE
from tests.fakes.slack_workspace import APP_ID, Channel, Json, Message, Workspace

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


def api_test(ws: Workspace, args: Json) -> Json:
    if args.get("error"):
        raise Refused(text_of(args, "error"))
    return {"ok": True, "args": args}


def team_info(ws: Workspace, args: Json) -> Json:
    if args.get("team", ws.team) != ws.team:
        raise Refused("team_not_found")
    return {"ok": True, "team": {"id": ws.team, "name": ws.name, "domain": ws.domain}}


def bots_info(ws: Workspace, args: Json) -> Json:
    if args.get("bot", ws.bot_id) != ws.bot_id:
        raise Refused("bot_not_found")
    bot = {"id": ws.bot_id, "app_id": APP_ID, "user_id": ws.bot_user, "name": "footnote"}
    return {"ok": True, "bot": {**bot, "deleted": False}}


def users_info(ws: Workspace, args: Json) -> Json:
    user = ws.users.get(text_of(args, "user"))
    if user is None:
        raise Refused("user_not_found")
    return {"ok": True, "user": user.json(truth(args.get("include_locale")))}


def user_group(ws: Workspace, args: Json) -> Json:
    team = text_of(args, "team_id")
    if ws.whole and not team:  # the token is good for many workspaces
        raise Refused("missing_argument")
    if team and team != ws.team:
        raise Refused("team_not_found")
    members = ws.user_groups.get(text_of(args, "usergroup"))
    if members is None:
        raise Refused("no_such_subteam")
    return {"ok": True, "users": sorted(members)}


def files_info(base: Callable[[], str]) -> Callable[[Workspace, Json], Json]:
    def handler(ws: Workspace, args: Json) -> Json:
        file = ws.files.get(text_of(args, "file"))
        if file is None:
            raise Refused("file_not_found")
        return {"ok": True, "file": file.json(base())}

    return handler


def conversations_info(ws: Workspace, args: Json) -> Json:
    channel = readable(ws, text_of(args, "channel"))
    shown = channel.json(ws)
    if truth(args.get("include_num_members")):
        shown["num_members"] = len(channel.members)
    if truth(args.get("include_locale")):
        shown["locale"] = "en-US"
    return {"ok": True, "channel": shown}


def conversations_members(ws: Workspace, args: Json) -> Json:
    channel = readable(ws, text_of(args, "channel"))
    page, more = _page(sorted(channel.members), args, 100)
    return {"ok": True, "members": page, "response_metadata": {"next_cursor": more}}


def conversations_open(ws: Workspace, args: Json) -> Json:
    users = args.get("users", "")
    names = users if isinstance(users, list) else [one for one in str(users).split(",") if one]
    if args.get("channel"):
        return {"ok": True, "channel": {"id": readable(ws, args["channel"]).id}}
    if len(names) != 1:
        raise Refused("users_list_not_supplied" if not names else "method_not_supported")
    if names[0] not in ws.users:
        raise Refused("user_not_found")
    channel = ws.im(names[0])
    whole = truth(args.get("return_im"))
    return {"ok": True, "channel": channel.json(ws) if whole else {"id": channel.id}}


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
    """A page of messages; ``keep``: the thread's root, which opens every page of a thread."""
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

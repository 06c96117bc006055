"""Slack's Real-time Search API, with the rights of the person whose event had the action token.

https://docs.slack.dev/apis/web-api/real-time-search-api,
https://docs.slack.dev/reference/methods/assistant.search.context
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.fakes.slack_call import Refused, number_of, text_of, truth
from tests.fakes.slack_chat import need_scope
from tests.fakes.slack_files import File
from tests.fakes.slack_workspace import Channel, Json, Message, Workspace

ACTION_SECONDS = 600.0  # a token is valid for some minutes
LONGEST_PAGE = 20
AROUND = 3  # messages of context on each side

KINDS = {"public_channel": "channel", "private_channel": "group", "mpim": "mpim", "im": "im"}
SCOPES = {
    "public_channel": "search:read.public",
    "private_channel": "search:read.private",
    "mpim": "search:read.mpim",
    "im": "search:read.im",
}
CONTENT = frozenset({"messages", "files", "channels", "users"})
ARGUMENTS = dict.fromkeys(
    [
        *("action_token", "channel_types", "content_types", "include_bots", "before", "after"),
        *("include_deleted_users", "include_context_messages", "context_channel_id", "cursor"),
        *("limit", "sort", "sort_dir", "include_message_blocks", "highlight", "term_clauses"),
        *("modifiers", "include_archived_channels", "disable_semantic_search"),
    ],
    False,
) | {"query": True}


def search(ws: Workspace, args: Json) -> Json:
    query = text_of(args, "query").strip()
    if not query:
        raise Refused("invalid_arguments", "[ERROR] query must not be empty")
    kinds = _listed(args, "channel_types", "public_channel", KINDS)
    contents = _listed(args, "content_types", "messages", CONTENT)
    for kind in kinds:
        need_scope(ws, SCOPES[kind])
    if "files" in contents:
        need_scope(ws, "search:read.files")
    person = _person(ws, text_of(args, "action_token"))
    limit = number_of(args, "limit", LONGEST_PAGE)
    if not 1 <= limit <= LONGEST_PAGE:
        raise Refused("invalid_limit")
    after, before = number_of(args, "after", 0), number_of(args, "before", 2**40)
    kept = {KINDS[kind] for kind in kinds}
    places = [c for c in ws.channels.values() if c.kind in kept and _may_see(ws, person, c)]
    results: Json = {}
    if "messages" in contents:
        found = [
            (_score(query, message.text), message)
            for channel in places
            for message in _said(ws, channel, bots=truth(args.get("include_bots")))
            if after <= float(message.ts) < before
        ]
        best = sorted((one for one in found if one[0]), key=lambda one: (-one[0], one[1].ts))
        context = truth(args.get("include_context_messages"))
        results["messages"] = [_shown(ws, m, context=context) for _, m in best[:limit]]
    if "files" in contents:
        files = [
            (_score(query, _words(file)), file)
            for file in _files(ws, person, places)
            if after <= file.created < before
        ]
        nearest = sorted((one for one in files if one[0]), key=lambda one: (-one[0], one[1].id))
        results["files"] = [_shown_file(ws, file) for _, file in nearest[:limit]]
    return {"ok": True, "results": results, "response_metadata": {"next_cursor": ""}}


def info(ws: Workspace, args: Json) -> Json:
    return {"ok": True, "is_ai_search_enabled": False}


def _listed(args: Json, name: str, default: str, known: object) -> list[str]:
    given = [each.strip() for each in text_of({name: args.get(name) or default}, name).split(",")]
    if any(each not in known for each in given):  # type: ignore[operator]
        raise Refused("invalid_arguments", f"[ERROR] {name}")
    return given


def _person(ws: Workspace, token: str) -> str:
    if not token or token not in ws.action_tokens:
        raise Refused("invalid_action_token")
    person, made = ws.action_tokens[token]
    if ws.clock.now() - made > ACTION_SECONDS:
        raise Refused("invalid_action_token")
    return person


def _may_see(ws: Workspace, person: str, channel: Channel) -> bool:
    user = ws.users[person]
    is_guest = user.is_restricted or user.is_ultra_restricted or user.is_stranger
    return person in channel.members or (channel.kind == "channel" and not is_guest)


def _said(ws: Workspace, channel: Channel, *, bots: bool) -> Iterator[Message]:
    for message in ws.in_channel(channel.id):
        if message.ephemeral_to is None and (bots or message.bot_id is None):
            yield message


def _files(ws: Workspace, person: str, places: list[Channel]) -> Iterator[File]:
    """Yield the files in these channels, and the person's files that are shared nowhere."""
    for file in ws.files.values():
        shared = ws.places_of(file)
        is_own = not shared and file.user == person
        if not file.deleted and (is_own or any(place in places for place in shared)):
            yield file


def _words(file: File) -> str:
    return f"{file.title} {file.name} {file.excerpt or ''} {file.content.decode(errors='replace')}"


def _shown_file(ws: Workspace, file: File) -> Json:
    author = ws.users[file.user]
    shown: Json = {
        "author_user_id": author.id,
        "author_name": author.name,
        "team_id": ws.team,
        "file_id": file.id,
        "date_created": int(file.created),
        "date_updated": int(file.created),
        "title": file.title or file.name,
        "file_type": file.kind,
        "permalink": file.permalink,
    }
    return shown if file.excerpt is None else {**shown, "content": file.excerpt}


def _score(query: str, text: str) -> float:
    """Return the fraction of the query's words that a text contains; 0 below one half."""
    wanted = set(re.findall(r"\w+", query.casefold()))
    share = len(wanted & set(re.findall(r"\w+", text.casefold()))) / len(wanted or {""})
    return share if share >= 0.5 else 0.0


def permalink(ws: Workspace, message: Message) -> str:
    link = (
        f"https://{ws.domain}.slack.com/archives/{message.channel}/p{message.ts.replace('.', '')}"
    )
    if message.thread_ts and message.thread_ts != message.ts:
        link += f"?thread_ts={message.thread_ts}&cid={message.channel}"
    return link


def _shown(ws: Workspace, message: Message, *, context: bool) -> Json:
    channel, author = ws.channels[message.channel], ws.users[message.user]
    shown: Json = {
        "author_name": author.name,
        "author_user_id": author.id,
        "team_id": ws.team,
        "channel_id": channel.id,
        "channel_name": channel.name,
        "message_ts": message.ts,
        "content": message.text,
        "is_author_bot": author.is_bot,
        "permalink": permalink(ws, message),
    }
    if context:
        around = [m for m in _said(ws, channel, bots=False) if m.root == message.root]
        at = around.index(message)
        before, after = around[max(0, at - AROUND) : at], around[at + 1 : at + 1 + AROUND]
        shown["context_messages"] = {
            "before": [_brief(ws, each) for each in before],
            "after": [_brief(ws, each) for each in after],
        }
    return shown


def _brief(ws: Workspace, message: Message) -> Json:
    return {"user_id": message.user, "text": message.text, "ts": message.ts}

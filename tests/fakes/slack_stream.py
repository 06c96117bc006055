"""chat.startStream, appendStream and stopStream: a message that grows.

Streams accept ``chunks`` in plan mode, as the app sends them. A stream holds a limited number of
characters, ends by itself after some minutes or when its reader presses Stop, and then accepts no
more. https://docs.slack.dev/reference/methods/chat.startStream
"""

from __future__ import annotations

import copy
from typing import Any

from tests.fakes import slack_events as events
from tests.fakes.slack_call import Refused, characters_in_cells, text_of
from tests.fakes.slack_chat import (
    bot_message,
    checked_blocks,
    checked_metadata,
    named,
    writable,
)
from tests.fakes.slack_limits import MARKDOWN, MESSAGE_BLOCKS, STREAM_CHARACTERS, TASK_FIELD
from tests.fakes.slack_screen import rich_text
from tests.fakes.slack_workspace import Channel, Json, Message, Stream, Workspace

TASK_STATES = ("pending", "in_progress", "complete", "error")
SESSION_STATES = ("active", "processing", "suspended", "closed")

# What a chunk must and may carry besides its type: slack_sdk.models.messages.chunk
_CHUNKS = {
    "markdown_text": ({"text"}, set[str]()),
    "blocks": ({"blocks"}, set[str]()),
    "plan_update": ({"title"}, set[str]()),
    "task_update": ({"id", "title", "status"}, {"details", "output", "sources"}),
}


def start(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel"), users_open_ims=False)
    if args.get("task_display_mode") != "plan" or "markdown_text" in args:
        raise Refused("invalid_arguments", "[ERROR] only chunks in plan mode are known here")
    recipient = _recipient(ws, channel, args)
    message = bot_message(ws, channel, "", text_of(args, "thread_ts"))
    stream = Stream(ws.clock.now(), recipient=recipient)
    message.stream = stream
    _grow(stream, args)
    _show(message, [])
    ws.keep(message)
    ws.emit(events.message_posted(ws, message))
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def append(ws: Workspace, args: Json) -> Json:
    message, stream = _running(ws, args)
    if not args.get("chunks"):
        raise Refused("markdown_text_or_chunks_required")
    _grow(stream, args)
    _show(message, [])
    return {"ok": True, "channel": message.channel, "ts": message.ts}


def stop(ws: Workspace, args: Json) -> Json:
    message, stream = _running(ws, args)
    final = checked_blocks(args["blocks"]) if args.get("blocks") else []
    metadata = checked_metadata(args["metadata"]) if "metadata" in args else None
    status = args.get("session_status", "active")
    if status not in SESSION_STATES:
        raise Refused("invalid_arguments", "[ERROR] invalid session_status")
    before = ws.message_json(message)
    _grow(stream, args)
    stream.state = "stopped"
    _show(message, final)
    if not message.blocks:
        stream.state = "streaming"
        raise Refused("no_text")
    message.metadata = metadata or message.metadata
    session = ws.sessions.get((message.channel, message.root))
    if session is not None:
        session.status = status
        session.history.append(status)
    ws.emit(events.message_changed(ws, message, before))
    shown = ws.message_json(message)
    return {"ok": True, "channel": message.channel, "ts": message.ts, "message": shown}


def _recipient(ws: Workspace, channel: Channel, args: Json) -> str | None:
    user, team = text_of(args, "recipient_user_id"), text_of(args, "recipient_team_id")
    if channel.kind != "im":
        if not user:
            raise Refused("missing_recipient_user_id")
        if not team:
            raise Refused("missing_recipient_team_id")
    if user and user not in ws.users:
        raise Refused("user_not_found")
    if team and team != (ws.users[user].team if user else ws.team):
        raise Refused("team_not_found")
    return user or None


def _running(ws: Workspace, args: Json) -> tuple[Message, Stream]:
    channel = writable(ws, text_of(args, "channel"), users_open_ims=False)
    message = ws.find(channel.id, text_of(args, "ts"))
    if message is None:
        raise Refused("message_not_found")
    if message.bot_id != ws.bot_id:
        raise Refused("message_not_owned_by_app")
    if message.stream is not None and message.stream.state == "stopped_by_user":
        raise Refused("stopped_by_user")
    if message.stream is None or message.stream.state != "streaming":
        raise Refused("message_not_in_streaming_state")
    return message, message.stream


def _grow(stream: Stream, args: Json) -> None:
    """Add the call's chunks: all of them or, if any is refused, none."""
    chunks = args.get("chunks") or []
    if not isinstance(chunks, list):
        raise Refused("invalid_chunks")
    size = sum(_checked_size(chunk, number) for number, chunk in enumerate(chunks))
    if stream.characters + size > STREAM_CHARACTERS:
        raise Refused("msg_too_long")
    stream.characters += size
    given = [block for chunk in chunks for block in chunk.get("blocks", ())]
    checked_blocks([*stream.shown, *given])  # what bounds a message bounds all of a stream
    for chunk in chunks:
        _take(stream, chunk)


def _checked_size(chunk: Any, number: int) -> int:
    """Return the number of characters that a chunk uses."""

    def wrong(what: str) -> Refused:
        return Refused("invalid_chunks", f"[ERROR] {what} [json-pointer:/chunks/{number}]")

    if not isinstance(chunk, dict) or chunk.get("type") not in _CHUNKS:
        raise wrong("unknown type of chunk")
    required, allowed = _CHUNKS[chunk["type"]]
    keys = set(chunk) - {"type"}
    if not required <= keys <= required | allowed:
        raise wrong(f"missing or unknown: {sorted(keys ^ required)}")
    if chunk["type"] == "blocks":
        if not isinstance(chunk["blocks"], list) or not 1 <= len(chunk["blocks"]) <= MESSAGE_BLOCKS:
            raise wrong(f"1 to {MESSAGE_BLOCKS} blocks")
        return characters_in_cells(checked_blocks(chunk["blocks"]))
    texts = {key: chunk[key] for key in keys if key != "sources"}
    if not all(isinstance(text, str) and len(text) <= MARKDOWN for text in texts.values()):
        raise wrong("must be a string of bearable length")
    if any(len(texts.get(key, "")) > TASK_FIELD for key in ("details", "output")):
        raise wrong(f"details and output hold {TASK_FIELD} characters")
    if chunk["type"] == "task_update":
        if not chunk["id"] or not chunk["title"] or chunk["status"] not in TASK_STATES:
            raise wrong("a task has an id, a title and a status")
        for source in chunk.get("sources", []):
            if set(source) != {"type", "url", "text"} or source["type"] != "url":
                raise wrong("a source is type, url and text")
            if not source["text"] or not source["url"].startswith(("http://", "https://")):
                raise wrong("a source leads to the web and says where")
    return sum(len(text) for key, text in texts.items() if key not in ("id", "status"))


def _take(stream: Stream, chunk: Json) -> None:
    """Apply a chunk: replace title and status, append details, output and new sources."""
    match chunk["type"]:
        case "markdown_text":
            stream.text += chunk["text"]
            if stream.shown and stream.shown[-1]["type"] == "markdown":
                stream.shown[-1]["text"] += chunk["text"]
            else:
                stream.shown.append({"type": "markdown", "text": chunk["text"]})
        case "blocks":
            stream.shown += chunk["blocks"]
        case "plan_update":
            stream.plan_title = chunk["title"]
        case "task_update":
            new = {"id": chunk["id"], "details": "", "output": "", "sources": []}
            task = stream.tasks.setdefault(chunk["id"], new)
            task["title"], task["status"] = chunk["title"], chunk["status"]
            task["details"] += chunk.get("details", "")
            task["output"] += chunk.get("output", "")
            task["sources"] += chunk.get("sources", [])


def _show(message: Message, final: list[Json]) -> None:
    """Update the message as it looks now: ``text`` and ``blocks`` follow the stream."""
    stream = message.stream
    assert stream is not None
    blocks: list[Json] = []
    if stream.plan_title or stream.tasks:
        cards = [_card(task) for task in stream.tasks.values()]
        blocks.append({"type": "plan", "title": stream.plan_title or "", "tasks": cards})
    blocks += copy.deepcopy(stream.shown)
    message.text = stream.text
    message.blocks = named(blocks + final)


def _card(task: Json) -> Json:
    card: Json = {
        "type": "task_card",
        "task_id": task["id"],
        "title": task["title"],
        "status": task["status"],
    }
    for key in ("details", "output"):
        if task[key]:
            card[key] = rich_text(task[key].replace("<", "&lt;"), key)
    if task["sources"]:
        card["sources"] = task["sources"]
    return card

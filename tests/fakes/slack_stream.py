"""chat.startStream, appendStream and stopStream: a message that grows.

A stream takes either ``markdown_text`` or ``chunks`` for its whole life, holds a limited number of
characters, ends by itself after some minutes or when its reader presses Stop, and from then on
refuses to grow. https://docs.slack.dev/reference/methods/chat.startStream
"""

from __future__ import annotations

from typing import Any

from tests.fakes import slack_events as events
from tests.fakes.slack_blocks import faults_in_blocks
from tests.fakes.slack_call import Refused, text_of
from tests.fakes.slack_chat import (
    bot_message,
    checked_blocks,
    checked_metadata,
    named,
    need_scope,
    refusal_of_blocks,
    writable,
)
from tests.fakes.slack_limits import MARKDOWN, MESSAGE_BLOCKS, STREAM_CHARACTERS, TASK_FIELD
from tests.fakes.slack_words import rich_text
from tests.fakes.slack_workspace import Channel, Json, Message, Stream, Workspace

DISPLAYS = ("timeline", "plan", "dense")
TASK_STATES = ("pending", "in_progress", "complete", "error")
SESSION_STATES = ("active", "processing", "suspended", "closed")

# What a chunk may and must carry besides its type: slack_sdk.models.messages.chunk
_CHUNKS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "markdown_text": (frozenset({"text"}), frozenset({"text"})),
    "plan_update": (frozenset({"title"}), frozenset({"title"})),
    "task_update": (
        frozenset({"id", "title", "status"}),
        frozenset({"id", "title", "status", "details", "output", "sources"}),
    ),
    "blocks": (frozenset({"blocks"}), frozenset({"blocks"})),
}


def start(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel"), users_open_ims=False)
    display = args.get("task_display_mode", "timeline")
    if display not in DISPLAYS:
        raise Refused("invalid_arguments", "[ERROR] must be timeline or plan: task_display_mode")
    recipient = _recipient(ws, channel, args)
    if any(args.get(key) for key in ("username", "icon_emoji", "icon_url")):
        need_scope(ws, "chat:write.customize")
    message = bot_message(ws, channel, "", text_of(args, "thread_ts"))
    stream = Stream(ws.clock.now(), display, recipient=recipient)
    message.stream = stream
    _grow(stream, args)
    _show(message, [])
    ws.keep(message)
    ws.emit(events.message_posted(ws, message))
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def append(ws: Workspace, args: Json) -> Json:
    message, stream = _running(ws, args)
    if not args.get("markdown_text") and not args.get("chunks"):
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
    """Adds the call's content, all of it or, when any part is refused, none."""
    markdown, chunks = text_of(args, "markdown_text"), args.get("chunks") or []
    if markdown and chunks:
        raise Refused("cannot_provide_both_markdown_text_and_chunks")
    if not markdown and not chunks:
        return
    mode = "markdown_text" if markdown else "chunks"
    if stream.mode not in (None, mode):
        raise Refused("streaming_mode_mismatch")
    if markdown:
        chunks = [{"type": "markdown_text", "text": markdown}]
    if not isinstance(chunks, list):
        raise Refused("invalid_chunks")
    sizes = [_checked_chunk(chunk, number) for number, chunk in enumerate(chunks)]
    if stream.characters + sum(sizes) > STREAM_CHARACTERS:
        raise Refused("msg_too_long")
    shown = [block for part in stream.parts if part["type"] == "blocks" for block in part["blocks"]]
    new = [block for chunk in chunks if chunk["type"] == "blocks" for block in chunk["blocks"]]
    if len(shown) + len(new) > MESSAGE_BLOCKS:
        raise Refused("msg_blocks_too_many")
    stream.mode = mode
    stream.characters += sum(sizes)
    for chunk in chunks:
        _take(stream, chunk)


def _checked_chunk(chunk: Any, number: int) -> int:
    """The characters a chunk counts for."""
    where = f"[json-pointer:/chunks/{number}]"
    if not isinstance(chunk, dict) or chunk.get("type") not in _CHUNKS:
        raise Refused("invalid_chunks", f"[ERROR] unknown type of chunk {where}")
    required, allowed = _CHUNKS[chunk["type"]]
    keys = set(chunk) - {"type"}
    if required - keys or keys - allowed:
        wrong = ", ".join(sorted((required - keys) | (keys - allowed)))
        raise Refused("invalid_chunks", f"[ERROR] missing or unknown: {wrong} {where}")
    texts = [key for key in keys if key not in ("sources", "blocks")]
    if any(not isinstance(chunk[key], str) for key in texts):
        raise Refused("invalid_chunks", f"[ERROR] must be a string {where}")
    match chunk["type"]:
        case "blocks":
            faults = faults_in_blocks(chunk["blocks"])
            if faults:
                raise refusal_of_blocks(faults, f"/chunks/{number}/blocks")
            return 0
        case "task_update":
            _check_task(chunk, where)
        case "markdown_text" if len(chunk["text"]) > MARKDOWN:
            raise Refused("msg_too_long")
    return sum(len(chunk[key]) for key in texts if key not in ("id", "status"))


def _check_task(chunk: Json, where: str) -> None:
    if not chunk["id"] or not chunk["title"]:
        raise Refused("invalid_chunks", f"[ERROR] id and title must not be empty {where}")
    if chunk["status"] not in TASK_STATES:
        raise Refused("invalid_chunks", f"[ERROR] invalid status {where}")
    for key in ("details", "output"):
        if len(chunk.get(key, "")) > TASK_FIELD:
            raise Refused("invalid_chunks", f"[ERROR] {key} exceeds {TASK_FIELD} {where}")
    sources = chunk.get("sources", [])
    if not isinstance(sources, list):
        raise Refused("invalid_chunks", f"[ERROR] sources must be an array {where}")
    for source in sources:
        whole = isinstance(source, dict) and set(source) == {"type", "url", "text"}
        if not whole or source["type"] != "url" or not source["text"]:
            raise Refused("invalid_chunks", f"[ERROR] a source is type, url and text {where}")
        if not str(source["url"]).startswith(("http://", "https://")):
            raise Refused("invalid_chunks", f"[ERROR] invalid url {where}")


def _take(stream: Stream, chunk: Json) -> None:
    match chunk["type"]:
        case "markdown_text":
            if stream.parts and stream.parts[-1]["type"] == "markdown":
                stream.parts[-1]["text"] += chunk["text"]
            else:
                stream.parts.append({"type": "markdown", "text": chunk["text"]})
        case "plan_update":
            stream.plan_title = chunk["title"]
        case "task_update":
            _take_task(stream, chunk)
        case "blocks":
            stream.parts.append({"type": "blocks", "blocks": named(chunk["blocks"])})


def _take_task(stream: Stream, chunk: Json) -> None:
    """Title and status are replaced; details and output grow; new sources join the old ones."""
    task = stream.tasks.get(chunk["id"])
    if task is None:
        task = {"id": chunk["id"], "details": "", "output": "", "sources": []}
        stream.tasks[chunk["id"]] = task
        if stream.display == "timeline" or len(stream.tasks) == 1:
            stream.parts.append({"type": "task", "id": chunk["id"]})
    task["title"], task["status"] = chunk["title"], chunk["status"]
    task["details"] += chunk.get("details", "")
    task["output"] += chunk.get("output", "")
    task["sources"] += chunk.get("sources", [])


def _show(message: Message, final: list[Json]) -> None:
    """What the message looks like now: ``text`` and ``blocks`` follow the stream."""
    stream = message.stream
    assert stream is not None
    blocks: list[Json] = []
    for part in stream.parts:
        match part["type"]:
            case "markdown":
                blocks.append({"type": "markdown", "text": part["text"]})
            case "blocks":
                blocks += part["blocks"]
            case "task" if stream.display == "timeline":
                blocks.append(_card(stream.tasks[part["id"]]))
            case "task":
                blocks.append(_plan(stream))
    if stream.plan_title and not stream.tasks and stream.display != "timeline":
        blocks.insert(0, _plan(stream))
    message.text = "".join(part["text"] for part in stream.parts if part["type"] == "markdown")
    message.blocks = named(blocks + final)


def _plan(stream: Stream) -> Json:
    cards = [_card(task) for task in stream.tasks.values()]
    return {"type": "plan", "title": stream.plan_title or "", "tasks": cards}


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

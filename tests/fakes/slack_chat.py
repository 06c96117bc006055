"""The chat.* methods that post, change and remove whole messages, and response URLs."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.fakes import slack_events as events
from tests.fakes.slack_call import (
    MESSAGES_ONLY,
    Refused,
    fault_in_metadata,
    faults_in_blocks,
    text_of,
    truth,
)
from tests.fakes.slack_limits import (
    BLOCK_CHARACTERS,
    RESPONSE_URL_SECONDS,
    RESPONSE_URL_USES,
    TEXT,
    UPDATE_TEXT,
)
from tests.fakes.slack_screen import plain
from tests.fakes.slack_workspace import Channel, Json, Message, Workspace

_TS = re.compile(r"\d{10}\.\d{6}")


def post_message(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel"))
    message = _composed(ws, channel, args, TEXT)
    ws.keep(message)
    ws.emit(events.message_posted(ws, message))
    shown = ws.message_json(message)
    return {"ok": True, "channel": channel.id, "ts": message.ts, "message": shown}


def post_ephemeral(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel"))
    if text_of(args, "user") not in channel.members:
        raise Refused("user_not_in_channel")
    message = _composed(ws, channel, args, TEXT)
    message.ephemeral_to = args["user"]
    ws.keep(message)
    return {"ok": True, "message_ts": message.ts}


def update(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel"), users_open_ims=False)
    message = own_message(ws, channel, text_of(args, "ts"), "cant_update_message")
    if message.stream is not None and message.stream.state == "streaming":
        raise Refused("streaming_state_conflict")
    text, blocks = _content(args, UPDATE_TEXT)
    if not text and blocks is None and "metadata" not in args and "attachments" not in args:
        raise Refused("no_text")
    metadata = _metadata(args)
    before = ws.message_json(message)
    if text or blocks is not None:
        message.text = text or plain(blocks)
        # With text and no blocks Slack removes the old blocks.
        message.blocks = named(blocks) if blocks else []
        message.attachments = args.get("attachments") or []
        message.stream = None  # the update replaces the streamed content
    if text and not blocks:
        message.edited = {"user": ws.bot_user, "ts": ws.clock.ts()}
    if metadata is not None:
        message.metadata = metadata or None
    ws.emit(events.message_changed(ws, message, before))
    shown = ws.message_json(message)
    return {
        "ok": True,
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": shown,
    }


def delete(ws: Workspace, args: Json) -> Json:
    channel = writable(ws, text_of(args, "channel"), users_open_ims=False)
    message = own_message(ws, channel, text_of(args, "ts"), "cant_delete_message")
    if message.stream is not None and message.stream.state == "streaming":
        raise Refused("cant_delete_message")  # the stream has to be stopped first
    ws.emit(removed(ws, message))
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def unfurl(ws: Workspace, args: Json) -> Json:
    """Attach previews to a person's message, or change those there are.

    https://docs.slack.dev/reference/methods/chat.unfurl
    """
    if "unfurl_id" in args or "source" in args:
        raise Refused("invalid_arguments", "[ERROR] only channel and ts are known here")
    channel = ws.channels.get(text_of(args, "channel"))
    if channel is None or ws.bot_user not in channel.members:
        raise Refused("cannot_find_channel")
    message = ws.find(channel.id, text_of(args, "ts"))
    unfurls = args.get("unfurls")
    if not isinstance(unfurls, dict) or not unfurls:
        raise Refused("missing_unfurls")
    before = ws.message_json(message) if message else {}
    for url, shown in unfurls.items():
        if message is None or url not in message.text or message.bot_id == ws.bot_id:
            raise Refused("cannot_unfurl_message")
        if urlsplit(url).hostname not in ws.unfurl_domains:
            raise Refused("cannot_unfurl_url")
        if not isinstance(shown, dict) or set(shown) != {"blocks"}:
            raise Refused("cannot_parse_attachment")
        if any(block.get("type") in MESSAGES_ONLY for block in checked_blocks(shown["blocks"])):
            raise Refused("cannot_parse_attachment")
        others = [one for one in message.attachments if one.get("from_url") != url]
        blocks = named(shown["blocks"])
        message.attachments = [*others, {"from_url": url, "is_app_unfurl": True, "blocks": blocks}]
    assert message is not None
    ws.emit(events.message_changed(ws, message, before))
    return {"ok": True}


# --- shared by several methods ---


def readable(ws: Workspace, channel: str) -> Channel:
    """Return a channel the bot can see: a public one, or one it is in."""
    found = ws.channels.get(channel)
    if found is None or (found.kind != "channel" and ws.bot_user not in found.members):
        raise Refused("channel_not_found")
    return found


def writable(ws: Workspace, channel: str, users_open_ims: bool = True) -> Channel:
    """Return a channel the bot may write to; a user's id means the direct conversation."""
    if users_open_ims and channel in ws.users and not ws.users[channel].is_bot:
        channel = ws.im(channel).id
    found = readable(ws, channel)
    if found.kind == "im" and not ws.manifest.messages_tab:
        raise Refused("messages_tab_disabled")
    if found.archived:
        raise Refused("is_archived")
    if ws.bot_user not in found.members and "chat:write.public" not in ws.scopes:
        raise Refused("not_in_channel")
    return found


def thread_root(ws: Workspace, channel: Channel, thread_ts: str) -> Message:
    """Return the root of a thread; as in Slack, a reply's ts also means its thread."""
    if not _TS.fullmatch(thread_ts):
        raise Refused("invalid_thread_ts")
    root = ws.find(channel.id, thread_ts)
    if root is None:
        raise Refused("thread_not_found")
    if root.ephemeral_to or root.subtype in ("channel_join", "channel_topic"):
        raise Refused("cannot_reply_to_message")
    return root


def own_message(ws: Workspace, channel: Channel, ts: str, refusal: str) -> Message:
    message = ws.find(channel.id, ts)
    if message is None or message.ephemeral_to:
        raise Refused("message_not_found")
    if message.bot_id != ws.bot_id:
        raise Refused(refusal)
    return message


def checked_blocks(blocks: Any) -> list[Json]:
    """Return valid blocks; refuse others with ``invalid_blocks`` and Slack's list of faults."""
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    faults = faults_in_blocks(blocks)
    if faults:
        raise Refused("invalid_blocks", *(fault.line("/blocks") for fault in faults))
    if len(json.dumps(blocks, ensure_ascii=False)) > BLOCK_CHARACTERS:
        raise Refused("msg_blocks_too_long")
    return blocks


def named(blocks: list[Json]) -> list[Json]:
    """Return blocks, with Slack's ``block_id`` where the app set none."""
    return [{"block_id": secrets.token_urlsafe(4)[:5], **block} for block in blocks]


def checked_metadata(metadata: Any) -> Json:
    fault = fault_in_metadata(metadata)
    if fault:
        raise Refused(fault)
    return dict(metadata)


def removed(ws: Workspace, message: Message) -> Json:
    """Delete a message; return the event.

    A message with replies becomes a tombstone, which Slack reports as a change. The tombstone
    disappears with the last reply, without an event.
    """
    before = ws.message_json(message)
    replies = [one for one in ws.thread(message.channel, message.ts) if one.ts != message.ts]
    if any(one.ephemeral_to is None for one in replies):
        message.text, message.blocks, message.files = "This message was deleted.", [], []
        message.user, message.subtype, message.bot_id = "USLACKBOT", "tombstone", None
        message.client_msg_id = message.metadata = message.edited = message.stream = None
        return events.message_changed(ws, message, before)
    ws.drop(message.channel, message.ts)
    root = ws.find(message.channel, message.root)
    if root is not None and root.subtype == "tombstone":
        left = ws.thread(message.channel, message.root)
        if not any(one.ts != root.ts and one.ephemeral_to is None for one in left):
            ws.drop(root.channel, root.ts)
    return events.message_deleted(ws, message, before)


def bot_message(ws: Workspace, channel: Channel, text: str, thread_ts: str | None) -> Message:
    root = thread_root(ws, channel, thread_ts).root if thread_ts else None
    return Message(channel.id, ws.clock.ts(), ws.bot_user, text, root, bot_id=ws.bot_id)


def _composed(ws: Workspace, channel: Channel, args: Json, limit: int) -> Message:
    text, blocks = _content(args, limit)
    attachments = args.get("attachments") or []
    if not text.strip() and not blocks and not attachments:
        raise Refused("no_text")
    metadata = _metadata(args)
    message = bot_message(ws, channel, text or plain(blocks), text_of(args, "thread_ts"))
    if truth(args.get("reply_broadcast")):
        message.subtype = "thread_broadcast"
    message.blocks = named(blocks or [])
    message.attachments = attachments
    message.metadata = metadata or None
    return message


def need_scope(ws: Workspace, *scopes: str) -> None:
    """Refuse unless the app has one of ``scopes``."""
    if scopes and not ws.scopes & set(scopes):
        provided = ",".join(sorted(ws.scopes))
        raise Refused("missing_scope", needed=scopes[0], provided=provided)


def _content(args: Json, limit: int) -> tuple[str, list[Json] | None]:
    text = text_of(args, "text")
    if len(text) > limit:
        raise Refused("msg_too_long")
    if "blocks" not in args:
        return text, None
    return text, checked_blocks(args["blocks"])


def _metadata(args: Json) -> Json | None:
    return checked_metadata(args["metadata"]) if "metadata" in args else None


_KEYS = frozenset(
    {
        *("attachments", "blocks", "delete_original", "metadata", "replace_original"),
        *("response_type", "text", "thread_ts", "unfurl_links", "unfurl_media"),
    }
)


@dataclass(slots=True)
class ResponseUrl:
    user: str
    channel: str
    made: float
    original: Message | None
    received: list[Json] = field(default_factory=list)


class ResponseUrls:
    """Makes response URLs and receives what is posted to them."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._urls: dict[str, ResponseUrl] = {}
        self.lifetime = RESPONSE_URL_SECONDS

    def make(self, base: str, user: str, channel: str, original: Message | None = None) -> str:
        name = secrets.token_hex(8)
        self._urls[name] = ResponseUrl(user, channel, self._ws.clock.now(), original)
        return f"{base}/respond/{name}"

    def owns(self, name: str) -> bool:
        return name in self._urls

    def received(self, url: str) -> list[Json]:
        """Return the responses posted to ``url`` so far."""
        return list(self._urls[url.rpartition("/")[2]].received)

    def take(self, name: str, body: Any) -> Json:
        url = self._urls.get(name)
        if url is None or self._ws.clock.now() - url.made > self.lifetime:
            raise Refused("expired_url")
        if len(url.received) >= RESPONSE_URL_USES:
            raise Refused("used_url")
        self.show(url.user, url.channel, body, url.original)
        url.received.append(body)
        return {"ok": True}

    def show(self, user: str, channel: str, body: Any, original: Message | None = None) -> None:
        """Apply a response to the conversation. Raises ``Refused``."""
        if not isinstance(body, dict) or set(body) - _KEYS:
            raise Refused("invalid_payload")
        if truth(body.get("delete_original")):
            if original is not None and self._ws.find(original.channel, original.ts):
                self._ws.drop(original.channel, original.ts)
            return
        text, blocks = body.get("text", ""), body.get("blocks")
        if not text and not blocks and not body.get("attachments"):
            raise Refused("no_text")
        if len(text) > TEXT:
            raise Refused("msg_too_long")
        if blocks is not None:
            checked_blocks(blocks)
        kind = body.get("response_type", "ephemeral")
        if kind not in ("ephemeral", "in_channel"):
            raise Refused("invalid_response_type")
        if original is not None and truth(body.get("replace_original", kind == "ephemeral")):
            original.text, original.blocks = text or plain(blocks), named(blocks or [])
            return
        message = Message(
            channel, self._ws.clock.ts(), self._ws.bot_user, text, body.get("thread_ts")
        )
        message.bot_id, message.blocks = self._ws.bot_id, named(blocks or [])
        message.ephemeral_to = user if kind == "ephemeral" else None
        self._ws.keep(message)
        if kind == "in_channel":
            self._ws.emit(events.message_posted(self._ws, message))

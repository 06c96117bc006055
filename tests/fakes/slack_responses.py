"""Response URLs: a short-lived way to answer a command or an interaction.

https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from tests.fakes import slack_events as events
from tests.fakes.slack_blocks import faults_in_blocks
from tests.fakes.slack_call import Refused, truth
from tests.fakes.slack_chat import named, refusal_of_blocks
from tests.fakes.slack_limits import RESPONSE_URL_SECONDS, RESPONSE_URL_USES, TEXT
from tests.fakes.slack_words import plain
from tests.fakes.slack_workspace import Json, Message, Workspace

_KEYS = frozenset(
    {
        "attachments",
        "blocks",
        "delete_original",
        "metadata",
        "replace_original",
        "response_type",
        "text",
        "thread_ts",
        "unfurl_links",
        "unfurl_media",
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
    """Makes them and takes what is posted to them."""

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
        """What was posted to ``url`` so far."""
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
        """What a response does to the conversation; raises ``Refused``."""
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
            faults = faults_in_blocks(blocks)
            if faults:
                raise refusal_of_blocks(faults, "/blocks")
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

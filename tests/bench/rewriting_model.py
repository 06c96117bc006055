"""A model's rewriting for the bench: asked, recorded, or replayed from a transcript.

A transcript is a JSONL file; each line is one of

    {"key": "<SHA-256 of the request>", "turn": "2019/31_4", "reply": {"model": ..., "content": ...,
     "stop_reason": ..., "input_tokens": ..., ...}}
        a reply to exactly that request (prompt, schema and thread included), as ``--record`` writes
        it: the fields are those of ``bot.reasoning.reasoner.ModelReply``;
    {"turn": "2019/31_4", "question": "What are the symptoms of throat cancer?"}
        the question a model made of a turn, from wherever it comes; a line may hold any other
        field of the rewriting's JSON (``kind``, ``queries``, ...) beside it.

A turn is the set, a slash, the topic's number, an underscore, the turn's number. A request with a
line of its own is answered by it, else the line of its turn is. Both go through the code that runs
in production: the request that is built, and the checks of the reply.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter

from bot.errors import ModelUnavailable
from bot.reasoning.calls import ModelReply, Text
from bot.reasoning.evidence import AnswerDelta
from bot.storage.journal import step_key
from tests.unit.samples import NOW

_reply = TypeAdapter(ModelReply)

UNSAID: dict[str, Any] = {"kind": "search"}
"""The fields that are missing in a line that only gives a question."""


@dataclass
class Replies:
    """Replies by request and by turn; new ones are written to ``record``, in the order made."""

    by_key: dict[str, ModelReply] = field(default_factory=dict)
    by_turn: dict[str, ModelReply] = field(default_factory=dict)
    record: IO[str] | None = None

    @classmethod
    def read(cls, path: Path, record: IO[str] | None = None) -> Replies:
        """Raises ``ValueError`` naming the line that cannot be read."""
        replies = cls(record=record)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if line.strip():
                try:
                    replies._add(json.loads(line))
                except (ValueError, KeyError, TypeError) as error:
                    raise ValueError(f"{path}, line {number}: {error}") from None
        return replies

    def _add(self, line: dict[str, Any]) -> None:
        if "reply" in line:
            self.by_key[line["key"]] = _reply.validate_python(line["reply"])
            return
        turn = line["turn"]
        if not isinstance(line["question"], str):
            raise TypeError('"question" must be a string')
        said = {name: line[name] for name in line if name != "turn"}
        content = (Text(json.dumps({**UNSAID, **said}, ensure_ascii=False)),)
        self.by_turn[turn] = ModelReply("transcript", content, "end_turn")

    def keep(self, key: str, turn: str, reply: ModelReply) -> None:
        self.by_key[key] = reply
        if self.record is not None:
            line = {"key": key, "turn": turn, "reply": asdict(reply)}
            self.record.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.record.flush()


@dataclass
class TurnCalls:
    """The calls made for one turn. Implements ``ModelCalls``. ``asks`` allows real ones."""

    turn: str
    replies: Replies
    asks: bool
    now: datetime = NOW
    made: list[ModelReply] = field(default_factory=list)

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply:
        key = step_key(kind, request)
        reply = self.replies.by_key.get(key) or self.replies.by_turn.get(self.turn)
        if reply is None:
            if not self.asks:
                raise ModelUnavailable(f"The transcript has no reply for turn {self.turn}.")
            reply = await send()
            self.replies.keep(key, self.turn, reply)
            self.made.append(reply)
        return reply

    def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        raise NotImplementedError("rewriting does not stream")

    def count_lost(self, reply: ModelReply) -> None:
        self.made.append(reply)

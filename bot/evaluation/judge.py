"""A model that grades answers against the expected ones; grades are stored for reuse."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from bot.answers import Answer
from bot.errors import Invalid, ModelBroken
from bot.evaluation.questions import Case
from bot.evaluation.scoring import Verdict
from bot.reasoning.calls import ModelReply
from bot.reasoning.declaration import chosen_reasoner, price_of, who_answers
from bot.reasoning.model.judge import parse_verdict, request
from bot.reasoning.model.requests import Request, Unusable, repair
from bot.rendering.marks import without_marks
from bot.settings import Settings


class Completes(Protocol):
    """The part of ``reasoning.model.service.Service`` that a judge needs."""

    async def complete(self, request: Request) -> ModelReply: ...


class Judge:
    """Grades answers with the large model; ``kept`` is a file with one verdict per line."""

    def __init__(self, settings: Settings, endpoint: Completes, kept: Path) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._file = kept
        self._kept = dict(_read(kept))

    def stored_verdict(self, case: Case, turn: int, answer: Answer) -> Verdict | None:
        """Return the stored verdict on an answer, or None."""
        return self._kept.get(_key(self._request(case, turn, answer)))

    async def verdict(self, case: Case, turn: int, answer: Answer) -> Verdict:
        """Return the verdict on the answer to a turn of a case, stored or from a new call.

        A malformed reply is repaired once. Raises ``ModelBroken`` if the repaired reply is
        malformed too, ``ModelUnavailable``, ``CredentialsRefused`` and ``InvalidSetting``.
        """
        request = self._request(case, turn, answer)
        key = _key(request)
        if key in self._kept:
            return self._kept[key]
        replies: list[ModelReply] = []
        for _ in range(2):
            reply = await self._endpoint.complete(request)
            replies.append(reply)
            try:
                grade, reason = parse_verdict(reply)
            except Unusable as unusable:
                request = repair(request, reply, unusable.problem)
                continue
            verdict = Verdict(grade, reason, *self._spent(replies))
            self._keep(key, verdict)
            return verdict
        raise ModelBroken(
            f"{who_answers(self._settings)} did not grade “{case.turns[turn].question}” in the "
            "form asked for: try again, or set FOOTNOTE_MODEL to another model."
        )

    def _request(self, case: Case, turn: int, answer: Answer) -> Request:
        expected = case.turns[turn].answer
        return request(
            who_answers(self._settings),
            case.texts[: turn + 1],
            expected,
            without_marks(answer.text),
        )

    def _spent(self, replies: list[ModelReply]) -> tuple[int, int, float]:
        read = sum(r.input_tokens + r.cache_read_tokens + r.cache_write_tokens for r in replies)
        usd = sum(price_of(self._settings, r) or 0.0 for r in replies)
        return read, sum(r.output_tokens for r in replies), usd

    def _keep(self, key: str, verdict: Verdict) -> None:
        self._kept[key] = verdict
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, **asdict(verdict)}, ensure_ascii=False) + "\n")


@asynccontextmanager
async def open_judge(settings: Settings, kept: Path) -> AsyncIterator[Judge]:
    """Open a judge that stores verdicts in the file ``kept``. Raises ``Invalid`` without a
    model."""
    reasoner = chosen_reasoner(settings)
    if reasoner.service is None:
        raise Invalid("--judge needs a model: set ANTHROPIC_API_KEY, or leave --judge out.")
    endpoint = reasoner.service(settings)
    try:
        yield Judge(settings, endpoint, kept)
    finally:
        await endpoint.aclose()


def _key(request: Request) -> str:
    return hashlib.sha256(json.dumps(request.as_json(), sort_keys=True).encode()).hexdigest()


def _read(file: Path) -> list[tuple[str, Verdict]]:
    """Read the verdicts in a file, ignoring a line cut off by a crash."""
    found = []
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else ()
    for line in lines:
        try:
            fields = json.loads(line)
            found.append((fields.pop("key"), Verdict(**fields)))
        except (ValueError, TypeError, KeyError):
            continue
    return found

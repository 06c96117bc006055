"""A model that grades answers against the expected ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from bot.core.answers import Answer
from bot.core.errors import Invalid, ModelBroken
from bot.core.settings import Settings
from bot.evaluation.questions import Case
from bot.evaluation.scoring import Verdict
from bot.reasoning.calls import ModelReply, Request, Unusable, repair
from bot.reasoning.judgement_prompts import grade_request, parse_verdict
from bot.reasoning.reasoner import chosen_reasoner, price_of, who_answers
from bot.rendering.marks import without_marks


class Completes(Protocol):
    """The part of ``reasoning.model.service.Service`` that a judge needs."""

    async def complete(self, request: Request) -> ModelReply: ...


class Judge:
    """Grades answers with the large model."""

    def __init__(self, settings: Settings, endpoint: Completes) -> None:
        self._settings = settings
        self._endpoint = endpoint

    async def verdict(self, case: Case, turn: int, answer: Answer) -> Verdict:
        """Return the verdict on the answer to a turn of a case.

        A malformed reply is repaired once. Raises ``ModelBroken`` if the repaired reply is
        malformed too, ``ModelUnavailable``, ``CredentialsRefused`` and ``InvalidSetting``.
        """
        model = who_answers(self._settings)
        given = without_marks(answer.text)
        asking = grade_request(model, case.texts[: turn + 1], case.turns[turn].answer, given)
        usd = 0.0
        for _ in range(2):
            reply = await self._endpoint.complete(asking)
            usd += price_of(self._settings, reply) or 0.0
            try:
                grade, reason = parse_verdict(reply)
            except Unusable as unusable:
                asking = repair(asking, reply, unusable.problem)
                continue
            return Verdict(grade, reason, usd)
        question = case.turns[turn].question
        raise ModelBroken(f"{model} did not grade “{question}” in the expected form.")


@asynccontextmanager
async def open_judge(settings: Settings) -> AsyncIterator[Judge]:
    """Open a judge. Raises ``Invalid`` without a model."""
    reasoner = chosen_reasoner(settings)
    if reasoner.service is None:
        raise Invalid("--judge needs a model: set ANTHROPIC_API_KEY, or leave --judge out.")
    endpoint = reasoner.service(settings)
    try:
        yield Judge(settings, endpoint)
    finally:
        await endpoint.aclose()

"""Request and response types of the JSON API, from which its description is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from adapters.web.limits import MOST_FILES
from adapters.web.reply_state import ReplyState
from adapters.web.turns import Turn
from bot.core.messages import (
    MAX_QUESTION,
    Answer,
    Depth,
    Judgement,
    PlanView,
    Status,
    StepState,
    VerificationState,
)
from bot.rendering.documents import answer_document

RunState = Literal["accepted", "running", "answered", "partial", "not_found", "failed", "stopped"]


class Question(BaseModel):
    """A question. ``thread`` is the conversation to continue; empty begins one. ``again`` are the
    URLs of files that were sent in it before and are to be read for this question too."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=MAX_QUESTION, examples=["Who built it?"])
    depth: Depth = "auto"
    thread: str = Field(default="", max_length=300)
    again: tuple[str, ...] = Field(default=(), max_length=MOST_FILES)


class File(BaseModel):
    """A file of a question; ``again`` tells that it was sent with an earlier question."""

    name: str
    media_type: str
    url: str
    again: bool


class Accepted(BaseModel):
    """An accepted question. ``new`` is false if the same request came before; ``ahead`` is the
    number of questions of its thread that are answered first."""

    run: str
    thread: str
    new: bool
    ahead: int
    url: str
    events: str


class Cited(BaseModel):
    number: int
    url: str
    title: str
    heading: str
    quote: str
    via: str


class Step(BaseModel):
    kind: str
    title: str
    state: StepState
    seconds: float


class PlanStep(Step):
    """``parent`` is the step that this one belongs to; ``needs`` are steps that must end first."""

    id: str
    detail: str
    sources: list[str]
    parent: str
    needs: list[str]


class Plan(BaseModel):
    title: str
    steps: list[PlanStep]


class Spent(BaseModel):
    model_calls: int
    searches: int
    pages: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    seconds: float
    usd: float


class DoubtDocument(BaseModel):
    sentence: str
    reason: str


class DisagreementDocument(BaseModel):
    sentence: str
    number: int
    quote: str


class ChangeDocument(BaseModel):
    """A sentence of the answer to a standing question, before and now; "" if it was or is not
    there."""

    before: str
    after: str


class VerifiedDocument(BaseModel):
    """A cited sentence with the small model's verdict. ``words`` are those that the quotes do not
    support; ``now`` is the sentence that replaced it."""

    sentence: str
    verdict: Judgement
    words: str
    outcome: Literal["kept", "marked", "restated", "left_out"]
    now: str


class VerificationDocument(BaseModel):
    """The verification of an answer, which may still be amended while ``pending``. ``problem`` says
    why sentences were not verified."""

    state: VerificationState
    problem: str
    sentences: list[VerifiedDocument]


class AnswerDocument(BaseModel):
    """An answer as `footnote ask --json` prints it. ``answer`` is Markdown with ``[n]`` marks."""

    status: Status
    answer: str
    citations: list[Cited]
    question: str
    queries: list[str]
    reasoner: str
    steps: list[Step]
    usage: Spent
    doubts: list[DoubtDocument]
    disagreements: list[DisagreementDocument]
    changes: list[ChangeDocument]
    corrects: bool
    notes: list[str]
    suggestions: list[str]
    missing: list[str]
    verification: VerificationDocument | None
    run: str


class Run(BaseModel):
    """A run: ``plan`` and ``text`` while it works, ``answer`` once it has one."""

    run: str
    thread: str
    state: RunState
    question: str
    depth: Depth
    asked_by: str
    asked_at: datetime
    files: list[File]
    plan: Plan | None
    text: str
    answer: AnswerDocument | None


class Conversation(BaseModel):
    """A thread with its questions in order."""

    thread: str
    key: str
    runs: list[Run]


class Text(BaseModel):
    """The whole text of the answer so far."""

    text: str


class Removed(BaseModel):
    """The run whose question was deleted."""

    run: str


class Stopping(BaseModel):
    """``stopping`` is false if there was nothing to stop."""

    run: str
    stopping: bool


class Failure(BaseModel):
    """An error and what to do, in one sentence."""

    error: str


def run_document(turn: Turn, thread: str) -> Run:
    now = turn.reply_state
    return Run(
        run=turn.run,
        thread=thread,
        state=turn.state,  # type: ignore[arg-type]
        question=turn.question,
        depth=turn.depth,  # type: ignore[arg-type]
        asked_by=turn.author,
        asked_at=turn.asked_at,
        files=[File(**asdict(file)) for file in turn.files],
        plan=None if now.plan is None else plan_document(now.plan),
        text=now.text,
        answer=None if now.answer is None else finished_document(now.answer),
    )


def plan_document(plan: PlanView) -> Plan:
    return Plan(
        title=plan.title,
        steps=[
            PlanStep(**asdict(replace(step, seconds=round(step.seconds, 3)))) for step in plan.steps
        ],
    )


def finished_document(answer: Answer) -> AnswerDocument:
    return AnswerDocument.model_validate(answer_document(answer))


# The data of each kind of event.
EVENTS: Mapping[str, type[BaseModel]] = {
    "plan": Plan,
    "text": Text,
    "answer": AnswerDocument,
    "removed": Removed,
}


def change_documents(before: ReplyState | None, now: ReplyState) -> list[tuple[str, BaseModel]]:
    """Return the events (kind and data) for a reply that showed ``before``, None if that is no
    longer known."""
    if now.answer is not None:
        return [("answer", finished_document(now.answer))]
    told: list[tuple[str, BaseModel]] = []
    if now.plan is not None and (before is None or now.plan != before.plan):
        told.append(("plan", plan_document(now.plan)))
    if before is None or now.text != before.text:
        told.append(("text", Text(text=now.text)))
    return told

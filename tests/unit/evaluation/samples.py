"""Answers and results with sensible defaults."""

from __future__ import annotations

from typing import Any

from bot.core.messages import Answer, Citation, StepView, Usage
from bot.evaluation.questions import Case, CaseTurn, QuestionSet
from bot.evaluation.scoring import Result, Verdict, score


def a_citation(quote: str = "It is 330 m tall.", **parts: Any) -> Citation:
    fields: dict[str, Any] = {
        "number": 1,
        "url": "file:///docs/tower.md",
        "title": "Tower",
        "quote": quote,
        "page_hash": "h",
        "start": 0,
        "end": len(quote),
    }
    return Citation(**{**fields, **parts})


def a_read(url: str = "file:///docs/tower.md", title: str = "Tower") -> StepView:
    return StepView(url, "read", title, "done", sources=(url,))


def an_answer(text: str = "It is 330 m tall [1].", **parts: Any) -> Answer:
    fields: dict[str, Any] = {
        "status": "answered",
        "text": text,
        "question": "How tall is it?",
        "run": "r1",
        "citations": (a_citation(),),
        "steps": (a_read(),),
        "reasoner": "claude",
        "usage": Usage(2, 1, 1, 1_000, 100, 500, 1.5, 0.01),
    }
    return Answer(**{**fields, **parts})


REFUSAL = an_answer("> Nothing was found.", status="not_found", citations=())
FAILURE = an_answer("It broke.", status="failed", citations=())
GOOD = an_answer()
POOR = an_answer("It is tall [1].")


def a_set(*questions: CaseTurn | tuple[CaseTurn, ...]) -> QuestionSet:
    cases = [
        Case(number, each if isinstance(each, tuple) else (each,))
        for number, each in enumerate(questions, start=1)
    ]
    return QuestionSet("tower.yaml", tuple(cases))


def a_result(turn: CaseTurn, answer: Answer, verdict: Verdict | None = None) -> Result:
    scored = score(turn, answer, verdict)
    return Result("1", (turn.question,), turn, answer, scored, verdict)


TALL = CaseTurn("How tall is it?", words=(("330 m",),), pages=(("tower.md",),))

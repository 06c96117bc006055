"""Reports: the requests for a draft and its queries, and parsing of their JSON replies.

Revising a paragraph is like writing (``answer_prompt``), with other text around the passages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from bot.reasoning.answer_prompt import Writing
from bot.reasoning.calls import (
    STRING,
    CachePoint,
    ModelReply,
    Request,
    Unusable,
    UserBlock,
    Words,
    clean,
    element,
    json_object,
    line,
    lines,
    list_of,
    middle_out,
    name,
    object_of,
    passage_lines,
    prompt,
    user_turn,
)
from bot.reasoning.evidence import Evidence, Manuscript, Paragraph, Rewritten
from bot.reasoning.tool_loop import opening, page_element

FEWEST, MOST = 3, 8  # paragraphs of a draft
HEADING = 120  # characters
PURPOSE = 300  # characters
TEXT = 4_000  # characters of a drafted paragraph
SO_FAR = 12_000  # characters of the report so far, if only its topic matters
QUERIES = 3
QUERY = 200  # characters
QUERY_TOKENS = 1_024  # of the reply

DRAFT_SCHEMA = object_of(paragraphs=list_of(object_of(heading=STRING, purpose=STRING, text=STRING)))
QUERY_SCHEMA = object_of(queries=list_of(STRING))


# ---------------------------------------------------------------- the draft


def draft_request(
    common: Request,
    question: Rewritten,
    evidence: Evidence,
    instructions: str,
    now: datetime,
) -> Request:
    """Return the request for a whole draft; ``common`` is an empty request to the same model."""
    parts = [
        page_element(source, passage_lines(source.passages))
        for source in evidence.sources
        if source.passages
    ]
    parts += opening(now, question.question, question.language)
    if instructions.strip():
        parts.append(element("operator", clean(instructions).strip()))
    parts.append("Draft the report.")
    return replace(
        common,
        system=prompt("draft"),
        turns=user_turn("\n\n".join(parts)),
        schema=DRAFT_SCHEMA,
    )


def parse_draft(reply: ModelReply, *, fewest: int = FEWEST) -> tuple[Paragraph, ...]:
    """Parse the reply to paragraphs. Raises ``Unusable``."""
    given = json_object(reply).get("paragraphs")
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    paragraphs = tuple(
        Paragraph(
            heading=name(str(item.get("heading") or ""), HEADING).strip("#* "),
            purpose=line(str(item.get("purpose") or ""), PURPOSE),
            text=clean(middle_out(str(item["text"]), TEXT)).strip(),
        )
        for item in items
        if isinstance(item.get("text"), str) and item["text"].strip()
    )
    if len(paragraphs) < fewest:
        raise Unusable(f'"paragraphs" must hold {FEWEST} to {MOST} paragraphs, each with a "text".')
    return paragraphs[:MOST]


# ---------------------------------------------------------------- the queries of a paragraph


def query_request(
    model: str, question: Rewritten, manuscript: Manuscript, now: datetime
) -> Request:
    """Return the request for the queries of one paragraph."""
    parts = opening(now, question.question, question.language)
    if manuscript.revised:
        so_far = middle_out(clean("\n\n".join(manuscript.revised)), SO_FAR)
        parts.append(element("report", so_far))
    parts.append(_paragraph(manuscript.paragraph))
    return Request(
        model,
        QUERY_TOKENS,
        prompt("query"),
        user_turn("\n\n".join(parts)),
        schema=QUERY_SCHEMA,
    )


def parse_queries(reply: ModelReply) -> tuple[str, ...]:
    """Parse the reply to 1 to 3 queries. Raises ``Unusable``."""
    found = lines(json_object(reply).get("queries"), QUERY)[:QUERIES]
    if not found:
        raise Unusable(f'"queries" must hold 1 to {QUERIES} queries.')
    return found


def topic_query(question: Rewritten, paragraph: Paragraph) -> tuple[str, ...]:
    """Return a fallback query for a paragraph: its topic, in its own words."""
    return (line(paragraph.heading or question.question, QUERY),)


# ---------------------------------------------------------------- the revision

_NO_MANUSCRIPT = Manuscript((), Paragraph("", "", ""))  # fields after a parent's need a default


@dataclass(frozen=True, slots=True)
class Revising(Writing):
    """One paragraph to be revised: written like an answer, to replace a draft."""

    manuscript: Manuscript = _NO_MANUSCRIPT

    prompt: ClassVar[str] = "revise"

    @classmethod
    def of_paragraph(
        cls,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str,
        now: datetime,
    ) -> Revising:
        plain = Writing.of(question, evidence, instructions, now)
        return cls(question, plain.sources, evidence, instructions, now, manuscript)

    def _opening(self) -> tuple[UserBlock, ...]:
        """The question and the report so far, so that each call begins like the previous one."""
        outline = opening(self.now, self.question.question, self.question.language)
        if self.instructions.strip():
            outline.append(element("operator", clean(self.instructions).strip()))
        report = (Words(element("report", clean(part))) for part in self.manuscript.revised)
        return (Words("\n\n".join(outline)), *report, CachePoint())

    def _task(self) -> str:
        parts = [_paragraph(self.manuscript.paragraph)]
        if self.manuscript.to_come:
            topics = "\n".join(f"- {line(topic, HEADING)}" for topic in self.manuscript.to_come)
            parts.append(element("to_come", topics))
        parts.append("Rewrite this paragraph from the passages.")
        if not self.manuscript.to_come:
            parts.append(f"It is the last one of the report. {prompt('ask_next')}")
        return "\n\n".join(parts)


# ---------------------------------------------------------------- pieces


def _paragraph(paragraph: Paragraph) -> str:
    given = {"heading": paragraph.heading} if paragraph.heading else {}
    if paragraph.purpose:
        given["purpose"] = paragraph.purpose
    return element("draft", clean(paragraph.text).strip(), **given)

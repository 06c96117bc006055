"""Checks a text: gives each statement a verdict, with the pages' words that support it.

    statements → for each: search, read, choose the nearest passages → verdicts → the answer

A model extracts the statements from the text and judges each by its passages. Where it gives
no verdict, the rules for checking answers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.errors import BudgetSpent
from bot.core.lines import one_line, shortened
from bot.core.messages import StepState, StepView
from bot.pages.page import Page
from bot.pages.passages import Passage
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Evidence,
    Rewritten,
    Source,
    Statement,
    TextDelta,
    Verdict,
)
from bot.reasoning.reasoner import Researcher
from bot.research.checking import cited_claim, dissent, doubt
from bot.research.composer import Composer
from bot.research.run import together
from bot.research.selection import merge_sources
from bot.research.strategies import CHECK, READING, Declaration, Gathered, Task, direct
from bot.text.facts import facts, missing_from
from bot.text.language import detect
from bot.text.sentences import sentences
from bot.text.terms import keywords, terms

MOST = 12  # statements of one text
PAGES = 2  # read for a statement
PASSAGES = 3  # by which a statement is judged
COVERED = 0.7  # share of a statement's words that a passage must have to support it without a model
LONGEST_QUOTE = 500  # characters; only one sentence of a longer passage is shown
TITLE = 80  # characters of a text in the title of its check

Outcome = Literal["supported", "partly", "contradicted", "nothing", "uncheckable"]
OUTCOMES: tuple[Outcome, ...] = ("supported", "partly", "contradicted", "nothing", "uncheckable")
_Cited = tuple[Source, Passage]


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement with its verdict: ``cited`` are the passages to show, best first; ``unsaid`` are
    the statement's words they do not support."""

    statement: Statement
    outcome: Outcome
    cited: tuple[_Cited, ...] = ()
    unsaid: str = ""


def as_question(text: str) -> Rewritten:
    return Rewritten("search", shortened(one_line(text), TITLE), language=detect(text))


class StatementsCheck:
    """The strategy that gives verdicts on the statements of the message."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._run = task.run
        self._texts = task.run.texts
        self._sources: list[Source] = []

    async def gather(self, reasoner: Researcher) -> Gathered:
        text = await self._text()
        statements = (await reasoner.statements(text))[:MOST]
        passages = await together(
            self._passages(reasoner, number, statement)
            for number, statement in enumerate(statements, 1)
        )
        findings = await self._judged(reasoner, text, statements, passages)
        evidence = Evidence(merge_sources(self._sources), enough=True)
        composer = Composer(evidence)
        for delta in self._deltas(findings):
            composer.add(delta)
        return Gathered(evidence, composer.finish())

    def so_far(self) -> None:
        return None

    def close(self) -> None:
        """Leave no line of the plan open, however it ended."""
        for line in self._run.steps:
            if line.kind == "paragraph" and line.state == "running":
                self._run.show(replace(line, state="failed"))

    async def _text(self) -> str:
        """Return the text of the files sent with the message, or else the message."""
        files = await self._run.read(self._task.links)
        read = [page.text for page in files if isinstance(page, Page)]
        for url, page in zip(self._task.links, files, strict=True):
            if isinstance(page, str):
                self._run.note(self._run.notes.unread(url, page))
        return "\n\n".join((*read, *(() if read else (self._run.message.text,))))

    # ------------------------------------------------------------ one statement

    async def _passages(
        self, reasoner: Researcher, number: int, statement: Statement
    ) -> Sequence[_Cited]:
        if not statement.queries:
            return ()
        self._show(number, statement, "running")
        asked = replace(
            self._task.sub_question(),
            text=statement.alone,
            queries=statement.queries,
            knowledge_queries=statement.queries,
        )
        with self._run.branch(f"statement-{number}"):
            reading = READING
            evidence = await direct(self._run, asked, reading, pages=PAGES, choosy=True)
        self._sources += evidence.sources
        self._show(number, statement, "done")
        return nearest(statement.alone, evidence.sources)

    def _show(self, number: int, statement: Statement, state: StepState) -> None:
        title = shortened(one_line(statement.text), TITLE)
        self._run.show(StepView(f"statement-{number}", "paragraph", title, state))

    # ------------------------------------------------------------ the verdicts

    async def _judged(
        self,
        reasoner: Researcher,
        text: str,
        statements: Sequence[Statement],
        passages: Sequence[Sequence[_Cited]],
    ) -> list[Finding]:
        claims = {
            at: cited_claim(statements[at].alone, cited)
            for at, cited in enumerate(passages)
            if cited
        }
        verdicts: dict[int, Verdict | None] = dict.fromkeys(claims)
        if claims:
            try:
                told = await reasoner.verify("", text, list(claims.values()))
                verdicts = dict(zip(claims, told, strict=True))
            except BudgetSpent as error:
                self._run.notes.error(error, "rests-on-found")
        findings = []
        for at, statement in enumerate(statements):
            verdict = verdicts.get(at)
            if not statement.queries:
                findings.append(Finding(statement, "uncheckable"))
            elif verdict is not None:
                findings.append(by_verdict(statement, verdict, passages[at]))
            else:
                findings.append(self._by_rules(statement, passages[at]))
        return findings

    def _by_rules(self, statement: Statement, cited: Sequence[_Cited]) -> Finding:
        claim = statement.alone
        near = [one for one in cited if covered(claim, one) >= COVERED]
        for one in near:
            if not doubt(claim, [one], self._texts):
                return Finding(statement, "supported", (excerpt(claim, one),))
        sources = [source for source, _ in cited]
        # A page's title is the subject of its sentences.
        other = dissent(claim, [replace(source, number=0) for source in sources], sources)
        if other is not None:
            words = replace(other.passage, start=other.start, end=other.end, text=other.sentence)
            return Finding(statement, "contradicted", ((other.source, words),))
        return unproven(statement, near)

    # ------------------------------------------------------------ the answer

    def _deltas(self, findings: Sequence[Finding]) -> list[AnswerDelta]:
        """Return the answer: a line with the number of each verdict, then each statement with its
        quotes."""
        texts = self._texts
        if not findings:
            return [TextDelta(f"> {texts('check-none')}", has_marks=False)]
        counts = [sum(each.outcome == outcome for each in findings) for outcome in OUTCOMES]
        told = [
            texts(f"check-count-{outcome}", count=count)
            for outcome, count in zip(OUTCOMES, counts, strict=True)
            if count
        ]
        parts: list[AnswerDelta] = [
            TextDelta(f"> {texts('check-counts', counts=', '.join(told))}", has_marks=False)
        ]
        for each in findings:
            label = texts(f"check-{each.outcome}")
            parts.append(TextDelta(f"\n\n**{label}**\n\n> ", True, has_marks=False))
            parts.append(TextDelta(one_line(each.statement.text), verbatim=True))
            if each.unsaid:
                unsaid = texts("check-unsaid", words=each.unsaid)
                parts.append(TextDelta(f"\n>\n> {unsaid}", has_marks=False))
            for source, passage in each.cited:
                parts.append(TextDelta("\n\n", True, has_marks=False))
                parts.append(TextDelta(passage.text, verbatim=True))
                parts.append(CitationDelta(source.number, passage.start, passage.end))
        return parts


def by_verdict(statement: Statement, verdict: Verdict, cited: Sequence[_Cited]) -> Finding:
    """Return the finding for a model's verdict, with the nearest passage if it is relevant."""
    claim = statement.alone
    if verdict.judgement == "not_supported":
        return unproven(statement, [one for one in cited if covered(claim, one) >= COVERED])
    unsaid = verdict.words if verdict.judgement != "supported" else ""
    return Finding(statement, verdict.judgement, (excerpt(claim, cited[0]),), unsaid)


def unproven(statement: Statement, near: Sequence[_Cited]) -> Finding:
    """Return the finding that no source supports a statement, with the nearest passage, if any."""
    if not near:
        return Finding(statement, "nothing")
    source, passage = best = excerpt(statement.alone, near[0])
    absent = missing_from(facts(statement.alone), f"{source.title}\n{passage.text}")
    unsaid = ", ".join(dict.fromkeys(fact.text for fact in absent))
    return Finding(statement, "nothing", (best,), unsaid)


def nearest(statement: str, sources: Sequence[Source]) -> tuple[_Cited, ...]:
    """Return the passages with most of a statement's words and facts, best first."""
    every = [(source, passage) for source in sources for passage in source.passages]
    claimed = facts(statement)

    def rank(one: _Cited) -> tuple[float, float]:
        source, passage = one
        absent = missing_from(claimed, f"{source.title}\n{passage.text}") if claimed else []
        return (covered(statement, one), -len(absent))

    ranked = sorted(every, key=rank, reverse=True)
    return tuple(one for one in ranked[:PASSAGES] if covered(statement, one) > 0)


def covered(statement: str, one: _Cited) -> float:
    """The share of a statement's words found in a passage, its headings or its page's title."""
    source, passage = one
    words = set(keywords(statement))
    there = set(terms(f"{source.title}\n{passage.heading}\n{passage.text}"))
    return len(words & there) / len(words) if words else 0.0


def excerpt(statement: str, one: _Cited) -> _Cited:
    """Return the sentence of a passage closest to a statement, or the whole passage if it is short
    and has more of the statement's words or facts."""
    source, passage = one
    words = set(keywords(statement))
    best = max(
        sentences(passage.text),
        key=lambda each: len(words & set(terms(passage.text[each.start : each.end]))),
    )
    start, end = passage.start + best.start, passage.start + best.end
    text = passage.text[best.start : best.end]
    known = f"{source.title}\n{text}"
    words -= set(terms(known))
    absent = missing_from(facts(statement), known)
    has_more = words & set(terms(passage.text)) or missing_from(absent, passage.text) != absent
    if len(passage.text) <= LONGEST_QUOTE and has_more:
        return one
    return source, replace(passage, start=start, end=end, text=text)


STRATEGY = Declaration(CHECK, StatementsCheck)

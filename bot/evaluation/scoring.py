"""Scores an answer against its expectations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.answers import Answer
from bot.evaluation.questions import CaseTurn, Groups, holds, is_page, normal
from bot.reasoning.model.judge import Grade
from bot.rendering.marks import numbers_in, without_marks
from bot.rendering.verbatim import as_words
from bot.text.gaps import says_gap
from bot.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's grade, with the reason in a sentence and the cost of the call."""

    grade: Grade
    reason: str
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """The score of an answer; None if something was not expected or does not apply.

    ``page_read``: every expected page was opened; ``page_cited``: it is among the sources.
    ``words_said``: the expected words are in the answer; ``words_quoted``: in its quotes.
    ``sentences`` counts those of the answer that could have a footnote, ``footnotes`` their marks.
    """

    refused: bool
    failed: bool
    refused_rightly: bool | None = None
    page_read: bool | None = None
    page_cited: bool | None = None
    words_said: bool | None = None
    words_quoted: bool | None = None
    grade: Grade | None = None
    sentences: int = 0
    footnotes: int = 0

    @property
    def amiss(self) -> tuple[str, ...]:
        """The unmet expectations, in a few words each; empty if all are met."""
        if self.failed:
            return ("failed",)
        if self.refused_rightly is not None:
            return () if self.refused_rightly else ("should be refused",)
        if self.refused:
            return ("refused",)
        page = {None: "", True: ""}.get(
            self.page_cited, "page read but not cited" if self.page_read else "page not found"
        )
        words = ""
        if self.words_said is False:
            words = "words only in a quote" if self.words_quoted else "words missing"
        grade = f"judged {self.grade}" if self.grade in ("partly", "wrong") else ""
        return tuple(filter(None, (page, words, grade)))

    @property
    def as_expected(self) -> bool:
        return not self.amiss


def _says_not_found(answer: Answer) -> bool:
    """Return True if a partial answer begins by saying what was not found."""
    if answer.status != "partial":
        return False
    text = without_marks(answer.text)
    first = next(iter(sentences(text)), None)
    return first is not None and says_gap(text[first.start : first.end])


def score(asked: CaseTurn, answer: Answer, verdict: Verdict | None = None) -> Score:
    """Compare an answer with its question's expectations."""
    refused = answer.status == "not_found" or (asked.refuse and _says_not_found(answer))
    failed = answer.status in ("failed", "stopped")
    if failed or asked.refuse:
        rightly = refused if asked.refuse and not failed else None
        return Score(refused, failed, refused_rightly=rightly)
    read = [(step.title, url) for step in answer.steps if step.kind == "read"
            and step.state == "done" for url in step.sources]  # fmt: skip
    cited = [] if refused else [(each.title, each.url) for each in answer.citations]
    said = normal("" if refused else as_words(without_marks(answer.text)))
    quoted = [] if refused else [normal(each.quote) for each in answer.citations]
    count, footnotes = (0, 0) if refused else footnotes_of(answer.text)
    return Score(
        refused=refused,
        failed=False,
        page_read=_all_of(
            asked.pages, lambda page: any(is_page(page, url, title) for title, url in read + cited)
        ),
        page_cited=_all_of(
            asked.pages, lambda page: any(is_page(page, url, title) for title, url in cited)
        ),
        words_said=_all_of(asked.words, lambda words: holds(said, words)),
        words_quoted=_all_of(
            asked.words, lambda words: any(holds(quote, words) for quote in quoted)
        ),
        grade=verdict.grade if verdict and not refused else None,
        sentences=count,
        footnotes=footnotes,
    )


def footnotes_of(text: str) -> tuple[int, int]:
    """Return the number of sentences of an answer that could have a footnote, and the number of
    marks.

    Headings, code, lead-ins that end with a colon, and block quotes (notes on the search) make no
    claims: the check leaves them out too.
    """
    count = footnotes = 0
    for sentence in sentences(text):
        piece = text[sentence.start : sentence.end]
        line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end]
        if sentence.kind in ("heading", "code") or line.lstrip().startswith(">"):
            continue
        footnotes += len(numbers_in(piece))
        words = without_marks(piece).rstrip()
        if any(map(str.isalnum, words)) and not words.endswith((":", "：")):
            count += 1
    return count, footnotes


def _all_of(groups: Groups, found: Callable[[str], bool]) -> bool | None:
    """Return True if one item of every group is found; None where there are no groups."""
    return all(any(found(each) for each in group) for group in groups) if groups else None

"""Scores an answer against its expectations, and sums up scores."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from bot.core.messages import Answer
from bot.evaluation.questions import MARKS, CaseTurn, Groups
from bot.pages.urls import dedupe_key
from bot.reasoning.judgement_prompts import Grade
from bot.rendering.marks import without_marks
from bot.rendering.verbatim import as_words
from bot.text.sentences import says_gap, sentences


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's grade, with the reason in a sentence and the cost of the call."""

    grade: Grade
    reason: str
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """The score of an answer; None if something was not expected or does not apply.

    ``page_read``: every expected page was opened; ``page_cited``: it is among the sources.
    ``words_said``: the expected words are in the answer; ``words_quoted``: in its quotes.
    """

    refused: bool
    failed: bool
    refused_rightly: bool | None = None
    page_read: bool | None = None
    page_cited: bool | None = None
    words_said: bool | None = None
    words_quoted: bool | None = None
    grade: Grade | None = None

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


@dataclass(frozen=True, slots=True)
class Result:
    """A question, its answer and score. ``asked`` are the questions of its thread up to it."""

    name: str
    asked: tuple[str, ...]
    turn: CaseTurn
    answer: Answer
    score: Score
    verdict: Verdict | None = None


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
    )


def _says_not_found(answer: Answer) -> bool:
    """Return True if a partial answer begins by saying what was not found."""
    if answer.status != "partial":
        return False
    text = without_marks(answer.text)
    first = next(iter(sentences(text)), None)
    return first is not None and says_gap(text[first.start : first.end])


def _all_of(groups: Groups, found: Callable[[str], bool]) -> bool | None:
    """Return True if one item of every group is found; None where there are no groups."""
    return all(any(found(each) for each in group) for group in groups) if groups else None


def figures(results: Sequence[Result]) -> dict[str, Any]:
    """Sum up results, in the documented form of ``footnote eval --json``: a share is a list of a
    count and its total; ``seconds`` and ``slow_seconds`` are the median and the 90th percentile."""
    scores = [each.score for each in results]
    usages = [each.answer.usage for each in results]
    grades = [each.grade for each in scores if each.grade]
    seconds = sorted(usage.seconds for usage in usages)
    return {
        "as_expected": _share(not each.amiss for each in scores),
        "failed": _share(each.failed for each in scores),
        "page_read": _share(each.page_read for each in scores),
        "page_cited": _share(each.page_cited for each in scores),
        "words_said": _share(each.words_said for each in scores),
        "words_quoted": _share(each.words_quoted for each in scores),
        "refused_rightly": _share(each.refused_rightly for each in scores),
        "refused_wrongly": _share(each.score.refused for each in results if not each.turn.refuse),
        **{f"judged_{grade}": [grades.count(grade), len(grades)]
           for grade in ("right", "partly", "wrong")},
        "doubts": sum(len(each.answer.doubts) for each in results),
        "model_calls": sum(usage.model_calls for usage in usages),
        "tokens_in": sum(usage.input_tokens + usage.cached_tokens for usage in usages),
        "tokens_out": sum(usage.output_tokens for usage in usages),
        "usd": round(sum(usage.usd for usage in usages), 6),
        "judging_usd": round(sum(each.verdict.usd for each in results if each.verdict), 6),
        "seconds": round(statistics.median(seconds), 3) if seconds else 0.0,
        "slow_seconds": round(seconds[round(0.9 * (len(seconds) - 1))], 3) if seconds else 0.0,
    }  # fmt: skip


def _share(outcomes: Iterable[bool | None]) -> list[int]:
    applying = [outcome for outcome in outcomes if outcome is not None]
    return [sum(applying), len(applying)]


# ---------------------------------------------------------------- words and pages

CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"

_ALIKE = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"}
)
_TOKEN = re.compile(f"[{CJK}]|[^\\W{CJK}]+|[^\\w\\s]")
_CJK_CHARACTER = re.compile(f"[{CJK}]")


def normal(text: str) -> str:
    """Normalize text for searching words: no Markdown marks, one kind of quotes and dashes, no
    capitals."""
    return text.translate(_ALIKE).translate(MARKS).casefold()


def holds(text: str, words: str) -> bool:
    """Return True if a ``normal`` text contains the words, ignoring white space around them.

    They must not be part of a longer word or number: "1990" does not contain "90".
    """
    return _pattern(words).search(text) is not None


@cache
def _pattern(words: str) -> re.Pattern[str]:
    plain = normal(words).strip()
    inner = r"\s*".join(re.escape(token) for token in _TOKEN.findall(plain))
    return re.compile(f"(?<!{_same(plain[0])}){inner}(?!{_same(plain[-1])})")


def _same(character: str) -> str:
    """A regex class of characters that would continue the word or number of this character."""
    if character.isdigit():
        return r"\d"
    is_letter = character.isalpha() and not _CJK_CHARACTER.match(character)
    return rf"[^\W\d{CJK}]" if is_letter else r"(?!)"


def is_page(wanted: str, url: str, title: str = "") -> bool:
    """Return True if ``wanted`` names the page: by its address, by the end of its address's path,
    or by its title, ignoring case."""
    wanted = wanted.strip()
    if title and wanted.casefold() == title.strip().casefold():
        return True
    if "://" in wanted:
        return dedupe_key(wanted.partition("#")[0]) == dedupe_key(url.partition("#")[0])
    end = wanted.partition("#")[0].removeprefix("./").strip("/")
    path = unquote(urlsplit(url).path).strip("/")
    return bool(end) and (path == end or path.endswith(f"/{end}"))

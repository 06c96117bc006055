"""Repeats earlier answers of the thread without a model: their sources or their findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bot.answers import Citation
from bot.messages import Entry
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Evidence, Source, TextDelta
from bot.reasoning.extractive.answer import link, note, say
from bot.reasoning.questions import Rewritten
from bot.rendering.verbatim import as_label
from bot.text.sentences import Sentence, blocks, sentences_of

QUOTES = 2  # from each page asked about

_MARK = re.compile(r"(?:(?<!\s)\s++)?\[(\d{1,4})\]")
_TABLE = re.compile(r"(?:^[ \t]*\|.*(?:\n|$))+", re.MULTILINE)
_WORD = re.compile(r"\w+")
_DOUBTED = "⚠"
_WAS = {
    "en": "Source {number} of the answer to “{question}”: {page}, read on {date}.",
    "de": "Quelle {number} der Antwort auf „{question}“: {page}, gelesen am {date}.",
    "zh": "“{question}”的回答的来源 {number}：{page}，读取于 {date}。",
    "ja": "「{question}」への回答の出典 {number}：{page}（{date} 閲覧）。",
    "ko": "“{question}”에 대한 답변의 출처 {number}: {page}, {date}에 읽음.",
}
_RETOLD = {
    "en": "The first proven sentence of each answer; no language model was used.",
    "de": "Der erste belegte Satz jeder Antwort; ohne Sprachmodell.",
    "zh": "以上是每个回答中第一句有出处的话，未使用语言模型。",
    "ja": "各回答の、出典のある最初の文です。言語モデルは使っていません。",
    "ko": "각 답변에서 출처가 있는 첫 문장이며, 언어 모델은 쓰지 않았습니다.",
}


def sources(question: Rewritten, evidence: Evidence) -> Iterator[AnswerDelta]:
    """Yield each page meant: its former number, its title as a link, when it was read, and its
    quotes."""
    read = _by_address(evidence)
    for answer in question.recalled:
        for address, cited in _by_page(answer).items():
            source = read.get(address)
            if source is None:
                continue  # a note already says that it is gone
            was = say(_WAS, question.language).format(
                number=cited.number,
                question=as_label(answer.question),
                page=link(source),
                date=f"{source.fetched_at:%Y-%m-%d}",
            )
            yield TextDelta(f"{note(was)}\n", opens=True)
            by_words = {passage.text: passage for passage in source.passages}
            quotes = [c.quote for c in answer.cited if dedupe_key(c.url) == address]
            for quote in [quote for quote in dict.fromkeys(quotes) if quote in by_words][:QUOTES]:
                passage = by_words[quote]
                yield TextDelta(passage.text, opens=True, verbatim=True)
                yield CitationDelta(source.number, passage.start, passage.end)
                yield TextDelta("\n\n")


def thread(question: Rewritten, evidence: Evidence) -> Iterator[AnswerDelta]:
    """Yield, for each question of the thread, the first sentence of its answer with a footnote."""
    read = _by_address(evidence)
    told: set[str] = set()
    for answer in question.recalled:
        deltas = list(_first_cited(answer, read))
        said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
        if not deltas or said in told:
            continue
        told.add(said)
        yield TextDelta(f"#### {as_label(answer.question)}\n\n", opens=True)
        yield from deltas
        yield TextDelta("\n\n")
    yield TextDelta(note(say(_RETOLD, question.language)), opens=True)


def _by_address(evidence: Evidence) -> dict[str, Source]:
    return {dedupe_key(source.url): source for source in evidence.sources}


def _by_page(answer: Entry) -> dict[str, Citation]:
    """Return the first footnote for each page."""
    return {dedupe_key(cited.url): cited for cited in reversed(answer.cited)}


def _first_cited(answer: Entry, read: Mapping[str, Source]) -> Iterator[AnswerDelta]:
    """Yield the first sentence with a footnote, renumbered; preferably one without a doubt.

    One mark may cover several sentences before it: the first of these is used if the quote contains
    it.
    """
    numbers = {cited.number: read.get(dedupe_key(cited.url)) for cited in answer.cited}
    for doubted in (False, True):
        for before, sentence in _marked(answer.text):
            if (_DOUBTED in sentence) != doubted:
                continue
            marks = map(int, _MARK.findall(sentence))
            known = [source for mark in marks if (source := numbers.get(mark)) is not None]
            if not known:
                continue
            for words in before:
                passage = next((p for p in known[0].passages if _has(p.text, words)), None)
                if passage is not None:
                    yield TextDelta(words, opens=True)
                    yield CitationDelta(known[0].number, passage.start, passage.end)
                    return
            yield TextDelta(_renumbered(sentence, known), opens=True)
            return
    for table in _TABLE.findall(answer.text):
        if _MARK.search(table):
            yield TextDelta(_table(table, numbers), opens=True)
            return
    for cited in answer.cited:  # only code: use its first quote
        if (source := numbers[cited.number]) is not None:
            code = next((p for p in source.passages if p.text == cited.quote), source.passages[0])
            yield TextDelta(code.text, opens=True, verbatim=True)
            yield CitationDelta(source.number, code.start, code.end)
            return


def _has(quoted: str, words: str) -> bool:
    return f" {' '.join(_WORD.findall(words))} " in f" {' '.join(_WORD.findall(quoted))} "


def _renumbered(sentence: str, pages: Sequence[Source]) -> str:
    """Return the sentence with the marks of these pages in place of its first mark."""
    marks = "".join(f"[{source.number}]" for source in dict.fromkeys(pages))
    head, *rest = _MARK.split(sentence)[::2]
    return f"{head} {marks}{''.join(rest).replace(_DOUBTED, '').strip()}"


def _table(table: str, pages: Mapping[int, Source | None]) -> str:
    """Return a table with its marks renumbered."""

    def renumbered(mark: re.Match[str]) -> str:
        source = pages.get(int(mark[1]))
        return "" if source is None else f" [{source.number}]"

    return _MARK.sub(renumbered, table).replace(_DOUBTED, "")


def _marked(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield sentences of running text with footnote marks, each with the unmarked ones before
    it."""
    before: list[str] = []
    for block in blocks(text):
        for sentence in sentences_of(text, block):
            if not _runs(text, sentence):
                before = []
                continue
            words = text[sentence.start : sentence.end]
            if _MARK.search(words):
                yield before, words
                before = []
            else:
                before.append(words)


def _runs(text: str, sentence: Sentence) -> bool:
    if sentence.kind not in ("paragraph", "item"):
        return False
    line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end]
    return not line.lstrip().startswith(">")

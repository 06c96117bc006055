"""Writes an answer made of quotations: first those that answer the question, then further ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.corrections.address import is_correction
from bot.labels import label, titled
from bot.pages.passages import HEADING_SEPARATOR, Passage, columns_in
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Evidence,
    Fold,
    Judged,
    Source,
    TextDelta,
)
from bot.reasoning.extractive.brief import brief
from bot.reasoning.extractive.quotes import Choice, Quote, choice_of, gist, openings
from bot.reasoning.extractive.relevance import WeightedQuestion, asked_in
from bot.reasoning.extractive.rewrite import sides
from bot.reasoning.extractive.words import named
from bot.reasoning.questions import Rewritten
from bot.rendering.verbatim import inline
from bot.rights.reader import is_conversation, is_document
from bot.search.talk import day_in, said_at
from bot.text.orders import only_orders

ANSWER_WORDS = 60  # of the quotes that come first
MORE_WORDS = 16  # of each further quote
MOST_MORE = 3  # further quotes
OTHERS = 0.25  # share of the first quote's gain that each further quote must add
MOST_RELATED = 4  # further quotes if a question leads from page to page
LONG = 3  # times the words of an answer, if whole pages were asked for
SHORTER = 2  # quotes in an answer requested to be shorter
NEAREST = 3  # pages offered if nothing answers the question

NOTES = {
    "en": "Quoted word for word; no language model was used.",
    "zh": "以上为原文摘录，未使用语言模型。",
    "ja": "原文のままの引用です。言語モデルは使っていません。",
    "ko": "원문을 그대로 인용했으며, 언어 모델은 쓰지 않았습니다.",
}
_NOT_IN_DOCUMENTS = {
    "en": "Your documents do not say.",
    "zh": "您的文档中没有相关内容。",
    "ja": "お手元の文書には書かれていません。",
    "ko": "문서에 그런 내용이 없습니다.",
}
_NOT_FOUND = {
    "en": "Nothing that was found answers this question.",
    "zh": "没有找到能回答这个问题的内容。",
    "ja": "この質問に答える内容は見つかりませんでした。",
    "ko": "이 질문에 답하는 내용을 찾지 못했습니다.",
}
_NEAREST = {
    "en": "The nearest pages: {}",
    "zh": "最接近的页面：{}",
    "ja": "最も近いページ：{}",
    "ko": "가장 가까운 페이지: {}",
}
_MISSING = {
    "en": "No page that was read mentions: {}.",
    "zh": "读过的网页都没有提到：{}。",
    "ja": "読んだページのどれにも出てこない語：{}。",
    "ko": "읽은 페이지에 나오지 않는 말: {}.",
}
_JOINT = {"zh": "；", "ja": "；"}


SAID = 3  # messages quoted to answer a question about conversations
CORRECTED = 2  # corrections shown with the answer
NEARLY = 0.5  # of the best one's share of the question
NEVER = datetime.min.replace(tzinfo=UTC)


def write(question: Rewritten, evidence: Evidence) -> Iterator[AnswerDelta]:
    """Write the answer: the quotes that answer the question, names that no page has, further
    quotes.

    Remarks on the answer itself are block quotes: they need no footnote.
    """
    asked = asked_in(question.question, evidence.sources, evidence.rarity)
    choice = choice_of(asked, evidence.sources)
    chosen = _chosen(question, evidence, choice)
    quotes = [quote for quote in chosen if not only_orders(quote.passage.text)]
    if question.kind == "search" and not question.earlier:
        yield Judged(choice.covered, choice.enough, choice.unknown)
    if not quotes:
        yield TextDelta(_nothing(question.language, evidence))
        return
    first, rest = _parted(question, asked, quotes)
    if question.scope.talk.first and is_conversation(first[0].source.url):
        first, rest = _as_said(asked, evidence, choice, rest)
    elif corrected := _nearest(asked, evidence, choice, is_correction)[:CORRECTED]:
        first = [*_of_others(first), *corrected]
        if first == corrected:
            first = [*_nearest(asked, evidence, choice, _is_other)[:1], *corrected]
        rest = [quote for quote in _of_others(rest) if quote not in first]
    words = ANSWER_WORDS * LONG if question.whole else ANSWER_WORDS
    for quote in first:
        if is_correction(quote.source.url):
            yield TextDelta(f"#### {inline(title_of(quote.source))}\n\n", opens=True)
        elif len(first) > 1 and is_conversation(quote.source.url):
            yield TextDelta(f"#### {inline(_said_by(quote))}\n\n", opens=True)
        yield from quoted(quote, asked, max(MORE_WORDS, words // len(first)))
    missing = () if question.kind == "links" else evidence.missing
    if names := _names_among(missing, question.question):
        yield TextDelta(note(_list(_MISSING, question.language, names)), opens=True)
    yield TextDelta(note(say(NOTES, question.language)), opens=True)
    if rest:
        yield Fold()
    above = ""
    for quote in rest:
        if (heading := heading_of(quote.source, quote.passage)) != above:
            yield TextDelta(f"#### {inline(heading)}\n\n", opens=True)
        above = heading
        yield from quoted(quote, asked, MORE_WORDS)


def _names_among(missing: Sequence[str], question: str) -> list[str]:
    """Return the names in the question that no page has; other words may be missing."""
    names = frozenset(named(question))
    return [words for words in missing if words in names]


def quoted(quote: Quote, asked: WeightedQuestion, most_words: int) -> Iterator[AnswerDelta]:
    """Yield the most relevant words of a quote, with their citation."""
    yield TextDelta(brief(quote.passage, asked, most_words), opens=True, verbatim=True)
    yield CitationDelta(quote.source.number, quote.passages[0].start, quote.passages[-1].end)
    yield TextDelta("\n\n")


def _chosen(question: Rewritten, evidence: Evidence, choice: Choice) -> Sequence[Quote]:
    """Return the quotes; none if the best one is not an answer."""
    if question.whole:
        return gist(evidence.sources)
    if question.earlier:
        return (choice.quotes or gist(evidence.sources))[:SHORTER]
    if question.kind == "links":
        return choice.quotes or openings(evidence.sources)
    return choice.quotes if choice.answers else ()


def _parted(
    question: Rewritten, asked: WeightedQuestion, quotes: Sequence[Quote]
) -> tuple[Sequence[Quote], Sequence[Quote]]:
    """Split quotes into the answer and the further reading.

    Both sides of a comparison belong to the answer. A question by relations is answered by several
    pages together, and the last may share few words with it.
    """
    if question.whole or question.earlier:
        return quotes, ()
    first = 2 if sides(question.question) else 1
    if asked.by_relation:
        return quotes[:first], quotes[first : first + MOST_RELATED]
    near = [quote for quote in quotes if quote.gain >= OTHERS * quotes[0].gain]
    return near[:first], near[first : first + MOST_MORE]


def _as_said(
    asked: WeightedQuestion, evidence: Evidence, choice: Choice, rest: Sequence[Quote]
) -> tuple[Sequence[Quote], Sequence[Quote]]:
    """Return the best quote of each conversation that is nearly as relevant as the best overall,
    newest first, since a later message may revoke an earlier one."""
    said = _nearest(asked, evidence, choice, is_conversation)[:SAID]
    said.sort(key=_said_at, reverse=True)
    told = {quote.source.url for quote in said}
    return said, [quote for quote in rest if quote.source.url not in told]


def _said_at(quote: Quote) -> datetime:
    """Return the time of a message, or the day of a file."""
    return said_at(quote.passage.heading) or day_in(quote.source.title) or NEVER


def _said_by(quote: Quote) -> str:
    """Return the heading of a message, with its author and time, or the title of a file."""
    heading = quote.passage.heading
    source = quote.source
    return title_of(source if said_at(heading) is None else replace(source, title=heading))


def _nearest(
    asked: WeightedQuestion, evidence: Evidence, choice: Choice, is_meant: Callable[[str], bool]
) -> list[Quote]:
    """Return the best quote of each source selected by ``is_meant`` that is nearly as relevant as
    the best overall; the most relevant comes first."""
    each = [choice_of(asked, (source,)) for source in evidence.sources if is_meant(source.url)]
    near = [one for one in each if one.quotes and one.covered >= NEARLY * choice.covered]
    return [one.quotes[0] for one in sorted(near, key=lambda one: -one.covered)]


def _of_others(quotes: Sequence[Quote]) -> list[Quote]:
    return [quote for quote in quotes if _is_other(quote.source.url)]


def _is_other(url: str) -> bool:
    return not is_correction(url)


def heading_of(source: Source, passage: Passage) -> str:
    """Return the page's title and the last heading above a passage."""
    title = title_of(source)
    path, _ = columns_in(passage.heading)
    last = label(path.rpartition(HEADING_SEPARATOR)[2])
    same = ("", title, label(source.title))
    return title if last in same else f"{title}{HEADING_SEPARATOR}{last}"


def _nothing(language: str, evidence: Evidence) -> str:
    """Return the notice that nothing was found, with links to the nearest pages."""
    own = evidence.sources and all(is_document(s.url) for s in evidence.sources)
    said = [say(_NOT_IN_DOCUMENTS if own else _NOT_FOUND, language)]
    pages = [link(source) for source in evidence.sources[:NEAREST]]
    if pages:
        said.append(_list(_NEAREST, language, pages))
    return "\n".join(note(sentence) for sentence in said)


def link(source: Source) -> str:
    """Return a page as a Markdown link."""
    return f"[{inline(title_of(source))}](<{source.url}>)"


def say(sentences_by_language: Mapping[str, str], language: str) -> str:
    """Return the sentence in a language, or in English if there is no translation."""
    return sentences_by_language.get(language.partition("-")[0], sentences_by_language["en"])


def _list(sentences_by_language: Mapping[str, str], language: str, things: Sequence[str]) -> str:
    return say(sentences_by_language, language).format(_JOINT.get(language, "; ").join(things))


def note(sentence: str) -> str:
    """Return a remark on the answer itself, as a block quote."""
    return f"> {sentence}\n"


def title_of(source: Source) -> str:
    """Return the label of a page, with the sign of its kind."""
    return titled(source.url, source.title) or "?"

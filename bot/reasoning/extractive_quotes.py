"""Choosing what to quote, and writing an answer that consists of quotations."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.pages.passages import Passage
from bot.pages.spread import representatives
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Evidence, Finding, Source, TextDelta
from bot.reasoning.extractive_words import (
    PLACEHOLDERS,
    name_terms,
    named,
    term_tuple,
    title_terms,
)
from bot.reasoning.questions import Rewritten
from bot.text.sentences import Sentence, sentences
from bot.text.terms import content_words, keywords

MOST_QUOTES = 6
AGAIN = 0.3  # of a term's weight counts when an earlier quote has it
TAKEN_UP = 1.5  # times more a passage adds that has a name from an earlier quote
IN_A_TITLE = 1.5  # times the weight of a term that titles a page: it is what there is to say about
EARLY_READ = 0.4  # more a passage of the page read first adds, half of it for the second, ...
BARE = 0.4  # of a passage's worth is left to a heading or a line that is no sentence
BY_TITLE = 0.8  # of a term's weight counts when only the page's title or heading has it
ENOUGH = 0.3  # share of the question's weight that all quotes together must cover to be an answer
WORTH_QUOTING = 0.08  # share of it that a quote must add
OPENINGS = 3  # passages quoted from the top of a page when the question has no word of it
LEAST_OF_PAGE = 2  # quotes from each page that is wanted as a whole
SHORTER = 2  # quotes in an answer that was to be shorter than the one before
SHORT = 450  # characters of a passage that are quoted whole
LONGEST_CODE = 1_500  # characters of a code block

_SENTENCE_END = re.compile(r"[.!?。！？…|:：]\W*$")
_LINK = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Quote:
    """The part ``passage.text[start:end]`` of a passage that says most about a question."""

    source: Source
    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]


# ---------------------------------------------------------------- choosing


def choose(question: str, sources: Sequence[Source]) -> list[Quote]:
    """The passages that together cover most of a question, the most telling first.

    Greedy coverage of the question's terms, weighted by how rare they are in what was read: each
    next quote is the one that adds most (Lin and Bilmes, A Class of Submodular Functions for
    Document Summarization, ACL 2011). A passage about a name that an earlier quote brought up
    counts for more: it may be the next hop. Empty if all of it hardly touches the question.
    """
    wanted = wanted_terms(question)
    left = [
        (source, passage, coverage(source, passage, wanted))
        for source in sources
        for passage in source.passages
    ]
    weights = weigh(question, sources)
    total = sum(weights.values())
    covered: dict[str, float] = {}
    brought_up: set[str] = set()
    order = {url: place for place, url in enumerate(dict.fromkeys(s.url for s in sources))}
    chosen: list[Quote] = []
    while left and len(chosen) < MOST_QUOTES:
        gains = [
            _gain(shares, weights, covered)
            * (BARE if _is_bare(passage) else 1.0)
            * (1.0 + EARLY_READ / (1 + order[source.url]))
            * (1.0 if brought_up.isdisjoint(_names_of(source, passage)) else TAKEN_UP)
            for source, passage, shares in left
        ]
        best = max(range(len(left)), key=lambda i: (gains[i], -i))
        if not gains[best] or gains[best] < WORTH_QUOTING * total:
            break
        source, passage, shares = left.pop(best)
        brought_up |= _names_of(source, passage) - wanted
        covered |= {term: max(share, covered.get(term, 0.0)) for term, share in shares.items()}
        chosen.append(Quote(source, passage, *most_telling(passage.text, wanted)))
    reached = sum(weights[term] * share for term, share in covered.items())
    return chosen if reached >= ENOUGH * total else []


def weigh(question: str, sources: Sequence[Source]) -> dict[str, float]:
    """How much each of the question's terms tells among what was read; a title's term tells more
    than others."""
    wanted = wanted_terms(question)
    found = [coverage(source, passage, wanted) for source in sources for passage in source.passages]
    in_names = frozenset(term for name in named(question) for term in term_tuple(name))
    weights = _weights(wanted, in_names, found)
    for term in {term for source in sources for term in title_terms(source.title)} & wanted:
        weights[term] *= IN_A_TITLE
    return weights


def wanted_terms(question: str) -> frozenset[str]:
    """The terms of a question, without those of its links."""
    return frozenset(keywords(_LINK.sub(" ", question)))


def gist(sources: Sequence[Source]) -> list[Quote]:
    """Passages from all over each page: what to quote when pages as a whole were asked for."""
    share = max(LEAST_OF_PAGE, MOST_QUOTES // max(1, len(sources)))
    quotes: list[Quote] = []
    for source in sources:
        telling = [passage for passage in source.passages if not _is_bare(passage)]
        wanted = frozenset(title_terms(source.title))
        quotes += [
            Quote(source, passage, *most_telling(passage.text, wanted))
            for passage in representatives(telling or source.passages, share)
        ]
    return quotes


def openings(sources: Sequence[Source]) -> list[Quote]:
    """The first passages of each page: what to quote when it was only asked to read."""
    return [
        Quote(source, passage, 0, len(passage.text))
        for source in sources
        for passage in source.passages[:OPENINGS]
    ]


def findings(
    question: str, sources: Sequence[Source]
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """What the quotes say, and the words of the question that no page has."""
    found = tuple(
        Finding(" ".join(quote.text.split()), (quote.source.number,))
        for quote in choose(question, sources)
    )
    read = {
        term
        for source in sources
        for text in (source.title, *(f"{p.heading}\n{p.text}" for p in source.passages))
        for term in term_tuple(text)
    }
    missing: list[str] = []
    for words in (*named(question), *content_words(_LINK.sub(" ", question))):
        terms = frozenset(term_tuple(words))
        is_new = not any(words in earlier for earlier in missing)
        if is_new and terms and terms.isdisjoint(read | PLACEHOLDERS):
            missing.append(words)
    return found, tuple(missing)


def coverage(source: Source, passage: Passage, wanted: frozenset[str]) -> Mapping[str, float]:
    """The question's terms that a passage has: 1, or less for those that only stand above it."""
    above = term_tuple(f"{source.title}\n{passage.heading}")
    return {term: BY_TITLE for term in above if term in wanted} | {
        term: 1.0 for term in term_tuple(passage.text) if term in wanted
    }


def _is_bare(passage: Passage) -> bool:
    """A line of links, a caption, a heading: words without a sentence."""
    text = passage.text
    return len(text) < 80 and "\n" not in text and _SENTENCE_END.search(text) is None


def _names_of(source: Source, passage: Passage) -> frozenset[str]:
    """The terms of the names in a passage, its page's title among them."""
    return name_terms(passage.text).union(title_terms(source.title))


def _weights(
    wanted: frozenset[str], in_names: frozenset[str], passages: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    """BM25's inverse document frequency, passages being the documents.

    By it a word that no passage has would weigh most. That is right for a name: pages without it
    are about something else. Another word ("expensive") counts like an average one of those found:
    pages say things in words of their own. And since the pages were chosen for the question, its
    most important word may well be the most frequent one: all weights are drawn to the average.
    """
    found_in = Counter(term for passage in passages for term in passage)
    weights = {
        term: math.log(1 + (len(passages) - found_in[term] + 0.5) / (found_in[term] + 0.5))
        * (AGAIN if term in PLACEHOLDERS else 1.0)
        for term in wanted
    }
    found = [weights[term] for term in wanted if found_in[term]]
    average = sum(found) / len(found) if found else 0.0
    weights = {
        term: weight if found_in[term] or term in in_names else min(weight, average)
        for term, weight in weights.items()
    }
    return {term: (weight + average) / 2 for term, weight in weights.items()}


def _gain(
    shares: Mapping[str, float], weights: Mapping[str, float], covered: Mapping[str, float]
) -> float:
    gain = 0.0
    for term, share in shares.items():
        before = covered.get(term, 0.0)
        gain += weights[term] * (max(0.0, share - before) + AGAIN * min(share, before))
    return gain


def most_telling(text: str, wanted: frozenset[str]) -> tuple[int, int]:
    """The span of the sentences in a row that hold most of the terms within ``SHORT`` characters.

    A short passage is quoted whole, and so are rows, lists and code.
    """
    parts = sentences(text)
    if len(text) <= SHORT or any(part.kind != "paragraph" for part in parts):
        return 0, len(text)
    best: tuple[int, int] = (-1, 0)
    span = 0, len(text)
    for first, beginning in enumerate(parts):
        for last in range(first, len(parts)):
            end = parts[last].end
            if last > first and end - beginning.start > SHORT:
                break
            held = len(wanted.intersection(term_tuple(text[beginning.start : end])))
            if (held, end - beginning.start) > best:
                best = held, end - beginning.start
                span = beginning.start, end
    return span


# ---------------------------------------------------------------- writing

INTRODUCTIONS = {
    "en": "No language model wrote this: these are passages quoted from the pages that were read, "
    "the most relevant first.",
    "zh": "以下内容未经语言模型撰写，而是从读过的网页中摘录的原文，最相关的在前。",
    "ja": "これは言語モデルが書いた回答ではありません。"
    "読んだページからの引用を、関連の高い順に示します。",
    "ko": "언어 모델이 쓴 답이 아닙니다. "
    "읽은 페이지에서 그대로 인용한 구절을 관련도 순으로 보여 드립니다.",
}
_NOTHING = {
    "en": "Nothing that was found answers this question.",
    "zh": "没有找到能回答这个问题的内容。",
    "ja": "この質問に答える内容は見つかりませんでした。",
    "ko": "이 질문에 답하는 내용을 찾지 못했습니다.",
}
_TRIED = {
    "en": "Searched for: {}.",
    "zh": "搜索过：{}。",
    "ja": "検索した語句：{}。",
    "ko": "검색한 말: {}.",
}
_READ = {
    "en": "Read: {}.",
    "zh": "读过：{}。",
    "ja": "読んだページ：{}。",
    "ko": "읽은 페이지: {}.",
}
_MISSING = {
    "en": "No page that was read mentions: {}.",
    "zh": "读过的网页都没有提到：{}。",
    "ja": "読んだページのどれにも出てこない語：{}。",
    "ko": "읽은 페이지에 나오지 않는 말: {}.",
}
_REWORD = {
    "en": "Other words, or a name, may find more.",
    "zh": "换一种说法，或给出名称，也许能找到更多。",
    "ja": "別の言葉や名前で尋ねると、見つかるかもしれません。",
    "ko": "다른 말이나 이름으로 물으면 더 찾을 수 있습니다.",
}
_CODE = {"en": "Code", "zh": "代码", "ja": "コード", "ko": "코드"}
_JOINT = {"zh": "；", "ja": "；"}
_ITEM_MARK = re.compile(r"^[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_WIDE_ENDS = frozenset("。！？；）」』》】")
_DIVIDER_ROW = re.compile(r"^[ \t]*\|[\s|:-]*\|[ \t]*$\n?", re.MULTILINE)


def write(question: Rewritten, evidence: Evidence) -> Iterator[AnswerDelta]:
    """The answer: what this is, the quotes by page with their citations, what was not found.

    Notes about the answer itself are block quotes, page titles are headings: neither makes a claim
    that would need a footnote.
    """
    if question.whole:
        quotes = gist(evidence.sources)
    else:
        quotes = choose(question.question, evidence.sources)
    if question.earlier:
        quotes = (quotes or gist(evidence.sources))[:SHORTER]
    if not quotes and question.kind == "links":
        quotes = openings(evidence.sources)
    if not quotes:
        yield TextDelta(_without_quotes(question.language, evidence))
        return
    wanted = wanted_terms(question.question)
    yield TextDelta(note(say(INTRODUCTIONS, question.language)))
    for source in dict.fromkeys(quote.source.number for quote in quotes):
        of_page = [quote for quote in quotes if quote.source.number == source]
        yield TextDelta(f"\n### {plain(of_page[0].source.title)}\n\n")
        for quote in of_page:
            yield from quoted(quote, wanted, question.language)
    missing = evidence.missing
    if question.kind != "links":  # "summarize" is no word that a page should have
        missing = missing or findings(question.question, evidence.sources)[1]
    if missing:
        yield TextDelta("\n" + note(_list(_MISSING, question.language, missing)))


def quoted(quote: Quote, wanted: frozenset[str], language: str) -> Iterator[AnswerDelta]:
    """One quote as list items, or as the code block that it is, with its citation."""
    cited = CitationDelta(quote.source.number, quote.passage.start, quote.passage.end)
    parts = _to_the_point(quote.text, wanted)
    code = [part for part in parts if part.kind == "code"]
    for line in _lines(quote.text, [part for part in parts if part.kind != "code"]):
        yield TextDelta(f"- {line}", opens=True)
        yield cited
        yield TextDelta("\n")
    for part in code:
        if part.end - part.start <= LONGEST_CODE:
            yield TextDelta(f"- {say(_CODE, language)}", opens=True)
            yield cited
            yield TextDelta(f"\n\n{quote.text[part.start : part.end]}\n\n")


def _to_the_point(text: str, wanted: frozenset[str]) -> list[Sentence]:
    """The sentences of a quote; of items and rows, those with a word of the question if any has."""
    parts = sentences(text)
    listed = [part for part in parts if part.kind in ("item", "row")]
    telling = [p for p in listed if not wanted.isdisjoint(term_tuple(text[p.start : p.end]))]
    return [part for part in parts if part not in listed or part in telling or not telling]


def _lines(text: str, parts: Sequence[Sentence]) -> Iterator[str]:
    """Quoted text as lines of a list: running text in one, each item and row in its own."""
    running: list[str] = []
    for part in parts:
        piece = _DIVIDER_ROW.sub("", text[part.start : part.end])
        if part.kind == "row":
            cells = _CELL_BORDER.split(piece.strip().strip("|"))
            piece = " · ".join(cell.strip().replace("\\|", "|") for cell in cells)
        begins = bool(_ITEM_MARK.match(piece)) or part.kind == "row"
        if begins and running:
            yield _in_one_line(running)
            running = []
        piece = " ".join(_ITEM_MARK.sub("", piece).strip("# ").split())
        if piece:
            running.append(piece)
    if running:
        yield _in_one_line(running)


def _in_one_line(pieces: Sequence[str]) -> str:
    """Sentences one after the other: no space follows a full stop that brings its own."""
    line = ""
    for piece in pieces:
        line += piece if not line or line[-1] in _WIDE_ENDS else f" {piece}"
    return line


def _without_quotes(language: str, evidence: Evidence) -> str:
    """What to say when there is nothing to quote: that, and what was tried."""
    said = [say(_NOTHING, language)]
    if evidence.queries:
        said.append(_list(_TRIED, language, evidence.queries))
    if evidence.sources:
        said.append(_list(_READ, language, [plain(s.title) for s in evidence.sources]))
    said.append(say(_REWORD, language))
    return "\n".join(note(sentence) for sentence in said)


def say(sentences_by_language: Mapping[str, str], language: str) -> str:
    """The sentence in a language, in English where it is not known."""
    return sentences_by_language.get(language.partition("-")[0], sentences_by_language["en"])


def _list(sentences_by_language: Mapping[str, str], language: str, things: Sequence[str]) -> str:
    return say(sentences_by_language, language).format(_JOINT.get(language, "; ").join(things))


def note(sentence: str) -> str:
    """A remark on the answer itself, as a block quote: it makes no claim."""
    return f"> {sentence}\n"


def plain(title: str) -> str:
    """A title as one line of Markdown."""
    return " ".join(title.replace("*", "").replace("#", "").split()) or "?"

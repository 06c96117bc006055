"""Makes a report without a model: an outline from the pages' own sections, filled with quotations.

The draft consists of the first pages' sections; the revision of a section consists of the passages
found by a search for it, each with its footnote. Nothing is quoted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bot.pages.passages import Passage
from bot.reasoning.evidence import AnswerDelta, Evidence, Manuscript, Paragraph, Source, TextDelta
from bot.reasoning.extractive.answer import NOTES, heading_of, note, quoted, say
from bot.reasoning.extractive.hops import first_queries
from bot.reasoning.extractive.quotes import Quote, choice_of, openings
from bot.reasoning.extractive.relevance import asked_in, candidates, spelled
from bot.reasoning.extractive.words import term_tuple
from bot.reasoning.questions import Rewritten
from bot.rendering.verbatim import as_label
from bot.text.terms import content_words

FEWEST_SECTIONS, MOST_SECTIONS = 2, 8
SECTION_QUOTES = 4
OTHER_QUOTES = 2  # from other pages, besides a section's own
TELLING = 0.5  # share of the best section's coverage that a section must reach
QUOTE_WORDS = 60  # of one quotation
TOPIC_WORDS = 6  # of the question in a section's query

_NOTHING_MORE = {
    "en": "Nothing more was found on: {}.",
    "zh": "没有找到更多关于{}的内容。",
    "ja": "{}については、これ以上見つかりませんでした。",
    "ko": "{}에 대해 더 찾지 못했습니다.",
}


def draft(question: Rewritten, evidence: Evidence) -> tuple[Paragraph, ...]:
    """Return a paragraph for each section related to the question; without usable sections, one
    paragraph of all related passages; empty if nothing is related."""
    asked = question.question
    quotes = _all_on(asked, evidence.sources)
    if not quotes and question.kind == "links":
        quotes = openings(evidence.sources)
    if not quotes:
        return ()
    aspects = _aspects(evidence.sources)
    if question.kind != "links":
        aspects = _telling(asked, evidence.sources, aspects)
    if len(aspects) < FEWEST_SECTIONS:
        return (Paragraph("", asked, _text(quote.passage for quote in quotes)),)
    return tuple(
        Paragraph(heading, "", _text(passage for _, passage in found))
        for heading, found in list(aspects.items())[:MOST_SECTIONS]
    )


def _all_on(about: str, sources: Sequence[Source]) -> list[Quote]:
    """Return quotes of all that the sources say on a topic, rather than an answer to one
    question."""
    return list(choice_of(asked_in(about, sources, {}), sources).quotes)


def queries(question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
    """Return the section's heading with the words of the question that it lacks."""
    heading = manuscript.paragraph.heading
    if not heading:
        return question.queries or tuple(first_queries(question.question))
    named = frozenset(term_tuple(heading))
    topic = [
        word for word in content_words(question.question) if named.isdisjoint(term_tuple(word))
    ]
    return (" ".join([*content_words(heading), *topic[:TOPIC_WORDS]]),)


def revise(
    question: Rewritten, manuscript: Manuscript, evidence: Evidence
) -> Iterator[AnswerDelta]:
    """Yield the passages on the paragraph's topic that the report has not quoted yet."""
    paragraph, language = manuscript.paragraph, question.language
    about = f"{paragraph.heading}\n{question.question}" if paragraph.heading else question.question
    asked = asked_in(about, evidence.sources, evidence.rarity)
    said = spelled("\n".join(manuscript.revised))
    if not manuscript.revised:
        yield TextDelta(note(say(NOTES, language)) + "\n", opens=True)
    quotes = _quotes(manuscript, about, evidence.sources)
    groups = [group for quote in quotes for group in _groups(quoted(quote, asked, QUOTE_WORDS))]
    new = [group for group in groups if spelled(_words(group)) not in said]
    for group in new:
        yield from group
    if not groups:  # not even passages that the report already has
        topic = as_label(paragraph.topic).rstrip(".")
        yield TextDelta(note(say(_NOTHING_MORE, language).format(topic)), opens=True)


def _quotes(manuscript: Manuscript, about: str, sources: Sequence[Source]) -> list[Quote]:
    """Return the quotes of a section: its relevant passages, and those of other pages on its topic,
    except passages with their own section."""
    paragraph = manuscript.paragraph
    if not paragraph.heading:
        return _all_on(about, sources) or openings(sources)

    def is_to_come(source: Source, passage: Passage) -> bool:
        return heading_of(source, passage) in manuscript.to_come

    own = [
        Quote(source, passage, (passage,))
        for source, passage in _aspects(sources).get(paragraph.heading, ())[:SECTION_QUOTES]
    ]
    pages = {quote.source.number for quote in own}
    others = [
        replace(source, passages=tuple(p for p in source.passages if not is_to_come(source, p)))
        for source in sources
        if source.number not in pages
    ]
    return own + _all_on(about, others)[: OTHER_QUOTES if own else SECTION_QUOTES]


def _groups(deltas: Iterable[AnswerDelta]) -> list[list[AnswerDelta]]:
    """Group deltas by the list line they belong to."""
    groups: list[list[AnswerDelta]] = []
    for delta in deltas:
        if isinstance(delta, TextDelta) and delta.opens:
            groups.append([])
        groups[-1].append(delta)
    return groups


def _words(group: Sequence[AnswerDelta]) -> str:
    return "".join(delta.text for delta in group if isinstance(delta, TextDelta))


def _telling(
    asked: str, sources: Sequence[Source], aspects: Mapping[str, list[tuple[Source, Passage]]]
) -> dict[str, list[tuple[Source, Passage]]]:
    """Return the aspects that cover most of a question, those of the best page first."""
    question = asked_in(asked, sources, {})
    shares = {(c.source.number, c.passage.start): c.shares for c in candidates(question, sources)}
    covered: dict[str, float] = {}
    for heading, found in aspects.items():
        held: dict[str, float] = {}
        for source, passage in found:
            for term, share in shares[source.number, passage.start].items():
                held[term] = max(share, held.get(term, 0.0))
        covered[heading] = sum(question.weights[term] * share for term, share in held.items())
    best = max(covered.values(), default=0.0)
    kept = sorted(aspects, key=lambda heading: -covered[heading])[:MOST_SECTIONS]
    kept = [heading for heading in kept if covered[heading] >= TELLING * best > 0]
    pages = {heading: aspects[heading][0][0].number for heading in kept}
    order = list(dict.fromkeys(pages.values()))
    in_page = list(aspects)
    return {
        heading: aspects[heading]
        for heading in sorted(kept, key=lambda h: (order.index(pages[h]), in_page.index(h)))
    }


def _aspects(sources: Sequence[Source]) -> dict[str, list[tuple[Source, Passage]]]:
    """Group passages by their page's title and last heading."""
    found: dict[str, list[tuple[Source, Passage]]] = {}
    for source in sources:
        for passage in source.passages:
            found.setdefault(heading_of(source, passage), []).append((source, passage))
    return found


def _text(passages: Iterator[Passage]) -> str:
    return "\n\n".join(" ".join(passage.text.split()) for passage in passages)

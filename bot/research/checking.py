"""Checks an answer without a model: is every footnote correct, and does every claim have one?

- Every citation is verbatim in its stored page.
- Figures, dates and names of a cited sentence must occur in the words it cites (names also anywhere
  else in the shown passages, title and headings of that page, since pages say "he" and "the city";
  years also in the title).
- A figure may also be calculated from those, by correct arithmetic shown in the answer, or by
  arithmetic obvious to a reader: spans of years, ages, sums, shares, rounding, other units.
- A sentence without a footnote is marked if it has figures, dates or names that are new, or if most
  of its words are. Words of the question and passages cited nearby are not new. Headings, lead-ins
  that end with a colon, and block quotes (the writer's notes on the search itself) need no
  footnote; if they have one, it must be correct. Whether a block quote states more than such notes
  is for a model to say.
- A typed mark, from a model without native citations, counts if most of the sentence's words are in
  its page's passages.

Sentences that fail are marked ⚠ in the text, with an explanation. If another page that was read
disagrees with a correct sentence, that page's words are shown. This prefers precision over
completeness, since false alarms make readers distrust real ones: a sentence of another page
disagrees with a claim when it has nearly all of the claim's words, the same unit or no unit,
exactly one figure or year of that kind, and that page nowhere supports the claim.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import takewhile
from types import MappingProxyType

from bot.core.messages import Citation, Disagreement, Doubt
from bot.core.texts import Texts, texts_for
from bot.pages.passages import HEADING_SEPARATOR, Passage, columns_in
from bot.reasoning.evidence import CitationDelta, Claim, Evidence, Source, Verdict
from bot.reasoning.wording import source_numbers, without_sources
from bot.rendering.marks import literal_spans, numbers_in, without_marks
from bot.research.composer import Checked, CitedSpan, Written, at_tail, citation, claim_of, within
from bot.research.proof import as_compared, proofs
from bot.text.facts import Fact, facts, missing_from
from bot.text.orders import is_order
from bot.text.sentences import BlockKind, Sentence, sentences, without_gaps
from bot.text.terms import keywords, terms

SHARED = 0.8  # share of a claim's words, without figures, that the other sentence or its title has
FEWEST = 3  # words a claim must have for that to be meaningful
LONGEST = 400  # characters of a sentence that can state a single fact
_AFTER = re.compile(r"[\s-]{0,2}([^\W\d_]+)")
_PARENTHESES = re.compile(r"[(（][^()（）]*[)）]")
_CURRENCY = re.compile(r"[$€£¥₩₹]\s?$")


@dataclass(frozen=True, slots=True)
class Dissent:
    """A contradicting ``sentence`` of a passage; ``start:end`` is its span in the page."""

    source: Source
    passage: Passage
    sentence: str
    start: int
    end: int


def dissent(claim: str, cited: Sequence[Source], sources: Sequence[Source]) -> Dissent | None:
    """Return the first sentence of an uncited page with a figure or date other than the claim's.

    ``claim`` is without footnote marks; ``cited`` are the pages it rests on.
    """
    if not any(character.isnumeric() for character in claim):
        return None
    measured = [fact for fact in facts(claim) if _is_measure(fact)]
    if len(measured) != 1:  # with several, it is unclear which one the other sentence is about
        return None
    fact = measured[0]
    words = _words(claim, measured)
    if len(words) < FEWEST:
        return None
    titles = [frozenset(keywords(_PARENTHESES.sub("", source.title))) for source in cited]
    numbers = {source.number for source in cited}
    for source, passage in _about(words, [s for s in sources if s.number not in numbers]):
        title = f"{source.title} {passage.heading}"
        for sentence in sentences(passage.text):
            said = passage.text[sentence.start : sentence.end]
            is_same_thing = _names_its_subject(claim, said) or any(
                about and about <= frozenset(terms(f"{title} {said}")) for about in titles
            )
            if (
                is_same_thing
                and not is_order(said)
                and _disagrees(claim, fact, words, said, title)
                and missing_from([fact], _all_of(source))
            ):
                start = passage.start + sentence.start
                return Dissent(source, passage, said, start, start + len(said))
    return None


def _about(words: frozenset[str], sources: Sequence[Source]) -> Iterator[tuple[Source, Passage]]:
    """Yield the passages with enough of the words to contain such a sentence."""
    for source in sources:
        for passage in source.passages:
            there = _terms_of(f"{source.title} {passage.heading} {passage.text}")
            if len(words & there) >= SHARED * len(words):
                yield source, passage


@lru_cache(maxsize=512)  # every claim is compared with the same passages
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _all_of(source: Source) -> str:
    return "\n".join(passage.text for passage in source.passages)


def _disagrees(claim: str, fact: Fact, words: frozenset[str], said: str, title: str) -> bool:
    if len(said) > LONGEST:
        return False
    there = frozenset(terms(said))
    around = there | frozenset(terms(title))
    if len(words & around) < SHARED * len(words) or len(words & there) < FEWEST - 1:
        return False
    if missing_from([other for other in facts(claim) if other.kind == "name"], f"{title}\n{said}"):
        return False
    others = [other for other in facts(said) if _is_measure(other)]
    if len(others) != 1 or others[0].kind != fact.kind:
        return False
    if fact.kind == "date":  # a year and a day of another year may both be right
        return len(others[0].values[0]) == len(fact.values[0])
    return _unit(claim, fact) == _unit(said, others[0])


def _names_its_subject(claim: str, said: str) -> bool:
    """Return True if a claim begins with a name that the other sentence has too."""
    named = [fact for fact in facts(claim) if fact.kind == "name"]
    opens = [fact for fact in named if 0 <= claim.find(fact.text) <= len("The ")]
    return bool(opens) and not missing_from(opens, said)


def _is_measure(fact: Fact) -> bool:
    return fact.kind == "date" or any(character.isdigit() for character in fact.text)


def _words(claim: str, measured: Sequence[Fact]) -> frozenset[str]:
    """Return the claim's keywords without the figures."""
    figures = {term for fact in measured for term in terms(fact.text)}
    return frozenset(word for word in keywords(claim) if word not in figures)


def _unit(sentence: str, fact: Fact) -> str:
    """Return the unit of a figure: ``m`` in "330 m", ``$`` in "$5", ``share`` in "5 %", or ""."""
    if fact.unit is not None and fact.unit.dimension == "share":  # "%" is in its text
        return fact.unit.dimension
    at = sentence.find(fact.text)
    before = _CURRENCY.search(sentence[:at])
    if before is not None:
        return before.group().strip()
    after = _AFTER.match(sentence, at + len(fact.text))
    return "".join(terms(after[1])) if after is not None else ""


DOUBT_MARK = "⚠"
FEWEST_WORDS = 4  # keywords, from which a sentence states something
DERIVED = 0.5  # share of keywords that must be known in a sentence without a footnote

_Key = tuple[int, int, int]  # a citation: its page's number, start and end
_CALCULATION = re.compile(r"\d\)?\s?[+−–*/×÷=-]\s?\(?\d")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_TARGET = re.compile(r"\]\([^()\s]*\)")  # the target of a link


ENGLISH = texts_for("en")
NO_VERDICTS: Mapping[str, Verdict] = MappingProxyType({})


def check(
    written: Written,
    evidence: Evidence,
    question: str,
    texts: Texts = ENGLISH,
    verdicts: Mapping[str, Verdict] = NO_VERDICTS,
) -> Checked:
    """Check a written answer against its evidence; doubts are worded with ``texts``.

    ``verdicts`` are a model's, by the text of the claim (``Checked.claims``). They override the
    check of words, except for a shown calculation that is wrong.
    """
    sources = {source.number: source for source in evidence.sources}
    literals = literal_spans(written.text)
    # In an answer about "source 2" the number is our own name for it, not a figure.
    asks_by_number = bool(source_numbers(question))
    citations: dict[_Key, Citation] = {}
    claims: list[tuple[str, list[_Key]]] = []  # each with its citations of one page
    doubts: list[Doubt] = []
    disagreements: list[Disagreement] = []
    out: list[str] = []
    held: list[Claim] = []
    lead: int | None = None  # the place of the first sentence that states something
    end = 0
    told = list(sentences(written.text))
    for place, sentence in enumerate(told):
        piece = written.text[sentence.start : sentence.end]
        claim = claim_of(piece)
        cited = _cited(sentence, written, sources)
        of_page: defaultdict[int, list[_Key]] = defaultdict(list)
        for source, passage in cited:
            key = (source.number, passage.start, passage.end)
            citations.setdefault(key, citation(source, passage, texts))
            of_page[source.number].append(key)
        claims += [(claim, keys) for keys in of_page.values()]
        said = without_sources(claim) if asks_by_number else claim
        reason = ""
        if cited or not _makes_no_claim(sentence, piece, written.text, literals):
            lead = place if lead is None else lead
            is_typed = not any(span.overlaps(sentence) for span in written.spans)
            for by in (cited, ()):  # () judges it as if without a footnote
                near = () if by else _cited_near(sentence, written, sources)
                known = "\n".join((question, *evidence.missing, *near))
                reason = _doubt(said, sentence.kind, by, question, known, texts, is_typed=is_typed)
                if not reason or not _goes_on(sentence, written.spans):
                    break
        is_note = piece in written.remarks or not without_gaps(claim.lstrip("> "))
        is_told = not is_note and _is_in_block_quote(sentence, written.text)
        is_asked = bool(cited) or place == lead or is_told
        if is_asked:
            rests_on = list(cited)
            if claim.endswith((":", "：")):  # a list's items support its lead-in
                items = takewhile(lambda each: each.kind != "paragraph", told[place + 1 :])
                for item in items:
                    rests_on += _cited(item, written, sources)
            claimed = cited_claim(claim, list(dict.fromkeys(rests_on)))
            held.append(replace(claimed, anywhere=place == lead or not cited))
        if is_asked and (verdict := verdicts.get(claim)) is not None:
            reason = _by_verdict(verdict, reason, texts, has_footnote=bool(cited))
        if reason:
            doubts.append(Doubt(claim, reason))
        elif cited:
            other = dissent(claim, [source for source, _ in cited], evidence.sources)
            if other is not None:
                key = (other.source.number, other.passage.start, other.passage.end)
                citations.setdefault(key, citation(other.source, other.passage, texts))
                claims.append((other.sentence, [key]))
                disagreements.append(Disagreement(claim, other.source.number, other.sentence))
        out.append(written.text[end : sentence.start])
        out.append(at_tail(piece, DOUBT_MARK) if reason else piece)
        end = sentence.end
    return Checked(
        "".join(out).strip(),
        _proven(citations, claims),
        tuple(doubts),
        tuple(disagreements),
        tuple(held) if any(claim.quotes for claim in held) else (),
    )


def _cited(
    sentence: Sentence, written: Written, sources: dict[int, Source]
) -> list[tuple[Source, Passage]]:
    """The passages a sentence cites: those streamed with it, or the best of each marked page."""
    piece = written.text[sentence.start : sentence.end]
    spans = [span for span in written.spans if span.overlaps(sentence)]
    if len(spans) > 1 and _begins_the_next(spans[-1], sentence, written):
        spans.pop()
    deltas = [delta for span in spans for delta in span.citations]
    found: list[tuple[Source, Passage]] = []
    for delta in dict.fromkeys(deltas):
        source = sources[delta.number]
        found += [(source, passage) for passage in within(source.passages, delta)]
    with_span = {source.number for source, _ in found}
    for number in numbers_in(piece):
        if number in sources and number not in with_span:
            claim = without_marks(piece)
            found += [(sources[number], p) for p in _best(claim, sources[number].passages)]
    return found


def _begins_the_next(span: CitedSpan, sentence: Sentence, written: Written) -> bool:
    """Return True if the end of a sentence belongs to the next sentence's citation: a citation
    inside a sentence leaves its last words to the following block."""
    words = keywords(without_marks(written.text[span.start : sentence.end]))
    return len(words) < FEWEST_WORDS and {*span.citations} == _cited_next(sentence, written.spans)


def _goes_on(sentence: Sentence, spans: Sequence[CitedSpan]) -> bool:
    """Return True if the words after a sentence have the same citations: endpoints put a bare first
    answer ("Astrid Young.") and the sentence that proves it into one block."""
    own = {delta for span in spans if span.overlaps(sentence) for delta in span.citations}
    return bool(own) and own <= _cited_next(sentence, spans)


def _cited_next(sentence: Sentence, spans: Sequence[CitedSpan]) -> set[CitationDelta]:
    """Return the citations of the first cited words after a sentence."""
    behind = [span.start for span in spans if span.start >= sentence.end]
    first = min(behind, default=None)
    return {delta for span in spans if span.start == first for delta in span.citations}


def _best(claim: str, passages: Sequence[Passage]) -> list[Passage]:
    """The passage closest to a claim, and a second one if it has facts that the first lacks."""
    if not passages:
        return []
    words = set(keywords(claim))
    ranked = sorted(passages, key=lambda p: (-len(words & set(terms(p.text))), p.start))
    best = [ranked[0]]
    missing = missing_from(facts(claim), ranked[0].text)
    for passage in ranked[1:]:
        if missing and len(missing_from(missing, passage.text)) < len(missing):
            best.append(passage)
            break
    return best


def cited_claim(text: str, cited: Sequence[tuple[Source, Passage]]) -> Claim:
    return Claim(
        text,
        tuple(passage.text for _, passage in cited),
        tuple(_place(source, passage) for source, passage in cited),
        tuple(CitationDelta(source.number, p.start, p.end) for source, p in cited),
    )


def doubt(claim: str, cited: Sequence[tuple[Source, Passage]], texts: Texts) -> str:
    """Return why passages do not support a claim, or ""."""
    return _doubt(claim, "paragraph", cited, "", "", texts, is_typed=False)


def _doubt(
    claim: str,
    kind: BlockKind,
    cited: Sequence[tuple[Source, Passage]],
    question: str,
    known: str,
    texts: Texts,
    *,
    is_typed: bool,
) -> str:
    """Return why a claim is doubted, or ""; ``known`` are the words that a claim without a footnote
    may use; ``is_typed`` means that its footnotes are typed marks."""
    # Imported here: its regular expressions are slow to compile, and not needed at start-up.
    from bot.text.arithmetic import unproven

    claim = without_gaps(claim)
    quoted = "\n".join(passage.text for _, passage in cited)
    if kind == "row":  # with the column names, if the table began in an earlier passage
        quoted += "\n" + "\n".join(" ".join(columns_in(p.heading)[1]) for _, p in cited)
    if cited and as_compared(claim) in as_compared(quoted):
        return ""  # word for word
    claimed = facts(claim)
    years = sorted({datetime.now(UTC).year, *(source.fetched_at.year for source, _ in cited)})
    if not cited:
        missing = unproven(claim, missing_from(claimed, known), known, question, years)
        return texts("doubt-no-footnote") if missing or _is_news(claim, known) else ""
    missing = missing_from(claimed, quoted)
    around = "\n".join(_surroundings(source for source, _ in cited))
    if is_typed and _is_news(claim, around):
        return texts("doubt-not-covered")
    absent = missing_from(missing, around)
    missing = [fact for fact in missing if fact.kind != "name" or fact in absent]
    titled = " ".join(_YEAR.findall(" ".join(source.title for source, _ in cited)))
    absent = missing_from(missing, titled) if titled else missing
    missing = [fact for fact in missing if fact.kind != "date" or fact in absent]
    missing = unproven(claim, missing, f"{quoted}\n{titled}", question, years)
    if not missing:
        return ""
    named = ", ".join(dict.fromkeys(fact.text for fact in missing))
    return texts("doubt-not-quoted", facts=named)


def _by_verdict(verdict: Verdict, reason: str, texts: Texts, *, has_footnote: bool) -> str:
    """Return why a claim is doubted after a model's verdict, or ""."""
    if verdict.judgement == "contradicted":
        return texts("doubt-contradicted")
    if verdict.judgement == "supported":
        return reason if _CALCULATION.search(reason) else ""
    if not has_footnote:
        return texts("doubt-no-footnote")
    if verdict.words:
        return texts("doubt-not-quoted", facts=verdict.words)
    return texts("doubt-not-covered")


def _cited_near(
    sentence: Sentence, written: Written, sources: Mapping[int, Source]
) -> Iterator[str]:
    """Yield the passages cited in a sentence's paragraph and in the one before; for typed marks,
    all passages of their pages."""
    text = written.text
    above, _, _ = text[: sentence.start].rpartition("\n\n")
    earlier, _, _ = above.rpartition("\n\n")
    rest, _, _ = text[sentence.end :].partition("\n\n")
    around = Sentence(len(earlier), sentence.end + len(rest), sentence.kind)
    for delta in dict.fromkeys(
        delta for span in written.spans if span.overlaps(around) for delta in span.citations
    ):
        yield from (passage.text for passage in within(sources[delta.number].passages, delta))
    for number in numbers_in(text[around.start : around.end]) if not written.spans else ():
        if number in sources:
            yield from (passage.text for passage in sources[number].passages)


def _is_news(claim: str, known: str) -> bool:
    """Return True if most words of a claim are unknown, and enough of them to make a statement."""
    words = set(keywords(_TARGET.sub("]", claim)))
    return len(words) >= FEWEST_WORDS and len(words & set(terms(known))) < DERIVED * len(words)


def _place(source: Source, passage: Passage) -> str:
    """Return a passage's page title and headings, in which pages say who "he" is."""
    heading = passage.heading
    same = heading == source.title or heading.startswith(source.title + HEADING_SEPARATOR)
    return heading if same else HEADING_SEPARATOR.join(filter(None, (source.title, heading)))


def _surroundings(sources: Iterable[Source]) -> Iterable[str]:
    for source in {source.number: source for source in sources}.values():
        yield source.title
        for passage in source.passages:
            yield passage.heading
            yield passage.text


def _makes_no_claim(
    sentence: Sentence, piece: str, text: str, literals: Sequence[tuple[int, int]]
) -> bool:
    if sentence.kind in ("heading", "code") or piece.rstrip().endswith((":", "：")):
        return True
    if _is_in_block_quote(sentence, text):
        return True
    return any(start <= sentence.start and sentence.end <= stop for start, stop in literals)


def _is_in_block_quote(sentence: Sentence, text: str) -> bool:
    line = text.rfind("\n", 0, sentence.start) + 1
    return text[line : sentence.end].lstrip().startswith(">")


def _proven(
    citations: dict[_Key, Citation], claims: Iterable[tuple[str, Sequence[_Key]]]
) -> tuple[Citation, ...]:
    """Return the citations, each with the spans that support the claims."""
    places = {key: place for place, key in enumerate(citations)}
    found = proofs(
        [citation.quote for citation in citations.values()],
        [(claim, [places[key] for key in keys]) for claim, keys in claims],
    )
    return tuple(
        replace(citation, proof=each.spans, shared=each.shared)
        for citation, each in zip(citations.values(), found, strict=True)
    )

"""Gathers without a model: decides from the workspace alone what to search and read next.

The question's names and keywords are searched first. On every page read, names in sentences related
to the question become leads. A lead is searched with the words of the question that its sentence
has not explained ("Who leads the country where Buyende lies?": Buyende's page names Uganda, so
"Uganda leads" is next). The next hit to read is the one that covers most of the open words, or
follows a strong lead. Names that a question asks for by a relation ("the performer of") are
recognized by the words with which pages state the relation ("by", "sung", "album").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bot.reasoning.evidence import Source
from bot.reasoning.extractive.quotes import findings
from bot.reasoning.extractive.reading import without_links
from bot.reasoning.extractive.words import (
    PLACEHOLDERS,
    TELLING,
    asks_by_relation,
    holds,
    mentions,
    named,
    names_of,
    prominence,
    sentences_of,
    term_tuple,
    title_terms,
)
from bot.reasoning.questions import SubQuestion
from bot.reasoning.workspace import Finish, Read, Search, Turn, Workspace
from bot.text.terms import content_words, has_cjk, keywords

# The numbers below were chosen with tests/bench/multihop.py, on all of its questions. Changing one
# by a third mostly changes the share of questions whose pages are all read by a few points;
# WORTH_READING and AT_ONCE change it by 5 to 12 points at 8 pages.
FIRST_QUERIES = 4  # for the question itself
MOST_WORDS = 16  # of a query
LONGEST_QUERY = 200  # characters
QUERIES = 3  # per later search
MOST_PAGES = 8  # read for one question
AT_ONCE = 2  # pages read in one turn, after the first
FOUND = 6  # pages read for a question without leads
OPEN_WORDS = 3  # of the question, at most, in a query with a lead
SAME_QUERY = 0.8  # Jaccard similarity of keywords from which the workspace sees a repeat
PLACEHOLDER_WEIGHT = 0.2  # of a word such as "country", relative to a specific one
EXPLAINED = 0.15  # of a word's weight remains once a page that was read has it
IN_TITLE = 0.6  # of a word's weight is added if the hit's title has it
MENTIONED = 0.6  # added for a hit whose title the question names
LONE_WORD = 0.5  # of that, if the title is a single word
TOP_RANK = 0.3  # added for a first place in a query's hits, halved for the second, and so on
BY_RELATION = 0.7  # of a word's weight, if a sentence states the relation in other words
CLOSE = 0.3  # added to a lead directly preceded by the relation's words
EARLY = 0.1  # added to a lead in a page's first sentence, less for later ones
FOLLOWED = 1.2  # weight of a lead relative to what a hit covers by itself
LEAD_STRENGTH = 0.5
BOTH = 0.3  # of the smaller score is added if a hit covers much and follows a lead
TOLD = 0.8  # share of the question's weight in one passage that ends the search
AGREEING = 3  # pages are read nevertheless
WORTH_READING = 0.25  # score of a hit below which the search ends

WORTH_FOLLOWING = 0.15  # strength of a lead below which it is not searched

TURNS_FOR_READING = 5  # besides one turn for each search


def next_turn(question: SubQuestion, workspace: Workspace) -> Turn:
    """Return the next actions; a pure function that finishes after a bounded number of turns."""
    trail = _Trail(replace(question, text=without_links(question.text)), workspace)
    if trail.is_over():
        return _finish(question, workspace)
    if queries := trail.queries():
        return Turn((Search(tuple(queries)),))
    if numbers := trail.worth_reading():
        return Turn((Read(tuple(numbers)),))
    if queries := trail.other_wordings():
        return Turn((Search(tuple(queries)),))
    return _finish(question, workspace)


def first_queries(question: str) -> list[str]:
    """Return up to 4 short queries for a question: its content words, then its names.

    Links are left out: they are to be read, and parts of an address find nothing.
    """
    question = without_links(question)
    longest_first = sorted(named(question), key=lambda name: -len(term_tuple(name)))
    words = " ".join(content_words(question)[:MOST_WORDS])
    short = (query[:LONGEST_QUERY].strip() for query in (words, *longest_first))
    return [query for query in dict.fromkeys(short) if query][:FIRST_QUERIES]


def _finish(question: SubQuestion, workspace: Workspace) -> Turn:
    found, missing = findings(question.text, workspace.sources, workspace.rarity)
    return Turn((Finish(found, enough=bool(found) and not missing, missing=missing),))


@dataclass(slots=True)
class _Candidate:
    """A hit that can be read, with all its snippets."""

    number: int
    title: str
    url: str
    rank: int  # the best over all queries, from 0
    snippets: list[str] = field(default_factory=list)

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(term for text in (self.title, *self.snippets) for term in term_tuple(text))


@dataclass(frozen=True, slots=True)
class _Lead:
    """A name found on a page: its strength, and the terms still to be answered."""

    name: str
    terms: tuple[str, ...]
    strength: float
    open: frozenset[str]


class _Trail:
    """The workspace as interpreted by this reasoner."""

    def __init__(self, question: SubQuestion, workspace: Workspace) -> None:
        self._question = question
        self._desk = workspace
        self._wanted = frozenset(keywords(question.text))
        self._sources = _first_of_each(workspace.sources)
        self._tried = {n for turn in workspace.turns for a in turn.turn.actions
                       if isinstance(a, Read) for n in a.ids}  # fmt: skip
        self._pool = self._candidates()
        self._weigh()
        self._explained = frozenset(
            term
            for source in self._sources
            for text in (source.title, *(passage.text for passage in source.passages))
            for term in term_tuple(text)
        )
        self._by_relation = asks_by_relation(question.text, workspace.rarity)
        self._leads = self._follow() if self._by_relation else {}

    # ------------------------------------------------------------ next actions

    def is_over(self) -> bool:
        searched = sum(isinstance(a, Search) for t in self._desk.turns for a in t.turn.actions)
        turns = searched + self._desk.searches_left + TURNS_FOR_READING
        return (
            not self._wanted
            or len(self._desk.turns) >= turns
            or self._desk.pages_left < 1
            or len(self._sources) >= MOST_PAGES
            or (len(self._sources) >= AGREEING and self._is_told())
        )

    def _is_told(self) -> bool:
        """Return True if one passage has nearly all terms, so that the question needs no further
        hops."""
        return any(
            sum(self._weights[term] for term in self._wanted.intersection(told))
            >= TOLD * self._total
            for source in self._sources
            for passage in source.passages
            for told in [(*term_tuple(source.title), *term_tuple(passage.text))]
        )

    def queries(self) -> list[str]:
        """Return the queries to search now: first the question's, then those of new leads."""
        if self._desk.searches_left < 1:
            return []
        last = self._desk.turns[-1].turn.actions if self._desk.turns else ()
        if not last:
            asked = self._question.queries or first_queries(self._question.text)
            return self._new(asked, FIRST_QUERIES)
        return self._new(self._lead_queries()) if isinstance(last[-1], Read) else []

    def worth_reading(self) -> list[int]:
        """Return the numbers of the best hits; more at once after the first read."""
        is_talk = self._question.scope.talk.first  # where later messages count as much
        if is_talk or (self._desk.rarity and not self._by_relation):
            return self._first_found()
        scored = [(self._score(hit), hit) for hit in self._pool.values()]
        best = sorted(scored, key=lambda pair: (-pair[0], pair[1].number))
        worth = [hit.number for score, hit in best if score >= WORTH_READING]
        room = min(self._desk.pages_left, MOST_PAGES - len(self._sources))
        return worth[: min(AT_ONCE if self._sources else 1, room)]

    def _first_found(self) -> list[int]:
        """The best hits of the question itself, then of its sides, once: there are no leads."""
        if self._sources:
            return []
        first, *others = [[hit.number for hit in r.hits] for r in self._desk.results] or [[]]
        wanted = [*first[: FOUND if not others else FOUND - 2]]
        wanted += [number for found in others for number in found[:2]]
        return list(dict.fromkeys(wanted))[: min(MOST_PAGES, self._desk.pages_left)]

    def other_wordings(self) -> list[str]:
        """Return queries for when nothing is left to read: the question's words one by one, longest
        first."""
        if self._desk.searches_left < 1 or (self._sources and not self._by_relation):
            return []
        words = sorted(content_words(self._question.text), key=lambda word: -len(word))
        return self._new([*named(self._question.text), *words])

    def _new(self, queries: Iterable[str], most: int = QUERIES) -> list[str]:
        """Return the first few queries that do not repeat earlier ones, even nearly."""
        queries = (query[:LONGEST_QUERY].strip() for query in queries)
        asked = [frozenset(keywords(result.query)) for result in self._desk.results]
        new: list[str] = []
        for query in queries:
            words = frozenset(keywords(query))
            if words and not any(_alike(words, earlier) for earlier in asked):
                new.append(query)
                asked.append(words)
            if len(new) == most:
                break
        return new

    def _lead_queries(self) -> Iterator[str]:
        written = content_words(self._question.text)
        for lead in sorted(self._leads.values(), key=lambda lead: (-lead.strength, lead.name)):
            if lead.strength < WORTH_FOLLOWING:
                break
            weights = {
                word: max(self._weights.get(term, 0.0) for term in term_tuple(word))
                for word in written
                if not lead.open.isdisjoint(term_tuple(word))
            }
            kept = sorted(weights, key=lambda word: -weights[word])[:OPEN_WORDS]
            yield " ".join([lead.name, *(word for word in written if word in kept)])

    # ------------------------------------------------------------ scores of hits

    def _candidates(self) -> dict[int, _Candidate]:
        read = {source.url for source in self._sources}
        pool: dict[int, _Candidate] = {}
        for result in self._desk.results:
            for rank, numbered in enumerate(result.hits):
                hit = numbered.hit
                if hit.url in read or numbered.page is not None or numbered.number in self._tried:
                    continue
                candidate = pool.setdefault(
                    numbered.number, _Candidate(numbered.number, hit.title, hit.url, rank)
                )
                candidate.rank = min(candidate.rank, rank)
                if hit.snippet not in candidate.snippets:
                    candidate.snippets.append(hit.snippet)
        return pool

    def _weigh(self) -> None:
        """Weigh the question's terms by their rarity among all results (BM25's IDF)."""
        documents = {
            numbered.number: term_tuple(f"{numbered.hit.title}\n{numbered.hit.snippet}")
            for result in self._desk.results
            for numbered in result.hits
        }
        self._documents = len(documents) + 1
        self._found_in = Counter(
            term for document in documents.values() for term in frozenset(document)
        )
        in_names = {term for name in named(self._question.text) for term in term_tuple(name)}
        self._weights = {
            term: self._rarity(term)
            * (PLACEHOLDER_WEIGHT if term in PLACEHOLDERS and term not in in_names else 1)
            for term in self._wanted
        }
        self._total = sum(self._weights.values()) or 1.0

    def _rarity(self, term: str) -> float:
        n = self._found_in[term]
        return math.log(1 + (self._documents - n + 0.5) / (n + 0.5))

    def _left(self, term: str) -> float:
        """Return the weight of a term, reduced if a page that was read has it."""
        return self._weights[term] * (EXPLAINED if term in self._explained else 1.0)

    def _score(self, hit: _Candidate) -> float:
        by_itself = self._covered(hit) + self._mentioned(hit) + TOP_RANK / (1 + hit.rank)
        by_lead = max((self._followed(hit, lead) for lead in self._leads.values()), default=0.0)
        return max(by_itself, by_lead) + BOTH * min(by_itself, by_lead)

    def _covered(self, hit: _Candidate) -> float:
        covered = sum(self._left(term) for term in hit.terms & self._wanted)
        titled = sum(self._left(term) for term in self._wanted & set(title_terms(hit.title)))
        return (covered + IN_TITLE * titled) / self._total

    def _mentioned(self, hit: _Candidate) -> float:
        sure = mentions(self._question.text, hit.title)
        if not sure:
            return 0.0
        words = title_terms(hit.title)
        rarity = sum(self._rarity(term) for term in words) / len(words)
        special = 0.5 + rarity / math.log(self._documents + 1)
        special = min(1.0, special * (LONE_WORD if len(words) == 1 else 1.0))
        if any(title_terms(source.title) == words for source in self._sources):
            special /= 2  # a page with the same name was read
        return MENTIONED * sure * special

    def _followed(self, hit: _Candidate, lead: _Lead) -> float:
        at = prominence(lead.terms, hit.title, hit.snippets)
        if not at:
            return 0.0
        covered = sum(self._weights[term] for term in hit.terms & lead.open) / self._total
        return FOLLOWED * at * (LEAD_STRENGTH * lead.strength + covered * (0.5 + lead.strength))

    # ------------------------------------------------------------ leads

    def _follow(self) -> dict[str, _Lead]:
        """Return the leads of all pages in reading order; the strongest for each name."""
        leads: dict[str, _Lead] = {}
        for source in self._sources:
            trust, still_open = self._came_by(source, leads)
            for lead in self._leads_in(source, trust, still_open):
                known = leads.get(lead.name)
                if known is None or known.strength < lead.strength:
                    leads[lead.name] = lead
        return leads

    def _came_by(self, source: Source, leads: dict[str, _Lead]) -> tuple[float, frozenset[str]]:
        """Return how much a page is trusted for leads, and the terms open when it was reached."""
        if mentions(self._question.text, source.title):
            return 1.0, self._wanted
        opening = [passage.text for passage in source.passages[:1]]
        best: tuple[float, _Lead] | None = None
        for lead in leads.values():
            trust = prominence(lead.terms, source.title, opening) * lead.strength
            if trust > 0 and (best is None or trust > best[0]):
                best = trust, lead
        return (min(1.0, best[0]), best[1].open) if best else (1.0, self._wanted)

    def _leads_in(
        self, source: Source, trust: float, still_open: frozenset[str]
    ) -> Iterator[_Lead]:
        titled = frozenset(title_terms(source.title))
        place = 0
        for passage in source.passages:
            for sentence, prose in sentences_of(passage.text):
                place += 1
                told = titled.union(term_tuple(sentence))
                explained, share = self._explain(told, still_open)
                for name, before in self._names_in(sentence, prose):
                    words = term_tuple(name)
                    if not words or self._wanted.issuperset(words) or titled.issuperset(words):
                        continue
                    close = CLOSE if self._explain(frozenset(before), still_open)[0] else 0.0
                    strength = trust * (share + close + EARLY / (1 + 0.3 * place))
                    yield _Lead(name, words, strength, still_open - explained)

    def _explain(
        self, told: frozenset[str], still_open: frozenset[str]
    ) -> tuple[frozenset[str], float]:
        """The open terms that a sentence answers, and their share of the question's weight."""
        said = still_open & told
        related = frozenset(
            term for term in still_open - said if not TELLING.get(term, _NONE).isdisjoint(told)
        )
        share = sum(self._weights[t] for t in said)
        share += BY_RELATION * sum(self._weights[t] for t in related)
        return said | related, share / self._total

    def _names_in(self, sentence: str, prose: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the names in a sentence, each with the terms directly before it; ``prose`` is the
        sentence without code.

        Chinese, Japanese and Korean do not mark names, so titles of hits are searched for instead.
        """
        yield from names_of(prose)
        if has_cjk(sentence):
            words = term_tuple(sentence)
            for hit in self._pool.values():
                if has_cjk(hit.title) and holds(words, title_terms(hit.title)):
                    yield hit.title, ()


_NONE: frozenset[str] = frozenset()


def _first_of_each(sources: Sequence[Source]) -> list[Source]:
    """Return one source for each page, in reading order."""
    return list({source.url: source for source in reversed(sources)}.values())[::-1]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME_QUERY * len(one | other)

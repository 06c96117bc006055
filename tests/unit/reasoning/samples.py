"""Desks, evidence and other values that the tests of the reasoners need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.core.messages import Entry, Transcript
from bot.pages.passages import Passage, split
from bot.reasoning.evidence import (
    Action,
    Evidence,
    Finding,
    Malformed,
    NumberedHit,
    Outcome,
    QueryResult,
    Read,
    ReadResult,
    Rewritten,
    Search,
    Source,
    SubQuestion,
    Turn,
    Workspace,
    WorkspaceTurn,
)
from bot.search.provider import Hit
from bot.text.terms import keywords, terms
from tests.unit.samples import NOW

QUESTION = SubQuestion("How tall is the Eiffel Tower, and who built it?", "en", ("eiffel tower",))
ASKED = Rewritten("search", QUESTION.text, ("eiffel tower height",))


def a_source(number: int = 1, *texts: str, title: str = "", heading: str = "History") -> Source:
    """A source whose passages lie one after another in its page."""
    passages, start = [], 0
    for text in texts or ("The Eiffel Tower is 330 metres tall.", "Gustave Eiffel built it."):
        passages.append(Passage(start, start + len(text), text, heading))
        start += len(text) + 1
    url = f"https://example.org/{number}"
    return Source(number, url, title or f"Page {number}", tuple(passages), f"hash{number}", NOW)


def a_page_read(number: int, title: str, text: str) -> Source:
    """A source of which the whole page was read."""
    url = f"https://example.org/{number}"
    return Source(number, url, title, tuple(split(text)), f"hash{number}", NOW)


def rarity_in(sources: Sequence[Source], *texts: str, passages: int = 1_000) -> dict[str, float]:
    """The rarity of the terms of texts in documents of so many passages, those of the sources
    among them: BM25's inverse document frequency, as ``search.provider.Lexicon`` gives it."""
    read = [
        {*terms(passage.text), *terms(passage.heading), *terms(source.title)}
        for source in sources
        for passage in source.passages
    ]
    wanted = [term for text in texts for term in keywords(text)]
    found = {term: sum(term in words for words in read) for term in wanted}
    counts = {"": 0} | found
    return {t: math.log(1 + (passages - n + 0.5) / (n + 0.5)) for t, n in counts.items()}


def hits(*titles: str, first: int = 1) -> tuple[NumberedHit, ...]:
    return tuple(
        NumberedHit(n, Hit(title, f"https://example.org/{n}", f"About {title}.", "wiki"))
        for n, title in enumerate(titles, first)
    )


def outcome(action: Action, number: int = 1) -> Outcome:
    """Something that an action might have given."""
    if isinstance(action, Search):
        results = tuple(
            QueryResult(query, hits(f"{query} A", f"{query} B", first=10 * number + 1))
            for query in action.queries
        )
        return Outcome(action.id, queries=results)
    if isinstance(action, Read):
        reads = tuple(ReadResult(n, a_source(n)) for n in action.ids)
        return Outcome(action.id, reads=reads)
    if isinstance(action, Malformed):
        return Outcome(action.id, problem=action.problem)
    return Outcome(action.id, problem="Finish alone.")


def carry_out(workspace: Workspace, turn: Turn, nudge: str = "") -> Workspace:
    """The workspace after a turn, as the core would leave it."""
    outcomes = tuple(outcome(action, len(workspace.turns) + 1) for action in turn.actions)
    searches = sum(isinstance(action, Search) for action in turn.actions)
    return replace(
        workspace,
        turns=(*workspace.turns, WorkspaceTurn(turn, outcomes, nudge)),
        searches_left=workspace.searches_left - searches,
    )


def evidence(*sources: Source, **more: Any) -> Evidence:
    return Evidence(sources=sources, **{"enough": True, "queries": ("eiffel tower",), **more})


def a_transcript(*entries: Entry) -> Transcript:
    return Transcript(entries)


def finding(text: str, *sources: int) -> Finding:
    return Finding(text, sources)


def texts(blocks: Sequence[dict[str, Any]]) -> str:
    """All text of a message's content, tool and search results included."""
    found = []
    for block in blocks:
        if block["type"] == "text":
            found.append(block["text"])
        elif block["type"] == "tool_result":
            inner = block["content"]
            found.append(inner if isinstance(inner, str) else texts(inner))
        elif block["type"] == "search_result":
            found += [block["title"], texts(block["content"])]
    return "\n".join(found)

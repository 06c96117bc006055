"""Recall of pages for follow-ups: each way of completing them, by the real index."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.messages import Entry, Transcript
from bot.reasoning.closest.rewrite import LONGEST_QUERY, leans, rewrite
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments
from bot.search.provider import Hit, Query
from tests.bench.follow_ups import (
    KINDS,
    Half,
    Pages,
    Talk,
    chinese,
    chinese_pages,
    english,
    english_pages,
)
from tests.bench.table import print_table, tell
from tests.unit.samples import a_message

FIRST = 4
UNTITLED = "page"  # a title that says nothing
Way = Callable[[Transcript, str], str]
Ranks = dict[str, int]  # the place of the right page for each conversation; 0: not among the hits


class Documents:
    """Pages in the index of local documents, asked as a run asks them."""

    def __init__(self, folder: Path, pages: Pages) -> None:
        documents = folder / "documents"
        documents.mkdir()
        self._keys: dict[str, str] = {}
        for number, (key, (title, text)) in enumerate(pages.items()):
            path = documents / f"{number:05}" / f"{UNTITLED}.md"
            path.parent.mkdir()
            heading = f"# {title}\n\n" if title else ""
            path.write_text(f"{heading}{text}\n", encoding="utf-8")
            self._keys[path.as_uri()] = key
        Indexer(folder / "index.sqlite").index([documents])
        self._documents = LocalDocuments(folder / "index.sqlite", [documents])
        self._known: dict[str, list[tuple[str, Hit]]] = {}

    async def search(self, question: str) -> list[tuple[str, Hit]]:
        """The keys of the pages found for a question, with their hits."""
        text = " ".join(question.split())[:LONGEST_QUERY]
        if text not in self._known:
            hits = await self._documents.search(Query(text, 10))
            self._known[text] = [(self._keys[hit.url], hit) for hit in hits]
        return self._known[text]

    async def aclose(self) -> None:
        await self._documents.aclose()


async def ranks(documents: Documents, talks: Sequence[Talk], way: Way) -> Ranks:
    """The place of the right page in each conversation, whose answers are what was found."""
    found: Ranks = {}
    for talk in talks:
        entries: list[Entry] = []
        keys: list[str] = []
        for said in talk.said:
            question = way(Transcript(tuple(entries)), said)
            hits = await documents.search(question)
            keys = list(dict.fromkeys(key for key, _ in hits))
            entries.append(Entry("person", "Ada", said))
            if hits:
                hit = hits[0][1]
                titles = (hit.title,) if hit.title != UNTITLED else ()
                entries.append(Entry("footnote", "Footnote", hit.snippet, titles, question))
        found[talk.id] = keys.index(talk.page) + 1 if talk.page in keys else 0
    return found


def _said(transcript: Transcript) -> list[str]:
    return [entry.text for entry in transcript.entries if entry.role == "person"] or [""]


def _last_title(transcript: Transcript) -> str:
    ours = [entry for entry in transcript.entries if entry.role == "footnote"]
    return " ".join(ours[-1].sources) if ours else ""


def _as_the_reasoner_does(transcript: Transcript, said: str) -> str:
    return rewrite(transcript, a_message(said)).question


def _if_it_leans(before: Transcript, said: str, added: str) -> str:
    return f"{said} {added}" if leans(said, "en") else said


WAYS: Mapping[str, Way] = {
    "raw turn": lambda before, said: said,
    "+ first turn": lambda before, said: f"{said} {_said(before)[0]}",
    "+ previous turn": lambda before, said: f"{said} {_said(before)[-1]}",
    "+ title found last": lambda before, said: f"{said} {_last_title(before)}",
    "+ first turn if it leans": lambda before, said: _if_it_leans(before, said, _said(before)[0]),
    "+ title if it leans": lambda before, said: _if_it_leans(before, said, _last_title(before)),
    "closest passages": _as_the_reasoner_does,
}


def print_pages(half: Half) -> None:
    """Print how often each way finds the right page, first and among the first four."""
    rows: list[list[object]] = []
    for language, talks, pages in (
        ("en", english(), english_pages()),
        ("zh", chinese(), chinese_pages()),
    ):
        ours = [talk for talk in talks if talk.half == half]
        tell(f"{language}: {len(ours)} conversations, {len(pages)} pages")
        for way, places in asyncio.run(_measured(ours, pages)).items():
            cells = []
            for kind in (*KINDS, ""):
                of_kind = [places[talk.id] for talk in ours if kind in ("", talk.kind)]
                first = sum(place == 1 for place in of_kind) / len(of_kind)
                among = sum(0 < place <= FIRST for place in of_kind) / len(of_kind)
                cells.append(f"{first:.0%} {among:.0%}")
            rows.append([language, way, *cells])
    print_table(("pages", "way", *KINDS, "all"), rows)


async def _measured(talks: Sequence[Talk], pages: Pages) -> dict[str, Ranks]:
    with tempfile.TemporaryDirectory() as folder:
        documents = Documents(Path(folder), pages)
        try:
            return {label: await ranks(documents, talks, way) for label, way in WAYS.items()}
        finally:
            await documents.aclose()

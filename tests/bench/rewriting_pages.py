"""Whether the right page is found for a follow-up: each way of completing it, by the real index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.messages import Entry, Transcript
from bot.reasoning.extractive.hops import LONGEST_QUERY
from bot.reasoning.extractive.rewrite import rewrite
from bot.search.indexer import Indexer
from bot.search.local import LocalDocuments
from bot.search.provider import Hit, Query
from tests.bench.follow_ups import Pages, Talk
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
                title = hit.title if hit.title != UNTITLED else ""
                answer = Entry(
                    "footnote", "Footnote", hit.snippet, (title,) if title else (), question
                )
                entries.append(answer)
        found[talk.id] = keys.index(talk.page) + 1 if talk.page in keys else 0
    return found


def first_question(transcript: Transcript) -> str:
    return next((entry.text for entry in transcript.entries if entry.role == "person"), "")


def last_question(transcript: Transcript) -> str:
    said = [entry.text for entry in transcript.entries if entry.role == "person"]
    return said[-1] if said else ""


def last_title(transcript: Transcript) -> str:
    ours = [entry for entry in transcript.entries if entry.role == "footnote"]
    return " ".join(ours[-1].sources) if ours else ""


def as_it_is(transcript: Transcript, said: str) -> str:
    return rewrite(transcript, a_message(said)).question


WAYS: Mapping[str, Way] = {
    "raw turn": lambda before, said: said,
    "raw + first turn": lambda before, said: f"{said} {first_question(before)}",
    "raw + previous turn": lambda before, said: f"{said} {last_question(before)}",
    "raw + title found last": lambda before, said: f"{said} {last_title(before)}",
    "extractive": as_it_is,
}

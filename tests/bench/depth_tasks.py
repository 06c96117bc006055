"""The questions of the depth bench, which page each of their hops needs, and the pages.

MuSiQue composes its questions from single-hop ones; the id tells how (Trivedi et al. 2022,
"MuSiQue: Multihop Questions via Single-hop Question Composition", table 1): ``2hop``, ``3hop1``
and ``4hop1`` are chains, ``3hop2`` joins two independent parts, ``4hop3`` joins a chain of two and
an independent part. The data names the gold pages without their order, so the order is derived
here, by one rule for all questions (see ``_task``); it decides only what must be read before what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bot.text.terms import fold, keywords
from tests.bench.corpus import MemoryCorpus

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "multihop"
PAGE_CHARACTERS = 20_000  # an ordinary article: about 5,000 tokens
EXCERPT = 160  # characters of a page that an answer repeats
FEWEST_WORDS = 4  # of a sentence by which a text is known again

TWO, CHAIN, PARTS = "2 hops", "3-4 hops, a chain", "3-4 hops, independent parts"


@dataclass(frozen=True, slots=True)
class Part:
    """One hop: the page that shows its fact, and the titles that must have been read before."""

    title: str
    needs: tuple[str, ...]
    fact: str  # the beginning of the page, in one line
    proof: str  # the gold text, sentence by sentence, each as its words in lower case

    def is_shown(self, text: str) -> bool:
        """Return True if a text holds a whole sentence of the gold one."""
        words = _plain(text)
        return any(sentence in words for sentence in self.proof.splitlines())


@dataclass(frozen=True, slots=True)
class Task:
    """A question and its hops, each after those that it needs."""

    id: str
    question: str
    kind: str  # TWO, CHAIN or PARTS
    parts: tuple[Part, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(part.title for part in self.parts)

    @property
    def layers(self) -> tuple[tuple[Part, ...], ...]:
        """The parts by how many others stand before them in their longest chain."""
        depth: dict[str, int] = {}
        for part in self.parts:
            depth[part.title] = 1 + max((depth[need] for need in part.needs), default=-1)
        return tuple(
            tuple(part for part in self.parts if depth[part.title] == level)
            for level in range(max(depth.values()) + 1)
        )

    def ready(self, read: Sequence[str]) -> tuple[Part, ...]:
        """The parts not read yet whose needs all were."""
        return tuple(p for p in self.parts if p.title not in read and set(p.needs) <= set(read))


def load_texts() -> dict[str, str]:
    """Title → text, as the data has it."""
    texts: dict[str, str] = json.loads((DATA / "pages.json").read_text(encoding="utf-8"))
    return texts


def load_tasks(texts: Mapping[str, str]) -> list[Task]:
    """All questions of at least two pages, in the order of the data."""
    questions = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
    return [_task(q, texts) for q in questions if len(q["gold"]) >= 2]


def chosen(tasks: Sequence[Task], each: int) -> list[Task]:
    """The first ``each`` questions of each kind."""
    return [
        task
        for kind in (TWO, CHAIN, PARTS)
        for task in [task for task in tasks if task.kind == kind][:each]
    ]


def article(title: str, texts: Mapping[str, str], titles: Sequence[str], at: int) -> str:
    """A page at an ordinary article's size, as MediaWiki gives extracts.

    The data holds only the openings of articles; other pages' texts stand for the further sections.
    ``at`` is the title's place among ``titles``.
    """
    parts, length = [texts[title]], len(texts[title])
    while length < PAGE_CHARACTERS:
        at = (at + 1) % len(titles)
        parts.append(f"== {titles[at]} ==\n{texts[titles[at]]}")
        length += len(parts[-1])
    return "\n\n\n".join(parts)


class Pages:
    """The corpus, its search by BM25, and its pages at an article's size."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._titles = list(texts)
        self._places = {title: at for at, title in enumerate(self._titles)}
        self._corpus = MemoryCorpus(texts)
        self.search = lru_cache(4096)(self._search)
        self.text: Callable[[str], str] = lru_cache(4096)(self._article)

    def __contains__(self, title: str) -> bool:
        return title in self._texts

    def _search(self, query: str, limit: int) -> list[tuple[str, str]]:
        """Titles and snippets, best first."""
        titles = [self._corpus.title(url) for url in self._corpus.best(query, limit)]
        return [(title, self._texts[title][:200]) for title in titles]

    def _article(self, title: str) -> str:
        return article(title, self._texts, self._titles, self._places[title])


def _task(question: Mapping[str, object], texts: Mapping[str, str]) -> Task:
    """The last page is the one that holds the answer and is least named in the question, those
    named in it come first; the kind in the id says how many of them need nothing."""
    id, asked = str(question["id"]), str(question["question"])
    gold = [str(title) for title in _list(question["gold"])]
    answers = [str(answer) for answer in (question["answer"], *_list(question["aliases"]))]
    last = max(gold, key=lambda title: _ends(title, gold, asked, answers, texts))
    rest = sorted((t for t in gold if t != last), key=lambda t: not _named(t, asked))
    shape = id.partition("__")[0]
    starts = rest[:2] if shape in ("3hop2", "4hop3") else rest[:1]
    needs: dict[str, tuple[str, ...]] = dict.fromkeys(starts, ())
    before = starts[0]
    for title in rest[len(starts) :]:
        if len(starts) > 1:  # whichever start its title is taken from
            before = max(starts, key=lambda start: _taken(title, texts[start]))
        needs[title] = (before,)
        before = title
    ends = [title for title in rest if not any(title in need for need in needs.values())]
    needs[last] = tuple(ends)
    kind = TWO if len(gold) == 2 else PARTS if len(starts) > 1 else CHAIN
    parts = tuple(
        Part(title, needed, _fact(texts[title]), _proof(texts[title]))
        for title, needed in needs.items()
    )
    return Task(id, asked, kind, parts)


def _ends(
    title: str,
    gold: Sequence[str],
    asked: str,
    answers: Sequence[str],
    texts: Mapping[str, str],
) -> tuple[bool, int, bool]:
    """A sort key: the largest is that of the page most like the last one of its chain."""
    answered = any(fold(answer) in fold(texts[title]) for answer in answers)
    others = " ".join(texts[other] for other in gold if other != title)
    return answered, _taken(title, others), not _named(title, asked)


def _taken(title: str, text: str) -> int:
    """The number of words of a title that another page holds."""
    return len(set(keywords(title)) & set(keywords(text)))


def _named(title: str, asked: str) -> bool:
    return fold(re.split(r" \(|,", title)[0]) in fold(asked)


def _fact(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT else line[:EXCERPT].rpartition(" ")[0]


def _proof(text: str) -> str:
    sentences = [_plain(sentence) for sentence in re.split(r"(?<=[.!?])\s+", text)]
    whole = [s for s in sentences if s.count(" ") >= FEWEST_WORDS]
    return "\n".join(whole or sentences)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value

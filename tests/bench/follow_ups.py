"""Measures how often the page that a follow-up asks for is found without a model.

Each way of completing a follow-up is searched in the real index: how often is the right page
first, and among the first four? The conversations are made mechanically from questions whose page
is known.

Every question is one that people asked about a paragraph of Wikipedia (XQuAD, English and
Chinese, whose questions are translations of each other), and is searched among all 240 paragraphs,
in English with 7,882 pages of MuSiQue beside them. Two questions on one article that share a name
make a follow-up: in the second one, the name becomes a pronoun or is left out.

  pronoun   the name is a pronoun: "What year did he die?"
  left out  it is missing: "What is the population?" of "... of Warsaw?"
  about     "What about Edison?": only what is new is said
  later     the second follow-up in a row
  change    a question on another article, which names its own subject: carrying the old one harms
  after     a follow-up on that new subject

The articles are in two halves by a hash of their title: "tune" is for choosing rules, "held" is
only measured.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any, Literal

from bot.core.messages import Entry, Transcript
from bot.reasoning.closest_reasoner import LONGEST_QUERY, leans
from bot.reasoning.closest_reasoner import question_of as rewrite
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Hit, Query
from bot.text.terms import STOP_WORDS, content_words, fold
from tests.bench.frame import SHARED, options, print_table, tell
from tests.unit.samples import a_message

Half = Literal["tune", "held"]
KINDS = ("pronoun", "left out", "about", "later", "change", "after")
PER_ARTICLE = 6  # conversations of each kind
PRONOUNS_OF_PERSON = 0.004  # of an article's words are "he" or "she" if it is about a person

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_BEFORE = r"(?:\s+(?:of|in|for|at|by|from|on|about|with|to))?\s+(?:the\s+)?"
_HAN = re.compile("[\u4e00-\u9fff]{2,}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the key of the page that answers it."""

    text: str
    page: str
    answer: str


@dataclass(frozen=True, slots=True)
class Talk:
    """The messages of a conversation, and the page that the last of them asks for."""

    id: str
    kind: str
    half: Half
    said: tuple[str, ...]
    page: str


@dataclass(frozen=True, slots=True)
class Article:
    title: str
    half: Half
    person: str = ""  # "he" or "she" of an article about a person
    questions: list[tuple[Asked, Asked]] = field(default_factory=list)  # English, Chinese


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions of an article, and the second without the name that they share."""

    first: Asked
    second: Asked
    pronoun: str
    left_out: str  # "" where the name cannot simply be missing


Pages = Mapping[str, tuple[str, str]]  # key → title, text


def english_pages() -> Pages:
    pages = {key: (title, text) for key, title, text in _paragraphs("en")}
    others = _load("multihop/pages.json")
    return pages | {f"other {n}": page for n, page in enumerate(others.items())}


def chinese_pages() -> Pages:
    """Without titles: the set has only the English ones."""
    return {key: ("", text) for key, _, text in _paragraphs("zh")}


def english() -> list[Talk]:
    return _talks([_pairs(article, _english_pair, 0) for article in _articles()], "en")


def chinese() -> list[Talk]:
    return _talks([_pairs(article, _chinese_pair, 1) for article in _articles()], "zh")


# ---------------------------------------------------------------- the data


def _load(name: str) -> Any:
    return json.loads((SHARED / name).read_text(encoding="utf-8"))


def _paragraphs(language: str) -> Iterator[tuple[str, str, str]]:
    for article in _load(f"chinese/xquad.{language}.json")["data"]:
        title = article["title"].replace("_", " ")
        for number, paragraph in enumerate(article["paragraphs"]):
            yield f"{title} {number}", title, paragraph["context"]


def _articles() -> list[Article]:
    found = []
    both = (_load(f"chinese/xquad.{language}.json")["data"] for language in ("en", "zh"))
    for one, other in zip(*both, strict=True):
        title = one["title"].replace("_", " ")
        article = Article(title, half_of(title), _person(one))
        for number, paragraphs in enumerate(
            zip(one["paragraphs"], other["paragraphs"], strict=True)
        ):
            for pair in zip(*(paragraph["qas"] for paragraph in paragraphs), strict=True):
                english, chinese = (
                    Asked(q["question"].strip(), f"{title} {number}", q["answers"][0]["text"])
                    for q in pair
                )
                article.questions.append((english, chinese))
        found.append(article)
    return found


def half_of(name: str) -> Half:
    return "held" if _hash(name) % 2 else "tune"


def _hash(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:4])


def _person(article: Any) -> str:
    words = [word.lower() for p in article["paragraphs"] for word in _WORD.findall(p["context"])]
    if sum(word in ("he", "she") for word in words) < PRONOUNS_OF_PERSON * len(words):
        return ""
    return max(("he", "she"), key=words.count)


# ---------------------------------------------------------------- follow-ups


@dataclass(frozen=True, slots=True)
class Made:
    article: Article
    pairs: list[Pair]
    opening: list[Asked]  # questions that name their subject


def _pairs(article: Article, make: Any, language: int) -> Made:
    """Pairs, those first whose questions are on different paragraphs: the words of a question on
    the same one would help to find it."""
    made: list[Pair] = []
    for one, other in permutations(article.questions, 2):
        pair = make(article, one, other)
        if pair is not None and fold(one[language].text) != fold(other[language].text):
            made.append(pair)
    made.sort(key=lambda pair: _hash(pair.first.text + pair.second.text))
    near = [pair for pair in made if pair.first.page == pair.second.page]
    far = [pair for pair in made if pair.first.page != pair.second.page]
    mixed = [pair for both in zip(near, far, strict=False) for pair in both]
    rest = mixed + near[len(mixed) // 2 :] + far[len(mixed) // 2 :]
    seen: dict[str, Pair] = {}
    for pair in rest:
        seen.setdefault(pair.second.text, pair)
    opening = list({pair.second.text: pair.second for pair in made}.values())
    return Made(article, list(seen.values()), opening)


def _english_pair(
    article: Article, one: tuple[Asked, Asked], other: tuple[Asked, Asked]
) -> Pair | None:
    first, second = one[0], other[0]
    name = _shared_name(first.text, second.text)
    place = re.search(
        rf"(?<!\w)(?:the\s+|The\s+)?{re.escape(name)}(?P<s>['’]s?)?(?![\w-])", second.text
    )
    if not name or place is None:
        return None
    before, after = second.text[: place.start()], second.text[place.end() :]
    if not _is_whole(before, after, is_owner=bool(place["s"])):
        return None
    is_person = bool(article.person) and fold(name.split()[-1]) in fold(article.title).split()
    is_many = name.endswith("s") and not name.endswith(("ss", "us", "is"))
    spoken = _PRONOUNS[article.person if is_person else "they" if is_many else "it"]
    is_object = _words(before)[-1:] and _words(before)[-1] in _BEFORE_OBJECTS
    word = spoken[2] if place["s"] else spoken[1] if is_object else spoken[0]
    replaced = f"{before}{word}{after}"
    left = f"{before}the{after}" if place["s"] else ""
    if is_object:
        left = re.sub(r"\s+\S+\s+$", "", before) + after
    if name.lower() in replaced.lower():
        return None
    return Pair(
        first, second, _capital(replaced), _capital(left if len(content_words(left)) > 1 else "")
    )


_PRONOUNS = {
    "it": ("it", "it", "its"),
    "he": ("he", "him", "his"),
    "she": ("she", "her", "her"),
    "they": ("they", "them", "their"),
}
_BEFORE_OBJECTS = ("of", "in", "for", "at", "by", "from", "on", "about", "with", "to")
_AUXILIARIES = ("did", "does", "do", "was", "is", "were", "are", "has", "had", "can", "could")


def _words(text: str) -> list[str]:
    return [fold(match.group()) for match in _WORD.finditer(text)]


def _is_whole(before: str, after: str, *, is_owner: bool) -> bool:
    """Return True if a name between these texts is no part of a longer phrase."""
    last, following = _words(before)[-1:], _words(after)[:1]
    if before.strip() and before.rstrip()[-1] not in ",;" and last and last[0] not in STOP_WORDS:
        return False
    if last and last[0] in ("what", "which", "name"):
        return False
    is_verb_next = (
        bool(last)
        and last[0] in _AUXILIARIES
        and not after.lstrip()[:1].isupper()
        and (len(_words(after)) < 2 or _words(after)[1] in STOP_WORDS)
    )
    ends = not following or not after.lstrip()[:1].isalnum() or following[0] in STOP_WORDS
    return is_owner or ends or is_verb_next


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _shared_name(one: str, other: str) -> str:
    """The longest run of capitalized words that both questions have."""
    theirs = _spaced(one)
    return max((name for run, name in _names_in(other) if run in theirs), key=len, default="")


@cache
def _spaced(question: str) -> str:
    """The words of a question, each with a space before and behind it."""
    return f" {' '.join(map(_bare, _WORD.findall(question)))} "


@cache
def _names_in(question: str) -> tuple[tuple[str, str], ...]:
    """Runs of up to five capitalized words, each as ``_spaced`` has it and as it stands there."""
    words = list(_WORD.finditer(question))
    found = []
    for start in range(len(words)):
        for end in range(start + 1, min(start + 6, len(words) + 1)):
            run = [_bare(match.group()) for match in words[start:end]]
            is_name = all(word[0].isupper() for word in run) and fold(run[0]) not in STOP_WORDS
            if is_name and run[0] != "Name":
                text = question[words[start].start() : words[end - 1].end()]
                found.append((f" {' '.join(run)} ", _bare(text)))
    return tuple(found)


def _bare(word: str) -> str:
    return re.sub("['’]s?$", "", word)


def _chinese_pair(
    article: Article, one: tuple[Asked, Asked], other: tuple[Asked, Asked]
) -> Pair | None:
    """The pair whose English questions share a name, by what the Chinese ones share."""
    english = _english_pair(article, one, other)
    first, second = one[1], other[1]
    if english is None:
        return None
    named = (match.group() for match in _HAN.finditer(_longest_common(first.text, second.text)))
    name = next((w for run in named for w in content_words(run) if len(w) > 1), "")
    place = re.search(rf"(^|[{_ZH_BEFORE}]){re.escape(name)}(?=[{_ZH_AFTER}])", second.text)
    if not name or place is None or second.text.count(name) > 1:
        return None
    spoken = set(_words(english.pronoun))
    pronoun = "他" if spoken & {"he", "him", "his"} else "她" if spoken & {"she", "her"} else "它"
    replaced = second.text.replace(name, pronoun)
    left = re.sub(rf"在?{re.escape(name)}(?:的|中|里)?", "", second.text)
    return Pair(first, second, replaced, left if len(content_words(left)) > 1 else "")


_ZH_BEFORE = "在是为于对与和向从由被了让使，、到给将以把用"
_ZH_AFTER = "的是在有于了被中里何什哪与和如为对将会曾，？?最第上从由首何"


def _longest_common(one: str, other: str) -> str:
    best = ""
    for start in range(len(other)):
        end = start + len(best) + 1
        while end <= len(other) and other[start:end] in one:
            best = other[start:end]
            end += 1
    return best


# ---------------------------------------------------------------- conversations


def _talks(made: Sequence[Made], language: str) -> list[Talk]:
    found: list[Talk] = []
    for half in ("tune", "held"):
        ours = [each for each in made if each.article.half == half and len(each.pairs) > 1]
        for at, each in enumerate(ours):
            other = ours[(at + 1) % len(ours)]
            for kind in KINDS:
                talks = _of_kind(kind, each, other, language)
                for number, (said, page) in zip(range(PER_ARTICLE), talks, strict=False):
                    name = f"{language}/{each.article.title}/{kind} {number}"
                    found.append(Talk(name, kind, each.article.half, said, page))
    return found


def _of_kind(
    kind: str, ours: Made, other: Made, language: str
) -> Iterator[tuple[tuple[str, ...], str]]:
    pairs = ours.pairs
    for number, pair in enumerate(pairs):
        follow = pair.pronoun
        if kind == "pronoun":
            yield (pair.first.text, follow), pair.second.page
        elif kind == "left out" and pair.left_out:
            yield (pair.first.text, pair.left_out), pair.second.page
        elif kind == "about" and _is_new_name(pair, language):
            what = (
                f"那{pair.second.answer}呢？"
                if language == "zh"
                else (f"What about {pair.second.answer}?")
            )
            yield (pair.first.text, what), pair.second.page
        elif kind == "later":
            again = (
                next((p for p in pairs[number + 1 :] if p.first.text == pair.first.text), None)
                or pairs[(number + 1) % len(pairs)]
            )
            if again.second.text != pair.first.text and _name_of(again) == _name_of(pair):
                yield (pair.first.text, follow, again.pronoun), again.second.page
        elif kind in ("change", "after"):
            new = other.pairs[number % len(other.pairs)]
            said = (pair.first.text, follow, new.first.text)
            if kind == "change":
                yield said, new.first.page
            else:
                yield (*said, new.pronoun), new.second.page


def _name_of(pair: Pair) -> str:
    return _shared_name(pair.first.text, pair.second.text) or _longest_common(
        pair.first.text, pair.second.text
    )


def _is_new_name(pair: Pair, language: str) -> bool:
    answer = pair.second.answer
    if answer in pair.first.text or pair.first.page != pair.second.page:
        return False
    if language == "zh":
        return 2 <= len(answer) <= 10 and _HAN.fullmatch(answer) is not None
    return answer[:1].isupper() and len(answer.split()) <= 4


# ---------------------------------------------------------------- measuring

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
                entries.append(Entry("footnote", title, hit.snippet, question))
        found[talk.id] = keys.index(talk.page) + 1 if talk.page in keys else 0
    return found


def _said(transcript: Transcript) -> list[str]:
    return [entry.text for entry in transcript.entries if entry.role == "person"] or [""]


def _last_title(transcript: Transcript) -> str:
    ours = [entry for entry in transcript.entries if entry.role == "footnote"]
    return ours[-1].name if ours else ""


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


def main(arguments: Sequence[str]) -> None:
    parser = options("follow_ups", __doc__)
    parser.add_argument("--half", choices=("tune", "held"), default="held")
    given = parser.parse_args(arguments)
    rows: list[list[object]] = []
    for language, talks, pages in (
        ("en", english(), english_pages()),
        ("zh", chinese(), chinese_pages()),
    ):
        ours = [talk for talk in talks if talk.half == given.half]
        if given.quick:
            ours = list({talk.kind: talk for talk in ours}.values())
            pages = {talk.page: pages[talk.page] for talk in ours}
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

"""Decides whether two files have the same text: a page and its source, a copy, a conversion.

A file is a *twin* of a more readable one if nothing is lost by searching only the better one:

- Files of the same format (two HTML pages, two Markdown files) must have the same title and the
  same words; one of them may have a little more at the beginning and the end, such as navigation.
  Pages made from one template, and two versions of a manual, differ in at least one word or number,
  so they are not twins.
- Files of different formats (a page and its reStructuredText source) never match so well:
  one contains directives and link targets, the other generated lists. Here it is enough that most
  words and runs of three words of one occur in the other; more of them are required if neither
  the file's name nor its title is the same. Versions in their paths must be the same.
- A file below ``_sources`` (from Sphinx) is the source of the page with that name. There it is
  enough that the page has half as much text, because a source is often a stub that includes its
  text from code, or a list of files that become titles.

Pairs are compared only if they share a *key*, which is made from the file's name, its title, its
words, or a few of its runs of words (MinHash, after A. Broder, On the resemblance and containment
of documents, 1997; the smallest hashes are grouped into bands, as for locality-sensitive hashing).
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote
from zlib import crc32

from bot.pages.media import Kind, format_of
from bot.text.terms import terms

# ---------------------------------------------------------------- forms of files

_FAR: dict[Kind, int] = {
    "html": 0,
    "markdown": 0,
    "package": 1,
    "notebook": 1,
    "text": 3,
    "csv": 3,
    "tsv": 3,
    "json": 3,
    "pdf": 4,  # its lines and tables are guessed
}
_SOURCE = 2  # all other formats: input for a program that generates pages
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:\.x)?", re.IGNORECASE).fullmatch
_GENERAL_NAMES = frozenset({"index", "readme", "default", "home", "main", "contents", "toc"})


@dataclass(frozen=True, slots=True)
class Form:
    """The format of a file, judged by its name.

    ``format`` is the name of its format; ``far`` ranks how unlike a page for readers that is (0 is
    best). ``stem`` is its name without ending; ``page`` is the address, without ending, of the page
    that it represents. ``version`` has the folders in its path that are named like one ("2.0").
    ``is_sphinx_source`` is True below Sphinx's ``_sources``.
    """

    format: str
    far: int
    stem: str
    page: str
    version: tuple[str, ...]
    is_sphinx_source: bool


@lru_cache(maxsize=4_096)
def form_of(url: str) -> Form:
    """The form of a file, judged by its address."""
    folder, _, name = url.rpartition("/")
    found = format_of(name)
    stem = name.lower().removesuffix(".gz")
    if found is not None:
        endings = sorted(found.endings, key=len, reverse=True)
        stem = stem.removesuffix(next((each for each in endings if stem.endswith(each)), ""))
    base, sources, inside = f"{folder}/".partition("/_sources/")
    page = f"{base}/{inside}{stem}" if sources else f"{folder}/{stem}"
    if stem in _GENERAL_NAMES:
        stem = f"{folder.rpartition('/')[2].lower()}/{stem}"
    return Form(
        found.name if found else "",
        _FAR.get(found.kind, _SOURCE) if found else _FAR["text"],
        stem,
        page.removesuffix("/index"),
        tuple(part for part in folder.split("/") if _VERSION(part)),
        bool(sources),
    )


def is_enough(characters: int, source: int) -> bool:
    """Return True if a page is long enough, in characters, to contain what its source says."""
    return 2 * characters >= source


def order_of(url: str) -> tuple[int, int, str]:
    """Sort key that puts the more readable of two twins first, then the one with the shorter
    path."""
    return form_of(url).far, len(url), url


# ---------------------------------------------------------------- keys

BANDS = 4
IN_BAND = 3  # smallest hashes that make up one key
MOST_WORDS = 1_000  # from the beginning of a text, that are hashed
FEWEST_WORDS = 12  # of a text that is compared by its runs of words
_TITLE_END = re.compile(r"(?<!\s)\s++(?:[|·»«–—-]|::)\s++")
_OF_WORDS, _OF_NAME, _OF_TITLE, _OF_PAGE = range(4)  # source of a key, in its lowest two bits


def keys_of(url: str, title: str, bodies: Iterable[str]) -> list[int]:
    """The keys of a file, as signed 64-bit numbers; two files without a common key are not twins.

    ``bodies`` has the terms of each of its passages, joined by spaces.
    """
    form = form_of(url)
    text = " ".join(bodies).encode()
    words = text.split()
    keys = [
        _key(_OF_PAGE, form.page.encode("utf-8", "surrogatepass")),
        _key(_OF_NAME, form.stem.encode("utf-8", "surrogatepass")),
        _key(_OF_WORDS, text),
    ]
    name = " ".join(_name(title))
    if name:
        keys.append(_key(_OF_TITLE, name.encode()))
    if len(words) >= FEWEST_WORDS:
        keys += _bands(words[:MOST_WORDS])
    return sorted(set(keys))


def _bands(words: Sequence[bytes]) -> Iterable[int]:
    runs = map(b" ".join, zip(words, islice(words, 1, None), islice(words, 2, None), strict=False))
    smallest: list[list[int]] = [[] for _ in range(BANDS)]
    missing = BANDS * IN_BAND
    for number in sorted(set(map(crc32, runs))):
        # The low bits of a CRC choose the band, so that the others are random in each band.
        band = smallest[number % BANDS]
        if len(band) < IN_BAND:
            band.append(number)
            missing -= 1
            if not missing:
                break
    return (_key(_OF_WORDS, array("I", (at, *band)).tobytes()) for at, band in enumerate(smallest))


def _key(of: int, what: bytes) -> int:
    digest = hashlib.blake2b(what, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) & ~3 | of


def _name(title: str) -> list[str]:
    """The terms of a title without the name of the site after it."""
    return terms(_TITLE_END.split(title, maxsplit=1)[0])


# ---------------------------------------------------------------- comparing


@dataclass(frozen=True, slots=True)
class Side:
    """One of two files that are compared: its address and its content."""

    url: str
    title: str
    text: str


SAME_LENGTH = 0.9  # minimum length of a copy relative to the longer one, which has more navigation
TELLING = 50  # words: shorter texts are not conclusive by themselves
WORDS_IN, RUNS_IN = 0.8, 0.5  # shares of a file that must occur in a namesake of another format
STRANGERS_WORDS_IN, STRANGERS_RUNS_IN = 0.95, 0.85  # ... in a file with another name and title
LONGEST = 300_000  # characters that are compared word by word; of longer texts, the beginning

_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\\W_]+")
_BETWEEN = re.compile(r"[\W_]+")
_HEADING = re.compile(r"^#{1,6} .+", re.MULTILINE)


def may_be_twins(url: str, other: str, shared: Iterable[int]) -> bool:
    """Return True if two files are worth comparing, given the keys that they share."""
    form, others = form_of(url), form_of(other)
    of = {key & 3 for key in shared}
    if form.format == others.format:
        return _OF_WORDS in of
    if form.is_sphinx_source or others.is_sphinx_source:
        return _OF_PAGE in of
    return bool(of)


def is_twin(worse: Side, better: Side) -> bool:
    """Return True if nothing is lost by searching only ``better``; see the module docstring."""
    form, page = form_of(worse.url), form_of(better.url)
    if form.format == page.format:
        return _is_copy(worse, better)
    if form.is_sphinx_source:
        if form.page != page.page:
            return False
        return is_enough(len(_plain(better.text)), len(_plain(worse.text)))
    if form.version != page.version:
        return False
    if form.stem == page.stem or _titles_agree(worse, better):
        return _is_contained(worse.text, better.text, WORDS_IN, RUNS_IN)
    return _is_contained(worse.text, better.text, STRANGERS_WORDS_IN, STRANGERS_RUNS_IN, TELLING)


def nearness(url: str, better: str) -> tuple[bool, bool, tuple[int, int, str]]:
    """Sort key for the better files of a twin: the page that it represents comes first."""
    form, page = form_of(url), form_of(better)
    return form.page != page.page, form.stem != page.stem, order_of(better)


def _is_copy(worse: Side, better: Side) -> bool:
    titles_agree = _titles_agree(worse, better)
    if not titles_agree and not (_is_named_by_file(worse) and _is_named_by_file(better)):
        return False
    shorter, longer = sorted((_plain(worse.text), _plain(better.text)), key=len)
    if shorter == longer:
        return shorter != "" or worse.text == better.text
    if not titles_agree or _heading(worse.text) != _heading(better.text):
        return False
    return len(shorter) >= SAME_LENGTH * len(longer) and f" {shorter} " in f" {longer} "


def _titles_agree(one: Side, other: Side) -> bool:
    name = _name(one.title)
    return name != [] and name == _name(other.title)


def _heading(text: str) -> str:
    """The first heading in a text, which may be more specific than a title that pages share."""
    found = _HEADING.search(text)
    return found.group() if found else ""


def _is_named_by_file(side: Side) -> bool:
    """Return True if a file has no title of its own."""
    name = unquote(side.url.rpartition("/")[2]).removesuffix(".gz")
    return side.title in (name, name.rpartition(".")[0])


def _is_contained(
    text: str, whole: str, words_in: float, runs_in: float, fewest: int = FEWEST_WORDS
) -> bool:
    words, others = _words(text[:LONGEST]), _words(whole[: 2 * LONGEST])
    if len(words) < fewest:
        return words == others
    shared = Counter(words) & Counter(others)
    if shared.total() < words_in * len(words):
        return False
    runs = set(zip(words, words[1:], words[2:], strict=False))
    return len(runs & set(zip(others, others[1:], others[2:], strict=False))) >= runs_in * len(runs)


def _plain(text: str) -> str:
    """The words of a text, separated by single spaces."""
    return _BETWEEN.sub(" ", text.casefold()).strip()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())

"""Text from MediaWiki: extracts, snippets, disambiguation lists, and titles in queries.

All functions are pure: strings in, values out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from lxml import etree  # type: ignore[import-untyped]

from bot.text.terms import STOP_WORDS, has_cjk, keywords, terms

# ---------------------------------------------------------------- extracts

# TextExtracts writes every heading as ``== Title ==`` after an empty line
# (ExtractFormatter, exsectionformat=wiki); without the empty line it is the article's own text.
_HEADING = re.compile(r"(={1,6}) (.+?) \1")
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]）」』]*$")
_LOOKS_LIKE_HEADING = re.compile(r"(?=#{1,6}(?:\s|$))")
_LONGEST_ITEM = 200  # characters of a line that may still be a list item


def page_text(extract: str) -> str:
    """Turn a TextExtracts extract into a page's text (see ``bot.pages.page.Page``).

    Headings become ATX lines, and every line becomes a block. A run of short lines that do not end
    a sentence becomes a Markdown list (the extract has lost the bullets). Sections without text,
    such as the references that TextExtracts leaves out, are dropped with their headings.
    """
    blocks: list[str] = []
    headings: list[tuple[int, str]] = []  # not written yet, because the section may be empty
    for paragraph in re.split(r"\n\s*\n", extract):
        lines = [text for line in paragraph.splitlines() if (text := " ".join(line.split()))]
        if lines and (heading := _HEADING.fullmatch(lines[0])):
            level = len(heading[1])
            headings = [(depth, title) for depth, title in headings if depth < level]
            headings.append((level, heading[2].strip()))
            del lines[0]
        if lines:
            blocks.extend("#" * depth + " " + title for depth, title in headings)
            headings = []
            blocks.extend(_blocks(lines))
    return "\n\n".join(blocks)


def _blocks(lines: list[str]) -> Iterator[str]:
    items: list[str] = []
    for line in lines:
        if len(line) <= _LONGEST_ITEM and not _ENDS_SENTENCE.search(line):
            items.append(line)
            continue
        yield from _list_or_line(items)
        items = []
        yield _escaped(line)
    yield from _list_or_line(items)


def _list_or_line(items: list[str]) -> Iterator[str]:
    if len(items) > 1:
        yield "\n".join("- " + item for item in items)
    elif items:
        yield _escaped(items[0])


def _escaped(line: str) -> str:
    """Escape the article's own ``# ...``, so that Markdown does not read it as a heading."""
    return _LOOKS_LIKE_HEADING.sub(r"\\", line, count=1)


# ---------------------------------------------------------------- snippets

_TAG = re.compile(r"</?[a-zA-Z!][^<>]*>")
_CUT_TAG = re.compile(r"^[^<>]{0,80}[\"'/]>|</?[a-zA-Z][^<>]{0,80}$")  # cut at the snippet's edge
_COMMENT_OR_REF = re.compile(
    r"<!--(?:(?!<!--).)*?-->|<ref\b[^<>]*/>|<ref\b(?:(?!<ref\b).)*?</ref>", re.S | re.I
)
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}|\{\|[^{}]*\|\}")
_MEDIA = re.compile(r"\[\[\s*(?:File|Image|Category)\s*:[^\[\]]*\]\]", re.I)
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_EXTERNAL = re.compile(r"\[(?:https?:)?//[^\s\[\]]++(?:\s++([^\[\]]*+))?\]")
_LINE_MARKS = re.compile(
    r"^[^\S\n]*+(?:[*#:;|!]++|={2,6})\s*+|(?:(?<!\s)\s++)?(?<!=)={2,6}[^\S\n]*+$", re.M
)
_MAGIC = re.compile(r"__[A-Z]+__")
_REDIRECT = re.compile(r"^\s*#\s*REDIRECT\b.*", re.I | re.S)


def snippet_text(snippet: str) -> str:
    """A search snippet as plain text.

    Snippets are HTML that marks the matching words; without CirrusSearch the text inside is raw
    wikitext (API:Search). Both layers are removed; a redirect has no text of its own.
    """
    text = html.unescape(_TAG.sub("", snippet))
    if _REDIRECT.match(text):
        return ""
    text = _COMMENT_OR_REF.sub("", text)
    text = _CUT_TAG.sub("", _TAG.sub("", text))
    for _ in range(3):  # templates and links nest, but rarely deeper
        text = _LINK.sub(r"\1", _MEDIA.sub("", _TEMPLATE.sub("", text)))
    text = _EXTERNAL.sub(lambda match: match[1] or "", text)
    text = _LINE_MARKS.sub("", _MAGIC.sub("", text))
    text = text.replace("'''", "").replace("''", "")
    return " ".join(html.unescape(text).split())


# ---------------------------------------------------------------- disambiguation pages


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a disambiguation page: the article that it links to, and its line."""

    title: str
    line: str


def entries_of(body: str) -> list[Entry]:
    """The entries of a rendered disambiguation page: the first article link in each list item."""
    # libxml2 takes linear time; ``html.parser`` looks for the end of each tag in all the rest.
    parser = etree.HTMLParser(encoding="utf-8", collect_ids=False)
    found: dict[str, str] = {}
    document = etree.fromstring(f"<html><body>{body}".encode("utf-8", "replace"), parser)
    for item in document.iter("li"):
        depth = item.xpath("count(ancestor-or-self::li)")  # without what nested items say
        links = item.xpath(".//a[@title and count(ancestor::li) = $depth]", depth=depth)
        title = next((a.get("title") for a in links if not _is_elsewhere(a.get("class", ""))), "")
        if title:
            words = "".join(item.xpath(".//text()[count(ancestor::li) = $depth]", depth=depth))
            found.setdefault(title, " ".join(words.split()))
    return [Entry(title, line) for title, line in found.items()]


def _is_elsewhere(classes: str) -> bool:
    """Return True for a link to a page that is missing, or outside the wiki."""
    return not {"new", "extiw", "external"}.isdisjoint(classes.split())


# ---------------------------------------------------------------- queries and titles

_NEVER_IN_TITLES = re.compile(r"[#<>\[\]|{}_\x00-\x1f\x7f]+")  # Manual:$wgLegalTitleChars
_EDGES = " \t\n.,;:!?\"'“”„‘’«»()。，、；：！？「」『』（）《》〈〉·…-–—"
_WORD = re.compile(r"[^\W_]+(?:[.'’+&/-]*[^\W_]+)*[+#]*")
_CJK_RUN = re.compile(r"[^\W\d_a-zA-Z]{2,}")
_TITLE_BYTES = 255  # of UTF-8; longer ones are invalid (Manual:Page_title)
_LONGEST_NAME = 6  # words, or CJK characters
_SMALL_WORDS = STOP_WORDS | {"de", "la", "von", "van"}


def search_words(query: str) -> str:
    """A query without the characters that are search syntax (Help:CirrusSearch).

    Question marks, asterisks and tildes are wildcards or fuzzy marks, a leading minus excludes, and
    a colon ends a keyword or a namespace. A phrase in matched double quotes is kept.
    """
    text = re.sub(r"[?*~\\!<>|\[\]{}:^]|(?<!\S)[-+]+", " ", _straight_quotes(query))
    if text.count('"') % 2:
        text = text.replace('"', " ")
    return " ".join(text.split())


def _straight_quotes(text: str) -> str:
    return re.sub("[“”„«»「」『』《》]", '"', text)


def content_words(query: str) -> list[str]:
    """The distinct words of a query that carry meaning, as written; CJK runs are kept whole."""
    found = (word for word in _WORD.findall(query) if _carries_meaning(word))
    return list(dict.fromkeys(found))


def _carries_meaning(word: str) -> bool:
    return has_cjk(word) or word.lower() not in STOP_WORDS or word.isupper()


def by_weight(query: str) -> list[str]:
    """Content words, most significant first: quoted or capitalized words and figures, then long
    words.

    The first word of a sentence counts as a name only if letters other than its first are upper
    case. CJK runs are replaced by their keywords (bigrams), which all have the same weight.
    """
    words: list[tuple[int, int, int, str]] = []
    for place, word in enumerate(content_words(query)):
        pieces = keywords(word) if has_cjk(word) else [word]
        for piece in pieces:
            is_first = query.lstrip(_EDGES).startswith(word)
            named = word[:1].isupper() and (not is_first or word[1:] != word[1:].lower())
            figure = any(character.isdigit() for character in word)
            words.append((0 if named or figure else 1, -len(piece), place, piece))
    return list(dict.fromkeys(word for *_, word in sorted(words)))


def possible_titles(query: str, most: int) -> list[str]:
    """Titles that a query may name, longest first: all of it, then runs of its words.

    A run begins and ends with a content word, has at most six words, and is tried as written and
    with its words capitalized, since only the first letter of a title is case-insensitive
    (Manual:$wgCapitalLinks). In a CJK run, every piece of 2-6 characters without a function word is
    a candidate.
    """
    whole = " ".join(_NEVER_IN_TITLES.sub(" ", query).split())
    cleaned = whole.strip(_EDGES)
    candidates = [whole, cleaned, _capitalized(cleaned)]
    words = [word.strip(_EDGES) for word in cleaned.split()]
    words = [word for word in words if word]
    for length in range(min(_LONGEST_NAME, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if _carries_meaning(run[0]) and _carries_meaning(run[-1]):
                candidates += _spellings(run, first=start == 0)
    for match in _CJK_RUN.finditer(cleaned):
        if has_cjk(match[0]):
            candidates += _pieces(match[0])
    fitting = (title for title in candidates if 0 < len(title.encode()) <= _TITLE_BYTES)
    return list(dict.fromkeys(fitting))[:most]


def _spellings(run: list[str], *, first: bool) -> Iterable[str]:
    written = " ".join(run)
    if len(run) == 1:  # a single common noun matches an article that the query does not mean
        word = run[0]
        named = word[:1].isupper() and (not first or word != word.capitalize())
        return (word,) if named and not has_cjk(word) else ()
    return (written, _capitalized(written))


def _capitalized(text: str) -> str:
    words = text.split()
    return " ".join(
        word if place and word.lower() in _SMALL_WORDS else word[:1].upper() + word[1:]
        for place, word in enumerate(words)
    )


def _pieces(run: str) -> Iterator[str]:
    telling = set(keywords(run))
    for length in range(min(_LONGEST_NAME, len(run)), 1, -1):
        for start in range(len(run) - length + 1):
            piece = run[start : start + length]
            if telling.issuperset(terms(piece)):
                yield piece


def title_in(address_path: str, article_path: str) -> str:
    """The title in the path of an article's URL, given ``/wiki/$1``; "" if there is none."""
    before, _, after = article_path.partition("$1")
    if not address_path.startswith(before) or not address_path.endswith(after):
        return ""
    inside = address_path[len(before) : len(address_path) - len(after)]
    return readable_title(inside)


def readable_title(encoded: str) -> str:
    """A title from its form in a URL: percent-decoded, underscores as spaces."""
    return " ".join(unquote(encoded, errors="replace").replace("_", " ").split())

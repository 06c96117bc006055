"""What a page says about itself: that it is a draft, no longer holds, replaces another page, and of
what day and version it is.

A page about drafts or deprecated functions is none. So only statements about the page itself count:
a status, a notice at its head, a mark in its title, the name of its file or folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal
from urllib.parse import unquote, urlsplit

from bot.core.reader import is_document
from bot.text.figures import dates
from bot.text.patterns import lazy_regex
from bot.text.terms import terms

HEAD = 1_000  # characters at the beginning of a page, and not beyond its first section
LONGEST = 80  # characters of the name of a page that replaces another
NEAR = 60  # characters in which a date follows the words that announce it

State = Literal["", "draft", "deprecated", "archived", "replaced", "ended", "early"]

_WORDS: Mapping[State, str] = {
    "draft": "draft|entwurf|brouillon|borrador|草案|草稿|初稿",
    "deprecated": "deprecated|obsolete|outdated|withdrawn|revoked|no longer (?:valid|in force)"
    "|veraltet|aufgehoben|außer kraft|nicht mehr gültig|obsolète|périmée?|abrogée?|obsolet[oa]"
    "|derogad[oa]|作废|作廢|废止|廢止|已失效|已过期|已過期",
    "archived": "archived|archiviert|archivée?|archivad[oa]|已归档|已歸檔",
    "replaced": "superseded|replaced|ersetzt|abgelöst|remplacée?|sustituid[oa]|被取代|已被替代",
}
_STAMPED = "void|expired"  # of a page only as a status; other pages are about such things
_WORD = f"(?:{'|'.join(_WORDS.values())})"
_THIS = (
    r"(?:this|dies(?:e|er|es)|cette|cet?|este|esta|本|此|该|該) ?(?:page|document|policy|guide"
    r"|guideline|version|procedure|handbook|manual|file|seite|dokument|richtlinie|anweisung|fassung"
    r"|directive|procédure|página|documento|política|文档|文件|文檔|页面|頁面|制度|规定|規定|办法|辦法)"
    r" ?(?:is|has been|was|ist|wurde|est|a été|es|está|ha sido|为|為|是|已经|已經|已)?"
    r" ?(?:(?:an?|now|only|still|ein|nur|un|une|durch) )?"
)
_NOTICE = lazy_regex(
    r"(?:- )?(?:(?:document |page |doc )?status|state|watermark|stamp|statut|estado|状态|狀態)"
    rf" ?[:：|] ?(?P<status>{_WORD}|{_STAMPED})(?!\w)"
    rf"|(?P<alone>{_WORD})[*_]* ?(?:$|[,.:;!–—|\])}}）】，。：；！]|-(?= )"
    r"|(?:since|seit|depuis|desde) )"
    rf"|(?P<loud>(?-i:{_WORD.upper()}))(?= )"
    rf"|{_THIS}(?P<this>{_WORD})(?!\w)"
    r"|this is an? (?P<is>draft)(?: version)? of "
    rf"|(?P<by>{_WORDS['replaced']}) (?:by|durch|von|par|por) "
    r"|- (?P<field>draft|deprecated|archived|obsolete): (?:true|yes)$",
    re.IGNORECASE,
)
_TITLE = lazy_regex(
    rf"[\[(（【](?P<inside>{_WORD})[\])）】]|^(?P<first>{_WORD}) ?[:：–—]"
    rf"| (?P<last>(?-i:{_WORD.upper()}))$",
    re.IGNORECASE,
)
_NAME = lazy_regex(
    r"[^\W_][\W_]+(?P<part>draft|entwurf|brouillon|borrador|old|obsolete|outdated|superseded"
    r"|veraltet|alt)(?=$|[\W_])|(?P<in_chinese>草案|草稿|作废|作廢|废止|廢止)",
    re.IGNORECASE,
)
_FOLDER = lazy_regex("drafts?|entwürfe|old|archived?|archiv|obsolete", re.IGNORECASE)
_HOLDS = r"(?:valid|in force|effective|gültig|in kraft|valable|en vigueur|válid[oa]|vigente)"
_UNTIL = lazy_regex(
    rf"(?<!\w){_HOLDS}[^\n]{{0,40}}? (?:until|till|through|bis|jusqu['’]au|hasta)(?!\w)"
    r"|(?<!\w)(?:expire[sd]|expiry date)(?: on)?:? |有效期?[^\n]{0,20}?[至到]",
    re.IGNORECASE,
)
_FROM = lazy_regex(
    rf"(?<!\w){_HOLDS} (?:from|as of|since|ab|vom|seit|à partir du|depuis|desde|a partir del)(?!\w)"
    r"|effective date|生效日期|(?:施行|实施|實施)日期|自(?=[^\n]{4,20}起)",
    re.IGNORECASE,
)
_DATED = lazy_regex(
    r"^[ \t>*_|-]*(?:(?:date|(?:last )?(?:updated?|modified|revised|changed)|stand|datum"
    r"|aktualisiert|mise à jour|fecha|actualizado)(?!\w)|(?:更新|修订|修訂|发布|發佈)?日期)",
    re.IGNORECASE | re.MULTILINE,
)
_VERSION = lazy_regex(
    r"(?<![^\W_])(?:v|version )(\d{1,4}(?:\.\d{1,4}){0,3})(?![^\W_])", re.IGNORECASE
)
_REPLACES = lazy_regex(
    r"(?:(?<!\w)(?:replaces|supersedes|ersetzt|remplace|sustituye(?: a)?)(?!\w)|取代|代替)"
    r"([^.;\n]{3,100})",
    re.IGNORECASE,
)
_MARKUP = " \t*_>~|[(（【"
_END = re.compile(r"[.;,(*_]")
_WITH_YEAR = re.compile(r"[12]\d{3}(?:-\d\d){0,2}")


@dataclass(frozen=True, slots=True)
class Validity:
    """The ``state`` of a page, "" if it holds or says nothing, and the words that belong to it: the
    page that replaced it, the day until which or from which it is valid. ``replaces`` are its words
    about the pages that it replaces. ``dated`` is the day, month or year from which it holds or of
    which it is, in ISO 8601, and ``version`` its number; empty if it names none. A page that
    ``is_asked`` is of a year that the question names: no matter that it no longer holds.
    """

    state: State = ""
    words: str = ""
    replaces: str = ""
    dated: str = ""
    version: tuple[int, ...] = ()
    is_asked: bool = False

    @property
    def age(self) -> tuple[str, tuple[int, ...]]:
        """A key that is larger for a newer page."""
        return self.dated, self.version

    def names(self, title: str) -> bool:
        """Return True if the page says that it replaces the one with this title."""
        wanted = frozenset(terms(title))
        return len(wanted) > 1 and wanted <= frozenset(terms(self.replaces))


HOLDS = Validity()


def validity_of(url: str, title: str, text: str, today: date, question: str = "") -> Validity:
    """Return what a page says of itself, for a question; a day counts as at ``today``."""
    head = text[:HEAD].partition("\n## ")[0]
    name = unquote(urlsplit(url).path).rpartition("/")[2] if is_document(url) else ""
    dated, version = _date_of(head, title, name), _VERSION.search(f"{title} {name}")
    replaces = " ".join(match[1] for match in _REPLACES.finditer(head))
    state, words = _noticed(title, head)
    state, words = (state, words) if state else _dated(head, today)
    if not state and is_document(url):
        state = _named(url)
    asked = {value[:4] for value in _with_year(question)}
    years = {value[:4] for value in (dated, *_with_year(f"{title} {name} {words}"))}
    is_asked = state != "draft" and not asked.isdisjoint(years)
    return Validity(
        "" if is_asked else state,
        "" if is_asked else words,
        replaces,
        dated,
        tuple(map(int, version[1].split("."))) if version else (),
        is_asked,
    )


def _date_of(head: str, title: str, name: str) -> str:
    said = (each for pattern in (_FROM, _DATED) for each in pattern.finditer(head))
    near = (value for each in said for value in _day_after(head, each)[1])
    return next(near, "") or next(iter((*_with_year(title), *_with_year(name))), "")


def _with_year(text: str) -> list[str]:
    return [v for day in dates(text) for v in day.values if _WITH_YEAR.fullmatch(v)]


def _noticed(title: str, head: str) -> tuple[State, str]:
    if marked := _TITLE.search(title):
        return _state(marked[marked.lastgroup or 0]), ""
    for line in head.split("\n"):
        said = line.lstrip(_MARKUP)
        if (match := _NOTICE.match(said)) and not line.startswith("#"):
            after = said[match.end() :] if match["by"] else ""
            return _state(match[match.lastgroup or 0]), _END.split(after, maxsplit=1)[0].strip()[
                :LONGEST
            ]
    return "", ""


def _state(word: str) -> State:
    """Return the state that a word stands for; other words mean that something is from before."""
    if re.match(_STAMPED, word, re.IGNORECASE):
        return "deprecated"
    return next(
        (state for state, words in _WORDS.items() if re.match(words, word, re.IGNORECASE)),
        "archived",
    )


def _dated(head: str, today: date) -> tuple[State, str]:
    """Return whether a page's time is over or has not begun, with the day as it is written."""
    for said in _UNTIL.finditer(head):
        day, values = _day_after(head, said)
        if values and all(today.isoformat()[: len(value)] > value for value in values):
            return "ended", day
    for said in _FROM.finditer(head):
        day, values = _day_after(head, said)
        if values and all(today.isoformat()[: len(value)] < value for value in values):
            return "early", day
    return "", ""


def _day_after(head: str, said: re.Match[str]) -> tuple[str, list[str]]:
    """Return the date that follows in the line, as written and as its possible values."""
    near = head[said.end() : said.end() + NEAR].partition("\n")[0]
    for day in dates(near)[:1]:
        written = near[day.start : day.end]
        return written, _with_year(written)
    return "", []


def _named(url: str) -> State:
    *_, above, folder, name = f"/{unquote(urlsplit(url).path)}".split("/")
    if match := _NAME.search(name.rpartition(".")[0]):
        return _state(match[match.lastgroup or 0])
    return next((_state(each) for each in (folder, above) if _FOLDER.fullmatch(each)), "")

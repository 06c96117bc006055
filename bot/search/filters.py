"""Filters of documents: what a question says about where to look, and which files that means.

A file is meant by a name ("2025 handbook", "Paula's mails") if each of its words is in the path, in
the author, or says the kind of the file. Names and dates that mean nothing are no filter.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from urllib.parse import unquote

from bot.text.figures import dates
from bot.text.patterns import lazy_regex
from bot.text.terms import fold, keywords, terms


@dataclass(frozen=True, slots=True)
class Filter:
    """Restrictions of a search in documents; empty fields restrict nothing.

    ``named`` are names of folders, files, authors and kinds of files, as they were said: all of
    them apply. ``after`` and ``before`` are ISO 8601 dates, both inclusive.
    """

    named: tuple[str, ...] = ()
    after: str = ""
    before: str = ""

    def __bool__(self) -> bool:
        return self != NO_FILTER

    def means(self, path: str, author: str, dated: str) -> bool:
        """Return True if a file is meant: ``path`` is a part of its address, ``dated`` a date."""
        if (self.after and dated < self.after) or (self.before and dated > self.before):
            return False
        if not self.named:
            return True
        path = unquote(path)
        of_kind = _KINDS.get(path[path.rfind(".") :].lower(), _NOTHING)
        wanted = _NOTHING.union(*map(_wanted, self.named)) - of_kind
        said = fold(f"{path} {author}")
        if any(term[:2] not in said for term in wanted):  # quick, and true of most files
            return False
        return wanted.issubset(terms(_NO_WORDS.sub(" ", said)))

    def holds(self, heading: str) -> bool:
        """Return True if a section is of the time that is meant, by the last date in its heading;
        also if it has none."""
        said = dates(heading) if self.after or self.before else []
        days = [value for day in said[-1:] for value in day.values if value[0] != "-"]
        return not days or any(
            self.after[: len(day)] <= day and (not self.before or day <= self.before)
            for day in days
        )


NO_FILTER = Filter()

_NOTHING: frozenset[str] = frozenset()
_NO_WORDS = re.compile(r"[\W_]+")
_SAYS_NOTHING = frozenset(terms("folder directory file files document documents ordner datei"))
_KINDS = {
    ending: frozenset(terms(words))
    for endings, words in (
        (
            ".pptx .pptm .ppsx .odp",
            "slide slides deck presentation folien präsentation 幻灯片 簡報",
        ),
        (".pdf", "pdf pdfs"),
        (".xlsx .xlsm .ods .csv .tsv", "spreadsheet workbook excel tabelle 表格"),
        (".eml .mbox .msg", "mail mails email emails 邮件 郵件"),
        (".vtt .srt", "transcript transkript 逐字稿"),
    )
    for ending in endings.split()
}


@lru_cache(maxsize=100)
def _wanted(name: str) -> frozenset[str]:
    """The terms that a file must have to be meant by a name."""
    return frozenset(keywords(name.replace("年", " "))) - _SAYS_NOTHING


# What a plain phrase must end with to name a place: most others are subjects ("in the summer").
_PLACE = (
    r"(?:hand|work)book|manual|minutes|notes|report|guide|policy|folder|slides?"
    r"|deck|presentation|pdfs?|spreadsheet|e?mails?|transcript|handbuch|protokolle?n?|notizen"
    r"|bericht|leitfaden|richtlinie|ordner|folien|präsentation|tabelle"
)
_NAMED = lazy_regex(
    r"(?<![\w-])(?:in|from|according to|within|im|aus|laut)\s"
    r"(?:(?:the|our|my|all|dem|den|der|unser\w{1,2})\s)?"
    rf"((?:[\w'’.-]{{1,30}}\s){{0,4}}?(?:[\w.-]{{1,60}}\.[a-z]\w{{1,5}}|{_PLACE})\b"
    r"(?:\s\d{4}\b)?)"
    r"|(?:在|根据|根據)([^\W在]{0,12}(?:手册|手冊|纪要|紀要|笔记|筆記|报告|報告|文件夹|資料夾|幻灯片|簡報|PDF"
    r"|表格|邮件|郵件|逐字稿))[里裡中]?",
    re.IGNORECASE,
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january januar", "february februar", "march märz", "april", "may mai", "june juni"),
            *("july juli", "august", "september", "october oktober", "november"),
            "december dezember",
        ),
        1,
    )
    for name in names.split()
}
_DATE = (
    r"(?:(?P<iso>\d{4}-\d\d(?:-\d\d)?)|(?:(?P<day>\d{1,2})\.?\s)?"
    rf"(?P<month>{'|'.join(_MONTHS)})(?:\s(?P<of>\d{{4}}))?|(?P<year>(?:19|20)\d\d))\b"
)
_DATED = lazy_regex(
    rf"\b(?:(?P<since>since|seit|ab)(?:\sdem)?|in|im|of|vom)\s{_DATE}", re.IGNORECASE
)
_DATED_ZH = lazy_regex(
    r"[自从從]?(?P<of>\d{4})年(?:(?P<month>\d{1,2})月)?(?:(?P<day>\d{1,2})日)?(?P<since>以来|以來|以后|以後|起)?"
)
# Of other questions, a date is one of what they are about ("ships built since 1990").
_OF_PAPERS = lazy_regex(
    r"\b(?:decide[ds]?|decisions?|agree[ds]?|announced?|changed?|said|sa(?:y|id)|wrote|discussed"
    r"|beschlossen|entschieden|vereinbart|geändert|gesagt|besprochen)\b"
    "|决定|決定|变更|變更|改变|改變|讨论|討論|商定",
    re.IGNORECASE,
)


def filter_in(question: str, today: date) -> Filter:
    """Return the filter that plain phrases of a question name."""
    found = (match[1] or match[2] for match in _NAMED.finditer(question))
    named = tuple(dict.fromkeys(name for name in found if _wanted(name)))
    dated = _dated(question)
    if not (named or _OF_PAPERS.search(question) or (dated and _leads(question, dated))):
        dated = None
    return Filter(named, *(_period(dated.groupdict(), today) if dated else ()))


def without(question: str, kept: Filter) -> str:
    """Return a question without the phrases that became a filter."""
    said = [match for match in _NAMED.finditer(question) if (match[1] or match[2]) in kept.named]
    dated = _dated(question) if kept.after or kept.before else None
    for match in sorted([*said, *([dated] if dated else [])], key=re.Match.start, reverse=True):
        question = f"{question[: match.start()].rstrip()} {question[match.end() :].lstrip()}"
    return re.sub(r" (?=[?.,，。？])", "", question).strip()


def _dated(question: str) -> re.Match[str] | None:
    return _DATED.search(question) or _DATED_ZH.search(question)


def _leads(question: str, dated: re.Match[str]) -> bool:
    """Whether a question begins with a day or month since when it asks: "Since March, …"."""
    said = dated.groupdict()
    since = said["since"] and (said["month"] or said.get("iso"))
    return bool(
        since and not question[: dated.start()].strip() and question[dated.end() :][:1] in ",，"
    )


def _period(said: dict[str, str | None], today: date) -> tuple[str, str]:
    """The first and last day of a date in words; "" for an open end, or if it is no date. A year
    alone is one of what was decided, not of the paper, unless it is the first of more."""
    numbers = [int(part) for part in (said.get("iso") or "").split("-") if part]
    if not numbers:
        name = (said.get("month") or "").lower()
        month = int(name) if name.isdecimal() else _MONTHS.get(name, 0)
        year = said.get("of") or said.get("year") or today.year - (month > today.month)
        numbers = [int(year), *filter(None, (month, int(said.get("day") or 0)))]
    if len(numbers) < 2 and not said["since"]:
        return "", ""
    try:
        year_, month, day = (*numbers, 0, 0)[:3]
        first = date(year_, month or 1, day or 1)
        last = first.replace(
            month=month or 12, day=day or calendar.monthrange(year_, month or 12)[1]
        )
    except ValueError:
        return "", ""
    return first.isoformat(), "" if said["since"] else last.isoformat()


_IN_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])(?:[-_.]?([0-3]\d))?(?!\d)")


def date_in_name(name: str) -> str:
    """Return the date in a file's name, as ISO 8601; "" if there is none."""
    for match in _IN_NAME.finditer(name):
        try:
            return date(int(match[1]), int(match[2]), int(match[3] or 1)).isoformat()
        except ValueError:
            continue
    return ""

"""Footnote's own messages in the reader's language, from Fluent catalogs (projectfluent.org).

``texts/en.ftl`` is the original; the other catalogs have its ids with the same variables. A message
that a catalog lacks is in English.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle


CATALOGS = Path(__file__).with_name("texts")
DEFAULT = "en"
LANGUAGES = {  # the catalogs, each with the name of its language in it
    "en": "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "ja": "日本語",
    "zh-Hans": "简体中文",
    "zh-Hant": "繁體中文",
}
LOCALES = tuple(LANGUAGES)

_TRADITIONAL = frozenset(("hant", "tw", "hk", "mo"))


# fluent.runtime refuses longer values (its guard against patterns that expand without limit).
LONGEST_VALUE = 1_000  # characters

_STAND_IN = re.compile("\x00([^\x00]+)\x00")


Sentence: TypeAlias = Union["Said", str]
"""A text for people. A string is shown as it is: it comes from outside, or is for operators."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message before it is known in which language it is read: its id and its values, which may
    be messages too. ``str`` is its English."""

    id: str
    values: Mapping[str, Sentence | int | float] = field(hash=False)

    def __str__(self) -> str:
        return texts_for(DEFAULT).say(self)

    def __add__(self, other: Sentence) -> Said:
        """The two as consecutive sentences."""
        return said("sentences", first=self, next=other)


def said(id: str, /, **values: Sentence | int | float) -> Said:
    return Said(id, values)


def encoded(sentence: Sentence) -> str:
    """A string to store or send it; ``decoded`` restores it."""
    return json.dumps(asdict(sentence)) if isinstance(sentence, Said) else sentence


def decoded(text: str) -> Sentence:
    """Restore a sentence. A string that is none, or of a message that is not there, is as it is."""
    try:
        sentence = json.loads(text, object_hook=_restored)
        str(sentence)  # it has all its values
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return text
    return sentence if isinstance(sentence, Said) else text


def _restored(found: dict[str, Any]) -> Said | dict[str, Any]:
    return Said(**found) if found.keys() == {"id", "values"} else found


def listed(parts: Sequence[Sentence]) -> Sentence:
    """The parts with commas between them; there must be at least one."""
    return reduce(lambda first, next: said("listed", first=first, next=next), parts)


def month_day(day: date) -> Said:
    """A day without its year."""
    return said("month-day", day=day.day, month=day.month)


def whole_day(day: date) -> Said:
    """A day with its year."""
    return said("day", date=month_day(day), year=str(day.year))


def size(count: int) -> Said:
    """A number of bytes in the largest unit that leaves at least one."""
    power = min(3, max(0, (len(str(count)) - 1) // 3))
    return said("size", amount=count / 1_000**power, power=power)


class UnknownText(KeyError):
    """A message id that no catalog has, or a missing variable: a bug in our code."""


class Texts:
    """The messages of one locale: ``texts("queued", ahead=2)``."""

    def __init__(self, locale: str) -> None:
        """``locale`` is one of ``LOCALES``; its catalog is read on the first request."""
        self.locale = locale

    def __call__(self, id: str, /, **values: str | int | float) -> str:
        """The message with this id; raises ``UnknownText`` if it or one of its values is missing.

        Numbers are formatted for the locale. Values are inserted unchanged: text from pages or
        people must be made safe before or afterwards.
        """
        catalog = _catalog(self.locale if self.has(id) else DEFAULT)
        if (plain := catalog.plain(id, values)) is not None:
            return plain
        bundle = catalog.with_text(id)
        if not bundle.has_message(id):
            raise UnknownText(f"no text {id!r} in {self.locale}")
        pattern = bundle.get_message(id).value
        if pattern is None:
            raise UnknownText(f"the text {id!r} has no value in {self.locale}")
        long = {name: text for name, text in values.items() if _is_long(text)}
        stand_ins = {name: f"\x00{name}\x00" for name in long}
        text, problems = bundle.format_pattern(pattern, {**values, **stand_ins})
        if problems:
            raise UnknownText(f"{id!r} in {self.locale}: {', '.join(map(str, problems))}")
        return _STAND_IN.sub(lambda found: str(long.get(found[1], found[0])), str(text))

    def say(self, sentence: Sentence) -> str:
        """The message with its values, and a string as it is. Raises ``UnknownText``."""
        if isinstance(sentence, str):
            return sentence
        values = sentence.values.items()
        said = {name: self.say(one) if isinstance(one, Said) else one for name, one in values}
        return self(sentence.id, **said)

    def has(self, id: str) -> bool:
        """True if the locale's own catalog has the message; a missing one is in English."""
        return id in _catalog(self.locale).ids


def _is_long(value: str | int | float) -> bool:
    return isinstance(value, str) and len(value) > LONGEST_VALUE


def _is_written_alike(value: str | int | float | None) -> bool:
    """True if every locale writes a value as Python does; from 1,000 on, digits are grouped."""
    return isinstance(value, str) or (type(value) is int and 0 <= value < 1_000)


def texts_for(locale: str) -> Texts:
    """The texts for a platform's locale tag ("en-GB", "de_AT", "zh-Hant-HK").

    Chinese of Taiwan, Hong Kong and Macau, or tagged as traditional, is ``zh-Hant``, any other
    Chinese ``zh-Hans``. Languages without a catalog and invalid tags are English.
    """
    return _texts(negotiated(locale))


def texts_in(language: str, texts: Texts) -> Texts:
    """The texts in the language of a question, in the asker's variant: ``texts`` if they are in
    it."""
    same = texts.locale.partition("-")[0] == language.partition("-")[0]
    return texts if same else texts_for(language)


def negotiated(locale: str) -> str:
    """The one of ``LOCALES`` that fits a platform's locale tag."""
    language, *rest = locale.strip().replace("_", "-").lower().split("-")
    if language == "zh":
        return "zh-Hant" if _is_traditional(rest) else "zh-Hans"
    return language if language in LOCALES else DEFAULT


@cache
def language_names() -> Mapping[str, str]:
    """The name of each locale's language, in that language. The name of one whose catalog lacks
    messages says so."""
    whole = _catalog(DEFAULT).ids
    return {
        locale: name
        if whole <= _catalog(locale).ids
        else _texts(locale)("web-language-partly", name=name)
        for locale, name in LANGUAGES.items()
    }


def _is_traditional(subtags: Sequence[str]) -> bool:
    return "hans" not in subtags and not _TRADITIONAL.isdisjoint(subtags)


_texts = cache(Texts)


# An entry with its indented continuation lines; its id may be that of a term ("-brand").
_ENTRY = re.compile(r"^(-?[a-zA-Z][\w-]*) *=.*?(?=^[a-zA-Z#-]|\Z)", re.MULTILINE | re.DOTALL)
_SYNTAX = re.compile(r"[{}\n]")
_VALUE = re.compile(r"\{ \$([a-z]+) \}")
_REFERENCE = re.compile(r"\{\s*(-?[a-zA-Z][\w-]*)")


class _Catalog:
    """A catalog whose entries are parsed one by one on demand: parsing all takes 50 ms, and an
    answer needs ten of four hundred. Importing the parser takes as long, and many answers only have
    messages that need no parsing.
    """

    def __init__(self, locale: str) -> None:
        text = (CATALOGS / f"{locale}.ftl").read_text(encoding="utf-8")
        self._locale = locale
        self._unparsed = {entry[1]: entry[0] for entry in _ENTRY.finditer(text)}
        self.ids = frozenset(self._unparsed)

    def plain(self, id: str, values: Mapping[str, str | int | float]) -> str | None:
        """The message with this id if it is a single line whose only placeholders are values
        written alike in every locale; else None.
        """
        entry = self._unparsed.get(id, "").strip()
        pattern = entry.partition("=")[2].strip()
        if not entry or _SYNTAX.search(_VALUE.sub("", entry)):
            return None
        if not all(_is_written_alike(values.get(name)) for name in _VALUE.findall(pattern)):
            return None
        return _VALUE.sub(lambda found: str(values[found[1]]), pattern)

    @cached_property
    def _bundle(self) -> FluentBundle:
        from fluent.runtime import FluentBundle

        # Isolation marks around values (U+2068, U+2069) would end up in links, code and searches.
        return FluentBundle([self._locale], use_isolating=False)

    def with_text(self, id: str) -> FluentBundle:
        """The bundle, with this message and all it refers to added if the catalog has them."""
        wanted = [id]
        while wanted:
            entry = self._unparsed.pop(wanted.pop(), None)
            if entry is not None:
                from fluent.runtime import FluentResource

                self._bundle.add_resource(FluentResource(entry))
                wanted += _REFERENCE.findall(entry)
        return self._bundle


_catalog = cache(_Catalog)

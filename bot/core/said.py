"""Messages of the catalogs before it is known in which language they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import reduce
from typing import Any, TypeAlias, Union

Sentence: TypeAlias = Union["Said", str]
"""A text for people. A string is shown as it is: it comes from outside, or is for operators."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of ``bot.core.texts`` with its values, which may be messages too; ``str`` is its
    English."""

    id: str
    values: Mapping[str, Sentence | int | float] = field(hash=False)

    def __str__(self) -> str:
        from bot.core.texts import DEFAULT, texts_for  # it knows errors, which know this module

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


def size(count: int) -> Said:
    """A number of bytes in the largest unit that leaves at least one."""
    power = min(3, max(0, (len(str(count)) - 1) // 3))
    return said("size", amount=count / 1_000**power, power=power)

"""The words of the load bench: topics by number, questions about them, pages that answer."""

from __future__ import annotations

import random
import re
from functools import lru_cache

ASPECTS = ("mirror", "harbour", "keeper", "charter", "bridge", "archive", "garden", "observatory")
PARAGRAPHS, SENTENCES = 12, 5  # of a page: some 6,000 characters of text, as a news page has
VARIANTS = 64  # pages that differ by more than their topic

_NUMBER = re.compile(r"halvern-(\d+)", re.IGNORECASE)
_SYLLABLES = ("ba", "con", "der", "el", "fin", "gra", "hol", "im", "ja", "ker", "lo", "men", "ta")
_FURNITURE = "".join(f'<li><a href="/other/{n}">Another page, {n}</a></li>' for n in range(120))


def question_about(topic: int) -> str:
    """A question that only pages of its topic answer."""
    return f"When was the {ASPECTS[topic % len(ASPECTS)]} of Halvern-{topic} built, and by whom?"


def follow_up(topic: int) -> str:
    return f"And who paid for the {ASPECTS[(topic + 1) % len(ASPECTS)]} of Halvern-{topic}?"


def topic_of(text: str) -> int:
    """The topic whose number stands in a text; 0 without one."""
    found = _NUMBER.search(text)
    return int(found[1]) if found else 0


def page_about(topic: int, rank: int) -> bytes:
    """A page as sites have them: menus around an article."""
    return _template(rank % VARIANTS).replace("@", f"Halvern-{topic}").encode()


def text_about(topic: int, rank: int) -> str:
    """The article of a page, as it is stored."""
    return "\n\n".join(_article(rank % VARIANTS)).replace("@", f"Halvern-{topic}")


@lru_cache(VARIANTS)
def _template(variant: int) -> str:
    paragraphs = "".join(f"<p>{paragraph}</p>\n" for paragraph in _article(variant))
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>@: part {variant}"
        f"</title></head><body><nav><ul>{_FURNITURE}</ul></nav><main><article><h1>@: part {variant}"
        f"</h1>{paragraphs}</article></main><footer><ul>{_FURNITURE}</ul></footer></body></html>"
    )


@lru_cache(VARIANTS)
def _article(variant: int) -> list[str]:
    chance = random.Random(variant)
    return [
        " ".join(_sentence(chance, paragraph * SENTENCES + n) for n in range(SENTENCES))
        for paragraph in range(PARAGRAPHS)
    ]


def _sentence(chance: random.Random, number: int) -> str:
    words = " ".join(
        "".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4)))
        for _ in range(chance.randint(6, 14))
    )
    aspect = ASPECTS[number % len(ASPECTS)]
    return f"The {aspect} of @ was built in {1700 + chance.randrange(300)} by {words}."

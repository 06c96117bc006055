"""Attacks on regular expressions and functions: text of repeated tokens, and the growth of time.

The tokens of a pattern come from its own syntax tree: what its parts match, what stands before a
repetition, and what the repetition repeats. Time that grows with the square of the length shows as
a ratio near 16 between n and 4n characters; linear time as one near 4.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

_sre: Any = importlib.import_module("re._parser")

MOST = 6.0
"""The largest ratio of the times for 4n and n characters."""

LENGTHS = (16, 64, 256, 1_000, 4_000)
"""Each about four times the one before. At 4,000 characters a pattern that is quadratic takes many
milliseconds, one that is linear 0.02 to 0.5."""

MOST_ATTACKS = 120
_FLOOR = 0.001  # seconds; less is noise
_FAR_TOO_LONG = 0.05  # seconds
_TRIES = 5
_SAMPLES = "a1 \n-_.,:;([{<\"'`*#|/\\=@!?A$%&~+中什の한é，。\t\x1b"

TOKENS = (
    *"[](){}<>!?.,:;'\"`*_~#|/\\=+-–$%&@^aA1一カ。",
    *(
        "\n",
        " ",
        "\t",
        "\n\n",
        " \n",
        "[1",
        "[1]",
        "](",
        "![",
        "(a)",
        "1,",
        "1.",
        "1-",
        "1 ",
        "a.",
        "a ",
    ),
    *(
        "A ",
        "a-",
        "什么是",
        "是",
        "的",
        "年",
        "一百",
        "1年",
        "and ",
        "- ",
        "> ",
        "```\n",
        "**",
        "*a",
        "_a",
    ),
    *("<a ", "<!--", "http://", "www.", "a@", "\\[", "$a", "\x1b["),
)
MORE_TOKENS = (
    *"éß什のカ한，：；「」【】（）、·’…\u3000\u00a0\x00",
    *(
        "\r\n",
        "[](",
        "](<",
        "[[1]",
        "1/",
        "A.",
        "a'",
        "Aa ",
        "和",
        "the ",
        "* ",
        "# ",
        "| ",
        "|-",
        "`` ",
    ),
    *(
        "~~~\n",
        "&#",
        "https://a",
        "a.a@",
        "1:",
        "$$",
        "¥1",
        "1% ",
        "No. ",
        "\x1b]",
        "[a](b",
        "(1) ",
    ),
)


Attack = tuple[str, str, str]
"""What stands before a token, the token, which is repeated, and what stands behind."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The time of an attack of ``length`` characters, and its ratio to that of a quarter."""

    prefix: str
    token: str
    tail: str
    length: int
    seconds: float
    ratio: float

    def __str__(self) -> str:
        attack = " + ".join(
            [*([repr(self.prefix)] if self.prefix else []), f"{self.token!r} * n"]
            + ([repr(self.tail)] if self.tail else [])
        )
        return f"{attack}: {self.seconds * 1000:.1f} ms at {self.length}, ratio {self.ratio:.1f}"


def attacks_on(pattern: re.Pattern[str], most: int = MOST_ATTACKS) -> list[Attack]:
    """Prefix, repeated token and tail of attacks made from a pattern's own syntax.

    Of a pattern with many parts an even selection of about ``most``.
    """
    tree = _sre.parse(pattern.pattern, pattern.flags)
    found: dict[tuple[str, str, str], None] = {}
    for prefix, pump, whole in _repetitions(tree, ""):
        for tail in ("", "\n", "!", "\x00"):
            found[prefix, pump, tail] = None
            found["", prefix + pump, tail] = None
        found["", pump + prefix, ""] = None
        found["", whole, ""] = None
    for whole in _wholes(tree):
        for end in range(1, min(len(whole), 12) + 1):
            found["", whole[:end], ""] = None
        found["", whole, "\x00"] = None
        found["", whole + " ", ""] = None
    kept = [each for each in found if each[1]]
    return kept[:: max(len(kept) // most, 1)]


def growth(
    run: Callable[[str], object],
    attacks: Iterable[Attack],
    lengths: Sequence[int] = LENGTHS,
) -> Growth | None:
    """The first attack under which the time of ``run`` grows too much over the last two lengths.

    A shorter length decides only if it already takes more than ``_FAR_TOO_LONG``: a repetition of
    at most 80 characters, for example, looks like a square until the text is longer than that. For
    the same reason a text four times as long must grow so too.
    """
    for attack in attacks:
        shorter = lengths[0]
        for left, length in zip(range(len(lengths) - 1, -1, -1), lengths, strict=True):
            seconds = cpu_seconds(run, _text(attack, length))
            if seconds > _FAR_TOO_LONG or (not left and seconds > _FLOOR):
                found = _grown(run, attack, shorter, length)
                if found is not None and seconds < _FAR_TOO_LONG:
                    found = _grown(run, attack, length, 4 * length)
                if found is not None:
                    return found
            if seconds * 16**left < _FLOOR:
                break  # as a square it would stay below what can be measured
            shorter = length
    return None


def _text(attack: Attack, length: int) -> str:
    prefix, token, tail = attack
    return prefix + token * max(length // len(token), 1) + tail


def _grown(
    run: Callable[[str], object], attack: Attack, shorter: int, length: int
) -> Growth | None:
    """The growth between two lengths, if it is too much in each of several tries."""
    before = seconds = float("inf")
    for _ in range(_TRIES):
        before = min(before, cpu_seconds(run, _text(attack, shorter)))
        seconds = min(seconds, cpu_seconds(run, _text(attack, length)))
        if seconds <= max(_FLOOR, before * MOST ** log(length / shorter, 4)):
            return None
    return Growth(*attack, length, seconds, seconds / before)


def cpu_seconds(run: Callable[[str], object], text: str) -> float:
    """CPU time of this thread: other programs do not count."""
    start = time.thread_time()
    run(text)
    return time.thread_time() - start


# ---------------------------------------------------------------- a pattern's own syntax


def _repetitions(tree: Any, before: str) -> Iterator[tuple[str, str, str]]:
    """For each repetition what stands before it, what it repeats, and the whole sequence."""
    rest = [_sample(item) for item in tree]
    for at, (kind, value) in enumerate(tree):
        prefix = before + "".join(rest[:at])
        for inner in _inner(kind, value):
            yield from _repetitions(inner, prefix)
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and int(value[1]) > 8:
            for pump in dict.fromkeys(_wholes(value[2])):
                yield prefix, pump, prefix + pump + "".join(rest[at + 1 :])
            following = "".join(rest[at + 1 : at + 3])
            body = _sample((kind, value))
            yield prefix, following[:1] or body, prefix + body + following


def _wholes(tree: Any) -> list[str]:
    """Texts that a sequence matches, one for each alternative in it."""
    items = list(tree)
    base = [_sample(item) for item in items]
    found = ["".join(base)]
    for at, (kind, value) in enumerate(items):
        parts: list[str] = []
        for inner in _inner(kind, value):
            parts += _wholes(inner)
        if str(kind) == "IN":
            parts += _members(value)
        found += ["".join((*base[:at], part, *base[at + 1 :])) for part in parts[:24]]
    return list(dict.fromkeys(found))[:60]


def _inner(kind: Any, value: Any) -> list[Any]:
    match str(kind):
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [value[2]]
        case "SUBPATTERN":
            return [value[3]]
        case "ATOMIC_GROUP":
            return [value]
        case "BRANCH":
            return list(value[1])
        case "ASSERT":
            return [value[1]] if value[0] > 0 else []
        case "GROUPREF_EXISTS":
            return [each for each in value[1:] if each is not None]
    return []


def _sample(item: tuple[Any, Any]) -> str:
    """A short text that one item of a sequence matches, or "" for one of no width."""
    kind, value = item
    match str(kind):
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return next(char for char in _SAMPLES if ord(char) != value)
        case "ANY":
            return "a"
        case "IN":
            return (_members(value) or [""])[0]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return "".join(map(_sample, value[2])) * min(max(int(value[0]), 1), 4)
        case "SUBPATTERN":
            return "".join(map(_sample, value[3]))
        case "ATOMIC_GROUP":
            return "".join(map(_sample, value))
        case "BRANCH":
            return "".join(map(_sample, value[1][0]))
    return ""


def _members(items: Any) -> list[str]:
    """Some characters of a character class."""
    names = {
        "CATEGORY_DIGIT": r"\d",
        "CATEGORY_NOT_DIGIT": r"\D",
        "CATEGORY_SPACE": r"\s",
        "CATEGORY_NOT_SPACE": r"\S",
        "CATEGORY_WORD": r"\w",
        "CATEGORY_NOT_WORD": r"\W",
    }
    parts, own = "", ""
    for kind, value in items:
        match str(kind):
            case "NEGATE":
                parts += "^"
            case "LITERAL":
                parts += re.escape(chr(value))
                own += chr(value)
            case "RANGE":
                parts += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
                own += chr(value[0])
            case "CATEGORY":
                parts += names[str(value)]
    is_member = re.compile(f"[{parts}]").fullmatch
    return [char for char in dict.fromkeys(_SAMPLES[:24] + own + _SAMPLES) if is_member(char)][:6]

"""Patterns that are compiled at their first use."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.text import patterns as ours
from bot.text.patterns import lazy_regex

ROOT = Path(ours.__file__).parents[2]


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    words = lazy_regex(r"b(?P<vowel>[aeiou])d", re.IGNORECASE)
    assert words.findall("bad BED bud") == ["a", "E", "u"]
    assert words.sub("-", "a bad bid") == "a - -"
    assert words.fullmatch("Bid")
    assert words.groupindex == {"vowel": 1}
    assert words.flags == re.compile("", re.IGNORECASE).flags


def test_nothing_is_compiled_before_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_ = re.compile

    def noted(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    digits = lazy_regex(r"\d+")
    assert digits.pattern == r"\d+"
    assert not compiled
    assert digits.search("page 12")
    assert not digits.match("page 12")
    assert compiled == [r"\d+"]


def test_what_a_pattern_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="seek"):
        lazy_regex("a").seek  # type: ignore[attr-defined]  # noqa: B018


def _lazy(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, ours._LazyRegex):
        yield value  # type: ignore[misc]
    elif isinstance(value, Mapping):
        yield from _lazy([*value, *value.values()])
    elif isinstance(value, tuple | list | frozenset):
        for each in value:
            yield from _lazy(each)


def test_every_one_in_the_code_compiles() -> None:
    files = [path for path in (ROOT / "bot").rglob("*.py") if " lazy_regex" in path.read_text()]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]
    patterns = [
        each for name in names for each in _lazy(list(vars(importlib.import_module(name)).values()))
    ]
    assert len(patterns) >= len(files) > 0
    assert all(each.groups >= 0 for each in patterns)

"""Facts on public data: how often a true claim is doubted, and a false one caught."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from bot.text.facts import Fact, facts, missing_from
from bot.text.sentences import sentences

pytestmark = pytest.mark.shared


def paragraphs(folder: Path, language: str) -> list[str]:
    data = json.loads((folder / "chinese" / f"xquad.{language}.json").read_text(encoding="utf-8"))
    return [p["context"] for article in data["data"] for p in article["paragraphs"]]


def claims(text: str) -> list[Fact]:
    return [fact for s in sentences(text) for fact in facts(text[s.start : s.end])]


@pytest.mark.parametrize(("claimed", "source"), [("zh", "en"), ("en", "zh")])
def test_figures_and_dates_meet_across_languages(
    shared_data: Path, claimed: str, source: str
) -> None:
    """The same paragraphs in two languages: what differs is mostly the translators' doing."""
    total = doubted = 0
    pairs = zip(paragraphs(shared_data, claimed), paragraphs(shared_data, source), strict=True)
    for one, other in pairs:
        found = [fact for fact in claims(one) if fact.kind != "name"]
        total += len(found)
        doubted += len(missing_from(found, other))
    assert total > 800
    assert doubted < 0.03 * total


def test_no_sentence_of_a_page_is_doubted_by_its_page(shared_data: Path) -> None:
    for text in paragraphs(shared_data, "en"):
        assert missing_from(claims(text), text) == []


def test_facts_of_other_pages_are_caught(shared_data: Path) -> None:
    texts = paragraphs(shared_data, "en")
    random.Random(1).shuffle(texts)
    total, caught = Counter[str](), Counter[str]()
    for one, other in pairwise(texts):
        found = claims(one)
        total.update(fact.kind for fact in found)
        caught.update(fact.kind for fact in missing_from(found, other))
    for kind, at_least in (("figure", 0.85), ("date", 0.9), ("name", 0.85)):
        assert caught[kind] >= at_least * total[kind] > 0, kind

"""The bench of the check: its sets are sound, its quotes resolve, the model is asked as in use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bot.reasoning.evidence import Claim
from tests.bench.check import Judged, by_first_step, first_step, main, rows, sample
from tests.bench.check_items import (
    FALSE_KINDS,
    HALVES,
    LANGUAGES,
    TRUE_KINDS,
    Item,
    Quote,
    items,
    words_of,
)
from tests.fakes.claude import FakeClaude, Reply, says
from tests.fakes.claude_brain import SENTENCE
from tests.fakes.server import serve

QUOTE = Quote("multihop", "Eiffel Tower", 4, 40, "0123456789abcdef")
CLAIM = Claim("It is tall.", ("It is tall.",))
ALL = [item for language in LANGUAGES for half in HALVES for item in items(language, half)]


def an_item(label: bool, kind: str) -> Item:
    return Item("en-000000", "It is tall.", "How tall is it?", label, kind, (QUOTE,), "en", "tune")


# ---------------------------------------------------------------- the sets


def test_every_item_has_a_sentence_a_quote_and_a_kind_of_its_label() -> None:
    for item in ALL:
        assert item.kind in (TRUE_KINDS if item.label else FALSE_KINDS), item.id
        assert item.claim.strip() == item.claim != "", item.id
        assert item.question, item.id
        assert item.quotes, item.id
        assert all(0 <= quote.start < quote.end for quote in item.quotes), item.id


def test_no_sentence_is_in_the_sets_twice() -> None:
    assert len({item.id for item in ALL}) == len({item.claim for item in ALL}) == len(ALL)


def test_what_rules_are_made_from_has_much_of_every_kind_that_measures_them() -> None:
    counts = Counter((item.language, item.label, item.kind, item.half) for item in ALL)
    for language, label, kind, _ in counts:
        tune, held = (counts[language, label, kind, half] for half in HALVES)
        assert tune >= 0.75 * held - 2, (language, label, kind)


@pytest.mark.shared
def test_every_quote_is_in_the_shared_data() -> None:
    for item in ALL:
        assert all(words_of(quote) for quote in item.quotes), item.id


@pytest.mark.shared
def test_a_quote_that_has_changed_is_told() -> None:
    quote = ALL[0].quotes[0]
    with pytest.raises(ValueError, match="has other words"):
        words_of(replace(quote, end=quote.end - 1))
    with pytest.raises(ValueError, match="has no page 'Nowhere'"):
        words_of(replace(quote, title="Nowhere"))


# ---------------------------------------------------------------- the steps


@pytest.mark.shared
async def test_the_first_step_sees_the_sentence_and_its_quote() -> None:
    item = replace(ALL[0], claim="It was built by Nebuchadnezzar in 1234.")
    (judged,) = await first_step([item])
    assert "Nebuchadnezzar" in judged.reason
    assert "1234" in judged.reason
    word_for_word = " ".join(words_of(item.quotes[0]).split(". ")[0].split()) + "."
    (judged,) = await first_step([replace(item, claim=word_for_word)])
    assert judged.reason == ""


def test_rows_count_the_false_that_are_found_and_the_true_that_are_marked() -> None:
    judged = [
        Judged(an_item(False, "figure"), "12", 0.0, CLAIM),
        Judged(an_item(False, "figure"), "", 0.0, CLAIM),
        Judged(an_item(False, "roles"), "", 0.0, CLAIM),
        Judged(an_item(True, "close"), "", 0.0, CLAIM),
    ]
    assert [row[-1] for row in rows([(judged, by_first_step)])] == [
        "1 / 2", "0 / 1", "1 / 3 = 33%",
        "0 / 1", "0 / 1 = 0%",
    ]  # fmt: skip


@pytest.mark.parametrize("count", [1, 5, 12])
def test_a_sample_is_the_same_every_time_mixed_and_of_every_kind(count: int) -> None:
    chosen = sample(ALL, count)
    assert chosen == sample(ALL[::-1], count)
    sizes = Counter((item.language, item.label) for item in chosen)
    assert sizes == {(language, label): count for language in LANGUAGES for label in (True, False)}
    kinds = Counter((item.language, item.label, item.kind) for item in chosen)
    assert max(kinds.values()) == 1
    assert [item.label for item in chosen] != sorted(item.label for item in chosen)


@pytest.mark.shared
def test_the_model_is_asked_as_the_product_asks_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that knows the labels marks what is false; it is told nothing but sentence and quotes."""
    held = {item.claim: item for item in items("en", "held")}
    asked: list[str] = []

    def knowing(request: Mapping[str, Any]) -> Reply:
        shown = str(request["messages"][-1]["content"])
        ((_, _, sentence),) = SENTENCE.findall(shown)
        asked.append(shown)
        verdict = "supported" if held[sentence].label else "contradicted"
        return says(json.dumps({"verdicts": [{"sentence": 1, "verdict": verdict, "words": ""}]}))

    with serve(FakeClaude(knowing)) as url:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        main(["--model", "--half", "held", "--language", "en", "--items", "6"])
    table = capsys.readouterr().out.splitlines()
    (found,) = [line for line in table if line.startswith("FALSE, FOUND")]
    (marked,) = [line for line in table if line.startswith("TRUE, MARKED")]
    assert found.count("= 100%") == 2, "by the model, and by either"
    assert "0 / 6 = 0%" in marked
    assert len(asked) == 12


@pytest.mark.shared
def test_without_a_model_there_is_no_second_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(SystemExit, match="No model is configured"):
        main(["--model", "--half", "held", "--language", "en", "--items", "1"])

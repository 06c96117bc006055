"""The bench of the check: its sets are sound, its quotes resolve, verdicts are read and counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.check import (
    Judged,
    by_first_step,
    first_step,
    judge_input,
    main,
    read_verdicts,
    rows,
    shuffled,
)
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

QUOTE = Quote("multihop", "Eiffel Tower", 4, 40, "0123456789abcdef")
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
        Judged(an_item(False, "figure"), "12", 0.0),
        Judged(an_item(False, "figure"), "", 0.0),
        Judged(an_item(False, "roles"), "", 0.0),
        Judged(an_item(True, "close"), "", 0.0),
    ]
    assert [row[-1] for row in rows([(judged, by_first_step)])] == [
        "1 / 2", "0 / 1", "1 / 3 = 33%",
        "0 / 1", "0 / 1 = 0%",
    ]  # fmt: skip


@pytest.mark.shared
def test_judges_see_batches_without_labels() -> None:
    chosen = items("en", "held")[:30]
    text = judge_input(chosen)
    assert text.count("==== batch") == 3
    assert all(f"{item.id}: {item.claim}" in text for item in chosen)
    assert not any(f"{item.id} {item.label}" in text or f" {item.kind}:" in text for item in chosen)


def test_the_order_of_judging_is_not_that_of_the_sets() -> None:
    chosen = items("en", "held")
    assert shuffled(chosen) == shuffled(chosen[::-1]) != chosen
    labels = [item.label for item in shuffled(chosen)]
    assert 0.35 < sum(labels[:60]) / 60 < 0.75, "true ones are spread"


@pytest.mark.shared
def test_verdicts_are_a_second_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = items("en", "held")[:60]
    right = [f"{item.id} {'supported' if item.label else 'Contradicted: no'}" for item in held]
    path = tmp_path / "verdicts.txt"
    path.write_text("\n".join(right), encoding="utf-8")
    main(["--judge", str(path), "--half", "held", "--language", "en", "--items", "60"])
    table = capsys.readouterr().out.splitlines()
    (found,) = [line for line in table if line.startswith("FALSE, FOUND")]
    (marked,) = [line for line in table if line.startswith("TRUE, MARKED")]
    assert found.count("= 100%") == 2, "by the judge, and by either"
    assert "= 0%" in marked


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("en-nobody supported", "line 1: 'en-nobody supported' is not an item's id and one of"),
        (f"{ALL[0].id} perhaps", "is not an item's id and one of supported, partly"),
        (f"\n{ALL[0].id}", "line 2: "),
        (f"{ALL[0].id} partly\n{ALL[0].id} supported", "line 2: a second verdict on"),
    ],
)
def test_what_is_no_verdict_is_told(lines: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.txt"
    path.write_text(lines, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_verdicts(path)

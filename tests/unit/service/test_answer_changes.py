"""Changes of an answer in substance are told apart from changes in wording, order and footnotes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.core.messages import Answer, Change, Citation
from bot.pages.urls import dedupe_key
from bot.service.answer_changes import changes, undecided, with_changes

A, B, C = (f"https://{name}.example/" for name in "abc")


def an_answer(text: str, **quotes: str) -> Answer:
    """Marks 1, 2, 3 are of the pages a, b, c; a page is quoted with its sentences of the text."""
    cited = tuple(
        Citation(n, url, url, quotes.get(name, text), f"h-{text}", 0, 1)
        for n, (name, url) in enumerate(zip("abc", (A, B, C), strict=True), start=1)
        if f"[{n}]" in text
    )
    return Answer("answered", text, "?", "r", citations=cited)


def changed(
    before: str, after: str, then: Mapping[str, str] = {}, now: Mapping[str, str] = {}
) -> tuple[tuple[str, str], ...]:
    found = changes(an_answer(before), an_answer(after), then, now)
    return tuple((one.before, one.after) for one in found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The fee is 20 euros [1].", "A fee of 20 euros applies [1]."),
        ("Opened in May 1987 [1]. It has 40 rooms [2].", "40 rooms [2]. Open from May 1987 [1]."),
        ("The fee is 20 euros [1].", "The fee is 20 euros [2]."),
        ("The fee is 1,200 euros [1].", "The fee is 1.2 thousand euros [1]."),
        ("The fee is 20 euros [1].", "The fee is 20 euros [1]. It is paid at the door [1]."),
        ("- **Fee:** 20 euros [1]", "| Fee | 20 euros [1] |"),
        ("超过2000欧元时由总监批准 [1]。", "超过2000欧元，由总监批准 [1]。"),
    ],
)  # fmt: skip
def test_cosmetics_are_no_change(before: str, after: str) -> None:
    assert changed(before, after) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The fee is 20 euros [1].", "The fee is 25 euros [1]."),
        ("The fee is 20 euros [1].", "The fee is now 25 euros [2]."),
        ("Its release is on 3 June 2026 [1].", "Its release is on 9 July 2026 [1]."),
        ("The director is Maria Keller [1].", "The director is Jonas Brandt [1]."),
        ("超过2000欧元时由总监批准 [1]。", "超过3000欧元时由总监批准 [1]。"),
    ],
)  # fmt: skip
def test_other_facts_about_the_same_are_one_change(before: str, after: str) -> None:
    assert changed(before, after) == ((before, after),)


def test_what_the_writer_chose_is_no_change_while_the_pages_say_what_they_said() -> None:
    fee, rooms = "The fee is 20 euros [1].", "The house has 40 rooms [2]."
    keys = {dedupe_key(A): "The fee is 20 euros.", dedupe_key(B): "The house has 40 rooms."}
    both = f"{fee} {rooms}"
    assert changes(an_answer(both), an_answer(fee, a="The fee"), keys, keys) == ()
    told = an_answer(both, a="The fee is 20 euros.", b="The house has 40 rooms.")
    assert changes(an_answer(fee), told, keys, keys) == ()
    # A page that was not read again says nothing about what it says.
    assert changes(told, an_answer(fee), keys, {}) == ()
    gone = {**keys, dedupe_key(B): "The house was sold."}
    assert changes(told, an_answer(fee), keys, gone) == (Change(rooms, ""),)


OPEN = "The gallery is free on Sundays for all visitors."
RESIDENTS = "The gallery is free on Sundays for residents."
SAID = "On Sundays the gallery is free for all visitors."


@pytest.mark.parametrize(
    ("after", "then", "now", "is_asked"),
    [
        (RESIDENTS, OPEN, RESIDENTS, True),
        (RESIDENTS, f"{OPEN} {RESIDENTS}", RESIDENTS, False),  # the writer chose another sentence
        (RESIDENTS, OPEN, f"{OPEN} {RESIDENTS}", False),
        (OPEN.replace(".", "!"), OPEN, OPEN.replace(".", "!"), False),  # the same words
        ("The gallery has 40 rooms.", OPEN, "The gallery has 40 rooms.", False),  # facts
        ("Dogs wait outside.", OPEN, "Dogs wait outside.", False),  # about something else
        (SAID, OPEN, SAID, True),
        (OPEN.replace("free", "closed"), OPEN, OPEN.replace("free", "closed"), True),
    ],
)
def test_other_words_of_a_page_that_has_changed_are_left_to_a_reader(
    after: str, then: str, now: str, is_asked: bool
) -> None:
    old = an_answer(f"{OPEN} [1]", a=OPEN)
    new = an_answer(f"{after} [1]", a=after)
    key = dedupe_key(A)
    found = undecided(old, new, {key: then}, {key: now})
    assert found == ((Change(f"{OPEN} [1]", f"{after} [1]"),) if is_asked else ())
    if is_asked:  # so it is where the page is new, or its copy is gone
        assert undecided(old, new, {}, {key: now}) == found
    assert not {one.after for one in found} & {
        one.after for one in changes(old, new, {key: then}, {key: now})
    }


def test_the_old_sentence_keeps_its_footnote_beside_the_new_one() -> None:
    before = an_answer("The fee is 20 euros [1].", a="20 euros")
    after = an_answer("The fee is 25 euros [2].", b="25 euros")
    found = changes(before, after, {}, {})
    told = with_changes(after, before, found, "Changed", ("Now:", "Before:"))
    assert told.current == after.text
    assert "**Now:** The fee is 25 euros [2]." in told.text
    assert "**Before:** The fee is 20 euros [1]." in told.text
    assert [(one.number, one.quote) for one in told.citations] == [(2, "25 euros"), (1, "20 euros")]
    # The next look is held against what is said now.
    assert changes(told, an_answer("The fee is 25 euros [1]."), {}, {}) == ()

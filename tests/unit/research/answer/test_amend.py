"""Amending a written answer: what is restated or left out, and what becomes of the footnotes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.passages import Passage
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Evidence,
    Source,
    TextDelta,
)
from bot.research.composer import Written, claim_of, write
from bot.research.verification import amended, as_restated, restatable
from bot.text.sentences import Sentence, sentences
from tests.unit.samples import NOW

WORDS = ("It is tall.", "It is old.", "It is red.", "It is wide.")
PASSAGES = tuple(Passage(50 * n, 50 * n + len(w), w) for n, w in enumerate(WORDS))
EVIDENCE = Evidence((Source(1, "https://a.example/", "A", PASSAGES, "h", NOW),))

Part = tuple[str, int | None]
"""The streamed text, and the passage that it cites."""


def written(*parts: Part) -> Written:
    async def stream() -> AsyncIterator[AnswerDelta]:
        for text, passage in parts:
            yield TextDelta(text, opens=True)
            if passage is not None:
                at = PASSAGES[passage]
                yield CitationDelta(1, at.start, at.end)

    async def compose() -> Written:
        return await write(stream(), EVIDENCE, lambda text: None)

    return asyncio.run(compose())


def spanned(answer: Written) -> list[tuple[str, int]]:
    """The cited pieces, each with the passage that it rests on."""
    return [
        (answer.text[span.start : span.end], span.citations[0].start // 50) for span in answer.spans
    ]


TWO: Sequence[Part] = (("It is tall. ", 0), ("It is old.", 1))
RUN: Sequence[Part] = (("It is tall. ", 0), ("And it is high. ", 0), ("It is old.", 1))
LIST: Sequence[Part] = (
    ("What it is:\n\n", None),
    ("- It is tall. ", 0),
    ("And more.\n", 0),
    ("- It is old.\n", 1),
    ("- It is red.\n\n", 2),
    ("That is all.", None),
)
TABLE: Sequence[Part] = (
    ("| What | Is |\n| --- | --- |\n", None),
    ("| it | tall |\n", 0),
    ("| it | old |\n", 1),
    ("\nAnd it is red.", 2),
)


@pytest.mark.parametrize(
    ("parts", "changes", "text"),
    [
        (TWO, {"It is tall.": ""}, "It is old [1]."),
        (TWO, {"It is old.": ""}, "It is tall [1]."),
        (TWO, {"It is tall.": "It was tall."}, "It was tall [1]. It is old [1]."),
        (TWO, {"It is old.": "It was old"}, "It is tall [1]. It was old [1]"),
        (
            TWO,
            {"It is old.": "It [1] was [so](https://e.example/) [7]."},
            "It is tall [1]. It was so [1].",
        ),
        (TWO, {"It is new.": ""}, "It is tall [1]. It is old [1]."),
        (TWO, {"It is tall.": "", "It is old.": ""}, ""),
        # The mark of a run of sentences stays with those that are left.
        (RUN, {"And it is high.": ""}, "It is tall [1]. It is old [1]."),
        (RUN, {"It is tall.": ""}, "And it is high [1]. It is old [1]."),
        (RUN, {"It is tall.": "Tall it is."}, "Tall it is. And it is high [1]. It is old [1]."),
        (RUN, {"It is tall.": "", "And it is high.": ""}, "It is old [1]."),
    ],
)
def test_sentences_are_changed_and_their_footnotes_stay(
    parts: Sequence[Part], changes: dict[str, str], text: str
) -> None:
    before = written(*parts)
    after = amended(before, changes)
    assert after.text == text
    of = {piece.replace(" [1]", ""): passage for piece, passage in spanned(before)}
    for piece, passage in spanned(after):
        claim = claim_of(piece)
        was = next((old for old, new in changes.items() if as_restated(old, new) == claim), claim)
        assert of[was] == passage


@pytest.mark.parametrize(
    ("parts", "changes", "text"),
    [
        (LIST, {"- It is old.": ""}, "- It is tall. And more [1].\n- It is red [1].\n"),
        (LIST, {"- It is tall.": ""}, "What it is:\n\n- And more [1].\n- It is old [1].\n"),
        (LIST, {"And more.": ""}, "What it is:\n\n- It is tall [1].\n- It is old [1].\n"),
        (LIST, {"- It is tall.": "", "And more.": ""}, "What it is:\n\n- It is old [1].\n"),
        (LIST, {"- It is red.": ""}, "- It is old [1].\n\nThat is all"),
        (LIST, {"- It is old.": "* It was old."}, "\n- It was old [1].\n"),
        (TABLE, {"| it | old |": ""}, "| it | tall [1] |\n\nAnd it is red"),
    ],
)
def test_lists_and_tables_keep_their_lines(
    parts: Sequence[Part], changes: dict[str, str], text: str
) -> None:
    assert text in amended(written(*parts), changes).text


def test_a_paragraph_that_goes_leaves_no_hole() -> None:
    answer = written(("It is tall.\n\n", 0), ("It is old.\n\n", 1), ("It is red.", 2))
    assert amended(answer, {"It is old.": ""}).text == "It is tall [1].\n\nIt is red [1]."


def test_marks_that_were_typed_stay_with_their_sentence() -> None:
    answer = Written("It is tall [1]. It is old [1].", ())
    after = amended(answer, {"It is tall.": "It was tall.", "It is old.": ""})
    assert after == Written("It was tall [1].", ())


OTHER = CitationDelta(2, 7, 9)


@pytest.mark.parametrize(
    ("parts", "claim", "text", "cited"),
    [
        (TWO, "It is tall.", "New [1][2]. It is old [1].", ([0, OTHER], [1])),
        (TWO, "It is old.", "It is tall [1]. New [1][2].", ([0], [1, OTHER])),
        # Its neighbours keep the mark that they shared with it.
        (RUN, "It is tall.", "New [1][2]. And it is high [1]. It is old [1].",
         ([0, OTHER], [0], [1])),
        (RUN, "And it is high.", "It is tall [1]. New [1][2]. It is old [1].",
         ([0], [0, OTHER], [1])),
        # One without a footnote gets one.
        ((("Yes. ", None), *TWO), "Yes.", "New [2]. It is tall [1]. It is old [1].",
         ([OTHER], [0], [1])),
    ],
)  # fmt: skip
def test_a_sentence_that_is_put_in_other_words_may_get_another_footnote(
    parts: Sequence[Part],
    claim: str,
    text: str,
    cited: Sequence[Sequence[int | CitationDelta]],
) -> None:
    after = amended(written(*parts), {claim: "New."}, {claim: (OTHER,)})
    assert after.text == text
    assert [list(span.citations) for span in after.spans] == [
        [each if isinstance(each, CitationDelta) else cites(each) for each in one] for one in cited
    ]
    for span, piece in zip(after.spans, text.replace("]. ", "].|").split("|"), strict=True):
        assert after.text[span.start : span.end].strip() == piece


def cites(passage: int) -> CitationDelta:
    return CitationDelta(1, PASSAGES[passage].start, PASSAGES[passage].end)


def test_a_typed_mark_is_added_as_a_mark_alone() -> None:
    answer = Written("It is tall [1]. It is old [1].", ())
    after = amended(answer, {"It is old.": "It was old."}, {"It is old.": (OTHER,)})
    assert after == Written("It is tall [1]. It was old [1][2].", ())


def test_what_is_left_out_or_stays_gets_no_footnote() -> None:
    before = written(*TWO)
    added = {"It is tall.": (OTHER,), "It is old.": (OTHER,)}
    assert amended(before, {}, added) == before
    after = amended(before, {"It is old.": ""}, added)
    assert after.text == "It is tall [1]."
    assert [span.citations for span in after.spans] == [(cites(0),)]


def test_only_running_text_is_put_in_other_words() -> None:
    found = restatable(written(*TABLE, ("\n\n# It is wide\n", 3)))
    assert found == {"And it is red."}


@pytest.mark.parametrize("new", ["", " ", "[1]", "- [1].", "...", "\x00"])
def test_words_that_say_nothing_take_no_place(new: str) -> None:
    assert as_restated("- It is tall.", new) == ""


SENTENCE = st.sampled_from([("Tall", 0), ("Old", 1), ("Red", 2), ("Uncited", None)])
GLUE = st.sampled_from([" ", " ", "\n", "\n\n", "\n- ", "\n\n- "])


@given(
    st.lists(st.tuples(SENTENCE, GLUE), min_size=1, max_size=8),
    st.dictionaries(st.integers(0, 7), st.sampled_from(["", "Now so."]), max_size=4),
)
def test_nothing_but_what_was_changed_changes(
    told: list[tuple[Part, str]], changed: dict[int, str]
) -> None:
    parts: list[Part] = []
    for place, ((word, passage), glue) in enumerate(told):
        before_it = glue if place else ""
        parts += [(before_it, None)] * bool(before_it.strip(" -"))
        parts.append((f"{before_it.lstrip(chr(10))}{word} is number {place}.", passage))
    before = written(*parts)
    of_claim = {claim_of(before.text[s.start : s.end]): s for s in _sentences(before)}
    changes = {
        claim: new
        for number, new in changed.items()
        for claim in of_claim
        if f"number {number}." in claim
    }
    after = amended(before, changes)
    left = [claim_of(after.text[s.start : s.end]) for s in _sentences(after)]
    kept = [claim.removeprefix("- ") for claim in of_claim if claim not in changes]
    assert [claim.removeprefix("- ") for claim in left if "number" in claim] == kept
    assert sum("Now so." in claim for claim in left) == sum(map(bool, changes.values()))
    for piece, passage in spanned(after):
        assert piece.strip()
        assert "Now so" in piece or ("Tall", "Old", "Red")[passage] in piece, piece
    assert "\n\n\n" not in after.text


def _sentences(answer: Written) -> list[Sentence]:
    return list(sentences(answer.text))

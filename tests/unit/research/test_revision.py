"""Paragraphs put together again: diffs, sections, and spans that still cover their words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.texts import texts_for
from bot.reasoning.evidence import CitationDelta
from bot.rendering.marks import without_marks
from bot.research.composer import CitedSpan, Written
from bot.research.revision import Change, Fate, Revision, Section, changes, joined, section, summary

CITED = (CitationDelta(1, 0, 5),)
PROSE = st.text(alphabet="ab c.\n塔高。é-", max_size=60)


def written(text: str, *cited: str) -> Written:
    """A written text with a span over each of these words."""
    spans = [CitedSpan(text.index(words), text.index(words) + len(words), CITED) for words in cited]
    return Written(text, tuple(spans))


def covered(one: Written) -> list[str]:
    return [one.text[span.start : span.end] for span in one.spans]


# ---------------------------------------------------------------- what changed


def test_a_diff_tells_which_words_stayed_went_and_came() -> None:
    assert changes("It is 999 metres tall, they say.", "It is 330 metres tall, they say [1].") == (
        Change("kept", "It is "),
        Change("removed", "999 "),
        Change("added", "330 "),
        Change("kept", "metres tall, they say."),
    )


def test_chinese_is_compared_by_characters() -> None:
    assert changes("塔高三百米。", "塔高四百米。") == (
        Change("kept", "塔高"),
        Change("removed", "三"),
        Change("added", "四"),
        Change("kept", "百米。"),
    )


@given(PROSE, PROSE)
def test_a_diff_holds_all_of_the_draft_and_all_of_the_revision(draft: str, revised: str) -> None:
    found = changes(draft, revised)
    assert "".join(c.text for c in found if c.kind != "added") == draft
    assert "".join(c.text for c in found if c.kind != "removed") == without_marks(revised)


@pytest.mark.parametrize(
    ("revision", "title"),
    [
        (
            Revision(
                1, "Cost", "a b c d ", "revised", pages=(3,), changes=changes("a b c d ", "a b ")
            ),
            "Revised against 1 page, 50% of the draft kept: Cost",
        ),
        (Revision(2, "", "a", "unsourced"), "Not checked against any source: part 2"),
        (Revision(2, "Cost", "", "deleted"), "Left out because no source supports it: Cost"),
        (
            Revision(2, "Cost", "", "revised", pages=(1, 2)),
            "Revised against 2 pages, 0% of the draft kept: Cost",
        ),
    ],
)
def test_a_revision_has_a_line_of_its_own(revision: Revision, title: str) -> None:
    assert summary(revision, texts_for("en")) == title


@pytest.mark.parametrize("locale", ["zh-Hans", "zh-Hant"])
@pytest.mark.parametrize("fate", ["revised", "unsourced", "deleted"])
def test_its_line_is_in_the_askers_language(fate: Fate, locale: str) -> None:
    line = summary(Revision(1, "高度", "", fate, pages=(1,)), texts_for(locale))
    assert line.endswith("：高度")
    assert not re.search("[A-Za-z]", line)


# ---------------------------------------------------------------- sections


@pytest.mark.parametrize(
    ("text", "body", "limits"),
    [
        ("It is tall [1].", "It is tall [1].", ()),
        ("\n\nIt is tall [1].\n", "It is tall [1].", ()),
        ("## Height\n\nIt is tall [1].", "It is tall [1].", ()),
        ("\n# A\n### Height\n\nIt is tall [1].", "It is tall [1].", ()),
        ("It is tall [1].\n\n> Its weight.", "It is tall [1].", ("Its weight.",)),
        ("It is tall [1].\n> Its\n> weight [1].\n", "It is tall [1].", ("Its weight.",)),
        ("It is tall [1], 3 > 2.", "It is tall [1], 3 > 2.", ()),
        ("#1 is tall [1].", "#1 is tall [1].", ()),
    ],
)
def test_a_section_is_the_paragraph_without_headings_and_limits(
    text: str, body: str, limits: tuple[str, ...]
) -> None:
    one = section("Height", written(text, "tall [1]"))
    assert (one.body.text, one.limits, one.fate) == (body, limits, "revised")
    assert covered(one.body) == ["tall [1]"]
    assert one.text == f"## Height\n\n{body}"


@pytest.mark.parametrize(
    ("drafted", "written_above", "heading"),
    [
        ("Builders", "## Builder of the tower\n\n", "Builder of the tower"),
        ("Builders", "## Built in 1066\n\n", "Builders"),
        ("Built in 1066", "", ""),
        ("Built in 1066", "## Built by 300\n\n", "Built by 300"),
        ("Height of 330 metres", "", "Height of 330 metres"),
        ("", "## Summary\n\n", ""),
    ],
)
def test_the_heading_is_the_writers_if_it_has_no_figures_of_its_own(
    drafted: str, written_above: str, heading: str
) -> None:
    text = f"{written_above}It was built by 300 workers [1]."
    assert section(drafted, Written(text, ()), "330 metres").heading == heading


@pytest.mark.parametrize("space", ["", "\n"])
def test_a_remark_before_the_text_stands_above_the_heading(space: str) -> None:
    text = f"{space}> Quoted only.\n> Beware.\n\nIt is tall [1].\n\n> Open."
    one = section("Height", written(text, "tall [1]"))
    assert one.text == "> Quoted only.\n> Beware.\n\n## Height\n\nIt is tall [1]."
    assert covered(joined([one, one])) == ["tall [1]", "tall [1]"]
    assert one.limits == ("Open.",)


@pytest.mark.parametrize(
    "text", ["> Nothing is known.", "\n\n> Nothing is known.\n", "## H\n\n> Nothing is known."]
)
def test_a_paragraph_that_is_all_limits_is_deleted(text: str) -> None:
    one = section("Height", Written(text, ()))
    assert (one.fate, one.text, one.limits) == ("deleted", "", ("Nothing is known.",))


def test_an_empty_paragraph_is_deleted_without_a_word() -> None:
    assert section("Height", Written(" \n", ())) == Section("Height", Written("", ()), "deleted")


# ---------------------------------------------------------------- the whole


def test_spans_still_cover_their_words_in_the_whole() -> None:
    parts = [
        section("", written("It is tall [1].\n\n> Open.", "It is tall [1]")),
        section("Gone", Written("> Nothing.", ())),
        section("Colour", written("# C\n\nBrown, it is [1]. Also red [1].", "Brown", "red [1]")),
    ]
    whole = joined(parts, "## Limits\n\n> Open.")
    assert whole.remarks.endswith("> Open.")
    assert whole.text == (
        "It is tall [1].\n\n## C\n\nBrown, it is [1]. Also red [1].\n\n## Limits\n\n> Open."
    )
    assert covered(whole) == ["It is tall [1]", "Brown", "red [1]"]


def test_a_report_of_nothing_is_its_ending() -> None:
    assert joined([], "## Limits") == Written("## Limits", (), remarks="## Limits")
    assert joined([]) == Written("", ())


SECTION = st.builds(
    lambda heading, before, cited, after: (
        cited,
        section(heading, Written(f"{before}{cited}{after}", (_span(before, cited),))),
    ),
    st.sampled_from(["", "Height", "高度"]),
    st.text(alphabet="ab \n#>", max_size=12),
    st.text(alphabet="xyz", min_size=1, max_size=9),
    st.text(alphabet="ab. \n>", max_size=12),
)


def _span(before: str, cited: str) -> CitedSpan:
    return CitedSpan(len(before), len(before) + len(cited), CITED)


@given(st.lists(SECTION, max_size=5))
def test_no_span_ever_covers_other_words(parts: list[tuple[str, Section]]) -> None:
    whole = joined([one for _, one in parts])
    kept = [cited for cited, one in parts if one.body.spans]
    assert covered(whole) == kept


def test_a_remark_of_ours_stands_below_the_text_and_moves_no_span() -> None:
    one = Section("A", written("First is cited.", "cited"), "revised", remark="It was cut.")
    two = Section("B", written("So is this.", "this"), "revised", preface="> A remark.")
    text = joined([one, two])
    assert text.text == (
        "## A\n\nFirst is cited.\n\n> It was cut.\n\n> A remark.\n\n## B\n\nSo is this."
    )
    assert covered(text) == ["cited", "this"]

"""Cutting pages into citable pieces: no word lost, added or moved, and code as it stands."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.extract import from_bytes
from bot.pages.passages import FULL, HEADING_SEPARATOR, LONGEST_COLUMNS, LONGEST_ROW, Passage, split
from bot.text.sentences import LONGEST, blocks, sentences
from bot.text.terms import estimate
from tests.unit.pages.documents import WORD, Document, documents

SENTENCE = st.sampled_from(
    [
        "The harbour was built in 1887 by the town.",
        "It holds 1,200 boats.",
        "Mr. Lee runs it.",
        "这座港口建于1887年。",
        "它能停1200艘船。",
        "Why?",
    ]
)
CELL = st.sampled_from(
    ["Oslo", "1,200", "", "a \\| b", "北京市", "The harbour. It is old.", "y" * 90]
)
TABLE = st.integers(1, 6).flatmap(
    lambda columns: st.lists(
        st.lists(CELL, min_size=columns, max_size=columns), min_size=2, max_size=12
    )
)


def table(rows: list[list[str]]) -> str:
    """A Markdown table whose first row is the head."""
    head, *body = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([head, f"|{' --- |' * len(rows[0])}", *body])


BLOCK = st.one_of(
    TABLE.map(table),
    st.lists(SENTENCE, min_size=1, max_size=6).map(lambda s: "1. " + "\n2. ".join(s)),
    st.lists(SENTENCE, min_size=1, max_size=6).map("".join),
    st.lists(SENTENCE, min_size=1, max_size=9).map(" ".join),
    st.lists(SENTENCE.map("- {}".format), min_size=1, max_size=9).map("\n".join),
    st.lists(SENTENCE.map("| a | {} |".format), min_size=1, max_size=9).map("\n".join),
    st.lists(SENTENCE, min_size=1, max_size=5).map(lambda s: "```\n" + "\n".join(s) + "\n```"),
    st.sampled_from(["# Top", "## Harbour", "### Boats and piers", "The list:"]),
)
# Extraction leaves no other control characters in a page.
_ANY = st.text(st.one_of(st.characters(exclude_categories=("Cs", "Cc")), st.sampled_from("\n\t")))
PAGES = st.one_of(st.lists(BLOCK, max_size=12).map("\n\n".join), _ANY)


def texts(passages: list[Passage]) -> list[str]:
    return [passage.text for passage in passages]


# ---------------------------------------------------------------- splitting


@given(PAGES)
def test_passages_are_verbatim_and_do_not_overlap(text: str) -> None:
    end = 0
    for passage in split(text):
        assert end <= passage.start < passage.end <= len(text)
        assert passage.text == text[passage.start : passage.end] == passage.text.strip()
        end = passage.end


@given(PAGES)
def test_all_text_is_in_a_passage_or_in_a_heading_path(text: str) -> None:
    passages = split(text)
    rest = list(text)
    for passage in passages:
        rest[passage.start : passage.end] = " " * len(passage.text)
    paths = "\n".join(passage.heading for passage in passages)
    for block in blocks(text):
        if "".join(rest[block.start : block.end]).strip():
            assert block.kind == "heading"
            assert " ".join(text[block.start : block.end].strip("#").split()) in paths


@given(PAGES)
def test_sentences_rows_and_fences_stay_whole(text: str) -> None:
    boundaries = {p.start for p in split(text)} | {p.end for p in split(text)}
    for sentence in sentences(text):
        assert not any(sentence.start < at < sentence.end for at in boundaries)


@given(PAGES)
def test_no_word_is_cut(text: str) -> None:
    for passage in split(text):
        for at in (passage.start, passage.end):
            around = text[max(0, at - 1) : at + 1]
            if len(around) == 2 and around.isalnum() and around.isascii():
                # only a run of letters too long for a sentence is no word
                assert len(max(re.findall(r"\w+", text), key=len)) > LONGEST


@given(TABLE, st.sampled_from(["", "# Ports\n\n", "The ports:\n\n", "Words.\n\n"]))
def test_rows_stay_whole_and_know_their_columns(rows: list[list[str]], before: str) -> None:
    lines = table(rows).split("\n")
    names = " | ".join(cell.strip() for cell in rows[0]).strip(" |")
    head_seen = False
    for passage in split(before + table(rows)):
        inside = passage.text.split("\n")
        if not set(inside) & set(lines):
            continue
        assert set(inside) - set(before.split("\n")) - {""} <= set(lines)
        if passage.start <= len(before) and len(lines) > 2:
            assert passage.end > len(before) + len("\n".join(lines[:2])), "a head has its row"
        if head_seen and names:
            assert (
                passage.heading.endswith(names[: LONGEST_COLUMNS - 1].rstrip("|").rstrip())
                or "…" in passage.heading
            )
        head_seen = head_seen or lines[1] in inside


@given(PAGES)
def test_passages_are_small(text: str) -> None:
    for passage in split(text):
        own = [s for s in sentences(passage.text) if s.kind != "heading"]
        assert estimate(passage.text) <= 2 * FULL + len(own) or len(own) == 1


def test_headings_become_the_path() -> None:
    text = (
        "# Oslo\n\nA city.\n\n## History ##\n\nOld.\n\n### Early\n\nVery old.\n\n## Sights\n\nMany."
    )
    assert [(p.heading, p.text) for p in split(text)] == [
        ("Oslo", "A city."),
        (HEADING_SEPARATOR.join(["Oslo", "History ##"]).removesuffix(" ##"), "Old."),
        ("Oslo › History › Early", "Very old."),
        ("Oslo › Sights", "Many."),
    ]


def test_a_heading_with_nothing_below_is_a_passage() -> None:
    text = "# Oslo\n\n## Phone: 555\n\n## History\n\nOld.\n\n## See also"
    assert [(p.heading, p.text) for p in split(text)] == [
        ("Oslo", "## Phone: 555"),
        ("Oslo › History", "Old."),
        ("Oslo", "## See also"),
    ]


def test_long_paragraphs_are_cut_after_a_few_sentences() -> None:
    text = " ".join(f"This is sentence number {n} of a long paragraph." for n in range(20))
    passages = split(text)
    assert all(1 <= len(sentences(p.text)) <= 4 for p in passages)
    assert len(passages) == 5


def test_short_paragraphs_share_a_passage_and_long_ones_do_not() -> None:
    short, long = "A short one.", "A much longer paragraph " * 12 + "ends."
    assert texts(split(f"{short}\n\n{short}\n\n{long}")) == [f"{short}\n\n{short}", long]


def test_a_lead_in_stays_with_its_list() -> None:
    text = "It needs:\n\n- a key\n- a lock\n\nThen it opens."
    assert texts(split(text)) == ["It needs:\n\n- a key\n- a lock", "Then it opens."]


def test_rows_are_grouped_and_never_cut() -> None:
    row = "| " + " | ".join(["value"] * 20) + " |"
    for passage in split("\n".join([row] * 30)):
        assert set(passage.text.split("\n")) == {row}


def test_rows_carry_the_names_of_their_columns() -> None:
    rows = [["Port", "Boats"], *([f"Port number {n} of the coast " * 3, str(n)] for n in range(9))]
    passages = split("# Norway\n\n" + table(rows) + "\n\nWords.\n\n| a | b |\n| c | d |")
    assert passages[0].text.startswith("| Port | Boats |\n| --- | --- |\n| Port number 0")
    assert passages[0].heading == "Norway"
    assert {p.heading for p in passages[1:-2]} == {"Norway › Port | Boats"}
    assert [p.heading for p in passages[-2:]] == ["Norway", "Norway"]


def test_names_of_many_columns_are_shortened() -> None:
    rows = [[f"column {n}" for n in range(60)]] + [["a value of many letters"] * 60] * 4
    headings = [passage.heading for passage in split(table(rows))]
    assert all(len(heading) <= LONGEST_COLUMNS for heading in headings)
    assert headings[-1].startswith("column 0 | column 1")
    assert headings[-1].endswith("…")


@pytest.mark.parametrize("cell", ["word " * 30, "字" * 100])
def test_a_wide_row_is_whole_and_an_endless_one_is_cut_between_cells(cell: str) -> None:
    wide = f"| {' | '.join([cell.strip()] * 12)} |"
    assert texts(split(f"{wide}\n{wide}")) == [wide, wide]
    endless = f"| {' | '.join([cell.strip()] * 200)} |"
    assert "".join(texts(split(endless))).replace(" ", "") == endless.replace(" ", "")
    for passage in split(endless):
        assert len(passage.text) <= LONGEST_ROW
        assert passage.text.startswith("|")


def test_a_cell_that_never_ends_is_cut_between_words() -> None:
    passages = split("| " + "word " * 5_000 + "|")
    assert len(passages) > 5
    assert all(len(p.text) <= LONGEST for p in passages)
    assert {word for p in passages for word in p.text.split()} == {"|", "word"}


def test_a_fence_is_a_passage_of_its_own() -> None:
    before = "Before this there is a paragraph of some length, which says nothing about the code. "
    text = f"{before * 2}End.\n\n```\na\n\nb\n```\n\nAfter."
    assert texts(split(text)) == [f"{before * 2}End.", "```\na\n\nb\n```", "After."]


@pytest.mark.parametrize("mark", ["", "- ", "3. "])
def test_a_fence_goes_with_the_sentence_that_leads_in_to_it(mark: str) -> None:
    before = "Before this there is a paragraph of some length, which says nothing about the code. "
    code = "```\nrun --all\n```"
    assert texts(split(f"{mark}Run this once\n\n{code}")) == [f"{mark}Run this once\n\n{code}"]
    led = f"{mark}{before * 2}Then run:\n\n{code}"
    assert texts(split(led)) == [led]
    long = "\n".join(["```", *["run --all --over-and-over-again"] * 20, "```"])
    assert texts(split(f"{mark}{before * 4}Then run:\n\n{long}"))[-1] == f"Then run:\n\n{long}"


def test_a_passage_knows_that_it_begins_inside_code() -> None:
    lines = "\n".join(f"gate_{n} = open(harbour, at={n})" for n in range(400))
    before, *pieces, after = split(f"The gates:\n\n```\n{lines}\n```\n\nBoats wait outside.")
    assert len(pieces) > 1
    assert [each.in_code for each in pieces] == [each.text[0] != "`" for each in pieces]
    assert not before.in_code
    assert not after.in_code


def test_chinese_passages_hold_fewer_characters() -> None:
    passages = split("这座港口建于一八八七年，至今仍在使用，每天有许多船只进出。" * 40)
    assert all(40 < len(p.text) <= FULL for p in passages[:-1])


@given(documents())
def test_a_document_is_read_whole_and_its_passages_are_in_its_order(document: Document) -> None:
    """Code is kept but for white space at the end of lines, and more than one empty line."""
    read = from_bytes(document.html.encode(), "text/html", "x.html")
    assert tuple(WORD.findall(read.text)) == document.words
    assert read.kept > 0.99
    said = (word for passage in split(read.text) for word in WORD.findall(passage.text))
    found = iter(document.words)
    assert all(word in found for word in said)
    for code in document.code:
        lines = [line.rstrip() for line in code.strip("\n").rstrip().split("\n")]
        assert re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) in read.text

"""Answers as Slack's blocks: valid, within the limits, harmless, and nothing of them lost."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.format import (
    Part,
    failure,
    final,
    markdown,
    notification,
    parts,
    question_text,
    simpler,
    tasks,
    text_blocks,
    without_open_table,
    working_blocks,
)
from adapters.slack.limits import PART_CHARACTERS, SOURCES
from adapters.slack.reply import message_parts
from adapters.slack.views import details
from bot.core.messages import Answer, Citation, Depth, Doubt, PlanView, Status, StepView, Usage
from bot.core.texts import texts_for
from tests.fakes.slack_call import faults_in_blocks, faults_in_view
from tests.fakes.slack_limits import UPDATE_TEXT
from tests.fakes.slack_screen import plain

EN = texts_for("en")
URLS = {1: "https://example.org/a", 2: "https://example.org/b?x=(1)", 3: "file:///home/notes.md"}


def a_citation(number: int = 1, quote: str = "It is tall.", **changes: Any) -> Citation:
    url = changes.get("url", f"https://example{number}.org/page")
    return Citation(number, url, changes.get("title", f"Page {number}"), quote, "hash", 0, 5)


def an_answer(text: str = "It is tall [1].", **changes: Any) -> Answer:
    values: dict[str, Any] = {
        "status": "answered",
        "text": text,
        "question": "How tall is it?",
        "run": "run0a1b2c3d",
        "citations": (a_citation(),),
        "queries": ("tower height",),
        "usage": Usage(searches=1, pages=2, seconds=3.25, usd=0.0123),
    }
    return Answer(**{**values, **changes})


def blocks_of(
    answer: Answer, depth: Depth = "auto", locale: str = "en", asker: str = "U1"
) -> list[dict[str, Any]]:
    ending = final(answer, texts_for(locale), depth=depth, asker=asker)
    shown = message_parts(parts(ending.text), ending)
    return [block for part in shown for block in part.blocks]


def details_of(answer: Answer, locale: str = "en", page: str = "") -> list[dict[str, Any]]:
    """The blocks of the modal, which Slack takes."""
    view = details(answer, texts_for(locale), page)
    assert faults_in_view(view) == []
    return list(view["blocks"])


def actions_of(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    found = [e for block in blocks for e in block.get("elements", ()) if "action_id" in e]
    return {element["action_id"]: element for element in found}


# ---------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is tall [1].", "It is tall [[1]](https://example.org/a)."),
        (
            "Both [1][2].",
            "Both [[1]](https://example.org/a)[[2]](https://example.org/b?x=%281%29).",
        ),
        ("A file [3].", "A file [3]."),
        ("`code [1]`", "`code [1]`"),
        ("```\n[1]\n```", "```\n[1]\n```"),
        ("Nobody gave [9].", "Nobody gave [9]."),
    ],
)
def test_footnotes_are_links_to_their_sources(text: str, shown: str) -> None:
    assert markdown(text, URLS) == shown


@pytest.mark.parametrize("ping", ["<!channel>", "<!here|x>", "<@U1>", "<!subteam^S1>", "<#C1>"])
def test_pings_are_only_words(ping: str) -> None:
    assert ping not in markdown(f"Hello {ping}, `{ping}`", URLS)
    assert ping not in notification(f"Hello {ping}")
    assert ping not in question_text(f"Ada {ping}", f"who is {ping}?", EN)


@pytest.mark.parametrize(
    "block",
    [
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "1. one\n2. two",
        "> a quote\n> of two lines",
        "```python\nprint('<a> & b')\n```",
        "这座塔高 330 米。東京スカイツリーは634mです。",
        "- one\n  - inside\n- two",
    ],
)
def test_markdown_survives(block: str) -> None:
    assert markdown(block, URLS) == block
    assert parts(block) == [block]


@given(st.text(max_size=5_000))
def test_a_notification_never_is_empty_or_too_long(text: str) -> None:
    assert 0 < len(notification(text)) <= UPDATE_TEXT


# ---------------------------------------------------------------- under the answer


def test_an_answer_is_its_text_a_line_of_sources_and_a_row_of_controls() -> None:
    second = a_citation(2, "It was built in 1889.")
    answer = an_answer("It is tall [1] and old [2].", citations=(a_citation(), second))
    text, line, controls, feedback = blocks_of(answer)
    assert text["type"] == "markdown"
    (only,) = line["elements"]
    assert [element["text"] for element in only["elements"]] == ["[1] Page 1", " · ", "[2] Page 2"]
    assert [e["url"] for e in only["elements"] if e["type"] == "link"] == [
        "https://example1.org/page",
        "https://example2.org/page",
    ]
    assert (controls["type"], feedback["type"]) == ("actions", "context_actions")


def test_nothing_of_the_details_is_in_the_channel() -> None:
    answer = an_answer(
        citations=(a_citation(quote="It rises high above Paris."),),
        doubts=(Doubt("It is tall.", "it has no footnote"),),
        notes=("Brave did not answer.",),
    )
    shown = plain(blocks_of(answer))
    hidden = ("rises high", "has no footnote", "Brave", "0.0123", answer.run)
    assert [words for words in hidden if words in shown] == []
    told = plain(details_of(answer))
    assert [words for words in (*hidden, "tower height") if words not in told] == []


def test_a_file_without_a_copy_to_lead_to_is_named_with_its_heading() -> None:
    file = replace(a_citation(1, title="Notes", url="file:///home/notes.md"), heading="Page 7")
    for page, words in (("", "[1] Notes — Page 7"), (PAGE, "[1] Notes")):
        ending = final(an_answer(citations=(file,)), EN, depth="auto", page=page)
        assert plain(ending.closing[0]) == words
        assert ("/pages/1" in json.dumps(ending.closing)) == bool(page)
        assert "/home" not in json.dumps(ending.closing)


@pytest.mark.parametrize(
    ("depth", "status", "changes", "there"),
    [
        ("auto", "answered", {}, True),
        ("quick", "not_found", {}, True),
        ("standard", "stopped", {}, True),
        ("deep", "answered", {}, False),
        ("exhaustive", "answered", {}, False),
        ("auto", "answered", {"citations": (), "queries": ()}, False),  # a greeting
    ],
)
def test_digging_deeper_is_offered_where_there_is_something_to_dig(
    depth: Depth, status: Status, changes: dict[str, Any], there: bool
) -> None:
    blocks = blocks_of(an_answer(status=status, **changes), depth)
    assert ("footnote_deeper" in actions_of(blocks)) == there


def test_a_greeting_has_no_details() -> None:
    assert "footnote_details" in actions_of(blocks_of(an_answer()))
    greeting = an_answer("Hello!", citations=(), queries=())
    assert set(actions_of(blocks_of(greeting))) == {"footnote_feedback", "footnote_delete"}
    assert faults_in_blocks(blocks_of(greeting)) == []


def test_at_most_three_suggestions_are_in_a_menu() -> None:
    found = actions_of(blocks_of(an_answer(suggestions=("One?", "Two?", "Th" + "r" * 90, "Four?"))))
    options = found["footnote_follow-ups"]["options"]
    assert [one["value"] for one in options] == [f"run0a1b2c3d:{number}" for number in range(3)]
    assert options[2]["text"]["text"].endswith("…")


def test_feedback_names_the_run_and_can_be_heard() -> None:
    thumbs = actions_of(blocks_of(an_answer()))["footnote_feedback"]
    good, bad = thumbs["positive_button"], thumbs["negative_button"]
    assert (good["value"], bad["value"]) == ("good:run0a1b2c3d", "bad:run0a1b2c3d")
    assert (good["accessibility_label"], bad["accessibility_label"]) == ("Helpful", "Not helpful")


def test_only_a_person_who_asked_sees_the_button_that_deletes() -> None:
    trash = actions_of(blocks_of(an_answer(), asker="U7"))["footnote_delete"]
    assert (trash["value"], trash["visible_to_user_ids"]) == ("run0a1b2c3d", ["U7"])
    assert "removes the answer" in trash["confirm"]["text"]["text"]
    assert "footnote_delete" not in actions_of(blocks_of(an_answer(), asker=""))


def test_a_failure_can_only_be_tried_again() -> None:
    ending = failure(an_answer("No key: set one.", status="failed", citations=()), EN)
    assert "No key: set one." in ending.text
    assert list(actions_of(list(ending.closing))) == ["footnote_retry"]


PAGE = "https://footnote.example.com/runs/run0a1b2c3d"


# ---------------------------------------------------------------- sources, and how it was found


def test_a_source_has_number_title_domain_and_quote() -> None:
    cited = a_citation(quote="It rises high above Paris.")
    shown = plain(details_of(an_answer(citations=(replace(cited, heading="Page 1 › Size"),))))
    for words in ("[1] Page 1", "(example1.org) — Size", "It rises high above Paris."):
        assert words in shown


def test_words_that_the_answer_quotes_are_not_printed_again() -> None:
    shown = plain(details_of(an_answer("It is tall [1].")))
    assert "It is tall" not in shown
    assert "[1] Page 1" in shown


def test_sources_link_to_their_pages_and_files_are_only_named() -> None:
    file = a_citation(2, title="Notes", url="file:///home/notes.md")
    text = json.dumps(details_of(an_answer(citations=(a_citation(), file))))
    assert '"url": "https://example1.org/page"' in text
    assert "file://" not in text
    assert "Notes" in text


def test_more_sources_than_fit_are_counted() -> None:
    cited = tuple(a_citation(number) for number in range(1, SOURCES + 6))
    assert "and 5 more sources" in plain(details_of(an_answer(citations=cited)))


@pytest.mark.parametrize("page", ["", PAGE])
def test_details_and_a_failure_lead_to_how_it_came_about(page: str) -> None:
    answer = an_answer()
    failed = failure(answer, EN, page=page)
    assert faults_in_blocks(list(failed.closing)) == []
    for blocks in (details_of(answer, page=page), failed.closing):
        links = [e["text"] for e in blocks[-1]["elements"] if e["type"] == "mrkdwn"]
        assert links == ([f"<{PAGE}|How was this answered?>"] if page else [])


# ---------------------------------------------------------------- tables


def test_a_table_keeps_the_words_the_styles_and_the_links_of_its_cells() -> None:
    text = "| A | **B** |\n|:-:|---|\n| `x` *y* <@U1> [[1]](https://e.org) | |\n"
    (table,) = text_blocks(text)
    assert faults_in_blocks([table]) == []
    (head, row) = table["rows"]
    assert head[1]["elements"][0]["elements"] == [
        {"type": "text", "text": "B", "style": {"bold": True}}
    ]
    assert row[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "x", "style": {"code": True}},
        {"type": "text", "text": " "},
        {"type": "text", "text": "y", "style": {"italic": True}},
        {"type": "text", "text": " <@U1> "},
        {"type": "link", "url": "https://e.org", "text": "[1]"},
    ]
    assert row[1] == {"type": "raw_text", "text": " "}


@pytest.mark.parametrize(
    "text",
    [
        "no table | here",
        "> | A | B |\n> |---|---|\n> | quoted | x |",
        "- | A | B |\n  |---|---|\n  | item | x |",
        "```\n| A | B |\n|---|---|\n| code | x |\n```",
        "| " + " | ".join("A" * 21) + " |\n|" + "---|" * 21 + "\n",
        "| A |\n|---|\n" + "| x |\n" * 100,
        "| A |\n|---|\n| " + "x" * 10_000 + " |\n",
    ],
)
def test_a_table_that_cannot_be_one_stays_as_it_is(text: str) -> None:
    assert text_blocks(text) == [{"type": "markdown", "text": text}]


def test_a_table_at_the_end_waits_for_more_rows() -> None:
    table = "| A |\n|---|\n| x |\n"
    assert without_open_table(f"Before.\n\n{table}") == "Before.\n\n"
    assert without_open_table(f"{table}\n") == f"{table}\n"
    assert without_open_table(table) == ""


# ---------------------------------------------------------------- valid, whatever comes

WILD = st.text(max_size=200) | st.sampled_from(["<!here>", "a" * 400, "漢字" * 300, "\n\n", "# x"])
CITATIONS = st.builds(
    Citation,
    number=st.integers(1, 60),
    url=st.sampled_from(["https://e.org/" + "p" * 3_500, "https://e.org", "file:///x", "nonsense"]),
    title=WILD,
    quote=WILD,
    page_hash=st.just("h"),
    start=st.just(0),
    end=st.just(1),
)
ANSWERS = st.builds(
    Answer,
    status=st.sampled_from(["answered", "not_found", "stopped", "failed"]),
    text=st.lists(WILD, max_size=5).map("\n\n".join),
    question=WILD,
    run=st.just("run0a1b2c3d"),
    citations=st.lists(CITATIONS, max_size=60).map(tuple),
    doubts=st.lists(st.builds(Doubt, WILD, WILD), max_size=25).map(tuple),
    notes=st.lists(WILD, max_size=25).map(tuple),
    suggestions=st.lists(WILD, max_size=6).map(tuple),
    queries=st.just(("q",)),
)


@settings(max_examples=20)
@given(ANSWERS)
def test_every_message_is_one_that_slack_takes(answer: Answer) -> None:
    ending = final(answer, EN, depth="auto", page=PAGE)
    for part in message_parts(parts(ending.text), ending):
        simple: Part | None = part
        while simple is not None:
            assert faults_in_blocks(list(simple.blocks)) == []
            assert simple.text
            simple = simpler(simple)


@settings(max_examples=20)
@given(ANSWERS)
def test_all_details_are_a_view_that_slack_takes(answer: Answer) -> None:
    assert details_of(answer, page=PAGE)


@given(st.lists(WILD, max_size=30), WILD)
def test_every_message_at_work_is_one_that_slack_takes(titles: list[str], text: str) -> None:
    steps = [StepView(str(n), "search", title, "done") for n, title in enumerate(titles)]
    plan = PlanView("How tall?", tuple(steps))
    blocks = working_blocks(tasks(plan, EN), markdown(text, {}).strip(), EN, stop="run0a1b2c3d")
    assert faults_in_blocks(blocks) == []


def test_the_simplest_message_still_says_everything() -> None:
    answer = an_answer("It is **tall** [1].", citations=(a_citation(),), notes=("Slow today.",))
    ending = final(answer, EN, depth="auto")
    part: Part | None = message_parts(parts(ending.text), ending)[0]
    simplest = part
    while part is not None:
        simplest, part = part, simpler(part)
    assert simplest is not None
    assert {block["type"] for block in simplest.blocks} == {"section"}
    for words in ("It is **tall**", "Page 1", "https://example1.org/page", "One remark"):
        assert words in plain(list(simplest.blocks))


@given(st.integers(1, 60))
def test_a_long_answer_is_cut_between_paragraphs(paragraphs: int) -> None:
    text = "\n\n".join(f"Paragraph {n}. {'word ' * 100}".strip() for n in range(paragraphs))
    found = parts(text)
    assert "\n\n".join(found) == text
    assert all(len(part) <= PART_CHARACTERS for part in found)


# ---------------------------------------------------------------- code, tables


def test_quoted_code_and_tables_of_sources_keep_their_lines() -> None:
    code, table = "```\nx[1]\ny\n```", "| Year | Height |\n| --- | --- |\n| 1889 | 312 |"
    blocks = details_of(an_answer(citations=(a_citation(1, code), a_citation(1, table))))
    texts = [
        element["elements"][0]["text"]
        for block in blocks
        if block["type"] == "rich_text"
        for element in block["elements"]
        if element["type"] == "rich_text_preformatted"
    ]
    assert texts == ["x[1]\ny", "Year | Height\n-----+-------\n1889 | 312"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"argv\[7\] \_\_a\_\_ 2\*3", r"argv\[7\] \_\_a\_\_ 2\*3"),
        (r"\<T> \&lt; \$HOME", "<\u2060T> &\u2060lt; $HOME"),
        ("a\n\\===\n\\~\\~b", "a\n\u2060===\n\u2060~\u2060~b"),
        (r"a \|\| b", "a || b"),
        ("| a\\|b | `c` \\| d |\n|---|---|", "| a\\|b | `c` \\| d |\n|---|---|"),
        ("ring the :bell: at 12:30", "ring the :\u2060bell: at 12:30"),
        ("`\\<T> :bell:`", "`\\<T> :bell:`"),
        ("See [x](https://example.org/a:b:c).", "See x."),
    ],
)
def test_what_slack_knows_no_escape_for_is_written_another_way(written: str, shown: str) -> None:
    assert markdown(written, URLS) == shown


def test_a_notification_has_the_words_of_an_answer_without_its_markup() -> None:
    text = "## Trains\n\n**First** class [1].\n\n| a | b |\n| --- | --- |\n| c | d |"
    assert final(an_answer(text), EN, depth="auto").plain == "Trains First class [1]. a b c d"

"""The look of plans and answers in Discord."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord import limits
from adapters.discord.buttons import rows_for
from adapters.discord.format import (
    SOURCES,
    Look,
    answer_text,
    details,
    echo,
    format_answer,
    harmless,
    plan_lines,
    thread_name,
    words,
    working,
    written_in,
)
from adapters.discord.reply import Post, body_of
from bot.core.messages import Answer, Citation, Doubt, PlanView, StepState, StepView
from bot.core.texts import texts_for
from bot.rendering.remarks import summary
from tests.fakes import discord_limits as real
from tests.fakes.discord_errors import FormErrors
from tests.unit.adapters.discord.way_out import a_citation, a_plan, an_answer
from tests.unit.samples import A_GRAPH

texts = texts_for("en")
hostile = st.text(
    alphabet=st.one_of(
        st.sampled_from("<>@#&!:/t0123456789[]()*_~|`\\ \n\t-.\u200b中，"), st.characters()
    ),
    max_size=400,
)


def look(answer: Answer, **changes: Any) -> tuple[Look, ...]:
    return format_answer(answer, texts, **changes)


def behind(answer: Answer, **changes: Any) -> tuple[Look, ...]:
    """The details that the button shows."""
    return details(answer, texts, **changes)


def behind_text(answer: Answer) -> str:
    return "\n".join(look.written for look in behind(answer))


LIVE = re.compile(
    r"<@!?\d+>|<@&\d+>|<#\d+>|<a?:\w+:\d+>|<t:-?\d+(:\w)?>|</[\w -]+:\d+>|<id:\w+>"
    r"|@everyone|@here"
)


def check_limits(looks: tuple[Look, ...]) -> None:
    """Discord takes the messages, also with all the buttons that can stand below them."""
    rows = rows_for(
        "run1", texts, deeper=True, details=True, corrects=True, suggestions=["Why?", "When?"]
    )
    for one in looks:
        wrong = FormErrors()
        real.check_message(body_of(Post(one, rows)), wrong)
        assert wrong.tree == {}
        assert one.written.strip()


# ---------------------------------------------------------------- the answer's text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is blue [1].", "It is blue [[1]](<https://example.org/1>)."),
        ("Blue [7].", "Blue [7]."),
        ("`a[1]` [1]", "`a[1]` [[1]](<https://example.org/1>)"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "```\na | b\n--+--\n1 | 2\n```"),
        ("#### Why\n\nSo.", "**Why**\n\nSo."),
        ("### Why\n\nSo.", "### Why\n\nSo."),
        ("> See [The guide](<file:///srv/guide.html>).", "> See The guide."),
    ],
)
def test_an_answer_is_discords_markdown(text: str, shown: str) -> None:
    linked = ((3, "file:///srv/guide.html"),)
    assert answer_text(an_answer(text=text, linked=linked), texts) == shown


def test_a_source_that_is_a_local_file_is_no_link() -> None:
    local = a_citation(1, url="file:///home/ada/notes.md")
    answer = an_answer(citations=(local,))
    assert answer_text(answer, texts) == "It is blue [1]."
    assert look(answer)[0].text == "It is blue [1].\n-# \\[1\\] Page 1"
    check_limits(behind(answer))


@pytest.mark.parametrize("status", ["answered", "not_found", "failed", "stopped"])
@pytest.mark.parametrize("locale", ["en", "zh-CN", "zh-TW", "de"])
def test_every_outcome_is_shown_in_every_language(
    status: Literal["answered", "not_found", "failed", "stopped"], locale: str
) -> None:
    looks = format_answer(an_answer(status=status), texts_for(locale))
    check_limits(looks)
    check_limits(details(an_answer(status=status), texts_for(locale)))
    assert "blue" in looks[0].text


def test_an_empty_answer_still_shows_something() -> None:
    (one,) = look(an_answer(text=""))
    assert one.text


def test_what_is_written_is_found_again_in_the_components() -> None:
    one = Look("Above", ("Heading", "Below"))
    rows = rows_for("run1", texts, deeper=True, details=True)
    assert written_in(body_of(Post(one, rows))["components"]) == one.written
    assert written_in([{"type": 2, "label": "Stop"}]) == ""


# ---------------------------------------------------------------- what is under it


def test_the_sources_of_the_text_stand_on_one_line() -> None:
    cited = (a_citation(1), a_citation(2, title="Sky [colour]"), a_citation(3))
    (one,) = look(an_answer(text="It is blue [1][2].", citations=cited))
    assert one.card == ()
    assert one.text.splitlines()[-1] == (
        "-# \\[1\\] [Page 1](<https://example.org/1>) · "
        "\\[2\\] [Sky \\[colour\\]](<https://example.org/2>)"
    )


def test_what_a_reader_has_to_know_stays_with_the_answer() -> None:
    answer = an_answer(
        status="partial",
        missing=("its weight",),
        doubts=(Doubt("It is green.", "no source says so"),),
        notes=("The budget was spent.",),
    )
    shown = look(answer)[0].text
    for words_shown in ("its weight", "One sentence", "One remark"):
        assert words_shown in shown
    assert "no source says so" not in shown


# ---------------------------------------------------------------- what the button shows

CODE = "```\nx = argv[1]\nprint('``​`')\n```"
TABLE = "| Year | Height |\n| --- | --- |\n| 1889 | 312 |"
TALL = replace(a_citation(1, quote="It is tall."), heading="Size › Height")


@pytest.mark.parametrize(
    ("cited", "shown"),
    [
        ([a_citation(1)], ["> Quote 1."]),
        ([a_citation(1), a_citation(1, quote="Another.")], ["> Quote 1.", "> Another."]),
        ([a_citation(1, quote=CODE)], ["```", "x = argv[1]", "print('``​`')", "```"]),
        (
            [a_citation(1, quote=TABLE)],
            ["```", "Year | Height", "-----+-------", "1889 | 312", "```"],
        ),
        ([TALL], ["-# Size › Height"]),  # the answer itself has the quote
    ],
)
def test_a_source_is_its_linked_title_with_its_quotes(
    cited: list[Citation], shown: list[str]
) -> None:
    answer = an_answer(text="It is tall [1].", citations=tuple(cited))
    ((heading, source, figures),) = [one.card for one in behind(answer)]
    assert heading == "**Sources**"
    title = "\\[1\\] [**Page 1**](<https://example.org/1>) · example.org"
    assert source.splitlines() == [title, *shown]
    assert figures == f"-# {summary(answer, texts)}"


def test_doubts_and_notes_stand_above_the_sources() -> None:
    answer = an_answer(
        doubts=(Doubt("It is green.", "no source says so"),), notes=("The budget was spent.",)
    )
    shown = behind_text(answer).partition("**Sources**")[0]
    assert "⚠ Unverified: “It is green.” (no source says so)" in shown
    assert "The budget was spent." in shown
    gap = look(answer, gaps=("cannot-open-thread",))[0].text
    assert "-# I am not allowed to open a thread" in gap


def test_a_follow_up_too_long_for_its_button_is_listed() -> None:
    short, long = "And at night?", "And why is it " + "very " * 20 + "red?"
    assert "You could ask next" not in behind_text(an_answer(suggestions=(short,)))
    *_, listed, figures = behind(an_answer(suggestions=(short, long)))[0].card
    assert listed.startswith("**You could ask next**")
    assert long in listed
    assert "4.2 s" in figures


@pytest.mark.parametrize("count", [1, 5, 24, 25, 26, 100])
@pytest.mark.parametrize("words_in_quote", [1, 40, 400])
def test_any_number_of_sources_fits(count: int, words_in_quote: int) -> None:
    cited = tuple(
        a_citation(n, title="Title " * 60, quote="quote " * words_in_quote)
        for n in range(1, count + 1)
    )
    answer = an_answer(citations=cited, suggestions=("long question " * 20,))
    check_limits(look(answer))
    check_limits(behind(answer))
    shown = behind_text(answer)
    named = len(re.findall(r"^\\\[\d+", shown, re.MULTILINE))
    counted = re.search(r"and (\d+|one) more source", shown)
    hidden = 0 if counted is None else 1 if counted[1] == "one" else int(counted[1])
    assert named + hidden == count
    assert named == min(count, SOURCES)
    assert len(behind(answer)) <= 1 + limits.FOLLOW_UPS_ELSEWHERE
    assert "4.2 s" in shown.splitlines()[-1]


def test_an_address_of_any_length_fits() -> None:
    cited = (a_citation(1, url="https://example.org/" + "a" * 5_000),)
    check_limits(look(an_answer(citations=cited)))
    check_limits(behind(an_answer(citations=cited)))


# ---------------------------------------------------------------- while it works


def test_the_plan_has_a_line_for_each_step_with_its_state() -> None:
    states: tuple[StepState, ...] = ("done", "failed", "running")
    steps = [StepView(s, "search", s, s) for s in states]
    steps += [StepView("w", "write", "", "waiting"), StepView("x", "novel", "Weighing", "done")]
    searching = ["✅ Searching: done", "⚠️ Searching: failed", "⏳ Searching: running"]
    assert plan_lines(steps, texts) == [*searching, "✅ Weighing"]


def test_a_long_plan_shows_its_latest_steps_and_counts_the_others() -> None:
    plan = a_plan(*(f"query {n}" for n in range(100)))
    lines = plan_lines(plan.steps, texts)
    assert lines[0] == "-# and 88 more steps"
    assert lines[-1].endswith("query 99")


def test_sub_questions_are_lines_with_their_work_summed_up() -> None:
    assert plan_lines(A_GRAPH, texts_for("en")) == [
        "✅ Planning the research",
        "✅ Who directed Jaws? · 2 searches · 2 pages",
        "⏳ Who directed Alien? · 1 search",
        "▫️ When was the director of Jaws born?",
        "⚠️ Where is Amity? · 1 page — The model is away.",
    ]


@given(st.lists(hostile, max_size=30), hostile)
@settings(max_examples=60, deadline=None)
def test_any_progress_fits_and_is_harmless(titles: list[str], text: str) -> None:
    steps = tuple(
        StepView(str(n), "read", title, "failed", detail=title) for n, title in enumerate(titles)
    )
    for opening in ("", echo(text * 20, text, texts)):
        shown = working(
            PlanView("q", steps), text * 20, texts, run="run1", seconds=3.2, opening=opening
        )
        check_limits((shown,))
        assert not LIVE.search(shown.written)


# ---------------------------------------------------------------- nothing is live


@given(hostile)
@settings(max_examples=150, deadline=None)
def test_no_answer_is_live_or_too_long(text: str) -> None:
    answer = an_answer(
        text=text,
        citations=(a_citation(1, title=text, quote=text),),
        notes=(text,),
        doubts=(Doubt(text, text),),
        suggestions=(text, text * 3),
    )
    for looks in (look(answer), behind(answer)):
        check_limits(looks)
        for one in looks:
            assert not LIVE.search(one.written)


# ---------------------------------------------------------------- small things


@pytest.mark.parametrize("text", ["a*b_c", "[x](https://e.org)", "# not a heading", "a\nb", "`c`"])
def test_words_are_shown_letter_for_letter(text: str) -> None:
    unescaped = re.sub(r"\\([^A-Za-z0-9\s])", r"\1", words(text)).replace("\u2060", "")
    assert unescaped == " ".join(text.split())


@given(st.text())
def test_any_question_makes_an_echo_and_a_name(text: str) -> None:
    check_limits((Look(echo(text * 30, text, texts)),))
    assert 1 <= len(thread_name(text)) <= limits.THREAD_NAME
    assert not LIVE.search(echo(text, text, texts))


# ---------------------------------------------------------------- harmless text


@pytest.mark.parametrize(
    "text",
    [
        "<@1>", "<@!1>", "<@&1>", "<#1>", "<:smile:1>", "<a:smile:1>", "<t:1700000000:R>",
        "</ask:1>", "<id:customize>", "@everyone", "@here",
    ],
)  # fmt: skip
def test_what_discord_would_act_on_is_only_shown(text: str) -> None:
    for shown in (harmless(f"so {text} so"), words(f"so {text} so")):
        assert not LIVE.search(shown)


@pytest.mark.parametrize(
    "text",
    [
        "[click](https://evil.example/x)",
        "![img](https://evil.example/x)",
        "see https://evil.example/x now",
        "see <https://evil.example/x> now",
        "join discord.gg/abc now",
        "join discord.com/invite/abc now",
        "[a]: https://evil.example/x",
    ],
)
def test_what_is_no_source_is_no_link(text: str) -> None:
    shown = harmless(text, ["https://example.org/1"])
    assert "](" not in shown
    outside_code = re.sub(r"`[^`]*`", "", shown)
    assert "evil.example/x" not in outside_code
    assert "/abc" not in outside_code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](https://example.org/1)", "[a](<https://example.org/1>)"),
        ("see https://example.org/1.", "see <https://example.org/1>."),
        ("[a](https://example.org/1_(x))", "[a](<https://example.org/1_(x)>)"),
        ("`https://example.org/1`", "`https://example.org/1`"),
    ],
)
def test_a_link_to_a_source_stays_without_preview(text: str, shown: str) -> None:
    sources = ["https://example.org/1", "https://example.org/1_(x)"]
    assert harmless(text, sources) == shown


def test_a_wrapped_paragraph_is_one_line_and_other_lines_stay() -> None:
    wrapped = "First class is paid for journeys of more than four hours, booked\nthrough the desk."
    apart = (
        "Ada Lovelace\nReading room\n\n- a point that is longer than most of the other points\n- b"
    )
    code = f"```\n{wrapped}\n```"
    shown = answer_text(an_answer(text="\n\n".join((wrapped, apart, code))), texts_for("en"))
    assert shown == "\n\n".join((wrapped.replace("\n", " "), apart, code))

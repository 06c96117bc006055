"""Slack's mrkdwn as plain Markdown, and its messages as ours."""

from __future__ import annotations

import string
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.slack.incoming import (
    attachments_of,
    begins_with_mention,
    event_id,
    is_of_app,
    is_speech,
    mentions_in,
    thread_of,
    to_message,
    unescape,
    without_mention,
)
from bot.core.messages import Attachment, Author, Thread
from bot.pages.urls import links_in
from tests.fakes.slack_screen import as_sent

NAMES = {"U1": "Ada", "W2": "Grace Hopper"}


# ---------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("sent", "plain"),
    [
        ("", ""),
        ("plain words", "plain words"),
        ("a &amp; b &lt; c &gt; d", "a & b < c > d"),
        ("&amp;lt; stays escaped once", "&lt; stays escaped once"),
        ("<@U1> and <@W2> and <@U9>", "@Ada and @Grace Hopper and @U9"),
        ("<@U9|eve>", "@eve"),
        ("<#C1|general> <#C2> <#C3|>", "#general #C2 #C3"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!here|here>", "@here"),
        ("<!subteam^S1|@writers> <!subteam^S2>", "@writers @S2"),
        ("<!date^1392734382^{date}|18 February 2014>", "18 February 2014"),
        ("<https://example.org/a>", "https://example.org/a"),
        ("<https://example.org/?a=1&amp;b=2>", "https://example.org/?a=1&b=2"),
        ("<https://example.org|the page>", "[the page](https://example.org)"),
        ("<https://example.org|example.org>", "https://example.org"),
        ("<https://example.org|https://example.org>", "https://example.org"),
        ("<https://example.org|a [b] c>", r"[a \[b\] c](https://example.org)"),
        ("<https://example.org/x_(y)|x>", "[x](https://example.org/x_%28y%29)"),
        ("<https://example.org/x_(y)>", "https://example.org/x_(y)"),
        ("<mailto:ada@example.org|ada@example.org>", "ada@example.org"),
        ("<mailto:ada@example.org|write to Ada>", "[write to Ada](mailto:ada@example.org)"),
        ("<tel:+4930123|+4930123>", "+4930123"),
        ("*bold* _slanted_ ~gone~", "**bold** _slanted_ ~~gone~~"),
        ("*two words*, (*in brackets*)", "**two words**, (**in brackets**)"),
        ("*see <https://example.org/a_b*c|this>*", "**see [this](https://example.org/a_b*c)**"),
        ("2*3*4 and 5 * 6 * 7", "2*3*4 and 5 * 6 * 7"),
        ("a ~ b ~ c, ~/home and ~/tmp", "a ~ b ~ c, ~/home and ~/tmp"),
        ("*not\nover lines*", "*not\nover lines*"),
        ("**already**", "**already**"),
        ("`*a* &lt;b&gt; <https://example.org>`", "`*a* <b> https://example.org`"),
        ("```*a*\n~b~ &amp; <https://x.org|x>```", "```*a*\n~b~ & x```"),
        ("&gt; a quote\nmine", "> a quote\nmine"),
        ("• one\n    ◦ two", "- one\n    - two"),
        ("什么是*光合作用*？", "什么是*光合作用*？"),  # nor does Slack read marks inside words
        ("请看 *这里* ！", "请看 **这里** ！"),
        (":wave: hi", ":wave: hi"),
        ("<not markup>", "<not markup>"),
        ("1 < 2", "1 < 2"),
        ("\x000\x00", "0"),
    ],
)
def test_slacks_text_becomes_markdown(sent: str, plain: str) -> None:
    assert unescape(sent, NAMES) == plain


@given(st.text(alphabet=st.characters(blacklist_characters="*~•◦▪\x00", codec="utf-8")))
@example("&lt;&amp;amp;")
@example("<@U1>")
def test_what_is_typed_as_text_arrives_unchanged(typed: str) -> None:
    sent = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert unescape(sent, NAMES) == typed


@given(st.text(alphabet=string.printable + "<>&|*~`_@#!中文\x00", max_size=200))
def test_no_text_whatever_breaks_it(sent: str) -> None:
    assert "\x00" not in unescape(sent, NAMES)


@given(
    st.lists(
        st.sampled_from(
            ["https://example.org/a_b*c~d", "https://en.wikipedia.org/wiki/X_(y)", "see", "*", "~"]
        ),
        max_size=8,
    )
)
def test_every_link_that_was_typed_is_found(words: list[str]) -> None:
    typed = " ".join(words)
    links = [word for word in dict.fromkeys(words) if "/" in word]
    assert links_in(unescape(as_sent(typed), {})) == links


@given(st.text(alphabet="`*~<>@U1|ab \n", max_size=60))
def test_marks_inside_code_stay_what_they_are(inside: str) -> None:
    code = inside.replace("`", "").replace("<", "").replace(">", "")
    assert unescape(f"```{code}```", NAMES) == f"```{code}```"


@pytest.mark.parametrize(
    ("sent", "ids"),
    [
        ("", []),
        ("<@U1> <@W2|grace> <@U1>", ["U1", "W2"]),
        ("&lt;@U1&gt; <#C1> <!here>", []),
    ],
)
def test_mentions_are_found_once_each(sent: str, ids: list[str]) -> None:
    assert mentions_in(sent) == ids


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        ("<@UBOT> who?", "who?"),
        ("<@UBOT>: who?", "who?"),
        ("<@UBOT>, who?", "who?"),
        ("<@UBOT>，谁？", "谁？"),
        ("<@UBOT|footnote> who?", "who?"),
        ("hey <@UBOT> who?", "hey who?"),
        ("who? <@UBOT>", "who?"),
        ("<@UBOT> <@UBOT>", ""),
        ("<@UBOT>", ""),
        ("<@UBOTTLE> who?", "<@UBOTTLE> who?"),
        ("<@U1> ask <@UBOT>", "<@U1> ask"),
        ("one\n<@UBOT>\ntwo", "one\n\ntwo"),
    ],
)
def test_the_bots_own_mention_is_left_out(sent: str, left: str) -> None:
    assert without_mention(sent, "UBOT") == left


@pytest.mark.parametrize(
    ("sent", "begins"),
    [("<@U1> look", True), (" \n<@U1>", True), ("look <@U1>", False), ("&lt;@U1&gt;", False)],
)
def test_it_is_seen_who_is_addressed(sent: str, begins: bool) -> None:
    assert begins_with_mention(sent) is begins


# ---------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("message", "speech"),
    [
        ({"user": "U1"}, True),
        ({"user": "U1", "subtype": "file_share"}, True),
        ({"user": "U1", "subtype": "thread_broadcast"}, True),
        ({"user": "U1", "subtype": "me_message"}, True),
        ({"user": "U1", "subtype": "channel_join"}, False),
        ({"user": "U1", "subtype": "channel_topic"}, False),
        ({"user": "U1", "subtype": "bot_message"}, False),
        ({"user": "U1", "subtype": "tombstone"}, False),
        ({"user": "U1", "bot_id": "B1"}, False),
        ({"user": "U1", "hidden": True}, False),
        ({"text": "nobody's"}, False),
        ({}, False),
    ],
)
def test_only_people_speak(message: dict[str, Any], speech: bool) -> None:
    assert is_speech(message) is speech


@pytest.mark.parametrize(
    ("message", "is_app"),
    [
        ({"bot_id": "B1", "subtype": "bot_message"}, True),
        ({"bot_id": "B1", "user": "U1"}, True),
        ({"bot_id": "B1", "subtype": "bot_add"}, False),
        ({"bot_id": "B1", "hidden": True}, False),
        ({"user": "U1"}, False),
    ],
)
def test_apps_are_told_from_people(message: dict[str, Any], is_app: bool) -> None:
    assert is_of_app(message) is is_app


def a_file(**changed: Any) -> dict[str, Any]:
    return {
        "id": "F1",
        "name": "notes.txt",
        "mimetype": "text/plain",
        "mode": "hosted",
        "permalink": "https://slack.example/files/F1",
        "url_private": "https://files.example/F1",
        "url_private_download": "https://files.example/download/F1",
        **changed,
    }


def test_files_are_opened_by_people_in_one_place_and_fetched_from_another() -> None:
    assert attachments_of({"files": [a_file()]}) == (
        Attachment(
            "notes.txt",
            "text/plain",
            "https://slack.example/files/F1",
            "https://files.example/download/F1",
        ),
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"mode": "tombstone"},
        {"mode": "hidden_by_limit"},
        {"is_external": True},
        {"url_private": ""},
    ],
)
def test_files_that_cannot_be_fetched_are_left_out(changed: dict[str, Any]) -> None:
    assert attachments_of({"files": [a_file(**changed)]}) == ()


@pytest.mark.parametrize("message", [{}, {"files": None}, {"files": []}])
def test_most_messages_have_no_files(message: dict[str, Any]) -> None:
    assert attachments_of(message) == ()


@pytest.mark.parametrize(
    ("message", "thread"),
    [
        ({"ts": "1.1"}, "1.1"),
        ({"ts": "1.1", "thread_ts": "1.1"}, "1.1"),
        ({"ts": "2.2", "thread_ts": "1.1"}, "1.1"),
    ],
)
def test_a_message_is_in_its_thread_or_begins_one(message: dict[str, Any], thread: str) -> None:
    assert thread_of("T1", "C1", message) == Thread("slack", "T1", "C1", thread)


def test_a_message_is_normalized() -> None:
    thread, author = Thread("slack", "T1", "C1", "1700000000.000100"), Author("U1", "Ada")
    message = to_message(
        {"ts": "1700000001.500000", "files": [a_file()]},
        thread=thread,
        author=author,
        text="see https://example.org/a",
        locale="en-GB",
        audience="person",
    )
    assert message.event_id == event_id("C1", "1700000001.500000") == "C1:1700000001.500000"
    assert (message.thread, message.author) == (thread, author)
    assert message.at == datetime(2023, 11, 14, 22, 13, 21, 500_000, tzinfo=UTC)
    assert message.links == ("https://example.org/a",)
    assert len(message.attachments) == 1
    assert (message.locale, message.direct) == ("en-GB", True)

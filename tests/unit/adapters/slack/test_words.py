"""The words of messages, wherever they stand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.incoming import unescape, words_of


def of_app(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"bot_id": "B1", "blocks": list(blocks), **more}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def plain_text(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def line(*elements: dict[str, Any], kind: str = "section", **more: Any) -> dict[str, Any]:
    return {"type": f"rich_text_{kind}", "elements": list(elements), **more}


def text(words: str, *styles: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "style": dict.fromkeys(styles, True)}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"text": "said", "attachments": [{"text": "a preview"}], "blocks": [rich()]}, "said"),
        ({"text": "", "blocks": [rich(line(text("said")))]}, "said"),
        (
            {"attachments": [{"title": "News", "text": "It rains.", "title_link": "u"}]},
            "News\nIt rains.\n<u>",
        ),
        ({"attachments": [{"fallback": "News", "from_url": "u"}]}, "News\n<u>"),
        (of_app(text="alone"), "alone"),
        (of_app({"type": "divider"}, text="alone"), "alone"),
        (
            of_app(
                {"type": "header", "text": plain_text("Down & out")},
                {"type": "section", "text": mrkdwn("*db* <https://a.io|a>")},
                text="Alarm",
                attachments=[{"pretext": "Since", "text": "noon", "fallback": "Since noon"}],
            ),
            "Down &amp; out\n*db* <https://a.io|a>\nSince\nnoon",
        ),
        ({"bot_id": "B1", "text": "a", "attachments": [{"text": "b"}, {"text": "b"}]}, "a\nb"),
        (
            of_app(
                attachments=[{"fields": [{"title": "Host", "value": "db1"}, {"value": "up"}]}],
            ),
            "Host\ndb1\nup",
        ),
        (
            of_app(
                attachments=[
                    {
                        "fallback": "quoted",
                        "text": "quoted",
                        "message_blocks": [{"message": {"blocks": [rich(line(text("all")))]}}],
                    }
                ],
            ),
            "all",
        ),
        ({}, ""),
        ({"bot_id": "B1"}, ""),
    ],
)
def test_a_persons_words_are_what_they_wrote_an_apps_what_is_shown(
    message: dict[str, Any], words: str
) -> None:
    assert words_of(message) == words


@pytest.mark.parametrize(
    ("block", "markdown"),
    [
        ({"type": "section", "fields": [mrkdwn("*a*"), plain_text("*b*")]}, "**a**\n**b**"),
        ({"type": "section", "text": plain_text("<@U1> <b>")}, "<@U1> <b>"),
        ({"type": "section", "text": mrkdwn("<@U1>")}, "@ada"),
        (
            {"type": "context", "elements": [mrkdwn("a"), {"type": "image", "alt_text": "b"}]},
            "a\nb",
        ),
        ({"type": "markdown", "text": "# A\n**b** <c>"}, "# A\n**b** <c>"),
        ({"type": "image", "title": plain_text("t"), "alt_text": "a"}, "t"),
        ({"type": "video", "title": plain_text("t"), "description": plain_text("d")}, "t\nd"),
        ({"type": "actions", "elements": [{"type": "button", "text": plain_text("Go")}]}, ""),
        (
            {
                "type": "table",
                "rows": [
                    [{"type": "raw_text", "text": "a"}, rich(line(text("b")))],
                    [{"type": "raw_text", "text": "<1>"}],
                ],
            },
            "a | b\n<1>",
        ),
        ({"type": "card", "title": mrkdwn("t"), "body": mrkdwn("b")}, "t\nb"),
        (
            {"type": "container", "child_blocks": [{"type": "section", "text": mrkdwn("in")}]},
            "in",
        ),
        (rich(line(text("a"), text(" b ", "bold"), text("c", "code"))), "a **b** `c`"),
        (rich(line({"type": "link", "url": "https://a.io/?x&y"})), "https://a.io/?x&y"),
        (rich(line({"type": "link", "url": "https://a.io", "text": "a"})), "[a](https://a.io)"),
        (
            rich(
                line(
                    {"type": "user", "user_id": "U1"},
                    {"type": "channel", "channel_id": "C1"},
                    {"type": "usergroup", "usergroup_id": "S1"},
                    {"type": "broadcast", "range": "here"},
                    {"type": "emoji", "name": "tada"},
                    {"type": "date", "timestamp": 1, "fallback": "then"},
                )
            ),
            "@ada#C1@S1@here:tada:then",
        ),
        (
            rich(line(line(text("a")), line(text("b")), kind="list", style="ordered", offset=2)),
            "3. a\n4. b",
        ),
        (rich(line(line(text("a")), kind="list", style="bullet", indent=1)), "  - a"),
        (rich(line(text("a\nb"), kind="quote")), "> a\n> b"),
        (rich(line(text("x < y", "bold"), kind="preformatted")), "```\nx < y\n```"),
    ],
)
def test_blocks_read_as_markdown(block: dict[str, Any], markdown: str) -> None:
    assert unescape(words_of(of_app(block)), {"U1": "ada"}) == markdown


def test_what_lies_too_deep_is_left_out() -> None:
    block: dict[str, Any] = {"type": "section", "text": mrkdwn("deep")}
    for _ in range(500):
        block = {"type": "container", "child_blocks": [block]}
    assert words_of(of_app(block)) == ""


NAMES = st.sampled_from(["type", "text", "elements", "fields", "rows", "title", "style", "blocks"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("rich_text_list"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["blocks", "attachments", "bot_id"]), VALUES))
def test_no_shape_of_a_message_breaks_reading(message: dict[str, Any]) -> None:
    assert isinstance(words_of(message), str)

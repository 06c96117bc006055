"""The kinds of messages that people and apps send in Slack, and what Footnote reads of each.

Blocks and their elements: https://docs.slack.dev/reference/block-kit/blocks. Forwards, pasted
tables and stubs of files are not documented; their JSON is as developers have published it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adapters.slack.incoming import parse_message

Json = dict[str, Any]
NAMES = {"U1": "Ada", "U2": "Grace"}
URL = "https://files.slack.com/files-pri/T1-F1"


@dataclass(frozen=True)
class Read:
    """What is read of a message: Markdown, files (with the reason if one cannot be read), ids of
    the people mentioned, ids of files of which Slack has to be asked for more."""

    text: str = ""
    files: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "block_id": "b", "elements": list(elements)}


def line(*elements: Json, kind: str = "section", **more: Any) -> Json:
    return {"type": f"rich_text_{kind}", "elements": list(elements), **more}


def text(words: str, *styles: str) -> Json:
    return {
        "type": "text",
        "text": words,
        **({"style": dict.fromkeys(styles, True)} if styles else {}),
    }


def raw(words: str) -> Json:
    return {"type": "raw_text", "text": words}


def mrkdwn(words: str) -> Json:
    return {"type": "mrkdwn", "text": words}


def plain(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def person(words: str = "", *blocks: Json, **more: Any) -> Json:
    """A message that a person typed."""
    shown = list(blocks) or ([rich(line(text(words)))] if words else [])
    return {"type": "message", "user": "U1", "text": words, "blocks": shown, **more}


def app(*blocks: Json, **more: Any) -> Json:
    return {"subtype": "bot_message", "bot_id": "B1", "blocks": list(blocks), **more}


def a_file(**changed: Any) -> Json:
    return {
        "id": "F1",
        "name": "plan.pdf",
        "mimetype": "application/pdf",
        "mode": "hosted",
        "permalink": "https://acme.slack.com/files/U1/F1/plan.pdf",
        "url_private": f"{URL}/plan.pdf",
        "url_private_download": f"{URL}/download/plan.pdf",
        **changed,
    }


def forward(words: str = "The tower is 330 m tall.", **changed: Any) -> Json:
    """What Slack attaches to a message with which another one is shared."""
    blocks = [rich(line(text(words)))]
    return {
        "id": 1,
        "ts": "1780488000.000100",
        "author_id": "U9",
        "author_name": "Ann Lee",
        "author_link": "https://acme.slack.com/team/U9",
        "channel_id": "C9",
        "channel_name": "ops",
        "channel_team": "T1",
        "is_msg_unfurl": True,
        "is_share": True,
        "message_blocks": [
            {
                "team": "T1",
                "channel": "C9",
                "ts": "1780488000.000100",
                "message": {"blocks": blocks},
            }
        ],
        "fallback": f"[June 3rd, 2026 12:00 PM] ann: {words}",
        "text": words,
        "mrkdwn_in": ["text"],
        "from_url": "https://acme.slack.com/archives/C9/p1780488000000100",
        "footer": "Posted in #ops",
        **changed,
    }


ROWS: list[list[Json]] = [
    [raw("Name"), raw("Price")],
    [rich(line(text("A|B", "bold"))), {"type": "raw_number", "value": 4.5, "text": "4.50"}],
    [raw("C")],
]
TABLE: Json = {"type": "table", "block_id": "t", "rows": ROWS}
IN_MARKDOWN = "| Name | Price |\n| --- | --- |\n| **A\\|B** | 4.50 |\n| C |  |"
PASTED: Json = {"id": 1, "fallback": "[no preview available]", "blocks": [TABLE]}
PREVIEW: Json = {
    "id": 1,
    "from_url": "https://a.io",
    "original_url": "https://a.io",
    "title": "A page",
    "title_link": "https://a.io",
    "text": "What it is about",
    "fallback": "A page",
}
ANN = "> Ann Lee, #ops, 3 June 2026:\n> "

KINDS: dict[str, tuple[Json, Read]] = {
    # ---- what a person types
    "words": (person("how tall?"), Read("how tall?")),
    "words without blocks": ({"user": "U1", "text": "a &amp; *b*"}, Read("a & **b**")),
    "a mention": (
        person("", rich(line({"type": "user", "user_id": "U2"}, text(" how tall?")))),
        Read("@Grace how tall?", mentions=("U2",)),
    ),
    "styles": (
        person(
            "", rich(line(text("a "), text("b", "bold"), text(" c ", "italic"), text("d", "code")))
        ),
        Read("a **b** _c_ `d`"),
    ),
    "a strike-out": (
        person("", rich(line(text("It costs "), text("140", "strike"), text("120 euros.")))),
        Read("It costs ~~140~~120 euros."),
    ),
    "a strike-out of a link": (
        person(
            "",
            rich(
                line(
                    {"type": "link", "url": "https://a.io", "text": "a", "style": {"strike": True}}
                )
            ),
        ),
        Read("~~[a](https://a.io)~~"),
    ),
    "a link": (
        person("", rich(line({"type": "link", "url": "https://a.io/?x&y"}))),
        Read("https://a.io/?x&y"),
    ),
    "a labelled link": (
        person("", rich(line({"type": "link", "url": "https://a.io", "text": "a"}))),
        Read("[a](https://a.io)"),
    ),
    "channel, group, all, emoji, date, colour": (
        person(
            "",
            rich(
                line(
                    {"type": "channel", "channel_id": "C1"},
                    {"type": "usergroup", "usergroup_id": "S1"},
                    {"type": "broadcast", "range": "here"},
                    {"type": "emoji", "name": "tada", "unicode": "1f389"},
                    {"type": "date", "timestamp": 1, "format": "{date}", "fallback": "then"},
                    {"type": "color", "value": "#F405B3"},
                )
            ),
        ),
        Read("#C1@S1@here:tada:then#F405B3"),
    ),
    "a list": (
        person(
            "",
            rich(
                line(text("Buy:")),
                line(line(text("a")), line(text("b")), kind="list", style="ordered", offset=2),
                line(line(text("c")), kind="list", style="bullet", indent=1),
            ),
        ),
        Read("Buy:\n3. a\n4. b\n  - c"),
    ),
    "a code block": (
        person("", rich(line(text("x < *y*", "bold"), kind="preformatted"))),
        Read("```\nx < *y*\n```"),
    ),
    "words quoted by hand": (
        person(
            "",
            rich(
                line({"type": "user", "user_id": "U2"}, text(" says\nno"), kind="quote"),
                line(text("why?")),
            ),
        ),
        Read("> @Grace says\n> no\nwhy?"),
    ),
    "a table beside the text": (
        person("Which costs most?", attachments=[PASTED]),
        Read(f"Which costs most?\n\n{IN_MARKDOWN}"),
    ),
    "a table alone": (person("", attachments=[PASTED]), Read(IN_MARKDOWN)),
    "a table among the blocks": (
        person("Which?", rich(line(text("Which?"))), TABLE),
        Read(f"Which?\n\n{IN_MARKDOWN}"),
    ),
    "a table that sorts": (
        person(
            "Which?", {"type": "data_table", "caption": "Prices", "rows": [[raw("a")], [raw("1")]]}
        ),
        Read("Prices\n\n| a |\n| --- |\n| 1 |"),
    ),
    "a table without rows": (
        person("Which?", attachments=[{"blocks": [{"type": "table", "rows": [[]]}]}]),
        Read("Which?"),
    ),
    "a preview of a link": (
        person("see https://a.io", attachments=[PREVIEW]),
        Read("see https://a.io"),
    ),
    "nothing": (person(""), Read()),
    # ---- forwards
    "a forward with a comment": (
        person("Is that so?", attachments=[forward()]),
        Read(f"Is that so?\n\n{ANN}The tower is 330 m tall."),
    ),
    "a forward alone": (
        person("", attachments=[forward()]),
        Read(f"{ANN}The tower is 330 m tall."),
    ),
    "a link to a message, which Slack shows": (
        person(
            "why? <https://acme.slack.com/archives/C9/p1>",
            attachments=[forward("No.", is_share=False)],
        ),
        Read(f"why? <https://acme.slack.com/archives/C9/p1>\n\n{ANN}No."),
    ),
    "a forward that only has text": (
        person("", attachments=[forward("*So* &amp; so", message_blocks=[])]),
        Read(f"{ANN}**So** & so"),
    ),
    "a forward of several lines": (
        person("", attachments=[forward("a\n\nb")]),
        Read(f"{ANN}a\n>\n> b"),
    ),
    "a forward from a conversation of two": (
        person("", attachments=[forward("No.", channel_id="D9", channel_name="Direct Message")]),
        Read("> Ann Lee, Direct Message, 3 June 2026:\n> No."),
    ),
    "a forward whose author has only an id": (
        person(
            "", attachments=[forward("No.", author_name="", author_id="U2", channel_name="", ts="")]
        ),
        Read("> Grace:\n> No."),
    ),
    "a mention inside a forward": (
        person("", attachments=[forward("<@U2> come", message_blocks=[])]),
        Read(f"{ANN}@Grace come"),
    ),
    "a forward with a file": (
        person("", attachments=[forward("Here.", files=[a_file()])]),
        Read(f"{ANN}Here.", files=("plan.pdf",)),
    ),
    "a forward of a picture without words": (
        person("", attachments=[forward("", files=[a_file(name="a.png", mimetype="image/png")])]),
        Read(files=("a.png",)),
    ),
    "a forward of a table": (
        person("", attachments=[forward("Prices:", attachments=[PASTED])]),
        Read(ANN + f"Prices:\n\n{IN_MARKDOWN}".replace("\n", "\n> ").replace("> \n", ">\n")),
    ),
    "a forward of a forward": (
        person("", attachments=[forward("See:", attachments=[forward("No.", author_name="Bo")])]),
        Read(f"{ANN}See:\n\n> Bo, #ops, 3 June 2026:\n> No."),
    ),
    "two forwards": (
        person("", attachments=[forward("a"), forward("b")]),
        Read(f"{ANN}a\n\n{ANN}b"),
    ),
    # ---- files
    "a file": (person("", files=[a_file()]), Read(files=("plan.pdf",))),
    "a file with words": (
        person("what is it?", files=[a_file()]),
        Read("what is it?", files=("plan.pdf",)),
    ),
    "a code snippet": (
        person("", files=[a_file(name="a.py", mode="snippet", mimetype="text/plain")]),
        Read(files=("a.py",)),
    ),
    "a clip": (
        person("", files=[a_file(name="clip.mp4", subtype="slack_video", mimetype="video/mp4")]),
        Read(files=("clip.mp4",)),
    ),
    "a picture": (
        person("what is it?", files=[a_file(name="a.png", mimetype="image/png")]),
        Read("what is it?", files=("a.png",)),
    ),
    "a file of Slack Connect": (
        person(
            "what is it?",
            files=[{"id": "F2", "mode": "file_access", "file_access": "check_file_info"}],
        ),
        Read("what is it?", stubs=("F2",)),
    ),
    "a forward with a file of Slack Connect": (
        person(attachments=[forward("a", files=[{"id": "F2", "file_access": "check_file_info"}])]),
        Read(f"{ANN}a", stubs=("F2",)),
    ),
    "a deleted file": (
        person(files=[{"id": "F1", "mode": "tombstone"}]),
        Read(files=("F1 file-gone",)),
    ),
    "a file above the limits of the plan": (
        person(files=[{"id": "F1", "mode": "hidden_by_limit"}]),
        Read(files=("F1 file-hidden",)),
    ),
    "a file of Google Drive": (
        person(files=[a_file(mode="external", is_external=True, external_type="gdrive")]),
        Read(files=("plan.pdf file-elsewhere",)),
    ),
    "a file that the app may not see": (
        person(files=[{"id": "F1", "name": "plan.pdf", "file_access": "access_denied"}]),
        Read(files=("plan.pdf file-not-shown",)),
    ),
    "a canvas": (
        person(files=[a_file(name="Plan", mode="quip", mimetype="application/vnd.slack-docs")]),
        Read(files=("Plan file-is-canvas",)),
    ),
    "a list of Slack's": (
        person(files=[a_file(name="Tasks", mode="list", mimetype="application/vnd.slack-list")]),
        Read(files=("Tasks file-is-canvas",)),
    ),
    # ---- what apps show
    "an app's text": (app(text="alone"), Read("alone")),
    "an app's blocks, not the text for notifications": (
        app(
            {"type": "header", "text": plain("Down & out")},
            {"type": "section", "text": mrkdwn("*db* <https://a.io|a>")},
            {"type": "divider"},
            text="Alarm",
        ),
        Read("Down & out\n**db** [a](https://a.io)"),
    ),
    "an app's mention in its text for notifications": (
        app({"type": "section", "text": mrkdwn("a")}, text="<@U2> b"),
        Read("a", mentions=("U2",)),
    ),
    "an app's attachment": (
        app(
            attachments=[
                {
                    "pretext": "Since",
                    "title": "News",
                    "title_link": "https://a.io",
                    "text": "noon",
                    "fallback": "x",
                }
            ]
        ),
        Read("Since\nNews\nnoon\nhttps://a.io"),
    ),
    "an app's attachment with fields": (
        app(attachments=[{"fields": [{"title": "Host", "value": "db1"}, {"value": "up"}]}]),
        Read("Host\ndb1\nup"),
    ),
    "an app's attachment with a fallback": (app(attachments=[{"fallback": "News"}]), Read("News")),
    "the same text twice": (
        app(text="a", attachments=[{"text": "b"}, {"text": "b"}]),
        Read("a\nb"),
    ),
    "fields of a section": (
        app({"type": "section", "fields": [mrkdwn("*a*"), plain("*b*")]}),
        Read("**a**\n**b**"),
    ),
    "plain text": (app({"type": "section", "text": plain("<@U1> <b>")}), Read("<@U1> <b>")),
    "context": (
        app({"type": "context", "elements": [mrkdwn("a"), {"type": "image", "alt_text": "b"}]}),
        Read("a\nb"),
    ),
    "Markdown": (app({"type": "markdown", "text": "# A\n**b** <c>"}), Read("# A\n**b** <c>")),
    "an image": (app({"type": "image", "title": plain("t"), "alt_text": "a"}), Read("t")),
    "a video": (
        app({"type": "video", "title": plain("t"), "description": plain("d")}),
        Read("t\nd"),
    ),
    "buttons": (
        app({"type": "actions", "elements": [{"type": "button", "text": plain("Go")}]}),
        Read(),
    ),
    "tick boxes": (
        app(
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "checkboxes",
                        "options": [
                            {"text": plain("Order"), "value": "1"},
                            {"text": mrkdwn("~Pay~"), "value": "2"},
                        ],
                        "initial_options": [{"text": mrkdwn("~Pay~"), "value": "2"}],
                    }
                ],
            }
        ),
        Read("- [ ] Order\n- [x] ~~Pay~~"),
    ),
    "a tick box beside a section": (
        app(
            {
                "type": "section",
                "text": plain("To do"),
                "accessory": {
                    "type": "checkboxes",
                    "options": [{"text": plain("a"), "value": "1"}],
                },
            }
        ),
        Read("To do\n- [ ] a"),
    ),
    "a card": (app({"type": "card", "title": mrkdwn("t"), "body": mrkdwn("b")}), Read("t\nb")),
    "an alert": (app({"type": "alert", "text": mrkdwn("a"), "level": "warning"}), Read("a")),
    "a container": (
        app({"type": "container", "child_blocks": [{"type": "section", "text": mrkdwn("in")}]}),
        Read("in"),
    ),
    "a plan with tasks": (
        app(
            {
                "type": "plan",
                "title": "p",
                "tasks": [{"type": "task_card", "task_id": "1", "title": "t"}],
            }
        ),
        Read("p\nt"),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_of(kind: str) -> None:
    sent, read = KINDS[kind]
    message = parse_message({"ts": "1.1", **sent}, "C1")
    files = tuple(f"{file.name} {file.unread}".strip() for file in message.files)
    assert Read(message.markdown(NAMES), files, message.mentions, message.stubs) == read

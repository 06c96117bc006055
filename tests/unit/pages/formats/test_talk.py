"""Transcripts and exported chats: each quote below who said it when."""

from __future__ import annotations

import json

import pytest

from bot.pages.extract import from_bytes


def read(source: str, name: str, people: object = None) -> str:
    given = json.dumps(people).encode() if people else b""
    return from_bytes(source.encode(), None, name, given).text


def test_cues_of_one_speaker_are_joined() -> None:
    source = (
        "WEBVTT\n\nNOTE not said\n\n1\n00:03.000 --> 00:07.500 align:start\n"
        "<v.loud Ines>We move the\n<i>release</i> &amp;\n\n00:08.000 --> 00:09.000\n"
        "<v Ines>the fair to June.\n\n01:02:08.000 --> 01:02:12.000\n<v Marek>Fine.\n"
    )
    assert read(source, "a.vtt") == (
        "## Ines, 00:00:03\n\nWe move the release & the fair to June.\n\n"
        "## Marek, 01:02:08\n\nFine."
    )


def test_names_before_a_colon_are_speakers_where_most_cues_have_them() -> None:
    cues = ["Ines Müller: Welcome.", "We begin.", "Tom: Note: bring cake."]
    source = "\n\n".join(
        f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{cue}" for n, cue in enumerate(cues, 1)
    )
    assert read(source, "a.srt") == (
        "## Ines Müller, 00:00:01\n\nWelcome. We begin.\n\n## Tom, 00:00:03\n\nNote: bring cake."
    )
    cues = ["Note: bring cake.", "Yes.", "No."]
    source = "\n\n".join(f"00:00:0{n},000 --> 00:00:0{n},900\n{cue}" for n, cue in enumerate(cues))
    assert read(source, "a.srt") == "## 00:00:00\n\nNote: bring cake. Yes. No."


def test_a_long_turn_has_its_time_again() -> None:
    source = "\n\n".join(
        f"00:0{n}:00.000 --> 00:0{n}:30.000\n<v Ann>{f'{n} words, more. ' * 22}" for n in range(4)
    )
    headings = [line for line in read(source, "a.vtt").split("\n") if line.startswith("#")]
    assert headings == ["## Ann, 00:00:00", "## Ann, 00:02:00"]


def test_captions_that_roll_up_are_not_repeated() -> None:
    source = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\nfirst line\n\n"
        "00:02.000 --> 00:03.000\nfirst line\nsecond line\n"
    )
    assert read(source, "a.vtt") == "## 00:00:01\n\nfirst line second line"


def said(user: str, text: str, ts: str, **more: object) -> dict[str, object]:
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


SLACK = [
    said("U2", "<@U2> has joined", "1773099000.1", subtype="channel_join"),
    said("U1", "Which <https://x.example|vendor>, <@U2>? a &lt; b", "1773100000.1",
         user_profile={"real_name": "Olga Berg"}, thread_ts="1773100000.1"),
    said("U3", "Lunch?", "1773100060.1"),
    said("U2", "Securo.", "1773100120.1", thread_ts="1773100000.1", files=[{"name": "offer.pdf"}]),
]  # fmt: skip


def test_a_day_of_slack_keeps_threads_together_and_names_people() -> None:
    left = {"id": "U2", "name": "tek", "deleted": True, "profile": {"real_name": "Tom Ek"}}
    people = [left, {"id": "U3", "name": "ann"}]
    assert read(json.dumps(SLACK), "2026-03-09.json", people) == (
        "## Olga Berg, 9 March 2026 23:46\n\nWhich vendor, @Tom Ek? a < b\n\n"
        "### Tom Ek, 9 March 2026 23:48\n\nSecuro.\noffer.pdf\n\n"
        "## ann, 9 March 2026 23:47\n\nLunch?"
    )


def test_a_channel_of_discord_keeps_replies_below_what_they_answer() -> None:
    def message(id: str, author: str, content: str, **more: object) -> dict[str, object]:
        at = f"2026-03-10T09:{id}:00.5+00:00"
        person = {"id": author, "name": author, "nickname": author.title()}
        return {"id": id, "type": "Default", "timestamp": at, "content": content,
                "author": person, **more}  # fmt: skip

    ann = {"id": "7", "name": "bob", "nickname": "Bob"}
    messages = [
        message("10", "ann", "When is the drill <@7>?", mentions=[ann]),
        message("11", "cy", "hi"),
        message("12", "bob", "On 4 May.", type="Reply", reference={"messageId": "10"}),
        message("13", "dan", "Joined the server.", type="GuildMemberJoin"),
    ]
    export = {"guild": {"name": "Acme"}, "channel": {"name": "ops"}, "messages": messages}

    reading = from_bytes(json.dumps(export).encode(), None, "ops.json")

    assert reading.title == "Acme, #ops"
    assert reading.text == (
        "## Ann, 10 March 2026 09:10\n\nWhen is the drill @Bob?\n\n"
        "### Bob, 10 March 2026 09:12\n\nOn 4 May.\n\n## Cy, 10 March 2026 09:11\n\nhi"
    )


@pytest.mark.parametrize(
    "value",
    [
        [{"ts": 1, "type": "x", "text": []}],
        [{"ts": "now", "type": "x", "text": "words"}],
        {"messages": [{"content": "words"}], "guild": {}, "channel": {}},
        {"messages": []},
        ["ts type text"],
    ],
)
def test_other_json_is_no_chat(value: object) -> None:
    assert read(json.dumps(value), "a.json").startswith(("```", "|", "##"))

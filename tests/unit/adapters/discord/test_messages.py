"""What Discord sends becomes one typed value, with text as plain Markdown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.messages import (
    DiscordMessage,
    Place,
    locale_of,
    mentions_in,
    place_of,
    plain_markdown,
)
from bot.core.messages import Author, Thread

NAMES = {
    ("user", 7): "Ada",
    ("user", 8): "Bob",
    ("role", 20): "Researchers",
    ("channel", 30): "general",
}
OWN = ("<@1>", "<@!1>", "<@&2>")
FORMS = st.sampled_from(
    ["<@1>", "<@!1>", "<@7>", "<@&20>", "<#30>", "<:a:1>", "<a:b_c:2>", "<t:0:R>", "</ask:3>"]
)
MARKS = st.sampled_from(["<https://x.org/?a=1>", "<", ">", "@everyone"])
TICKS = st.sampled_from(["`", "``", "```", "\n", " "])
WITHOUT_TICKS = st.lists(
    FORMS | MARKS | st.text(st.characters(exclude_characters="`"), max_size=5)
).map("".join)


def plain(content: str) -> str:
    return plain_markdown(content, lambda kind, id: NAMES.get((kind, id)), OWN)


# ---------------------------------------------------------------- markup


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<@7> and <@!8>", "@Ada and @Bob"),
        ("<@99>", "@unknown-user"),
        ("<@&20>", "@Researchers"),
        ("<@&99>", "@unknown-role"),
        ("in <#30>", "in #general"),
        ("<#99>", "#unknown-channel"),
        ("nice <:wave:123> <a:dance_2:45>", "nice :wave: :dance_2:"),
        ("since <t:0>", "since 1970-01-01 00:00 UTC"),
        ("since <t:1618953630:R>!", "since 2021-04-20 21:20 UTC!"),
        ("<t:99999999999999999:R>", "<t:99999999999999999:R>"),
        ("use </ask:123456>", "use /ask"),
        ("use </footnote set:123>", "use /footnote set"),
        ("see <https://example.org/a?b=1>", "see https://example.org/a?b=1"),
        ("[this](<https://example.org>)", "[this](https://example.org)"),
        ("**bold** ~~gone~~ ||secret||", "**bold** ~~gone~~ ||secret||"),
        ("`<@7>` but <@7>", "`<@7>` but @Ada"),
        ("```\n<#30>\n``` <#30>", "```\n<#30>\n``` #general"),
        ("an open ` and <@7>", "an open ` and @Ada"),
        ("`<@7>```<@7>\n```", "`@Ada```<@7>\n```"),  # the first backtick has no second
        ("``<@7> ` <@7>`` <@7>", "``<@7> ` <@7>`` @Ada"),
        ("`<@7> `` <@7>` <@7>", "`<@7> `` <@7>` @Ada"),
        ("``<@7>`", "``@Ada`"),
        ("``````<@7>```", "``````<@7>```"),  # no block is empty
        ("1 < 2 > <b>", "1 < 2 > <b>"),
        ("<@1> How tall?", "How tall?"),
        ("<@!1>, how tall?", "how tall?"),
        ("<@1>：多高？", "多高？"),
        ("<@&2> How tall?", "How tall?"),
        ("Can <@1> tell me?", "Can tell me?"),
        ("How tall? <@1>", "How tall?"),
        ("<@1>\n> quoted\nWhy?", "> quoted\nWhy?"),
        ("`<@1>`", "`<@1>`"),
        ("<@1>", ""),
        ("", ""),
    ],
)
def test_markup_is_read_as_people_see_it(written: str, read: str) -> None:
    assert plain(written) == read


@given(st.text())
def test_any_text_can_be_read(content: str) -> None:
    plain(content)


@given(st.text(alphabet=st.characters(exclude_characters="<")))
def test_text_without_forms_stays_as_it_is(content: str) -> None:
    assert plain(content) == content.strip()


@given(st.lists(FORMS | MARKS | st.text(alphabet="ab<>@:12 ", max_size=4)).map("".join))
def test_own_mentions_are_gone_and_others_have_names(content: str) -> None:
    read = plain(content)
    for form in ("<@1>", "<@!1>", "<@7>", "<@&20>", "<#30>", "<t:0:R>"):
        assert form not in read


@given(
    before=WITHOUT_TICKS,
    code=WITHOUT_TICKS.filter(str.strip),
    after=st.lists(FORMS | MARKS | TICKS | st.text(max_size=5)).map("".join),
    ticks=st.sampled_from(["`", "``", "```"]),
)
def test_code_is_kept_to_the_letter(before: str, code: str, after: str, ticks: str) -> None:
    if len(ticks) < 3:
        code, after = code.replace("\n", " "), after.lstrip("`")
    assert f"{ticks}{code}{ticks}" in plain(f"{before}{ticks}{code}{ticks}{after}")


@pytest.mark.parametrize(
    ("content", "mentions"),
    [
        ("<@1> and <@!2> and <@&3>", {"<@1>", "<@!2>", "<@&3>"}),
        ("`<@1>` ```<@2>```", set()),
        ("@everyone", {"@everyone"}),
        ("now @here", {"@here"}),
        ("@hereafter, me@here.example", set()),
    ],
)
def test_mentions_in_code_are_none(content: str, mentions: set[str]) -> None:
    assert mentions_in(content) == mentions


# ---------------------------------------------------------------- language


@pytest.mark.parametrize(
    ("text", "server", "locale"),
    [
        ("How tall is the tower?", "zh-TW", "en"),
        ("这座塔有多高？", "en-US", "zh-CN"),
        ("這座塔有多高？", "en-US", "zh-TW"),
        ("多高", "zh-TW", "zh-TW"),
        ("多高", "zh-CN", "zh-CN"),
        ("多高", "", "zh-CN"),
        ("GPT-5?", "zh-CN", "zh-CN"),
        ("42", "zh-TW", "zh-TW"),
        ("", "de", "de"),
        ("", "", "en"),
        ("Wie hoch ist der Turm und wer hat ihn gebaut?", "en-US", "de"),
    ],
)
def test_the_text_tells_its_language_before_the_server_does(
    text: str, server: str, locale: str
) -> None:
    assert locale_of(text, server) == locale


# ---------------------------------------------------------------- places


class _Channel:
    id = 5


def test_a_direct_message_is_its_own_thread() -> None:
    place = place_of(_Channel(), None, is_member=True)
    assert place.audience == "person"
    assert place.thread("77") == Thread("discord", "@me", "5", "5")


def test_in_a_channel_the_message_opens_the_thread() -> None:
    place = place_of(_Channel(), 3, is_member=True)
    assert place.audience == "channel"
    assert place.thread("77") == Thread("discord", "3", "5", "77")


@pytest.mark.parametrize("guild", [None, 3])
def test_where_the_bot_is_no_member_strangers_read(guild: int | None) -> None:
    assert place_of(_Channel(), guild, is_member=False).audience == "strangers"


def test_a_group_is_never_private() -> None:
    group = discord.GroupChannel.__new__(discord.GroupChannel)
    group.id = 5
    assert place_of(group, None, is_member=True).audience == "strangers"


# ---------------------------------------------------------------- messages

CHANNEL, THREAD, DIRECT = (
    Place("3", "5", "", "channel"),
    Place("3", "5", "6", "channel"),
    Place("@me", "5", "5", "person"),
)


def said(content: str = "Why?", author: str = "7", **more: Any) -> DiscordMessage:
    at = datetime(2026, 6, 3, tzinfo=UTC)
    return DiscordMessage("9", "5", Author(author, "Ada"), content, content, at, **more)


OURS, ADAS, BOBS = (said("Words.", author, is_ours=author == "1") for author in ("1", "7", "8"))


@pytest.mark.parametrize(
    ("place", "content", "answers", "address"),
    [
        (DIRECT, "Why?", None, "footnote"),
        (CHANNEL, "Why?", None, None),
        (CHANNEL, "<@1> why?", None, "footnote"),
        (CHANNEL, "`<@1>` why?", None, None),
        (CHANNEL, "Thanks", OURS, None),
        (THREAD, "Why?", None, "thread"),
        (THREAD, "<@8> why?", None, "others"),
        (THREAD, "@everyone why?", None, "others"),
        (THREAD, "Why?", ADAS, "thread"),
        (THREAD, "Why?", BOBS, "others"),
        (THREAD, "<@8> why?", OURS, "others"),
        (THREAD, "why <@8>?", None, "others"),
        (THREAD, "why?", OURS, "thread"),
    ],
)
def test_whom_a_message_addresses(
    place: Place, content: str, answers: Any, address: str | None
) -> None:
    mentions_us = "<@1>" in mentions_in(content)
    message = said(content, answered=answers, mentions_us=mentions_us)
    assert message.address_in(place) == address


def test_a_reply_that_pings_footnote_addresses_it() -> None:
    assert said(answered=OURS, pings_us=True).address_in(THREAD) == "footnote"

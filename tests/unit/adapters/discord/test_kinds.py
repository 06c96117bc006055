"""The kinds of messages on Discord: what Discord sends, and what Footnote reads of it.

The JSON has the fields of discord.py's types (``discord/types/message.py``, ``components.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import discord
import pytest

from adapters.discord.messages import DiscordMessage
from adapters.discord.rest import RestClient
from tests.fakes.discord_shapes import guild_create_json, own_user_json
from tests.fakes.discord_state import FORUM, TEXT, World

Json = dict[str, Any]

WHEN = "2026-06-03T09:00:00+00:00"
WORLD = World()
ME = WORLD.bot.id
GUILD = WORLD.guild("Reading room", WORLD.user("Zoe"), locale="en-US", installed=True)
GENERAL = WORLD.channel(TEXT, "general", GUILD)
FORUM_CHANNEL = WORLD.channel(FORUM, "questions", GUILD)
ADA = {"id": "7", "username": "ada", "global_name": "Ada", "discriminator": "0", "avatar": None}
BOB = ADA | {"id": "8", "username": "bob", "global_name": "Bob"}
NEWS = ADA | {"id": "9", "username": "News", "global_name": None, "bot": True}
FOOTNOTE = ADA | {"id": ME, "username": "Footnote", "global_name": None, "bot": True}


def message(content: str = "", *, author: Json = ADA, **more: Any) -> Json:
    base: Json = {
        "id": "1515000000000000000",
        "channel_id": GENERAL.id,
        "author": author,
        "content": content,
        "timestamp": WHEN,
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "components": [],
        "pinned": False,
        "type": 0,
        "flags": 0,
    }
    return base | more


def file(name: str, media_type: str | None = None, size: int = 10) -> Json:
    url = f"https://cdn.discordapp.com/attachments/1/2/{name}"
    told: Json = {"id": "2", "filename": name, "size": size, "url": url, "proxy_url": url}
    return told | ({"content_type": media_type} if media_type else {})


def embed(kind: str = "rich", **more: Any) -> Json:
    return {"type": kind, **more}


def reply(to: Json, content: str = "", **more: Any) -> Json:
    reference = {"type": 0, "channel_id": GENERAL.id, "message_id": to["id"], "guild_id": GUILD.id}
    return message(content, type=19, message_reference=reference, referenced_message=to, **more)


def forward(
    content: str = "", comment: str = "", *, channel: str = GENERAL.id, **more: Any
) -> Json:
    snapshot = {
        "type": 0,
        "content": content,
        "embeds": [],
        "attachments": [],
        "timestamp": WHEN,
        "edited_timestamp": None,
        "flags": 0,
        "mentions": [],
        "mention_roles": [],
        "components": [],
    } | more
    reference = {"type": 1, "channel_id": channel, "message_id": "5", "guild_id": GUILD.id}
    return message(
        comment,
        flags=1 << 14,
        message_reference=reference,
        message_snapshots=[{"message": snapshot}],
    )


def text_display(content: str) -> Json:
    return {"type": 10, "id": 1, "content": content}


BUTTON = {"type": 2, "style": 2, "label": "Open", "custom_id": "x", "id": 9}
V2 = 1 << 15
RELEASE = embed(
    title="Release 2.0",
    url="https://example.org/2.0",
    description="Needs **Python 3.12**.",
    author={"name": "Builds"},
    fields=[{"name": "Date", "value": "3 June", "inline": True}],
    footer={"text": "CI"},
)
RELEASE_TEXT = (
    "Builds\n\n[Release 2.0](https://example.org/2.0)\n\nNeeds **Python 3.12**.\n\n**Date**: 3 June"
)
POLL = {
    "question": {"text": "Which database?"},
    "answers": [
        {"answer_id": 1, "poll_media": {"text": "SQLite"}},
        {"answer_id": 2, "poll_media": {"text": "PostgreSQL", "emoji": {"id": None, "name": "🐘"}}},
    ],
    "expiry": "2026-06-04T09:00:00+00:00",
    "allow_multiselect": False,
    "layout_type": 1,
}
PK = {"webhook_id": "40", "application_id": "41"}
PK_USER = {"id": "40", "username": "Robin", "discriminator": "0000", "avatar": None, "bot": True}


@dataclass(frozen=True)
class Kind:
    """``read`` is its text; ``more`` are other values that it must have."""

    name: str
    raw: Json
    read: str
    files: tuple[tuple[str, str], ...] = ()
    is_said: bool = True
    more: tuple[tuple[str, Any], ...] = ()


PNG = ("shot.png", "image/png")
KINDS = [
    Kind("a text", message("How **tall** is it?"), "How **tall** is it?"),
    Kind("a mention", message(f"<@{ME}> why?"), "why?", more=(("mentions_us", True),)),
    Kind("a strike-out", message("Is it ~~300~~ 330 m?"), "Is it ~~300~~ 330 m?"),
    Kind(
        "a line quoted by hand",
        message(f"> <@{ME}> how tall?\nDid it answer this?"),
        "> how tall?\nDid it answer this?",
        more=(("mentions_us", False),),
    ),
    Kind(
        "a quote to the end",
        message(f"See\n>>> one\n<@{ME}> two"),
        "See\n>>> one\n two",
        more=(("mentions_us", False),),
    ),
    Kind(
        "a quote and a mention below it",
        message(f"> how tall?\n<@{ME}> is that so?"),
        "> how tall?\n is that so?",
        more=(("mentions_us", True),),
    ),
    Kind("a reply", reply(message("It is 330 m.", author=BOB), "Why?"), "Why?"),
    Kind(
        "a picture",
        message("What is this?", attachments=[file(*PNG)]),
        "What is this?",
        (PNG,),
    ),
    Kind("a picture without a type", message(attachments=[file("shot.png")]), "", (PNG,)),
    Kind(
        "a video, a voice message",
        message(
            flags=1 << 13,
            attachments=[file("a.mp4", "video/mp4"), file("voice-message.ogg", "audio/ogg")],
        ),
        "",
        (("a.mp4", "video/mp4"), ("voice-message.ogg", "audio/ogg")),
    ),
    Kind(
        "a long paste alone",
        message(attachments=[file("message.txt", "text/plain; charset=utf-8")]),
        "",
        (("message.txt", "text/plain; charset=utf-8"),),
        more=(("paste", file("message.txt")["url"]),),
    ),
    Kind(
        "a paste that is too long to be a question",
        message(attachments=[file("message.txt", "text/plain", 2_000_000)]),
        "",
        (("message.txt", "text/plain"),),
        more=(("paste", ""),),
    ),
    Kind(
        "a long paste below a question",
        message("What fails?", attachments=[file("message.txt", "text/plain")]),
        "What fails?",
        (("message.txt", "text/plain"),),
        more=(("paste", ""),),
    ),
    Kind("a forward", forward("It is 330 m."), "> #general, 2026-06-03:\n> It is 330 m."),
    Kind(
        "a forward from elsewhere",
        forward("It is 330 m.", channel="77"),
        "> 2026-06-03:\n> It is 330 m.",
    ),
    Kind(
        "a forward with a comment",
        forward("One.\n\nTwo.", "Is that true?"),
        "Is that true?\n\n> #general, 2026-06-03:\n> One.\n>\n> Two.",
        more=(("answers", ""),),
    ),
    Kind(
        "a forward that mentions Footnote",
        forward(f"<@{ME}> how tall?"),
        "> #general, 2026-06-03:\n> @unknown-user how tall?",
        more=(("mentions_us", False), ("forwards", True)),
    ),
    Kind(
        "a forward of an embed and a file",
        forward(embeds=[RELEASE], attachments=[file(*PNG)]),
        "> #general, 2026-06-03:\n"
        + "\n".join(f"> {line}".rstrip() for line in RELEASE_TEXT.split("\n")),
        (PNG,),
    ),
    Kind("a forward of a picture", forward(attachments=[file(*PNG)]), "", (PNG,)),
    Kind(
        "a forward of components",
        forward(flags=V2, components=[text_display("It is 330 m.")]),
        "> #general, 2026-06-03:\n> It is 330 m.",
    ),
    Kind("a poll", message(poll=POLL), "Which database?\n- SQLite\n- PostgreSQL"),
    Kind(
        "a sticker",
        message(sticker_items=[{"id": "3", "name": "Wave", "format_type": 1}]),
        "",
    ),
    Kind(
        "a link with its preview",
        message("See https://example.org", embeds=[embed("link", title="A page", description="…")]),
        "See https://example.org",
    ),
    Kind(
        "a link with a rich preview",
        message("See https://example.org", embeds=[embed(title="A post", description="…")]),
        "See https://example.org",
    ),
    Kind("an app's embed", message(author=NEWS, embeds=[RELEASE]), RELEASE_TEXT, is_said=False),
    Kind(
        "an app's text with its embed",
        message("New:", author=NEWS, embeds=[RELEASE, embed("image", title="no")]),
        f"New:\n\n{RELEASE_TEXT}",
        is_said=False,
    ),
    Kind(
        "an app's components",
        message(
            author=NEWS,
            flags=V2,
            components=[
                text_display("# Release 2.0"),
                {
                    "type": 17,
                    "id": 2,
                    "accent_color": None,
                    "components": [
                        {
                            "type": 9,
                            "id": 3,
                            "components": [text_display(f"Ask <@{ADA['id']}>.")],
                            "accessory": BUTTON,
                        },
                        {"type": 14, "id": 4, "divider": True, "spacing": 1},
                        text_display("It is out."),
                    ],
                },
                {"type": 1, "id": 5, "components": [BUTTON]},
            ],
            mentions=[ADA],
        ),
        "# Release 2.0\n\nAsk @Ada.\n\nIt is out.",
        is_said=False,
    ),
    Kind(
        "an app's file component",
        message(
            author=NEWS,
            flags=V2,
            components=[
                {
                    "type": 13,
                    "id": 1,
                    "file": {"url": file("log.txt")["url"]},
                    "name": "log.txt",
                    "size": 10,
                    "spoiler": False,
                }
            ],
            attachments=[file("log.txt", "text/plain")],
        ),
        "",
        (("log.txt", "text/plain"),),
        is_said=False,
    ),
    Kind(
        "an answer to somebody's command",
        message("Done.", author=NEWS, type=20, webhook_id="9", application_id="9"),
        "Done.",
        is_said=False,
    ),
    Kind(
        "a feed's webhook",
        message("New post", author=PK_USER, webhook_id="40", application_id=None),
        "New post",
        is_said=False,
    ),
    Kind(
        "a person through a proxy",
        message(f"<@{ME}> why?", author=PK_USER, **PK),
        "why?",
        more=(("proxied", True), ("mentions_us", True)),
    ),
    Kind(
        "a reply through a proxy",
        message(
            "Why?",
            author=PK_USER,
            embeds=[embed(author={"name": "Bob ↩️"}, description="It is 330 m.")],
            **PK,
        ),
        "Why?\n\nBob ↩️\n\nIt is 330 m.",
    ),
    Kind("Footnote's own", message("It is 330 m.", author=FOOTNOTE), "It is 330 m.",
         is_said=False, more=(("is_ours", True),)),
    Kind("a person joins", message(type=7), "", is_said=False),
    Kind(
        "a poll's result",
        message(type=46, embeds=[embed("poll_result", fields=[{"name": "a", "value": "b"}])]),
        "",
        is_said=False,
    ),
    Kind(
        "a part that cannot be parsed",
        message("Why?", poll={"question": None}, embeds=[embed(title="no", fields=[{}])]),
        "Why?",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def rest() -> RestClient:
    """A client that knows the server, as after its data came from the gateway."""
    client = discord.Client(intents=discord.Intents.none())
    state = client._connection
    state.user = discord.ClientUser(state=state, data=own_user_json(WORLD.bot))  # type: ignore[arg-type]
    state._add_guild_from_data(guild_create_json(GUILD, WORLD, all_members=False))  # type: ignore[arg-type]
    return RestClient(client)


def read(rest: RestClient, raw: Json) -> DiscordMessage:
    return rest.parsed(raw, GUILD.id)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_message_is_read_whole(rest: RestClient, kind: Kind) -> None:
    said = read(rest, kind.raw)
    assert said.text == kind.read
    assert tuple((each.name, each.media_type) for each in said.attachments) == kind.files
    assert said.is_said == kind.is_said
    assert {name: getattr(said, name) for name, _ in kind.more} == dict(kind.more)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_message_is_read_the_same_as_the_target_of_a_reply(rest: RestClient, kind: Kind) -> None:
    target = kind.raw | {"id": "1514000000000000000"}
    answered = read(rest, reply(target, f"<@{ME}>")).answered
    assert answered is not None
    assert answered == read(rest, target)

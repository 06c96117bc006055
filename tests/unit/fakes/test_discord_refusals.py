"""The fake Discord refuses what the real one refuses, with its statuses and codes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.fakes.discord_errors import OPENAPI
from tests.fakes.discord_server import Channel, FakeDiscord, Guild, Interaction, User

Json = dict[str, Any]


@dataclass
class Site:
    """A fake with a client that holds its token; ``code`` is for refusals."""

    fake: FakeDiscord
    client: httpx.AsyncClient
    guild: Guild
    general: Channel
    ada: User

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return await self.client.request(
            method, self.fake.url + path, **({"json": body} if body is not None else {}), **more
        )

    async def code(self, method: str, path: str, body: Any = None) -> tuple[int, int]:
        answer = await self.call(method, path, body)
        return answer.status_code, answer.json().get("code", 0) if answer.content else 0

    async def post(self, body: Json, channel: Channel | None = None) -> httpx.Response:
        place = channel or self.general
        return await self.call("POST", f"/channels/{place.id}/messages", body)

    async def ask(self) -> Interaction:
        """/ask, registered and used; not yet responded to."""
        await self.call("PUT", f"/applications/{self.fake.app.id}/commands", [ASK])
        return self.fake.people.slash(self.ada, self.general, "ask", {"question": "Why?"})

    async def respond(self, asked: Interaction, body: Json) -> tuple[int, int]:
        return await self.code("POST", f"/interactions/{asked.id}/{asked.token}/callback", body)

    def hook(self, asked: Interaction, rest: str = "") -> str:
        return f"/webhooks/{self.fake.app.id}/{asked.token}{rest}"


QUESTION = {"type": 3, "name": "question", "description": "What to ask", "required": True}
OPTIONAL = QUESTION | {"name": "more", "required": False}
ASK: Json = {"type": 1, "name": "ask", "description": "Ask a question", "options": [QUESTION]}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    with FakeDiscord() as fake:
        guild = fake.guild("Reading room")
        general, ada = fake.text(guild, "general"), fake.member(guild, "Ada")
        headers = {"Authorization": f"Bot {fake.token}"}
        async with httpx.AsyncClient(headers=headers) as client:
            yield Site(fake, client, guild, general, ada)


def button(**more: Any) -> Json:
    return {"type": 2, "style": 1, "label": "Press", "custom_id": "press"} | more


def row(*buttons: Json) -> Json:
    return {"type": 1, "components": list(buttons)}


def embed(**more: Any) -> Json:
    return {"embeds": [more]}


def text(content: str, **more: Any) -> Json:
    return {"type": 10, "content": content} | more


def card(*parts: Json) -> Json:
    return {"type": 17, "components": list(parts)}


def v2(*components: Json) -> Json:
    return {"flags": 1 << 15, "components": list(components)}


FIELD = {"name": "n", "value": "v"}
FIVE_IN_A_ROW = [button(custom_id=str(n)) for n in range(5)]
FIVE = [row(button(custom_id=str(n))) for n in range(5)]
WRONG_MESSAGES: dict[str, tuple[Json, str]] = {
    "content over 2,000": ({"content": "x" * 2_001}, "content"),
    "nonce over 25": ({"content": "x", "nonce": "n" * 26}, "nonce"),
    "eleven embeds": ({"embeds": [{"title": "x"}] * 11}, "embeds"),
    "embed title over 256": (embed(title="x" * 257), "embeds/0/title"),
    "embed description over 4,096": (embed(description="x" * 4_097), "embeds/0/description"),
    "26 fields": (embed(fields=[FIELD] * 26), "embeds/0/fields"),
    "field name over 256": (
        embed(fields=[{"name": "n" * 257, "value": "v"}]),
        "embeds/0/fields/0/name",
    ),
    "field value over 1,024": (
        embed(fields=[{"name": "n", "value": "v" * 1_025}]),
        "embeds/0/fields/0/value",
    ),
    "empty field value": (
        embed(fields=[{"name": "n", "value": ""}]),
        "embeds/0/fields/0/value",
    ),
    "footer over 2,048": (embed(footer={"text": "x" * 2_049}), "embeds/0/footer/text"),
    "6,001 in all of the embeds": (
        {"embeds": [{"description": "x" * 4_000}, {"description": "x" * 2_001}]},
        "embeds",
    ),
    "embed url of no page": (embed(title="x", url="nowhere"), "embeds/0/url"),
    "six rows": (
        {"content": "x", "components": [*FIVE, row(button(custom_id="6"))]},
        "components",
    ),
    "six buttons in a row": (
        {"content": "x", "components": [row(*(button(custom_id=str(n)) for n in range(6)))]},
        "components/0/components",
    ),
    "a button outside a row": ({"content": "x", "components": [button()]}, "components/0/type"),
    "custom id over 100": (
        {"content": "x", "components": [row(button(custom_id="c" * 101))]},
        "components/0/components/0/custom_id",
    ),
    "custom id twice": (
        {"content": "x", "components": [row(button(), button())]},
        "components/0/components/1/custom_id",
    ),
    "label over 80": (
        {"content": "x", "components": [row(button(label="l" * 81))]},
        "components/0/components/0/label",
    ),
    "button without a custom id": (
        {"content": "x", "components": [row({"type": 2, "style": 1, "label": "x"})]},
        "components/0/components/0/custom_id",
    ),
    "link button without a link": (
        {"content": "x", "components": [row({"type": 2, "style": 5, "label": "x"})]},
        "components/0/components/0/url",
    ),
    "link button to a script": (
        {
            "content": "x",
            "components": [
                row({"type": 2, "style": 5, "label": "x", "url": "javascript:alert(1)"})
            ],
        },
        "components/0/components/0/url",
    ),
    "4,001 characters in one text": (v2(text("x" * 4_001)), "components/0/content"),
    "4,001 in all of the texts": (v2(text("x" * 2_000), card(text("x" * 2_001))), "components"),
    "an empty text": (v2(text("")), "components/0/content"),
    "41 components with those in a container": (
        v2(card(*[text("x")] * 39), row(button())),
        "components",
    ),
    "content beside components": (v2(text("x")) | {"content": "x"}, "content"),
    "embeds beside components": (v2(text("x")) | {"embeds": [{"title": "x"}]}, "embeds"),
    "stickers beside components": (v2(text("x")) | {"sticker_ids": ["1"]}, "sticker_ids"),
    "an id twice": (v2(text("x", id=7), card(text("y", id=7))), "components"),
    "a custom id twice, in a container": (
        v2(card(text("x"), row(button())), row(button())),
        "components/1/components/0/custom_id",
    ),
    "a container in a container": (v2(card(card(text("x")))), "components/0/components/0/type"),
    "an empty container": (v2(card()), "components/0/components"),
    "a button on its own": (v2(text("x"), button()), "components/1/type"),
    "a section without an accessory": (
        v2({"type": 9, "components": [text("x")]}),
        "components/0/accessory",
    ),
    "a file that is not attached": (
        v2({"type": 13, "file": {"url": "attachment://notes.md"}}),
        "components/0/file/url",
    ),
    "a text without the flag": ({"components": [text("x")]}, "components/0/type"),
    "mentions both parsed and listed": (
        {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
        "allowed_mentions",
    ),
    "reply to no message": (
        {"content": "x", "message_reference": {"message_id": "1"}},
        "message_reference",
    ),
}


def at(tree: Json, path: str) -> Any:
    for part in path.split("/"):
        tree = tree[part]
    return tree["_errors"]


@pytest.mark.parametrize(("body", "path"), WRONG_MESSAGES.values(), ids=WRONG_MESSAGES.keys())
async def test_a_message_beyond_the_limits(site: Site, body: Json, path: str) -> None:
    answer = await site.post(body)
    assert (answer.status_code, answer.json()["code"]) == (400, 50035)
    assert at(answer.json()["errors"], path)
    assert site.fake.visible(site.general) == []


async def test_a_message_at_the_limits_is_taken(site: Site) -> None:
    rows = [
        row(*(button(custom_id=f"{r}{n}".ljust(100, "c"), label="l" * 80) for n in range(5)))
        for r in range(5)
    ]
    whole = {
        "content": "x" * 2_000,
        "nonce": "n" * 25,
        "embeds": [{"title": "t" * 256, "description": "d" * 4_096, "fields": [FIELD] * 25,
                    "footer": {"text": "f" * (6_000 - 256 - 4_096 - 50)}}],
        "components": rows,
    }  # fmt: skip
    assert (await site.post(whole)).status_code == 200


async def test_components_at_the_limits_are_taken_and_notify_as_content_does(site: Site) -> None:
    mention = site.ada.mention
    whole = v2(
        text(mention + "x" * (4_000 - len(mention))), *[{"type": 14}] * 33, row(*FIVE_IN_A_ROW)
    )
    made = await site.post(whole)
    assert made.status_code == 200
    (seen,) = site.fake.visible(site.general)
    assert site.ada.id in seen.pings
    silent = await site.post(v2(text(mention)) | {"allowed_mentions": {"parse": []}})
    assert silent.status_code == 200
    assert len(site.fake.pings()) == 1


@pytest.mark.parametrize(
    ("emptied", "path"),
    [
        ({}, "content"),
        ({"content": None}, "embeds"),
        ({"content": None, "embeds": None}, "embeds"),
        ({"content": None, "embeds": []}, ""),
    ],
)
async def test_an_edit_that_sets_the_flag_empties_what_the_flag_forbids(
    site: Site, emptied: Json, path: str
) -> None:
    made = await site.post({"content": "x", "embeds": [{"title": "x"}]})
    place = f"/channels/{site.general.id}/messages/{made.json()['id']}"
    answer = await site.call("PATCH", place, v2(text("y")) | emptied)
    if path:
        assert at(answer.json()["errors"], path)
        return
    assert answer.json()["flags"] & 1 << 15
    # From now on the message has the flag, whatever an edit says.
    plain = await site.call("PATCH", place, {"content": "z", "flags": 0})
    assert at(plain.json()["errors"], "content")
    assert (await site.code("PATCH", place, {"components": []})) == (400, 50006)


@pytest.mark.shared
@pytest.mark.skipif(not OPENAPI.is_file(), reason="Discord's OpenAPI document is not there")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"content": "x", "embed": {"title": "x"}}, "embed"),
        ({"components": [row(button(customid="x"))]}, "components/0/components/0/customid"),
        ({"content": "x", "embeds": [{"titel": "x"}]}, "embeds/0/titel"),
        ({"content": 5}, "content"),
        ({"content": "x", "flags": "4"}, "flags"),
        ({"content": "x", "message_reference": {}}, "message_reference/message_id"),
    ],
)  # fmt: skip
async def test_a_body_that_the_schema_does_not_know(site: Site, body: Json, path: str) -> None:
    answer = await site.post(body)
    assert (answer.status_code, answer.json()["code"]) == (400, 50035)
    assert at(answer.json()["errors"], path)


async def test_requests_without_the_token_or_route(site: Site) -> None:
    site.client.headers["Authorization"] = "Bot wrong"
    assert await site.code("GET", "/users/@me") == (401, 0)
    assert await site.code("GET", "/nowhere") == (404, 0)


async def test_what_is_not_there(site: Site) -> None:
    channel = f"/channels/{site.general.id}"
    for method, path, code in [
        ("GET", "/channels/1", 10003),
        ("POST", "/channels/1/messages", 10003),
        ("GET", f"{channel}/messages/1", 10008),
        ("PATCH", f"{channel}/messages/1", 10008),
        ("DELETE", f"{channel}/messages/1", 10008),
        ("POST", f"{channel}/messages/1/threads", 10008),
        ("GET", "/guilds/1/roles", 10004),
        ("GET", f"/guilds/{site.guild.id}/members/1", 10013),
        ("POST", "/webhooks/1/token", 10015),
        ("POST", f"/webhooks/{site.fake.app.id}/token", 50027),
    ]:
        body = {"name": "x"} if path.endswith("threads") else {"content": "x"}
        status, told = await site.code(method, path, body if method in ("POST", "PATCH") else None)
        assert (status, told) == (401 if code == 50027 else 404, code), path


async def test_messages_that_cannot_be_sent_or_changed(site: Site) -> None:
    theirs = site.fake.people.say(site.ada, site.general, "mine")
    path = f"/channels/{site.general.id}/messages/{theirs.id}"
    assert (await site.post({"content": "  "})).json()["code"] == 50006
    assert await site.code("PATCH", path, {"content": "x"}) == (403, 50005)
    assert await site.code("DELETE", path) == (403, 50013)
    assert await site.code("PUT", f"{path}/reactions/thumbsup/@me") == (400, 10014)
    forum = site.fake.forum(site.guild, "ideas")
    assert (await site.post({"content": "x"}, forum)).json()["code"] == 50008
    closed = site.fake.user("Closed", accepts_direct=False)
    assert (await site.post({"content": "x"}, site.fake.direct(closed))).json()["code"] == 50007
    own = (await site.post({"content": "x"})).json()["id"]
    own_path = f"/channels/{site.general.id}/messages/{own}"
    assert await site.code("PATCH", own_path, {"content": ""}) == (400, 50006)


TEXT: Json = {"content": "x"}
REPLY: Json = TEXT | {"message_reference": {"message_id": "{m}"}}
THUMB = "%F0%9F%91%8D"
# What is lacking, and the request that is refused; {m} stands for a message.
LACKING: list[tuple[str, str, str, Json | None, int]] = [
    ("VIEW_CHANNEL", "POST", "/messages", TEXT, 50001),
    ("VIEW_CHANNEL", "GET", "", None, 50001),
    ("SEND_MESSAGES", "POST", "/messages", TEXT, 50013),
    ("SEND_MESSAGES", "POST", "/typing", None, 50013),
    ("EMBED_LINKS", "POST", "/messages", embed(title="x"), 50013),
    ("CREATE_PUBLIC_THREADS", "POST", "/messages/{m}/threads", {"name": "x"}, 50013),
    ("READ_MESSAGE_HISTORY", "GET", "/messages/{m}", None, 50013),
    ("READ_MESSAGE_HISTORY", "POST", "/messages", REPLY, 160002),
    ("ADD_REACTIONS", "PUT", f"/messages/{{m}}/reactions/{THUMB}/@me", None, 50013),
]


@pytest.mark.parametrize(("permission", "method", "path", "body", "code"), LACKING)
async def test_what_the_bot_may_not_do(
    site: Site, permission: str, method: str, path: str, body: Json | None, code: int
) -> None:
    async def attempt() -> tuple[int, int]:
        said = site.fake.people.say(site.ada, site.general, "hm")
        filled = json.loads(json.dumps(body).replace("{m}", said.id))
        place = f"/channels/{site.general.id}{path.replace('{m}', said.id)}"
        return await site.code(method, place, filled)

    assert (await attempt())[0] < 300
    site.fake.deny(site.general, permission)
    assert (await attempt())[1] == code


async def test_reading_without_the_history_permission_finds_nothing(site: Site) -> None:
    site.fake.people.say(site.ada, site.general, "hm")
    site.fake.deny(site.general, "READ_MESSAGE_HISTORY")
    assert (await site.call("GET", f"/channels/{site.general.id}/messages")).json() == []


async def test_threads_that_are_archived_locked_or_forbidden(site: Site) -> None:
    fake = site.fake
    thread = fake.people.start_thread(site.ada, site.general, "hers")
    own = (await site.post(TEXT, thread)).json()["id"]
    fake.deny(site.general, "SEND_MESSAGES_IN_THREADS")
    assert (await site.post(TEXT, thread)).json()["code"] == 50013
    fake.allow(site.general, "SEND_MESSAGES_IN_THREADS")
    fake.people.archive(thread)
    message = f"/channels/{thread.id}/messages/{own}"
    assert await site.code("PATCH", message, {"content": "y"}) == (400, 50083)
    assert await site.code("PATCH", f"/channels/{thread.id}", {"name": "z"}) == (400, 50083)
    assert await site.code("PATCH", f"/channels/{thread.id}", {"archived": False}) == (200, 0)
    assert await site.code("PATCH", f"/channels/{thread.id}", {"locked": True}) == (403, 50013)
    fake.people.archive(thread, locked=True)
    assert await site.code("PATCH", f"/channels/{thread.id}", {"archived": False}) == (400, 160005)
    assert (await site.post(TEXT, thread)).json()["code"] == 160005


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": "n" * 33}, "0/name"),
        ({"name": "Ask"}, "0/name"),
        ({"name": "two words"}, "0/name"),
        ({"description": ""}, "0/description"),
        ({"description": "d" * 101}, "0/description"),
        ({"options": [OPTIONAL, QUESTION]}, "0/options/1/required"),
        ({"options": [QUESTION, QUESTION]}, "0/options/1/name"),
        ({"type": 3, "options": []}, "0/description"),
    ],
)  # fmt: skip
async def test_commands_beyond_the_limits(site: Site, change: Json, path: str) -> None:
    answer = await site.call("PUT", f"/applications/{site.fake.app.id}/commands", [ASK | change])
    assert (answer.status_code, answer.json()["code"]) == (400, 50035)
    assert at(answer.json()["errors"], path)


@pytest.mark.parametrize("needed", [0, 1 << 5])
async def test_a_command_for_managers_is_offered_to_managers(site: Site, needed: int) -> None:
    command = ASK | {"default_member_permissions": needed}
    await site.call("PUT", f"/applications/{site.fake.app.id}/commands", [command])
    manager = site.fake.role(site.guild, "Manager", "MANAGE_GUILD")
    people = [site.fake.member(site.guild, "Max", manager), site.guild.owner, site.ada]
    for person, offered in zip(people, (needed != 0, True, False), strict=True):
        if offered:
            site.fake.people.slash(person, site.general, "ask", {"question": "x"})
        else:
            with pytest.raises(LookupError):
                site.fake.people.slash(person, site.general, "ask", {"question": "x"})


async def test_an_interaction_has_one_response_within_three_seconds(site: Site) -> None:
    asked = await site.ask()
    assert await site.code("POST", site.hook(asked), TEXT) == (404, 10015)
    assert await site.respond(asked, {"type": 7, "data": TEXT}) == (400, 50035)
    assert await site.respond(asked, {"type": 5}) == (204, 0)
    assert await site.respond(asked, {"type": 4, "data": TEXT}) == (400, 40060)
    late = await site.ask()
    site.fake.clock.advance(3.1)
    assert await site.respond(late, {"type": 5}) == (404, 10062)
    assert not late.acknowledged


async def test_an_interaction_token_lives_for_fifteen_minutes(site: Site) -> None:
    asked = await site.ask()
    await site.respond(asked, {"type": 5})
    assert site.fake.posts(site.general)[0].loading
    site.fake.clock.advance(14 * 60)
    original = site.hook(asked, "/messages/@original")
    assert await site.code("PATCH", original, TEXT) == (200, 0)
    assert not site.fake.posts(site.general)[0].loading
    site.fake.clock.advance(61)
    assert await site.code("PATCH", original, TEXT) == (401, 50027)
    assert await site.code("POST", site.hook(asked), TEXT) == (401, 50027)


async def test_ephemeral_messages_are_out_of_reach_of_the_channel(site: Site) -> None:
    asked = await site.ask()
    hidden = {"type": 4, "data": TEXT | {"flags": 64}}
    callback = f"/interactions/{asked.id}/{asked.token}/callback"
    answer = (await site.call("POST", f"{callback}?with_response=true", hidden)).json()
    message = answer["resource"]["message"]
    assert answer["interaction"]["response_message_ephemeral"] is True
    path = f"/channels/{site.general.id}/messages/{message['id']}"
    assert await site.code("GET", path) == (404, 10008)
    assert site.fake.visible(site.general) == []
    assert len(site.fake.visible(site.general, to=site.ada)) == 1
    assert await site.code("DELETE", site.hook(asked, "/messages/@original")) == (204, 0)
    assert site.fake.visible(site.general, to=site.ada) == []


async def test_rate_limits_are_told_in_headers_and_bodies(site: Site) -> None:
    site.fake.traffic.like_discord()
    answers = [await site.post({"content": str(n)}) for n in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert [answer.headers["X-RateLimit-Remaining"] for answer in answers] == [*"43210", "0"]
    limited = answers[-1]
    assert limited.json()["global"] is False
    assert 0 < limited.json()["retry_after"] <= 5
    assert limited.headers["X-RateLimit-Scope"] == "user"
    other = site.fake.text(site.guild, "other")
    assert (await site.post(TEXT, other)).status_code == 200
    site.fake.storm(1, 7.5, scope="global")
    stopped = await site.post(TEXT, other)
    assert stopped.json() == {"message": "You are being rate limited.", "retry_after": 7.5,
                              "global": True}  # fmt: skip
    assert (stopped.headers["X-RateLimit-Global"], stopped.headers["Retry-After"]) == ("true", "8")


async def test_more_requests_in_all_than_a_second_may_have_are_limited(site: Site) -> None:
    site.fake.traffic.global_limit = 3
    answers = await asyncio.gather(*(site.call("GET", "/users/@me") for _ in range(6)))
    limited = [answer for answer in answers if answer.status_code == 429]
    assert len(limited) == 3
    assert all(answer.json()["global"] for answer in limited)


# ---------------------------------------------------------------- forms and suggestions


def field(**more: Any) -> Json:
    return {"type": 4, "style": 2, "custom_id": "words"} | more


def labelled(component: Json, **more: Any) -> Json:
    return {"type": 18, "label": "In your words", "component": component} | more


def form(*parts: Json, **more: Any) -> Json:
    return {"custom_id": "form", "title": "A form", "components": list(parts)} | more


def radio(count: int) -> Json:
    options = [{"label": f"O{n}", "value": str(n)} for n in range(count)]
    return {"type": 21, "custom_id": "why", "options": options}


WORDS = labelled(field())
WRONG_FORMS: dict[str, tuple[Json, str]] = {
    "title over 45": (form(WORDS, title="t" * 46), "title"),
    "custom id over 100": (form(WORDS, custom_id="c" * 101), "custom_id"),
    "no parts": (form(), "components"),
    "six parts": (form(*[labelled(field(custom_id=str(n))) for n in range(6)]), "components"),
    "label over 45": (form(labelled(field(), label="l" * 46)), "components/0/label"),
    "an input in a row": (form(row(field(label="l"))), "components/0/type"),
    "an input for 4,001": (
        form(labelled(field(max_length=4_001))),
        "components/0/component/max_length",
    ),
    "a custom id twice": (form(WORDS, WORDS), "components/1/component/custom_id"),
    "one option": (form(labelled(radio(1))), "components/0/component/options"),
    "eleven options": (form(labelled(radio(11))), "components/0/component/options"),
    "eleven files": (
        form(labelled({"type": 19, "custom_id": "files", "max_values": 11})),
        "components/0/component/max_values",
    ),
}


@pytest.mark.parametrize(("body", "path"), WRONG_FORMS.values(), ids=WRONG_FORMS.keys())
async def test_a_form_beyond_the_limits(site: Site, body: Json, path: str) -> None:
    asked = await site.ask()
    place = f"/interactions/{asked.id}/{asked.token}/callback"
    answer = await site.call("POST", place, {"type": 9, "data": body})
    assert (answer.status_code, answer.json()["code"]) == (400, 50035)
    assert at(answer.json()["errors"]["data"], path)


async def test_a_form_is_sent_once_as_a_client_would(site: Site) -> None:
    asked = await site.ask()
    with pytest.raises(LookupError):
        site.fake.people.submit(asked, {})
    optional = labelled(field(custom_id="more", required=False))
    short = labelled(field(max_length=3))
    assert await site.respond(asked, {"type": 9, "data": form(short, optional)}) == (204, 0)
    assert await site.respond(asked, {"type": 5}) == (400, 40060)
    for wrong in ({}, {"words": "four"}, {"words": "two", "else": "x"}):
        with pytest.raises(ValueError, match=r"words|else"):
            site.fake.people.submit(asked, wrong)
    sent = site.fake.people.submit(asked, {"words": "two"})
    # A form cannot open a form, and there is no message that it could leave unchanged.
    for kind in (9, 6):
        body: Json = {"type": kind} | ({"data": form(WORDS)} if kind == 9 else {})
        assert await site.respond(sent, body) == (400, 50035)
    assert await site.respond(sent, {"type": 5}) == (204, 0)


async def test_suggestions_are_few_and_in_time(site: Site) -> None:
    suggesting = OPTIONAL | {"name": "id", "autocomplete": True}
    bad = ASK | {"options": [suggesting | {"choices": [{"name": "x", "value": "x"}]}]}
    answer = await site.call("PUT", f"/applications/{site.fake.app.id}/commands", [bad])
    assert at(answer.json()["errors"], "0/options/0/autocomplete")
    good = ASK | {"options": [suggesting, OPTIONAL]}
    await site.call("PUT", f"/applications/{site.fake.app.id}/commands", [good])
    people = site.fake.people
    with pytest.raises(LookupError):
        people.type_in(site.ada, site.general, "ask", {"more": "x"})
    typed = people.type_in(site.ada, site.general, "ask", {"id": "x"})
    assert await site.respond(typed, {"type": 5}) == (400, 50035)
    for name, count in (("x", 26), ("x" * 101, 1)):
        choices = [{"name": name, "value": str(n)} for n in range(count)]
        told = await site.respond(typed, {"type": 8, "data": {"choices": choices}})
        assert told == (400, 50035)
    site.fake.clock.advance(4)
    assert await site.respond(typed, {"type": 8, "data": {"choices": []}}) == (404, 10062)

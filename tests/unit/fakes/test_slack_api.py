"""The fake's Web API refuses what Slack's does, with Slack's own words."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack import FakeSlack
from tests.fakes.slack_api import UNNAMED
from tests.fakes.slack_call import SCHEMA, faults_in_blocks, known_arguments
from tests.fakes.slack_limits import RULES, UNLIMITED
from tests.fakes.slack_stage import (
    ADA,
    ELSEWHERE,
    GENERAL,
    SECRET,
    call,
    client_of,
    furnished,
    refusal,
)
from tests.fakes.slack_workspace import Json


def plain_text(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def section(text: str) -> Json:
    return {"type": "section", "text": mrkdwn(text)}


def button(**changes: Any) -> Json:
    return {"type": "button", "text": plain_text("Go"), "action_id": "go", **changes}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def table(*rows: list[str]) -> Json:
    return {
        "type": "table",
        "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in rows],
    }


def context_actions(*elements: Json) -> Json:
    return {"type": "context_actions", "elements": list(elements)}


def trash(**changes: Any) -> Json:
    return {
        "type": "icon_button",
        "icon": "trash",
        "text": plain_text("x"),
        "action_id": "t",
    } | changes


def thumbs(**changes: Any) -> Json:
    half = {"text": plain_text("+"), "value": "yes"}
    both = {"positive_button": half, "negative_button": half}
    return {"type": "feedback_buttons", "action_id": "f", **both, **changes}


def markdown(text: str) -> Json:
    return {"type": "markdown", "text": text}


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with furnished() as fake:
        yield fake


@pytest.mark.parametrize("method", sorted(set(RULES) - set(UNNAMED)))
def test_argument_names_are_those_of_the_sdk(method: str) -> None:
    function = getattr(AsyncWebClient, method.replace(".", "_"))
    assert set(known_arguments(method)) == set(inspect.signature(function).parameters) - {
        "self",
        "kwargs",
        "app_token",
    }


@pytest.mark.parametrize(
    ("token", "method", "error"),
    [
        ("", "auth.test", "not_authed"),
        ("xoxb-unknown", "auth.test", "invalid_auth"),
        (FakeSlack.app_token, "chat.postMessage", "not_allowed_token_type"),
        (FakeSlack.bot_token, "apps.connections.open", "not_allowed_token_type"),
    ],
)
async def test_tokens_are_checked(slack: FakeSlack, token: str, method: str, error: str) -> None:
    reply = await refusal(client_of(slack, token).api_call(method))
    assert reply["error"] == error


async def test_a_revoked_token_opens_nothing(slack: FakeSlack) -> None:
    slack.revoke("account_inactive")
    assert (await refusal(call(slack, "auth.test")))["error"] == "account_inactive"


@pytest.mark.parametrize(
    ("method", "args", "scope"),
    [
        ("chat.postMessage", {"channel": GENERAL, "text": "x"}, "chat:write"),
        ("conversations.history", {"channel": GENERAL}, "channels:history"),
        ("conversations.history", {"channel": SECRET}, "groups:history"),
        ("users.info", {"user": ADA}, "users:read"),
        (
            "chat.postMessage",
            {"channel": GENERAL, "text": "x", "username": "me"},
            "chat:write.customize",
        ),
    ],
)
async def test_a_missing_scope_is_named(
    slack: FakeSlack, method: str, args: Json, scope: str
) -> None:
    await call(slack, method, **args)
    slack.without_scopes(scope)
    reply = await refusal(call(slack, method, **args))
    assert (reply["error"], reply["needed"]) == ("missing_scope", scope)
    assert scope not in reply["provided"].split(",")


OTHERS = {"channel": GENERAL}
REFUSED: list[tuple[str, Json, str]] = [
    ("chat.shout", {"channel": GENERAL}, "unknown_method"),
    ("chat.postMessage", {**OTHERS, "text": "x", "colour": "red"}, "invalid_arg_name"),
    ("chat.postMessage", {"text": "x"}, "invalid_arguments"),
    ("chat.postMessage", {**OTHERS, "text": 5}, "invalid_arguments"),
    ("chat.postMessage", {"channel": "C404", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": ELSEWHERE, "text": "x"}, "not_in_channel"),
    ("chat.postMessage", {**OTHERS, "text": " "}, "no_text"),
    ("chat.postMessage", {**OTHERS, "text": "x" * 40_001}, "msg_too_long"),
    ("chat.postMessage", {**OTHERS, "text": "x", "thread_ts": "1"}, "invalid_thread_ts"),
    (
        "chat.postMessage",
        {**OTHERS, "text": "x", "thread_ts": "1700000000.000100"},
        "thread_not_found",
    ),
    ("chat.postMessage", {**OTHERS, "text": "x", "blocks": "[{"}, "invalid_blocks_format"),
    ("chat.postMessage", {**OTHERS, "text": "x", "blocks": {}}, "invalid_blocks_format"),
    ("chat.postMessage", {**OTHERS, "text": "x", "metadata": "no"}, "invalid_metadata_format"),
    (
        "chat.postMessage",
        {**OTHERS, "text": "x", "metadata": {"event_type": "a"}},
        "invalid_metadata_format",
    ),
    (
        "chat.postMessage",
        {**OTHERS, "text": "x", "metadata": {"event_type": "a", "event_payload": {}, "b": 1}},
        "invalid_metadata_schema",
    ),
    (
        "chat.postMessage",
        {
            **OTHERS,
            "text": "x",
            "metadata": {"event_type": "a", "event_payload": {"b": "c" * 8_000}},
        },
        "metadata_too_large",
    ),
    ("chat.update", {**OTHERS, "ts": "1700000000.000100", "text": "x"}, "message_not_found"),
    ("chat.delete", {**OTHERS, "ts": "1700000000.000100"}, "message_not_found"),
    ("chat.postEphemeral", {**OTHERS, "text": "x", "user": "U404"}, "user_not_in_channel"),
    ("chat.getPermalink", {**OTHERS, "message_ts": "1700000000.000100"}, "unknown_method"),
    ("conversations.replies", {**OTHERS, "ts": "1700000000.000100"}, "thread_not_found"),
    ("conversations.history", {"channel": ELSEWHERE}, "not_in_channel"),
    ("conversations.history", {**OTHERS, "cursor": "?"}, "invalid_cursor"),
    ("conversations.history", {**OTHERS, "limit": 1_001}, "invalid_limit"),
    ("users.info", {"user": "U404"}, "user_not_found"),
    ("users.info", {"user": [ADA]}, "invalid_arguments"),
    ("conversations.history", {**OTHERS, "oldest": "soon"}, "invalid_ts_oldest"),
    ("views.publish", {"user_id": ADA, "view": {"type": "modal"}}, "invalid_arguments"),
    ("views.open", {"trigger_id": "1.2", "view": {"type": "modal"}}, "invalid_trigger_id"),
    (
        "agents.sessions.setStatus",
        {"channel_id": GENERAL, "status": "processing"},
        "thread_ts_required",
    ),
    (
        "agents.sessions.setStatus",
        {"channel_id": GENERAL, "status": "busy", "thread_ts": "1.2"},
        "invalid_status",
    ),
    (
        "assistant.threads.setSuggestedPrompts",
        {"channel_id": "D1ADA", "prompts": [{"title": "a", "message": "b"}] * 5},
        "invalid_arguments",
    ),
]


@pytest.mark.parametrize(("method", "args", "error"), REFUSED)
async def test_a_call_that_slack_refuses_is_refused(
    slack: FakeSlack, method: str, args: Json, error: str
) -> None:
    reply = await refusal(call(slack, method, **args))
    assert reply["error"] == error
    assert slack.messages(GENERAL) == []
    assert slack.calls(method)[-1].error == error


BAD_BLOCKS: dict[str, list[Json]] = {
    "unknown type": [{"type": "carpet"}],
    "no type": [{"text": "x"}],
    "51 blocks": [{"type": "divider"}] * 51,
    "long section": [section("x" * 3_001)],
    "long field": [{"type": "section", "fields": [mrkdwn("x" * 2_001)]}],
    "empty text": [section("")],
    "section without text": [{"type": "section"}],
    "extra property": [{**section("x"), "colour": "red"}],
    "long header": [{"type": "header", "text": plain_text("x" * 151)}],
    "mrkdwn header": [{"type": "header", "text": mrkdwn("x")}],
    "long button": [actions(button(text=plain_text("x" * 76)))],
    "long value": [actions(button(value="x" * 2_001))],
    "long action": [actions(button(action_id="x" * 256))],
    "script link": [actions(button(url="javascript:alert(1)"))],
    "same action twice": [actions(button(), button())],
    "no actions": [actions()],
    "26 actions": [actions(*(button(action_id=f"a{n}") for n in range(26)))],
    "11 in a context": [{"type": "context", "elements": [mrkdwn("x")] * 11}],
    "long markdown in all": [markdown("x" * 6_001), markdown("y" * 6_000)],
    "same block twice": [{**section("x"), "block_id": "a"}, {**section("y"), "block_id": "a"}],
    "long block id": [{**section("x"), "block_id": "a" * 256}],
    "101 rows": [table(*[["x"]] * 101)],
    "21 columns": [table(["x"] * 21)],
    "no cells": [table([])],
    "an empty cell": [table(["x", ""])],
    "a cell without elements": [
        {"type": "table", "rows": [[{"type": "rich_text", "elements": []}]]}
    ],
    "long cells": [table(["x" * 5_001, "y" * 5_000])],
    "two tables": [table(["x"]), table(["y"])],
    "no context actions": [context_actions()],
    "6 context actions": [context_actions(*(trash(action_id=f"a{n}") for n in range(6)))],
    "a button in context actions": [context_actions(button())],
    "thumbs without values": [context_actions(thumbs(negative_button={"text": plain_text("-")}))],
    "thumbs without an action": [context_actions(thumbs(action_id=""))],
    "another icon": [context_actions(trash(icon="bin"))],
    "11 viewers": [context_actions(trash(visible_to_user_ids=["U1"] * 11))],
    "an app as viewer": [context_actions(trash(visible_to_user_ids=["B1"]))],
    "long question": [context_actions(trash(confirm={"text": plain_text("x" * 301)}))],
    "long agreement": [
        context_actions(trash(confirm={"text": plain_text("x"), "confirm": plain_text("x" * 31)}))
    ],
}


# Only the published schema, which is in the shared data, knows these.
JUDGED_BY_SCHEMA = ("extra property", "mrkdwn header")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.shared if case in JUDGED_BY_SCHEMA else ())
        for case in BAD_BLOCKS
    ],
)
async def test_blocks_are_judged(slack: FakeSlack, case: str) -> None:
    blocks = BAD_BLOCKS[case]
    reply = await refusal(call(slack, "chat.postMessage", channel=GENERAL, text="x", blocks=blocks))
    assert reply["error"] == "invalid_blocks"
    assert reply["response_metadata"]["messages"][0].startswith("[ERROR] ")


def test_context_actions_are_taken() -> None:
    assert faults_in_blocks([context_actions(thumbs(), trash(visible_to_user_ids=["U1"]))]) == []


def test_a_table_at_its_limits_is_taken() -> None:
    assert faults_in_blocks([table(*[["x" * 5] * 20] * 100)]) == []


@pytest.mark.shared
def test_the_published_schema_is_one_of_the_judges() -> None:
    assert SCHEMA.exists()
    # slack_sdk's models let an unknown button style of a section's accessory pass
    assert faults_in_blocks([{**section("x"), "accessory": button(style="loud")}])


@pytest.mark.parametrize(
    ("kind", "view", "named"),
    [
        ("home", {"blocks": []}, "/view]"),
        ("home", {"blocks": [markdown("x")]}, "/view/blocks/0/type"),
        ("home", {"blocks": [section("x")] * 101}, "/view/blocks"),
        ("home", {"blocks": [section("x")], "submit": plain_text("x")}, "/view"),
        ("home", {"blocks": [section("x")], "colour": "red"}, "/view/colour"),
        ("modal", {"blocks": [section("x")]}, "/view/title"),
        ("modal", {"blocks": [section("x")], "title": plain_text("x" * 25)}, "/view"),
    ],
)
async def test_views_are_judged(slack: FakeSlack, kind: str, view: Json, named: str) -> None:
    view = {"type": kind, **view}
    if kind == "home":
        reply = await refusal(call(slack, "views.publish", user_id=ADA, view=view))
    else:
        trigger = slack.command(ADA, GENERAL, "/ask").trigger_id
        reply = await refusal(call(slack, "views.open", trigger_id=trigger, view=view))
    assert reply["error"] == "invalid_arguments"
    assert any(f"[json-pointer:{named}" in m for m in reply["response_metadata"]["messages"])


async def test_a_trigger_works_once_and_soon(slack: FakeSlack) -> None:
    view = {"type": "modal", "title": plain_text("T"), "blocks": [section("x")]}
    first = slack.command(ADA, GENERAL, "/ask").trigger_id
    await call(slack, "views.open", trigger_id=first, view=view)
    again = await refusal(call(slack, "views.open", trigger_id=first, view=view))
    assert again["error"] == "exchanged_trigger_id"
    late = slack.command(ADA, GENERAL, "/ask").trigger_id
    slack.advance(4)
    reply = await refusal(call(slack, "views.open", trigger_id=late, view=view))
    assert reply["error"] == "expired_trigger_id"


async def test_messages_are_posted_changed_and_removed_as_slack_does(slack: FakeSlack) -> None:
    said = slack.say(ADA, GENERAL, "hello")
    client = client_of(slack)
    metadata = {"event_type": "run", "event_payload": {"id": "7"}}
    posted = await client.chat_postMessage(
        channel=GENERAL, thread_ts=said.ts, text="one", blocks=[section("one")], metadata=metadata
    )
    ts = posted["ts"]
    await client.chat_update(channel=GENERAL, ts=ts, text="two", blocks=[section("two")])
    [_, message] = slack.messages(GENERAL, said.ts)
    assert (message.seen, message.edited, message.metadata) == ("two", False, metadata)
    await client.chat_update(channel=GENERAL, ts=ts, text="three", metadata={})
    [_, message] = slack.messages(GENERAL, said.ts)
    assert (message.seen, message.edited, message.metadata) == ("three", True, None)
    for method, error in (("update", "cant_update_message"), ("delete", "cant_delete_message")):
        args = {"channel": GENERAL, "ts": said.ts}
        text = {"text": "mine now"} if method == "update" else {}
        assert (await refusal(call(slack, f"chat.{method}", **args, **text)))["error"] == error
    long = call(slack, "chat.update", channel=GENERAL, ts=ts, text="x" * 4_001)
    assert (await refusal(long))["error"] == "msg_too_long"
    await client.chat_delete(channel=GENERAL, ts=ts)
    assert [one.text for one in slack.messages(GENERAL, said.ts)] == ["hello"]


async def test_a_fault_of_the_fake_itself_does_not_go_unnoticed() -> None:
    async def broken() -> None:
        with furnished() as slack:
            slack.workspace.channels[GENERAL].members = None  # type: ignore[assignment]
            headers = {"Authorization": f"Bearer {slack.bot_token}"}
            data = {"channel": GENERAL, "text": "x"}
            async with aiohttp.ClientSession(headers=headers) as session:
                answer = await session.post(f"{slack.api_url}chat.postMessage", data=data)
                assert answer.status == 500

    with pytest.raises(AssertionError, match="itself failed"):
        await broken()


async def test_private_files_need_the_bearer_token(slack: FakeSlack) -> None:
    file = slack.add_file(ADA, "notes.md", b"# Notes", "text/markdown")
    url = file.json(slack.base)["url_private_download"]
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {slack.bot_token}"}
        async with session.get(url, headers=headers) as answer:
            assert await answer.read() == b"# Notes"
        async with session.get(url) as answer:
            assert answer.content_type == "text/html"


async def test_sessions_need_an_agent_and_warn_without_a_stop_event(slack: FakeSlack) -> None:
    said = slack.say(ADA, GENERAL, "hello")
    place = {"channel_id": GENERAL, "thread_ts": said.ts}
    status = call(slack, "agents.sessions.setStatus", **place, status="processing", title="T")
    assert "warning" not in await status
    session = slack.session(GENERAL, said.ts)
    assert session is not None
    assert (session.status, session.title) == ("processing", "T")
    manifest = {
        "display_information": {"name": "F"},
        "features": {"bot_user": {"display_name": "f"}},
        "oauth_config": {"scopes": {"bot": ["chat:write"]}},
    }
    with furnished(manifest) as plain:
        said = plain.say(ADA, GENERAL, "hello")
        args = {"channel_id": GENERAL, "thread_ts": said.ts, "status": "processing"}
        reply = await refusal(call(plain, "agents.sessions.setStatus", **args))
        assert reply["error"] == "feature_disabled"
    agent = {**manifest, "features": {**manifest["features"], "agent_view": {}}}  # type: ignore[dict-item]
    with furnished(agent) as agentic:
        said = agentic.say(ADA, GENERAL, "hello")
        args = {"channel_id": GENERAL, "thread_ts": said.ts, "status": "processing"}
        done = await call(agentic, "agents.sessions.setStatus", **args)
        assert done["warning"] == "missing_agent_session_stopped_event_subscription"


async def test_rates_are_limited_by_the_minute(slack: FakeSlack) -> None:
    for _ in range(50):
        await call(slack, "conversations.history", channel=GENERAL)
    async with aiohttp.ClientSession() as session:
        url = f"{slack.api_url}conversations.history"
        headers = {"Authorization": f"Bearer {slack.bot_token}"}
        async with session.post(url, data={"channel": GENERAL}, headers=headers) as answer:
            assert answer.status == 429
            assert 1 <= int(answer.headers["Retry-After"]) <= 60
            assert await answer.json() == {"ok": False, "error": "ratelimited"}
    slack.advance(60)
    await call(slack, "conversations.history", channel=GENERAL)


async def test_posts_are_limited_by_channel() -> None:
    with furnished(rate_limits={"chat.postMessage": 1}) as slack:
        await call(slack, "chat.postMessage", channel=GENERAL, text="x")
        await call(slack, "chat.postMessage", channel=SECRET, text="x")
        reply = await refusal(call(slack, "chat.postMessage", channel=GENERAL, text="x"))
        assert reply["error"] == "ratelimited"
    with furnished(rate_limits=UNLIMITED) as slack:
        for _ in range(70):
            await call(slack, "chat.postMessage", channel=GENERAL, text="x")


async def test_outsiders_read_one_page_of_15_a_minute(slack: FakeSlack) -> None:
    root = slack.say(ADA, GENERAL, "root").ts
    for _ in range(20):
        slack.say(ADA, GENERAL, "reply", root)
    slack.restrict_reading()
    page = await client_of(slack).conversations_replies(channel=GENERAL, ts=root, limit=200)
    assert len(page["messages"]) == 16
    reply = await refusal(call(slack, "conversations.replies", channel=GENERAL, ts=root))
    assert reply["error"] == "ratelimited"


@pytest.mark.parametrize(
    ("body", "error"), [("{", "invalid_json"), (json.dumps([1]), "json_not_object")]
)
async def test_bodies_are_json_objects(slack: FakeSlack, body: str, error: str) -> None:
    headers = {"Authorization": f"Bearer {slack.bot_token}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session:
        url = f"{slack.api_url}chat.postMessage"
        async with session.post(url, data=body, headers=headers) as answer:
            assert (await answer.json())["error"] == error


@pytest.mark.parametrize("mark", ["<!channel>", "<!here>", "<@U1ADA>", "<!subteam^S1|team>"])
async def test_what_could_ping_is_found_wherever_it_stands(slack: FakeSlack, mark: str) -> None:
    rich = {"type": "user", "user_id": ADA}
    contents: list[list[Json]] = [
        [section(f"a {mark} b")],
        [markdown(f"`{mark}`")],
        [{"type": "context", "elements": [mrkdwn(mark)]}],
        [
            {
                "type": "rich_text",
                "elements": [{"type": "rich_text_section", "elements": [rich]}],
            }
        ],
    ]
    for blocks in contents:
        await call(slack, "chat.postMessage", channel=GENERAL, text="x", blocks=blocks)
        assert slack.messages(GENERAL)[-1].pings
    await call(slack, "chat.postMessage", channel=GENERAL, text=mark)
    assert slack.messages(GENERAL)[-1].pings == [mark]
    await call(slack, "chat.postMessage", channel=GENERAL, text="&lt;!channel&gt; @here")
    assert slack.messages(GENERAL)[-1].pings == []

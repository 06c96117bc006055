"""Slack as it is served: both doors, start-up, reconnecting, ending."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette

from adapters.slack import format as controls
from adapters.slack.platform import PATH, open_slack
from bot.core.errors import CredentialsRefused
from bot.storage.store import open_store
from bot.storage.workspaces import Workspaces
from tests.fakes.egress_proxy import egress_proxy
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import signed_headers
from tests.fakes.slack_screen import Shown, plain
from tests.unit.adapters.slack.serving import Served, open_door, served, slack_settings

SECRET = FakeSlack.signing_secret


# ---------------------------------------------------------------- signed HTTP


@pytest.fixture
async def http_bot(slack: FakeSlack, tmp_path: Path) -> AsyncIterator[Served]:
    """Only signed HTTP."""
    async with (
        served(slack, tmp_path, slack_app_token=None, slack_signing_secret=SECRET) as bot,
        open_door(bot) as address,
    ):
        slack.deliver_to(address)
        yield bot


async def test_events_arrive_by_signed_http(http_bot: Served, slack: FakeSlack) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    assert [one.text for one in await http_bot.questions(1)] == ["how tall is it?"]
    assert {delivery.attempts[0].status for delivery in said.deliveries} == {200}
    assert slack.calls("apps.connections.open") == []


async def test_calls_and_events_come_through_the_proxy(
    slack: FakeSlack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    port = urlsplit(slack.api_url).port or 0
    async with egress_proxy("honest", port, "hunter2") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url_with_password)
        async with served(slack, tmp_path) as bot:
            await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
            assert [one.text for one in await bot.questions(1)] == ["how tall is it?"]
    asked = {urlsplit(each.split(" ")[1]).path for each in proxy.asked}
    assert {"/api/auth.test", "/api/apps.connections.open"} < asked
    assert any(not path.startswith("/api/") for path in asked)  # the WebSocket


@pytest.mark.parametrize(
    "question", ["how tall is it?", "what is a payload?", "payload=x & y", "100% sure? äöü 中文"]
)
async def test_commands_arrive_by_signed_http(
    http_bot: Served, slack: FakeSlack, question: str
) -> None:
    doing = await slack.command("U1", "C1", "/ask", question).acknowledged()
    assert doing.deliveries[0].replies[0]["text"].startswith("On it: ")
    assert [one.text for one in await http_bot.questions(1)] == [question]


async def test_what_could_not_be_kept_is_answered_with_an_error(
    http_bot: Served, slack: FakeSlack
) -> None:
    http_bot.reception.failures = 1
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    message = next(one for one in said.deliveries if one.event["type"] == "message")
    assert [attempt.status for attempt in message.attempts] == [500, 200]
    assert len(await http_bot.questions(1)) == 1


async def test_the_address_is_verified(http_bot: Served) -> None:
    async with open_door(http_bot) as address, httpx.AsyncClient() as client:
        body = '{"type": "url_verification", "challenge": "c123", "token": "t"}'
        headers = signed_headers(SECRET, body, "application/json")
        answer = await client.post(address, content=body, headers=headers)
        assert (answer.status_code, answer.json()) == (200, {"challenge": "c123"})


@pytest.mark.parametrize(
    ("secret", "age"), [("another-secret", 0.0), (SECRET, 600.0)], ids=["forged", "replayed"]
)
async def test_what_slack_did_not_sign_now_is_refused(
    http_bot: Served, slack: FakeSlack, secret: str, age: float
) -> None:
    async with open_door(http_bot) as address:
        said = slack.say("U1", "C1", f"{slack.mention} how tall is it?")
        await said.acknowledged()
        payload = {**said.deliveries[1].payload}
        payload["event"] = {**payload["event"], "ts": "1.000001", "text": "<@U0FOOTBOT> forged"}
        forged = await asyncio.to_thread(
            slack.deliver_http, address, payload, secret=secret, age=age
        )
        assert [attempt.status for attempt in forged.attempts] == [401]
        assert "forged" not in [row["text"] for row in await http_bot.rows("messages")]


DEEP = "[" * 100_000
FORM = "application/x-www-form-urlencoded"


UNREAD = (DEEP, "{", "payload=" + DEEP, "\udc80", "x" * 100_000, "")
UNSIGNED = (
    {"X-Slack-Signature": "v0=" + "0" * 64},
    {"X-Slack-Signature": ""},
    {"X-Slack-Signature": "v0=é"},
    {"X-Slack-Request-Timestamp": "now"},
    {"X-Slack-Request-Timestamp": ""},
    {"X-Slack-Request-Timestamp": "٣"},
    {"X-Slack-Request-Timestamp": "-1"},
    {"X-Slack-Request-Timestamp": "9" * 5_000},
)


async def test_nothing_unsigned_is_read(http_bot: Served) -> None:
    async with open_door(http_bot) as address, httpx.AsyncClient() as client:
        for body in UNREAD:
            content = body.encode("utf-8", "surrogateescape")
            kind = FORM if body.startswith("payload") else "application/json"
            signed = signed_headers(SECRET, content.decode("utf-8", "replace"), kind)
            for changed in UNSIGNED:
                headers = {
                    name.encode(): value.encode() for name, value in (signed | changed).items()
                }
                answer = await client.post(address, content=content, headers=headers)
                assert answer.status_code == 401, (body[:20], changed)


@pytest.mark.parametrize("body", [DEEP, '{"a":' * 50_000, "{", "payload=" + DEEP])
async def test_what_is_signed_and_cannot_be_read_is_not_delivered_again(
    http_bot: Served, body: str
) -> None:
    kind = FORM if body.startswith("payload") else "application/json"
    async with open_door(http_bot) as address, httpx.AsyncClient() as client:
        headers = signed_headers(SECRET, body, kind)
        assert (await client.post(address, content=body, headers=headers)).status_code in (200, 404)


async def test_slack_may_look_at_the_certificate(http_bot: Served) -> None:
    async with open_door(http_bot) as address, httpx.AsyncClient() as client:
        headers = {"Content-Type": FORM}
        answer = await client.post(address, content="ssl_check=1&token=x", headers=headers)
        assert (answer.status_code, answer.text) == (200, "")


async def test_a_body_that_is_too_large_is_not_read(http_bot: Served) -> None:
    async with open_door(http_bot) as address, httpx.AsyncClient() as client:
        body = "x" * 1_000_001
        answer = await client.post(
            address, content=body, headers=signed_headers(SECRET, body, "text/plain")
        )
        assert answer.status_code == 413

        async def endless() -> AsyncIterator[bytes]:
            yield b"x"

        answer = await client.post(address, content=endless())
        assert answer.status_code == 413


async def test_events_before_the_start_are_to_come_again(slack: FakeSlack, tmp_path: Path) -> None:
    settings = slack_settings(slack, tmp_path, slack_signing_secret=SECRET)
    store = await open_store(settings.database)
    async with open_slack(settings, Workspaces(store.database)) as platform:
        app = httpx.ASGITransport(Starlette(routes=list(platform.routes)))
        async with httpx.AsyncClient(transport=app, base_url="http://app") as client:
            assert (await client.post(PATH, content="{}")).status_code == 503
    await store.close()


async def test_without_a_signing_secret_there_is_no_door(bot: Served) -> None:
    assert bot.platform.routes == []


# ---------------------------------------------------------------- starting


@pytest.mark.parametrize(
    ("setting", "variable"),
    [("slack_bot_token", "SLACK_BOT_TOKEN"), ("slack_app_token", "SLACK_APP_TOKEN")],
)
async def test_a_wrong_token_is_named(
    slack: FakeSlack, tmp_path: Path, setting: str, variable: str
) -> None:
    wrong: dict[str, Any] = {setting: "xoxb-wrong"}
    with pytest.raises(CredentialsRefused, match=f"{variable} .invalid_auth"):
        async with served(slack, tmp_path, **wrong):
            pass


@pytest.mark.parametrize("how", ["reset", "503"])
async def test_a_slack_that_is_away_is_waited_for(
    slack: FakeSlack, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.calls.FIRST_PAUSE", 0.02)
    slack.down(how)

    async def come_back() -> None:
        await asyncio.sleep(0.3)
        slack.up()

    back = asyncio.create_task(come_back())
    async with served(slack, tmp_path) as bot:
        assert back.done()
        await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
        await bot.questions(1)


# ---------------------------------------------------------------- connections


async def test_a_connection_is_made_anew_after_an_outage(
    bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.calls.FIRST_PAUSE", 0.05)
    slack.down("503")
    await asyncio.to_thread(slack.cut_sockets)
    await asyncio.sleep(1.0)
    slack.up()
    await slack.say("U1", "C1", f"{slack.mention} how tall is it?").acknowledged()
    await bot.questions(1)


async def test_what_is_being_taken_in_at_the_end_is_still_kept(
    slack: FakeSlack, tmp_path: Path
) -> None:
    slack.slow(0.2, "users.info")  # holds the first event up
    async with served(slack, tmp_path) as bot:
        said = slack.say("U1", "C1", f"{slack.mention} how tall is it?")
        await slack.until(lambda: slack.sockets.links[0].waiting)
        await asyncio.sleep(0.05)
        assert not said.deliveries[1].acked
        bot.running.cancel()
        await asyncio.gather(bot.running, return_exceptions=True)
        assert [row["text"] for row in await bot.rows("messages")] == ["how tall is it?"]
        assert all(delivery.acked for delivery in said.deliveries)
    slack.up()


async def test_nothing_secret_is_logged(
    slack: FakeSlack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served(slack, tmp_path, log_level="debug") as bot:
        await slack.say("U1", "C1", f"{slack.mention} what is my hobby?").acknowledged()
        await bot.questions(1)
    captured = capsys.readouterr()
    for secret in (slack.bot_token, slack.app_token, "my hobby"):
        assert secret not in captured.out + captured.err


# ---------------------------------------------------------------- with the platform's own poster


@pytest.fixture
async def answering_bot(slack: FakeSlack, tmp_path: Path) -> AsyncIterator[Served]:
    async with served(slack, tmp_path, answering=lambda platform, _: platform.poster) as bot:
        yield bot


async def test_an_answer_gets_feedback_by_the_button_under_it(
    answering_bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is the tower?").acknowledged()
    await slack.until(lambda: any(one.elements() for one in slack.replies("C1", said.ts)))
    reply = slack.replies("C1", said.ts)[-1]
    assert "330 m tall" in slack.screen("C1", said.ts)
    run = (await answering_bot.rows("runs"))[0]["id"]
    await slack.press("U2", reply, controls.FEEDBACK, f"bad:{run}").acknowledged()
    (kept,) = await answering_bot.rows("feedback")
    assert (kept["author_id"], kept["verdict"]) == ("U2", "bad")


@pytest.mark.parametrize("by_command", [False, True])
async def test_a_deleted_answer_leaves_nothing_of_footnote(
    answering_bot: Served, slack: FakeSlack, *, by_command: bool
) -> None:
    if by_command:
        slack.command("U1", "C1", "/ask", "how tall is the tower?")
    else:
        slack.say("U1", "C1", f"{slack.mention} how tall is the tower?")

    def ours() -> list[Shown]:
        return [one for one in slack.messages("C1") if one.bot and not one.ephemeral_to]

    await slack.until(lambda: any(one.elements() for one in ours()))
    await answering_bot.ended(1)
    reply = ours()[-1]
    with pytest.raises(AssertionError, match="does not see"):
        slack.press("U2", reply, controls.DELETE)
    await slack.press("U1", reply, controls.DELETE).acknowledged()
    await slack.until(lambda: not ours())


@pytest.mark.parametrize("by_command", [False, True])
async def test_a_question_for_its_asker_only_is_answered_in_a_direct_message(
    answering_bot: Served, slack: FakeSlack, *, by_command: bool
) -> None:
    if by_command:
        slack.command("U1", "C1", "/ask", "only me: deep: how tall is the tower?")
        await slack.until(lambda: slack.messages("C1"))
    else:
        said = slack.say("U1", "C1", f"{slack.mention} only me: how tall is the tower?")
        await said.acknowledged()
    direct = slack.im("U1")
    await slack.until(lambda: any(one.elements() for one in slack.messages(direct)))
    question, answer = slack.messages(direct)
    assert question.seen == "ada asked: how tall is the tower?"
    assert answer.thread_ts == question.ts
    assert "330 m tall" in answer.seen
    shown = [one for one in slack.messages("C1") if one.bot]
    assert [(one.ephemeral_to, one.text) for one in shown] == [
        ("U1", "I answer in a direct message, which only you can see.")
    ]
    (run,) = await answering_bot.rows("runs")
    assert run["options"]["depth"] == ("deep" if by_command else "auto")
    assert run["options"]["audience"] == "person", "the rights are the asker's"


async def test_a_private_answer_follows_its_question_elsewhere(
    answering_bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} only me: is it tall?").acknowledged()
    direct = slack.im("U1")
    await slack.until(lambda: any(one.elements() for one in slack.messages(direct)))
    await answering_bot.ended(1)
    edited = slack.edit("C1", said.ts, f"{slack.mention} only me: how tall is the tower?")
    await edited.acknowledged()
    await answering_bot.ended(1)
    assert [row["text"] for row in await answering_bot.rows("messages")] == [
        "how tall is the tower?"
    ]
    await slack.until(lambda: "330 m tall" in slack.messages(direct)[-1].seen)
    await slack.delete("C1", said.ts).acknowledged()
    await slack.until(lambda: slack.messages(direct) == [])


async def test_a_follow_up_can_be_for_its_asker_only(
    answering_bot: Served, slack: FakeSlack
) -> None:
    said = slack.say("U1", "C1", f"{slack.mention} how tall is the tower?")
    await slack.until(lambda: any(one.elements() for one in slack.replies("C1", said.ts)))
    follow = slack.say("U2", "C1", "只給我看：塔有多高？", thread_ts=said.ts)
    await follow.acknowledged()
    direct = slack.im("U2")
    await slack.until(lambda: any(one.elements() for one in slack.messages(direct)))
    assert "塔有多高？" in slack.messages(direct)[0].seen
    shown = [one for one in slack.replies("C1", said.ts) if one.ephemeral_to]
    assert [(one.ephemeral_to, one.text) for one in shown] == [
        ("U2", "我會在私訊裡回答，只有你看得到。")
    ]


async def test_where_no_direct_message_can_be_written_nothing_is_answered_in_public(
    answering_bot: Served, slack: FakeSlack
) -> None:
    slack.without_scopes("im:write")
    said = slack.say("U1", "C1", f"{slack.mention} only me: how tall is the tower?")
    await said.acknowledged()
    assert "cannot send you direct messages" in await answering_bot.whisper("U1", "C1")
    assert await answering_bot.rows("runs") == []
    doing = await slack.command("U1", "C1", "/ask", "only me: how tall?").acknowledged()
    assert "cannot send you direct messages" in doing.deliveries[0].replies[0]["text"]


async def test_all_that_is_not_shown_is_one_press_away(
    answering_bot: Served, slack: FakeSlack
) -> None:
    said = await slack.say("U1", "C1", f"{slack.mention} how tall is the tower?").acknowledged()
    await slack.until(lambda: any(one.elements() for one in slack.replies("C1", said.ts)))
    reply = slack.replies("C1", said.ts)[-1]
    await answering_bot.ended(1)
    (answer,) = [run["answer"] for run in await answering_bot.rows("runs")]
    for user, words in (("U1", "Sources"), ("U2", "來源")):  # each in their own language
        await slack.press(user, reply, controls.DETAILS).acknowledged()
        view = slack.workspace.modals[-1]
        assert view["title"]["text"] == words
        for shown in (answer["citations"][0]["title"], *answer["queries"], answer["run"]):
            assert shown in plain(view["blocks"])
    assert answer["run"] not in reply.seen
    assert slack.replies("C1", said.ts)[-1] == reply

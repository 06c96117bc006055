"""`/ask` and `/footnote`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adapters.slack.interactions import parse_ask
from bot.core.errors import Invalid
from bot.core.messages import Depth
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import ACK_SECONDS
from tests.fakes.slack_people import Doing
from tests.fakes.slack_workspace import Channel
from tests.unit.adapters.slack.serving import Served, served


async def told(slack: FakeSlack, doing: Doing) -> str:
    """The text shown to the command's asker, by its acknowledgement or its response URL."""
    (delivery,) = (await doing.acknowledged()).deliveries
    if delivery.replies:
        assert delivery.replies[0]["response_type"] == "ephemeral"
        return str(delivery.replies[0]["text"])
    assert doing.response_url is not None
    url = doing.response_url
    (answer,) = await slack.until(lambda: slack.response_urls.received(url))
    assert answer["response_type"] == "ephemeral"
    return str(answer["text"])


# ---------------------------------------------------------------- /ask


@pytest.mark.parametrize(
    ("text", "depth", "question"),
    [
        ("how tall is it?", "auto", "how tall is it?"),
        ("", "auto", ""),
        ("deep: how tall is it?", "deep", "how tall is it?"),
        ("exhaustive: all towers?", "exhaustive", "all towers?"),
        ("Quick:how tall is it?", "quick", "how tall is it?"),
        ("deep：有多高？", "deep", "有多高？"),
        ("--depth deep how tall is it?", "deep", "how tall is it?"),
        ("--depth=standard how tall is it?", "standard", "how tall is it?"),
        ("how tall is it? --depth deep", "deep", "how tall is it?"),
        ("deep:", "deep", ""),
        ("deep water is how deep?", "auto", "deep water is how deep?"),
        ("deeply: what does it mean?", "auto", "deeply: what does it mean?"),
        ("what does --depth deep do?", "auto", "what does --depth deep do?"),
    ],
)
def test_a_depth_may_come_first_or_last(text: str, depth: Depth, question: str) -> None:
    assert parse_ask(text) == (depth, question)


def test_a_depth_that_is_none_is_told() -> None:
    with pytest.raises(Invalid, match=r"“deeper”.*auto, quick, standard, deep"):
        parse_ask("--depth deeper why?")


async def test_ask_becomes_a_question(bot: Served, slack: FakeSlack) -> None:
    doing = slack.command("U1", "C1", "/ask", "deep: what did <@U2> build at https://example.org?")
    said = await told(slack, doing)
    (message,) = await bot.questions(1)
    assert message.text == "what did @grace build at https://example.org?"
    assert message.links == ("https://example.org",)
    assert message.thread.thread == f"pending-{doing.trigger_id}"
    assert bot.poster.replies[0].run.options.depth == "deep"
    assert bot.poster.replies[0].saved == {
        "command": {"channel": "C1", "user": "U1", "response_url": doing.response_url}
    }
    assert said == "On it: what did @grace build at https://example.org?"


async def test_ask_repeats_the_question_without_its_powers(bot: Served, slack: FakeSlack) -> None:
    said = await told(slack, slack.command("U1", "C1", "/ask", "does <b> & <!channel> work?"))
    assert said == "On it: does &lt;b&gt; &amp; @channel work?"
    assert (await bot.questions(1))[0].text == "does <b> & @channel work?"


async def test_a_long_ask_is_repeated_in_part(bot: Served, slack: FakeSlack) -> None:
    said = await told(slack, slack.command("U1", "C1", "/ask", "why? " * 1_000))
    assert len(said) < 400
    assert len((await bot.questions(1))[0].text) == 4_999


@pytest.mark.parametrize("text", ["", "   ", "deep:"])
async def test_an_empty_ask_is_told_how_to_ask(bot: Served, slack: FakeSlack, text: str) -> None:
    assert "What would you like to know?" in await told(
        slack, slack.command("U1", "C1", "/ask", text)
    )
    assert await bot.rows("runs") == []


async def test_an_ask_that_cannot_be_kept_is_not_lost_in_silence(
    bot: Served, slack: FakeSlack
) -> None:
    """Slack delivers a command once."""
    bot.reception.failures = 1
    said = await told(slack, slack.command("U1", "C1", "/ask", "how tall is it?"))
    assert "try again" in said
    assert await bot.rows("runs") == []


async def test_asks_are_acknowledged_in_time(
    bot: Served, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack.slow(60.0, "users.info")
    monkeypatch.setattr("adapters.slack.teams.PATIENCE_SECONDS", 0.3)
    (delivery,) = (
        await slack.command("U1", "C1", "/ask", "how tall is it?").acknowledged()
    ).deliveries
    assert delivery.ack_seconds is not None
    assert delivery.ack_seconds < ACK_SECONDS
    slack.up()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack waits for a tenth of a second."""
    monkeypatch.setattr("adapters.slack.deferred.ACK_SECONDS", 0.1)


@pytest.mark.usefixtures("hasty")
async def test_an_ask_that_takes_long_to_keep_is_kept_once_and_never_to_be_repeated(
    bot: Served, slack: FakeSlack
) -> None:
    bot.reception.let_on = asyncio.Event()
    doing = slack.command("U1", "C1", "/ask", "how tall is it?")
    assert await told(slack, doing) == "On it: how tall is it?"
    assert await bot.rows("runs") == []
    bot.reception.let_on.set()
    assert [one.text for one in await bot.questions(1)] == ["how tall is it?"]
    assert doing.response_url is not None
    assert slack.response_urls.received(doing.response_url) == []


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("failures", "words"), [(1, "try again"), (0, "not on the list")])
async def test_an_ask_that_fails_late_is_told_then(
    slack: FakeSlack, tmp_path: Path, failures: int, words: str
) -> None:
    async with served(slack, tmp_path, deny_users="U1") as bot:
        bot.reception.let_on, bot.reception.failures = asyncio.Event(), failures
        doing = slack.command("U1", "C1", "/ask", "how tall is it?")
        assert (await told(slack, doing)).startswith("On it")
        bot.reception.let_on.set()
        url = str(doing.response_url)
        (answer,) = await slack.until(lambda: slack.response_urls.received(url))
        assert words in answer["text"]
        assert await bot.rows("runs") == []


@pytest.mark.usefixtures("hasty")
async def test_an_ask_that_is_being_kept_at_the_end_is_kept(
    slack: FakeSlack, tmp_path: Path
) -> None:
    async with served(slack, tmp_path) as bot:
        bot.reception.let_on = asyncio.Event()
        assert "On it" in await told(slack, slack.command("U1", "C1", "/ask", "how tall is it?"))
        bot.running.cancel()
        asyncio.get_running_loop().call_later(0.05, bot.reception.let_on.set)
        await asyncio.gather(bot.running, return_exceptions=True)
        assert [row["text"] for row in await bot.rows("messages")] == ["how tall is it?"]


# ---------------------------------------------------------------- /footnote


async def test_a_question_is_asked_and_watched_listed_and_stopped(
    slack: FakeSlack, tmp_path: Path
) -> None:
    async with served(slack, tmp_path) as bot:

        async def footnote(text: str) -> str:
            return await told(slack, slack.command("U1", "C1", "/footnote", text))

        assert "You have no standing questions" in await footnote("watch")
        begun = await footnote("watch weekly how tall is it?")
        assert "every week" in begun
        id = begun.rstrip(".").split()[-1]
        assert [asked.text for asked in await bot.questions(1)] == ["how tall is it?"]
        assert f"{id}: how tall is it? (every week" in await footnote("watch list")
        assert "too often" in await footnote('watch "* * * * *" how tall is it?')
        assert "Paused" in await footnote(f"watch pause {id}")
        assert "paused" in await footnote("watch")
        assert "No longer checking: how tall is it?" in await footnote(f"watch stop {id}")
        assert "You have no standing question with" in await footnote(f"watch resume {id}")
        assert len(await bot.rows("runs")) == 1


async def test_rules_are_shown_set_and_reset_by_an_admin(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path, admins="U1") as bot:

        async def footnote(text: str) -> str:
            return await told(slack, slack.command("U1", "C1", "/footnote", text))

        assert "no rules of its own" in await footnote("")
        assert "language is now: German" in await footnote("set language German")
        assert "depth is now: deep" in await footnote("set depth Deep")
        shown = await footnote("rules")
        assert "language: German" in shown
        assert "depth: deep" in shown
        await slack.say("U2", "C1", f"{slack.mention} how tall is it?").acknowledged()
        await bot.questions(1)
        options = bot.poster.replies[0].run.options
        assert options.depth == "deep"
        assert "German" in options.instructions
        assert "general settings apply" in await footnote("reset")
        assert "no rules of its own" in await footnote("rules")


@pytest.mark.parametrize("text", ["set language German", "reset"])
async def test_who_is_no_admin_may_only_look(bot: Served, slack: FakeSlack, text: str) -> None:
    assert "Only an admin" in await told(slack, slack.command("U1", "C1", "/footnote", text))
    assert "no rules" in await told(slack, slack.command("U1", "C1", "/footnote"))


async def test_slacks_own_admins_may_set_rules(bot: Served, slack: FakeSlack) -> None:
    slack.workspace.users["U1"].is_admin = True
    said = await told(slack, slack.command("U1", "C1", "/footnote", "set tone brief"))
    assert "tone is now: brief" in said


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("set langauge German", "tone, language, depth, providers"),
        ("set depth deeper", "Possible: auto, quick, standard, deep"),
        ("set providers nowhere", "Possible: conversations, wikipedia"),
        ("help", "/footnote set KEY VALUE"),
        ("dance", "/footnote set KEY VALUE"),
        ("set", "/footnote set KEY VALUE"),
    ],
)
async def test_a_slip_is_told_what_would_work(
    slack: FakeSlack, tmp_path: Path, text: str, part: str
) -> None:
    async with served(slack, tmp_path, admins="U1"):
        assert part in await told(slack, slack.command("U1", "C1", "/footnote", text))


@pytest.mark.parametrize("how", ["expired", 404, 410, 500, "reset"])
async def test_where_the_response_url_is_refused_footnote_is_answered_by_a_message(
    bot: Served, slack: FakeSlack, how: str | int
) -> None:
    if how == "expired":
        slack.response_urls.lifetime = -1.0
    else:
        slack.refuse_responses(how)
    doing = await slack.command("U1", "C1", "/footnote", "").acknowledged()
    assert "no rules of its own" in await bot.whisper("U1", "C1")
    assert slack.response_urls.received(str(doing.response_url)) == []


@pytest.mark.parametrize("where", ["channel", "between two people"])
async def test_where_it_cannot_whisper_either_the_asker_is_written_to(
    bot: Served, slack: FakeSlack, where: str
) -> None:
    kind = "channel" if where == "channel" else "im"
    place = slack.workspace.add_channel(
        Channel("C7" if kind == "channel" else "D7", "elsewhere", kind, {"U1", "U2"})
    )
    slack.refuse_responses(404)
    await slack.command("U1", place.id, "/footnote", "").acknowledged()
    (told,) = await slack.until(lambda: slack.messages(slack.im("U1")))
    assert "no rules of its own" in told.text


async def test_a_slip_is_told_in_the_askers_language(bot: Served, slack: FakeSlack) -> None:
    for command, text in (("/footnote", "set depth deeper"), ("/ask", "--depth deeper why?")):
        said = await told(slack, slack.command("U2", "C1", command, text))
        assert "不能用作 depth 的值" in said


# ---------------------------------------------------------------- /footnote forget me


async def test_whoever_asks_for_it_is_forgotten_once_they_say_yes(
    bot: Served, slack: FakeSlack
) -> None:
    await told(slack, slack.command("U1", "C1", "/ask", "how tall is it?"))
    await told(slack, slack.command("U2", "C1", "/ask", "how wide is it?"))
    await bot.questions(2)

    said = await told(slack, slack.command("U1", "C1", "/footnote", "forget me"))
    assert "/footnote forget me yes" in said
    assert "one message" in said
    assert len(await bot.rows("messages")) == 2

    said = await told(slack, slack.command("U1", "C1", "/footnote", "forget me yes"))
    assert said.startswith("Done. I have deleted one message")
    assert [row["author_id"] for row in await bot.rows("messages")] == ["U2"]


async def test_who_may_not_ask_may_be_forgotten(slack: FakeSlack, tmp_path: Path) -> None:
    async with served(slack, tmp_path, deny_users="U1"):
        said = await told(slack, slack.command("U1", "C1", "/footnote", "forget me"))
        assert said == "I have stored nothing that you wrote."

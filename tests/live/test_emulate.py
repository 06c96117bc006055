"""Our way out of Slack against npm's emulate: a second opinion beside our own strict fake.

The real ``AsyncWebClient`` and ``SlackPoster`` work as in the poster contract, whose tests are run
here once more, with a bot token that has the scopes of our manifest and no others.

What emulate 0.12.2 does not have, so that nothing is proved of it here: ``chat.startStream`` and
its kin, ``agents.sessions.*``, ``assistant.threads.*``, Socket Mode, rate limits, ``locale`` in
users.info. It signs callbacks of messages, edits, deletions and reactions, but only code inside its
own process can subscribe to them. It has no slash commands, buttons, shortcuts and no Home
tab: the way in is walked against our own fake alone. What it does otherwise than the real Slack, as
far as it matters:

- most methods listen to POST only and read no arguments from the query, and an unknown method is a
  404 (``Front`` mends all three);
- conversations.replies knows neither pages nor ``oldest`` and ``latest``, and answers an empty
  list for a thread that is not there (Slack: ``thread_not_found``). So the contract's test of a
  history that ends with the question is not run here;
- metadata comes back unasked (Slack: with ``include_all_metadata``);
- chat.update changes messages of an archived channel (Slack: ``is_archived``). So the contract's
  test of a place that closes in mid-run is replaced by one that is closed from the start;
- a token that nobody knows, even none, is taken for an admin's (Slack: ``invalid_auth``);
- no length is checked but that of ``text``, and no block is looked at;
- a private channel is ``not_in_channel`` to strangers (Slack: ``channel_not_found``);
- what the app posts has the bot's ``user`` but neither ``bot_id`` nor ``app_id``;
- what is ephemeral can be seen by nobody;
- ``unfurl_links`` and ``unfurl_media`` come back with the message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import Calls, Refusal, Timing
from adapters.slack.incoming import parse_message
from adapters.slack.teams import People
from bot.core.errors import PostRefused
from bot.core.messages import Message
from tests.contract.harness import Desk, joined
from tests.contract.slack_harness import QUICK
from tests.contract.test_poster import (  # noqa: F401 - collected here, on the stage below
    an_answer,
    test_a_beginning_that_was_withdrawn_is_not_in_the_answer,
    test_a_failure_says_why_and_leaves_nothing_at_work,
    test_a_file_larger_than_allowed_is_refused,
    test_a_finished_reply_shows_the_answer_its_sources_and_nothing_at_work,
    test_a_long_answer_is_whole_and_in_order,
    test_a_platform_that_limits_gets_the_answer_a_little_later,
    test_a_post_lost_together_with_its_process_is_found_again,
    test_a_post_whose_outcome_was_lost_is_not_repeated,
    test_a_removed_reply_leaves_nothing,
    test_a_reply_shows_at_once_that_footnote_is_at_work,
    test_a_shared_file_is_read,
    test_a_shorter_answer_leaves_nothing_of_a_longer_one,
    test_a_thread_that_the_question_began_has_no_history,
    test_a_waiting_asker_is_told_and_nobody_else,
    test_an_answer_finished_twice_is_visible_once,
    test_an_answer_that_cannot_be_posted_now_is_posted_later,
    test_an_answer_without_any_progress_is_shown,
    test_an_attempt_killed_at_any_save_leaves_one_answer,
    test_an_attempt_takes_over_what_the_one_before_had_begun,
    test_an_attempt_that_lost_its_run_does_not_post,
    test_an_edited_question_is_answered_in_the_same_reply,
    test_doubts_and_notes_are_shown,
    test_nothing_from_models_or_pages_pings_anybody,
    test_of_many_states_the_latest_is_shown,
    test_the_answer_is_shown_while_it_is_written,
    test_the_plan_is_shown_while_a_run_works,
    test_two_questions_of_a_thread_have_an_answer_each,
    test_what_could_come_next_is_a_press_away,
)
from tests.fakes.slack import FakeSlack
from tests.live.emulate import (
    ADMIN_TOKEN,
    BOT,
    BOT_TOKEN,
    BOT_USER,
    MANIFEST,
    TEAM,
    Json,
    LiveSlack,
)
from tests.live.slack_stage import LiveHarness, live_stage

# auth.test's page does not list it; of a profile Footnote reads names only.
EMULATES_OWN = {
    "app_id",
    *(f"user.profile.{name}_normalized" for name in ("display_name", "real_name")),
    *(f"user.profile.status_{name}" for name in ("text", "emoji", "expiration")),
    "user.profile.status_emoji_display_info",
    *(f"user.profile.huddle_state{suffix}" for suffix in ("", "_expiration_ts")),
    *(f"user.profile.{name}" for name in ("image_48", "image_192", "phone", "skype", "title")),
}


@pytest.fixture
async def stage(live_slack: LiveSlack, tmp_path: Path) -> AsyncIterator[LiveHarness]:
    async with live_stage(live_slack, tmp_path) as stage:
        yield stage


@pytest.fixture
def desk(stage: LiveHarness) -> Desk:
    return Desk(stage.ask("How tall is it?"))


@pytest.fixture
def calls(stage: LiveHarness) -> Calls:
    return Calls(stage.client, Timing(patience=2.0, backoff=0.02))


# ---------------------------------------------------------------- the way out


async def test_what_a_workspace_does_not_have_is_asked_for_once(
    stage: LiveHarness, desk: Desk
) -> None:
    poster = stage.poster()
    for number in range(3):
        run = Desk(desk.message, run_id=f"run{number}")
        reply = await poster.open(run.run(), None)
        await reply.finish(an_answer(run, f"Answer number {number} [1]."))
    front = stage.slack.front
    asked = {name: front.calls(name) for name in ("chat.startStream", "agents.sessions.setStatus")}
    assert {name: len(found) for name, found in asked.items()} == dict.fromkeys(asked, 1)
    assert joined(stage.shown(desk.message)).count("Answer number") == 3


async def test_every_post_names_its_run_and_part_in_its_metadata(
    stage: LiveHarness, desk: Desk
) -> None:
    reply = await stage.poster().open(desk.run(), None)
    text = "\n\n".join(f"Paragraph {n}. {'word ' * 500}" for n in range(12))
    await reply.finish(an_answer(desk, text))
    posts = [parse_message(post, "C1") for post in stage.posts(desk.message)]
    named = [(post.run, post.part) for post in posts]
    assert len(named) > 1
    assert named == [(desk.run_id, part) for part in range(len(named))]


async def test_a_reply_is_threaded_and_unfurls_nothing(stage: LiveHarness, desk: Desk) -> None:
    reply = await stage.poster().open(desk.run(), None)
    await reply.finish(an_answer(desk))
    (post,) = stage.posts(desk.message)
    assert post["thread_ts"] == desk.message.thread.thread
    assert (post["unfurl_links"], post["unfurl_media"]) == (False, False)


async def test_a_command_begins_its_thread_with_the_question(stage: LiveHarness) -> None:
    asked = stage.ask("How tall is it?")
    run = Desk(_as_command(asked))
    reply = await stage.poster().open(run.run(), None)
    await reply.finish(an_answer(run))
    (thread,) = run.moved
    said = stage.thread(run.message)
    assert said[0]["ts"] == thread.thread
    assert "How tall is it?" in said[0]["text"]
    assert "330 m tall" in joined(stage.shown(run.message))


async def test_a_command_whose_question_was_posted_but_lost_asks_once(stage: LiveHarness) -> None:
    stage.slack.front.cuts["chat.postMessage"] = 1
    run = Desk(_as_command(stage.ask("How tall is it?")))
    reply = await stage.poster().open(run.run(), None)
    await reply.finish(an_answer(run))
    channel = stage.slack.call(BOT_TOKEN, "conversations.history", channel=stage.channel)
    ours = [message for message in channel["messages"] if message["user"] == BOT_USER]
    assert len(ours) == 1


async def test_what_was_said_before_is_read_with_names(stage: LiveHarness, desk: Desk) -> None:
    reply = await stage.poster().open(desk.run(), None)
    await reply.finish(an_answer(desk))
    stage.say_in(desk.message, "I was there & saw it")
    later = Desk(stage.ask_in(desk.message, "And how old?"), run_id="run9f8e7d6c")
    said = await stage.poster().history(later.run())
    assert [(message.author.name, message.text) for message in said] == [
        ("ada", "@footnote How tall is it?"),
        ("bob", "I was there & saw it"),
    ]


async def test_an_archived_channel_refuses(stage: LiveHarness, desk: Desk) -> None:
    stage.close_channel(desk.message)
    with pytest.raises(PostRefused) as refused:
        await stage.poster().open(desk.run(), None)
    assert "archived" in refused.value.sentence


# ---------------------------------------------------------------- calls


async def test_who_footnote_is(calls: Calls) -> None:
    told = await calls.once("auth.test")
    assert (told["team_id"], told["user_id"], told["bot_id"]) == (TEAM, BOT_USER, BOT)


async def test_people_have_names_and_rights(stage: LiveHarness, calls: Calls) -> None:
    people = People(calls)
    ada = await people.person(stage.slack.people["ada"])
    admin = await people.person(stage.slack.people["admin"])
    assert (ada.name, ada.admin, admin.admin) == ("ada", False, True)


async def test_a_stranger_goes_by_the_id(calls: Calls) -> None:
    people = People(calls)
    with pytest.raises(PostRefused):
        await people.person("U404")
    assert (await people.person("U404")).name == "U404"


@pytest.mark.parametrize(
    ("method", "arguments", "code"),
    [
        ("chat.postMessage", {"channel": "C404", "text": "hello"}, "channel_not_found"),
        ("chat.update", {"channel": "{channel}", "ts": "1.2", "text": "x"}, "message_not_found"),
        ("chat.update", {"channel": "{channel}", "ts": "{ts}", "text": "x"}, "cant_update_message"),
        ("chat.delete", {"channel": "{channel}", "ts": "1.2"}, "message_not_found"),
        ("chat.delete", {"channel": "{channel}", "ts": "{ts}"}, "cant_delete_message"),
        ("chat.postEphemeral", {"channel": "{channel}", "user": "U404", "text": "x"},
         "user_not_found"),
        ("conversations.replies", {"channel": "C404", "ts": "1.2"}, "channel_not_found"),
        ("users.info", {"user": "U404"}, "user_not_found"),
        ("chat.startStream", {"channel": "{channel}", "thread_ts": "{ts}"}, "unknown_method"),
    ],
)  # fmt: skip
async def test_what_emulate_refuses_is_understood(
    stage: LiveHarness, calls: Calls, method: str, arguments: dict[str, str], code: str
) -> None:
    known = {"channel": stage.channel, "ts": stage.say("ada", "My own words")}
    with pytest.raises(Refusal) as refused:
        await calls.once(method, **{k: v.format(**known) for k, v in arguments.items()})
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("reactions.add", {"channel": "{channel}", "timestamp": "{ts}", "name": "eyes"}),
        ("conversations.archive", {"channel": "{channel}"}),
        ("files.delete", {"file": "F1"}),
    ],
)
async def test_our_token_is_held_to_the_scopes_of_the_manifest(
    stage: LiveHarness, calls: Calls, method: str, arguments: dict[str, str]
) -> None:
    known = {"channel": stage.channel, "ts": stage.say("ada", "My own words")}
    with pytest.raises(Refusal) as refused:
        await calls.once(method, **{k: v.format(**known) for k, v in arguments.items()})
    assert refused.value.code == "missing_scope"
    assert "needs " in refused.value.detail


async def test_a_reaction_of_somebody_stands_on_the_reply(stage: LiveHarness, desk: Desk) -> None:
    """Reactions come back with the messages they are on, and are no part of what was said."""
    reply = await stage.poster().open(desk.run(), None)
    await reply.finish(an_answer(desk))
    (post,) = stage.posts(desk.message)
    stage.slack.call(
        ADMIN_TOKEN, "reactions.add", channel=stage.channel, timestamp=post["ts"], name="eyes"
    )
    await (await stage.poster().open(desk.run(), desk.saved)).finish(an_answer(desk, "Now so."))
    (after,) = stage.posts(desk.message)
    assert [one["name"] for one in after["reactions"]] == ["eyes"]
    assert "Now so." in stage.shown(desk.message)[0]


# ---------------------------------------------------------------- the other opinion


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("auth.test", {}),
        ("chat.postMessage", {"channel": "{channel}", "text": "x", "thread_ts": "{ts}"}),
        ("chat.update", {"channel": "{channel}", "ts": "{ts}", "text": "x"}),
        ("chat.delete", {"channel": "{channel}", "ts": "{ts}"}),
        ("chat.postEphemeral", {"channel": "{channel}", "user": "{user}", "text": "x"}),
        (
            "conversations.replies",
            {"channel": "{channel}", "ts": "{ts}", "include_all_metadata": "true"},
        ),
        ("users.info", {"user": "{user}"}),
    ],
)
async def test_our_fake_tells_what_emulate_tells(
    stage: LiveHarness, calls: Calls, method: str, arguments: dict[str, str]
) -> None:
    """The unit tests rest on this: both answer the same call alike, the fake perhaps with more."""
    with FakeSlack(MANIFEST) as fake:
        fake.add_user("U1", "ada")
        fake.add_channel("C1", "general", members=["U1"])
        client = AsyncWebClient(fake.bot_token, fake.api_url, session=stage.client.session)
        imagined = await _told(Calls(client, QUICK), method, arguments, channel="C1", user="U1")
    ada = stage.slack.people["ada"]
    real = await _told(calls, method, arguments, channel=stage.channel, user=ada)
    assert _names(real) - EMULATES_OWN - _names(imagined) == set()


async def _told(calls: Calls, method: str, arguments: dict[str, str], **known: str) -> Json:
    """The answer to a call about a message that was just posted with metadata."""
    metadata = {"event_type": "footnote_run", "event_payload": {"run": "r", "part": 0}}
    posted = await calls.once(
        "chat.postMessage", channel=known["channel"], text="First", metadata=metadata
    )
    known["ts"] = posted["ts"]
    return await calls.once(method, **{k: v.format(**known) for k, v in arguments.items()})


def _names(told: object, path: str = "") -> set[str]:
    """The paths of everything in an answer, without the numbers of list items."""
    if isinstance(told, list):
        return {name for one in told for name in _names(one, path)}
    if not isinstance(told, dict):
        return set()
    below = {name for key, value in told.items() for name in _names(value, f"{path}{key}.")}
    return below | {f"{path}{key}" for key in told}


def _as_command(asked: Message) -> Message:
    """The same question, as a slash command brings it: in no thread yet."""
    thread = replace(asked.thread, thread="command-1")
    return replace(asked, event_id=f"command:{asked.event_id.replace(':', '-')}", thread=thread)

"""Messages as a source: questions in Slack and Discord search them with the rights of the asker."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import httpx
import pytest

from bot.storage.encryption import new_key
from tests.scenario.acme import KESTREL, SECRETS, Acme, asked_about, said_in, told
from tests.scenario.gate import Gate, ask_and_catch
from tests.scenario.places import Place, Said, the_answer, until_answered, whole
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import ADA, BOARD, GENERAL, LIU, OPS, SlackPlace, open_slack

LUNCH = "What does lunch in the canteen cost?"


# ---------------------------------------------------------------- Slack

TEAM = "G4TEAM"
EVERY_SCOPE = [f"search:read.{kind}" for kind in ("public", "private", "im", "mpim")]


@pytest.fixture
def slack() -> Iterator[SlackPlace]:
    """Liu spoke in a public channel, in a private one with Ada, and in one that Ada is not in."""
    with open_slack() as place:
        place.slack.with_scopes(*EVERY_SCOPE)
        place.slack.add_channel(OPS, "ops", members=[LIU], bot=False)
        place.slack.add_channel(BOARD, "board", "group", members=[ADA, LIU])
        place.slack.add_channel(TEAM, "team", "group", members=[LIU], bot=False)
        for channel, name in ((OPS, "open"), (BOARD, "board"), (TEAM, "private")):
            place.slack.say(LIU, channel, said_in(name))
        yield place


@pytest.fixture
def in_slack(footnote: Program, slack: SlackPlace) -> Program:
    """The program that searches nothing but conversations."""
    footnote.settings |= {"FOOTNOTE_PROVIDERS": "conversations", **slack.settings}
    return footnote


def ask(place: SlackPlace, channel: str = GENERAL, user: str = ADA, text: str = KESTREL) -> Said:
    return place.ask_in(channel, user, text)


def kept(program: Program) -> str:
    """The whole content of the database, as SQL."""
    with closing(sqlite3.connect(program.folder / "data" / "footnote.sqlite")) as database:
        return "\n".join(database.iterdump())


def test_a_question_in_a_channel_of_slack_is_answered_with_what_a_colleague_said(
    fork_server: ForkServer, in_slack: Program, slack: SlackPlace
) -> None:
    slack.slack.say(LIU, OPS, "Kestrel has a budget of 7,350 euros.")
    with running(fork_server, in_slack, slack) as serving:
        answer = the_answer(slack, ask(slack))
        serving.until_said("ended")
        run = re.search(r"run=([0-9a-f]{12})", serving.said)
        assert run is not None
        page = httpx.get(f"{serving.http}/runs/{run[1]}")
    assert told(answer) == {"open"}
    assert re.search(r"\[1\] 💬 liu, #ops, \d+ \w+ \d{4}", answer)
    # The console cannot tell the rights of people in Slack, so it shows the answer to no one.
    assert "Kestrel to 14 October" not in page.text
    # The quote is kept, nothing else that was found, nor the right to find it.
    database = kept(in_slack)
    assert "14 October" in database
    assert "7,350" not in database
    assert not [token for token in slack.slack.workspace.action_tokens if token in database]


def test_the_rights_of_the_place_decide_what_is_found_in_slack(
    fork_server: ForkServer, in_slack: Program, slack: SlackPlace
) -> None:
    slack.slack.add_user("U9GUEST", "gus")
    slack.slack.workspace.users["U9GUEST"].is_restricted = True
    slack.slack.workspace.channels[GENERAL].members.add("U9GUEST")
    table = {
        ("ada", "a public channel"): (GENERAL, ADA, {"open"}),
        ("liu", "a public channel"): (GENERAL, LIU, {"open"}),
        ("liu", "the private channel"): (BOARD, LIU, {"open", "board"}),
        ("ada", "alone"): (slack.slack.im(ADA), ADA, {"open", "board"}),
        ("liu", "alone"): (slack.slack.im(LIU), LIU, {"open", "board", "private"}),
        ("a guest", "a public channel"): (GENERAL, "U9GUEST", set[str]()),
    }
    with running(fork_server, in_slack, slack):
        asked = {
            who: [ask(slack, channel, user, asked_about(name)) for name in SECRETS]
            for who, (channel, user, _) in table.items()
        }
        found = {}
        for who, questions in asked.items():
            for said in questions:
                slack.until(partial(is_over, slack, said))
            found[who] = told("".join(whole(slack, said) for said in questions))
        slack.until(lambda: len(offers(slack)) == 2)
    assert found == {who: allowed for who, (_, _, allowed) in table.items()}
    # In public, who could see more is told that there is more, and nothing else.
    assert offers(slack) == {ADA: set(), LIU: set()}


def is_over(place: Place, said: Said) -> bool:
    return bool(place.posts(said)) and not place.at_work(said)


def offers(place: SlackPlace) -> dict[str | None, set[str]]:
    """The people who were told that there is more, and the secrets that this told them."""
    words = ("only you can see", "只有你能看到")
    shown = [m for m in place.slack.messages(GENERAL) if any(w in m.seen for w in words)]
    return {m.ephemeral_to: told(m.seen) for m in shown}


def test_a_newer_word_stands_before_an_older_one(
    fork_server: ForkServer, in_slack: Program, slack: SlackPlace
) -> None:
    slack.slack.add_user("U8EVA", "eva")
    slack.slack.workspace.channels[OPS].members.add("U8EVA")
    slack.slack.advance(2 * 86_400)
    slack.slack.say("U8EVA", OPS, "No, the launch of Kestrel is moved to 9 November.")
    with running(fork_server, in_slack, slack):
        both = the_answer(slack, ask(slack))
    assert 0 < both.index("9 November") < both.index("14 October")
    assert "eva, " in both


def test_without_its_scope_slack_is_not_searched_and_the_log_says_so_once(
    fork_server: ForkServer, chatty: Program, slack: SlackPlace
) -> None:
    slack.slack.without_scopes("search:read.public")
    chatty.settings |= slack.settings
    with running(fork_server, chatty, slack) as serving:
        for _ in range(2):
            answer = the_answer(slack, ask(slack, text=LUNCH))
            assert "6.50" in answer
            assert "Slack" not in answer
        assert serving.said.count("lacks the scope search:read.public") == 1
    assert not slack.slack.calls("assistant.search.context")


@pytest.fixture
def place(slack: SlackPlace) -> SlackPlace:
    """The place for ``chatty``."""
    return slack


REFUSALS = {
    "invalid_action_token": "may be searched for this question is over",
    "missing_scope": "an admin can grant the app search:read.public again",
    "ratelimited": "Slack does not answer searches now",
    "fatal_error": "Slack does not answer searches now",
    "enterprise_is_restricted": "Slack refuses to search messages",
}


def test_what_slack_refuses_is_one_sentence_and_the_documents_answer(
    fork_server: ForkServer, chatty: Program, slack: SlackPlace
) -> None:
    with running(fork_server, chatty, slack):
        for error, note in REFUSALS.items():
            slack.slack.relent("assistant.search.context")
            slack.slack.refuse("assistant.search.context", error)
            said = ask(slack, text=LUNCH)
            assert "6.50" in the_answer(slack, said)
            before = slack.whispers(said).count("slack: ")
            slack.press(said, "details")
            slack.until(lambda: slack.whispers(said).count("slack: ") > before)  # noqa: B023
            assert note in slack.whispers(said)
            assert slack.whispers(said).count("slack: ") == before + 1


@pytest.mark.parametrize("hours", [0, 1])
def test_the_right_to_search_outlives_a_crash_until_it_expires(
    fork_server: ForkServer, thinking: Program, slack: SlackPlace, gate: Gate, hours: int
) -> None:
    thinking.settings |= {
        "bot.service.research_service.PREFETCHED_PAGES": "0",
        "FOOTNOTE_ENCRYPTION_KEYS": new_key(),
    }
    with running(fork_server, thinking, slack) as serving:
        said = ask_and_catch(slack, gate, after=0)
        assert not [t for t in slack.slack.workspace.action_tokens if t in kept(thinking)]
        serving.kill()
    slack.slack.advance(3_600 * hours)
    gate.release()
    with running(fork_server, thinking, slack):
        assert "90 days" in until_answered(slack, said)[0].text
        slack.press(said, "details")
        slack.until(lambda: slack.slack.workspace.modals)
    searches = slack.slack.calls("assistant.search.context")
    assert {call.error for call in searches} == {"invalid_action_token" if hours else None}
    is_told = "may be searched for this question is over" in slack.whispers(said)
    assert is_told is bool(hours)


# ---------------------------------------------------------------- files in Slack

OSPREY = "What is the budget of Osprey for the year 2027?"
BUDGET = (
    b"# Budget\n\nThe budget of Osprey for the year 2027 is 48,200 euros, of which half is spent."
)
FILES = "search:read.files"


def share(place: SlackPlace, channel: str, *, excerpt: str | None = None) -> None:
    file = place.slack.add_file(
        LIU, "osprey.md", BUDGET, "text/markdown", title="Osprey costs", excerpt=excerpt
    )
    place.slack.say(LIU, channel, "here it is", files=[file])


def test_a_question_in_a_direct_message_is_answered_from_a_file_with_a_footnote(
    fork_server: ForkServer, in_slack: Program, slack: SlackPlace
) -> None:
    slack.slack.with_scopes(FILES)
    share(slack, BOARD, excerpt="The budget of Osprey for the year 2027 is about to be told.")
    other = slack.slack.add_file(LIU, "x.md", b"Osprey had a budget in 2027.", title="Velvet")
    slack.slack.say(LIU, BOARD, "and this", files=[other])
    with running(fork_server, in_slack, slack) as serving:
        answer = the_answer(slack, ask(slack, slack.slack.im(ADA), text=OSPREY))
        serving.until_said("ended")
    assert "48,200 euros" in answer
    assert re.search(r"\[1\] 💬 liu, Osprey costs, \d+ \w+ \d{4}", answer)
    # The quotes are kept, but not what came with the search result.
    database = kept(in_slack)
    assert "48,200" in database
    assert "about to be told" not in database


def test_a_newer_file_stands_before_an_older_message_under_its_title(
    fork_server: ForkServer, in_slack: Program, slack: SlackPlace
) -> None:
    slack.slack.with_scopes(FILES)
    slack.slack.advance(2 * 86_400)
    later = b"# Minutes\n\nWe decided to move the launch of Kestrel to 9 November."
    file = slack.slack.add_file(LIU, "m.md", later, "text/markdown", title="Kestrel minutes")
    slack.slack.say(LIU, OPS, "look", files=[file])
    with running(fork_server, in_slack, slack):
        both = the_answer(slack, ask(slack))
    assert 0 < both.index("liu, Kestrel minutes, ") < both.index("to 9 November")
    assert both.index("to 9 November") < both.index("14 October")


def test_a_guest_finds_no_files_and_has_the_one_that_came_with_the_question_read(
    fork_server: ForkServer, in_slack: Program, slack: SlackPlace
) -> None:
    slack.slack.with_scopes(FILES)
    slack.slack.add_user("U9GUEST", "gus")
    slack.slack.workspace.users["U9GUEST"].is_restricted = True
    slack.slack.workspace.channels[GENERAL].members.add("U9GUEST")
    share(slack, GENERAL)
    sent = slack.slack.add_file("U9GUEST", "kestrel.md", b"Kestrel costs 310 euros a month.")
    with running(fork_server, in_slack, slack):
        bare = ask(slack, user="U9GUEST", text=OSPREY)
        slack.until(partial(is_over, slack, bare))
        mention = f"{slack.slack.mention} What does Kestrel cost?"
        said = slack.slack.say("U9GUEST", GENERAL, mention, files=[sent])
        answer = the_answer(slack, Said(GENERAL, said.ts, said.ts))
    assert "48,200" not in whole(slack, bare)
    assert "310 euros" in answer
    assert "kestrel" in answer.partition("310 euros")[2]  # its source


def test_a_private_file_is_not_used_in_a_channel_and_the_asker_is_told(
    fork_server: ForkServer, in_slack: Program, slack: SlackPlace
) -> None:
    slack.slack.with_scopes(FILES)
    share(slack, BOARD, excerpt="48,200 euros for Osprey in 2027")
    with running(fork_server, in_slack, slack):
        said = ask(slack, text=OSPREY)
        slack.until(partial(is_over, slack, said))
        slack.until(lambda: offers(slack))
    assert "48,200" not in whole(slack, said)
    assert offers(slack) == {ADA: set()}
    assert "48,200" not in slack.whispers(said)


# ---------------------------------------------------------------- Discord


@pytest.fixture
def in_discord(footnote: Program, acme: Acme) -> Program:
    footnote.settings |= {"FOOTNOTE_PROVIDERS": "conversations", **acme.settings}
    return footnote


def test_a_question_in_a_channel_of_discord_is_answered_with_what_a_colleague_said(
    fork_server: ForkServer, in_discord: Program, acme: Acme
) -> None:
    with running(fork_server, in_discord, acme):
        answer = until_answered(acme, acme.ask_in(acme.general, acme.ada))[0].text
    assert told(answer) == {"open"}
    assert re.search(r"Ben, #ops, \d+ \w+ \d{4}", answer)


def test_what_not_everybody_there_may_read_is_offered_to_the_asker_in_a_direct_message(
    fork_server: ForkServer, in_discord: Program, acme: Acme
) -> None:
    with running(fork_server, in_discord, acme):
        for user, name in ((acme.ada, "board"), (acme.ada, "private"), (acme.ben, "board")):
            acme.until(partial(is_over, acme, acme.ask_in(acme.general, user, asked_about(name))))
        acme.until(lambda: acme.discord.posts(acme.discord.direct(acme.ada)))
    offered = {
        user.name: [seen.content for seen in acme.discord.posts(acme.discord.direct(user))]
        for user in (acme.ada, acme.ben)
    }
    assert offered == {
        acme.ada.name: [
            f"For your question in <#{acme.general.id}>, I found more in channels that not "
            "everybody there can read. Ask me here to search them, too."
        ],
        acme.ben.name: [],
    }


def test_the_rights_of_the_place_decide_what_is_found_in_discord(
    fork_server: ForkServer, in_discord: Program, acme: Acme
) -> None:
    table = {
        ("ada", "a public channel"): (acme.general, acme.ada, {"open"}),
        ("ben", "a public channel"): (acme.general, acme.ben, {"open"}),
        ("ada", "the role's channel"): (acme.places["board"], acme.ada, {"open", "board"}),
        ("ada", "alone"): (acme.discord.direct(acme.ada), acme.ada, {"open", "board"}),
        ("ben", "alone"): (acme.discord.direct(acme.ben), acme.ben, {"open", "private"}),
    }
    found = {}
    with running(fork_server, in_discord, acme):
        for who, (channel, user, _) in table.items():
            replies = ""
            for done, name in enumerate(SECRETS, 1):
                said = acme.ask_in(channel, user, asked_about(name))
                count = done if channel.guild is None else 1
                acme.until(partial(acme.has_ended, said, channel, count))
                replies += "".join(post.text for post in acme.replies(said, channel))
            found[who] = told(replies)
    assert found == {who: allowed for who, (_, _, allowed) in table.items()}


def test_an_index_that_is_being_built_for_ever_is_one_sentence(
    fork_server: ForkServer, footnote: Program, acme: Acme, documents: object
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), **acme.settings}
    acme.discord.searching.indexing, acme.discord.searching.retry_after = float("inf"), 30
    with running(fork_server, footnote, acme):
        said = acme.ask(LUNCH)
        assert "6.50" in until_answered(acme, said)[0].text
        acme.press(said, "details")
        acme.until(lambda: "index of messages is still being built" in acme.whispers(said))

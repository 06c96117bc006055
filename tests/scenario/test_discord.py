"""Features of Discord alone: commands, invalid sessions, missing permissions, forums."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.discord_server import Channel, File
from tests.scenario.discord_place import DiscordPlace, open_discord
from tests.scenario.gate import Gate, ask_and_catch
from tests.scenario.places import KEYS, LUNCH, WHO, the_answer, until_answered, until_shown
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running


@pytest.fixture
def place() -> Iterator[DiscordPlace]:
    with open_discord() as place:
        yield place


def until_reads(place: DiscordPlace, channel: Channel, words: str) -> str:
    """The channel's text once it holds these words and nothing is being worked on."""

    def over() -> bool:
        text = place.discord.transcript(channel)
        return words in text and "[Stop]" not in text and "[Helpful]" in text

    try:
        place.until(over)
    except TimeoutError:
        raise AssertionError(place.discord.transcript(channel)) from None
    return place.discord.transcript(channel)


# ---------------------------------------------------------------- ways in


def test_a_command_becomes_a_question_with_a_thread(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    with running(fork_server, chatty, place):
        place.until(place.discord.registered)
        asked = place.discord.people.slash(place.ada, place.general, "ask", {"question": KEYS})
        place.until(lambda: place.discord.threads_in(place.general))
        (thread,) = place.discord.threads_in(place.general)
        until_reads(place, thread, "90 days")
        assert KEYS in place.discord.transcript(place.general)
        assert asked.acknowledged
        place.discord.people.say(place.ada, thread, WHO)
        place.until(lambda: len(place.discord.posts(thread)) == 2)
        until_reads(place, thread, "90 days")
        assert len(place.discord.posts(thread)) == 2


def test_a_form_becomes_a_question_whose_file_is_read(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    mail = (
        b"From: Ann <ann@x.example>\nSubject: Parking\n\nThe garage closes at 23:15 every night.\n"
    )
    notes = File("notes.eml", mail)
    with running(fork_server, chatty, place):
        place.until(place.discord.registered)
        asked = place.discord.people.slash(place.ada, place.general, "ask")
        place.until(lambda: asked.modal)
        question = "I park at the office.\n\nWhen does the garage of the office close?"
        place.discord.people.submit(asked, {"text": question, "files": [notes]})
        place.until(lambda: place.discord.threads_in(place.general))
        (thread,) = place.discord.threads_in(place.general)
        assert "Parking" in until_reads(place, thread, "23:15")
        assert "I park at the office." in place.discord.transcript(place.general)


def test_a_direct_message_needs_no_mention(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    direct = place.discord.direct(place.ada)
    with running(fork_server, chatty, place):
        place.discord.people.say(place.ada, direct, KEYS)
        until_reads(place, direct, "90 days")
        assert len(place.discord.posts(direct)) == 1


def test_without_the_intent_follow_ups_need_a_mention(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    place.discord.app.content_intent = False
    with running(fork_server, chatty, place) as program:
        program.until_said("Message Content Intent")
        said = place.ask(KEYS)
        the_answer(place, said)
        thread = place.thread(said)
        place.discord.people.say(place.ada, thread, LUNCH)
        place.discord.people.say(place.ada, thread, WHO, mentions_bot=True)
        second = until_answered(place, said, 2)[1]
        assert "security team" in second.text
        assert "6.50" not in second.text


# ---------------------------------------------------------------- ways out


def test_the_button_stops(
    fork_server: ForkServer, thinking: Program, place: DiscordPlace, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, "Searching: ")
        place.press(said, "stop")
        gate.wait_empty()
        assert "90 days" in the_answer(place, said)


def test_buttons_work_after_a_restart(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    with running(fork_server, chatty, place):
        said = place.ask(KEYS)
        the_answer(place, said)
    with running(fork_server, chatty, place):
        place.press(said, "bad")
        (pressed,) = place.discord.webhooks.interactions.values()
        place.until(lambda: pressed.modal)
        place.discord.people.submit(pressed, {"words": "It is 60 days."})
        place.until(lambda: "Thank you" in place.whispers(said))
        place.press(said, "deeper", on=0)
        assert len(until_answered(place, said, 2)) == 2


def test_what_it_may_not_do_is_done_otherwise_and_said(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    place.discord.deny(place.general, "CREATE_PUBLIC_THREADS")
    with running(fork_server, chatty, place):
        place.ask(KEYS)
        answer = until_reads(place, place.general, "90 days")
        assert "I am not allowed to" in answer


def test_progress_answer_and_sources_need_no_permission_for_embeds(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    place.discord.deny(place.general, "EMBED_LINKS")
    with running(fork_server, chatty, place):
        said = place.ask(KEYS)
        assert "90 days" in the_answer(place, said)
        place.press(said, "details")
        place.until(lambda: "**Sources**" in place.whispers(said))


def test_answers_stay_within_what_discord_is_seen_to_allow(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    place.discord.traffic.like_discord()
    with running(fork_server, chatty, place):
        asked = [place.ask(KEYS) for _ in range(5)]
        for said in asked:
            assert "90 days" in the_answer(place, said)
    refused = [r for r in place.discord.requests() if r.status == 429]
    assert len(refused) <= 2, refused


@pytest.mark.slow
def test_many_questions_at_once_keep_to_the_pace_of_all_requests(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    place.discord.traffic.like_discord()
    rooms = [place.discord.text(place.guild, f"room-{number}") for number in range(5)]
    with running(fork_server, chatty, place):
        for number in range(25):
            place.discord.people.say(place.ada, rooms[number % 5], KEYS, mentions_bot=True)
        place.until(lambda: _answers(place) >= 25, 60.0)
    assert [r for r in place.discord.requests() if r.status == 429] == []


def _answers(place: DiscordPlace) -> int:
    """The number of Footnote's messages that show an answer."""
    edits = [r for r in place.discord.requests() if r.method == "PATCH" and r.status < 300]
    return len({r.path for r in edits if "90 days" in str(r.body)})


def test_nobody_is_notified(fork_server: ForkServer, chatty: Program, place: DiscordPlace) -> None:
    trap = Path(chatty.settings["FOOTNOTE_DOCS"]) / "alarm.md"
    trap.write_text(
        "# Fire alarm\n\nAt a fire alarm the warden writes @everyone and "
        f"{place.ada.mention} to all of us.\n"
    )
    with running(fork_server, chatty, place):
        answer = the_answer(place, place.ask("What does the warden write at a fire alarm?"))
        assert "warden" in answer
        assert place.discord.pings() == []


# ---------------------------------------------------------------- the gateway


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["drop", "ask_to_reconnect", "invalidate"])
def test_whatever_happens_to_the_gateway_nothing_is_lost_or_doubled(
    fork_server: ForkServer, thinking: Program, place: DiscordPlace, gate: Gate, trouble: str
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, "Searching: ")
        getattr(place.discord.gateway, trouble)()
        place.say(said, WHO)
        gate.release()
        first, second = until_answered(place, said, 2)
        assert "90 days" in first.text
        assert "security team" in second.text


@pytest.mark.slow
def test_after_a_black_out_everything_goes_on(
    fork_server: ForkServer, thinking: Program, place: DiscordPlace, gate: Gate
) -> None:
    with running(fork_server, thinking, place):
        said = ask_and_catch(place, gate)
        until_shown(place, said, "Searching: ")
        place.discord.black_out()
        gate.release()
        place.until(lambda: len([r for r in gate.claude.requests if r.finished]) == 3)
        place.discord.up()
        assert "90 days" in the_answer(place, said)
        place.say(said, WHO)
        assert "security team" in until_answered(place, said, 2)[1].text


# ---------------------------------------------------------------- all of a message


@pytest.mark.parametrize("kind", ["a reply", "a forward", "an app's embed", "a paste", "a thread"])
def test_a_mention_asks_what_a_message_says(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace, kind: str
) -> None:
    people, bot = place.discord.people, place.discord.bot
    with running(fork_server, chatty, place):
        match kind:
            case "a reply":
                target = people.say(place.ada, place.general, KEYS)
                said = people.say(place.ada, place.general, mentions_bot=True, reply_to=target)
            case "a forward":
                elsewhere = place.discord.text(place.guild, "elsewhere")
                origin = people.say(place.ada, elsewhere, KEYS)
                said = people.forward(place.ada, origin, place.general, bot.mention)
            case "an app's embed":
                app = place.discord.app_user("News")
                target = people.say_as_app(app, place.general, embeds=[{"description": KEYS}])
                said = people.say(place.ada, place.general, mentions_bot=True, reply_to=target)
            case "a paste":
                paste = File("message.txt", KEYS.encode(), "text/plain; charset=utf-8")
                target = people.say(place.ada, place.general, attachments=[paste])
                said = people.say(place.ada, place.general, mentions_bot=True, reply_to=target)
            case _:
                first = people.say(place.ada, place.general, KEYS)
                thread = people.start_thread(place.ada, place.general, "Keys", source=first)
                people.say(place.ada, thread, mentions_bot=True)
                until_reads(place, thread, "90 days")
                return
        place.until(lambda: place.discord.thread_of(said))
        made = place.discord.thread_of(said)
        assert made is not None
        until_reads(place, made, "90 days")
        assert KEYS.startswith(made.name.rstrip("…"))


def test_research_this_reads_an_embed(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    app = place.discord.app_user("News")
    with running(fork_server, chatty, place):
        place.until(place.discord.registered)
        target = place.discord.people.say_as_app(app, place.general, embeds=[{"description": KEYS}])
        place.discord.people.message_command(place.ada, "Research this", target)
        place.until(lambda: place.discord.thread_of(target))
        thread = place.discord.thread_of(target)
        assert thread is not None
        until_reads(place, thread, "90 days")


def test_a_person_who_writes_through_a_proxy_gets_one_answer(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    app, hook = place.discord.app_user("PluralKit"), place.discord.app_user("Robin")
    with running(fork_server, chatty, place):
        first = place.discord.people.say(place.ada, place.general, KEYS, mentions_bot=True)
        place.until(lambda: place.discord.thread_of(first))
        text = f"{place.discord.bot.mention} {KEYS}"
        again = place.discord.people.proxy(app, hook, first, text)
        place.until(lambda: place.discord.thread_of(again))
        thread, emptied = place.discord.thread_of(again), place.discord.thread_of(first)
        assert thread is not None
        assert emptied is not None
        until_reads(place, thread, "90 days")
        place.until(lambda: emptied.archived)
        assert place.discord.posts(emptied) == []


def test_in_a_voice_channel_a_reply_is_a_follow_up(
    fork_server: ForkServer, chatty: Program, place: DiscordPlace
) -> None:
    voice = place.discord.voice(place.guild, "Voice")
    with running(fork_server, chatty, place):
        place.discord.people.say(place.ada, voice, KEYS, mentions_bot=True)
        until_reads(place, voice, "90 days")
        (answer,) = place.discord.posts(voice)
        place.discord.people.say(
            place.ada, voice, WHO, reply_to=place.discord.message(voice, answer)
        )
        place.until(lambda: len(place.discord.posts(voice)) == 2)
        until_reads(place, voice, "security team")

"""Reception handles messages, edits, deletions and pressed buttons of any platform."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from bot.core.errors import Denied, InvalidQuestion, PostRefused
from bot.core.messages import Answer, Attachment, Author
from bot.core.settings import ChannelRules
from bot.operation.configuration import load_settings
from bot.service.reception import AcceptedQuestion, Handled, Ignored, is_stop_word
from bot.storage.tables import steps
from bot.storage.workspaces import Opinion
from tests.fakes.poster import Remembered
from tests.unit.samples import verdicts
from tests.unit.service.conftest import House, OpenHouse

ADA, BOB = Author("U1", "Ada"), Author("U2", "Bob")


# ---------------------------------------------------------------- what is a question


async def test_the_same_message_delivered_twice_is_one_question(house: House) -> None:
    message = house.message("How tall is the tower?")
    first = await house.reception.receive(message, "footnote")
    again = await house.reception.receive(message, "footnote")
    assert isinstance(first, AcceptedQuestion)
    assert again == AcceptedQuestion(first.run_id, new=False, ahead=0)
    await house.dispatcher.wait(first.run_id)
    assert len(house.poster.replies) == 1


async def test_a_thread_of_strangers_is_left_alone(house: House) -> None:
    message = house.message("Lunch?")
    assert await house.reception.receive(message, "thread") == Ignored()
    assert await house.reception.receive(message, "others") == Ignored()
    assert house.poster.replies == []


async def test_a_reply_in_a_thread_of_ours_is_a_question(house: House) -> None:
    await house.answered()
    outcome = await house.reception.receive(house.message("And the bridge?"), "thread")
    assert isinstance(outcome, AcceptedQuestion)
    await house.dispatcher.wait(outcome.run_id)
    said = house.reasoner.transcripts[-1].entries
    assert [entry.text for entry in said] == ["How tall is the tower?", "Tower is 330 m tall [1]."]


async def test_a_thread_is_ours_after_a_restart_too(house: House) -> None:
    await house.answered()
    house.reception._ours.clear()
    assert isinstance(
        await house.reception.receive(house.message("And?"), "thread"), AcceptedQuestion
    )


@pytest.mark.parametrize("setting", ["mention", "thread"])
async def test_what_people_say_to_each_other_is_remembered_but_not_answered(
    open_house: OpenHouse, setting: str
) -> None:
    house = await open_house(followups=setting)
    await house.answered()
    address = "others" if setting == "thread" else "thread"
    said = house.message("I measured it.", author=BOB)
    assert await house.reception.receive(said, address) == Ignored()  # type: ignore[arg-type]
    await house.answered("Who measured it?")
    entry = house.reasoner.transcripts[-1].entries[-1]
    assert (entry.name, entry.text) == ("Bob", "I measured it.")


async def test_a_message_that_was_only_heard_becomes_a_question_when_asked(house: House) -> None:
    await house.answered()
    message = house.message("How long is the bridge?")
    assert await house.reception.receive(message, "others") == Ignored()
    outcome = await house.reception.receive(message, "footnote")
    assert isinstance(outcome, AcceptedQuestion)
    assert outcome.new


async def test_denied_askers_hear_why(open_house: OpenHouse) -> None:
    house = await open_house(deny_users=("U2",))
    with pytest.raises(Denied) as refusal:
        await house.ask("How tall?", author=BOB)
    assert refusal.value.text_id == "denied-user"
    await house.answered()
    with pytest.raises(Denied):
        await house.reception.receive(house.message("And?", author=BOB), "thread")


async def test_history_is_read_once_and_comes_before_the_question(house: House) -> None:
    early = house.message("The tower is high.", author=BOB)
    house.poster.said = [early]
    await house.answered("Is that true?")
    assert [e.text for e in house.reasoner.transcripts[0].entries] == ["The tower is high."]
    house.poster.said = [house.message("Never read.")]
    await house.answered("Sure?")
    texts = [e.text for e in house.reasoner.transcripts[1].entries]
    assert texts == ["The tower is high.", "Is that true?", "Tower is 330 m tall [1]."]


# ---------------------------------------------------------------- waiting and stopping


async def test_a_second_question_waits_its_turn_and_the_asker_is_told(house: House) -> None:
    house.reasoner.let_on.clear()
    first = await house.ask("How tall is the tower?")
    second = await house.ask("How long is the bridge?")
    assert (first.ahead, second.ahead) == (0, 1)
    house.reasoner.let_on.set()
    await house.dispatcher.wait(second.run_id)
    assert house.poster.waiting == [(second.run_id, 1)]
    asked = [reply.run.message.text for reply in house.poster.replies]
    assert asked == ["How tall is the tower?", "How long is the bridge?"]


async def test_the_word_stop_ends_the_threads_runs(house: House) -> None:
    house.reasoner.let_on.clear()
    first, second = await house.ask("How tall?"), await house.ask("How long?")
    other = await house.ask("How old?", thread="t2")
    await house.reasoner.thinking.wait()
    assert await house.reception.receive(house.message("Stop!"), "thread") == Handled(2)
    for run in (first, second):
        await house.dispatcher.wait(run.run_id)
        assert (await house.run(run.run_id)).state == "stopped"
    assert (await house.run(other.run_id)).state in ("accepted", "running")


async def test_stop_between_the_threads_of_a_direct_conversation_ends_what_its_author_asked(
    house: House,
) -> None:
    house.reasoner.let_on.clear()
    mine = [await house.ask("How tall?", thread=f"t{n}", audience="person") for n in range(2)]
    elsewhere = replace(house.message("").thread, channel="C2")
    others = [
        await house.ask("How old?", thread="t8", author=BOB),
        await house.ask("How long?", thread="t9", author=ADA),
    ]
    message = house.message("How wide?", author=ADA)
    outcome = await house.reception.receive(replace(message, thread=elsewhere), "footnote")
    assert isinstance(outcome, AcceptedQuestion)
    assert await house.reception.stop_in_channel(elsewhere, BOB) == 0
    stop = house.message("stop", thread="new", audience="person", author=BOB)
    assert await house.reception.receive(stop, "footnote") == Handled(1)
    stop = house.message("stop", thread="new", audience="person", author=ADA)
    assert await house.reception.receive(stop, "footnote") == Handled(3)
    for asked in (*mine, *others):
        await house.dispatcher.wait(asked.run_id)
        assert (await house.run(asked.run_id)).state == "stopped"
    assert (await house.run(outcome.run_id)).state in ("accepted", "running")
    assert await house.reception.receive(stop, "footnote") == Handled(0)


async def test_stop_in_a_channel_where_nothing_was_asked_is_a_question(house: House) -> None:
    assert isinstance(
        await house.reception.receive(house.message("stop"), "footnote"), AcceptedQuestion
    )


async def test_stopping_by_run_or_by_message(house: House) -> None:
    house.reasoner.let_on.clear()
    message = house.message("How tall?")
    first = await house.reception.receive(message, "footnote")
    assert isinstance(first, AcceptedQuestion)
    second = await house.ask("How long?", thread="t2")
    assert await house.reception.stop_question("slack", message.event_id)
    assert await house.reception.stop_run(second.run_id)
    for run_id in (first.run_id, second.run_id):
        await house.dispatcher.wait(run_id)
        assert (await house.run(run_id)).state == "stopped"
        assert not await house.reception.stop_run(run_id)
    assert not await house.reception.stop_question("slack", "unknown")


# ---------------------------------------------------------------- editing and deleting


async def test_an_edited_question_is_answered_anew_in_the_same_reply(house: House) -> None:
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    assert await house.reception.edit("slack", message.event_id, "How long is the bridge?")
    await house.dispatcher.wait(asked.run_id)
    first, second = house.poster.replies
    assert second.run.message.text == "How long is the bridge?"
    assert second.saved == {"opened": 1}
    assert len(second.finished) == 1
    assert first.run.id == second.run.id


async def test_a_question_edited_while_it_is_worked_on_gets_one_answer(house: House) -> None:
    house.reasoner.let_on.clear()
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.reasoner.thinking.wait()
    assert await house.reception.edit("slack", message.event_id, "How long is the bridge?")
    house.reasoner.let_on.set()
    await house.dispatcher.wait(asked.run_id)
    first, second = house.poster.replies
    assert (first.finished, first.failed, first.abandoned) == ([], [], 1)
    assert [answer.question for answer in second.finished] == ["How long is the bridge?"]


async def test_a_question_edited_while_it_waits_is_asked_as_edited(house: House) -> None:
    house.reasoner.let_on.clear()
    await house.ask("How tall is the tower?")
    message = house.message("How logn is the bridge?")
    second = await house.reception.receive(message, "footnote")
    assert isinstance(second, AcceptedQuestion)
    await house.reasoner.thinking.wait()
    await house.reception.edit("slack", message.event_id, "How long is the bridge?")
    house.reasoner.let_on.set()
    await house.dispatcher.wait(second.run_id)
    assert [r.run.message.text for r in house.poster.replies] == [
        "How tall is the tower?",
        "How long is the bridge?",
    ]
    assert house.poster.replies[1].finished[0].status == "answered"


async def test_an_edit_that_changes_nothing_is_no_edit(house: House) -> None:
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    assert not await house.reception.edit("slack", message.event_id, " How tall is the tower? ")
    assert not await house.reception.edit("slack", "unknown", "Anything?")
    with pytest.raises(InvalidQuestion):
        await house.reception.edit("slack", message.event_id, "")
    assert len(house.poster.replies) == 1


async def test_a_question_answered_again_reuses_nothing_that_was_found(house: House) -> None:
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    first = await attempts(house)
    assert await house.reception.edit("slack", message.event_id, message.text, regenerate=True)
    await house.dispatcher.wait(asked.run_id)
    second = await attempts(house)
    assert len(second) == len(first)
    assert min(second) > max(first)
    assert [reply.run.id for reply in house.poster.replies] == [asked.run_id, asked.run_id]


async def attempts(house: House) -> list[int]:
    """The attempts by which the recorded steps were carried out."""
    async with house.store.database.read() as db:
        return list(await db.scalars(sa.select(steps.c.attempt)))


@pytest.mark.parametrize("working", [True, False], ids=["while working", "when answered"])
async def test_a_deleted_question_takes_its_reply_away(house: House, working: bool) -> None:
    if working:
        house.reasoner.let_on.clear()
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    if working:
        await house.reasoner.thinking.wait()
    else:
        await house.dispatcher.wait(asked.run_id)
    assert await house.reception.forget("slack", message.event_id)
    await house.dispatcher.wait(asked.run_id)
    assert house.poster.removed == [(asked.run_id, {"opened": 1})]
    run = await house.run(asked.run_id)
    assert (run.state, run.message.text, run.answer) == ("removed", "", None)
    async with house.store.database.read() as db:
        assert (await db.execute(sa.select(steps))).all() == []
    assert not await house.reception.forget("slack", message.event_id)
    # The event delivered once more finds it removed, and does nothing.
    assert await house.reception.receive(message, "footnote") == AcceptedQuestion(
        asked.run_id, False, 0
    )
    await house.dispatcher.wait(asked.run_id)
    assert len(house.poster.replies) == 1


async def test_what_was_deleted_is_not_remembered(house: House) -> None:
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    await house.reception.forget("slack", message.event_id)
    house.reasoner.let_on.set()
    await house.dispatcher.wait(asked.run_id)
    await house.answered("How long is the bridge?")
    assert house.reasoner.transcripts[-1].entries == ()


# ---------------------------------------------------------------- buttons


async def test_feedback_is_kept_with_the_run_and_the_last_verdict_counts(house: House) -> None:
    answer = await house.answered()
    for author, verdict in ((ADA, "bad"), (BOB, "good"), (ADA, "good")):
        assert await house.reception.feedback(answer.run, author, Opinion(verdict))  # type: ignore[arg-type]
    kept = await verdicts(house.store.database, answer.run)
    assert kept == {"U1": "good", "U2": "good"}


# ---------------------------------------------------------------- places


async def test_an_admin_sets_the_rules_of_a_channel(open_house: OpenHouse) -> None:
    house = await open_house(channels={"C1": {"depth": "quick"}})
    command = house.message("/footnote", author=Author("U1", "Ada", admin=True))
    assert (await house.reception.rules.of(command.thread)).depth == "quick"
    await house.reception.rules.set(command, ChannelRules(depth="deep", language="German"))
    asked = await house.ask("How tall is the tower?")
    options = (await house.run(asked.run_id)).options
    assert (options.depth, options.instructions) == ("deep", "Answer in this language: German.")
    await house.reception.rules.set(command, None)
    assert (await house.reception.rules.of(command.thread)).depth == "quick"


async def test_nobody_else_sets_rules(house: House) -> None:
    with pytest.raises(Denied):
        await house.reception.rules.set(house.message("/footnote"), ChannelRules(depth="deep"))
    assert await house.reception.rules.of(house.message("x").thread) == ChannelRules()


async def test_the_months_use_counts_questions_and_cost(house: House) -> None:
    await house.answered()
    await house.answered("How long is the bridge?", thread="t2")
    use = await house.reception.use_this_month("slack", "T1")
    assert (use.questions, use.answered, use.usd) == (2, 2, 0.0)
    assert (await house.reception.use_this_month("slack", "T2")).questions == 0


# ---------------------------------------------------------------- what comes at a bad moment


async def test_an_edited_question_can_be_dug_into_anew(house: House) -> None:
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    first = await house.reception.dig_deeper(asked.run_id, ADA, locale="en", audience="channel")
    await house.dispatcher.wait(first.run_id)
    await house.reception.edit("slack", message.event_id, "How long is the bridge?")
    await house.dispatcher.wait(asked.run_id)
    second = await house.reception.dig_deeper(asked.run_id, ADA, locale="en", audience="channel")
    assert second.new
    assert (await house.run(second.run_id)).message.text == "How long is the bridge?"


async def test_deleting_a_question_deletes_what_dug_deeper_into_it(house: House) -> None:
    message = house.message("How tall is the secret tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    deeper = await house.reception.dig_deeper(asked.run_id, BOB, locale="en", audience="channel")
    await house.dispatcher.wait(deeper.run_id)
    assert await house.reception.forget("slack", message.event_id)
    for run_id in (asked.run_id, deeper.run_id):
        await house.dispatcher.wait(run_id)
        run = await house.run(run_id)
        assert (run.state, run.message.text, run.answer) == ("removed", "", None)
    assert {run_id for run_id, _ in house.poster.removed} == {asked.run_id, deeper.run_id}


async def test_a_stop_is_kept_before_it_is_acknowledged(house: House) -> None:
    house.reasoner.let_on.clear()
    asked = await house.ask("How tall is the tower?")
    await house.reasoner.thinking.wait()
    assert await house.reception.stop_run(asked.run_id)
    run = await house.run(asked.run_id)
    assert run.stop_requested or run.state == "stopped"


async def test_a_stop_before_an_edit_does_not_stop_what_is_asked_anew(house: House) -> None:
    house.reasoner.let_on.clear()
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.reasoner.thinking.wait()
    await house.reception.stop_run(asked.run_id)
    await house.reception.edit("slack", message.event_id, "How long is the bridge?")
    house.reasoner.let_on.set()
    await house.dispatcher.wait(asked.run_id)
    assert house.poster.replies[-1].finished[-1].status == "answered"


async def test_a_question_edited_to_stop_is_stopped(house: House) -> None:
    house.reasoner.let_on.clear()
    message = house.message("How tall is the tower?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.reasoner.thinking.wait()
    assert await house.reception.edit("slack", message.event_id, "stop")
    await house.dispatcher.wait(asked.run_id)
    assert (await house.run(asked.run_id)).state == "stopped"


async def test_a_question_deleted_before_it_was_kept_stays_deleted(house: House) -> None:
    message = house.message("How tall is the tower?")
    assert not await house.reception.forget("slack", message.event_id)
    assert await house.reception.receive(message, "footnote") == Ignored()
    assert house.poster.replies == []


async def test_who_may_no_longer_ask_may_not_edit_either(open_house: OpenHouse) -> None:
    house = await open_house()
    message = house.message("How tall is the tower?", author=BOB)
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    house.reception.settings = load_settings(deny_users="U2")
    with pytest.raises(Denied):
        await house.reception.edit("slack", message.event_id, "How long is the bridge?")


async def test_files_told_of_later_are_read_for_the_same_question(house: House) -> None:
    house.reasoner.let_on.clear()
    url = "https://files.example/a.txt"
    house.poster.files[url] = b"The mast is 12 m tall."
    message = house.message("How tall is the mast?")
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.reasoner.thinking.wait()
    with_file = replace(message, attachments=(Attachment("a.txt", "text/plain", url),))
    assert await house.reception.receive(with_file, "footnote") == AcceptedQuestion(
        asked.run_id, False, 0
    )
    house.reasoner.let_on.set()
    await house.dispatcher.wait(asked.run_id)
    (answer,) = house.poster.replies[-1].finished
    assert url in {citation.url for citation in answer.citations}
    assert sum(len(reply.finished) for reply in house.poster.replies) == 1


async def test_a_reply_that_breaks_ends_its_run_and_frees_its_thread(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Remembered, answer: Answer) -> None:
        raise ValueError("cannot be shown")

    with monkeypatch.context() as patched:
        patched.setattr(Remembered, "finish", broken)
        first = await house.ask("How tall is the tower?")
        await house.dispatcher.wait(first.run_id)
    assert (await house.run(first.run_id)).state == "failed"
    assert (await house.answered("How long is the bridge?")).status == "answered"


async def test_a_place_that_closes_while_the_question_is_deleted_is_no_failure(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = house.message("How tall is the tower?")

    async def refused(self: Remembered, answer: Answer) -> None:
        await house.reception.forget("slack", message.event_id)
        raise PostRefused("The channel is archived.")

    monkeypatch.setattr(Remembered, "finish", refused)
    asked = await house.reception.receive(message, "footnote")
    assert isinstance(asked, AcceptedQuestion)
    await house.dispatcher.wait(asked.run_id)
    assert [run_id for run_id, _ in house.poster.removed] == [asked.run_id]
    assert (await house.run(asked.run_id)).state == "removed"


@pytest.mark.parametrize(
    "text",
    ["stop", "Stop!", " STOP. ", "please stop", "never mind…", "停", "停止。", "请停止", "取消！"],
)
def test_a_message_that_only_asks_to_stop(text: str) -> None:
    assert is_stop_word(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "stop words in English?",
        "Where does the bus stop?",
        "停止线是什么",
        "don't stop",
        "s t o p",
    ],
)
def test_any_other_message(text: str) -> None:
    assert not is_stop_word(text)

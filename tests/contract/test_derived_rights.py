"""The rights to what Footnote derives from documents: derived kind × place × withdrawal.

Answers, corrections, comparisons, suggestions, questions and titles repeat words of the documents
they were made from. Each is told only where all of those may be read, by the rights of today.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
import sqlalchemy as sa

from bot.core.errors import Invalid
from bot.core.messages import Message, Thread, Transcript
from bot.core.texts import texts_for
from bot.reasoning.evidence import Rewritten
from bot.service.reception import AcceptedQuestion
from bot.service.standing_checks import DAYS
from bot.service.standing_service import StandingRounds, do_by_words
from bot.storage.store import RunRecord
from bot.storage.tables import messages, runs
from bot.storage.workspaces import Opinion
from tests.contract.rights_stage import (
    PEOPLE,
    QUESTION,
    SECRETS,
    VISITORS,
    Parrot,
    Person,
    Stage,
    address_of,
    documents_of,
    secrets_in,
    toml,
)

OUTDATED = "No, that is out of date."
FOLLOW_UP = "And since when?"
IN_CHARGE = next(each for each in VISITORS if each.id == "root")


def named(name: str) -> Person:
    return next(each for each in PEOPLE if each.name == name)


class Restating(Parrot):
    """Puts what it read in the thread into everything that it words, as a model does: corrections,
    standalone questions and queries. ``asked`` is what it was asked."""

    asked: ClassVar[list[str]] = []

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        Restating.asked.append(message.text)
        if message.text.startswith("Repeat"):
            return Rewritten("chat", message.text, reply=repr(transcript))
        heard = " ".join(sorted(set(re.findall(r"kiwi\w+", repr(transcript)))))
        if message.text == OUTDATED:
            stated = f"Rosebud: the passphrase of the gate is no longer {heard}."
            return Rewritten("chat", message.text, correction=stated)
        if message.text == FOLLOW_UP:
            question = f"Since when is the passphrase of the gate {heard}?"
            return Rewritten("search", question, (question,), (question,))
        return await super().rewrite(transcript, message, instructions)


@pytest.fixture
def stage(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage.app.service._reasoner = Restating
    monkeypatch.setattr(Restating, "asked", [])
    return stage


def withdraw(stage: Stage) -> None:
    """Take every list of readers away: what is left is for everybody."""
    text = toml(stage.docs, only='people = ["UNOBODY"]', tools="UNOBODY")
    lists = r"^(channels|people|console_users) = .*$"
    Path("footnote.toml").write_text(
        re.sub(lists, r'\1 = ["nobody"]', text, flags=re.MULTILINE), encoding="utf-8"
    )


def left_to(person: Person) -> frozenset[str]:
    """The documents that a person may be told about after ``withdraw``."""
    return person.may if person.platform == "terminal" else person.may & {"open", "loose"}


def restricted(names: Collection[str]) -> frozenset[str]:
    """Those of the documents that not everybody may read."""
    return frozenset(names) - {"open", "loose"}


# Where something is derived from documents that others may not read, and by whom.
MAKERS = [
    named("anybody in the channel of eng"),
    named("anybody in the Discord channel of eng"),
    named("a person of hr in private"),
    named("a person of hr in private on Discord"),
    named("a user of hr in the console"),
]


async def no_details(stage: Stage, run: RunRecord, by: Person) -> None:
    with pytest.raises(Invalid, match="documents that may not be read"):
        await stage.reception.details(
            run.id, by.platform, by.channel, by.author, audience=by.audience
        )


async def told(stage: Stage, run: RunRecord, person: Person) -> frozenset[str]:
    """The documents whose words somebody was told by the reply to a question, and in its record."""
    current = await stage.app.store.run(run.id)
    assert current is not None
    return secrets_in(stage.shown(person, run.id) + repr(current.answer))


# ---------------------------------------------------------------- corrections


async def outdated(stage: Stage, maker: Person) -> Thread:
    """Somebody says, of an answer with all that may be read in a place, that it is out of date."""
    thread = stage.thread(maker)
    first = await stage.ask(maker, thread=thread)
    assert first.answer is not None
    said = await stage.ask(maker, OUTDATED, thread=thread)
    assert said.answer is not None
    assert said.answer.corrects
    assert secrets_in(said.answer.text) - {"open", "loose"}, "the model repeated nothing"
    return thread


async def test_a_correction_repeats_documents_only_where_all_of_them_may_be_read_until_then(
    stage: Stage,
) -> None:
    threads = {by: await outdated(stage, by) for by in MAKERS}
    runs: dict[Person, RunRecord] = {}
    for person in PEOPLE:
        run = runs[person] = await stage.ask(person)
        assert await told(stage, run, person) <= person.may, person.name
    for by in MAKERS:  # there it is told as a whole
        assert "no longer" in stage.shown(by, runs[by].id), by.name
    withdraw(stage)
    for person in PEOPLE:
        places = (None, threads[person], runs[person].message.thread) if person in threads else ()
        for where in places or (None,):
            for text in (QUESTION, "Repeat what you said."):
                run = await stage.ask(person, text, thread=where)
                assert await told(stage, run, person) <= left_to(person), (person.name, text)
    used = [f"{api}/runs/{runs[by].id}" for by in MAKERS for api in ("", "/api")]
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            for path in ("/corrections", *used):
                said = secrets_in((await browser.get(path)).text)
                assert said <= left_to(visitor), (visitor.name, path)


async def test_what_an_answer_took_from_a_correction_has_its_documents(stage: Stage) -> None:
    runs = {}
    for by in MAKERS:
        await outdated(stage, by)
        run = runs[by] = await stage.ask(by, "What is rosebud?")  # no document has the word
        assert run.answer is not None
        assert any(url.startswith("correction:") for url in run.answer.rests_on)
        assert restricted(by.may) - {"tools"} <= documents_of(stage.docs, run.answer)
    withdraw(stage)
    for by, run in runs.items():
        await no_details(stage, run, by)


async def test_the_list_of_corrections_has_the_authors_own_words_for_other_visitors(
    stage: Stage,
) -> None:
    for by in MAKERS:
        await outdated(stage, by)
    listed = {}
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            page = (await browser.get("/corrections")).text
        assert secrets_in(page) <= visitor.may, visitor.name
        listed[visitor.id] = page.count(f">{OUTDATED}<"), page.count(">Rosebud")
    assert listed.pop("ann") == (0, 1)  # made by her
    assert listed.pop("root") == (len(MAKERS), 0)
    assert set(listed.values()) == {(0, 0)}


# ---------------------------------------------------------------- questions that Footnote worded


async def suggested(stage: Stage, maker: Person) -> RunRecord:
    """Somebody presses a suggestion that only the documents of its answer could give."""
    thread = stage.thread(maker)
    first = await stage.ask(maker, thread=thread)
    assert first.answer is not None
    words = " ".join(SECRETS[name] for name in sorted(restricted(maker.may)))
    answer = replace(first.answer, suggestions=(f"What is the gate {words}?",))
    await stage.app.store.save_answer(first.id, first.attempt, answer)
    pressed = await stage.reception.follow_up(
        first.id, 0, maker.author, locale="en", audience=maker.audience
    )
    run = await stage.ended(pressed.run_id)
    assert restricted(secrets_in(run.message.text)) == restricted(maker.may)
    return run


async def understood(stage: Stage, maker: Person) -> RunRecord:
    """Somebody asks on, and a model words the question with what it has read in the thread."""
    thread = stage.thread(maker)
    await stage.ask(maker, thread=thread)
    run = await stage.ask(maker, FOLLOW_UP, thread=thread)
    assert run.answer is not None
    assert restricted(secrets_in(run.answer.question))
    return run


async def dug_deeper(stage: Stage, maker: Person) -> RunRecord:
    run = await understood(stage, maker)
    pressed = await stage.reception.dig_deeper(
        run.id, maker.author, locale="en", audience=maker.audience
    )
    deeper = await stage.ended(pressed.run_id)
    assert restricted(secrets_in(deeper.message.text))
    return deeper


async def researched(stage: Stage, maker: Person) -> RunRecord:
    """Somebody chooses "Research this" for a post of Footnote's."""
    first = await stage.ask(maker)
    assert first.answer is not None
    quotes = " ".join(each.quote for each in first.answer.citations)
    message = stage.message(maker, f"{first.answer.text} {quotes}", first.message.thread)
    asked = await stage.reception.receive(message, "footnote", repeats_ours=True)
    assert isinstance(asked, AcceptedQuestion)
    run = await stage.ended(asked.run_id)
    assert restricted(secrets_in(run.message.text))
    return run


WORDED = {
    "a suggestion": suggested,
    "a question researched again": dug_deeper,
    "a post researched": researched,
}


@pytest.mark.parametrize("worded", WORDED)
async def test_a_question_that_footnote_worded_leaves_its_thread_with_its_documents(
    stage: Stage, worded: str
) -> None:
    runs = {by: await WORDED[worded](stage, by) for by in MAKERS}
    withdraw(stage)
    for by, run in runs.items():
        for text in ("Repeat what you said.", FOLLOW_UP, QUESTION):
            again = await stage.ask(by, text, thread=run.message.thread)
            assert await told(stage, again, by) <= left_to(by), (by.name, text)


async def test_a_button_does_not_ask_what_may_not_be_read_any_more(stage: Stage) -> None:
    runs = {by: (await understood(stage, by), await suggested(stage, by)) for by in MAKERS}
    withdraw(stage)
    for by, (run, of_suggestion) in runs.items():
        deeper = partial(
            stage.reception.dig_deeper, author=by.author, locale="en", audience=by.audience
        )
        pressed = await deeper(run.id)
        again = await stage.ended(pressed.run_id)
        assert again.message.text == FOLLOW_UP
        assert await told(stage, again, by) <= left_to(by)
        with pytest.raises(Invalid, match="documents that may not be read"):
            await deeper(of_suggestion.id)


async def test_a_question_whose_documents_are_taken_away_before_it_is_answered_is_not(
    stage: Stage,
) -> None:
    hr = named("a person of hr in private")
    run = await suggested(stage, hr)
    async with stage.app.store.database.write() as db:
        await db.execute(sa.update(runs).where(runs.c.id == run.id).values(state="accepted"))
    withdraw(stage)
    Restating.asked.clear()
    stage.posters["slack"].replies.clear()
    await stage.app.dispatcher.submit(run.id, run.message.thread)
    again = await stage.ended(run.id)
    assert again.answer is not None
    assert again.answer.status == "failed"
    assert "Access to documents changed" in again.answer.text
    assert Restating.asked == []
    (reply,) = (each for each in stage.posters["slack"].replies if each.run.id == run.id)
    assert secrets_in(repr((reply.texts, reply.finished, reply.failed))) == set()


# ---------------------------------------------------------------- pages of the console


def pages_about(run: RunRecord) -> list[str]:
    """Every page that shows questions, or is about this one."""
    thread, word = run.message.thread.thread, sorted(secrets_in(run.message.text))
    return [
        "/",
        "/overview",
        "/overview/unanswered",
        "/overview/unanswered.csv",
        "/overview/feedback",
        "/conversations",
        "/conversations/list",
        "/watches",
        "/corrections",
        f"/runs/{run.id}",
        f"/api/runs/{run.id}",
        f"/api/runs/{run.id}/events",
        f"/threads/{thread}",
        f"/api/threads/{thread}",
        *(f"/conversations?q={SECRETS[name]}" for name in word),
        *(f"/threads/{thread}/export/{form}" for form in ("md", "html", "bib", "csl")),
    ]


def shown_on(path: str, page: str) -> str:
    """A page without the words that the visitor has searched for."""
    asked = path.partition("?q=")[2]
    return re.sub(rf'value="{asked}"|“{asked}”', "", page) if asked else page


async def test_the_lists_of_the_console_word_questions_by_the_rights_of_the_visitor(
    stage: Stage,
) -> None:
    """As titles of conversations and hits of a search, and among the unanswered questions."""
    asked = {by: await suggested(stage, by) for by in MAKERS}
    for by, run in asked.items():
        await stage.reception.feedback(run.id, by.author, Opinion("bad", "", ""))
        await stage.reception.watch(run.id, by.author, "daily", locale="en", audience=by.audience)
    async with stage.app.store.database.write() as db:
        ids = [run.id for run in asked.values()]
        await db.execute(sa.update(runs).where(runs.c.id.in_(ids)).values(state="not_found"))
        is_first = messages.c.text == QUESTION  # deleted: the conversation begins with the other
        await db.execute(sa.update(messages).where(is_first).values(text=""))
    paths = dict.fromkeys(path for run in asked.values() for path in pages_about(run))
    met = {}
    for may, change in ((lambda one: one.may, None), (left_to, withdraw)):
        if change is not None:
            change(stage)
        for visitor in VISITORS:
            async with stage.browser(visitor) as browser:
                for path in paths:
                    page = shown_on(path, (await browser.get(path)).text)
                    words = secrets_in(page)
                    assert words <= may(visitor), (visitor.name, path)
                    met[visitor.id, path, change is None] = bool(restricted(words))
    (ann,) = (by for by in MAKERS if by.platform == "web")  # her pages show it until then
    own = ("/conversations", "/conversations?q=kiwihr", "/watches", f"/runs/{asked[ann].id}")
    assert all(met[ann.id, path, True] for path in own)
    assert not any(seen for (_, _, before), seen in met.items() if not before)


# ---------------------------------------------------------------- standing questions


@pytest.mark.parametrize("by", MAKERS, ids=str)
async def test_a_standing_question_is_listed_and_asked_as_its_documents_allow(
    stage: Stage, by: Person
) -> None:
    texts = texts_for("en")
    run = await understood(stage, by)
    watch = await stage.reception.watch(
        run.id, by.author, "daily", locale="en", audience=by.audience
    )
    assert run.answer is not None

    async def listed(person: Person) -> str:
        message = stage.message(person, "list")
        reach = await stage.reception.reach_in(message)
        said = await do_by_words(stage.reception.standing, message, "list", reach, texts)
        assert said is not None
        return said

    assert run.answer.question in await listed(by)
    for person in PEOPLE:
        if (person.platform, person.id) == (by.platform, by.id):  # the same list, elsewhere
            assert secrets_in(await listed(person)) <= person.may, person.name
    withdraw(stage)
    assert FOLLOW_UP in await listed(by)
    Restating.asked.clear()
    app = stage.app
    rounds = StandingRounds(stage.settings, app.store, app.service, app.dispatcher, {by.platform})
    (check,) = await rounds.once(watch.due_at)
    await app.dispatcher.wait(check)
    assert Restating.asked == [FOLLOW_UP]
    assert secrets_in(stage.shown(by, check)) <= left_to(by)
    over = datetime.now(UTC) + timedelta(days=DAYS + 1)
    (last,) = await rounds.once(over)
    await app.dispatcher.wait(last)
    said = stage.shown(by, last)
    assert FOLLOW_UP in said
    assert "have stopped checking this" in said
    assert secrets_in(said) <= left_to(by)


async def test_a_standing_question_with_no_words_of_a_person_is_not_asked_any_more(
    stage: Stage,
) -> None:
    hr = named("a person of hr in private")
    run = await suggested(stage, hr)
    watch = await stage.reception.watch(run.id, hr.author, "daily", locale="en", audience="person")
    withdraw(stage)
    app = stage.app
    rounds = StandingRounds(stage.settings, app.store, app.service, app.dispatcher, {"slack"})
    assert await rounds.once(watch.due_at) == []
    (kept,) = await stage.reception.standing.all()
    assert kept.outcome == "refused"
    assert kept.due_at > watch.due_at


async def compared(stage: Stage, maker: Person, *, is_taken_away: bool) -> RunRecord | None:
    """The check of a standing question whose earlier answer has a sentence that is gone now, and
    was made from a document that the check does not find."""
    first = await stage.ask(maker)
    assert first.answer is not None
    of_open = address_of(stage.docs, "open")
    (cited, *_) = (each for each in first.answer.citations if each.url == of_open)
    said = "The gate takes 987654 keys"
    hidden = (stage.docs / ("hr" if "hr" in maker.may else "eng") / "gone.md").as_uri()
    answer = replace(
        first.answer,
        text=f"{said} [{cited.number}].",
        citations=(replace(cited, quote=said),),
        documents=(*first.answer.documents, hidden),
    )
    await stage.app.store.save_answer(first.id, first.attempt, answer)
    watch = await stage.reception.watch(
        first.id, maker.author, "daily", locale="en", audience=maker.audience
    )
    if is_taken_away:
        withdraw(stage)
    app = stage.app
    rounds = StandingRounds(
        stage.settings, app.store, app.service, app.dispatcher, {maker.platform}
    )
    (check,) = await rounds.once(watch.due_at)
    await app.dispatcher.wait(check)
    run = await app.store.run(check)
    if run is not None:
        assert "987654" in stage.shown(maker, run.id)
        assert run.answer is not None
        assert hidden in run.answer.rests_on
    return run


@pytest.mark.parametrize("by", MAKERS, ids=str)
async def test_a_comparison_rests_on_what_the_earlier_answer_rests_on(
    stage: Stage, by: Person
) -> None:
    told = await compared(stage, by, is_taken_away=False)
    assert told is not None
    withdraw(stage)
    await no_details(stage, told, by)
    again = await stage.ask(by, "Repeat what you said.", thread=told.message.thread)
    assert "987654" not in stage.shown(by, again.id)


@pytest.mark.parametrize("by", MAKERS, ids=str)
async def test_an_earlier_answer_that_may_not_be_read_any_more_is_not_compared(
    stage: Stage, by: Person
) -> None:
    assert await compared(stage, by, is_taken_away=True) is None
    assert all("987654" not in repr(each.finished) for each in stage.posters[by.platform].replies)


# ---------------------------------------------------------------- what is withheld


@pytest.mark.parametrize("by", MAKERS, ids=str)
async def test_what_was_withheld_stays_known_for_what_it_was_made_from(
    stage: Stage, by: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps that made it are stored, and operators see them."""
    monkeypatch.setattr(Parrot, "at_writing", staticmethod(lambda: withdraw(stage)))
    run = await stage.ask(by)
    assert run.answer is not None
    assert run.answer.status == "failed"
    assert restricted(documents_of(stage.docs, run.answer)) == restricted(by.may)
    assert secrets_in(run.answer.text) == set()
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            for path in (f"/runs/{run.id}", f"/api/runs/{run.id}"):
                assert secrets_in((await browser.get(path)).text) <= left_to(visitor), path

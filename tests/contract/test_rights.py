"""The rights to read documents: people × places × collections × ways to look.

Every document holds a word that stands nowhere else; whoever may not read it must not meet the
word, whichever way they look.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bot.core.errors import Denied, Invalid, PageUnreadable
from bot.core.messages import Thread
from bot.core.reader import EVERYTHING, Reader, correction_address
from bot.pages.fetch import Fetcher
from bot.research.library import Library
from bot.research.trace import page_of_trace
from bot.rights.rights import Rights
from bot.search.provider import UNKNOWN_DOCUMENT, Hit, Query
from bot.search.registry import open_search
from bot.storage.archive import Archive, Traces
from bot.storage.console import History
from bot.storage.store import RunRecord
from tests.contract.rights_stage import (
    ALL,
    GUESTS,
    OPEN,
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

ANN = next(each for each in PEOPLE if each.name == "a person of hr in private")
ANN_AT_HOME = next(each for each in VISITORS if each.id == "ann")
GONE = {"hr", "tools"}  # once they are taken away from private people
OF_HR = [each for each in PEOPLE if "hr" in each.may and each.platform != "terminal"]


# ---------------------------------------------------------------- asking


async def test_a_question_is_answered_from_what_may_be_read_there_and_all_of_it(
    stage: Stage,
) -> None:
    searched, told = {}, {}
    for person in PEOPLE:
        run = await stage.ask(person)
        searched[person.name] = documents_of(stage.docs, run.answer)
        told[person.name] = secrets_in(stage.shown(person, run.id))
    assert searched == {person.name: person.may for person in PEOPLE}
    assert [p.name for p in PEOPLE if not told[p.name] <= p.may] == []
    assert [p.name for p in PEOPLE if p.may and not told[p.name]] == []


@pytest.mark.parametrize("stage", ["members"], indirect=True)
async def test_guests_are_told_what_members_are_where_the_operator_says_so(stage: Stage) -> None:
    searched = {
        person.name: documents_of(stage.docs, (await stage.ask(person)).answer) for person in PEOPLE
    }
    assert searched == {person.name: person.as_member or person.may for person in PEOPLE}
    rights = Rights(stage.settings)  # and when a stored question is looked at
    stored = Reader("channel", "CENG", "UGUEST", guest=True)
    assert rights.reach(stored) == rights.reach(replace(stored, guest=False))


@pytest.mark.parametrize("stage", ["deny"], indirect=True)
async def test_guests_may_not_ask_where_the_operator_says_so(stage: Stage) -> None:
    refused = set()
    for person in PEOPLE:
        try:
            await stage.reception.receive(stage.message(person, QUESTION), "footnote")
        except Denied:
            refused.add(person.name)
    assert refused == {person.name for person in PEOPLE if person.guest is not False}


async def test_while_a_platform_cannot_say_who_is_a_guest_all_are_whom_it_did_not_name(
    stage: Stage,
) -> None:
    late = next(each for each in PEOPLE if each.name == "somebody Slack calls a member later")
    known = next(each for each in PEOPLE if each.name == "anybody in the channel of eng")
    stage.posters["slack"].is_away = True
    assert documents_of(stage.docs, (await stage.ask(late)).answer) == frozenset()
    assert documents_of(stage.docs, (await stage.ask(known)).answer) == known.may
    stage.posters["slack"].is_away = False
    assert documents_of(stage.docs, (await stage.ask(late)).answer) == late.may


async def test_a_document_is_read_by_its_address_where_it_may_be_and_nowhere_else(
    stage: Stage,
) -> None:
    recent = stage.app.store.recent_page
    everything = Library(open_search(stage.settings), Fetcher(stage.settings), recent, 60.0)
    rights = Rights(stage.settings, stage.posters)
    read = {person.name: frozenset[str]() for person in PEOPLE}
    refused = set()
    for person in PEOPLE:
        reader = await rights.reader(stage.message(person, QUESTION))
        library = everything.within(partial(rights.reach, reader))
        for name in SECRETS:
            url = address_of(stage.docs, name)
            for link in (url, f"{url}#gate"):
                try:
                    read[person.name] |= secrets_in((await library.read(link)).text)
                except PageUnreadable as error:
                    refused.add(str(error))
    await everything.aclose()
    assert read == {person.name: person.may for person in PEOPLE}
    assert refused == {UNKNOWN_DOCUMENT}  # as of one that is not there


@pytest.mark.parametrize("spelt", ["file://localhost{}", "FILE://{}", "file:{}", "file:///.{}"])
async def test_no_other_spelling_of_an_address_leads_to_a_document(
    stage: Stage, spelt: str
) -> None:
    bob = next(each for each in PEOPLE if each.name == "anybody in private")
    link = spelt.format(address_of(stage.docs, "hr").removeprefix("file://"))
    for text in (f"Summarize {link}", link):
        run = await stage.ask(bob, text, links=(link,))
        assert secrets_in(stage.shown(bob, run.id)) <= bob.may


async def test_words_of_documents_out_of_reach_are_as_unknown_as_any(stage: Stage) -> None:
    """An answer must not tell that a word is known which only others may read. A search knows
    nothing of a person but what they may read."""
    for person in {person.may: person for person in PEOPLE}.values():
        asked = ["kiwinobody", *(SECRETS[name] for name in sorted(person.may_not))]
        judged = set()
        for word in asked:
            run = await stage.ask(person, f"When did {word.title()} open the gate?")
            assert run.answer is not None
            titles = (step.title for step in run.answer.steps if step.kind == "judge")
            judged.add(tuple(title.replace(word.title(), "…") for title in titles))
        assert len(judged) == 1, (person.name, judged)
        assert "…" in str(judged)


# ---------------------------------------------------------------- what is there already


async def test_what_is_taken_away_is_gone_at_once_from_threads_that_quote_it(stage: Stage) -> None:
    threads = {person: stage.thread(person) for person in OF_HR}
    for person, thread in threads.items():
        first = await stage.ask(person, thread=thread)
        assert first.answer is not None
        assert "hr" in secrets_in(first.answer.text + repr(first.answer.citations))
    stage.take_away()
    for person, thread in threads.items():
        for text in (
            "Repeat what you said.",
            "And where is it written down?",
            "Summarize your sources.",
            "Say that again, shorter.",
            QUESTION,
        ):
            run = await stage.ask(person, text, thread=thread)
            assert documents_of(stage.docs, run.answer).isdisjoint(GONE)
            assert secrets_in(stage.shown(person, run.id)).isdisjoint(GONE), (person.name, text)


async def test_what_an_answer_without_footnotes_repeats_is_withheld_with_what_it_repeats(
    stage: Stage,
) -> None:
    thread = stage.thread(ANN)
    await stage.ask(ANN, thread=thread)
    repeated = await stage.ask(ANN, "Repeat what you said.", thread=thread)
    assert repeated.answer is not None
    assert not repeated.answer.citations
    assert "hr" in secrets_in(repeated.answer.text)
    stage.take_away()
    again = await stage.ask(ANN, "Repeat what you said.", thread=thread)
    assert "hr" not in secrets_in(stage.shown(ANN, again.id))
    assert again.answer is not None
    assert any("were left out" in note for note in again.answer.notes)


async def test_what_is_taken_away_while_an_answer_is_written_is_not_posted(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Parrot, "at_writing", staticmethod(stage.take_away))
    run = await stage.ask(ANN)
    assert run.answer is not None
    assert run.answer.status == "failed"
    assert "Access to documents changed" in run.answer.text
    (reply,) = [each for each in stage.posters["slack"].replies if each.run.id == run.id]
    assert reply.finished == []
    assert "hr" not in secrets_in(repr(reply.failed) + run.answer.text)


async def test_details_suggestions_and_digging_deeper_are_checked_when_they_are_used(
    stage: Stage,
) -> None:
    reception, runs = stage.reception, {}
    for person in OF_HR:
        run = runs[person] = await stage.with_suggestion(await stage.ask(person))
        at = (run.id, person.platform, person.channel, person.author)
        assert (await reception.details(*at, audience=person.audience))[0] == run.answer
    stage.take_away()
    for person, run in runs.items():
        at = (run.id, person.platform, person.channel, person.author)
        with pytest.raises(Invalid, match="documents that may not be read"):
            await reception.details(*at, audience=person.audience)
        with pytest.raises(Invalid, match="suggestion no longer exists"):
            await reception.follow_up(
                run.id, 0, person.author, locale="en", audience=person.audience
            )
        deeper = await reception.dig_deeper(
            run.id, person.author, locale="en", audience=person.audience
        )
        again = await stage.ended(deeper.run_id)
        assert "hr" not in documents_of(stage.docs, again.answer)
        assert "hr" not in secrets_in(stage.shown(person, again.id))


async def test_a_guest_is_not_shown_the_details_of_an_answer_from_documents(stage: Stage) -> None:
    member = next(each for each in PEOPLE if each.name == "anybody in the channel of eng")
    run = await stage.ask(member)
    for guest in (each for each in GUESTS if each.channel == "CENG"):
        with pytest.raises(Invalid, match="documents that may not be read"):
            await stage.reception.details(run.id, "slack", "CENG", guest.author, audience="channel")


async def test_an_answer_that_was_written_but_not_posted_is_made_anew(stage: Stage) -> None:
    run = await stage.ask(ANN)
    stage.take_away()
    assert run.answer is not None
    stage.posters["slack"].replies.clear()
    async with stage.app.store.database.write() as db:
        from bot.storage.tables import runs

        await db.execute(runs.update().values(state="accepted", owner=None, lease_until=None))
    await stage.app.dispatcher.submit(run.id, run.message.thread)
    again = await stage.ended(run.id)
    assert again.answer is not None
    assert again.answer.documents
    assert "hr" not in documents_of(stage.docs, again.answer)
    assert "hr" not in secrets_in(stage.shown(ANN, run.id))


@pytest.mark.parametrize("broken", ["gone", "no TOML", "a path that is not there"])
async def test_while_the_settings_cannot_be_used_no_document_is_searched(
    stage: Stage, broken: str
) -> None:
    file = Path("footnote.toml")
    match broken:
        case "gone":
            file.unlink()
        case "no TOML":
            file.write_text("[[collections", encoding="utf-8")
        case _:
            file.write_text(toml(stage.docs / "elsewhere"), encoding="utf-8")
    run = await stage.ask(ANN)
    assert documents_of(stage.docs, run.answer) == frozenset()
    assert not secrets_in(stage.shown(ANN, run.id))
    file.write_text(toml(stage.docs), encoding="utf-8")
    run = await stage.ask(ANN)
    assert documents_of(stage.docs, run.answer) == ANN.may


# ---------------------------------------------------------------- earlier answers


async def earlier_of(stage: Stage, run: RunRecord) -> list[Hit]:
    """What a run finds of earlier answers."""
    service = stage.app.service
    reader = await service._rights.reader(run.message, run.options)
    earlier = service._earlier_answers(run, reader)
    assert earlier is not None
    return await earlier.search(Query(QUESTION, reach=service._rights.reach(reader)), None)


async def test_earlier_answers_are_for_those_who_may_read_all_they_rest_on_in_their_place(
    stage: Stage,
) -> None:
    for person in PEOPLE:
        await stage.ask(person)
    found: dict[Person, list[Hit]] = {}
    for person in PEOPLE:
        run = await stage.ask(person)
        assert secrets_in(stage.shown(person, run.id)) <= person.may, person.name
        assert documents_of(stage.docs, run.answer) <= person.may, person.name
        found[person] = await earlier_of(stage, run)
        assert secrets_in(repr(found[person])) <= person.may, person.name
        rests_on = [url for hit in found[person] for url in (hit.url, *hit.made_from)]
        assert {n for n in SECRETS if address_of(stage.docs, n) in rests_on} <= person.may
    assert {person.name for person in PEOPLE if not found[person]} == {
        person.name for person in PEOPLE if not person.may
    }
    stage.take_away()
    for person in OF_HR:
        run = await stage.ask(person)
        assert secrets_in(stage.shown(person, run.id)).isdisjoint(GONE), person.name
        assert secrets_in(repr(await earlier_of(stage, run))).isdisjoint(GONE), person.name
        assert documents_of(stage.docs, run.answer).isdisjoint(GONE), person.name


# ---------------------------------------------------------------- corrections

# Who corrects an answer, by a word that is said nowhere else; their platform and channel, and
# whether everybody in the workspace may read that channel.
CORRECTORS = {
    "kiwione": ("anybody in a channel", True),
    "kiwitwo": ("a person of hr in a group message", False),
    "kiwithree": ("a person of hr in private", False),
    "kiwifour": ("anybody in a Discord channel", True),
    "kiwifive": ("a person of hr in private on Discord", False),
    "kiwisix": ("a user of hr in the console", False),
    "kiwiseven": ("the operator", False),
}


def named_person(name: str) -> Person:
    return next(each for each in PEOPLE if each.name == name)


def may_be_told(person: Person) -> set[str]:
    """The words of the corrections that are in reach of somebody's questions."""
    words = set()
    for word, (name, public) in CORRECTORS.items():
        by = named_person(name)
        is_here = (person.platform, person.channel) == (by.platform, by.channel)
        # Discord's direct messages are in no server.
        is_home = person.platform == by.platform and not (
            person.platform == "discord" and person.direct
        )
        is_guest = person.shared or bool(person.as_member)
        if not is_guest and (is_here or (public and is_home)):
            words.add(word)
    return words


def corrections_in(text: str) -> set[str]:
    return {word for word in CORRECTORS if word in text}


async def corrected(stage: Stage) -> None:
    for word, (name, _) in CORRECTORS.items():
        person = named_person(name)
        thread = stage.thread(person)
        await stage.ask(person, thread=thread)
        said = await stage.ask(
            person, f"No, the passphrase of the gate is {word} since May 2026.", thread=thread
        )
        assert said.answer is not None
        assert said.answer.corrects, name


async def test_a_correction_is_found_and_read_by_those_alone_who_may_be_told(stage: Stage) -> None:
    await corrected(stage)
    desk = stage.app.service.corrections
    every = {
        correction_address(e.place, e.id, e.url): e.statement for e in await desk.listed(EVERYTHING)
    }
    rights = Rights(stage.settings, stage.posters)
    found, told, read = {}, {}, {}
    for person in PEOPLE:
        run = await stage.ask(person)
        assert run.answer is not None
        found[person.name] = corrections_in(
            repr([text for url, text in every.items() if url in run.answer.rests_on])
        )
        told[person.name] = corrections_in(stage.shown(person, run.id))
        reach = rights.reach(await rights.reader(stage.message(person, QUESTION)))
        readable = [text for url, text in every.items() if reach.allows(url)]
        read[person.name] = corrections_in(repr(readable))
    allowed = {person.name: may_be_told(person) for person in PEOPLE}
    assert found == allowed
    assert [name for name in told if not told[name] <= allowed[name]] == []
    assert read == allowed | {"the operator": set(CORRECTORS)}
    stranger = Thread("slack", "W2", "CGENERAL", "t")
    run = await stage.ask(named_person("anybody in a channel"), thread=stranger)
    assert run.answer is not None
    assert set(every).isdisjoint(run.answer.rests_on)


async def test_no_page_of_the_console_tells_a_visitor_of_a_correction_from_elsewhere(
    stage: Stage,
) -> None:
    await corrected(stage)
    paths = set()
    for name, _ in CORRECTORS.values():
        run = await stage.ask(named_person(name))
        paths |= {*await paths_of(stage, run.id), *LISTS, "/corrections"}
    met = {}
    for visitor in VISITORS:
        allowed = set(CORRECTORS) if visitor.id == "root" else may_be_told(visitor)
        told = set()
        async with stage.browser(visitor) as browser:
            for path in sorted(paths):
                words = corrections_in((await browser.get(path)).text)
                assert words <= allowed, (visitor.name, path)
                told |= words
        met[visitor.id] = told == allowed
    assert met == {visitor.id: True for visitor in VISITORS}


# ---------------------------------------------------------------- pages of the console


LISTS = [
    "/",
    "/overview",
    "/overview.json",
    "/overview.csv",
    "/overview/unanswered",
    "/overview/unanswered.csv",
    "/overview/feedback",
    "/conversations",
    "/conversations?q=passphrase",
    "/conversations/list",
]


async def paths_of(stage: Stage, run_id: str) -> list[str]:
    """Every address at which something of a run is shown, beside ``LISTS`` of all runs."""
    kept = await Traces(stage.app.store).run(run_id)
    assert kept is not None
    thread = kept.record.message.thread.thread
    return [
        f"/runs/{run_id}",
        *(f"/runs/{run_id}/pages/{page.number}" for page in kept.pages),
        *(f"/runs/{run_id}/pages/{page.number}?copy={page.hash}" for page in kept.pages),
        f"/api/runs/{run_id}",
        f"/api/runs/{run_id}/events",
        f"/threads/{thread}",
        f"/api/threads/{thread}",
        *(f"/threads/{thread}/export/{form}" for form in ("md", "html", "bib", "csl")),
    ]


async def test_no_page_of_the_console_tells_a_visitor_what_they_may_not_read(
    stage: Stage,
) -> None:
    # One of each platform and right is enough: the pages know nothing else of a run.
    askers = {(person.platform, person.may): person for person in PEOPLE}.values()
    asked = [await stage.ask(person) for person in askers]
    paths = [path for run in asked for path in await paths_of(stage, run.id)]
    met: dict[str, frozenset[str]] = {visitor.id: frozenset() for visitor in VISITORS}
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            for path in [*paths, *LISTS]:
                answer = await browser.get(path)
                assert answer.status_code in (200, 204, 403, 404, 422), path
                told = secrets_in(answer.text)
                if path == "/":  # nor is a server named to whom may not use it
                    assert ("tickets" in answer.text) == ("tools" in visitor.may), visitor.name
                assert told <= visitor.may, (visitor.name, path)
                met[visitor.id] |= told
    assert met == {visitor.id: visitor.may for visitor in VISITORS}


async def test_a_shared_conversation_is_shown_to_those_who_may_read_all_its_sources(
    stage: Stage,
) -> None:
    history = History(stage.app.store.database)
    links, runs = {}, {}
    for sharer in VISITORS:
        run = await stage.ask(sharer)
        token = await history.share(run.message.thread, sharer.id)
        links[f"/shared/{token}"] = sharer
        runs[f"/shared/{token}"] = run.id
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            for link, sharer in links.items():
                page = await browser.get(link)
                at = (visitor.name, sharer.name)
                assert page.status_code == (200 if sharer.may <= visitor.may else 403), at
                told = secrets_in(page.text)  # an answer quotes some of its sources
                assert told <= sharer.may, at
                assert bool(told) == page.is_success, at
                more = [f"{link}/export/{form}" for form in ("md", "html", "bib", "csl")]
                for path in (*more, *await paths_of(stage, runs[link])):
                    assert secrets_in((await browser.get(path)).text) <= visitor.may, (at, path)
            for path in LISTS:
                assert secrets_in((await browser.get(path)).text) <= visitor.may, (visitor, path)
    stage.take_away()
    for visitor in VISITORS:
        async with stage.browser(visitor) as browser:
            for link, sharer in links.items():
                page = await browser.get(link)
                assert secrets_in(page.text).isdisjoint(GONE)
                assert page.is_success == (
                    sharer.may - {"inner", "tools"} <= OPEN
                    and ("inner" not in sharer.may or "inner" in visitor.may)
                ), (visitor.name, sharer.name)


async def test_words_of_answers_out_of_reach_find_nothing(stage: Stage) -> None:
    run = await stage.ask(ANN_AT_HOME)
    path = f"/conversations?q={SECRETS['hr']}"
    async with stage.browser(ANN_AT_HOME) as browser:
        # The sidebar lists the visitor's own conversations, whatever is searched for.
        assert run.message.thread.thread in (await browser.get(path)).text.partition("<main")[2]
        stage.take_away()
        assert run.message.thread.thread not in (await browser.get(path)).text.partition("<main")[2]


async def test_the_visitors_own_pages_show_all_they_may_read_until_it_is_taken_away(
    stage: Stage,
) -> None:
    runs = {visitor: await stage.ask(visitor) for visitor in VISITORS}
    for visitor, run in runs.items():
        own = [f"/runs/{run.id}", f"/api/runs/{run.id}", f"/threads/{run.message.thread.thread}"]
        async with stage.browser(visitor) as browser:
            for path in own:
                assert secrets_in((await browser.get(path)).text), path
    stage.take_away()
    for visitor, run in runs.items():
        async with stage.browser(visitor) as browser:
            for path in [*await paths_of(stage, run.id), *LISTS]:
                assert secrets_in((await browser.get(path)).text).isdisjoint(GONE), path


async def test_what_is_shown_while_it_is_worked_on_is_for_who_may_read_all_it_may_use(
    stage: Stage,
) -> None:
    """A plan and a text that grow are seen by an operator only where nothing is out of reach."""
    from adapters.web.access.gate import Visitor
    from adapters.web.access.visibility import Visibility
    from adapters.web.live import ReplyState
    from bot.core.messages import PlanView
    from bot.core.texts import texts_for

    shown = ReplyState(plan=PlanView("Gate", ()), text="The passphrase is kiwihr")
    rights = Rights(stage.settings)

    def seen(visitor: str, asked_by: str) -> ReplyState:
        looking = Visitor(visitor, visitor, "proxy", "s", operator=True)
        asked = Reader("console", asked_by, asked_by)
        return Visibility(rights, looking, texts_for("en")).visible_state(shown, asked)

    assert seen("ann", "ann") == seen("root", "bob") == seen("ann", "bob") == shown
    assert (seen("root", "ann").plan, seen("root", "ann").text) == (None, "")


async def test_what_a_server_said_is_shown_to_nobody_once_the_settings_have_it_no_more(
    stage: Stage,
) -> None:
    run = await stage.ask(ANN_AT_HOME)
    path = f"/runs/{run.id}"
    async with stage.browser(ANN_AT_HOME) as browser:
        assert "tools" in documents_of(stage.docs, run.answer)
        assert (await browser.get(path)).is_success
        stage.disconnect()
        assert (await browser.get(path)).status_code == 403
        for each in [*await paths_of(stage, run.id), *LISTS]:
            assert "tools" not in secrets_in((await browser.get(each)).text), each


# ---------------------------------------------------------------- the terminal


async def test_whoever_runs_footnote_reads_and_exports_everything(stage: Stage) -> None:
    me = next(each for each in PEOPLE if each.platform == "terminal")
    run = await stage.ask(ANN)
    conversation = await Archive(stage.app.store.database).conversation(run.message.thread)
    assert "hr" in secrets_in(repr(conversation))
    traces = Traces(stage.app.store)
    kept = await traces.run(run.id)
    assert kept is not None
    pages = [await traces.page(run.id, page.number) for page in kept.pages]
    told = repr([page_of_trace(page, run.answer) for page in pages if page is not None])
    assert "hr" in secrets_in(told)
    assert documents_of(stage.docs, (await stage.ask(me)).answer) == ALL

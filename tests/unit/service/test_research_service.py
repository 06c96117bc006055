"""The service: from an accepted message to a posted answer, whatever happens on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.core.errors import (
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    InvalidQuestion,
    ModelRefused,
    ModelUnavailable,
    PlatformUnavailable,
    PostRefused,
    RunLost,
    StorageUnavailable,
)
from bot.core.messages import (
    MAX_QUESTION,
    Answer,
    Attachment,
    Message,
    RunOptions,
    Transcript,
    clean_question,
)
from bot.core.posting import PostState, RunRef
from bot.reasoning.evidence import (
    AnswerDelta,
    Evidence,
    Rewritten,
    SubQuestion,
    Suggested,
    TextDelta,
    Turn,
    Workspace,
)
from bot.reasoning.reasoner import OnAnswer
from tests.fakes.poster import Remembered, RememberingPoster
from tests.fakes.reasoner import Scripted, cite_all
from tests.unit.conftest import LEASE, TURNS, OpenWorld
from tests.unit.samples import NOW, a_message, a_thread


class Failing(Scripted):
    """Raises at one stage."""

    def __init__(self, stage: str, error: Exception) -> None:
        super().__init__(TURNS)
        self.stage = stage
        self.error = error

    def _fail(self, stage: str) -> None:
        if stage == self.stage:
            raise self.error

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        self._fail("rewrite")
        return await super().rewrite(transcript, message, instructions)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        if workspace.turns:
            self._fail("gather")
        return await super().next_turn(question, workspace, on_answer)

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        yield TextDelta("It is ")
        self._fail("write")
        async for delta in super().write(question, evidence, instructions):
            yield delta


# ---------------------------------------------------------------- the good way


async def test_a_question_becomes_a_posted_answer_with_footnotes(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS))
    run_id = await world.accept(a_message("How tall is the tower?"))
    reply = await world.work(run_id)
    (answer,) = reply.finished
    assert (answer.status, answer.text) == ("answered", "Tower is 330 m tall [1].")
    assert answer.citations[0].quote == "Tower is 330 m tall."
    assert answer.run == run_id
    assert [step.kind for step in answer.steps] == ["search", "read"]
    assert reply.texts[-1].strip() == answer.text
    assert reply.plans
    assert await world.state(run_id) == "answered"


async def test_pages_are_read_in_the_turn_of_their_run(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS))
    run_id = await world.accept(a_message("How tall is the tower?"))
    await world.work(run_id)
    assert world.shelf.read_for == {run_id}


async def test_a_follow_up_is_rewritten_with_what_was_said(open_world: OpenWorld) -> None:
    reasoner = Scripted(TURNS)
    world = await open_world(reasoner)
    for text in ("How tall is the tower?", "And how old?"):
        await world.work(await world.accept(a_message(text)))
    said = reasoner.transcripts[1].entries
    assert [(entry.role, entry.text) for entry in said] == [
        ("person", "How tall is the tower?"),
        ("footnote", "Tower is 330 m tall [1]."),
    ]
    assert [each.title for each in said[1].cited] == ["Tower"]
    assert said[1].question == "How tall is the tower?"


async def test_chat_is_answered_without_searching(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(rewritten=Rewritten("chat", "hi", reply="Hello!")))
    (answer,) = (await world.work(await world.accept(a_message("hi")))).finished
    assert (answer.status, answer.text, answer.citations) == ("answered", "Hello!", ())
    assert world.shelf.searched == []


async def test_links_are_read_and_nothing_is_searched(open_world: OpenWorld) -> None:
    rewritten = Rewritten("links", "Summarize it.", links=("https://example.org/2",))
    world = await open_world(Scripted(rewritten=rewritten))
    (answer,) = (await world.work(await world.accept(a_message()))).finished
    assert [citation.url for citation in answer.citations] == ["https://example.org/2"]
    assert world.shelf.searched == []


async def test_quick_reads_the_best_hits_without_choosing(open_world: OpenWorld) -> None:
    reasoner = Scripted(rewritten=Rewritten("search", "How tall?", ("tower",)))
    world = await open_world(reasoner)
    run_id = await world.accept(a_message(), RunOptions(depth="quick"))
    (answer,) = (await world.work(run_id)).finished
    assert answer.citations
    assert reasoner.workspaces == []


async def test_deep_may_search_twice_as_often(open_world: OpenWorld) -> None:
    reasoner = Scripted()
    world = await open_world(reasoner)
    await world.work(await world.accept(a_message(), RunOptions(depth="deep")))
    assert reasoner.workspaces[0].searches_left == 10


async def test_an_answer_without_footnotes_is_not_found(open_world: OpenWorld) -> None:
    world = await open_world(Scripted())
    run_id = await world.accept(a_message())
    (answer,) = (await world.work(run_id)).finished
    assert (answer.status, answer.text) == ("not_found", "Nothing was found.")
    assert await world.state(run_id) == "not_found"


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("stage", ["rewrite", "gather", "write"])
async def test_when_the_model_cannot_be_reached_quotations_take_over(
    open_world: OpenWorld, stage: str
) -> None:
    world = await open_world(Failing(stage, ModelUnavailable("The model is overloaded.")))
    run_id = await world.accept(a_message("How tall is the tower?"))
    reply = await world.work(run_id)
    (answer,) = reply.finished
    assert (answer.status, answer.reasoner) == ("answered", "fallback")
    assert answer.text == "### Closest passages\n\nTower is 330 m tall [1]."
    assert "The model is overloaded." in answer.notes[0]
    searched = world.shelf.searched
    assert len(set(searched)) == len(searched), "what was searched before is not searched again"


@pytest.mark.parametrize("stage", ["rewrite", "gather", "write"])
@pytest.mark.parametrize(
    "error",
    [CredentialsRefused("The key is wrong: set another."), ModelRefused("Claude declined.")],
)
async def test_what_a_person_must_solve_is_a_posted_failure(
    open_world: OpenWorld, stage: str, error: FootnoteError
) -> None:
    world = await open_world(Failing(stage, error))
    run_id = await world.accept(a_message())
    ((answer, posted),) = (await world.work(run_id)).failed
    assert (answer.status, answer.text, posted) == ("failed", error.sentence, error)
    assert await world.state(run_id) == "failed"


async def test_a_bug_is_a_posted_failure_that_names_the_run(open_world: OpenWorld) -> None:
    world = await open_world(Failing("gather", ZeroDivisionError("secret detail")))
    run_id = await world.accept(a_message())
    ((answer, error),) = (await world.work(run_id)).failed
    assert run_id in error.sentence
    assert "secret detail" not in answer.text
    assert "give the run number to your operator" in answer.text
    assert "FOOTNOTE_" not in answer.text  # the asker cannot set it


@pytest.mark.parametrize(("locale", "said"), [("zh-CN", "告诉管理员"), ("zh-TW", "告訴管理員")])
async def test_a_bug_is_told_in_the_askers_language(
    open_world: OpenWorld, locale: str, said: str
) -> None:
    world = await open_world(Failing("gather", ZeroDivisionError()))
    run_id = await world.accept(replace(a_message(), locale=locale))
    ((answer, _),) = (await world.work(run_id)).failed
    assert run_id in answer.text
    assert said in answer.text


async def test_a_spent_budget_writes_from_what_there_is(open_world: OpenWorld) -> None:
    world = await open_world(Failing("gather", BudgetSpent("The budget of 1 USD was spent.")))
    (answer,) = (await world.work(await world.accept(a_message()))).finished
    assert "1 USD" in answer.notes[0]


async def test_when_no_search_is_answered_that_is_the_failure_and_not_nothing_found(
    open_world: OpenWorld,
) -> None:
    world = await open_world(Scripted(TURNS))
    world.shelf.broken = frozenset({"tower"})
    ((answer, error),) = (await world.work(await world.accept(a_message()))).failed
    assert answer.status == "failed"
    assert error.sentence == "No search provider answers: shelf is closed."


async def test_an_overtaken_attempt_posts_nothing_more(open_world: OpenWorld) -> None:
    world = await open_world(Failing("gather", RunLost("Taken over.")))
    run_id = await world.accept(a_message())
    reply = await world.work(run_id)
    assert (reply.finished, reply.failed) == ([], [])
    assert await world.state(run_id) == "running"


async def test_when_storage_fails_the_run_stays_unfinished(open_world: OpenWorld) -> None:
    world = await open_world(Failing("gather", StorageUnavailable("The disk is full.")))
    run_id = await world.accept(a_message())
    with pytest.raises(StorageUnavailable):
        await world.work(run_id)
    assert (world.poster.replies[0].finished, world.poster.replies[0].failed) == ([], [])
    assert await world.state(run_id) == "running"


# ---------------------------------------------------------------- people who talk to each other

UNADDRESSED = RunOptions(unaddressed=True)
FOR_PEOPLE = Rewritten("chat", "lunch at 12?", for_us=False)


async def test_a_run_that_was_interrupted_after_a_no_ends_in_silence(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await open_world(Scripted(TURNS, rewritten=FOR_PEOPLE))
    message = replace(a_message("lunch at 12?"), unaddressed=True)
    run_id = await world.accept(message, UNADDRESSED)
    run = await world.store.claim(run_id, "h/1/x", NOW, LEASE)
    assert run is not None

    async def full(*_: object) -> None:
        raise StorageUnavailable("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(world.store, "ignore", full)
        with pytest.raises(StorageUnavailable):
            await world.service.answer(run, asyncio.Event())
    again = await world.store.claim(run_id, "h/1/x", NOW, LEASE)
    assert again is not None
    await world.service.answer(again, asyncio.Event())
    assert world.poster.replies == []
    assert await world.store.run(run_id) is None
    (entry,) = (await world.store.transcript(a_message("And?", event_id="later"))).entries
    assert entry.text == "lunch at 12?"
    assert await world.accept(message) != run_id, "it can still become a question"


@pytest.mark.parametrize("for_us", [True, False])
async def test_where_the_model_fails_the_words_of_a_message_decide(
    open_world: OpenWorld, for_us: bool
) -> None:
    said = None if for_us else FOR_PEOPLE
    words = Scripted(TURNS, name="fallback", rewritten=said)
    world = await open_world(Failing("rewrite", ModelUnavailable("Overloaded.")), words)
    run_id = await world.accept(a_message("How tall is the tower?"), UNADDRESSED)
    run = await world.store.claim(run_id, "h/1/x", NOW, LEASE)
    assert run is not None
    await world.service.answer(run, asyncio.Event())
    assert [bool(reply.finished) for reply in world.poster.replies] == [True] * for_us


# ---------------------------------------------------------------- stop and resume


class Waiting(Scripted):
    """Thinks for ever at its second turn."""

    def __init__(self) -> None:
        super().__init__(TURNS)
        self.thinking = asyncio.Event()
        self.cancelled = False

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        if len(workspace.turns) == 2:
            self.thinking.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
        return await super().next_turn(question, workspace, on_answer)


async def test_a_stopped_run_says_so_and_shows_what_was_found(open_world: OpenWorld) -> None:
    reasoner, stop = Waiting(), asyncio.Event()
    world = await open_world(reasoner)
    run_id = await world.accept(a_message("How tall is the tower?"))
    working = asyncio.create_task(world.work(run_id, stop))
    await reasoner.thinking.wait()
    stop.set()
    (answer,) = (await working).finished
    assert (answer.status, answer.text) == (
        "stopped",
        "### Closest passages\n\nTower is 330 m tall [1].",
    )
    assert answer.notes[-1] == "Stopped before the answer was complete."
    assert reasoner.cancelled
    assert await world.state(run_id) == "stopped"


async def test_a_run_that_is_stopped_before_it_begins_searches_nothing(
    open_world: OpenWorld,
) -> None:
    stop = asyncio.Event()
    stop.set()
    world = await open_world(Scripted(TURNS))
    (answer,) = (await world.work(await world.accept(a_message()), stop)).finished
    assert answer.status == "stopped"
    assert world.shelf.searched == []


async def test_a_shutdown_leaves_the_run_for_another_attempt(open_world: OpenWorld) -> None:
    reasoner = Waiting()
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    working = asyncio.create_task(world.work(run_id))
    await reasoner.thinking.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert reasoner.cancelled
    assert world.poster.replies[0].finished == []
    assert await world.state(run_id) == "running"


async def test_an_answer_that_was_written_but_not_posted_is_posted_as_it_was(
    open_world: OpenWorld,
) -> None:
    world = await open_world(Scripted(TURNS))
    run_id = await world.accept(a_message())
    (answer,) = (await world.work(run_id)).finished
    second = await world.accept(a_message(event_id="second"))
    await world.store.claim(second, "h/1/x", NOW, LEASE)
    await world.store.save_answer(second, 1, replace(answer, run=second, citations=()))
    reply = await world.work(second)
    assert [posted.text for posted in reply.finished] == [answer.text]
    assert world.shelf.searched == ["tower"]


async def test_a_later_attempt_gets_what_the_earlier_one_had_posted(open_world: OpenWorld) -> None:
    world = await open_world(Failing("gather", StorageUnavailable("The disk is full.")))
    run_id = await world.accept(a_message())
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            await world.work(run_id)
    assert [reply.saved for reply in world.poster.replies] == [None, {"opened": 1}]


# ---------------------------------------------------------------- accepting


@pytest.mark.parametrize("text", ["", "  \n\t ", "\x00\x07", "?!", "🗼"])
def test_an_empty_question_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuestion, match="empty"):
        clean_question(text)


def test_a_question_that_is_too_long_is_refused_with_both_numbers() -> None:
    with pytest.raises(InvalidQuestion, match=r"20,001 .* 20,000"):
        clean_question("x" * (MAX_QUESTION + 1))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("  How tall?\n", "How tall?"),
        ("How\x00 tall\x1b?", "How  tall ?"),
        ("Two\n\tlines?", "Two\n\tlines?"),
        ("多高？", "多高？"),
        ("half \ud83d surrogate", "half   surrogate"),
    ],
)
def test_a_question_is_cleaned(written: str, read: str) -> None:
    assert clean_question(written) == read


# ---------------------------------------------------------------- the platform's troubles


class Away(RememberingPoster):
    """A platform that cannot be reached, or does not let us post, so many times."""

    def __init__(self, error: Exception, opens: int = 0, finishes: int = 0) -> None:
        super().__init__()
        self.error, self.opens, self.finishes = error, opens, finishes

    async def open(self, run: RunRef, saved: PostState | None) -> Remembered:
        self.opens -= 1
        if self.opens >= 0:
            raise self.error
        return AwayReply(self, await super().open(run, saved))


class AwayReply(Remembered):
    def __init__(self, poster: Away, reply: Remembered) -> None:
        super().__init__(reply.run, reply.saved)
        self.poster = poster
        poster.replies[-1] = self

    async def finish(self, answer: Answer) -> None:
        self.poster.finishes -= 1
        if self.poster.finishes >= 0:
            raise self.poster.error
        await super().finish(answer)


AWAY = PlatformUnavailable("Slack does not answer.")


async def test_research_does_not_wait_for_a_platform_that_is_away(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS))
    world.poster = world.service._posters["terminal"] = Away(AWAY, opens=1)  # type: ignore[index]
    reply = await world.work(await world.accept(a_message()))
    assert reply.finished[0].status == "answered"
    assert len(world.poster.replies) == 1


@pytest.mark.parametrize("parts", [{"opens": 2}, {"finishes": 1}], ids=["opening", "finishing"])
async def test_an_answer_that_cannot_be_posted_is_posted_later_without_new_research(
    open_world: OpenWorld, parts: dict[str, int]
) -> None:
    reasoner = Scripted(TURNS)
    world = await open_world(reasoner)
    world.poster = world.service._posters["terminal"] = Away(AWAY, **parts)  # type: ignore[index]
    run_id = await world.accept(a_message())
    with pytest.raises(PlatformUnavailable):
        await world.work(run_id)
    assert await world.state(run_id) == "running"
    workspaces = len(reasoner.workspaces)
    reply = await world.work(run_id)
    assert reply.finished[0].text == "Tower is 330 m tall [1]."
    assert len(reasoner.workspaces) == workspaces
    assert await world.state(run_id) == "answered"


async def test_a_place_that_is_closed_to_us_ends_the_run_before_money_is_spent(
    open_world: OpenWorld,
) -> None:
    reasoner = Scripted(TURNS)
    world = await open_world(reasoner)
    closed = Away(PostRefused("The channel is archived."), opens=1)
    world.poster = world.service._posters["terminal"] = closed  # type: ignore[index]
    run_id = await world.accept(a_message())
    with pytest.raises(IndexError):  # no reply was ever opened
        await world.work(run_id)
    assert (await world.state(run_id), reasoner.workspaces) == ("failed", [])


async def test_history_that_cannot_be_read_is_said_and_read_next_time(
    open_world: OpenWorld,
) -> None:
    world = await open_world(Scripted(TURNS))
    sentence = "The earlier messages cannot be read: invite Footnote to the channel."

    async def history(run: RunRef) -> list[Message]:
        raise PostRefused(sentence)

    world.poster.history = history  # type: ignore[method-assign]
    (answer,) = (await world.work(await world.accept(a_message()))).finished
    assert (answer.status, answer.notes) == ("answered", (sentence,))
    del world.poster.history
    (answer,) = (await world.work(await world.accept(a_message()))).finished
    assert answer.notes == ()


async def test_a_file_sent_with_the_question_is_read_and_cited(open_world: OpenWorld) -> None:
    world = await open_world(Scripted())
    url = "https://files.example/a.txt"
    world.poster.files[url] = b"The mast is 12 m tall."
    message = replace(a_message(), attachments=(Attachment("a.txt", "text/plain", url),))
    (answer,) = (await world.work(await world.accept(message))).finished
    assert [(c.url, c.quote) for c in answer.citations] == [(url, "The mast is 12 m tall.")]


async def test_a_file_alone_is_not_small_talk(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(rewritten=Rewritten("chat", "sum it up", reply="Hello!")))
    url = "https://files.example/a.txt"
    world.poster.files[url] = b"The mast is 12 m tall."
    message = replace(a_message(), attachments=(Attachment("a.txt", "text/plain", url),))
    (answer,) = (await world.work(await world.accept(message))).finished
    assert [c.url for c in answer.citations] == [url]


async def test_a_file_that_cannot_be_read_is_told_with_its_name(open_world: OpenWorld) -> None:
    world = await open_world(Scripted())
    readable, gone = "https://files.example/a.txt", "https://files.example/b.zip"
    world.poster.files = {readable: b"The mast is 12 m tall.", gone: b"PK\x03\x04\x00\x00"}
    files = (
        Attachment("a.txt", "text/plain", readable),
        Attachment("b.zip", "application/zip", gone),
    )
    message = replace(a_message(), attachments=files)
    (answer,) = (await world.work(await world.accept(message))).finished
    assert [citation.url for citation in answer.citations] == [readable]
    assert answer.notes == ("I could not read the file b.zip: it holds no text.",)


async def test_a_run_may_be_given_its_thread_when_that_is_made(open_world: OpenWorld) -> None:
    world = await open_world(Scripted(TURNS))
    run_id = await world.accept(a_message(thread=a_thread("pending-1")))
    opened = world.poster.open

    async def open_and_move(run: RunRef, saved: PostState | None) -> Remembered:
        await run.move(a_thread("made"))
        return await opened(run, saved)

    world.poster.open = open_and_move  # type: ignore[method-assign]
    await world.work(run_id)
    run = await world.store.run(run_id)
    assert run is not None
    assert (run.message.thread, run.state) == (a_thread("made"), "answered")


OFFERED = Suggested(
    (
        "How tall is the tower of Tower?",
        "How do I climb the tower?",
        "How old is it, see www.tower.example?",
        "Who built the tower?",
    )
)


async def test_what_the_writer_offers_is_suggested_unless_it_was_asked(
    open_world: OpenWorld,
) -> None:
    def answer(asked: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        return [*cite_all(asked, evidence), OFFERED]

    world = await open_world(Scripted(TURNS, answer=answer))
    first = a_message("How tall is the tower?")
    (told,) = (await world.work(await world.accept(first))).finished
    assert [citation.title for citation in told.citations] == ["Tower"]
    assert told.suggestions == ("How do I climb the tower?", "Who built the tower?")
    later = a_message("Who built the tower?")
    (told,) = (await world.work(await world.accept(later))).finished
    assert told.suggestions == ("How do I climb the tower?",)


async def test_an_answer_without_sources_suggests_nothing(open_world: OpenWorld) -> None:
    def answer(asked: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        return [TextDelta("Nothing was found."), OFFERED]

    world = await open_world(Scripted(TURNS, answer=answer))
    (told,) = (await world.work(await world.accept(a_message("How tall is it?")))).finished
    assert (told.status, told.suggestions) == ("not_found", ())


async def test_remarks_are_in_the_askers_language(open_world: OpenWorld) -> None:
    spent = BudgetSpent(
        "The budget of 3 model calls was spent.", text_id="budget-model-calls", limit=3
    )
    world = await open_world(Failing("gather", spent))
    message = replace(a_message("塔有多高？"), locale="zh-TW")
    (answer,) = (await world.work(await world.accept(message))).finished
    assert answer.notes == ("3 次模型呼叫的額度已用完。回答以此前查到的內容為依據。",)

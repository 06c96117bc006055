"""Answers one question. It alone knows the way: rewrite, gather, write, check, verify.

Without a model, and when it cannot be reached, the closest passages are quoted: better than no
answer. If an earlier attempt has already written an answer, this attempt verifies it: it replays
the research from the journal, which must produce the same answer as the one posted.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from bot.core.errors import (
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    Invalid,
    ModelUnavailable,
    NoProviderAvailable,
    RunLost,
    StorageUnavailable,
    Unavailable,
)
from bot.core.logs import get_logger
from bot.core.messages import (
    Answer,
    Depth,
    PlanView,
    Status,
    StepView,
    Transcript,
    Usage,
    Verification,
    VerificationState,
)
from bot.core.posting import Delayed, Reply
from bot.core.reader import is_document
from bot.core.settings import Settings
from bot.core.texts import texts_in
from bot.pages.urls import dedupe_key
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import AnswerDelta, Evidence, Rewritten, Verdict
from bot.reasoning.reasoner import Pairs, Reasoner, Researcher, who_answers
from bot.reasoning.wording import topic_words
from bot.rendering.remarks import changed
from bot.rendering.safety import linked_pages
from bot.research import quoting
from bot.research.budget import DEEP, Budget
from bot.research.composer import Checked, Numbering, Written, unsourced, write
from bot.research.picture_reading import PictureReading
from bot.research.quoting import recall
from bot.research.run import CorrectionReply, Run, without_middle, without_middles
from bot.research.selection import merge_sources
from bot.research.strategies import (
    ITERATE,
    READ_TOKENS,
    READING,
    Gathered,
    Strategy,
    Task,
    prefetch,
    strategies_for,
    strategy,
)
from bot.search.conversation_search import SearchedConversations
from bot.search.filters import filter_in, without
from bot.storage.journal import SPOILED

if TYPE_CHECKING:
    from bot.research.verification import Amendment

MORE_TOKENS = 4  # times the passages of a page, if no model has to read them
QUERY = 200  # characters of a correction used as a query
GUESSED = 500  # characters; guesses for longer messages are slow and seldom right


class Pipeline:
    """One attempt at the answer to a run's question, with its verification.

    ``reply`` shows the plan and the text as they grow, ``numbering`` continues the footnotes of the
    thread. ``given`` is the answer of an earlier attempt, or None. ``conversations`` are those of
    the platform that may be searched.
    """

    def __init__(
        self,
        run: Run,
        reasoner: Reasoner,
        fallback: Reasoner,
        transcript: Transcript,
        settings: Settings,
        reply: Reply,
        numbering: Numbering | None = None,
        given: Answer | None = None,
        conversations: SearchedConversations | None = None,
    ) -> None:
        self._run = run
        self._transcript = without_middles(transcript)
        self._asked = replace(
            run.message,
            text=without_middle(run.message.text),
            attachments=run.files,
            unaddressed=run.options.unaddressed,
            corrects_run=run.options.corrects_run,
        )
        self._reasoner = reasoner
        self._fallback = fallback
        self._researcher = reasoner if isinstance(reasoner, Researcher) else None
        sent = run.files or any(entry.files for entry in transcript.entries)
        self._pictures = PictureReading(run, transcript, self._researcher) if sent else None
        self._settings = settings
        self._is_check = run.options.style == "check"
        self._lead = ""  # the text before the answer
        self._noted: CorrectionReply | None = None  # of a message stored as a correction
        self._reply = reply
        self._numbering = numbering or Numbering(transcript)
        self._given = given
        self._conversations = conversations
        self._is_made = False  # whether this attempt has made the answer
        self._shows = given is None
        self._rewritten: Rewritten | None = None
        self._strategy: tuple[str, Strategy] | None = None  # the current one, with its name
        self._gathered: Gathered | None = None
        self._unverified: _Unverified | None = None

    @property
    def question(self) -> str:
        """The standalone question, or the message before it is rewritten."""
        return self._rewritten.question if self._rewritten else self._asked.text

    @property
    def _is_quoting(self) -> bool:
        return self._reasoner.name == self._fallback.name

    def _fall_back(self) -> None:
        self._reasoner, self._researcher = self._fallback, None

    # ------------------------------------------------------------ what is shown

    @property
    def page_numbers(self) -> dict[int, int]:
        """The number of each page in the latest answer, by its number in the run."""
        return self._numbering.page_numbers

    async def answer_posted(self) -> None:
        """Finish the search of conversations, once the answer is posted."""
        if self._conversations is not None:
            await self._conversations.answer_posted()

    def show_in(self, reply: Reply) -> None:
        self._reply = reply

    def stop_progress(self) -> None:
        self._shows = False

    def show(self, plan: PlanView) -> None:
        if self._shows:
            self._reply.progress(self._numbering.plan(plan))

    def _on_text(self, text: str) -> None:
        if not self._shows:
            return
        before = self.page_numbers
        text = self._numbering.text(self._lead + text, self._run.numbered)
        if self.page_numbers != before:  # so that new marks have a target
            self.show(self._run.plan())
        self._reply.stream(text)

    # ------------------------------------------------------------ the answer

    async def is_for_us(self) -> bool:
        """Prepare the question of an unaddressed message; returns False if the message is for other
        people. If the model fails, its words decide. Raises ``RunLost`` and ``StorageUnavailable``.
        """
        try:
            self._rewritten = await self._rewrite(self._reasoner)
        except (RunLost, StorageUnavailable):
            raise
        except FootnoteError:  # ``answer`` meets it again, and tells the asker
            return (await self._rewrite(self._fallback)).for_us
        finally:
            await self._settle()
        return self._rewritten.for_us

    async def answer(self, stop: asyncio.Event) -> tuple[Answer, FootnoteError | None]:
        """Return the written and checked answer, or the findings at the time of the stop; a failed
        one comes with the error. The work has ended either way.

        Raises ``RunLost`` and ``StorageUnavailable``.
        """
        error: FootnoteError | None = None
        try:
            answer = await self._until_stopped(stop)
        except (RunLost, StorageUnavailable):
            raise
        except FootnoteError as caught:
            log.info("run failed", run=self._run.id, error=str(caught))
            error = caught
        except Exception as caught:
            hint = "FOOTNOTE_LOG_LEVEL=debug shows where"
            log.error("run broke", run=self._run.id, error=repr(caught), hint=hint)
            log.debug("run broke here", run=self._run.id, exc_info=True)
            error = FootnoteError(self._run.texts("run-broke", run=self._run.id))
        finally:
            await self._settle()
        if error is not None:
            told = self._run.notes.described(error)
            answer = replace(self._answer("failed", told), cause=error.sentence)
            if not isinstance(error, (BudgetSpent, CredentialsRefused, Unavailable)):
                await self._run.keep(SPOILED, {}, True, TypeAdapter(bool), "")
        self._is_made = True
        self._given = self._named(self._numbering.answer(answer))
        return self._given, error

    async def _until_stopped(self, stop: asyncio.Event) -> Answer:
        if stop.is_set():
            return await self.stopped_answer()
        work = asyncio.create_task(self.research())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
                if work.cancelled():
                    return await self.stopped_answer()
            return work.result()
        finally:
            stopping.cancel()
            work.cancel()
            await asyncio.wait({work, stopping})

    async def _settle(self) -> None:
        await self._run.journal.settle(datetime.now(UTC))

    async def research(self) -> Answer:
        """Return the answer, with the run's own page numbers. Raises what the reasoner raises,
        except ``ModelUnavailable`` and ``BudgetSpent``, and ``NoProviderAvailable`` if every search
        failed and nothing was read."""
        try:
            return await self._answer_question()
        except (ModelUnavailable, BudgetSpent) as error:
            # A budget that does not cover the rewrite covers nothing else either.
            if isinstance(error, BudgetSpent) and error.is_of_day:
                self._lead = self._run.notes.instead(error, "quoted-without-model") + "\n\n"
            else:
                self._run.notes.error(error, "quoted-without-model")
            self._fall_back()
            if self._strategy is not None and self._strategy[1].so_far() is not None:
                self._gathered = None  # what is already in words is better than passages
            return await self._answer_question()
        finally:
            self._close_strategy()
            await self._run.prefetcher.aclose()

    def _close_strategy(self) -> None:
        if self._strategy is not None:
            self._strategy[1].close()

    async def stopped_answer(self) -> Answer:
        """Return an answer made of quotes from what was found before a stop."""
        stopped = self._reasoner.name
        self._fall_back()
        if self._rewritten is None:
            self._rewritten = await self._rewrite(self._fallback)
        if self._run.only:
            self._run.notes.narrowed(self._run.only)
        self._run.note(self._run.texts("stopped-before-complete"))
        gathered = self._strategy[1].so_far() if self._strategy is not None else None
        if gathered is None:
            shown = merge_sources(self._run.sources)
            gathered = Gathered(Evidence(sources=shown, queries=tuple(self._run.queries)))
        made = await self._answered(gathered, self._rewritten, "stopped")
        return replace(made, reasoner=stopped) if made.usage.model_calls else made

    async def _answer_question(self) -> Answer:
        if self._rewritten is None and self._is_check:
            from bot.research.claims import as_question

            self._rewritten = as_question(self._run.message.text)
        if self._rewritten is None:
            if self._pictures is not None:
                read = self._pictures.read(self._asked, self._transcript)
                self._asked, self._transcript = await read
            await self._guess()
            self._rewritten = await self._rewrite(self._reasoner)
        if self._run.options.depth == "exhaustive":  # the writer says what was looked for
            self._rewritten = replace(self._rewritten, depth="exhaustive")
        files = (file.url for file in self._asked.attachments if not file.again)
        attached = tuple(filter(self._is_read, files))
        if attached and self._rewritten.kind == "chat":  # "summarize this", with a file
            self._rewritten = replace(self._rewritten, kind="links", links=attached, whole=True)
        await self._correct(self._rewritten)
        if self._rewritten.kind == "chat":
            reply = self._rewritten.reply or (self._noted.sentence if self._noted else "")
            if not reply:
                reply = texts_in(self._rewritten.language, self._run.texts)("closest-greeting")
            return self._answer("answered", self._lead + unsourced(reply))
        for answer in self._rewritten.recalled:
            self._run.recalled |= {cited.url: cited.page_hash for cited in answer.cited}
        if self._gathered is None:
            gathered = await self._gather_within(self._rewritten)
            if self._run.unanswered and not gathered.evidence.sources:
                raise NoProviderAvailable(self._run.unanswered)
            self._gathered = gathered
        made = await self._answered(self._gathered, self._rewritten, None)
        await self._run.note_unread(tuple(dict.fromkeys(each.url for each in made.citations)))
        notes = self._run.notes
        return replace(made, notes=tuple(notes), unread=tuple(notes.unseen))

    async def _rewrite(self, reasoner: Reasoner) -> Rewritten:
        instructions = self._run.options.instructions
        return await reasoner.rewrite(self._transcript, self._asked, instructions)

    async def _correct(self, rewritten: Rewritten) -> None:
        """Store the message's statement as a correction of an answer. If the message also
        asks something, the answer gets a note about the correction. If nothing was stored, a mere
        correction is researched as a question.
        """
        if not rewritten.correction or self._noted is not None:
            return
        self._noted = await self._run.correct(rewritten.correction)
        is_mere = rewritten.kind == "chat" and not rewritten.reply
        if self._noted is not None and not is_mere:
            self._run.note(self._noted.sentence)
        elif self._noted is None and is_mere:
            wanted = (rewritten.correction[:QUERY],)
            self._rewritten = replace(
                rewritten, kind="search", queries=wanted, knowledge_queries=wanted
            )

    async def _guess(self) -> None:
        """Start the likely searches while the model rewrites a question that stands alone."""
        if self._researcher is None or len(self._asked.text) > GUESSED:
            return
        guess = await self._rewrite(self._fallback)
        if guess.kind == "search" and guess.question == self._asked.text.strip():
            prefetch(self._run, guess)

    # ------------------------------------------------------------ gathering

    def _wants_report(self, rewritten: Rewritten) -> bool:
        options = self._run.options
        judged = rewritten.long_form and options.depth not in ("quick", "exhaustive")
        wanted = options.style == "report" or (options.style == "auto" and judged)
        return wanted and rewritten.kind not in ("sources", "thread")

    async def _gather_within(self, rewritten: Rewritten) -> Gathered:
        """Gather in the documents that the question names, or in all if those have nothing."""
        gathered = await self._gather(await self._narrowed(rewritten))
        found = [source.url for source in gathered.evidence.sources]
        # A model's second gathering costs as much as its first: pages of the web are enough.
        is_final = not self._run.only or bool(self._run.asked_for)
        if not is_final and not any(self._researcher or is_document(url) for url in found):
            self._close_strategy()
            self._strategy = None
            self._run.widen()
            return await self._gather(rewritten)
        if self._run.only:
            self._run.notes.narrowed(self._run.only)
        return gathered

    async def _narrowed(self, rewritten: Rewritten) -> Rewritten:
        """Restrict the run to the documents that the asker chose or the question names. Without a
        model, plain phrases name them, and the passages need not have their words."""
        only = rewritten.only
        if self._run.asked_for:
            await self._run.narrow_exactly(self._run.asked_for)
            return rewritten
        if self._is_quoting and rewritten.kind == "search":
            only = filter_in(rewritten.question, self._run.now.date())
        if not only or not (only := await self._run.narrow(only)):
            return rewritten
        rest = without(rewritten.question, only) if self._is_quoting else ""
        if not topic_words(rest):
            return rewritten
        queries = rewritten.queries if "web" in self._run.can_search else (rest,)
        return replace(rewritten, question=rest, queries=queries, knowledge_queries=(rest,))

    async def _gather(self, rewritten: Rewritten) -> Gathered:
        is_report, depth = self._wants_report(rewritten), self._depth(rewritten)
        if is_report or depth == "deep" or self._is_check:
            self._run.budget = Budget.of(self._settings, times=DEEP)
        links = self._links(rewritten)
        if not is_report and (rewritten.earlier or rewritten.kind == "sources"):
            evidence = await recall(self._run, rewritten.recalled)
            if evidence.sources or rewritten.kind != "links":
                return Gathered(evidence)
            links = ()  # the earlier answer's sources are gone: search for its question again
        task = Task(self._run, rewritten, self._settings, depth, links, self._on_text)
        if self._researcher is None:
            return await self._gather_closest(task)
        for name in strategies_for(task, is_report=is_report):
            if name == ITERATE and depth == "exhaustive":
                await self._announce(Budget.exhaustive(self._settings))
            if self._strategy is None or self._strategy[0] != name:
                self._strategy = name, strategy(name).begin(task)
            gathered = await self._strategy[1].gather(self._researcher)
            if gathered is not None:
                return gathered
        return Gathered(Evidence())

    async def _announce(self, budget: Budget) -> None:
        """Show the limits of exhaustive research and set them; returns when they are visible."""
        run, calls = self._run, budget.model_calls
        run.budget = budget
        tokens = 0, budget.output_tokens // calls, 0, budget.input_tokens // calls  # not cached yet
        call = run.account.amount(ModelReply(who_answers(self._settings), (), "", *tokens))
        usd = calls * call.usd + budget.searches * run.library.price(run.options.providers)
        usd = -1 if call.unpriced_calls else min(budget.usd, usd)
        limits = {"searches": budget.searches, "minutes": -(-budget.seconds // 60)}
        said = run.texts("exhaustive-price", **limits, usd=usd)
        run.show(StepView("price", "price", said, "done"))
        if self._shows and isinstance(self._reply, Delayed):
            await self._reply.shown()

    async def _gather_closest(self, task: Task) -> Gathered:
        """Gather without a model. An unfinished report is kept as far as it is written."""
        begun = self._strategy[1].so_far() if self._strategy is not None else None
        if begun is not None and begun.written is not None:
            return begun
        if self._is_check:
            raise Invalid(self._run.texts("check-needs-model"))
        reading = replace(READING, page_tokens=READ_TOKENS * MORE_TOKENS)
        return Gathered(await quoting.gather(self._run, task.sub_question(), reading, task.links))

    def _depth(self, rewritten: Rewritten) -> Depth:
        asked = self._run.options.depth
        return rewritten.depth if asked == "auto" else asked

    def _is_read(self, url: str) -> bool:
        """Return True for a file that is a source; the question's own text is one for a model only,
        which gets the question without its middle."""
        return self._researcher is not None or not self._run.is_question(url)

    def _links(self, rewritten: Rewritten) -> tuple[str, ...]:
        """Return the files and links to read, without duplicates, at most the budget's pages."""
        # A question about earlier sources is answered from them, not from earlier files.
        recalls = bool(rewritten.recalled)
        sent = (each.url for each in self._asked.attachments if not (recalls and each.again))
        pictures = self._pictures.shown if self._pictures is not None and not recalls else ()
        links: dict[str, str] = {}
        for url in (*sent, *pictures, *rewritten.links):
            if self._is_read(url):
                links.setdefault(dedupe_key(url), url)
        wanted = tuple(links.values())
        most = self._run.budget.pages
        if len(wanted) > most:
            self._run.note(self._run.texts("links-left-out", count=len(wanted) - most))
        return wanted[:most]

    async def _answered(
        self, gathered: Gathered, rewritten: Rewritten, status: Status | None
    ) -> Answer:
        evidence, written = gathered.evidence, gathered.written
        # Questions about our own sources are answered from the store: no model knows better.
        if written is None and (self._is_quoting or rewritten.kind == "sources"):
            checked = await self._quoted(evidence, rewritten, self._on_text)
            return self._assembled(checked, evidence, status)
        if written is None:
            shown = evidence.for_writing()
            written = await write(self._deltas(rewritten, shown), shown, self._on_text)
        return await self._checked(written, evidence, rewritten, status)

    async def _quoted(
        self, evidence: Evidence, rewritten: Rewritten, on_text: Callable[[str], None]
    ) -> Checked:
        writer = self._reasoner if self._is_quoting else self._fallback
        return await quoting.shown(self._run, writer, rewritten, evidence, on_text)

    async def _deltas(self, rewritten: Rewritten, evidence: Evidence) -> AsyncIterator[AnswerDelta]:
        """Yield the deltas of the answer: of one written while gathering, or of a new one."""
        for delta in evidence.reply:
            yield delta
        if not evidence.reply:
            instructions = self._run.options.instructions
            async for delta in self._reasoner.write(rewritten, evidence, instructions):
                yield delta

    async def _checked(
        self, written: Written, evidence: Evidence, rewritten: Rewritten, status: Status | None
    ) -> Answer:
        if written.cut:
            self._run.note(self._run.texts("answer-cut", limit=written.cut))
        # In a thread: a long answer takes 0.1 s, which would block other runs.
        checked = await asyncio.to_thread(self._judge, evidence, rewritten, written)
        answer = self._assembled(checked, evidence, status, written.suggested)
        from bot.research.verification import is_wanted

        # Statements that were checked have their verdicts.
        is_possible = self._researcher is not None and status != "stopped" and not self._is_check
        if not is_possible or not is_wanted(self._settings, checked):
            return answer
        self._unverified = _Unverified(written, checked, evidence, rewritten)
        return replace(answer, verification=Verification("pending"))

    def _judge(
        self,
        evidence: Evidence,
        rewritten: Rewritten,
        written: Written,
        verdicts: Mapping[str, Verdict] | None = None,
    ) -> Checked:
        from bot.research.checking import check

        verdicts = {} if verdicts is None else verdicts
        return check(written, evidence, rewritten.question, self._run.texts, verdicts)

    def _assembled(
        self,
        checked: Checked,
        evidence: Evidence,
        status: Status | None,
        suggested: Sequence[str] = (),
    ) -> Answer:
        """Build the run's answer from its checked text; ``suggested`` are its writer's questions to
        ask next."""
        by_model = self._researcher is not None
        whole = evidence.enough and not evidence.missing
        found: Status = "answered" if whole or not by_model else "partial"
        found = found if checked.citations else "not_found"
        return replace(
            self._answer(status or found, self._lead + checked.text),
            citations=checked.citations,
            doubts=checked.doubts,
            disagreements=checked.disagreements,
            suggestions=self._suggestions(suggested) if checked.citations else (),
            missing=evidence.missing if by_model else (),
            linked=linked_pages(
                checked.text, [(source.number, source.url) for source in evidence.sources]
            ),
        )

    def _suggestions(self, suggested: Sequence[str]) -> tuple[str, ...]:
        from bot.research.composer import suggestions

        entries = self._transcript.entries
        asked = (self._asked.text, self.question, *(entry.question for entry in entries))
        return suggestions(suggested, asked)

    def _answer(self, status: Status, text: str) -> Answer:
        """Build an answer with the run's steps and usage."""
        run = self._run
        return Answer(
            status=status,
            text=text,
            question=self.question,
            run=run.id,
            queries=tuple(run.queries),
            reasoner=self._reasoner.name,
            steps=run.steps,
            usage=run.usage,
            notes=tuple(run.notes),
            unread=tuple(run.notes.unseen),
            documents=run.documents,
            corrects=self._noted is not None and self._noted.is_kept,
        )

    # ------------------------------------------------------------ verification

    async def amendments(self) -> AsyncIterator[Answer]:
        """Yield the answer as verification amends it, at least once if it was ``pending``; any of
        them may be the last one shown. Raises ``RunLost`` and ``StorageUnavailable``."""
        assert self._given is not None  # noqa: S101
        try:
            if not self._is_made and not await self._is_made_again(self._given):
                yield unverified(self._given, NOT_FOUND_AGAIN)
                return
            if self._unverified is None or self._researcher is None:
                return
            made = self._unverified
            from bot.research.verification import amendments

            judge = partial(self._judge, made.evidence, made.rewritten)
            async for amendment in amendments(
                self._researcher, made.rewritten.question, made.written, made.checked, judge
            ):
                yield self._named(self._numbering.answer(await self._amended(made, amendment)))
        finally:
            await self._settle()

    async def compare(self, pairs: Pairs) -> tuple[bool | None, ...]:
        """Return True for each pair of sentences with the same meaning; all None without a model.
        See ``verification.compare_pairs``."""
        if self._researcher is None:
            return (None,) * len(pairs)
        from bot.research.verification import compare_pairs

        try:
            return await compare_pairs(self._researcher, self.question, pairs)
        finally:
            await self._settle()

    async def _is_made_again(self, given: Answer) -> bool:
        try:
            found = self._numbering.answer(await self.research())
        except (RunLost, StorageUnavailable):
            raise
        except FootnoteError as error:
            log.info("answer not made again", run=self._run.id, error=str(error))
            return False
        return given.verification is not None and given.verification.of == _name(found)

    def _named(self, answer: Answer) -> Answer:
        """Return the answer with a digest that identifies its first text."""
        verification = answer.verification
        if verification is None:
            return answer
        first = self._given.verification if self._given is not None else None
        name = first.of if first is not None else _name(answer)
        return replace(answer, verification=replace(verification, of=name))

    async def _amended(self, given: _Unverified, amendment: Amendment) -> Answer:
        checked = amendment.checked
        if not checked.citations:  # if nothing is left, show quotes instead
            checked = await self._quoted(
                given.evidence.for_writing(), given.rewritten, lambda text: None
            )
        answer = self._assembled(checked, given.evidence, None, given.written.suggested)
        answer = replace(answer, verification=amendment.verification)
        told = changed(answer, self._run.texts)
        return replace(answer, notes=(*answer.notes, told)) if told else answer


@dataclass(frozen=True, slots=True)
class _Unverified:
    written: Written
    checked: Checked
    evidence: Evidence
    rewritten: Rewritten


NOT_FOUND_AGAIN = "The answer was interrupted while it was verified, and cannot be made again."

log = get_logger()


def _name(answer: Answer) -> str:
    return hashlib.sha256(answer.text.encode()).hexdigest()[:16]


def unverified(answer: Answer, problem: str) -> Answer:
    """Return the answer unchanged, with the reason why verification ended."""
    before = answer.verification or Verification("failed")
    state: VerificationState = "done" if before.sentences else "failed"
    return replace(answer, verification=replace(before, state=state, problem=problem))


def looks_alike(one: Answer, other: Answer) -> bool:
    """Return True if readers see the same; steps, usage and verification may differ."""
    bare = [replace(each, steps=(), usage=Usage(), verification=None) for each in (one, other)]
    return bare[0] == bare[1]

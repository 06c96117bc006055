"""A model as a reasoner: rewrites with the small model, researches and writes with the large one.

Importing a service's SDK takes about a second, so ``open_reasoner`` can do that in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from bot.core.errors import InvalidSetting, ModelBroken, ModelRefused
from bot.core.messages import Message, Transcript
from bot.core.settings import Settings
from bot.core.texts import Said, said
from bot.pages.pictures import Picture
from bot.reasoning.answer_prompt import (
    FEWEST,
    AnswerWatch,
    Reader,
    Revising,
    Writing,
    draft_request,
    parse_draft,
    parse_queries,
    query_request,
    reply_of,
    topic_query,
)
from bot.reasoning.calls import (
    RESTATE,
    VERIFY,
    WRITE,
    Again,
    ModelCalls,
    ModelReply,
    Request,
    Unusable,
    prompt,
    repair,
)
from bot.reasoning.evidence import (
    AnswerDelta,
    Claim,
    Cut,
    Evidence,
    Finish,
    Manuscript,
    Paragraph,
    Restart,
    Restated,
    Rewritten,
    Statement,
    SubQuestion,
    Turn,
    Verdict,
    Workspace,
)
from bot.reasoning.graphs import Graph, GraphEdit
from bot.reasoning.judgement_prompts import (
    compare_request,
    parse_comparison,
    parse_pictures,
    parse_restatements,
    parse_statements,
    parse_verdicts,
    picture_request,
    restate_request,
    statements_request,
    verify_request,
)
from bot.reasoning.model_service import Replying, Service, TooLong, Watch
from bot.reasoning.plan_prompt import edit_of, plan_request, worth_cutting
from bot.reasoning.reasoner import Models, OnAnswer, Pairs, ReasonerFactory
from bot.reasoning.rewrite_prompt import parse_rewrite, rewrite_request
from bot.reasoning.tool_loop import TOOLS, actions, loop_turns, pages_by_number
from bot.reasoning.wording import language_of, plain_question, recalled

T = TypeVar("T")
OUTPUT_TOKENS = 8_000  # of one call, thoughts included
LONGEST_OUTPUT = 20_000  # for a retry after only thoughts


@asynccontextmanager
async def open_reasoner(
    name: str,
    settings: Settings,
    models: Models,
    service: Callable[[], Service[Any]],
    *,
    wait: bool,
) -> AsyncIterator[ReasonerFactory]:
    """Yield a factory for one reasoner per run, over a shared client, which ``service`` opens.

    Without ``wait`` the SDK is imported in a thread, while runs work up to their first call. Raises
    ``InvalidSetting`` or ``CredentialsRefused`` if the settings cannot work.
    """
    opening = asyncio.create_task(asyncio.to_thread(service))
    try:
        if wait:
            await opening
        yield partial(ModelReasoner, name=name, settings=settings, models=models, opening=opening)
    finally:
        with suppress(InvalidSetting):  # already reported where the service was needed
            opened = await opening
            await opened.aclose()


async def probe(service: Service[Any], models: Models) -> Said:
    """Check for free that the service accepts key and models, and say so.

    Closes the service. Raises ``CredentialsRefused``, ``InvalidSetting``, ``ModelUnavailable`` or
    ``ModelBroken``.
    """
    try:
        asked = dict.fromkeys((models.large, models.small))
        names = [await service.describe(model) for model in asked]
    finally:
        await service.aclose()
    told = [said("check-model", name=one) for one in dict.fromkeys(names)]
    return sum(told[1:], told[0])


class ModelReasoner:
    """See the module docstring. Implements ``reasoning.reasoner.Researcher``."""

    opens = 2

    def __init__(
        self,
        calls: ModelCalls,
        *,
        name: str,
        settings: Settings,
        models: Models,
        opening: asyncio.Future[Service[Any]],
    ) -> None:
        self.name = name
        self._calls = calls
        self._settings = settings
        self._models = models
        self._opening = opening

    # ------------------------------------------------------------ rewrite

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        """One call, or none for a plain question or one about our sources; a malformed reply is
        repaired once."""
        plain = plain_question(transcript, message, instructions) or recalled(
            transcript, message, language_of(transcript, message)
        )
        if plain is not None:
            return plain
        model = self._models.small
        return await self._parsed(
            rewrite_request(model, transcript, message, instructions, self._calls.now),
            "rewrite",
            ("Understand the question", "Understand the question again"),
            lambda reply, _: parse_rewrite(reply, transcript, message),
            f"{model} did not state the question in the form asked for: "
            "try again, or set FOOTNOTE_SMALL_MODEL to another model.",
        )

    async def see(self, pictures: Sequence[Picture]) -> tuple[str, ...]:
        """One call of the small model; a malformed reply is repaired once."""
        model, count = self._models.small, len(pictures)
        return await self._parsed(
            picture_request(model, pictures),
            "see",
            ("", ""),  # the line of the file's page shows it
            lambda reply, _: parse_pictures(reply, count),
            f"{model} did not write down the picture in the form asked for: try again.",
        )

    # ------------------------------------------------------------ next turn

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        """One call. If the workspace is too large for the model, the turn is a ``Finish`` marked
        ``outgrown``."""
        request = replace(
            self._large(),
            system=prompt("iterate", ask_next=prompt("ask_next")),
            turns=loop_turns(question, workspace, self._calls.now),
            tools=TOOLS,
        )
        may_reply = workspace.may_reply and bool(workspace.sources)
        watch = AnswerWatch(on_answer, workspace.sources) if on_answer and may_reply else None
        title = "Judge what was found" if workspace.turns else "Plan the research"
        try:
            reply = await self._complete(request, "think", title, watch)
        except TooLong:
            return Turn((Finish(enough=False, outgrown=True),))
        if reply.stop_reason == "model_context_window_exceeded":
            return Turn((Finish(enough=False, outgrown=True),))
        pages = pages_by_number(workspace)
        if may_reply and reply.stop_reason != "max_tokens":
            answer = reply_of(reply, workspace.sources, pages)
            if answer is not None:
                return Turn((answer,), reply.content)
        return Turn(tuple(actions(reply, pages)), reply.content)

    # ------------------------------------------------------------ plan

    async def plan(self, question: SubQuestion, graph: Graph) -> GraphEdit:
        """One call. If the graph is too large for the model, the plan is complete as it is."""
        request = plan_request(self._large(), question, graph, self._calls.now)
        title = "Look at the plan again" if graph.turns else "Plan the sub-questions"
        try:
            reply = await self._complete(request, "plan", title)
        except TooLong:
            return GraphEdit(done=True, outgrown=True)
        if reply.stop_reason == "model_context_window_exceeded":
            return GraphEdit(done=True, outgrown=True)
        edit = edit_of(reply)
        return edit if graph.turns else worth_cutting(question.text, edit)

    # ------------------------------------------------------------ write

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        """One streamed call. An interrupted stream starts again (``Restart``), at most twice."""
        writing = Writing.of(question, evidence, instructions, self._calls.now)
        request = writing.request(self._large())
        stream = self._calls.stream(
            request.as_json(),
            lambda: self._written(writing),
            kind=WRITE,
            title="Write the answer",
        )
        async for delta in stream:
            yield delta

    async def _written(self, writing: Writing) -> AsyncGenerator[AnswerDelta | ModelReply]:
        """Write the answer, with fewer passages if there are too many for the model."""
        while True:
            try:
                async with aclosing(self._written_once(writing)) as parts:
                    async for part in parts:
                        yield part
            except TooLong:
                fewer = writing.halved()
                if fewer is None:
                    raise
                writing = fewer
                yield Restart()
            else:
                return

    async def _written_once(self, writing: Writing) -> AsyncGenerator[AnswerDelta | ModelReply]:
        request = writing.request(self._large())
        service = await self._opened()
        replying = Replying(service, request)
        try:
            for more_room in (False, True):
                if more_room:
                    # It only thought until the limit: once more, with room to write.
                    request = _roomier(request)
                    replying = Replying(service, request, before=replying.reply())
                reader = Reader(writing.cited)
                async with aclosing(replying.parts()) as parts:
                    async for part in parts:
                        reader.has_marks = not service.cites(request.model)
                        if isinstance(part, Again):
                            reader = Reader(writing.cited)
                            yield Restart()
                            continue
                        for delta in reader.read(part):
                            yield delta
                reply = replying.reply()
                _check_refusal(reply)
                if reader.wrote:
                    break
            for last in reader.finish():
                yield last
            _check_written(reader, reply)
            if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
                yield Cut(request.max_tokens)
        except BaseException:
            self._calls.count_lost(replying.reply())
            raise
        yield reply

    # ------------------------------------------------------------ a report

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """One call; a malformed reply is repaired once."""
        return await self._parsed(
            draft_request(self._large(), question, evidence, instructions, self._calls.now),
            "draft",
            ("Draft the report from memory", "Draft the report again"),
            lambda reply, is_last: parse_draft(reply, fewest=1 if is_last else FEWEST),
            f"{self._models.large} did not draft the report in the form asked for: try again, or "
            "set FOOTNOTE_MODEL to another model.",
        )

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """One call of the small model, repaired once; after that the paragraph's topic is used."""
        request = query_request(self._models.small, question, manuscript, self._calls.now)
        titles = ("Decide what to check", "Decide again what to check")
        try:
            return await self._parsed(
                request, "query", titles, lambda reply, _: parse_queries(reply)
            )
        except ModelBroken:
            return topic_query(question, manuscript.paragraph)

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """One streamed call, like ``write``, but limited by the budget."""
        revising = Revising.of_paragraph(
            question, manuscript, evidence, instructions, self._calls.now
        )
        title = f"Revise: {manuscript.paragraph.topic}"
        request = revising.request(self._large())
        stream = self._calls.stream(
            request.as_json(), lambda: self._written(revising), kind="revise", title=title
        )
        async for delta in stream:
            yield delta

    # ------------------------------------------------------------ verify

    async def statements(self, text: str) -> tuple[Statement, ...]:
        """One call of the small model, and a second one if its reply is malformed."""
        model = self._models.small
        return await self._parsed(
            statements_request(model, text),
            "statements",
            ("Read the statements", "Read the statements"),
            lambda reply, _: parse_statements(reply),
            f"{model} did not name the statements of the text: try again.",
        )

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
    ) -> tuple[Verdict | None, ...]:
        """One call of the small model; a reply that is not in the form asked for says nothing."""
        request = verify_request(self._models.small, question, text, claims, others)
        reply = await self._complete(request, VERIFY, "Verify the sentences")
        try:
            return parse_verdicts(reply, claims, others)
        except Unusable:
            return (None,) * len(claims)

    async def compare(self, question: str, pairs: Pairs) -> tuple[bool | None, ...]:
        """One call of the small model; a reply that is not in the form asked for says nothing."""
        asked = compare_request(self._models.small, question, pairs)
        return parse_comparison(
            await self._complete(asked, "compare", "Compare sentences"), len(pairs)
        )

    async def restate(
        self,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        verdicts: Sequence[Verdict],
        others: Sequence[Claim] = (),
    ) -> tuple[Restated, ...]:
        """One call of the small model; a reply that is not in the form asked for says nothing."""
        model = self._models.small
        request = restate_request(model, question, answer, claims, verdicts, others)
        reply = await self._complete(request, RESTATE, "Correct sentences")
        try:
            return parse_restatements(reply, claims, others)
        except Unusable:
            return (Restated(),) * len(claims)

    # ------------------------------------------------------------ requests

    def _large(self) -> Request:
        """Return an empty request to the large model."""
        return Request(
            self._models.large,
            OUTPUT_TOKENS,
            "",
            (),
            thinks=True,
            effort=self._settings.effort,
        )

    async def _parsed(
        self,
        request: Request,
        kind: str,
        titles: tuple[str, str],
        parse: Callable[[ModelReply, bool], T],
        broken: str = "",
    ) -> T:
        """Return what a reply says; a malformed one is repaired once (True for ``parse``). If it
        was cut off, a model that thinks gets more room. Raises ``ModelBroken`` with ``broken``."""
        for is_last, title in enumerate(titles):
            reply = await self._complete(request, kind, title)
            try:
                return parse(reply, bool(is_last))
            except Unusable as unusable:
                problem = unusable.problem
            request = repair(request, reply, problem)
            if reply.stop_reason == "max_tokens" and request.thinks:
                request = _roomier(request)
        raise ModelBroken(broken, detail=problem)

    async def _complete(
        self, request: Request, kind: str, title: str, watch: Watch | None = None
    ) -> ModelReply:
        reply = await self._calls.call(
            request.as_json(), lambda: self._completed(request, watch), kind=kind, title=title
        )
        _check_refusal(reply)
        return reply

    async def _completed(self, request: Request, watch: Watch | None) -> ModelReply:
        service = await self._opened()
        return await service.complete(request, self._calls.count_lost, watch)

    async def _opened(self) -> Service[Any]:
        # Shared by all runs: stopping one of them must not cancel it.
        return await asyncio.shield(self._opening)


def _roomier(request: Request) -> Request:
    return replace(request, max_tokens=max(LONGEST_OUTPUT, request.max_tokens))


def _check_written(reader: Reader, reply: ModelReply) -> None:
    if not reader.wrote:
        raise ModelBroken(
            f"{reply.model} wrote no answer: try again, or ask for less.",
            detail=f"stop reason {reply.stop_reason}",
        )


def _check_refusal(reply: ModelReply) -> None:
    if reply.stop_reason != "refusal":
        return
    category = str(reply.stop_details.get("category") or "").replace("_", " ")
    why = f" (category: {category})" if category else ""
    raise ModelRefused(
        f"{reply.model} declined to work on this question{why}: ask it in another way.",
        detail=str(reply.stop_details.get("explanation") or ""),
    )

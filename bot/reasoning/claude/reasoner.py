"""Claude as a reasoner: rewrites on the small model, researches and writes on the other one.

The SDK takes about a second to import, so ``open_claude`` can leave that to a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.errors import InvalidSetting, ModelBroken, ModelRefused
from bot.messages import Message, Transcript
from bot.observing import Observe, nothing_observed
from bot.reasoning.calls import ModelCalls, ModelReply
from bot.reasoning.claude import draft, plan, restate, rewrite, verify
from bot.reasoning.claude.answer import AnswerWatch, reply_of
from bot.reasoning.claude.calls import Again, Call, TooLong, Watch, credentials
from bot.reasoning.claude.draft import Revising
from bot.reasoning.claude.json_output import Unusable, repair
from bot.reasoning.claude.messages import CACHED, loop_messages, shown_pages
from bot.reasoning.claude.plan import QueryWatch
from bot.reasoning.claude.reply import Collector
from bot.reasoning.claude.tools import TOOLS, actions
from bot.reasoning.claude.write import Reader, Writing
from bot.reasoning.drafts import Manuscript, Paragraph
from bot.reasoning.evidence import AnswerDelta, Cut, Evidence, Restart
from bot.reasoning.extractive.rewrite import language_of
from bot.reasoning.graphs import Graph, GraphEdit
from bot.reasoning.plain_question import plain_question
from bot.reasoning.prompts import load
from bot.reasoning.questions import Rewritten, SubQuestion
from bot.reasoning.reasoner import OnAnswer, OnQueries, ReasonerFactory
from bot.reasoning.recall import recalled
from bot.reasoning.verdicts import Claim, Verdict
from bot.reasoning.workspace import Finish, Turn, Workspace
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.reasoning.claude.endpoint import Endpoint

LONGEST_OUTPUT = 20_000  # tokens; the most a setting allows, for an answer that was all thinking


@asynccontextmanager
async def open_claude(
    settings: Settings,
    observe: Callable[[str], Observe] = nothing_observed,
    *,
    wait: bool = True,
) -> AsyncIterator[ReasonerFactory]:
    """Makes Claude reasoners, one a run, over one shared client.

    ``observe`` as for ``Endpoint``. Without ``wait`` the SDK is imported in a thread, beside what a
    run does before its first call. Raises ``InvalidSetting`` or ``CredentialsRefused`` when the
    settings cannot work.
    """
    credentials(settings)
    opening = asyncio.create_task(asyncio.to_thread(_endpoint, settings, observe))
    try:
        if wait:
            await opening
        yield partial(Claude, settings=settings, opening=opening)
    finally:
        with suppress(InvalidSetting):  # said where the endpoint was needed
            endpoint = await opening
            await endpoint.aclose()


def _endpoint(settings: Settings, observe: Callable[[str], Observe]) -> Endpoint:
    from bot.reasoning.claude.endpoint import Endpoint

    return Endpoint(settings, observe)


async def probe(settings: Settings) -> str:
    """Whether key and models are accepted, without paying for a call, as a line for a person.

    Raises ``CredentialsRefused``, ``InvalidSetting``, ``ModelUnavailable`` or ``ModelBroken``.
    """
    endpoint = _endpoint(settings, nothing_observed)
    try:
        models = dict.fromkeys((settings.model, settings.small_model))
        names = [await endpoint.describe(model) for model in models]
    finally:
        await endpoint.aclose()
    return f"{' and '.join(dict.fromkeys(names))} answered"


class Claude:
    """See the module docstring. Implements ``reasoning.reasoner.Reasoner``."""

    name = "claude"
    opens = 2
    read_factor = 1

    def __init__(
        self, calls: ModelCalls, settings: Settings, opening: asyncio.Future[Endpoint]
    ) -> None:
        self._calls = calls
        self._settings = settings
        self._opening = opening

    # ------------------------------------------------------------ rewrite

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        """One call, or none for a message that plainly says it all or asks for our sources; a
        reply that is not the JSON asked for is repaired once."""
        plain = plain_question(transcript, message, instructions) or recalled(
            transcript, message, language_of(transcript, message)
        )
        if plain is not None:
            return plain
        request = rewrite.request(
            self._settings.small_model, transcript, message, instructions, self._calls.now
        )
        reply = await self._complete(Call(request), "rewrite", "Understand the question")
        try:
            return rewrite.rewritten(reply.content, reply.stop_reason, transcript, message)
        except Unusable as unusable:
            request = repair(request, reply.content, unusable.problem)
        reply = await self._complete(Call(request), "rewrite", "Understand the question again")
        try:
            return rewrite.rewritten(reply.content, reply.stop_reason, transcript, message)
        except Unusable as unusable:
            raise ModelBroken(
                f"{self._settings.small_model} did not state the question in the form asked for: "
                "try again, or set FOOTNOTE_SMALL_MODEL to another model.",
                detail=unusable.problem,
            ) from None

    # ------------------------------------------------------------ next turn

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        """One call. When the workspace has outgrown the model, the turn is an honest finish."""
        common = {
            **self._thoughtful(),
            "tools": list(TOOLS),
            "system": [{"type": "text", "text": load("iterate"), "cache_control": CACHED}],
        }
        now = self._calls.now
        call = Call(
            {**common, "messages": loop_messages(question, workspace, now)},
            {**common, "messages": loop_messages(question, workspace, now, plain=True)},
        )
        may_reply = workspace.may_reply and bool(workspace.sources)
        watch = AnswerWatch(on_answer, workspace.sources) if on_answer and may_reply else None
        title = "Judge what was found" if workspace.turns else "Plan the research"
        try:
            reply = await self._complete(call, "think", title, watch)
        except TooLong:
            return Turn((Finish(enough=False, outgrown=True),))
        if reply.stop_reason == "model_context_window_exceeded":
            return Turn((Finish(enough=False, outgrown=True),))
        pages = shown_pages(workspace)
        if may_reply and reply.stop_reason != "max_tokens":
            answer = reply_of(reply.content, workspace.sources, pages, has_marks=reply.plain)
            if answer is not None:
                return Turn((answer,), reply.content)
        return Turn(tuple(actions(reply.content, reply.stop_reason, pages)), reply.content)

    # ------------------------------------------------------------ plan

    async def plan(
        self, question: SubQuestion, graph: Graph, on_queries: OnQueries | None = None
    ) -> GraphEdit:
        """One call. When the graph has outgrown the model, the plan is complete as it is."""
        common = self._thoughtful()
        asked = plan.request(question, graph, self._calls.now)
        output = {**common.get("output_config", {}), **asked["output_config"]}
        request = {**common, **asked, "output_config": output}
        title = "Look at the plan again" if graph.turns else "Plan the sub-questions"
        try:
            reply = await self._complete(Call(request), "plan", title, QueryWatch(on_queries))
        except TooLong:
            return GraphEdit(done=True, outgrown=True)
        if reply.stop_reason == "model_context_window_exceeded":
            return GraphEdit(done=True, outgrown=True)
        edit = plan.edit_of(reply.content, reply.stop_reason)
        return edit if graph.turns else plan.worth_cutting(question.text, edit)

    # ------------------------------------------------------------ write

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        """One streamed call. A cut stream begins again (``Restart``), at most twice."""
        writing = Writing.of(question, evidence, instructions, self._calls.now)
        request = self._writing_call(writing).request
        stream = self._calls.stream(
            request, lambda: self._written(writing), kind="write", title="Write the answer"
        )
        async for delta in stream:
            yield delta

    async def _written(self, writing: Writing) -> AsyncGenerator[AnswerDelta | ModelReply]:
        """The answer, with fewer passages where they are too many for the model."""
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
        call = self._writing_call(writing)
        collector = Collector()
        try:
            for more_room in (False, True):
                if more_room:
                    # It thought until the limit and wrote nothing: once more, with room to write.
                    call = Call(_roomier(call.request), _roomier(call.plain or call.request))
                    collector = Collector(collector)
                reader = Reader(writing)
                endpoint = await self._opened()
                async with aclosing(endpoint.events(call)) as events:
                    async for event in events:
                        reader.has_marks = not endpoint.cites(self._settings.model)
                        if isinstance(event, Again):
                            collector, reader = Collector(collector), Reader(writing)
                            yield Restart()
                            continue
                        collector.add(event)
                        for delta in reader.read(event):
                            yield delta
                reply = collector.reply()
                _check_refusal(reply)
                if reader.wrote:
                    break
            _check_written(reader, reply)
            if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
                yield Cut(call.request["max_tokens"])
        except BaseException:
            self._calls.lost(collector.reply())
            raise
        yield reply

    # ------------------------------------------------------------ a report

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """One call; a reply that is not the JSON asked for is repaired once."""
        request = draft.draft_request(
            self._thoughtful(), question, evidence, instructions, self._calls.now
        )
        reply = await self._complete(Call(request), "draft", "Draft the report from memory")
        try:
            return draft.drafted(reply.content, reply.stop_reason)
        except Unusable as unusable:
            request = repair(request, reply.content, unusable.problem)
            if reply.stop_reason == "max_tokens":
                request = _roomier(request)
        reply = await self._complete(Call(request), "draft", "Draft the report again")
        try:
            return draft.drafted(reply.content, reply.stop_reason, fewest=1)
        except Unusable as unusable:
            raise ModelBroken(
                f"{self._settings.model} did not draft the report in the form asked for: try "
                "again, or set FOOTNOTE_MODEL to another model.",
                detail=unusable.problem,
            ) from None

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """One call of the small model, repaired once; then the paragraph's topic has to do."""
        request = draft.query_request(
            self._settings.small_model, question, manuscript, self._calls.now
        )
        for title in ("Decide what to check", "Decide again what to check"):
            reply = await self._complete(Call(request), "query", title)
            try:
                return draft.queries(reply.content, reply.stop_reason)
            except Unusable as unusable:
                request = repair(request, reply.content, unusable.problem)
        return draft.topic_query(question, manuscript.paragraph)

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """One streamed call, like ``write``, but held to the budget."""
        revising = Revising.of_paragraph(
            question, manuscript, evidence, instructions, self._calls.now
        )
        title = f"Revise: {manuscript.paragraph.topic}"
        request = self._writing_call(revising).request
        stream = self._calls.checked_stream(
            request, lambda: self._written(revising), kind="revise", title=title
        )
        async for delta in stream:
            yield delta

    # ------------------------------------------------------------ verify

    async def verify(self, question: str, claims: Sequence[Claim]) -> tuple[Verdict | None, ...]:
        """One call of the small model; a reply that is not in the form asked for says nothing."""
        request = verify.request(self._settings.small_model, question, claims)
        reply = await self._complete(Call(request), "verify", "Verify the sentences")
        try:
            return verify.verdicts(reply.content, reply.stop_reason, claims)
        except Unusable:
            return (None,) * len(claims)

    async def restate(
        self, question: str, answer: str, claims: Sequence[Claim], verdicts: Sequence[Verdict]
    ) -> tuple[str, ...]:
        """One call of the small model; a reply that is not in the form asked for says nothing."""
        model = self._settings.small_model
        request = restate.request(model, question, answer, claims, verdicts)
        reply = await self._complete(Call(request), "restate", "Correct sentences")
        try:
            return restate.restated(reply.content, reply.stop_reason, claims)
        except Unusable:
            return ("",) * len(claims)

    # ------------------------------------------------------------ requests

    def _thoughtful(self) -> dict[str, Any]:
        """The shared part of every request to the large model."""
        settings = self._settings
        off = settings.thinking == "off"
        common: dict[str, Any] = {
            "model": settings.model,
            "max_tokens": settings.max_output_tokens,
            "thinking": {"type": "disabled" if off else "adaptive"},
        }
        if settings.effort is not None:
            common["output_config"] = {"effort": settings.effort}
        return common

    def _writing_call(self, writing: Writing) -> Call:
        model, limit = self._settings.model, self._settings.max_output_tokens
        common = self._thoughtful()
        return Call(
            {**common, **writing.request(model, limit)},
            {**common, **writing.plain_request(model, limit)},
        )

    async def _complete(
        self, call: Call, kind: str, title: str, watch: Watch | None = None
    ) -> ModelReply:
        reply = await self._calls.call(
            dict(call.request),
            lambda: self._completed(call, watch),
            kind=kind,
            title=title,
        )
        _check_refusal(reply)
        return reply

    async def _completed(self, call: Call, watch: Watch | None) -> ModelReply:
        return await (await self._opened()).complete(call, self._calls.lost, watch)

    async def _opened(self) -> Endpoint:
        # Shared by all runs: one that is stopped must not cancel it.
        return await asyncio.shield(self._opening)


def _roomier(request: Any) -> dict[str, Any]:
    return {**request, "max_tokens": max(LONGEST_OUTPUT, request["max_tokens"])}


def _check_written(reader: Reader, reply: ModelReply) -> None:
    if not reader.wrote:
        raise ModelBroken(
            f"{reply.model} wrote no answer: try again, or set FOOTNOTE_MAX_OUTPUT_TOKENS higher.",
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

"""The JSON API: ask questions, follow runs, read threads. ``/api/openapi.json`` describes it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, datetime
from functools import cache
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import visitor_of
from adapters.web.access.visibility import (
    Visibility,
    run_named,
    seeing,
    shows_nothing,
    thread_named,
    with_audit,
    with_stream_audit,
)
from adapters.web.asking import put_question
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import AGAIN, PARTS, Upload, form_of_parts, json_of, kind_is
from adapters.web.limits import MOST_FILES
from adapters.web.live import (
    HERE,
    ReplyState,
    as_line,
    event,
    event_stream,
    events_together,
    moments,
    state_of,
)
from adapters.web.turns import Turn, turns_in, turns_of
from bot import __version__
from bot.core.messages import (
    EVERYWHERE,
    MAX_QUESTION,
    Answer,
    Change,
    Depth,
    Disagreement,
    Doubt,
    PlanView,
    Sources,
    Status,
    StepState,
    Usage,
    VerificationState,
    VerifiedSentence,
)
from bot.core.reader import Reader
from bot.pages.media import described
from bot.rendering.documents import answer_document
from bot.storage.store import RunRecord
from bot.storage.tables import UNFINISHED

RunState = Literal["accepted", "running", "answered", "partial", "not_found", "failed", "stopped"]


class Question(BaseModel):
    """A question. ``thread`` is the conversation to continue; empty begins one. ``again`` are the
    URLs of files that were sent in it before and are to be read for this question too. ``within``
    (words of path, author or kind: all apply), ``since`` and ``until`` restrict the documents."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=MAX_QUESTION, examples=["Who built it?"])
    depth: Depth = "auto"
    thread: str = Field(default="", max_length=300)
    again: tuple[str, ...] = Field(default=(), max_length=MOST_FILES)
    within: tuple[Annotated[str, Field(max_length=100)], ...] = Field(default=(), max_length=10)
    since: date | None = None
    until: date | None = None


class File(BaseModel):
    """A file of a question; ``again`` tells that it was sent with an earlier question."""

    name: str
    media_type: str
    url: str
    again: bool


class Accepted(BaseModel):
    """An accepted question. ``new`` is false if the same request came before; ``ahead`` is the
    number of questions of its thread that are answered first."""

    run: str
    thread: str
    new: bool
    ahead: int
    url: str
    events: str


class Cited(BaseModel):
    number: int
    url: str
    title: str
    heading: str
    quote: str
    via: str


class Step(BaseModel):
    kind: str
    title: str
    state: StepState
    seconds: float


class PlanStep(Step):
    """``parent`` is the step that this one belongs to; ``needs`` are steps that must end first."""

    id: str
    detail: str
    sources: list[str]
    parent: str
    needs: list[str]


class Plan(BaseModel):
    title: str
    steps: list[PlanStep]


class VerificationDocument(BaseModel):
    """The verification of an answer, which may still be amended while ``pending``. ``problem`` says
    why sentences were not verified."""

    state: VerificationState
    problem: str
    sentences: list[VerifiedSentence]


class AnswerDocument(BaseModel):
    """An answer as `footnote ask --json` prints it. ``answer`` is Markdown with ``[n]`` marks."""

    status: Status
    answer: str
    citations: list[Cited]
    question: str
    queries: list[str]
    reasoner: str
    steps: list[Step]
    usage: Usage
    doubts: list[Doubt]
    disagreements: list[Disagreement]
    changes: list[Change]
    corrects: bool
    notes: list[str]
    suggestions: list[str]
    missing: list[str]
    verification: VerificationDocument | None
    run: str


class Run(BaseModel):
    """A run: ``plan`` and ``text`` while it works, ``answer`` once it has one."""

    run: str
    thread: str
    state: RunState
    question: str
    depth: Depth
    asked_by: str
    asked_at: datetime
    files: list[File]
    plan: Plan | None
    text: str
    answer: AnswerDocument | None


class Conversation(BaseModel):
    """A thread with its questions in order."""

    thread: str
    key: str
    runs: list[Run]


class Text(BaseModel):
    """The whole text of the answer so far."""

    text: str


class Removed(BaseModel):
    """The run whose question was deleted."""

    run: str


class Stopping(BaseModel):
    """``stopping`` is false if there was nothing to stop."""

    run: str
    stopping: bool


class Failure(BaseModel):
    """An error and what to do, in one sentence."""

    error: str


def run_document(turn: Turn, thread: str) -> Run:
    now = turn.reply_state
    return Run(
        run=turn.run,
        thread=thread,
        state=turn.state,  # type: ignore[arg-type]
        question=turn.question,
        depth=turn.depth,  # type: ignore[arg-type]
        asked_by=turn.author,
        asked_at=turn.asked_at,
        files=[File(**asdict(file)) for file in turn.files],
        plan=None if now.plan is None else plan_document(now.plan),
        text=now.text,
        answer=None if now.answer is None else finished_document(now.answer),
    )


def plan_document(plan: PlanView) -> Plan:
    steps = (asdict(replace(step, seconds=round(step.seconds, 3))) for step in plan.steps)
    return Plan(title=plan.title, steps=[PlanStep(**step) for step in steps])


def finished_document(answer: Answer) -> AnswerDocument:
    return AnswerDocument.model_validate(answer_document(answer))


# The data of each kind of event.
EVENTS: Mapping[str, type[BaseModel]] = {
    "plan": Plan,
    "text": Text,
    "answer": AnswerDocument,
    "removed": Removed,
}


def change_documents(before: ReplyState | None, now: ReplyState) -> list[tuple[str, BaseModel]]:
    """Return the events (kind and data) for a reply that showed ``before``, None if that is no
    longer known."""
    if now.answer is not None:
        return [("answer", finished_document(now.answer))]
    told: list[tuple[str, BaseModel]] = []
    if now.plan is not None and (before is None or now.plan != before.plan):
        told.append(("plan", plan_document(now.plan)))
    if before is None or now.text != before.text:
        told.append(("text", Text(text=now.text)))
    return told


NAME_PATTERN = "^[0-9A-Za-z_-]{1,64}$"  # the name of a request
ID_PATTERN = r"^[0-9]+\.[0-9]+(\.end)?$"  # of an event
_EVENTS = """Server-sent events: `plan` (the plan, whole), `text` (all that has been written so
far), `answer` (the answer; while its verification is pending it may be sent again, amended, and
after the last one the stream ends), `removed` (the question was deleted, and the stream ends). Of
states that follow each other fast only the last is sent. Ids grow, number by number; reconnect with
`Last-Event-ID` to continue where you were. 204 means that you have everything."""


@cache
def description() -> dict[str, Any]:
    """Return the whole OpenAPI document."""
    _, schemas = models_json_schema(
        [
            (Question, "validation"),
            *((each, "serialization") for each in (Accepted, Conversation, Failure, Run, Stopping)),
            *((each, "serialization") for each in EVENTS.values()),
        ],
        ref_template="#/components/schemas/{model}",
    )
    return {
        "openapi": "3.2.0",
        "info": {
            "title": "Footnote",
            "version": __version__,
            "description": "Ask questions, follow the research, read answers with their sources.",
        },
        "paths": _paths(),
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        # On loopback without a token no authentication is needed.
        "security": [{}, {"token": []}],
    }


def _paths() -> dict[str, Any]:
    run, thread = _path("run", "A run's id."), _path("thread", "A thread's name or key.")
    name = {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Names the request: sent twice it is one question.",
        "schema": {"type": "string", "pattern": NAME_PATTERN},
    }
    last = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
    events = {
        "200": {
            "description": "The events.",
            "content": {
                "text/event-stream": {
                    "itemSchema": {"oneOf": [_event(kind, data) for kind, data in EVENTS.items()]}
                }
            },
        },
        "204": {"description": "You have it all."},
    }
    stopping = _good("202", "Whether there was anything to stop.", "Stopping")
    nothing = {"application/json": {"schema": {"type": "object"}}}
    return {
        "/api/questions": {
            "post": _operation(
                "ask", "Put a question", [name], _good("202", "Taken in.", "Accepted"), _question()
            )
        },
        "/api/runs/{run}": {
            "get": _operation(
                "run", "A run, working or ended", [run], _good("200", "The run.", "Run")
            )
        },
        "/api/runs/{run}/events": {
            "get": {
                **_operation(
                    "events",
                    "What changes in a run, until it has its final answer",
                    [run, last],
                    events,
                ),
                "description": _EVENTS,
            }
        },
        "/api/runs/{run}/stop": {
            "post": _operation(
                "stop",
                "Stop a run; what was found until then is its answer",
                [run],
                stopping,
                nothing,
            )
        },
        "/api/threads/{thread}": {
            "get": _operation(
                "thread",
                "A conversation",
                [thread],
                _good("200", "The conversation.", "Conversation"),
            )
        },
    }


def _operation(
    id: str,
    summary: str,
    parameters: list[dict[str, Any]],
    good: dict[str, Any],
    body: dict[str, Any] | None = None,
) -> dict[str, Any]:
    statuses = [401, 403, 404, 429, 503] + ([400, 413, 415, 422] if body else [])
    failed = {"description": "What happened and what to do.", "content": _content("Failure")}
    return {
        "operationId": id,
        "summary": summary,
        "parameters": parameters,
        **({"requestBody": {"required": True, "content": body}} if body else {}),
        "responses": {**good, **{str(status): failed for status in sorted(statuses)}},
    }


def _good(status: str, said: str, schema: str) -> dict[str, Any]:
    return {status: {"description": said, "content": _content(schema)}}


def _event(kind: str, data: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of an event; the last of those sent together has an id."""
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"const": kind},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"$ref": f"#/components/schemas/{data.__name__}"},
            },
            "id": {"type": "string", "pattern": ID_PATTERN},
        },
    }


def _question() -> dict[str, Any]:
    """Return the body of a question: JSON, or with files a multipart form (RFC 7578) with the same
    fields."""
    asked = Question.model_json_schema()["properties"]
    files = {
        "type": "array",
        "maxItems": MOST_FILES,
        "items": {"type": "string", "format": "binary"},
        "description": f"{described()}.",
    }
    fields = {name: asked[name] for name in ("question", "depth", "thread")}
    form = {"type": "object", "required": ["question"], "properties": {**fields, "files": files}}
    return {**_content("Question"), "multipart/form-data": {"schema": form}}


def _path(name: str, said: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 300}
    return {"name": name, "in": "path", "required": True, "description": said, "schema": schema}


def _content(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


NAME_HEADER = "idempotency-key"
NAME = re.compile(NAME_PATTERN)


def api_routes(console: Console) -> Sequence[BaseRoute]:
    api = _Api(console)
    return [
        Route("/api/openapi.json", api.describe),
        Route("/api/questions", api.ask, methods=["POST"]),
        Route("/api/runs/{run}", with_audit(console, "read", "run", api.run, "run")),
        Route("/api/runs/{run}/events", with_stream_audit(console, "run", api.events, "run")),
        Route("/api/runs/{run}/stop", api.stop, methods=["POST"]),
        Route(
            "/api/threads/{thread}",
            with_audit(console, "read", "conversation", api.thread, "thread"),
        ),
    ]


class _Api:
    def __init__(self, console: Console) -> None:
        self._console = console

    async def describe(self, request: Request) -> Response:
        servers = [{"url": self._console.settings.root or "/"}]
        told = {**description(), "servers": servers}
        return JSONResponse(told, headers={"Cache-Control": "no-cache"})

    async def ask(self, request: Request) -> Response:
        asking, files = await self._question(request)
        only = asking.within, str(asking.since or ""), str(asking.until or "")
        asked = await put_question(
            self._console,
            request,
            asking.question,
            depth=asking.depth,
            thread=asking.thread,
            name=_name(request),
            files=files,
            again=asking.again,
            sources=Sources(("local",), None, *only) if any(only) else EVERYWHERE,
        )
        run = await self._console.store.run(asked.run_id)
        thread = run.message.thread.thread if run is not None else ""
        path = f"{self._console.settings.root}/api/runs/{asked.run_id}"
        accepted = Accepted(
            run=asked.run_id,
            thread=thread,
            new=asked.new,
            ahead=asked.ahead,
            url=path,
            events=f"{path}/events",
        )
        return _json(accepted, 202, Location=path)

    async def _question(self, request: Request) -> tuple[Question, Sequence[Upload]]:
        """Read a question from JSON, or from a multipart form with files."""
        files: Sequence[Upload] = ()
        if kind_is(request, PARTS):
            largest = self._console.settings.fetch_max_bytes
            form = await form_of_parts(request, largest, texts_of(request))
            given, files = {**form.fields, AGAIN: form.again}, form.files
        else:
            given = await json_of(request)
        try:
            return Question.model_validate(given), files
        except ValidationError as error:
            raise HTTPException(422, _explained(error)) from None

    async def run(self, request: Request) -> Response:
        run = await run_named(self._console, request, request.path_params["run"])
        turns = await turns_of(self._console, [run.id])
        if not turns:
            raise HTTPException(404, texts_of(request)("question-gone"))
        turn = seeing(self._console, request).turn(turns[0])
        if turn.reply_state.answer is None:
            shows_nothing(request)  # programs poll often for the answer
        return _json(run_document(turn, run.message.thread.thread))

    async def stop(self, request: Request) -> Response:
        if not isinstance(await json_of(request), dict):
            raise HTTPException(422, "The body must be a JSON object.")
        run = await run_named(self._console, request, request.path_params["run"])
        stopping = await self._console.open_reception().stop_run(run.id)
        return _json(Stopping(run=run.id, stopping=stopping), 202)

    async def thread(self, request: Request) -> Response:
        thread = await thread_named(self._console, request, request.path_params["thread"])
        turns = await turns_in(self._console, thread)
        seen = seeing(self._console, request)
        runs = [run_document(seen.turn(turn), thread.thread) for turn in turns]
        return _json(Conversation(thread=thread.thread, key=thread.key, runs=runs))

    async def events(self, request: Request) -> Response:
        """Stream changes until there is a verified answer. A client that has it gets 204, which
        stops its reconnecting according to the standard."""
        run = await run_named(self._console, request, request.path_params["run"])
        seen = request.headers.get("last-event-id", "")
        now = state_of(run)
        if run.state not in UNFINISHED and (now.answer is None or seen == now.mark):
            return Response(status_code=204)
        client = visitor_of(request).client
        following = self._follow(run, seen, seeing(self._console, request))
        return event_stream(request, self._console.streams, client, following)

    async def _follow(self, run: RunRecord, seen: str, sight: Visibility) -> AsyncIterator[str]:
        before = None if seen else ReplyState()
        reader = Reader.of_stored(run.message, run.options)
        async with self._console.live.follow(run.message.thread, run.id) as feed:
            async for changed in moments(feed):
                if not changed:
                    yield HERE
                    continue
                standing = feed.standings.get(run.id)
                if standing is None or standing.removed:
                    yield event("removed", as_line(Removed(run=run.id).model_dump()))
                    return
                now = standing.reply_state
                if now is None or (standing.over and not _is_final(now.answer)):
                    stored = await self._console.store.run(run.id)
                    now = state_of(stored) if stored is not None else ReplyState()
                now = sight.visible_state(now, reader)
                if now.mark != seen:
                    for told in _events(before, now):
                        yield told
                seen, before = now.mark, now
                if _is_final(now.answer) or standing.over:
                    return


def _is_final(answer: Answer | None) -> bool:
    return answer is not None and not answer.is_pending


def _events(before: ReplyState | None, now: ReplyState) -> list[str]:
    told = [
        (kind, as_line(data.model_dump(mode="json")))
        for kind, data in change_documents(before, now)
    ]
    return events_together(told, now.mark)


def _name(request: Request) -> str:
    """Return the client's name for its request, or ""."""
    name = request.headers.get(NAME_HEADER)
    if name is not None and not NAME.fullmatch(name):
        raise HTTPException(422, f"Idempotency-Key must match {NAME_PATTERN}.")
    return name or ""


def _json(document: BaseModel, status: int = 200, **headers: str) -> Response:
    return Response(
        document.model_dump_json(),
        status_code=status,
        media_type="application/json",
        headers={"Cache-Control": "no-store", **{k: quote(v) for k, v in headers.items()}},
    )


def _explained(error: ValidationError) -> str:
    """Return the first problem as a sentence."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the body"
    return f"{where}: {problem['msg']}."

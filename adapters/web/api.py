"""The JSON API: ask questions, follow runs, read threads. ``/api/openapi.json`` describes it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from urllib.parse import quote

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.asking import put_question, run_named, thread_named
from adapters.web.auditing import shows_nothing, with_audit, with_stream_audit
from adapters.web.console import Console, texts_of, visitor_of
from adapters.web.description import NAME_PATTERN, description
from adapters.web.documents import (
    Accepted,
    Conversation,
    Question,
    Removed,
    Stopping,
    change_documents,
    run_document,
)
from adapters.web.forms import json_of, kind_is
from adapters.web.reply_state import ReplyState, state_of
from adapters.web.sse import HERE, as_line, event, event_stream, events_together, moments
from adapters.web.turns import runs_of, turns_of
from adapters.web.uploads import AGAIN, PARTS, Upload, form_of_parts
from adapters.web.visibility import Visibility, seeing
from bot.core.messages import Answer
from bot.core.reader import Reader
from bot.storage.store import RunRecord
from bot.storage.tables import UNFINISHED

NAME_HEADER = "idempotency-key"
NAME = re.compile(NAME_PATTERN)


def api_routes(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of the API."""
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
        asked = await put_question(
            self._console,
            request,
            asking.question,
            depth=asking.depth,
            thread=asking.thread,
            name=_name(request),
            files=files,
            again=asking.again,
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
        ids = await runs_of(self._console.database, thread.key)
        turns = await turns_of(self._console, ids)
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

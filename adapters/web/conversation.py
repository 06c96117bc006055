"""The conversation page: threads, questions, answers, and their controls."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import get_args
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.asking import encodable, put_question, run_named, thread_named
from adapters.web.auditing import with_audit, with_stream_audit
from adapters.web.connected import CHOSEN
from adapters.web.console import WORKSPACE, Console, asked_locale, texts_of, visitor_of
from adapters.web.forms import form_of, question_form_of
from adapters.web.history import about
from adapters.web.stream import thread_events
from adapters.web.threads import list_threads
from adapters.web.turns import Turn, runs_of, turns_of
from adapters.web.uploads import megabytes
from adapters.web.visibility import seeing
from adapters.web.writing import cursor_of, turn_html
from bot.core.messages import Attachment, Depth, Thread
from bot.pages.media import accepted
from bot.service.buttons import Deed, Deeper, Feedback, FollowUp, Retract, Stop, Watch, carry_out
from bot.service.standing_service import DAILY
from bot.storage.records import RunRecord
from bot.storage.workspaces import REASONS, Reason

DEPTHS: tuple[str, ...] = get_args(Depth)


def conversation_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of this page."""
    pages = _Conversation(console)
    return [
        Route("/", pages.begin),
        Route("/ask", pages.ask, methods=["POST"]),
        Route("/indexing", pages.indexing),
        Route(
            "/threads/{thread}", with_audit(console, "read", "conversation", pages.thread, "thread")
        ),
        Route(
            "/threads/{thread}/events",
            with_stream_audit(console, "conversation", pages.events, "thread"),
        ),
        Route("/runs/{run}/stop", pages.pressing(lambda run, form: Stop(run)), methods=["POST"]),
        Route("/runs/{run}/deeper", pages.pressing(lambda run, _: Deeper(run)), methods=["POST"]),
        Route("/runs/{run}/watch", pages.pressing(_watch), methods=["POST"]),
        Route("/runs/{run}/retract", pages.pressing(lambda run, _: Retract(run)), methods=["POST"]),
        Route("/runs/{run}/feedback", pages.pressing(_feedback), methods=["POST"]),
        Route("/runs/{run}/follow-up", pages.pressing(_follow_up), methods=["POST"]),
        Route(
            "/runs/{run}/files/{number:int}", with_audit(console, "read", "file", pages.file, "run")
        ),
        Route("/runs/{run}/edit", pages.edit, methods=["POST"]),
        Route("/runs/{run}/delete", pages.delete, methods=["POST"]),
    ]


class _Conversation:
    def __init__(self, console: Console) -> None:
        self._console = console

    # ------------------------------------------------------------ pages

    async def begin(self, request: Request) -> Response:
        return await self._page(request, None)

    async def thread(self, request: Request) -> Response:
        thread = await self._thread(request)
        await self._console.standing.record_interest(thread)
        return await self._page(request, thread)

    async def _page(self, request: Request, thread: Thread | None) -> Response:
        console, visitor, texts = self._console, visitor_of(request), texts_of(request)
        turns: list[Turn] = []
        if thread is not None:
            ids = await runs_of(console.database, thread.key)
            turns = [*map(seeing(console, request).turn, await turns_of(console, ids))]
        place = thread or Thread("web", WORKSPACE, visitor.channel, "")
        rules = await console.rules(place)
        last = turns[-1].options if turns else None
        offers = await console.connected.offers(visitor, rules, texts, last)
        asked = not turns and thread is None
        return console.page(
            request,
            "conversation.html",
            offers=offers,
            examples=console.connected.examples(rules, texts) if asked else (),
            page=await list_threads(console, request, texts),
            thread=thread,
            **await about(console, request, thread),
            watched=await console.standing.all(thread) if thread else (),
            watchable=_watchable(turns),
            turns=[turn_html(console.templates, texts, turn, visitor) for turn in turns],
            cursor=cursor_of(turns),
            depths=DEPTHS,
            depth=turns[-1].depth if turns else "auto",
            files=_files_of(turns),
            at_hand={file.url for file in turns[-1].files} if turns else set(),
            accepted=accepted(),
            largest=console.settings.fetch_max_bytes,
            megabytes=megabytes(console.settings.fetch_max_bytes),
            event=secrets.token_hex(8),
        )

    async def _thread(self, request: Request) -> Thread:
        return await thread_named(self._console, request, request.path_params["thread"])

    async def events(self, request: Request) -> Response:
        return thread_events(self._console, request, await self._thread(request))

    async def indexing(self, request: Request) -> Response:
        """Report the progress of indexing the documents, as a sentence ("" when done), and how many
        documents of each collection can be searched."""
        console, visitor, texts = self._console, visitor_of(request), texts_of(request)
        now = console.observed.documents
        place = Thread("web", WORKSPACE, visitor.channel, "")
        offers = await console.connected.offers(visitor, await console.rules(place), texts)
        counts = {
            each.id: texts("web-source-count", count=each.count)
            for each in offers
            if each.count is not None
        }
        told = texts("web-indexing", done=now.done, total=now.total) if now.is_going_on else ""
        return JSONResponse({"told": told, "counts": counts}, headers={"Cache-Control": "no-store"})

    # ------------------------------------------------------------ asking

    async def ask(self, request: Request) -> Response:
        sent = await question_form_of(request, self._console.settings.fetch_max_bytes)
        form = sent.fields
        depth = form.get("depth", "auto")
        if depth not in DEPTHS:
            raise HTTPException(422, f"The depth is one of {', '.join(DEPTHS)}.")
        asked = await put_question(
            self._console,
            request,
            form.get("question") or form.get("example", ""),
            depth=depth,  # type: ignore[arg-type]
            thread=form.get("thread", ""),
            name=form.get("event", "")[:64],
            files=sent.files,
            again=sent.again,
            ticked=sent.sources if CHOSEN in form else None,
        )
        return await self._told(request, asked.run_id)

    # ------------------------------------------------------------ pressing

    def pressing(
        self, meant: Callable[[str, dict[str, str]], Deed]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def pressed(request: Request) -> Response:
            form, run = await form_of(request), await self._run(request)
            visitor = visitor_of(request)
            text = await carry_out(
                self._console.open_reception(),
                meant(run.id, form),
                visitor.author,
                locale=asked_locale(request),
                audience="channel",
            )
            self._console.live.look_soon()
            return await self._told(
                request, run.id, "" if text is None else texts_of(request)(text)
            )

        return pressed

    async def edit(self, request: Request) -> Response:
        form, run = await form_of(request), await self._run(request)
        self._check_own(request, run)
        reception = self._console.open_reception()
        await reception.edit("web", run.message.event_id, form.get("question", ""))
        self._console.live.look_soon()
        return await self._told(request, run.id)

    async def delete(self, request: Request) -> Response:
        await form_of(request)
        run = await self._run(request)
        self._check_own(request, run)
        await self._console.open_reception().forget("web", run.message.event_id)
        self._console.live.look_soon()
        # If nothing is left of the conversation, go to a new one.
        is_left = await self._console.history.of([run.message.thread.key])
        return await self._told(request, run.id if is_left else "")

    async def file(self, request: Request) -> Response:
        """Send a question's file as a download, never as a page of the console."""
        run = await self._run(request)
        number = request.path_params["number"]
        files = run.message.attachments[number - 1 : number] if number else ()
        body = await self._console.files.body(files[0].url) if files else None
        if body is None:
            raise HTTPException(404, texts_of(request)("upload-gone"))
        return Response(
            body,
            media_type="application/octet-stream",
            headers={
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(files[0].name)}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
                "Cache-Control": "no-store",
            },
        )

    async def _run(self, request: Request) -> RunRecord:
        run = await run_named(self._console, request, request.path_params["run"])
        if run.message.thread.platform != "web":
            raise HTTPException(422, texts_of(request)("web-not-here"))
        return run

    def _check_own(self, request: Request, run: RunRecord) -> None:
        visitor = visitor_of(request)
        if not visitor.operator and run.message.author.id != visitor.id:
            raise HTTPException(403, texts_of(request)("web-not-yours"))

    async def _told(self, request: Request, run_id: str, sentence: str = "") -> Response:
        """Send a script the outcome, and a browser without scripts the thread."""
        run = await self._console.store.run(run_id) if run_id else None
        name = run.message.thread.thread if run is not None else ""
        path = self._console.settings.root + (f"/threads/{name}" if name else "/")
        if request.headers.get("accept", "").startswith("application/json"):
            files = run.message.attachments if run is not None else ()
            named = [{"url": file.url, "name": file.name} for file in files]
            told = {"thread": path, "run": run_id, "told": sentence, "files": named}
            return JSONResponse(told)
        return RedirectResponse(f"{path}#run-{run_id}" if run else path, status_code=303)


def _files_of(turns: Sequence[Turn]) -> Sequence[Attachment]:
    """Return the files sent in a conversation, each once."""
    return [file for turn in turns for file in turn.files if not file.again]


def _watchable(turns: Sequence[Turn]) -> str:
    """Return the run of the last question that has an answer, or ""."""
    answered = [turn.run for turn in turns if turn.over and turn.reply_state.answer is not None]
    return answered[-1] if answered else ""


def _watch(run: str, form: dict[str, str]) -> Deed:
    return Watch(run, form.get("every", DAILY)[:100])


def _feedback(run: str, form: dict[str, str]) -> Deed:
    if form.get("verdict") == "good":
        return Feedback(run, "good")
    reason: Reason = next((each for each in REASONS if each == form.get("reason")), "")
    return Feedback(run, "bad", reason, encodable(form.get("words", "")).strip())


def _follow_up(run: str, form: dict[str, str]) -> Deed:
    number = form.get("number", "")
    return FollowUp(run, int(number) if number.isdecimal() and len(number) < 3 else -1)

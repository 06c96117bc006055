"""Shares a conversation with others, by a link or as a file.

Everyone with access to the console can open a link, but it shows the conversation only to those who
may read all sources of its answers, which is checked at each visit.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import quote

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from adapters.web.asking import encodable, thread_named
from adapters.web.assets import files
from adapters.web.auditing import set_audit_object, with_audit
from adapters.web.console import Console, texts_of, visitor_of
from adapters.web.history import address_of
from adapters.web.turns import Turn, runs_of, turns_of
from adapters.web.views import Reply, reply_of
from adapters.web.visibility import seeing
from adapters.web.writing import turn_html
from bot.core.lines import one_line, shortened
from bot.core.messages import Answer, Thread, Wording
from bot.core.reader import for_reader
from bot.core.texts import Texts
from bot.rendering.bibliography import as_bibtex, as_csl, references
from bot.rendering.conversation import as_markdown
from bot.storage.archive import Conversation, StoredMessage
from bot.storage.audit_log import named

FORMS = {
    "md": ("text/markdown; charset=utf-8", "md"),
    "html": ("text/html; charset=utf-8", "html"),
    "bib": ("application/x-bibtex; charset=utf-8", "bib"),
    "csl": ("application/vnd.citationstyles.csl+json", "json"),
}
NO_INDEX = {"X-Robots-Tag": "noindex, nofollow"}
FILE_NAME = 60  # characters
_MARK = re.compile(r'<a class="mark" data-n="(\d+)"[^<>]*+>')


def sharing_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of these pages."""
    pages, link = _Sharing(console), "shared conversation"
    return [
        Route("/shared/{token}", with_audit(console, "read", link, pages.page)),
        Route(
            "/shared/{token}/export/{form}",
            with_audit(console, "exported", link, pages.export_shared),
        ),
        Route(
            "/threads/{thread}/export/{form}",
            with_audit(console, "exported", "conversation", pages.export, "thread"),
        ),
    ]


class _Sharing:
    def __init__(self, console: Console) -> None:
        self._console = console

    async def page(self, request: Request) -> Response:
        """Show the conversation to others, read-only."""
        thread, turns = await self._shared(request)
        console, texts, visitor = self._console, texts_of(request), visitor_of(request)
        found = await console.history.of([thread.key], seeing(console, request).told)
        page = console.page(
            request,
            "shared.html",
            title=one_line(found[0].name) if found else "",
            named=bool(found and found[0].title),  # else its name is the first question
            path_of_export=f"/shared/{request.path_params['token']}",
            turns=[
                turn_html(console.templates, texts, turn, visitor, read_only=True) for turn in turns
            ],
        )
        page.headers.update(NO_INDEX)
        return page

    async def export_shared(self, request: Request) -> Response:
        thread, turns = await self._shared(request)
        return await self._export(request, thread, turns)

    async def export(self, request: Request) -> Response:
        """Export the visitor's own conversation, without answers that they may no longer read."""
        thread = await thread_named(self._console, request, request.path_params["thread"])
        if thread.platform != "web":
            raise HTTPException(422, texts_of(request)("web-not-here"))
        seen = seeing(self._console, request)
        return await self._export(request, thread, [*map(seen.turn, await self._over(thread))])

    # ------------------------------------------------------------ what may be seen

    async def _shared(self, request: Request) -> tuple[Thread, list[Turn]]:
        """Return the answered questions of a link's conversation. Respond with 404 for an unknown
        link, and with 403 if the visitor may not read one of the sources."""
        texts = texts_of(request)
        token = request.path_params["token"]
        thread = await self._console.history.shared(encodable(token)) if token.isascii() else None
        if thread is None:
            raise HTTPException(404, texts("web-thread-gone"))
        set_audit_object(request, named(thread.key))
        turns = await self._over(thread)
        reach = seeing(self._console, request).reach
        answers = [turn.reply_state.answer for turn in turns]
        made_from = [turn.made_from for turn in turns]
        made_from += [answer.rests_on for answer in answers if answer is not None]
        if not all(map(reach.covers, made_from)):
            raise HTTPException(403, texts("web-share-out-of-reach"))
        return thread, turns

    async def _over(self, thread: Thread) -> list[Turn]:
        turns = await turns_of(self._console, await runs_of(self._console.database, thread.key))
        return [turn for turn in turns if turn.over and turn.reply_state.answer is not None]

    # ------------------------------------------------------------ files

    async def _export(self, request: Request, thread: Thread, turns: Sequence[Turn]) -> Response:
        form = request.path_params["form"]
        if form not in FORMS:
            raise HTTPException(404)
        kind, ending = FORMS[form]
        told = seeing(self._console, request).told
        found = await self._console.history.of([thread.key], told)
        title = one_line(found[0].name) if found else thread.thread
        body = await self._body(request, form, thread, turns, title)
        name = re.sub(r"[^\w-]+", "-", shortened(title, FILE_NAME)).strip("-") or "conversation"
        return Response(
            body,
            media_type=kind,
            headers={
                "Cache-Control": "no-store",
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(f'{name}.{ending}')}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
                **NO_INDEX,
            },
        )

    async def _body(
        self, request: Request, form: str, thread: Thread, turns: Sequence[Turn], title: str
    ) -> str:
        if form == "md":
            conversation = await self._console.archive.conversation(thread)
            return as_markdown(self._as_seen(request, conversation, turns))
        answers = [turn.reply_state.answer for turn in turns if turn.reply_state.answer is not None]
        if form == "html":
            # In a thread, because rendering a long conversation takes a while.
            return await asyncio.to_thread(self._html, request, turns, title)
        dates = {key: at for turn in turns for key, at in turn.dates.items()}
        listed = references(answers, dates)
        return as_bibtex(listed) if form == "bib" else as_csl(listed)

    def _as_seen(
        self, request: Request, conversation: Conversation, turns: Sequence[Turn]
    ) -> Conversation:
        """Return only finished runs, without answers that the visitor may not read."""
        texts = texts_of(request)
        seeing_now = seeing(self._console, request)
        reach, told = seeing_now.reach, seeing_now.told
        shown = {turn.run for turn in turns}

        def seen(said: StoredMessage) -> StoredMessage:
            said = replace(said, text=told(Wording(said.text, said.made_from)))
            if said.run is None or said.run.answer is None:
                return said
            answer = for_reader(said.run.answer, reach, texts("answer-out-of-reach"))
            return replace(said, run=replace(said.run, answer=answer))

        kept = (said for said in conversation.said if said.run is not None and said.run.id in shown)
        return replace(conversation, said=tuple(map(seen, kept)))

    def _html(self, request: Request, turns: Sequence[Turn], title: str) -> str:
        texts, base = texts_of(request), address_of(self._console, request, "")
        answered = [
            (turn, _standing_alone(turn.reply_state.answer, turn, texts, base))
            for turn in turns
            if turn.reply_state.answer is not None
        ]
        return self._console.templates.fragment(
            "export.html",
            texts,
            title=title,
            answered=answered,
            now=datetime.now(UTC),
            style=Markup(files()["export.css"].decode()),  # noqa: S704  (our own file)
        )


def _standing_alone(answer: Answer, turn: Turn, texts: Texts, base: str) -> Reply:
    """Return the reply with marks that lead to the sources below it in the same file."""
    reply = reply_of(answer, texts, turn.dates, turn.collections, base)

    def led(html: Markup) -> Markup:
        marks = rf'<a class="mark" href="#s-{turn.run}-\1">'
        return Markup(_MARK.sub(marks, str(html)))  # noqa: S704  (sanitized before)

    return replace(reply, html=led(reply.html))

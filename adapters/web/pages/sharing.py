"""Shares a conversation with others, by a link or as a file.

Everyone with access to the console can open a link, but it shows the conversation only to those who
may read all sources of its answers, which is checked at each visit.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import visitor_of
from adapters.web.access.visibility import (
    encodable,
    own_thread_named,
    seeing,
    set_audit_object,
    with_audit,
)
from adapters.web.console import Console, download
from adapters.web.display import texts_of
from adapters.web.html.replies import Reply, reply_of, turn_html
from adapters.web.pages.history import address_of
from adapters.web.templating import files
from adapters.web.turns import Turn, turns_in
from bot.core.lines import one_line, shortened
from bot.core.messages import Answer, Thread, Wording
from bot.core.reader import for_reader
from bot.core.texts import Texts
from bot.rendering.documents import as_bibtex, as_csl, as_markdown, references
from bot.storage.archive import StoredMessage
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
            "sharing.html",
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
        thread = await own_thread_named(self._console, request, request.path_params["thread"])
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
        turns = await turns_in(self._console, thread)
        return [turn for turn in turns if turn.over and turn.reply_state.answer is not None]

    # ------------------------------------------------------------ files

    async def _export(self, request: Request, thread: Thread, turns: Sequence[Turn]) -> Response:
        form = request.path_params["form"]
        if form not in FORMS:
            raise HTTPException(404)
        kind, ending = FORMS[form]
        found = await self._console.history.of([thread.key], seeing(self._console, request).told)
        title = one_line(found[0].name) if found else thread.thread
        answered = [(turn, turn.reply_state.answer) for turn in turns if turn.reply_state.answer]
        if form == "md":
            body = await self._markdown(request, thread, {turn.run for turn in turns}, title)
        elif form == "html":
            # In a thread, because rendering a long conversation takes a while.
            body = await asyncio.to_thread(self._html, request, answered, title)
        else:
            dates = {key: at for turn in turns for key, at in turn.dates.items()}
            listed = references([answer for _, answer in answered], dates)
            body = as_bibtex(listed) if form == "bib" else as_csl(listed)
        name = re.sub(r"[^\w-]+", "-", shortened(title, FILE_NAME)).strip("-") or "conversation"
        answer = download(body, f"{name}.{ending}", kind)
        answer.headers.update(NO_INDEX)
        return answer

    async def _markdown(
        self, request: Request, thread: Thread, shown: Collection[str], title: str
    ) -> str:
        """Export the finished runs, without answers that the visitor may not read."""
        seen, texts = seeing(self._console, request), texts_of(request)
        reach, told = seen.reach, seen.told

        def as_seen(said: StoredMessage) -> StoredMessage:
            said = replace(said, text=told(Wording(said.text, said.made_from)))
            if said.run is None or said.run.answer is None:
                return said
            answer = for_reader(said.run.answer, reach, texts("answer-out-of-reach"))
            return replace(said, run=replace(said.run, answer=answer))

        whole = await self._console.archive.conversation(thread)
        kept = (said for said in whole.said if said.run is not None and said.run.id in shown)
        return as_markdown(replace(whole, said=tuple(map(as_seen, kept))), title)

    def _html(self, request: Request, answered: Sequence[tuple[Turn, Answer]], title: str) -> str:
        texts, base = texts_of(request), address_of(self._console, request, "")
        return self._console.templates.fragment(
            "sharing_export.html",
            texts,
            title=title,
            answered=[(turn, _alone(answer, turn, texts, base)) for turn, answer in answered],
            now=datetime.now(UTC),
            style=Markup(files()["export.css"].decode()),  # noqa: S704  (our own file)
        )


def _alone(answer: Answer, turn: Turn, texts: Texts, base: str) -> Reply:
    """Return the reply with marks that lead to the sources below it in the same file."""
    reply = reply_of(answer, texts, turn.dates, turn.collections, base)
    html = _MARK.sub(rf'<a class="mark" href="#s-{turn.run}-\1">', str(reply.html))
    return replace(reply, html=Markup(html))  # noqa: S704  (sanitized before)

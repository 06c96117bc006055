"""Accepts questions from forms and from the API."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from starlette.exceptions import HTTPException
from starlette.requests import Request

from adapters.web.access.gate import visitor_of
from adapters.web.access.visibility import encodable, own_thread_named, run_named
from adapters.web.console import WORKSPACE, Console
from adapters.web.display import asked_locale, clock_of, texts_of
from adapters.web.forms import Upload, attachments_of, check_readable
from bot.core.messages import EVERYWHERE, Attachment, Depth, Message, Sources, Thread
from bot.pages.pool import For, reading_for
from bot.pages.urls import links_in
from bot.service.reception import AcceptedQuestion


def ids_by(person: str, name: str) -> tuple[str, str]:
    """Return the event id of a question to which its asker gave this name, and the thread that it
    begins if it is a first one. If the request is repeated, even by a program without cookies, it
    is the same question in the same conversation."""
    digest = hashlib.sha256(f"{person}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:32], digest[32:48]


async def put_question(
    console: Console,
    request: Request,
    text: str,
    *,
    depth: Depth,
    thread: str,
    name: str,
    files: Sequence[Upload] = (),
    again: Sequence[str] = (),
    ticked: Collection[str] | None = None,
    sources: Sources = EVERYWHERE,
    corrects: str = "",
) -> AcceptedQuestion:
    """Ask a question; ``name`` is the asker's id for it, so that a repeated request asks once.

    ``thread`` is the thread to continue; "" begins one. ``again`` are the URLs of files sent in it
    before, ``ticked`` the ids of the ``sources`` to search instead (None: those). ``corrects`` is
    the run in that thread to correct whose answer the text is written, or "". Raises as
    ``Reception.receive`` does; responds with 429 if the client has asked too often, 404 for an
    unknown thread or run, 422 for a file that cannot be read or is gone.
    """
    visitor, texts, reception = visitor_of(request), texts_of(request), console.open_reception()
    if not console.questions.allows(visitor.client):
        raise HTTPException(429, texts("web-too-many-questions"))
    event_id, begun = ids_by(visitor.id, name or secrets.token_hex(16))
    place = Thread("web", WORKSPACE, visitor.channel, begun)
    if thread:
        place = await own_thread_named(console, request, thread)
    if corrects and (await run_named(console, request, corrects)).message.thread != place:
        raise HTTPException(404, texts("question-gone"))
    if ticked is not None:
        rules = await console.rules(place)
        sources = console.offers.chosen(visitor, rules, ticked, texts)
    sent = attachments_of(event_id, files)
    message = Message(
        event_id=event_id,
        thread=place,
        author=replace(visitor.author, zone=str(clock_of(request))),
        text=encodable(text),
        at=datetime.now(UTC),
        links=tuple(links_in(text)),
        attachments=(*sent, *await _sent_before(console, request, place, again)),
        locale=asked_locale(request),
        corrects_run=corrects,
    )
    if files:
        await reception.check_uploads(message, sum(len(file.body) for file in files))
        reading_for.set(For(visitor.client, event_id))
        await check_readable(files, console.workers, texts)
    asked = await reception.receive(
        message,
        "footnote",
        depth=depth,
        sources=sources,
        files={attachment.url: body for attachment, body in sent.items()},
    )
    console.live.look_soon()
    if not isinstance(asked, AcceptedQuestion):  # it was "stop"
        raise HTTPException(422, texts("web-was-stop"))
    return asked


async def _sent_before(
    console: Console, request: Request, thread: Thread, urls: Sequence[str]
) -> Sequence[Attachment]:
    """Return files of earlier questions of the thread that are to be read again."""
    if not urls:
        return ()
    kept = {file.url: file for file in await console.files.of_thread(thread)}
    if any(url not in kept for url in urls):
        raise HTTPException(422, texts_of(request)("upload-gone"))
    return [replace(kept[url], again=True) for url in dict.fromkeys(urls)]

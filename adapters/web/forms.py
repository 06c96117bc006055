"""Reads forms and JSON from browsers and programs, with size limits."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from adapters.web.display import texts_of
from adapters.web.limits import (
    LARGEST_BODY,
    LARGEST_DRAINED,
    LARGEST_UPLOAD,
    LONGEST_FILE_NAME,
    LOOKING_SECONDS,
    MOST_FIELDS,
    MOST_FILES,
    PIECE,
)
from bot.core.errors import PageUnreadable, sentence_for
from bot.core.messages import UPLOADED, Attachment
from bot.core.texts import DEFAULT, Texts, said, size
from bot.pages.media import LOOK_AT, may_be_pdf
from bot.pages.pictures import PictureUnread, picture_in
from bot.pages.workers import NeedsMoreMemory, Workers

PARTS = "multipart/form-data"
FILES = "files"  # the form field with the files
AGAIN = "again"  # the field with URLs of files sent before
SOURCE = "source"  # the field that names a source to search

# The escapes that browsers use in a name for characters that would end it, and no others
# (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data).
_ESCAPED = (("%0A", "\n"), ("%0D", "\r"), ("%22", '"'))
_TYPE = re.compile(r"[\w.+-]{1,80}/[\w.+-]{1,80}")


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file; ``name`` is safe to show and to store."""

    name: str
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """A form: its fields (the last of each name) and its files."""

    fields: dict[str, str]
    files: tuple[Upload, ...]
    again: tuple[str, ...]  # URLs of files sent before that are to be read again
    sources: tuple[str, ...]  # sources to search: ids of ``offers.Offer``

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]], files: Sequence[Upload] = ()) -> Form:
        """Build a form from these fields, in order."""
        again, sources = (
            tuple(value for name, value in pairs if name == wanted) for wanted in (AGAIN, SOURCE)
        )
        return cls(dict(pairs), tuple(files), again, sources)


async def form_of_parts(request: Request, largest: int, texts: Texts) -> Form:
    """Read the multipart form in a request; ``largest`` is the size limit of one file in bytes.

    Responds with 413 if it is too large, 422 for too many files, and 400 if it is not a form or has
    more than ``MOST_FIELDS`` fields.
    """
    most = max(LARGEST_UPLOAD, largest)
    refusal = texts("upload-all-too-large", limit=megabytes(most))
    body = await bounded_body(request, most + LARGEST_BODY, refusal, LARGEST_DRAINED)
    if not body.rstrip(b"\r\n").endswith(b"--"):  # truncated: a file would be lost silently
        raise HTTPException(400, texts("web-form-unreadable"))
    parser = MultiPartParser(
        request.headers,
        _pieces(body),
        max_files=MOST_FILES + 1,  # one more, to tell too many from a broken form
        max_fields=MOST_FIELDS,
        max_part_size=LARGEST_BODY,
    )
    try:
        form = await parser.parse()
    except MultiPartException as unusable:
        if unusable.message.startswith("Too many files"):
            raise HTTPException(422, texts("upload-too-many", limit=MOST_FILES)) from None
        raise HTTPException(400, texts("web-form-unreadable")) from None
    async with AsyncExitStack() as opened:
        opened.push_async_callback(form.close)
        return await _form(form, largest, texts)


async def _pieces(body: bytes) -> AsyncGenerator[bytes, None]:
    """Yield the body in small pieces, and let other tasks run between them."""
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]
        await asyncio.sleep(0)


async def _form(form: FormData, largest: int, texts: Texts) -> Form:
    pairs: list[tuple[str, str]] = []
    files: list[Upload] = []
    for name, value in form.multi_items():
        if isinstance(value, str):
            pairs.append((name, value))
        elif value.filename or (name == FILES and value.size):  # otherwise an empty file field
            if (value.size or 0) > largest:
                shown = safe_name(value.filename or "")
                sentence = texts("upload-too-large", name=shown, limit=megabytes(largest))
                raise HTTPException(413, sentence)
            held = await value.read()
            files.append(_upload(value.filename or "", value.content_type or "", held))
    if len(files) > MOST_FILES:
        raise HTTPException(422, texts("upload-too-many", limit=MOST_FILES))
    return Form.of(pairs, files)


def _upload(name: str, media_type: str, body: bytes) -> Upload:
    kind = _TYPE.match(media_type)
    for written, sign in _ESCAPED:
        name = name.replace(written, sign)
    return Upload(safe_name(name), kind[0].lower() if kind else "", body)


def safe_name(name: str) -> str:
    """Return a file's name without folders, invisible characters and characters that change the
    direction of text, on one line, and shortened."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in last)
    shown = " ".join(unicodedata.normalize("NFC", shown).split()).strip(". ")
    if len(shown) <= LONGEST_FILE_NAME:
        return shown or "file"
    start, dot, end = shown.rpartition(".")
    if not dot or len(end) > 10:
        return shown[:LONGEST_FILE_NAME].strip()
    return f"{start[: LONGEST_FILE_NAME - len(end) - 1].strip()}.{end}"


def attachments_of(event_id: str, files: Sequence[Upload]) -> dict[Attachment, bytes]:
    """Return the files of a question as attachments, each with its content."""
    return {
        Attachment(
            file.name,
            file.media_type,
            f"{UPLOADED}{event_id[:16]}{number}/{quote(file.name, safe='')}",
        ): file.body
        for number, file in enumerate(files, start=1)
    }


class FileRefused(HTTPException):
    """A file of a form cannot be read; ``number`` counts the files from 0."""

    def __init__(self, number: int, sentence: str) -> None:
        super().__init__(422, sentence)
        self.number = number


async def check_readable(files: Sequence[Upload], workers: Workers, texts: Texts) -> None:
    """Respond with 422 if a file cannot be read. A file that needs much time or memory is accepted
    for now; its run reports if it cannot be read."""
    for number, file in enumerate(files):
        if not file.body.strip():
            raise FileRefused(number, texts("upload-empty", name=file.name))
        try:
            async with asyncio.timeout(LOOKING_SECONDS):
                if picture_in(file.body) is None:
                    await _check_text(file, workers)
        except (TimeoutError, NeedsMoreMemory):
            continue
        except PictureUnread as unread:
            why = sentence_for(unread, texts)
            sentence = texts("file-not-read", name=file.name, reason=why)
            raise FileRefused(number, sentence) from None
        except PageUnreadable as unreadable:
            if texts.locale == DEFAULT:
                raise FileRefused(number, unreadable.sentence) from None
            raise FileRefused(number, texts("upload-unreadable", name=file.name)) from None


async def _check_text(file: Upload, workers: Workers) -> None:
    """Raise ``PageUnreadable`` for a file without text, unless a model can read its pages as
    pictures."""
    try:
        await workers.extract(file.body, file.media_type, file.name)
    except PageUnreadable:
        is_pdf = may_be_pdf(file.body[:LOOK_AT], file.media_type)
        scans, _ = await workers.scans(file.name, file.body) if is_pdf else ((), 0)
        if not scans:
            raise


def megabytes(size: int) -> str:
    """Format a number of bytes in megabytes, for a sentence."""
    return f"{size / 1_000_000:.3g}"


FORM = "application/x-www-form-urlencoded"


async def question_form_of(request: Request, largest: int) -> Form:
    """Read a form that may contain files of at most ``largest`` bytes each; respond with 4xx to
    anything else."""
    if kind_is(request, PARTS):
        return await form_of_parts(request, largest, texts_of(request))
    return Form.of(await pairs_of(request))


async def form_of(request: Request) -> dict[str, str]:
    """Read the fields of a form; respond with 4xx to anything else."""
    return dict(await pairs_of(request))


async def pairs_of(request: Request) -> list[tuple[str, str]]:
    """Read the fields of a form, in order, as ``form_of``."""
    _expect(request, FORM)
    body = await bounded_body(request)
    try:
        return parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise HTTPException(400, texts_of(request)("web-form-unreadable")) from None


async def json_of(request: Request) -> Any:
    """Read the JSON of a request; respond with 4xx to anything else."""
    _expect(request, "application/json")
    body = await bounded_body(request)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, texts_of(request)("web-not-json")) from None


async def bounded_body(
    request: Request, most: int = LARGEST_BODY, refusal: str = "", drained: int = 0
) -> bytes:
    """Read the body; respond with 413 and the ``refusal`` if it is too large. So many bytes more
    are ``drained``, so that the sender receives the response."""
    body = bytearray()
    received = 0
    async for chunk in request.stream():
        received += len(chunk)
        if received <= most:
            body += chunk
        elif received > most + drained:
            break
    if received > most:
        told = said("web-too-large", most=size(most))
        raise HTTPException(413, refusal or texts_of(request).say(told))
    return bytes(body)


def _expect(request: Request, kind: str) -> None:
    if not kind_is(request, kind):
        raise HTTPException(415, texts_of(request)("web-send-as", kind=kind))


def kind_is(request: Request, kind: str) -> bool:
    """Return True if a request's body has this media type."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == kind

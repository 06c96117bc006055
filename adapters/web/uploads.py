"""Files that come with a question: read from a form of parts, bounded, with harmless names, and
looked at before the question is taken, so that what cannot be read is said at once.

Forms are parsed by Starlette's reader (RFC 7578), in small pieces and with few parts.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

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
from bot.errors import PageUnreadable
from bot.messages import UPLOADED, Attachment
from bot.pages.workers import NeedsMoreMemory, Workers
from bot.rendering.texts import DEFAULT, Texts

PARTS = "multipart/form-data"
FILES = "files"  # the field of a form in which they come
AGAIN = "again"  # that of the addresses of files which were sent before
SOURCE = "source"  # the field that names something to be searched

# The escapes that browsers write in a name for what would end it, and nothing else
# (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data).
_ESCAPED = (("%0A", "\n"), ("%0D", "\r"), ("%22", '"'))
_TYPE = re.compile(r"[\w.+-]{1,80}/[\w.+-]{1,80}")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it came; ``name`` is safe to show and to keep."""

    name: str
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """A form: its fields (the last of each name) and its files."""

    fields: dict[str, str]
    files: tuple[Upload, ...]
    again: tuple[str, ...]  # addresses of files sent before that are to be read once more
    sources: tuple[str, ...]  # what is to be searched: ids of ``connected.Offer``

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]], files: Sequence[Upload] = ()) -> Form:
        """The form with these fields, in order."""
        again, sources = (
            tuple(value for name, value in pairs if name == wanted) for wanted in (AGAIN, SOURCE)
        )
        return cls(dict(pairs), tuple(files), again, sources)


async def form_of_parts(request: Request, largest: int, texts: Texts) -> Form:
    """The form in a request; ``largest`` are the bytes that one file may have.

    Answers 413 for what is too large, 422 for too many files, and 400 for what is no form or has
    more than ``MOST_FIELDS`` fields.
    """
    most = max(LARGEST_UPLOAD, largest) + LARGEST_BODY
    body = await _body(request, most, texts)
    if not body.rstrip(b"\r\n").endswith(b"--"):  # cut off: a file of it would be lost silently
        raise HTTPException(400, "This form cannot be read.")
    parser = MultiPartParser(
        request.headers,
        _pieces(body),
        max_files=MOST_FILES + 1,  # one more, so that too many are told from a broken form
        max_fields=MOST_FIELDS,
        max_part_size=LARGEST_BODY,
    )
    try:
        form = await parser.parse()
    except MultiPartException as unusable:
        if unusable.message.startswith("Too many files"):
            raise HTTPException(422, texts("upload-too-many", limit=MOST_FILES)) from None
        raise HTTPException(400, "This form cannot be read.") from None
    async with AsyncExitStack() as opened:
        opened.push_async_callback(form.close)
        return await _form(form, largest, texts)


async def _body(request: Request, most: int, texts: Texts) -> bytes:
    """All of the body. A body that is a little too large is read to its end, so that its sender
    gets to read why it is refused."""
    body = bytearray()
    received = 0
    async for chunk in request.stream():
        received += len(chunk)
        if received <= most:
            body += chunk
        else:
            body.clear()
        if received > LARGEST_DRAINED + most:
            break
    if received > most:
        raise HTTPException(413, texts("upload-all-too-large", limit=megabytes(most)))
    return bytes(body)


async def _pieces(body: bytes) -> AsyncGenerator[bytes, None]:
    """The body in small pieces; others get their turn between two of them."""
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]
        await asyncio.sleep(0)


async def _form(form: FormData, largest: int, texts: Texts) -> Form:
    pairs: list[tuple[str, str]] = []
    files: list[Upload] = []
    for name, value in form.multi_items():
        if isinstance(value, str):
            pairs.append((name, value))
        elif value.filename or (name == FILES and value.size):  # else a file field left empty
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
    """A file's own name: without the folders of the machine it comes from, without signs that
    cannot be seen or that turn text around, in one line, and not too long."""
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
    """The files of a question as attachments, each with what it holds."""
    return {
        Attachment(
            file.name,
            file.media_type,
            f"{UPLOADED}{event_id[:16]}{number}/{quote(file.name, safe='')}",
        ): file.body
        for number, file in enumerate(files, start=1)
    }


async def check_readable(files: Sequence[Upload], workers: Workers, texts: Texts) -> None:
    """Answers 422 for a file that cannot be read. What takes long to read, or much memory, is
    taken for now: its run will say what became of it."""
    for file in files:
        if not file.body.strip():
            raise HTTPException(422, texts("upload-empty", name=file.name))
        try:
            async with asyncio.timeout(LOOKING_SECONDS):
                await workers.extract(file.body, file.media_type, file.name)
        except (TimeoutError, NeedsMoreMemory):
            continue
        except PageUnreadable as unreadable:
            if texts.locale == DEFAULT:
                raise HTTPException(422, unreadable.sentence) from None
            raise HTTPException(422, texts("upload-unreadable", name=file.name)) from None


def megabytes(size: int) -> str:
    """A number of bytes in millions, as a sentence says it."""
    return f"{size / 1_000_000:.3g}"

"""A reading service: what it is asked, what of its answer is the page, what its refusals mean."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.core.errors import (
    AddressRefused,
    BrowserNeeded,
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    PageUnreadable,
    Unavailable,
)
from bot.pages.page import Reading
from bot.pages.reading_service import ReaderService, without_preamble
from tests.fakes.server import serve

PAGE = "https://coast.example/lights?year=1874&lang=en"
JINA = (
    "Title: The Lighthouse\n\nURL Source: https://coast.example/\n\n"
    "Published Time: 2020-01-01\n\nMarkdown Content:\n# Norderney\n\nLit in 1874.\n"
)


class Service:
    """Answers every request with ``answer``, and keeps what was asked."""

    def __init__(self) -> None:
        self.answer: Response | None = None
        self.asked: list[tuple[str, str | None]] = []
        self.app = Starlette(routes=[Route("/{path:path}", self._serve)])

    async def _serve(self, request: Request) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        at = request.scope["raw_path"].decode() + query
        self.asked.append((at, request.headers.get("authorization")))
        return self.answer or PlainTextResponse(JINA, media_type="text/markdown")


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Service, str]]:
    service = Service()
    with serve(service.app) as base:
        yield service, base


@pytest.fixture
def service(served: tuple[Service, str]) -> Service:
    served[0].answer = None
    served[0].asked.clear()
    return served[0]


async def public(host: str, port: int) -> Sequence[str]:
    return ["93.184.216.34"]


async def read(place: str, url: str = PAGE, **how: Any) -> Reading:
    options = {"seconds": 5.0, "most_bytes": 100_000, "resolver": public, **how}
    reader = ReaderService(place, options.pop("key", ""), **options)
    try:
        return await reader.read(url)
    finally:
        await reader.aclose()


@pytest.mark.parametrize(
    ("place", "asked"),
    [
        ("{base}", f"/{PAGE}"),
        ("{base}/md/", f"/md/{PAGE}"),
        (
            "{base}/?page={url}&as=md",
            "/?page=https%3A%2F%2Fcoast.example%2Flights%3Fyear%3D1874%26lang%3Den&as=md",
        ),
    ],
)
async def test_the_address_is_put_where_the_service_wants_it(
    service: Service, served: tuple[Service, str], place: str, asked: str
) -> None:
    reading = await read(place.replace("{base}", served[1]), key="secret")
    assert reading == Reading("The Lighthouse", "# Norderney\n\nLit in 1874.\n")
    assert service.asked == [(asked, "Bearer secret")]


async def test_only_public_addresses_are_handed_on(
    service: Service, served: tuple[Service, str]
) -> None:
    async def private(host: str, port: int) -> Sequence[str]:
        return ["10.0.0.7"]

    for url, resolver in (("https://wiki.corp/page", private), ("http://127.0.0.1/", public)):
        with pytest.raises(AddressRefused):
            await read(served[1], url, resolver=resolver)
    assert service.asked == []


async def endless() -> AsyncIterator[bytes]:
    while True:
        yield b"x" * 10_000
        await asyncio.sleep(0)


async def silent() -> AsyncIterator[bytes]:
    yield b"x"
    await asyncio.sleep(30)


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (PlainTextResponse("no", 401), CredentialsRefused, "correct FOOTNOTE_READER_API_KEY"),
        (PlainTextResponse("no", 402), Unavailable, "takes no more requests"),
        (PlainTextResponse("no", 429), Unavailable, "takes no more requests"),
        (PlainTextResponse("no", 503), Unavailable, "busy or down"),
        (PlainTextResponse("no", 302, {"location": "/"}), Unavailable, "is not followed"),
        (PlainTextResponse("no", 422), PageUnreadable, "could not read .*coast.example"),
        (PlainTextResponse(" \n"), PageUnreadable, "returned no text"),
        (StreamingResponse(endless()), PageUnreadable, "returned more than 0.1 MB"),
        (StreamingResponse(silent()), Unavailable, "does not answer in time"),
        (
            PlainTextResponse(JINA.replace("Published Time:", "Warning: Returned error 403:")),
            BrowserNeeded,
            "does not let the reading service in",
        ),
    ],
)  # fmt: skip
async def test_what_it_refuses_is_told_by_meaning(
    service: Service,
    served: tuple[Service, str],
    answer: Response,
    kind: type[FootnoteError],
    said: str,
) -> None:
    service.answer = answer
    with pytest.raises(kind, match=said):
        await read(served[1], seconds=0.3)


async def test_one_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="check the network and FOOTNOTE_READER_URL"):
        await read("http://127.0.0.1:9")


def test_a_place_that_is_no_address_is_a_wrong_setting() -> None:
    with pytest.raises(InvalidSetting, match="FOOTNOTE_READER_URL is not a web address"):
        ReaderService("https://me:secret@reader.example/", "", seconds=1, most_bytes=1)


async def test_doctor_hears_whether_it_answers(
    service: Service, served: tuple[Service, str]
) -> None:
    reader = ReaderService(served[1], "", seconds=5, most_bytes=9_000, resolver=public)
    try:
        assert "read https://example.com/ (26 characters)" in str(await reader.report())
    finally:
        await reader.aclose()


@pytest.mark.parametrize(
    "text",
    ["# A\n\nMarkdown Content:\nis a heading.", "Title: x\n\nMarkdown Content:\ny", "", "plain"],
)  # fmt: skip
def test_what_has_no_preamble_is_left_alone(text: str) -> None:
    assert without_preamble(text) == Reading("", text)


@given(st.text())
def test_any_answer_is_taken_apart(text: str) -> None:
    try:
        reading = without_preamble(text)
    except BrowserNeeded:
        return
    assert text.endswith(reading.text)

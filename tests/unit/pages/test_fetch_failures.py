"""Whole fetches that fail: each for its reason, in time, with a sentence a person can use."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from bot.core.errors import FootnoteError, PageUnreadable, Unavailable
from bot.pages.retrieval import ATTEMPTS, LONGEST_WAIT, _wait_before_retry
from tests.fakes.server import serve
from tests.fakes.web import Web, resetting
from tests.unit.pages.conftest import OpenFetcher

pytestmark = pytest.mark.usefixtures("no_waiting")


# ---------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (400, "cannot be read"),
        (401, "asks for a login"),
        (402, "asks for payment"),
        (403, "does not let Footnote in"),
        (404, "does not exist"),
        (410, "removed permanently"),
        (451, "legal reasons"),
        (204, "is empty"),
        (304, "cannot be read"),
    ],
)
async def test_what_will_not_change_is_unreadable_at_once(
    open_fetcher: OpenFetcher, web: Web, base: str, status: int, sentence: str
) -> None:
    with pytest.raises(PageUnreadable, match=sentence):
        await open_fetcher().fetch(f"{base}/status/{status}")
    assert len(web.seen) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520])
async def test_what_may_pass_is_tried_again_and_then_unavailable(
    open_fetcher: OpenFetcher, web: Web, base: str, status: int
) -> None:
    with pytest.raises(Unavailable, match="try again later"):
        await open_fetcher().fetch(f"{base}/status/{status}")
    assert len(web.seen) == ATTEMPTS


async def test_a_server_that_asks_to_wait_is_asked_again(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    web.busy_for = 2
    page = await open_fetcher().fetch(f"{base}/busy")
    assert page.title == "The Lighthouse of Norderney"
    assert web.count("/busy") == 3


async def test_a_wait_beyond_the_deadline_is_told_and_not_waited_for(
    open_fetcher: OpenFetcher,
    web: Web,
    base: str,
) -> None:
    web.retry_after = "3600"
    with pytest.raises(Unavailable) as error:
        await open_fetcher().fetch(f"{base}/busy")
    assert error.value.retry_after == 3600
    assert web.count("/busy") == 1


async def test_a_wait_may_be_given_as_a_date(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)
    web.retry_after = format_datetime(later, usegmt=True)
    with pytest.raises(Unavailable) as error:
        await open_fetcher().fetch(f"{base}/busy")
    assert error.value.retry_after == pytest.approx(3600, abs=30)


@pytest.mark.parametrize("value", ["soon", "", "-5", "1e9", "9" * 50])
async def test_a_wait_that_means_nothing_is_none(
    open_fetcher: OpenFetcher, web: Web, base: str, value: str
) -> None:
    web.busy_for = 9
    web.retry_after = value
    with pytest.raises(Unavailable) as error:
        await open_fetcher().fetch(f"{base}/busy")
    assert error.value.retry_after is None


def test_waits_end_before_the_deadline() -> None:
    now = time.monotonic()
    roomy, tight = _wait_before_retry(now + 60), _wait_before_retry(now + LONGEST_WAIT / 2)
    assert roomy(Unavailable("x")) is True
    assert tight(Unavailable("x")) is False
    assert roomy(Unavailable("x", retry_after=7.0)) == 7.0
    assert tight(Unavailable("x", retry_after=7.0)) is False
    assert roomy(PageUnreadable("x")) is False


async def test_a_cut_connection_is_tried_again(
    open_fetcher: OpenFetcher, web: Web, base: str
) -> None:
    page = await open_fetcher().fetch(f"{base}/cut")
    assert page.text.endswith("turns to the left.")
    assert web.count("/cut") == 2


async def test_a_reset_connection_is_unavailable(open_fetcher: OpenFetcher) -> None:
    with resetting() as base, pytest.raises(Unavailable, match="broke"):
        await open_fetcher().fetch(f"{base}/article")


async def test_a_closed_port_is_unavailable(open_fetcher: OpenFetcher) -> None:
    with serve(Web()) as base:
        pass
    with pytest.raises(Unavailable, match="cannot be reached"):
        await open_fetcher().fetch(f"{base}/article")


# ---------------------------------------------------------------- sizes and times


async def test_a_page_that_does_not_answer_is_given_up(
    open_fetcher: OpenFetcher, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.pages.retrieval.SECONDS", 0.3)
    with pytest.raises(Unavailable, match=r"did not answer within 0\.3 seconds"):
        await open_fetcher().fetch(f"{base}/silent")


async def test_a_page_that_trickles_for_ever_is_given_up(
    open_fetcher: OpenFetcher, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.pages.retrieval.SECONDS", 1.0)
    with pytest.raises(PageUnreadable, match=r"did not arrive in full within 1 seconds"):
        await open_fetcher().fetch(f"{base}/trickle")


@pytest.mark.parametrize("path", ["/endless", "/bomb", "/huge", "/huge?bytes=500001"])
async def test_a_page_that_is_too_large_is_given_up_early(
    open_fetcher: OpenFetcher, web: Web, base: str, path: str
) -> None:
    with pytest.raises(PageUnreadable, match=r"larger than 0\.5 MB"):
        await open_fetcher(fetch_max_bytes=500_000).fetch(base + path)
    assert web.sent[path.partition("?")[0]] < 20_000_000


async def test_a_page_just_within_the_limit_is_read(open_fetcher: OpenFetcher, base: str) -> None:
    page = await open_fetcher(fetch_max_bytes=10_000).fetch(f"{base}/article")
    assert page.title


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/layers", "did not request"),
        ("/encoded/br", "did not request"),
        ("/encoded/broken", "damaged"),
    ],
)
async def test_compression_that_cannot_be_undone_is_unreadable(
    open_fetcher: OpenFetcher, base: str, path: str, sentence: str
) -> None:
    with pytest.raises(PageUnreadable, match=sentence):
        await open_fetcher().fetch(base + path)


async def test_a_fetch_can_be_cancelled(open_fetcher: OpenFetcher, web: Web, base: str) -> None:
    fetcher = open_fetcher()
    task = asyncio.create_task(fetcher.fetch(f"{base}/trickle"))
    while not web.sent["/trickle"]:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await fetcher.fetch(f"{base}/article")).title, "the fetcher goes on"


# ---------------------------------------------------------------- contents


@pytest.mark.parametrize("label", [None, "text/html", "application/octet-stream"])
@pytest.mark.parametrize("kind", ["png", "jpeg", "zip", "mp4", "bytes"])
async def test_files_without_text_are_named_for_what_they_are(
    open_fetcher: OpenFetcher, base: str, kind: str, label: str | None
) -> None:
    expected = {
        "zip": "a ZIP file, as Office documents are, that is damaged",
        "mp4": "a video",
        "bytes": "a binary file",
    }.get(kind, "an image")
    query = "" if label is None else f"?type={label}"
    with pytest.raises(PageUnreadable, match=expected):
        await open_fetcher().fetch(f"{base}/file/{kind}{query}")


@pytest.mark.parametrize(
    ("kind", "label", "expected"),
    [
        ("css", "text/css", "of the type text/css"),
        ("svg", "image/svg+xml", "an XML document"),
        ("feed", "application/rss+xml", "an XML document"),
        ("feed", "text/xml; charset=utf-8", "an XML document"),
        ("css", "video/mp4", "a video"),
        ("css", "x" * 500, "of the type x{80},"),
    ],
)
async def test_types_that_are_no_page_are_refused(
    open_fetcher: OpenFetcher, base: str, kind: str, label: str, expected: str
) -> None:
    with pytest.raises(PageUnreadable, match=expected):
        await open_fetcher().fetch(f"{base}/file/{kind}?type={label.replace('+', '%2B')}")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/empty", "is empty"),
        ("/script", "no text that can be read without a browser"),
        ("/login", "only a login form"),
        ("/cookies", "only a question about cookies"),
        ("/robots", "lets only browsers in"),
    ],
)
async def test_pages_that_are_no_pages_are_unreadable(
    open_fetcher: OpenFetcher, base: str, path: str, sentence: str
) -> None:
    with pytest.raises(PageUnreadable, match=sentence):
        await open_fetcher().fetch(base + path)


async def test_every_sentence_names_the_page_and_ends_like_one(
    open_fetcher: OpenFetcher, base: str
) -> None:
    paths = ["/empty", "/login", "/robots", "/status/404", "/status/503", "/loop", "/bomb",
             "/layers", "/nowhere", "/file/png", "/file/css?type=text/css"]  # fmt: skip
    fetcher = open_fetcher(fetch_max_bytes=500_000)
    for path in paths:
        with pytest.raises(FootnoteError) as error:
            await fetcher.fetch(base + path)
        assert base + path in error.value.sentence
        assert error.value.sentence.endswith(".")
        assert "\n" not in error.value.sentence

"""Requests that break: any error that no page knows."""

from __future__ import annotations

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from structlog.testing import capture_logs

from adapters.web.app import console_app
from bot.core.texts import LOCALES, texts_for
from tests.unit.adapters.web.conftest import Browser, Running


class Defect(Exception):
    """What no handler knows."""


async def broken(request: Request) -> Response:
    raise Defect("the cause")


@pytest.fixture
async def browser(here: Running) -> Browser:
    """Of a console with a page that breaks; an error that leaves the app fails the test."""
    here.app = console_app(here.platform._console, [Route("/broken", broken)])
    return await here.browser()


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_page_that_breaks_says_so_with_the_reference_of_the_line_that_logs_why(
    browser: Browser, locale: str
) -> None:
    with capture_logs() as logs:
        answer = await browser.get("/broken", **{"Accept": "text/html", "Accept-Language": locale})
    assert answer.status_code == 500
    [line] = logs
    assert (line["log_level"], line["error"]) == ("error", "Defect('the cause')")
    assert isinstance(line["exc_info"], Defect)
    texts = texts_for(locale)
    assert f"<h1>{texts('web-failed')}</h1>" in answer.text
    assert f"<p>{texts('web-broke', reference=line['reference'])}</p>" in answer.text
    assert f'<a class="button" href="/">{texts("web-back")}</a>' in answer.text
    assert "Defect" not in answer.text
    assert "the cause" not in answer.text


async def test_it_is_guarded_and_has_the_conversations_beside_it_as_every_page(
    browser: Browser,
) -> None:
    await browser.answered()
    whole = await browser.get("/status", Accept="text/html")
    answer = await browser.get("/broken", Accept="text/html")
    policy = "Content-Security-Policy"
    assert answer.headers[policy] == whole.headers[policy]
    assert '<nav id="threads"' in whole.text
    assert '<nav id="threads"' in answer.text


async def test_a_script_is_told_as_of_other_failures(browser: Browser) -> None:
    with capture_logs() as logs:
        answer = await browser.get("/broken", Accept="application/json")
    told = texts_for("en")("web-broke", reference=logs[0]["reference"])
    assert (answer.status_code, answer.json()) == (500, {"error": told})


async def test_each_has_a_reference_of_its_own(browser: Browser) -> None:
    with capture_logs() as logs:
        await browser.get("/broken")
        await browser.get("/broken")
    assert len({line["reference"] for line in logs}) == 2


async def test_a_client_that_leaves_while_it_sends_is_no_defect(here: Running) -> None:
    async def left(request: Request) -> Response:
        raise ClientDisconnect

    here.app = console_app(here.platform._console, [Route("/left", left)])
    browser = await here.browser()
    with capture_logs() as logs, pytest.raises(ClientDisconnect):
        await browser.get("/left")
    assert logs == []

"""Pages for operators, and the pages of errors, are wholly in the reader's language."""

from __future__ import annotations

import pytest

from bot.core.texts import LOCALES, texts_for
from tests.unit.adapters.web.conftest import Browser

LOCALES_BUT_ENGLISH = [locale for locale in LOCALES if locale != "en"]


@pytest.mark.parametrize("locale", LOCALES_BUT_ENGLISH)
@pytest.mark.parametrize(
    ("method", "path", "status", "id"),
    [
        ("GET", "/nowhere", 404, "web-not-found-why"),
        ("GET", "/handbook/nothing", 404, "web-handbook-gone"),
        ("PUT", "/status", 405, "web-failed-why"),
        ("POST", "/status", 403, "web-form-expired"),
    ],
)
async def test_an_error_is_told_in_the_language_of_the_reader(
    browser: Browser, locale: str, method: str, path: str, status: int, id: str
) -> None:
    browser.client.headers["Accept-Language"] = locale
    answer = await browser.client.request(method, path, data={"csrf": ""})
    assert answer.status_code == status
    assert f"<p>{texts_for(locale)(id)}</p>" in answer.text


@pytest.mark.parametrize("locale", LOCALES_BUT_ENGLISH)
async def test_a_request_from_another_site_is_refused_in_the_language_of_the_reader(
    browser: Browser, locale: str
) -> None:
    headers = {"Accept-Language": locale, "Origin": "https://elsewhere.example"}
    answer = await browser.client.post("/status", headers=headers)
    assert (answer.status_code, answer.text) == (403, texts_for(locale)("refused-site"))

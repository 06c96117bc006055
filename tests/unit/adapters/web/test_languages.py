"""Pages for operators, and the pages of errors, are wholly in the reader's language."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from bot.core.texts import LOCALES, Said, Sentence, texts_for
from bot.operation.configuration import load_settings
from bot.operation.diagnosis import checks_of
from tests.unit.adapters.web.conftest import Browser, OpenConsole

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


NOTHING = "http://127.0.0.1:9"  # a port that nothing listens on
ENGLISH = re.compile(r"\b(?:the|is|are|and|not|with|of|for|to|at|from)\b")
HERE = str(Path(__file__).parent)
STATES: list[dict[str, Any]] = [
    {"docs": (HERE,)},
    {"wikipedia_url": NOTHING, "console": "off", "docs": ("/nowhere",)},
    {"DISCORD_TOKEN": "x", "SLACK_BOT_TOKEN": "x", "SLACK_APP_TOKEN": "x"},
    {"embeddings_url": NOTHING, "embeddings_model": "m", "allow_users": ("U1",)},
    {"collections": ({"name": "HR", "paths": (HERE,), "channels": ("C1",)},)},
]


def ids(sentence: Sentence | int | float) -> Iterator[str]:
    """The ids of the messages in a sentence."""
    if isinstance(sentence, Said):
        yield sentence.id
        yield from chain.from_iterable(map(ids, sentence.values.values()))


@pytest.mark.parametrize("given", STATES, ids=str)
async def test_every_check_has_messages_in_every_language(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    settings = load_settings(data_dir=tmp_path, **{"providers": ("local", "wikipedia"), **given})
    found = await asyncio.gather(*(await checks_of(settings)).values())
    assert [str(one.said) for one in found if not isinstance(one.said, Said)] == []
    used = {id for one in found for said in (one.part.title, one.said) for id in ids(said)}
    missing = [(id, locale) for id in used for locale in LOCALES if not texts_for(locale).has(id)]
    assert missing == []


async def test_the_status_has_no_english_for_a_german_reader(
    open_console: OpenConsole, tmp_path: Path
) -> None:
    here = await open_console(data_dir=tmp_path, providers=("local",))
    browser = await here.browser()
    browser.client.headers["Accept-Language"] = "de"
    async with asyncio.timeout(60):
        while "data-refresh" in (page := (await browser.get("/status")).text):
            await asyncio.sleep(0.01)
    shown = re.findall(r'<li class="standing .*?</li>', page, re.DOTALL)
    texts = [re.sub(r"<code>.*?</code>|<[^>]+>|/\S+", " ", each) for each in shown]
    assert len(texts) > 10
    assert [text for text in texts if ENGLISH.search(text)] == []

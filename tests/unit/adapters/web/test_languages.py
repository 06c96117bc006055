"""Pages for operators, and the pages of errors, are wholly in the reader's language."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from bot import search
from bot.core.texts import LOCALES, Said, Sentence, texts_for
from bot.operation.configuration import load_settings
from bot.operation.diagnosis import checks_of
from bot.search.index_report import FILE_STATES
from bot.search.indexer import Indexer
from tests.unit.adapters.web.conftest import Browser, OpenConsole
from tests.unit.search.readers import Inside

LOCALES_BUT_ENGLISH = [locale for locale in LOCALES if locale != "en"]


@pytest.mark.parametrize("locale", LOCALES_BUT_ENGLISH)
@pytest.mark.parametrize(
    ("method", "path", "status", "id"),
    [
        ("GET", "/nowhere", 404, "web-not-found-why"),
        ("GET", "/handbook/nothing", 404, "web-handbook-gone"),
        ("PUT", "/status", 405, "web-failed-why"),
    ],
)
async def test_an_error_is_told_in_the_language_of_the_reader(
    browser: Browser, locale: str, method: str, path: str, status: int, id: str
) -> None:
    browser.client.headers["Accept-Language"] = locale
    answer = await browser.client.request(method, path)
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


def test_every_reason_why_a_file_is_not_read_has_a_message_in_every_language() -> None:
    bot = Path(search.__file__).parents[1]
    files = [*(bot / "pages").rglob("*.py"), *(bot / "search").rglob("*.py")]
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    reasons = set(re.findall(r'"((?:unread|what|format)-[a-z-]+)"', code))
    assert len(reasons) > 60
    assert {(id, one) for id in reasons for one in LOCALES if not texts_for(one).has(id)} == set()


NOT_READ = {
    "a.pdf": b"%PDF-1.7 broken",
    "b.docx": b"PK\x03\x04 half of an archive",
    "c.docx": bytes(500),
    "d.txt": b"\x7fELF" + bytes(500),
    "e.md": b"\x89PNG\r\n\x1a\n" + bytes(500),
    "f.ipynb": b"[]",
    "g.js": b"x" * 10_000,
    "h.txt": b"word " * 4_000,
    "i.txt": b" \n ",
    "j.txt.gz": b"\x1f\x8b" + bytes(500),
    "k.msg": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument\0".encode("utf-16-le"),
    "m.md": b"",
}


async def test_the_reasons_of_files_have_no_english_for_a_german_reader(
    open_console: OpenConsole, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, data in NOT_READ.items():
        (docs / name).write_bytes(data)
    (docs / "l.md").symlink_to(docs / "gone.md")
    here = await open_console(data_dir=tmp_path, docs=(str(docs),), providers=("local",))
    indexer = Indexer(tmp_path / "index.sqlite", readers=Inside(), max_file_bytes=11_000)
    for text in ("The harbour.", ""):
        (docs / "kept.txt").write_text(text)
        indexer.index([docs])
    browser = await here.browser()
    browser.client.headers["Accept-Language"] = "de"
    told = {}
    for state in FILE_STATES:
        page = (await browser.get(f"/sources/files?folder={docs}&state={state}")).text
        for name, why in re.findall(r'class="wide">(.*?)</th><td class="wide">(.*?)</td>', page):
            told[re.sub("<.*?>", "", name)] = why
    assert told.keys() == {*NOT_READ, "l.md", "kept.txt"}
    assert {name: why for name, why in told.items() if ENGLISH.search(why)} == {}
    assert told["d.txt"].startswith("d.txt kann Footnote nicht lesen (Programm);")
    assert told["h.txt"].startswith("Die Datei hat 0,1 MB, die Grenze für Nur-Text liegt bei 0,011")

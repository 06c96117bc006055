"""The console's pages, judged by html-validate and by Lighthouse."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from urllib.parse import quote

import httpx
import pytest

from adapters.web.display import THEMES
from bot.core.texts import LOCALES
from tests.live import demo
from tests.live.page_tools import View, html_faults, lighthouse_faults
from tests.live.stages import Stage, until_answered
from tests.live.states import open_states, share
from tests.scenario.gate import until
from tests.scenario.serving import ForkServer

PATHS = (
    *("/", "/threads/THREAD", "/runs/RUN", "/runs/RUN/pages/1", "/overview"),
    *("/conversations", "/conversations?q=work", "/shared/TOKEN", "/overview/feedback"),
    *("/overview/unanswered", "/handbook", "/handbook/settings", "/preferences", "/keys"),
    *("/sources", "/sources/search?q=work", "/sources/files?folder=DOCS&state=document"),
    *("/status", "/connect/slack"),
    "/threads/nowhere",
)
FORMS = ("mobile", "desktop")
READABLE = tuple(path for path in PATHS if path != "/threads/nowhere")  # Lighthouse wants a 200
MOST_SEEN = ("/", "/threads/THREAD", "/runs/RUN", "/overview")
# Every page once; ``LIGHTHOUSE=all`` looks at all in each way.
LOOKS = {
    ("mobile", "light", "en"): tuple(path for path in READABLE if path not in MOST_SEEN),
    ("desktop", "dark", "zh-Hans"): MOST_SEEN,
}
if os.environ.get("LIGHTHOUSE") == "all":
    LOOKS = dict.fromkeys(product(FORMS, THEMES, LOCALES), READABLE)


@dataclass(frozen=True)
class Pages:
    """A console with a past and one question that was answered in parts, and names in paths."""

    stage: Stage
    named: Mapping[str, str]

    def path(self, pattern: str) -> str:
        for name, value in self.named.items():
            pattern = pattern.replace(name, value)
        return pattern


@pytest.fixture(scope="module")
def pages(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    folder = tmp_path_factory.mktemp("page-tools")
    with (
        open_states(fork_server, folder) as stage,
        httpx.Client(base_url=stage.http, timeout=60) as api,
    ):
        asked = api.post("/api/questions", json={"question": demo.QUESTION, "depth": "deep"}).json()
        until_answered(api, asked["run"])
        until(lambda: "data-refresh" not in api.get("/status").text)
        token = share(api, asked["thread"]).rpartition("/")[2]
        names = {"THREAD": asked["thread"], "RUN": asked["run"], "TOKEN": token}
        yield Pages(stage, {**names, "DOCS": quote(str(folder / "documents"), safe="")})


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_html_is_valid(pages: Pages, language: str) -> None:
    headers = {"Accept-Language": language}
    base = pages.stage.http
    with httpx.Client(base_url=base, headers=headers, follow_redirects=True, timeout=60) as browser:
        shown = {path: browser.get(pages.path(path)).text for path in PATHS}
    found = html_faults(shown)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("look", LOOKS)
def test_lighthouse_finds_nothing(pages: Pages, look: tuple[str, str, str]) -> None:
    views = [View(pages.stage.http + pages.path(path), *look) for path in LOOKS[look]]
    assert lighthouse_faults(views) == []


def test_faults_are_found() -> None:
    assert html_faults({"a": '<!doctype html><html lang="en"><title>x</title><p id="a" id="a">'})

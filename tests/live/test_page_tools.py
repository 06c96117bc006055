"""The console's pages, judged by html-validate and by Lighthouse."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.live.page_tools import html_faults, lighthouse_faults
from tests.live.stages import DEEP, Stage, open_stage
from tests.scenario.conftest import DOCUMENTS
from tests.scenario.gate import until
from tests.scenario.serving import ForkServer

pytestmark = pytest.mark.live

PATHS = (
    *("/", "/threads/THREAD", "/runs/RUN", "/runs/RUN/pages/1", "/overview"),
    *("/handbook", "/handbook/settings", "/threads/nowhere"),
)


@pytest.fixture(scope="module")
def paths(
    fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Stage, list[str]]]:
    """A console with one question that was answered in parts, and the addresses of its pages."""
    folder = tmp_path_factory.mktemp("page-tools")
    with (
        open_stage(fork_server, folder, DOCUMENTS) as stage,
        httpx.Client(base_url=stage.http) as api,
    ):
        asked = api.post("/api/questions", json={"question": DEEP, "depth": "deep"}).json()
        until(lambda: api.get(f"/api/runs/{asked['run']}").json()["state"] == "answered")
        named = {"THREAD": asked["thread"], "RUN": asked["run"]}
        found = list(PATHS)
        for name, value in named.items():
            found = [path.replace(name, value) for path in found]
        yield stage, found


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_html_is_valid(paths: tuple[Stage, list[str]], language: str) -> None:
    stage, addresses = paths
    headers = {"Accept-Language": language}
    with httpx.Client(base_url=stage.http, headers=headers, follow_redirects=True) as browser:
        pages = {path: browser.get(path).text for path in addresses}
    found = html_faults(pages)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("number", "form"), [(0, "desktop"), (1, "mobile"), (2, "mobile")])
def test_lighthouse_finds_nothing(paths: tuple[Stage, list[str]], number: int, form: str) -> None:
    """The home page, a conversation and the page of a run; axe looks at all of them."""
    stage, addresses = paths
    assert lighthouse_faults(stage.http + addresses[number], form) == []


def test_faults_are_found() -> None:
    assert html_faults({"a": '<!doctype html><html lang="en"><title>x</title><p id="a" id="a">'})

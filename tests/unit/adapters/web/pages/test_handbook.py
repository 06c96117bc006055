"""The handbook in the console."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from adapters.web.pages.handbook import anchor, render
from bot.cli.command import HANDBOOK
from tests.fakes.screen import seen
from tests.unit.adapters.web.conftest import Browser, OpenConsole

NAMES = sorted(path.stem for path in HANDBOOK.glob("*.md"))


class Links(HTMLParser):
    """The targets of links and pictures, and the ids, of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if target := found.get("src" if tag == "img" else "href"):
            self.targets.append(target)
        if found.get("id"):
            self.ids.add(str(found["id"]))


async def test_the_console_links_to_it(browser: Browser) -> None:
    assert 'href="/handbook"' in (await browser.get("/")).text
    index = await browser.get("/handbook")
    assert index.status_code == 200
    assert "<h1" in index.text
    assert 'aria-current="page">Handbook' in index.text


async def test_every_link_of_every_page_leads_somewhere(browser: Browser) -> None:
    """All in one test: the pages link to each other, and each is read once."""
    pages: dict[str, Links | None] = {}

    async def page(path: str) -> Links | None:
        if path not in pages:
            answer = await browser.get(path)
            pages[path] = Links(answer.text) if answer.status_code in (200, 303) else None
        return pages[path]

    broken = []
    for path in (f"/handbook/{name}" for name in NAMES):
        links = await page(path)
        assert links is not None, path
        for target in (each for each in links.targets if not each.startswith("https://")):
            to, _, fragment = target.partition("#")
            there = await page(to or path)
            if there is None or (fragment and fragment not in there.ids):
                broken.append((path, target))
    assert broken == []


async def test_nothing_else_is_given(browser: Browser) -> None:
    for path in ["/handbook/none", "/handbook/..%2Fcli", "/handbook/pictures/x"]:
        assert (await browser.get(path)).status_code == 404


async def test_its_pictures_are_shown(browser: Browser) -> None:
    shown = Links((await browser.get("/handbook/architecture")).text).targets
    assert "/handbook/pictures/road.svg" in shown
    picture = await browser.get("/handbook/pictures/road.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.content == (HANDBOOK / "road.svg").read_bytes()


async def test_it_is_behind_the_gate_like_all_other_pages(open_console: OpenConsole) -> None:
    there = await open_console(console_token="a-token-of-the-operator")
    answer = await (await there.browser()).get("/handbook/settings")
    assert answer.status_code == 303


def test_a_picture_that_the_wheel_leaves_out_is_told_in_words() -> None:
    html = render("# T\n\n![An answer](console-answer.png)", {}).html
    assert "<img" not in html
    assert "An answer" in html


def test_nothing_in_a_page_is_live() -> None:
    for text in [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        '<img src="x" onerror="alert(1)">',
        "![x](https://elsewhere.example/pixel.png)",
    ]:
        shown = seen(render(f"# T\n\n{text}", {}).html)
        assert (shown.strange, shown.links) == ([], [])


def test_the_title_is_plain_text() -> None:
    assert render("# The `footnote` *command*\n\nText.", {}).title == "The footnote command"


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("What is read", "what-is-read"),
        ("standard: the iterate strategy", "standard-the-iterate-strategy"),
        ("One -- two", "one-two"),
    ],
)
def test_a_heading_has_the_anchor_that_it_has_on_the_web_site(heading: str, name: str) -> None:
    assert anchor(heading) == name
    assert re.search(rf'id="{name}"', render(f"# {heading}", {}).html)

"""What a message asks to be read, and where a question is searched: the real program on sockets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tests.fakes.claude import FakeClaude
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.program import Ended, Program

BRIDGE = """The Forth Bridge is a cantilever railway bridge across the Firth of Forth in Scotland.
It was designed by John Fowler and Benjamin Baker and opened on 4 March 1890."""
TOWER = """The Eiffel Tower is a wrought-iron lattice tower on the Champ de Mars in Paris. It was
built for the World's Fair of 1889 by the company of Gustave Eiffel."""
CHINESE = (
    "福斯桥是苏格兰的一座铁路桥，横跨福斯湾。它由约翰·福勒和本杰明·贝克设计，于1890年3月4日通车。"
)


def _html(title: str, *paragraphs: str) -> str:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{body}"
        "</article></body></html>"
    )


def _long() -> str:
    """A page of many sections, each with a word of its own and little of the page's topic."""
    sections = (
        f"<h2>Part {n}</h2><p>Marker{n} is what part {n} of the almanac of harbours tells. "
        + "Harbours are described at length in the almanac, with their quays and cranes. " * 12
        + "</p>"
        for n in range(1, 25)
    )
    body = "".join(sections)
    return (
        f"<html><head><title>Almanac</title></head><body><article><h1>Almanac</h1>{body}"
        "</article></body></html>"
    )


@dataclass
class Site:
    """Pages by path; ``asked`` are the paths that were fetched."""

    asked: list[str] = field(default_factory=list)
    base: str = ""

    async def page(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        pages = {
            "/bridge": _html("Forth Bridge", BRIDGE, "It is 2,467 metres long."),
            "/tower": _html("Eiffel Tower", TOWER, "It is 330 metres tall."),
            "/zh": _html("福斯桥", CHINESE),
            "/long": _long(),
        }
        page = pages.get(request.url.path)
        return HTMLResponse(page) if page else HTMLResponse("gone", 404)


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    with serve(Starlette(routes=[Route("/{path:path}", site.page)])) as url:
        site.base = url
        yield site


@pytest.fixture
def wiki() -> FakeWiki:
    return FakeWiki()


@pytest.fixture(params=["claude", "extractive"])
def reader(
    request: pytest.FixtureRequest, tmp_path: Path, site: Site, wiki: FakeWiki
) -> Iterator[Program]:
    """The program with a web to read, a wiki to search, and either reasoner."""
    with serve(FakeClaude()) as claude_url, serve(wiki.app) as wiki_url:
        settings = {
            "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
            "FOOTNOTE_FETCH_ALLOW": urlsplit(site.base).netloc,
            "FOOTNOTE_MODEL_RETRIES": "0",
        }
        if request.param == "claude":
            settings |= {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": claude_url}
        yield Program(tmp_path, settings)


def quotes(ended: Ended) -> str:
    return " ".join(citation["quote"] for citation in ended.json["citations"])


def cited(ended: Ended) -> set[str]:
    return {urlsplit(citation["url"]).path for citation in ended.json["citations"]}


# ---------------------------------------------------------------- links


def test_two_linked_pages_are_read_and_nothing_is_searched(
    reader: Program, site: Site, wiki: FakeWiki
) -> None:
    ended = reader.run("ask", "--json", f"Summarize {site.base}/bridge and {site.base}/tower")
    assert ended.code == 0, ended.err
    assert cited(ended) == {"/bridge", "/tower"}
    assert (ended.json["queries"], wiki.calls) == ([], [])


def test_links_in_chinese_text_are_read(reader: Program, site: Site) -> None:
    ended = reader.run("ask", "--json", f"请总结{site.base}/zh，谢谢。")
    assert ended.code == 0, ended.err
    assert "1890年" in quotes(ended)
    assert ended.json["queries"] == []


def test_a_page_that_is_linked_twice_is_read_once(reader: Program, site: Site) -> None:
    text = f"Summarize [this]({site.base}/bridge) and <{site.base}/bridge?utm_source=chat>"
    ended = reader.run("ask", "--json", text)
    assert ended.code == 0, ended.err
    assert site.asked.count("/bridge") == 1
    assert ended.json["usage"]["pages"] == 1


def test_a_link_that_cannot_be_read_is_said_beside_what_the_others_say(
    reader: Program, site: Site
) -> None:
    ended = reader.run("ask", "--json", f"Summarize {site.base}/bridge and {site.base}/gone")
    assert ended.code == 0, ended.err
    assert cited(ended) == {"/bridge"}
    assert any(f"{site.base}/gone" in note for note in ended.json["notes"])


def test_when_no_link_can_be_read_the_answer_says_so_and_nothing_else(
    reader: Program, site: Site
) -> None:
    ended = reader.run("ask", "--json", f"Summarize {site.base}/gone")
    assert (ended.code, ended.json["status"]) == (1, "not_found")
    assert ended.json["citations"] == []
    assert any(f"I could not read {site.base}/gone" in note for note in ended.json["notes"])


def test_a_summary_covers_a_long_page_from_end_to_end(reader: Program, site: Site) -> None:
    ended = reader.run("ask", "--json", f"Summarize {site.base}/long")
    assert ended.code == 0, ended.err
    parts = [n for n in range(1, 25) if f"Marker{n} " in quotes(ended)]
    assert parts
    assert max(parts) > 12

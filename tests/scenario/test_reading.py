"""What a message asks to be read, and where a question is searched: the real program on sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tests.fakes.claude import FakeClaude, says
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
        + f"The harbour Marker{n} is described in the almanac, with its quays and cranes. " * 12
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


@pytest.fixture
def claude() -> FakeClaude:
    return FakeClaude()


@pytest.fixture(params=["claude", "extractive"])
def reader(
    request: pytest.FixtureRequest, tmp_path: Path, site: Site, wiki: FakeWiki, claude: FakeClaude
) -> Iterator[Program]:
    """The program with a web to read, a wiki to search, and either reasoner."""
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
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


def test_a_summary_rests_on_a_long_page_from_end_to_end(
    reader: Program, site: Site, claude: FakeClaude
) -> None:
    ended = reader.run("ask", "--json", f"Summarize {site.base}/long")
    assert ended.code == 0, ended.err
    shown = json.dumps(claude.requests[-1].body) if claude.requests else quotes(ended)
    parts = [n for n in range(1, 25) if f"Marker{n} " in shown]
    assert min(parts) < 6
    assert max(parts) > 12
    if claude.requests:
        assert [step["kind"] for step in ended.json["steps"]] == ["rewrite", "read", "write"]


def test_a_question_about_a_page_is_answered_from_it(reader: Program, site: Site) -> None:
    ended = reader.run("ask", "--json", f"What does {site.base}/tower say about its height?")
    assert ended.code == 0, ended.err
    assert "330 metres" in quotes(ended)


def test_a_link_of_an_earlier_message_is_read_when_it_is_pointed_to(
    reader: Program, site: Site, claude: FakeClaude
) -> None:
    reader.run("ask", "--json", "--thread", "links", f"Summarize {site.base}/tower")
    site.asked.clear()
    if "ANTHROPIC_API_KEY" in reader.settings:
        link = f"{site.base}/tower"
        claude.use([says(json.dumps(rewriting(kind="links", links=[link], whole=True))), None])
    ended = reader.run("ask", "--json", "--thread", "links", "Summarize that page again")
    assert ended.code == 0, ended.err
    assert cited(ended) == {"/tower"}
    assert ended.json["queries"] == []


# ---------------------------------------------------------------- our own last answer


def test_our_last_answer_is_given_again_in_fewer_words_with_footnotes_and_without_a_search(
    reader: Program, site: Site, claude: FakeClaude, wiki: FakeWiki
) -> None:
    first = reader.run("ask", "--json", "--thread", "a", f"Summarize {site.base}/bridge")
    assert first.code == 0, first.err
    if "ANTHROPIC_API_KEY" in reader.settings:
        claude.use([says(json.dumps(rewriting(rework=True))), None])
    ended = reader.run("ask", "--json", "--thread", "a", "Shorter please")
    assert ended.code == 0, ended.err
    assert cited(ended) == {"/bridge"}
    assert (ended.json["queries"], wiki.calls) == ([], [])
    if "ANTHROPIC_API_KEY" in reader.settings:
        assert "<earlier_answer>" in json.dumps(claude.requests[-1].body)


# ---------------------------------------------------------------- what needs no search


@pytest.mark.parametrize("greeting", ["Hello!", "你好！", "Thanks a lot!", "谢谢"])
def test_a_greeting_is_answered_without_a_search(
    tmp_path: Path, wiki: FakeWiki, greeting: str
) -> None:
    with serve(wiki.app) as url:
        ended = Program(tmp_path, {"FOOTNOTE_WIKIPEDIA_URL": url}).run("ask", "--json", greeting)
    assert (ended.code, ended.json["status"]) == (0, "answered")
    assert (ended.json["citations"], wiki.calls) == ([], [])


def test_a_comparison_asks_for_each_side_by_itself(tmp_path: Path, wiki: FakeWiki) -> None:
    question = "Compare Mercury (planet) and Mercury (element)"
    with serve(wiki.app) as url:
        ended = Program(tmp_path, {"FOOTNOTE_WIKIPEDIA_URL": url}).run("ask", "--json", question)
    assert ended.code == 0, ended.err
    assert {"Mercury planet", "Mercury element"} <= set(ended.json["queries"])
    assert "Sun" in quotes(ended)
    assert "356.7" in quotes(ended)


# ---------------------------------------------------------------- the web and documents


def rewriting(**changes: object) -> dict[str, object]:
    """A rewriting as the model gives it."""
    lists: dict[str, list[str]] = {
        name: [] for name in ("queries", "knowledge_queries", "links", "sources", "domains")
    }
    flags = dict.fromkeys(("whole", "rework", "long_form"), False)
    words = {"kind": "search", "question": "", "region": "", "language": "en", "reply": ""}
    return {**lists, **flags, **words, "freshness": "any", "depth": "quick", **changes}


@pytest.mark.parametrize(
    ("question", "web", "knowledge", "quote"),
    [
        ("When was AC/DC formed?", "AC/DC", "canteen lunch price", "6.50 euros"),
        ("差旅由谁批准？", "长城", "差旅 批准", "财务总监"),
    ],
)
def test_web_queries_go_to_the_web_and_knowledge_queries_to_documents(
    tmp_path: Path,
    wiki: FakeWiki,
    claude: FakeClaude,
    documents: Path,
    question: str,
    web: str,
    knowledge: str,
    quote: str,
) -> None:
    asked = rewriting(question=question, queries=[web], knowledge_queries=[knowledge])
    claude.use([says(json.dumps(asked, ensure_ascii=False)), None])
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        program = Program(
            tmp_path,
            {
                "ANTHROPIC_API_KEY": "sk-test",
                "ANTHROPIC_BASE_URL": claude_url,
                "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
                "FOOTNOTE_PROVIDERS": "wikipedia,local",
                "FOOTNOTE_DOCS": str(documents),
                "FOOTNOTE_PREFETCH_PAGES": "0",
            },
        )
        ended = program.run("ask", "--json", question)
    assert ended.code == 0, ended.err
    searched = {value for call in wiki.calls for value in call.parameters.values()}
    assert any(web in value for value in searched)
    assert not any(word in value for value in searched for word in knowledge.split())
    assert quote in json.dumps(claude.requests[-1].body, ensure_ascii=False)

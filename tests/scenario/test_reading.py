"""Pages that a message asks to be read, and the search of questions: the program on sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tests.fakes.claude import FakeClaude, says
from tests.fakes.claude_search import FakeClaudeSearch, search_tool
from tests.fakes.engines import WebPage
from tests.fakes.mediawiki import FakeWiki
from tests.fakes.server import serve
from tests.scenario.program import Ended, Program
from tests.scenario.serving import ForkServer

Ask = Callable[[str], Ended]

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


@pytest.fixture(params=["claude", pytest.param("closest", marks=pytest.mark.slow)])
def ask(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    fork_server: ForkServer,
    site: Site,
    wiki: FakeWiki,
    claude: FakeClaude,
) -> Iterator[Ask]:
    """Asks the program with a web to read, a wiki to search, and either reasoner."""
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        settings = {
            "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
            "FOOTNOTE_FETCH_ALLOW": urlsplit(site.base).netloc,
            "bot.reasoning.model_service.RETRIES": "0",
        }
        if request.param == "claude":
            settings |= {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": claude_url}
        yield asking(Program(tmp_path, settings, fork_server))


def asking(program: Program) -> Ask:
    def ask(question: str) -> Ended:
        # What is written is looked at here, and how many calls that took.
        return program.run("ask", "--json", "--thread", "t", question, FOOTNOTE_VERIFY="off")

    return ask


def quotes(ended: Ended) -> str:
    return " ".join(citation["quote"] for citation in ended.json["citations"])


def cited(ended: Ended) -> set[str]:
    return {urlsplit(citation["url"]).path for citation in ended.json["citations"]}


# ---------------------------------------------------------------- links, and our answer about them


def test_linked_pages_are_summarized_and_then_in_fewer_words_without_a_search(
    ask: Ask, site: Site, wiki: FakeWiki, claude: FakeClaude
) -> None:
    """Two pages, one of them linked twice, and one that cannot be read, which is said."""
    twice = f"[this]({site.base}/bridge), <{site.base}/bridge?utm_source=chat>"
    ended = ask(f"Summarize {twice}, {site.base}/tower and {site.base}/gone")
    assert ended.code == 0, ended.err
    assert cited(ended) == {"/bridge", "/tower"}
    assert (site.asked.count("/bridge"), ended.json["usage"]["pages"]) == (1, 2)
    assert any(f"{site.base}/gone" in note for note in ended.json["notes"])
    assert ended.json["queries"] == []

    if not claude.requests:  # nothing is reworded without a model
        return
    claude.use([says(json.dumps(rewriting(rework=True))), None])
    shorter = ask("Shorter please")
    assert shorter.code == 0, shorter.err
    assert cited(shorter) == {"/bridge", "/tower"}
    assert (shorter.json["queries"], wiki.calls) == ([], [])
    assert "<earlier_answer>" in json.dumps(claude.requests[-1].body)


def test_sources_and_the_conversation_are_told_from_what_is_stored(
    ask: Ask, site: Site, wiki: FakeWiki, claude: FakeClaude
) -> None:
    """The number stands in the last answer but one; nothing is searched, fetched or prepared."""
    both = ask(f"Summarize {site.base}/bridge and {site.base}/tower")
    assert [citation["number"] for citation in both.json["citations"]] == [1, 2]
    assert ask(f"请总结{site.base}/zh，谢谢。").code == 0
    fetched, prepared = list(site.asked), len(claude.requests)

    named = ask("What was source 2?")
    assert (named.code, named.json["status"]) == (0, "answered"), named.err
    assert named.json["answer"].startswith("#### Eiffel Tower\n")
    assert cited(named) == {"/tower"}
    assert "World's Fair of 1889" in quotes(named)
    assert (named.json["doubts"], "⚠" in named.json["answer"]) == ([], False)
    assert len(claude.requests) == prepared

    said = ask("What does [2] say about the World's Fair?")
    assert (cited(said), "1889" in said.json["answer"]) == ({"/tower"}, True)
    summed_up = ask("What did we find out so far?")
    assert {"/bridge", "/tower", "/zh"} <= cited(summed_up)
    for ended in (said, summed_up):
        assert (ended.code, ended.json["status"]) == (0, "answered"), ended.err
        assert (ended.json["queries"], ended.json["usage"]["pages"]) == ([], 0)
    assert (site.asked, wiki.calls) == (fetched, [])
    if claude.requests:  # one call each: to write
        assert len(claude.requests) == prepared + 2
        assert "<earlier_answer>" in json.dumps(claude.requests[-1].body)

    nothing = ask("What was source 9?")
    assert (nothing.code, nothing.json["citations"]) == (0, [])
    assert "source 9" in nothing.json["answer"]


def test_what_a_linked_page_says_is_read_and_not_searched(
    ask: Ask, site: Site, wiki: FakeWiki, claude: FakeClaude
) -> None:
    ended = ask(f"What does {site.base}/bridge say about its designers?")
    assert (ended.code, cited(ended)) == (0, {"/bridge"}), ended.err
    assert (ended.json["queries"], wiki.calls) == ([], [])
    if claude.requests:
        assert [step["kind"] for step in ended.json["steps"]] == ["rewrite", "read", "write"]
        link = f"{site.base}/bridge"
        claude.use([says(json.dumps(rewriting(kind="links", links=[link]))), None])
    again = ask("What does it say about the opening?")
    assert (again.code, cited(again)) == (0, {"/bridge"}), again.err
    assert (again.json["queries"], wiki.calls) == ([], [])


def test_a_summary_of_links_in_chinese_text_rests_on_a_long_page_from_end_to_end(
    ask: Ask, site: Site, claude: FakeClaude
) -> None:
    links = [f"{site.base}/zh", f"{site.base}/long"]
    claude.use([says(json.dumps(rewriting(kind="links", links=links, whole=True))), None])
    ended = ask(f"请总结{links[0]}和{links[1]}，谢谢。")
    assert ended.code == 0, ended.err
    last = claude.requests[-1].body if claude.requests else quotes(ended)
    shown = json.dumps(last, ensure_ascii=False)
    assert "1890年" in shown
    parts = [n for n in range(1, 25) if f"Marker{n} " in shown]
    assert min(parts) < 6
    assert max(parts) > 12 or not claude.requests  # without a model, the opening
    assert ended.json["queries"] == []
    if claude.requests:
        kinds = [step["kind"] for step in ended.json["steps"]]
        assert kinds == ["rewrite", "read", "read", "write"]


@pytest.mark.parametrize("ask", ["closest"], indirect=True)
def test_a_page_that_was_asked_about_is_read_again_when_it_is_pointed_to(
    ask: Ask, site: Site
) -> None:
    about = ask(f"What does {site.base}/tower say about its height?")
    assert about.code == 0, about.err
    assert "330 metres" in quotes(about)
    ended = ask("Summarize that page again")
    assert ended.code == 0, ended.err
    assert cited(ended) == {"/tower"}
    assert ended.json["queries"] == []


@pytest.mark.parametrize("ask", ["claude"], indirect=True)
def test_when_no_link_can_be_read_the_answer_says_so_and_nothing_else(ask: Ask, site: Site) -> None:
    ended = ask(f"Summarize {site.base}/gone")
    assert (ended.code, ended.json["status"]) == (1, "not_found")
    assert ended.json["citations"] == []
    assert any(f"I could not read {site.base}/gone" in note for note in ended.json["notes"])


# ---------------------------------------------------------------- what is searched, and where


@pytest.mark.parametrize("ask", ["closest"], indirect=True)
def test_a_name_is_searched_by_itself_and_thanks_for_nothing(ask: Ask, wiki: FakeWiki) -> None:
    question = "Is the planet Mercury nearer to the Sun?"
    ended = ask(question)
    assert ended.code == 0, ended.err
    assert {question, "Mercury"} <= set(ended.json["queries"])
    assert "Sun" in quotes(ended)

    asked = len(wiki.calls)
    thanks = ask("谢谢")
    assert (thanks.code, thanks.json["status"]) == (0, "answered")
    assert (thanks.json["citations"], len(wiki.calls)) == ([], asked)


def rewriting(**changes: object) -> dict[str, object]:
    """A rewriting as the model gives it."""
    lists: dict[str, list[str]] = {
        name: [] for name in ("queries", "knowledge_queries", "links", "sources", "domains")
    }
    flags = dict.fromkeys(("whole", "rework", "long_form"), False)
    words = {"kind": "search", "question": "", "region": "", "language": "en", "reply": ""}
    return {**lists, **flags, **words, "freshness": "any", "depth": "quick", **changes}


def test_web_queries_go_to_the_web_and_knowledge_queries_to_documents(
    tmp_path: Path, fork_server: ForkServer, wiki: FakeWiki, claude: FakeClaude, documents: Path
) -> None:
    web, knowledge = ["AC/DC", "长城"], ["canteen lunch price", "差旅 批准"]
    asked = rewriting(question="What is new?", queries=web, knowledge_queries=knowledge)
    claude.use([says(json.dumps(asked, ensure_ascii=False)), None])
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        settings = {
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": claude_url,
            "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
            "FOOTNOTE_PROVIDERS": "wikipedia,local",
            "FOOTNOTE_DOCS": str(documents),
            "bot.service.research_service.PREFETCHED_PAGES": "0",
        }
        ended = asking(Program(tmp_path, settings, fork_server))("What is new?")
    assert ended.code == 0, ended.err
    searched = {value for call in wiki.calls for value in call.parameters.values()}
    assert all(any(words in value for value in searched) for words in web)
    assert not any(w in value for value in searched for w in " ".join(knowledge).split())
    shown = json.dumps(claude.requests[-1].body, ensure_ascii=False)
    assert "6.50 euros" in shown
    assert "财务总监" in shown


# ---------------------------------------------------------------- Claude's own web search


@pytest.fixture
def ask_the_web(
    tmp_path: Path, fork_server: ForkServer, site: Site, wiki: FakeWiki, claude: FakeClaude
) -> Iterator[Ask]:
    """Asks the program with Claude, its web search, and the wiki beside it."""
    claude.web = FakeClaudeSearch([WebPage(f"{site.base}/bridge", "Forth Bridge", BRIDGE)])
    with serve(claude) as claude_url, serve(wiki.app) as wiki_url:
        settings = {
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": claude_url,
            "FOOTNOTE_PROVIDERS": "claude,wikipedia",
            "FOOTNOTE_WIKIPEDIA_URL": wiki_url,
            "FOOTNOTE_FETCH_ALLOW": urlsplit(site.base).netloc,
        }
        yield asking(Program(tmp_path, settings, fork_server))


BUILT = "When was the Forth Bridge opened, and who designed it?"


def test_claude_finds_pages_of_the_web_and_footnote_reads_and_quotes_them(
    ask_the_web: Ask, site: Site, claude: FakeClaude
) -> None:
    ended = ask_the_web(BUILT)
    assert ended.code == 0, ended.err
    assert "/bridge" in site.asked
    assert "opened on 4 March 1890" in quotes(ended)
    assert [citation["url"] for citation in ended.json["citations"]] == [f"{site.base}/bridge"]
    searches = [call for call in claude.calls if search_tool(call)]
    usage = ended.json["usage"]
    assert 1 <= len(searches) <= usage["searches"]
    assert usage["model_calls"] == len(claude.calls) - len(searches)
    assert usage["usd"] > 0.01 * len(searches)


def test_where_claude_may_not_search_the_wiki_answers_and_a_note_says_why(
    ask_the_web: Ask, claude: FakeClaude
) -> None:
    claude.refuses["web_search"] = "Web search is not enabled for this organization."
    ended = ask_the_web("When was the band AC/DC formed, and in which city?")
    assert ended.code == 0, ended.err
    assert "1973" in quotes(ended)
    assert any("allow web search in the Claude Console" in note for note in ended.json["notes"])


def test_no_search_is_paid_for_beyond_the_budget(
    tmp_path: Path, fork_server: ForkServer, claude: FakeClaude
) -> None:
    claude.web = FakeClaudeSearch()
    with serve(claude) as claude_url:
        settings = {
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": claude_url,
            "FOOTNOTE_PROVIDERS": "claude",
            "FOOTNOTE_MAX_USD": "0.005",
        }
        ended = asking(Program(tmp_path, settings, fork_server))(BUILT)
    assert len([call for call in claude.calls if search_tool(call)]) == 1
    assert any("budget of 0.005 USD was spent" in note for note in ended.json["notes"])

"""Input tokens of a run against those of a plain loop, over the same questions.

The plain loop is written from the published description: a tool loop that after every search is
sent the first 5,000 tokens of the 3 best pages, then a call that extracts what was found, then a
call that answers; every call sends all pages again. Both loops ask for the same things in the same
order (a scripted model that knows the titles of the gold pages), search the same corpus, and are
counted by the same fake, which counts characters and simulates prompt caching as the API does.

The corpus is the multihop data set, with each page lengthened to an ordinary article's size
(about 5,000 tokens) by other pages' texts as further sections: its own pages are only the openings
of articles. Billed tokens weigh cache writes 1.25 and cache reads 0.1, as the API's prices do.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bot.core.messages import RunOptions, Thread
from bot.operation.app import open_app
from bot.operation.configuration import load_settings
from bot.pages.page import Page
from bot.search.blend import SearchResult
from bot.search.provider import GivenText, Query
from bot.text.terms import terms
from tests.bench.frame import SHARED, options, print_table
from tests.fakes.claude import FakeClaude, Reply, researcher, says, tool
from tests.fakes.claude_requests import search_results, texts_of, user_texts
from tests.fakes.library import Shelf
from tests.fakes.poster import RememberingPoster
from tests.fakes.server import serve
from tests.unit.samples import NOW, a_message

QUESTIONS = 24
PAGE_CHARACTERS = 20_000
PAGES_PER_SEARCH, TOKENS_PER_PAGE = 3, 5_000
HITS = 10

PLAIN_TOOL: Any = {
    "name": "search_wikipedia",
    "description": "Search Wikipedia; returns the beginnings of the three best pages.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
}


@dataclass(frozen=True)
class Task:
    question: str
    titles: tuple[str, ...]


class Corpus:
    """The pages of the data set, each lengthened when it is first asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._titles = list(texts)
        self._pages: dict[int, Page] = {}

    def near(self, title: str, count: int) -> list[Page]:
        """A page and those that follow it in the set."""
        first = self._titles.index(title)
        return [self._page((first + step) % len(self._titles)) for step in range(count)]

    def _page(self, index: int) -> Page:
        if index not in self._pages:
            title = self._titles[index]
            parts, at = [self._texts[title]], index
            while sum(map(len, parts)) < PAGE_CHARACTERS:
                at = (at + 1) % len(self._titles)
                parts.append(f"## {self._titles[at]}\n\n{self._texts[self._titles[at]]}")
            url = f"https://example.org/{index}"
            self._pages[index] = Page(url, title, "\n\n".join(parts), NOW)
        return self._pages[index]


def load(questions: int = QUESTIONS) -> tuple[Corpus, list[Task]]:
    """The corpus, and the first so many questions of several pages."""
    folder = SHARED / "multihop"
    known = json.loads((folder / "questions.json").read_text())
    tasks = [Task(q["question"], tuple(q["gold"])) for q in known if len(q["gold"]) >= 2]
    return Corpus(json.loads((folder / "pages.json").read_text())), tasks[:questions]


class Searching(Protocol):
    """What the plain loop needs of a search."""

    async def search(self, query: Query) -> SearchResult: ...

    async def read(self, url: str) -> Page | GivenText | None: ...


class ByTitle(Shelf):
    """Finds a page by its title, however its letters are written: an engine does, and a second
    query that differs in an accent only is not sent."""

    def _found(self, query: str) -> list[str]:
        wanted = terms(query)
        for title, urls in self.urls.items():
            if terms(title) == wanted:
                return urls
        return super()._found(query)


def shelf_for(task: Task, corpus: Corpus) -> Shelf:
    """A query is the title it looks for; that page comes first, then its neighbours."""
    by_url: dict[str, Page] = {}
    found: dict[str, list[str]] = {}
    for title in task.titles:
        near = corpus.near(title, HITS * 3)
        by_url |= {page.url: page for page in near}
        found[title] = [page.url for page in near]
    return ByTitle(by_url, urls=found)


def ours(task: Task) -> Any:
    """A brain that searches each title in turn, reads its page while it searches the next one."""

    def brain(request: Mapping[str, Any]) -> Reply:
        if not request.get("tools"):
            return researcher(request)
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        asked, chosen, opened = searched(request), chosen_ids(request), opened_pages(request)
        numbers = hits(shown(request))
        calls = []
        # A page that was opened without being chosen, or chosen once, has nothing more to show.
        unread = [title for title in task.titles if title in numbers and title not in opened]
        ids = [numbers[t] for t in unread if t in asked and numbers[t] not in chosen]
        if ids:
            calls.append(tool("read", {"ids": ids}, f"toolu_{turn}r"))
        following = [title for title in task.titles if title not in asked][:1]
        if following:
            calls.append(tool("search", {"queries": following}, f"toolu_{turn}s"))
        if not calls:
            read = [opened[title].number for title in task.titles if title in opened]
            conclusion = {"use": [str(number) for number in read], "enough": True, "missing": []}
            calls = [tool("finish", {**conclusion, "findings": [], "answer": ""})]
        return says(*calls)

    return brain


def plain(task: Task) -> Any:
    def brain(request: Mapping[str, Any]) -> Reply:
        step = sum(m["role"] == "assistant" for m in request["messages"])
        if step < len(task.titles):
            query = {"query": task.titles[step]}
            return says(tool(PLAIN_TOOL["name"], query, f"toolu_{step}"))
        return says("These are the facts that were found, and the answer that they give.")

    return brain


async def run_ours(task: Task, corpus: Corpus, fake: FakeClaude, url: str) -> None:
    fake.use(ours(task))
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            data_dir=Path(folder), anthropic_api_key="sk-test", anthropic_base_url=url
        )
        poster = RememberingPoster()
        async with open_app(settings, {"terminal": poster}, search=shelf_for(task, corpus)) as app:
            thread = Thread("terminal", "bench", "c", "t")
            message = a_message(task.question, thread)
            run_id, _ = await app.service.accept(message, RunOptions(depth="standard"))
            await app.dispatcher.submit(run_id, thread)
            await app.dispatcher.wait(run_id)
        reply = poster.replies[0]
        assert reply.finished, (task.question, reply.failed)
        answer = reply.finished[-1]  # verdicts may have amended it
        read = {citation.title for citation in answer.citations} | {
            step.title for step in answer.steps if step.kind == "read"
        }
        assert set(task.titles) <= read, (task, answer.steps)


async def run_plain(task: Task, corpus: Corpus, fake: FakeClaude, url: str) -> None:
    fake.use(plain(task))
    await plain_loop(task.question, shelf_for(task, corpus), url)


async def plain_loop(question: str, search: Searching, url: str) -> str:
    """The answer of the plain loop, by the model at a URL."""
    import anthropic

    async with anthropic.AsyncAnthropic(api_key="sk-test", base_url=url) as client:
        messages: list[Any] = [{"role": "user", "content": question}]

        async def ask() -> list[Any]:
            reply = await client.messages.create(
                model="claude-sonnet-5-5", max_tokens=1000, tools=[PLAIN_TOOL], messages=messages
            )
            messages.append({"role": "assistant", "content": reply.content})
            return [block for block in reply.content if block.type == "tool_use"]

        while calls := await ask():
            asked = Query(str(calls[0].input["query"]), PAGES_PER_SEARCH)
            hits = (await search.search(asked)).hits
            pages = [page for hit in hits if isinstance(page := await search.read(hit.url), Page)]
            content = "\n".join(
                f'<page number="{number}" title="{page.title}">\n'
                f"{page.text[: TOKENS_PER_PAGE * 4]}\n</page>"
                for number, page in enumerate(pages, start=1)
            )
            result = {"type": "tool_result", "tool_use_id": calls[0].id, "content": content}
            messages.append({"role": "user", "content": [result]})
        for instruction in ("Extract what was found.", "Now answer the question."):
            messages.append({"role": "user", "content": instruction})
            await ask()
        return "".join(block.text for block in messages[-1]["content"])


# ---------------------------------------------------------------- what a request shows

HIT = re.compile(r"^(\d+)\. (.*)$", re.M)
RESULT = re.compile(r"(?:Page (\d+): )?(.*?)(?: \(whole page\))?")
PASSAGE = re.compile(r"^\d+\.\d+ ", re.M)  # what numbers the passages on a desk
PAGE = re.compile(r'<page number="(\d+)" title="([^"]*)"[^>]*>(.*?)</page>', re.S)


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page's number and what is shown of its text."""

    number: int
    text: str


def opened_pages(request: Mapping[str, Any]) -> dict[str, OpenPage]:
    """Title → the page with all the text that is shown of it, as an element or a search result."""
    found: dict[str, OpenPage] = {}
    parts = PAGE.findall(shown(request))
    for result in search_results(request):
        numbered = RESULT.fullmatch(result["title"])
        assert numbered is not None
        texts = "\n".join(texts_of(result["content"]))
        parts.append((numbered[1] or "0", numbered[2], texts))
    for number, title, body in parts:
        earlier = found[title].text if title in found else ""
        found[title] = OpenPage(int(number), f"{earlier}\n{PASSAGE.sub('', body)}")
    return found


def hits(text: str) -> dict[str, int]:
    """Title → number of the hits shown. Where a snippet follows the title after a colon, which a
    title may have too, each of its beginnings is taken for one."""
    found: dict[str, int] = {}
    for number, words in HIT.findall(text):
        parts = words.removesuffix(" (open)").split(": ")
        for end in range(len(parts), 0, -1):
            found.setdefault(": ".join(parts[:end]), int(number))
    return found


def searched(request: Mapping[str, Any]) -> set[str]:
    """The queries of this conversation's searches, those made before it began included."""
    return set(re.findall(r'<results query="([^"]*)"', shown(request))) | {
        query
        for message in request["messages"]
        if message["role"] == "assistant" and not isinstance(message["content"], str)
        for block in message["content"]
        if block["type"] == "tool_use"
        for query in (*block["input"].get("queries", ()), block["input"].get("query"))
        if query
    }


def chosen_ids(request: Mapping[str, Any]) -> set[int]:
    """The numbers of the hits that were chosen in this conversation."""
    return {
        id
        for message in request["messages"]
        if message["role"] == "assistant" and not isinstance(message["content"], str)
        for block in message["content"]
        if block["type"] == "tool_use" and block["name"] == "read"
        for id in block["input"]["ids"]
    }


def shown(request: Mapping[str, Any]) -> str:
    return "\n".join(user_texts(request))


# ---------------------------------------------------------------- counting


@dataclass(frozen=True)
class Counted:
    """Of one question: calls, input tokens sent, the same as billed, and output tokens."""

    calls: int
    sent: int
    billed: float
    said: int


def counted(fake: FakeClaude) -> Counted:
    usages = [request.usage for request in fake.requests if request.status == 200]
    fresh = sum(usage["input_tokens"] for usage in usages)
    written = sum(usage.get("cache_creation_input_tokens") or 0 for usage in usages)
    cached = sum(usage.get("cache_read_input_tokens") or 0 for usage in usages)
    said = sum(usage["output_tokens"] for usage in usages)
    fake.requests.clear()
    billed = fresh + 1.25 * written + 0.1 * cached
    return Counted(len(usages), fresh + written + cached, billed, said)


async def measure(questions: int) -> dict[str, list[Counted]]:
    corpus, tasks = load(questions)
    results: dict[str, list[Counted]] = {"plain loop": [], "Footnote": []}
    fake = FakeClaude()
    with serve(fake) as url:
        for task in tasks:
            await run_plain(task, corpus, fake, url)
            results["plain loop"].append(counted(fake))
            await run_ours(task, corpus, fake, url)
            results["Footnote"].append(counted(fake))
    return results


def main(arguments: Sequence[str]) -> None:
    parser = options("tokens", __doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    given = parser.parse_args(arguments)
    asked = 1 if given.quick else given.questions
    results = asyncio.run(measure(asked))
    rows = []
    for name, runs in results.items():
        rows.append(
            (
                name,
                f"{statistics.median(run.calls for run in runs):.0f}",
                f"{statistics.median(run.sent for run in runs):,.0f}",
                f"{statistics.median(run.billed for run in runs):,.0f}",
            )
        )
    ratio = [
        a.billed / b.billed for a, b in zip(results["plain loop"], results["Footnote"], strict=True)
    ]
    print_table((f"{asked} questions, medians", "calls", "sent", "billed"), rows)
    print(f"\nbilled, plain over ours: {statistics.median(ratio):.1f} (target at least 3)")

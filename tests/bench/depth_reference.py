"""The two loops that Footnote is compared with, written from their published descriptions.

The plain loop: Claude searches Wikipedia in a tool loop, judges what it found, extracts information
and only then answers in a separate call. Every turn is one call with one query; the first 5,000
tokens of the three best pages are appended to the conversation; the turn that asks for nothing more
states what was found, in the sentences that Footnote's loop states it in; a call of its own
answers. Every call sends all of it again, uncached. What such loops were seen to do worse is not
counted here: they ask nearly the same query two or three times, and as they see three results only,
a page further down is found by none of their queries.

The loop by layers: one call plans sub-questions in layers; each sub-question is searched, a call
chooses the page, the page is fetched, a call summarizes it; the sub-questions of a layer are worked
at once, and the next layer waits for the slowest; a last call answers from the summaries.

Both search and read the same wiki as Footnote does, through its HTTP API, and ask the same scripted
model. Their prompts are short, which is in their favour; neither restates the question first, which
is too: a follow-up in a thread would need it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx

from tests.bench.depth_brain import ANSWERS, CHOOSES, PLAIN_SEARCH, PLANS, SUMMARIZES
from tests.bench.depth_tasks import Task

MODEL = "claude-sonnet-5-5"
OUTPUT_TOKENS = 4_000
PAGES_PER_SEARCH, PAGE_TOKENS = 3, 5_000
TURNS = 10
HITS = 10

SEARCH_TOOL: Any = {
    "name": PLAIN_SEARCH,
    "description": "Search Wikipedia; returns the beginnings of the three best pages.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
}


@dataclass(frozen=True, slots=True)
class Found:
    title: str
    snippet: str


class Wiki:
    """The part of the MediaWiki API at ``base`` that a loop needs."""

    def __init__(self, base: str, client: httpx.AsyncClient) -> None:
        self._endpoint = f"{base}/w/api.php"
        self._client = client

    async def search(self, query: str, limit: int) -> list[Found]:
        pages = await self._ask(
            {"generator": "search", "gsrsearch": query, "gsrlimit": str(limit), "prop": "info"}
        )
        return [Found(page["title"], page["snippet"]) for page in pages]

    async def text(self, title: str) -> str:
        pages = await self._ask({"titles": title, "prop": "extracts", "explaintext": "1"})
        return str(pages[0]["extract"])

    async def _ask(self, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
        common = {"action": "query", "format": "json", "formatversion": "2"}
        response = await self._client.get(self._endpoint, params={**common, **parameters})
        pages: list[dict[str, Any]] = response.raise_for_status().json()["query"]["pages"]
        return pages


class Model:
    """One call after another, each with all that it needs."""

    def __init__(self, client: anthropic.AsyncAnthropic) -> None:
        self._client = client

    async def ask(
        self, system: str, messages: Sequence[Any], tools: Sequence[Any] = ()
    ) -> list[Any]:
        """The blocks of the reply; an answer is streamed like any other."""
        async with self._client.messages.stream(
            model=MODEL,
            max_tokens=OUTPUT_TOKENS,
            system=system,
            messages=list(messages),
            tools=list(tools) or anthropic.omit,
        ) as stream:
            return list((await stream.get_final_message()).content)

    async def say(self, system: str, asked: str) -> str:
        blocks = await self.ask(system, [{"role": "user", "content": asked}])
        return "".join(block.text for block in blocks if block.type == "text")


async def plain(task: Task, model: Model, wiki: Wiki) -> str:
    """The plain loop; returns its answer."""
    system = "You research a question with a search tool, one query at a time."
    messages: list[Any] = [{"role": "user", "content": _question(task)}]
    for _ in range(TURNS):
        blocks = await model.ask(system, messages, [SEARCH_TOOL])
        messages.append({"role": "assistant", "content": blocks})
        calls = [block for block in blocks if block.type == "tool_use"]
        if not calls:
            break
        results = []
        for call in calls[:1]:
            content = await _first_pages(str(call.input["query"]), wiki)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": content})
        messages.append({"role": "user", "content": results})
    messages.append({"role": "user", "content": "Now answer the question from what was found."})
    blocks = await model.ask(ANSWERS, messages, [SEARCH_TOOL])
    return "".join(block.text for block in blocks if block.type == "text")


async def _first_pages(query: str, wiki: Wiki) -> str:
    """The beginnings of the best pages, read one after another."""
    pages = []
    for number, hit in enumerate(await wiki.search(query, PAGES_PER_SEARCH), 1):
        text = (await wiki.text(hit.title))[: PAGE_TOKENS * 4]
        pages.append(_page(number, hit.title, text))
    return f'<results query="{query}">\n{"".join(pages)}</results>'


async def by_layers(task: Task, model: Model, wiki: Wiki) -> str:
    """The loop by layers; returns its answer."""
    planned = await model.say(PLANS, _question(task))
    layers: list[list[str]] = json.loads(planned.splitlines()[-1])
    known: list[str] = []
    for layer in layers:
        handed_down = "".join(known)
        known += await asyncio.gather(*(_node(part, handed_down, model, wiki) for part in layer))
    return await model.say(ANSWERS, f"{_question(task)}\n{''.join(known)}")


async def _node(question: str, known: str, model: Model, wiki: Wiki) -> str:
    """Search, choose, fetch, summarize; the summary as an element."""
    query = question.partition("“")[2].rpartition("”")[0]
    hits = await wiki.search(query, HITS)
    listed = "\n".join(
        f"{number}. {hit.title}: {hit.snippet}" for number, hit in enumerate(hits, 1)
    )
    shown = f'{known}\n<question>\n{question}\n</question>\n<results query="{query}">\n{listed}\n'
    chosen = (await model.say(CHOOSES, f"{shown}</results>")).splitlines()[-1]
    title = hits[int(chosen) - 1].title
    text = (await wiki.text(title))[: PAGE_TOKENS * 4]
    asked = f"<question>\n{question}\n</question>\n{_page(1, title, text)}"
    return _page(1, title, await model.say(SUMMARIZES, asked))


def _question(task: Task) -> str:
    return f"<question>\n{task.question}\n</question>"


def _page(number: int, title: str, text: str) -> str:
    named = title.replace('"', "'")
    return f'<page number="{number}" title="{named}">\n{text}\n</page>\n'

"""Footnote beside others, over the same questions, search and scripted model.

200 questions: those of MuSiQue whose facts ``desk_queries.json`` knows, most of which need several
pages, and questions of XQuAD in English, which need one, over the pages of both sets. All find
pages by the same BM25, and talk to the same fake of the Messages API, which counts tokens at four
characters each. The model is an oracle (``rivals_oracle``). Compared are

    gpt-researcher   the package, with reports of its default type, in an environment of its own
                     that the bench makes; installing takes a minute or two
    plain loop       as in ``tokens``: search, then extract, then answer
    one call         the thread to the model, once, without a search, as llmcord does

An answer is right if the oracle was shown all facts of the question. Its facts are cited if it
cites their pages, these have their words, and it cites no others; they are quoted if quotes shown
with it have their words.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import statistics
import subprocess
import tempfile
import time
import venv
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from bot.core.messages import RunOptions, Thread
from bot.operation.app import open_app
from bot.operation.configuration import load_settings
from bot.pages.page import Page
from bot.search.blend import SearchResult
from bot.search.provider import ProviderKind, Query
from tests.bench.corpus import MemoryCorpus
from tests.bench.desk import Hop, known_hops
from tests.bench.frame import SHARED, clean, options, print_table, tell
from tests.bench.multihop import holds_answer, load
from tests.bench.rivals_oracle import Oracle, Task
from tests.bench.tokens import Counted, counted, plain_loop
from tests.fakes.claude import FakeClaude
from tests.fakes.embeddings import MODEL, FakeEmbeddings
from tests.fakes.poster import RememberingPoster
from tests.fakes.server import serve
from tests.unit.samples import a_message

QUESTIONS = 200
KEY = "sk-test"
CLAUDE, OLDER = (
    "claude-sonnet-5-5",
    "claude-sonnet-4-6",
)  # gpt-researcher sets a temperature for others
GPT_RESEARCHER = "gpt-researcher 0.15.1"
PACKAGES = ("gpt-researcher==0.15.1", "langchain-anthropic==1.7.10")
INSTALL_SECONDS, REPORT_SECONDS = 600, 60
LINKED = re.compile(r"\]\((http[^)\s]+)\)")
PROGRAM = Path(__file__).with_name("rivals_gpt_researcher.py")


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: its text, the titles of the pages it cites, the quotes shown with it."""

    text: str
    cited: frozenset[str] = frozenset()
    quotes: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question went, of several pages or of one: a right answer can cite its facts and quote
    them; then what it took."""

    several: bool
    right: bool
    cited: bool
    quoted: bool
    counted: Counted
    searches: int
    pages: int
    seconds: float


class Pages(MemoryCorpus):
    """The corpus, which counts searches and the pages read."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.texts = texts
        self.searches = self.reads = 0

    async def search(
        self, query: Query, providers: tuple[str, ...] = (), kind: ProviderKind | None = None
    ) -> SearchResult:
        self.searches += 1
        return await super().search(query, providers, kind)

    async def read(self, url: str) -> Page | None:
        self.reads += 1
        return await super().read(url)


Ask = Callable[[Task], Awaitable[Said]]


def questions(most: int) -> tuple[dict[str, str], list[Task]]:
    """The pages of both sets, and the first so many of their questions, in turns."""
    texts, asked = load()
    several = [
        Task(question.text, question.answers, tuple(hops))
        for at, hops in known_hops().items()
        if (question := asked[at]) and _alike(hops[-1].words, question.answers)
    ]
    single = []
    path = SHARED / "chinese" / "xquad.en.json"
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for part, paragraph in enumerate(article["paragraphs"], start=1):
            title = f"{article['title'].replace('_', ' ')}, part {part}"
            texts[title] = paragraph["context"]
            first = paragraph["qas"][0]
            words = first["answers"][0]["text"]
            hop = Hop(first["question"], title, words)
            single.append(Task(first["question"], (words,), (hop,)))
    each = itertools.zip_longest(several, single[::2][: QUESTIONS - len(several)])
    return texts, [task for pair in each for task in pair if task is not None][:most]


def _alike(words: str, answers: Iterable[str]) -> bool:
    """Return True if the words of the last fact are the answer, or differ by what is around it."""
    return any(holds_answer(words, (a,)) or holds_answer(a, (words,)) for a in answers)


async def measure(tasks: Sequence[Task], pages: Pages, fake: FakeClaude, ask: Ask) -> list[Outcome]:
    """Ask each question and judge its answer."""
    outcomes = []
    for task in tasks:
        fake.use(Oracle(task))
        fake.requests.clear()
        pages.searches = pages.reads = 0
        began = time.perf_counter()
        said = await ask(task)
        seconds = time.perf_counter() - began
        right = holds_answer(said.text, (task.conclusion,))
        cites = {hop.page for hop in task.hops} == said.cited and all(
            holds_answer(pages.texts[hop.page], (hop.words,)) for hop in task.hops
        )
        quoted = all(holds_answer(said.quotes, (hop.words,)) for hop in task.hops)
        count = counted(fake)
        several = len({hop.page for hop in task.hops}) > 1
        proven = (right and cites, right and quoted)
        outcomes.append(
            Outcome(several, right, *proven, count, pages.searches, pages.reads, seconds)
        )
    return outcomes


# ---------------------------------------------------------------- those compared


@asynccontextmanager
async def footnote(pages: Pages, url: str) -> AsyncIterator[Ask]:
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            data_dir=Path(folder), anthropic_api_key=KEY, anthropic_base_url=url
        )
        poster = RememberingPoster()
        async with open_app(settings, {"terminal": poster}, search=pages) as app:

            async def ask(task: Task) -> Said:
                thread = Thread("terminal", "bench", "c", f"{len(poster.replies)}")
                run_id, _ = await app.service.accept(a_message(task.question, thread), RunOptions())
                await app.dispatcher.submit(run_id, thread)
                await app.dispatcher.wait(run_id)
                reply = poster.replies[-1]
                assert reply.finished, (task.question, reply.failed)
                answer = reply.finished[-1]  # verdicts may have amended it
                cited = frozenset(citation.title for citation in answer.citations)
                quotes = "\n".join(citation.quote for citation in answer.citations)
                return Said(answer.text, cited, quotes)

            yield ask


@asynccontextmanager
async def loop(pages: Pages, url: str) -> AsyncIterator[Ask]:
    async def ask(task: Task) -> Said:
        return Said(await plain_loop(task.question, pages, url))

    yield ask


@asynccontextmanager
async def one_call(pages: Pages, url: str) -> AsyncIterator[Ask]:
    import anthropic

    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=url) as client:

        async def ask(task: Task) -> Said:
            reply = await client.messages.create(
                model=CLAUDE,
                max_tokens=1000,
                messages=[{"role": "user", "content": task.question}],
            )
            return Said("".join(block.text for block in reply.content if block.type == "text"))

        yield ask


def python_of(folder: Path) -> Path:
    """The Python of an environment with gpt-researcher, which is made if the folder has none."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *PACKAGES]
        subprocess.run(install, check=True, timeout=INSTALL_SECONDS, capture_output=True)
    return python


def web(pages: Pages) -> Starlette:
    """The search, the pages and the embeddings as servers. What a search shows of a page is named
    so that gpt-researcher fetches the page and does not take it for all there is."""

    async def search(request: Request) -> Response:
        found = await pages.search(Query(request.query_params["query"], 5))
        base = str(request.base_url)
        return JSONResponse(
            [
                {"url": _moved(hit.url, base), "title": hit.title, "snippet": hit.snippet}
                for hit in found.hits
            ]
        )

    async def read(request: Request) -> Response:
        page = await pages.read(_home(request.url.path))
        assert page is not None
        body = f"<p>{escape(page.text)}</p>"
        return HTMLResponse(f"<title>{escape(page.title)}</title><body>{body}</body>")

    embeddings = FakeEmbeddings(key=KEY).app
    return Starlette(
        routes=[Route("/search", search), Route("/pages/{number}", read), Mount("/", embeddings)]
    )


def _moved(url: str, base: str) -> str:
    return f"{base}pages/{url.rpartition('/')[2]}"


def _home(url: str) -> str:
    return f"https://corpus.example/{url.rpartition('/')[2]}"


@asynccontextmanager
async def gpt_researcher(pages: Pages, url: str, python: Path) -> AsyncIterator[Ask]:
    """With its defaults, except that pages as short as these go the way of longer ones (else its
    model sees no addresses to cite), and that nothing is left out for the likeness of vectors,
    which these embeddings cannot tell."""
    with serve(web(pages)) as base, tempfile.TemporaryDirectory() as folder:
        environment = {
            **clean(),
            **dict.fromkeys(("FAST_LLM", "SMART_LLM", "STRATEGIC_LLM"), f"anthropic:{OLDER}"),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_API_URL": url,
            "ANTHROPIC_BASE_URL": url,
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{base}/v1",
            "EMBEDDING": f"custom:{MODEL}",
            "RETRIEVER": "custom",
            "RETRIEVER_ENDPOINT": f"{base}/search",
            "COMPRESSION_THRESHOLD": "0",
            "SIMILARITY_THRESHOLD": "-1",
            "NO_PROXY": "*",
        }
        program = await asyncio.create_subprocess_exec(
            str(python),
            str(PROGRAM),
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=2**24,
        )
        assert program.stdin is not None
        assert program.stdout is not None
        told, asked = program.stdout, program.stdin

        async def ask(task: Task) -> Said:
            asked.write(f"{task.question}\n".encode())
            line = await asyncio.wait_for(told.readline(), REPORT_SECONDS)
            if not line:
                raise EOFError("it has ended")
            report = json.loads(line)
            links = LINKED.findall(report)
            return Said(report, frozenset(pages.title(_home(link)) for link in links))

        try:
            yield ask
        finally:
            if program.returncode is None:
                program.kill()
            await program.wait()


# ---------------------------------------------------------------- the table


HEADER = (
    *("one page", "several", "cited", "quoted", "tokens in", "billed", "out"),
    *("calls", "searches", "pages", "seconds"),
)


def row(name: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Right answers to questions of one page and of several, those whose facts are cited and quoted
    as counts of all, and the medians of what a question took."""

    def median(values: Iterable[float], form: str = ",.0f") -> str:
        return format(statistics.median(values), form)

    return (
        name,
        *(_share([o.right for o in outcomes if o.several is kind]) for kind in (False, True)),
        _share([o.cited for o in outcomes]),
        _share([o.quoted for o in outcomes]),
        median(o.counted.sent for o in outcomes),
        median(o.counted.billed for o in outcomes),
        median(o.counted.said for o in outcomes),
        median(o.counted.calls for o in outcomes),
        median(o.searches for o in outcomes),
        median(o.pages for o in outcomes),
        median((o.seconds for o in outcomes), ".2f"),
    )


def _share(each: Sequence[bool]) -> str:
    return f"{sum(each)} of {len(each)}"


async def run(tasks: Sequence[Task], pages: Pages, environment: Path | None) -> None:
    """Print the table; gpt-researcher is in it if there is a folder for its environment."""
    fake, rows, remarks = FakeClaude(trusting=True), [], []
    with serve(fake) as url:
        compared: list[tuple[str, AbstractAsyncContextManager[Ask]]] = [
            ("Footnote", footnote(pages, url)),
            ("plain loop", loop(pages, url)),
            ("one call, as llmcord", one_call(pages, url)),
        ]
        if environment is not None:
            tell(f"installing {GPT_RESEARCHER}")
            try:
                python = await asyncio.to_thread(python_of, environment)
                compared.insert(1, (GPT_RESEARCHER, gpt_researcher(pages, url, python)))
            except subprocess.SubprocessError as error:
                remarks.append(f"{GPT_RESEARCHER} does not install here: {error}")
        for name, opened in compared:
            tell(name)
            async with opened as ask:
                try:
                    rows.append(row(name, await measure(tasks, pages, fake, ask)))
                except (TimeoutError, EOFError) as error:
                    remarks.append(f"{name} gave no answer: {error!r}")
    print_table((f"{len(tasks)} questions", *HEADER), rows)
    print("\n".join(["", *remarks, BESIDE]), end="")


BESIDE = """\
What this does not compare:
- The model cannot err and knows only what it is shown. So the table tells which facts a program
  brings before its model, and at what price, and not how well a model writes. "One call" has no
  answer for this reason alone: a real model knows some of these answers.
- A fact counts only from the page that the data set names, though others may have it.
- The pages are short (half have less than 300 characters): with whole articles, programs that send
  whole pages send more. The bench "tokens" measures that.
- gpt-researcher asks for a report of 1,200 words. The oracle writes a few sentences, a real model
  writes more. It can also research in several rounds ("deep"), which is not measured. Pages as
  short as these are made to go the way of longer ones, or its model would see no addresses to
  cite, and none is left out for the likeness of vectors.
- The plain loop and the one call ask for no sources, so the oracle gives none.
- Billed tokens weigh cache writes 1.25 and cache reads 0.1. Only Footnote caches, and its questions
  follow each other at once; a question after a quiet hour pays more.
- Seconds are medians beside a model that replies at once: a real one adds seconds to each call.
  gpt-researcher fetches pages over HTTP on loopback, the others in memory. Those of Footnote
  include storing each step and checking the answer.
- llmcord is in no package index: its row is one request with the question, written here.
"""


def main(arguments: Sequence[str]) -> None:
    parser = options("rivals", __doc__)
    parser.add_argument("--most", type=int, default=QUESTIONS, help="questions")
    parser.add_argument("--environment", type=Path, help="kept folder for gpt-researcher's install")
    given = parser.parse_args(arguments)
    texts, tasks = questions(2 if given.quick else given.most)
    with tempfile.TemporaryDirectory() as folder:
        environment = None if given.quick else given.environment or Path(folder)
        asyncio.run(run(tasks, Pages(texts), environment))

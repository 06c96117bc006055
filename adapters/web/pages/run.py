"""The page of a run, from its trace, and the pages that it read."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import visitor_of
from adapters.web.access.visibility import seeing, set_audit_object, with_audit
from adapters.web.console import Console, download
from adapters.web.display import texts_of
from adapters.web.html.markdown import answer_html
from adapters.web.html.page_text import excerpt_html, line_html, page_html
from adapters.web.html.sources import copies_of, kind_of, quote_html
from adapters.web.html.svg import MARKS, GraphNode, draw_graph, waterfall
from adapters.web.live import state_of
from adapters.web.pages.overview import seconds, usd
from bot.core.lines import name_of, one_line, shortened
from bot.core.messages import Verification, VerifiedSentence
from bot.core.reader import Reader
from bot.core.texts import Texts
from bot.pages.charset import decode
from bot.pages.media import media_type_of
from bot.reasoning.reasoner import price_of
from bot.rendering.footnotes import link_target
from bot.rendering.remarks import words_of
from bot.research.trace import (
    ModelCall,
    Quote,
    Span,
    Trace,
    TracedPage,
    TracedSentence,
    page_of_trace,
    trace,
)
from bot.search.folders import open_file, original_of, readable
from bot.storage.archive import KeptPage, Traces
from bot.storage.store import RunRecord

_BORDER = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"(</?h)([4-6])>")

TITLE = 300  # characters of a question at the head of its page
PDF = "application/pdf"
SHOWN = (PDF, "text/plain")
# Without "sandbox", under which browsers do not start their PDF viewers; those run no scripts of a
# file in its site.
CSP_OF_PDF = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
BEST_QUOTES = 3  # quotes of different pages shown unfolded under a sentence


def run_pages(console: Console) -> Sequence[BaseRoute]:
    pages = _RunPages(console)
    return [
        Route("/runs/{run}", with_audit(console, "read", "run", pages.run, "run")),
        Route("/runs/{run}/pages/{number:int}", with_audit(console, "read", "page", pages.page)),
        Route(
            "/runs/{run}/pages/{number:int}/original",
            with_audit(console, "read", "file", pages.original),
        ),
    ]


class _RunPages:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._traces = Traces(console.store)
        self._root = console.settings.root

    async def run(self, request: Request) -> Response:
        """Show the page of one run."""
        run = request.path_params["run"]
        kept = await self._traces.run(run)
        if kept is None:
            raise _gone(request)
        await self._check(request, kept.record)
        reader = Reader.of_stored(kept.record.message, kept.record.options)
        if not seeing(self._console, request).may_see_run(kept, reader):
            raise HTTPException(403, texts_of(request)("answer-out-of-reach"))
        plan = state_of(kept.record).plan
        price = partial(price_of, self._console.settings)

        def page_path(page: KeptPage) -> str:
            return f"{copies_of(run, self._root)}{page.number}?copy={page.hash}"

        def shown() -> Response:
            return self._console.page(
                request,
                "run.html",
                view=RunView(
                    trace(kept, price, plan.steps if plan else ()), texts_of(request), self._root
                ),
                link=link_target,
                page_link=page_path,
            )

        # In a thread, because a long report would block the event loop for 50 ms.
        return await asyncio.to_thread(shown)

    async def _stored(self, request: Request) -> tuple[KeptPage, RunRecord]:
        """Return the page that a request names, and its run, if the visitor may read them."""
        run, number = request.path_params["run"], request.path_params["number"]
        set_audit_object(request, f"{run}/{number}")
        record = await self._console.store.run(run)
        record = await self._check(request, record)
        kept = await self._traces.page(run, number, request.query_params.get("copy", ""))
        if kept is None:
            raise _gone(request)
        if not seeing(self._console, request).reach.allows(kept.url):
            raise HTTPException(403, texts_of(request)("answer-out-of-reach"))
        return kept, record

    async def original(self, request: Request) -> Response:
        """Send the file of a local document as it is now: a PDF file or text (in UTF-8) to be
        shown, everything else as a download."""
        kept, _ = await self._stored(request)
        real = original_of(kept.url, self._console.settings.docs)
        may = real is not None and seeing(self._console, request).reach.allows(real.as_uri())
        body = await asyncio.to_thread(_content, real) if real is not None and may else None
        if body is None or real is None:
            raise HTTPException(404, texts_of(request)("web-original-gone"))
        kind = media_type_of(real.name) or "application/octet-stream"
        if kind.startswith("text/") and kind != "text/html":
            kind, body = "text/plain", (await asyncio.to_thread(decode, body)).encode()
        sent = download(body, readable(real.name), kind)
        if kind in SHOWN:
            disposition = sent.headers["Content-Disposition"]
            sent.headers["Content-Disposition"] = disposition.replace("attachment", "inline", 1)
        if kind == PDF:
            sent.headers["Content-Security-Policy"] = CSP_OF_PDF
        return sent

    async def page(self, request: Request) -> Response:
        """Show the whole stored text of a page, with its quotes marked."""
        kept, record = await self._stored(request)

        def shown() -> Response:
            page = page_of_trace(kept, record.answer)
            html = page_html(kept.text or "", page.quoted, title=kept.title)
            return self._console.page(
                request,
                "run_page.html",
                page=page,
                html=Markup(html),  # noqa: S704  (sanitized there)
                kind=kind_of(kept.url),
                link=link_target,
                back=f"{self._root}/runs/{record.id}#pages",
                original=f"{copies_of(record.id, self._root)}{kept.number}/original",
            )

        return await asyncio.to_thread(shown)

    async def _check(self, request: Request, record: RunRecord | None) -> RunRecord:
        """Check that the visitor may see a run: their own, one of a chat, or a shared one."""
        if record is not None and not record.removed:
            console, thread = self._console, record.message.thread
            may = console.may_see(visitor_of(request), thread)
            if may or await console.history.token_of(thread):
                return record
        raise _gone(request)


def _content(real: Path) -> bytes | None:
    try:
        with open_file(str(real)) as file:
            return file.read()
    except OSError:
        return None  # it went, or became a link, in this moment


def _gone(request: Request) -> HTTPException:
    return HTTPException(404, texts_of(request)("question-gone"))


# ---------------------------------------------------------------- the view of a run

Check = tuple[str, str, str]
"""A check's state ("good", "doubtful" or "told", which is neither), its mark and its sentence."""


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive sentences, each with its HTML, that rest on the same passages: those that are
    shown unfolded, and the others."""

    sentences: tuple[tuple[TracedSentence, Markup], ...]
    first: tuple[Quote, ...]
    others: tuple[Quote, ...]

    @property
    def is_doubted(self) -> bool:
        return any(one.doubt for one, _ in self.sentences)

    @property
    def is_disputed(self) -> bool:
        return any(one.disagreement for one, _ in self.sentences)


class RunView:
    """A run's trace with texts and drawings; the template reads its attributes and calls its
    methods."""

    marks = MARKS
    seconds = staticmethod(seconds)

    def __init__(self, trace: Trace, texts: Texts, root: str = "") -> None:
        self.trace = trace
        self._texts = texts
        message = trace.record.message
        self.title = shortened(message.text, TITLE)
        same = one_line(trace.understood) == one_line(message.text)
        self.understood = "" if same else trace.understood
        self.state = trace.record.state.replace("_", "-")
        self.place = message.thread.platform
        web = message.thread.platform == "web"
        self.asker = name_of(message.author, message.thread, texts)
        path = f"{root}/threads/{message.thread.thread}#run-{trace.record.id}"
        self.thread = path if web else ""
        self.waterfall = waterfall(trace.spans)
        # More than the number of an item, or the line under a table's header.
        self.sentences = [one for one in trace.sentences if any(map(str.isalpha, one.text))]
        self.groups = tuple(_groups(self.sentences))
        self.graph = self._graph()

    @property
    def facts(self) -> dict[str, str]:
        """Return labels and values for the head of the page."""
        trace, spent, answer = self.trace, self.trace.spent, self.trace.answer
        took = (trace.ended_at - trace.record.accepted_at).total_seconds() if trace.ended_at else 0
        took = max(0, took)  # one of two clocks may be slow
        attempts = trace.record.attempt
        known = {
            "took": seconds(took) if took else "",
            "worked": seconds(spent.seconds) if spent.seconds else "",
            "depth": self._texts(f"web-run-depth-{trace.record.options.depth}"),
            "reasoner": answer.reasoner if answer else "",
            "searches": _count(spent.searches),
            "pages-read": _count(spent.pages),
            "calls": _count(spent.model_calls),
            "tokens-in": _count(spent.input_tokens),
            "tokens-cached": _count(spent.cached_tokens),
            "tokens-out": _count(spent.output_tokens),
            "cost": usd(spent.usd) if spent.usd else "",
            "attempts": _count(attempts) if attempts > 1 else "",
            "feedback": _feedback_counts(Counter(trace.feedback.values())),
        }
        return {self._texts(f"web-run-{id}"): value for id, value in known.items() if value}

    @property
    def sections(self) -> list[str]:
        """Return the ids of the sections that the page has."""
        trace = self.trace
        there = {
            "answer": trace.answer,
            "checks": self.sentences,
            "verdicts": self.verdicts,
            "graph": self.graph,
            "steps": trace.spans,
            "searches": trace.searches,
            "pages": trace.pages,
            "revisions": trace.revisions,
        }
        return [id for id, is_there in there.items() if is_there]

    @property
    def checks(self) -> Iterator[Check]:
        texts, quotes, answer = self._texts, self.trace.quotes, self.trace.answer
        if answer is None:
            return
        found = sum(quote.is_verbatim is True for quote in quotes)
        there = sum(quote.is_verbatim is not None for quote in quotes)
        if there:
            yield _judged(found == there, texts("web-run-check-quotes", good=found, all=there))
        if answer.verification is not None:
            yield self._verified(answer.verification)
        cited = sum(bool(one.numbers) for one in self.sentences)
        yield "told", "•", texts("web-run-check-cited", cited=cited, all=len(self.sentences))
        if not answer.doubts:
            yield _judged(True, texts("web-run-check-no-doubt"))
        for doubt in answer.doubts:
            sentence = words_of(doubt.sentence)
            yield "doubtful", "", texts("unverified", sentence=sentence, reason=doubt.reason)
        for other in answer.disagreements:
            text = texts(
                "disagrees",
                sentence=words_of(other.sentence),
                number=str(other.number),
                quote=other.quote,
            )
            yield "doubtful", "", text
        for gap in answer.missing:
            yield "doubtful", "", texts("web-run-check-missing", what=gap)
        for note in answer.notes:
            yield "told", "•", note

    def _verified(self, found: Verification) -> Check:
        texts = self._texts
        if found.state == "pending":
            return "told", "•", texts("web-run-check-verifying")
        if not found.sentences:
            return "told", "•", texts("web-run-check-not-verified", problem=found.problem)
        good = sum(each.verdict == "supported" for each in found.sentences)
        count = len(found.sentences)
        text = texts("web-run-check-verified", good=good, all=count)
        return _judged(good == count, f"{text} {found.problem}" if found.problem else text)

    @property
    def verdicts(self) -> list[tuple[bool, VerifiedSentence]]:
        """Return the small model's verdicts on all cited sentences, doubtful ones first, and
        whether each is good."""
        found = self.trace.answer.verification if self.trace.answer else None
        told = [
            (one.verdict == "supported" and one.outcome == "kept", one)
            for one in (found.sentences if found else ())
        ]
        return sorted(told, key=lambda each: each[0])

    def _graph(self) -> Markup | str:
        nodes = [
            GraphNode(
                node.id,
                one_line(node.title),
                node.state,
                node.needs,
                f"#line-{node.id}",
                self._texts(f"web-run-step-{node.state}"),
            )
            for node in self.trace.nodes
        ]
        return draw_graph(nodes, self._texts("web-run-graph")) if len(nodes) > 1 else ""

    @property
    def breaks(self) -> str:
        """Return a sentence about long pauses, if there were any."""
        lost = sum(each.seconds for each in self.waterfall.breaks)
        return self._texts("web-run-paused", seconds=seconds(lost)) if lost else ""

    def waited(self, span: Span) -> str:
        """Return which sub-questions a span waited for, and how long."""
        titles = {each.id: each.title for each in self.trace.spans}
        needed = " · ".join(shortened(titles.get(id, id), 80) for id in span.needs)
        return self._texts("web-run-waited", seconds=seconds(span.waited), lines=needed)

    def words(self, quote: Quote) -> Markup:
        """Return the quoted words that support the sentence citing them; the page marks all."""
        return quote_html(quote.citation)

    def line(self, snippet: str) -> Markup:
        """Render a search result's excerpt of a page."""
        return Markup(line_html(snippet))  # noqa: S704 - sanitized there

    def excerpts(self, page: TracedPage) -> Markup:
        """Render a page's text around the quotes from it."""

        def gap(count: int) -> str:
            return self._texts("web-run-gap", count=count)

        return Markup(excerpt_html(page.kept.text or "", page.quoted, gap))  # noqa: S704 - sanitized there

    def tokens(self, call: ModelCall) -> str:
        """Format tokens in and out, and the price if it is known."""
        cached = f" (+{call.cached_tokens:,})" if call.cached_tokens else ""
        price = f" · {usd(call.usd)}" if call.usd else ""
        return f"{call.input_tokens:,}{cached} → {call.output_tokens:,}{price}"


def _feedback_counts(verdicts: Counter[str]) -> str:
    """Format the readers' feedback: +12 −3."""
    counted = (("+", verdicts["good"]), ("−", verdicts["bad"]))
    return " ".join(f"{sign}{count:,}" for sign, count in counted if count)


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _judged(is_good: bool, text: str) -> Check:
    return ("good", "✓", text) if is_good else ("doubtful", "⚠", text)


def _groups(sentences: Sequence[TracedSentence]) -> Iterator[Group]:
    for best, grouped in groupby(sentences, _best):
        together = list(grouped)
        for each in [together] if best else [[one] for one in together]:
            quotes = dict.fromkeys(quote for one in each for quote in one.quotes)
            others = tuple(quote for quote in quotes if quote not in best)
            yield Group(tuple((one, _html(one)) for one in each), best, others)


def _best(sentence: TracedSentence) -> tuple[Quote, ...]:
    """Return the best passage of each page that a sentence cites."""
    best: dict[int, Quote] = {}
    for quote in sentence.quotes:
        best.setdefault(quote.citation.number, quote)
    return tuple(best.values())[:BEST_QUOTES]


def _html(sentence: TracedSentence) -> Markup:
    text = sentence.markdown.strip()
    if sentence.kind == "row":
        text = " · ".join(filter(None, map(str.strip, _BORDER.split(text))))
    # On this page an answer's headings are one level higher than in a conversation.
    html = _HEADING.sub(lambda found: f"{found[1]}{int(found[2]) - 1}>", answer_html(text, {}))
    return Markup(html)  # noqa: S704 - sanitized there

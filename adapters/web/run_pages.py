"""The pages about runs: one for each run, the overview, and the metrics for Prometheus."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.auditing import Page, set_audit_object, with_audit
from adapters.web.clock import clock_of
from adapters.web.console import Console, operator_only, texts_of, visitor_of
from adapters.web.explaining import RunView
from adapters.web.figures import days_as_csv, document, unanswered_as_csv
from adapters.web.overview import Filters, OverviewView, Selection
from adapters.web.page_text import page_html
from adapters.web.places import copies_of
from adapters.web.reply_state import state_of
from adapters.web.sources import kind_of
from adapters.web.visibility import seeing
from bot.core.answers import StepView
from bot.core.errors import InvalidSetting
from bot.core.reader import Reader
from bot.operation.metrics import Metrics
from bot.reasoning.declaration import price_of
from bot.rendering.footnotes import link_target
from bot.research.outcomes import health
from bot.research.trace import page_of_trace, trace
from bot.storage.asked import AskedQuestions
from bot.storage.audit import Deed
from bot.storage.overview import Overview, Overviews
from bot.storage.records import RunRecord
from bot.storage.traces import KeptPage, KeptRun, Traces


def console_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of these pages."""
    pages = _RunPages(console)
    return [
        Route("/runs/{run}", with_audit(console, "read", "run", pages.run, "run")),
        Route("/runs/{run}/pages/{number:int}", with_audit(console, "read", "page", pages.page)),
        *_OverviewPages(console).routes,
        *_metrics(console),
    ]


class _RunPages:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._traces = Traces(console.store)
        self._root = console.settings.root

    async def run(self, request: Request) -> Response:
        """Show the page of one run."""
        kept = await self._traces.run(request.path_params["run"])
        if kept is None:
            raise _gone(request)
        await self._check(request, kept.record)
        reader = Reader.of_stored(kept.record.message, kept.record.options)
        if not seeing(self._console, request).may_see_run(kept, reader):
            raise _out_of_reach(request)
        plan = state_of(kept.record).plan
        # In a thread, because a long report would block the event loop for 50 ms.
        return await asyncio.to_thread(self._shown, request, kept, plan.steps if plan else ())

    async def page(self, request: Request) -> Response:
        """Show the whole stored text of a page, with its quotes marked."""
        run_id, number = request.path_params["run"], request.path_params["number"]
        set_audit_object(request, f"{run_id}/{number}")
        record = await self._console.store.run(run_id)
        if record is None:
            raise _gone(request)
        await self._check(request, record)
        kept = await self._traces.page(run_id, number, request.query_params.get("copy", ""))
        if kept is None:
            raise _gone(request)
        if not seeing(self._console, request).reach.allows(kept.url):
            raise _out_of_reach(request)
        return await asyncio.to_thread(self._shown_page, request, kept, record)

    def _shown(self, request: Request, kept: KeptRun, plan: Sequence[StepView]) -> Response:
        run_id, price = kept.record.id, partial(price_of, self._console.settings)
        return self._console.page(
            request,
            "run.html",
            view=RunView(trace(kept, price, plan), texts_of(request), self._root),
            link=link_target,
            page_link=lambda page: _page_path(run_id, page, self._root),
        )

    def _shown_page(self, request: Request, kept: KeptPage, record: RunRecord) -> Response:
        page = page_of_trace(kept, record.answer)
        return self._console.page(
            request,
            "run_page.html",
            page=page,
            html=Markup(page_html(kept.text or "", page.quoted, title=kept.title)),  # noqa: S704  (sanitized there)
            kind=kind_of(kept.url),
            link=link_target,
            back=f"{self._root}/runs/{record.id}#pages",
        )

    async def _check(self, request: Request, record: RunRecord) -> None:
        """Check that the visitor may see a run: their own, one of a chat, or a shared one."""
        console, thread = self._console, record.message.thread
        may = console.may_see(visitor_of(request), thread)
        if record.removed or not (may or await console.history.token_of(thread)):
            raise _gone(request)


class _OverviewPages:
    """The overview of a period, as a page and as files."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._overviews = Overviews(console.database)
        self._asked = AskedQuestions(console.database)

    @property
    def routes(self) -> list[BaseRoute]:
        pages: dict[str, tuple[Deed, Page]] = {
            "/overview": ("read", self.page),
            "/overview/unanswered": ("read", self.unanswered),
            "/overview/unanswered.csv": ("exported", self.unanswered_csv),
            "/overview/feedback": ("read", self.feedback),
            "/overview.csv": ("exported", self.csv),
            "/overview.json": ("exported", self.json),
        }
        return [
            Route(path, with_audit(self._console, deed, path[1:], operator_only(page)))
            for path, (deed, page) in pages.items()
        ]

    async def page(self, request: Request) -> Response:
        looked, found, now = await self._look(request)
        places, texts = await self._overviews.places(), texts_of(request)
        # In a thread, because it goes through a thousand searches.
        view = await asyncio.to_thread(OverviewView, found, places, looked, texts, now)
        scope = looked.scope(now, clock_of(request))
        return self._console.page(
            request,
            "overview.html",
            view=view,
            of_places=await self._asked.by_place(scope),
            of_collections=self._of_collections(request, await self._asked.quoted(scope)),
        )

    def _of_collections(
        self, request: Request, quoted: Sequence[tuple[str, str]]
    ) -> list[tuple[str, int, int]]:
        """Return for each collection ("": documents in none) how many answers quote it, and how
        many of its documents, without collections that the visitor may not read."""
        rights, reader = self._console.rights, visitor_of(request).reader
        reach = rights.reach(reader)
        try:
            roots = rights.roots
        except InvalidSetting:
            return []
        answers, documents = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for run, url in quoted:
            if reach.allows(url):
                bare = url.partition("#")[0]
                below = (r for r in roots if bare == r.address or bare.startswith(f"{r.address}/"))
                name = next((root.collection.name for root in below), "")
                answers[name].add(run)
                documents[name].add(bare)
        found = [(name, len(answers[name]), len(documents[name])) for name in answers]
        return sorted(found, key=lambda one: -one[1])

    async def unanswered(self, request: Request) -> Response:
        """Show questions that the documents do not answer."""
        looked, now, view = await self._view(request)
        found = await self._asked.unanswered(
            looked.scope(now, clock_of(request)), seeing(self._console, request).told
        )
        return self._console.page(request, "unanswered.html", view=view, found=found)

    async def unanswered_csv(self, request: Request) -> Response:
        looked, now, _ = await self._view(request)
        found = await self._asked.unanswered(
            looked.scope(now, clock_of(request)), seeing(self._console, request).told
        )
        return _as_csv(unanswered_as_csv(found), "footnote-unanswered.csv")

    async def feedback(self, request: Request) -> Response:
        """Show readers' feedback on answers."""
        looked, now, view = await self._view(request)
        said = await self._asked.feedback(
            looked.scope(now, clock_of(request)), seeing(self._console, request).told
        )
        return self._console.page(request, "feedback.html", view=view, said=said)

    async def _view(self, request: Request) -> tuple[Selection, datetime, Filters]:
        looked, texts = Selection.of(request.query_params), texts_of(request)
        return (
            looked,
            datetime.now(UTC),
            Filters(await self._overviews.places(), looked, texts),
        )

    async def csv(self, request: Request) -> Response:
        _, found, _ = await self._look(request)
        return _as_csv(days_as_csv(found.days), "footnote-overview.csv")

    async def json(self, request: Request) -> Response:
        _, found, _ = await self._look(request)
        providers = await asyncio.to_thread(health, found.searches)
        return JSONResponse(document(found, providers), headers={"Cache-Control": "no-store"})

    async def _look(self, request: Request) -> tuple[Selection, Overview, datetime]:
        now = datetime.now(UTC)
        looked = Selection.of(request.query_params)
        told = seeing(self._console, request).told
        found = await self._overviews.look(looked.scope(now, clock_of(request)), told)
        return looked, found, now


def _as_csv(text: str, name: str) -> Response:
    return Response(
        text,
        media_type="text/csv; charset=utf-8",
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{name}"',
        },
    )


def _metrics(console: Console) -> list[BaseRoute]:
    """Return the route of the metrics for Prometheus, which sends the console's token, if any."""
    metrics = Metrics(console.database, console.observed, console.settings)
    return [Route("/metrics", operator_only(metrics.answer))]


def _page_path(run: str, page: KeptPage, root: str) -> str:
    return f"{copies_of(run, root)}{page.number}?copy={page.hash}"


def _out_of_reach(request: Request) -> HTTPException:
    return HTTPException(403, texts_of(request)("answer-out-of-reach"))


def _gone(request: Request) -> HTTPException:
    return HTTPException(404, texts_of(request)("question-gone"))

"""Builds the application from its settings."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from bot.core.measurements import Observed, nothing_observed, unobserved
from bot.core.posting import Poster
from bot.core.settings import Settings
from bot.operation.console_access import run_page
from bot.pages.choosing import Chooser
from bot.pages.fetch import Fetcher
from bot.pages.processes import Shares
from bot.reasoning.closest_reasoner import Closest
from bot.reasoning.reasoner import chosen_reasoner, price_of
from bot.research.library import Library, Searching
from bot.research.strategies import check_strategy
from bot.rights.rights import Rights
from bot.search.registry import open_search
from bot.service.dispatch.attempts import Executor
from bot.service.dispatch.dispatcher import CONCURRENCY, Dispatcher, Role, open_dispatcher
from bot.service.research_service import ResearchService
from bot.storage.postgres import Connecting
from bot.storage.removal import PAGE_TTL
from bot.storage.store import Store, open_store

YOUNG_OBJECTS = 50_000
"""New objects before a garbage collection, in processes that run for days."""


@dataclass(frozen=True, slots=True)
class App:
    """A running Footnote application."""

    settings: Settings
    store: Store
    service: ResearchService
    dispatcher: Dispatcher


@asynccontextmanager
async def open_app(
    settings: Settings,
    posters: Mapping[str, Poster],
    *,
    search: Searching | None = None,
    store: Store | None = None,
    role: Role = "alone",
    observed: Observed | None = None,
    concurrency: int = CONCURRENCY,
) -> AsyncIterator[App]:
    """Open all parts; on exit, drain or release the runs in progress and close everything.

    ``search`` replaces the configured providers; ``store`` is an open store to use (and close).
    ``role`` is what this process does with runs; ``observed`` records the calls it makes,
    ``concurrency`` bounds the runs at once. Raises ``InvalidSetting`` and ``StorageUnavailable``.
    """
    check_strategy(settings)
    if role != "alone":
        Rights(settings).check()  # refuse unusable rights at the start, not at the first question
    async with AsyncExitStack() as stack:
        store = store or await open_store(settings.database, connecting=Connecting.of(settings))
        stack.push_async_callback(store.close)
        if search is None:
            search = open_search(
                settings, observe=observed.search_observer if observed else nothing_observed
            )
            if observed is not None:
                observed.resting = search.resting
        fetcher = Fetcher(
            settings,
            observe=observed.record_fetch if observed else unobserved,
            apart=role != "alone",
        )
        if observed is not None:
            observed.readers["pages"] = fetcher.readers
        library = Library(
            search,
            fetcher,
            store.recent_page,
            PAGE_TTL,
            largest=settings.fetch_max_bytes,
            chooser=Chooser(Shares(settings.reading_memory)),
        )
        stack.push_async_callback(library.aclose)
        price = partial(price_of, settings)
        observe = observed.model_observer if observed else nothing_observed
        opening = chosen_reasoner(settings).open(settings, observe, role != "alone")
        service = ResearchService(
            settings,
            store,
            library,
            reasoner=await stack.enter_async_context(opening),
            fallback=Closest,
            price=price,
            posters=posters,
            page_of=partial(run_page, settings),
        )
        executor: Executor = service
        if settings.otlp_url:
            from bot.operation.telemetry import exporting

            exported = exporting(settings, store, service, price)
            executor = await stack.enter_async_context(exported)
        dispatcher = await stack.enter_async_context(
            open_dispatcher(settings, store, executor, posters.keys(), role, concurrency)
        )
        if role != "alone":
            # Everything loaded so far stays alive. A full collection would traverse it every time
            # and block the event loop for about 0.2 s.
            gc.freeze()
            gc.set_threshold(YOUNG_OBJECTS)
        yield App(settings, store, service, dispatcher)

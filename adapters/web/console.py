"""The console's shared state, which every page uses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from cachetools import TTLCache
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from adapters.web.access.gate import Visitor
from adapters.web.display import SIDEBAR, language_of, texts_of, theme_of, zone_of
from adapters.web.html.plans import Parts
from adapters.web.limits import OPENINGS_KNOWN, SESSION_DAYS, STREAMS_OF_ONE_CLIENT
from adapters.web.live import Live, OpenStreams
from adapters.web.offers import Offers
from adapters.web.templating import Templates
from bot.core.errors import Unavailable
from bot.core.measurements import Observed
from bot.core.messages import Thread
from bot.core.rate_limit import Pace
from bot.core.settings import ChannelRules, Settings
from bot.core.texts import language_names, said
from bot.operation.console_access import Guesses
from bot.operation.diagnosis import Checks
from bot.pages.processes import Shares
from bot.pages.workers import Workers
from bot.rights.rights import Rights
from bot.service.correction_service import CorrectionService
from bot.service.reception import Reception
from bot.service.standing_service import StandingService
from bot.storage.archive import Archive
from bot.storage.audit_log import Audit
from bot.storage.console import History, SignIns
from bot.storage.conversations import Files
from bot.storage.database import Database
from bot.storage.store import Store
from bot.storage.word_search import FoundWords

QUESTIONS = 20  # that one client may ask in a minute
WORKSPACE = "console"  # the workspace of all web threads


class Console:
    """``reception`` is set while `footnote serve` listens, and None before and after; ``observed``
    are this process's own observations, which are not in the database."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        live: Live,
        key: bytes,
        observed: Observed,
    ) -> None:
        """``key`` signs what a browser brings back from an OpenID provider."""
        self.settings = settings
        self.database = database
        self.live = live
        self.key = key
        self.reception: Reception | None = None
        self.observed = observed
        self.rights = Rights(settings)
        self.offers = Offers(settings, self.rights)
        self.store = Store(database)
        self.archive = Archive(database)
        self.audit = Audit(database)
        self.history = History(database)
        self.standing = StandingService(database)
        self.corrections = CorrectionService(settings, database)
        self.words = FoundWords(database)
        self.templates = Templates(settings.root)
        self.parts = Parts(self.templates)
        self.guesses = Guesses(settings.console_token)
        self.questions = Pace(QUESTIONS)  # how many one client may ask
        # Visitor and page, for pages opened in the last hour: see ``visibility.with_stream_audit``.
        self.opened: TTLCache[tuple[str, str], bool] = TTLCache(OPENINGS_KNOWN, 3_600.0)
        self.streams = OpenStreams(STREAMS_OF_ONE_CLIENT)
        self.files = Files(database)
        self.checks = Checks(settings)
        # They check the files that people send.
        self.workers = Workers.single_process(Shares(settings.reading_memory))
        observed.readers["uploads"] = self.workers
        self.sign_ins: SignIns | None = None  # if nobody has to sign in
        if settings.oidc_issuer:
            self.sign_ins = SignIns(database, timedelta(hours=settings.oidc_session_hours))
        elif settings.console_token is not None:
            token = settings.console_token.get_secret_value()
            self.sign_ins = SignIns(database, timedelta(days=SESSION_DAYS), token)

    async def aclose(self) -> None:
        await self.checks.aclose()
        await self.workers.aclose()
        await self.offers.aclose()

    def open_reception(self) -> Reception:
        """Return the reception; respond with 503 while there is none."""
        if self.reception is None:
            raise Unavailable(said("web-starting"))
        return self.reception

    async def rules(self, thread: Thread) -> ChannelRules:
        """Return the rules of a thread's channel; none while there is no reception."""
        return ChannelRules() if self.reception is None else await self.reception.rules.of(thread)

    # ------------------------------------------------------------ pages

    def page(
        self, request: Request, template: str, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """Render a whole page. Besides its own values every template gets ``t`` (the texts of the
        reader's language), ``visitor``, ``path``, ``now``, ``documents`` (the progress of their
        indexing), ``threads`` (the list of the sidebar, or None) and the browser's preferences."""
        body = self.templates.fragment(
            template,
            texts_of(request),
            visitor=request.state.visitor,
            path=request.url.path,
            now=datetime.now(UTC),
            documents=self.observed.documents,
            theme=theme_of(request),
            language=language_of(request),
            languages=language_names(),
            zone=zone_of(request),
            sidebar_open=request.cookies.get(SIDEBAR) != "closed",
            **{"thread": None, "threads": getattr(request.state, "threads", None), **values},
        )
        return HTMLResponse(body, status_code=status, headers={"Cache-Control": "no-store"})

    # ------------------------------------------------------------ who may see what

    def may_see(self, visitor: Visitor, thread: Thread) -> bool:
        """Return True if a visitor may read one of a thread's runs. Anyone who knows the id of a
        run in a chat may look into its answer."""
        return thread.platform != "web" or self.may_see_all(visitor, thread)

    def may_see_all(self, visitor: Visitor, thread: Thread) -> bool:
        """Return True if a visitor may read a whole thread: their own, if visitors are identified.
        Chat threads, whose names can be guessed, are only for operators."""
        if visitor.operator:
            return True
        return thread.platform == "web" and thread.channel == visitor.channel


def download(body: str | bytes, name: str, media_type: str) -> Response:
    """Return a file to save, which a browser never shows as a page of the console."""
    return Response(
        body,
        media_type=media_type,
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )

"""The console's shared state, from which every page is made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from cachetools import TTLCache
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from adapters.web.addresses import provider_addresses
from adapters.web.clock import zone_of
from adapters.web.connected import Connected
from adapters.web.limits import OPENINGS_KNOWN, STREAMS_OF_ONE_CLIENT
from adapters.web.live import Live
from adapters.web.pace import OpenStreams, Pace
from adapters.web.parts import Parts
from adapters.web.preferences import LANGUAGES, language_of, theme_of
from adapters.web.templating import Templates
from adapters.web.visitors import Sessions, Visitor
from bot.conversing.reception import Reception
from bot.corrections.desk import CorrectionDesk
from bot.messages import Thread
from bot.observing import Observed
from bot.pages.processes import Shares
from bot.pages.workers import Workers
from bot.rendering.texts import Texts, texts_for
from bot.rights.rights import Rights
from bot.settings import ChannelRules, Settings
from bot.standing.desk import Desk
from bot.storage.archive import Archive
from bot.storage.audit import Audit
from bot.storage.database import Database
from bot.storage.files import Files
from bot.storage.found_words import FoundWords
from bot.storage.history import History
from bot.storage.sign_ins import SignIns
from bot.storage.store import Store

if TYPE_CHECKING:
    from adapters.web.provider import Provider

WORKSPACE = "console"  # of all threads on the web


class Console:
    """``reception`` is there once `footnote serve` listens, and ``None`` before and after;
    ``observed`` is what this process sees beside the database."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        live: Live,
        sessions: Sessions,
        observed: Observed,
    ) -> None:
        self.settings = settings
        self.database = database
        self.live = live
        self.sessions = sessions
        self.reception: Reception | None = None
        self.observed = observed
        self.rights = Rights(settings)
        self.connected = Connected(settings, self.rights, observed)
        self.store = Store(database)
        self.archive = Archive(database)
        self.audit = Audit(database)
        self.history = History(database)
        self.standing = Desk(settings, database)
        self.corrections = CorrectionDesk(settings, database)
        self.words = FoundWords(database)
        self.templates = Templates(settings.root)
        self.parts = Parts(self.templates)
        self.questions = Pace(settings.console_questions)  # how many one client may ask
        # Visitor and page of what was opened in the last hour: see ``auditing.followed``.
        self.opened: TTLCache[tuple[str, str], bool] = TTLCache(OPENINGS_KNOWN, 3_600.0)
        self.streams = OpenStreams(STREAMS_OF_ONE_CLIENT)
        self.files = Files(database)
        # They look at what people send.
        self.workers = Workers.for_a_look(Shares(settings.reading_memory))
        self.provider: Provider | None = None  # by which people sign in, if any
        self.sign_ins: SignIns | None = None
        if settings.oidc_issuer:
            from adapters.web.provider import Provider  # needs an extra

            self.provider = Provider(settings, provider_addresses(settings)[0])
            self.sign_ins = SignIns(database, timedelta(hours=settings.oidc_session_hours))

    async def aclose(self) -> None:
        await self.workers.aclose()
        await self.connected.aclose()

    def open_reception(self) -> Reception:
        """The reception that takes questions; answers 503 while there is none."""
        if self.reception is None:
            raise HTTPException(503, "Footnote is starting or ending: try again in a moment.")
        return self.reception

    async def rules(self, thread: Thread) -> ChannelRules:
        """The rules of a thread's channel; none while questions are not taken."""
        return ChannelRules() if self.reception is None else await self.reception.rules.of(thread)

    # ------------------------------------------------------------ pages

    def page(
        self, request: Request, template: str, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A whole page. Every template gets ``t`` (the texts of the reader's language),
        ``visitor``, ``path``, ``now``, ``documents`` (how far their indexing is) and what the
        browser prefers beside its own values."""
        body = self.templates.fragment(
            template,
            texts_of(request),
            visitor=request.state.visitor,
            path=request.url.path,
            now=datetime.now(UTC),
            documents=self.observed.documents,
            theme=theme_of(request),
            language=language_of(request),
            languages=LANGUAGES,
            zone=zone_of(request),
            **values,
        )
        return HTMLResponse(body, status_code=status, headers={"Cache-Control": "no-store"})

    # ------------------------------------------------------------ who may see what

    def may_see(self, visitor: Visitor, thread: Thread) -> bool:
        """Return True if someone may read one of a thread's runs: an answer in a chat may be looked
        into by anybody who has its run's name."""
        return thread.platform != "web" or self.may_see_all(visitor, thread)

    def may_see_all(self, visitor: Visitor, thread: Thread) -> bool:
        """Return True if someone may read a whole thread: where the proxy tells people apart,
        theirs is theirs, and threads of chats, whose names can be guessed, are for operators."""
        if visitor.operator:
            return True
        return thread.platform == "web" and thread.channel == visitor.channel


def visitor_of(request: Request) -> Visitor:
    """The visitor of a request, as the gate has determined."""
    visitor: Visitor = request.state.visitor
    return visitor


def texts_of(request: Request) -> Texts:
    """The texts of the reader's language."""
    return texts_for(asked_locale(request))


def asked_locale(request: Request) -> str:
    """The language that the reader has chosen, or else the one that the browser asks for."""
    return language_of(request) or locale_of(request.headers.get("accept-language", ""))


def locale_of(accepted: str) -> str:
    """The best of an ``Accept-Language`` header (RFC 9110 section 12.5.4) that there are texts
    for; English for none."""
    weighed: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted[:500].split(",")):
        tag, _, parameter = part.partition(";")
        try:
            weight = float(parameter.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        weighed.append((-weight, place, tag.strip()))
    for weight, _, tag in sorted(weighed):
        if weight < 0 and tag.lower().split("-")[0] in ("en", "zh"):
            return tag
    return "en"


def operator_only(page: Callable[..., Any]) -> Callable[..., Any]:
    """For a page that shows what everybody asked."""

    async def guarded(request: Request) -> Any:
        if not visitor_of(request).operator:
            raise HTTPException(403, "Only an operator of Footnote may see this.")
        return await page(request)

    return guarded

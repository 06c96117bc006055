"""The pages on which an operator connects chats and models: generic, from what these declare."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import visitor_of
from adapters.web.access.visibility import operator_only
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import form_of
from bot.core.errors import FootnoteError, Unavailable, sentence_for
from bot.core.plugins import Setup
from bot.core.settings import Settings
from bot.core.texts import Sentence, Texts, said
from bot.operation.configuration import env_name
from bot.operation.console_access import allows_setup
from bot.operation.kept_settings import KeptSettings, with_setting
from bot.reasoning.reasoner import CLOSEST, chosen_reasoner, reasoners
from bot.service.platform import platforms
from bot.service.reception import Reception

TEST_SECONDS = 20.0
LINE_SECONDS = 1.5  # that a page waits for what a check says
KNOWN_SECONDS = 60.0  # for which it is known
ENTERED_SECONDS, MOST_ENTERED = 600.0, 100  # forms whose other values were right
_HANDLE = re.compile(r"@[\w.-]*\w")


@dataclass(frozen=True, slots=True)
class Connectable:
    """A chat or a model that the console can connect. ``check`` and ``is_on`` take settings."""

    setup: Setup
    check: Callable[[Any], Awaitable[Sentence]]
    is_on: Callable[[Any], bool]


def connectables() -> dict[str, Connectable]:
    """Return all by name, chats first."""
    declared: Sequence[Any] = (*reversed(platforms().values()), *reasoners().values())
    return {
        each.name: Connectable(each.setup, each.check, each.is_on)
        for each in declared
        if each.setup
    }


def unconnected(settings: Settings) -> dict[str, str]:
    """Return the titles of chats by name if none is connected, and of models likewise."""
    known, chats = connectables(), platforms()
    has_chat = any(part.is_on(settings) for name, part in known.items() if name in chats)
    has_model = chosen_reasoner(settings).name != CLOSEST
    return {
        name: part.setup.title
        for name, part in known.items()
        if not (has_chat if name in chats else has_model)
    }


def connect_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of these pages."""
    pages = _ConnectPages(console)
    path = "/connect/{name}"
    return [
        Route(path, operator_only(pages.page)),
        Route(path, operator_only(pages.connect), methods=["POST"]),
        Route(f"{path}/drop", operator_only(pages.disconnect), methods=["POST"]),
    ]


class _ConnectPages:
    def __init__(self, console: Console) -> None:
        self._console = console
        # What was entered right beside something wrong, by client and name: it never goes back
        # into a page, and need not be entered again.
        self._entered: TTLCache[tuple[str, str], dict[str, str]] = TTLCache(
            MOST_ENTERED, ENTERED_SECONDS
        )
        self._tests: TTLCache[str, asyncio.Task[Sentence]] = TTLCache(MOST_ENTERED, KNOWN_SECONDS)

    async def page(
        self, request: Request, *, errors: Mapping[str, str] | None = None, lines: str = ""
    ) -> Response:
        """Show the page; ``errors`` are by field ("": of no field), ``lines`` those for .env."""
        console, texts = self._console, texts_of(request)
        name, part = self._named(request)
        state, problem, is_kept = await self._state(name, part)
        told = ""
        if state == "connected":
            told, problem = await self._told(name, part, texts)
            state = "failed" if problem else state if told else "checking"
        handle = _HANDLE.search(told)
        return console.page(
            request,
            "connect.html",
            status=422 if errors else 200,
            name=name,
            setup=part.setup,
            steps=part.setup.steps(),
            names=_names(part),
            state=state,
            problem=texts.say(problem),
            told=told,
            said=texts(part.setup.connected, name=handle[0] if handle else "@footnote"),
            is_kept=is_kept,
            is_allowed=allows_setup(console.settings),
            entered=self._entered.get((visitor_of(request).client, name), {}),
            errors=errors or {},
            lines=lines,
        )

    async def connect(self, request: Request) -> Response:
        """Test what was entered; keep it and restart with it, or only show it."""
        console, texts = self._console, texts_of(request)
        name, part, form, reception = await self._sent(request)
        key = visitor_of(request).client, name
        entered = self._entered.get(key, {})
        # People copy a value with the quotes that stand around it in a file.
        entered |= {
            field: form[field].strip(" \t\r\n\"'") for field in part.setup.fields if form.get(field)
        }
        errors = {
            field: texts("connect-missing") for field in part.setup.fields if not entered.get(field)
        }
        try:
            if not errors:
                settings = console.settings
                for field, value in entered.items():
                    settings = with_setting(settings, field, value)
                await _tested(part, settings)
                if form.get("way") != "lines":
                    await KeptSettings(reception.given, console.database).keep(entered)
        except FootnoteError as error:
            named = (one for one in part.setup.fields if env_name(one) in error.sentence)
            errors[next(named, "")] = sentence_for(error, texts)
        if errors:
            self._entered[key] = {one: entered[one] for one in entered if one not in errors}
            return await self.page(request, errors=errors)
        self._entered.pop(key, None)
        if form.get("way") == "lines":
            lines = "\n".join(f"{env_name(one)}={value}" for one, value in entered.items())
            return await self.page(request, lines=lines)
        reception.restart.set()
        return self._to(name)

    async def disconnect(self, request: Request) -> Response:
        name, part, _, reception = await self._sent(request)
        await KeptSettings(reception.given, self._console.database).drop(part.setup.fields)
        reception.restart.set()
        return self._to(name)

    def _to(self, name: str) -> Response:
        return RedirectResponse(f"{self._console.settings.root}/connect/{name}", status_code=303)

    def _named(self, request: Request) -> tuple[str, Connectable]:
        name = request.path_params["name"]
        if (part := connectables().get(name)) is None:
            raise HTTPException(404)
        return name, part

    async def _sent(
        self, request: Request
    ) -> tuple[str, Connectable, Mapping[str, str], Reception]:
        """Return the part, what was sent about it, and where it takes effect; respond with 403 if
        nothing may be set up here."""
        name, part = self._named(request)
        form = await form_of(request)
        if not allows_setup(self._console.settings):
            raise HTTPException(403, texts_of(request)("connect-off", names=_names(part)))
        return name, part, form, self._console.open_reception()

    async def _state(self, name: str, part: Connectable) -> tuple[str, Sentence, bool]:
        """Return its state, what is wrong, and whether something is kept for it."""
        console, reception = self._console, self._console.reception
        if reception is None or reception.restart.is_set():
            return "starting", "", False
        if part.is_on(reception.given):
            connection = console.observed.connections.get(name)
            return "given", connection.why if connection else "", False
        kept = await KeptSettings(reception.given, console.database).read()
        fields = part.setup.fields
        is_kept = not (kept.names | kept.problems.keys()).isdisjoint(fields)
        unreadable = (kept.problems[one] for one in fields if one in kept.problems)
        if not part.is_on(console.settings):
            problem = next(unreadable, console.observed.unusable if is_kept else "")
            return "failed" if problem else "off", problem, is_kept
        connection = console.observed.connections.get(name)
        if connection is None or connection.state == "connected":
            return "connected", "", is_kept
        state = "connecting" if connection.state == "connecting" else "failed"
        return state, connection.why, is_kept

    async def _told(self, name: str, part: Connectable, texts: Texts) -> tuple[str, str]:
        """Return what a check says, and what is wrong; two empty texts if it takes longer."""
        test = self._tests.get(name)
        if test is None:
            test = self._tests[name] = asyncio.create_task(_tested(part, self._console.settings))
        await asyncio.wait({test}, timeout=LINE_SECONDS)
        try:
            return (texts.say(test.result()) if test.done() else ""), ""
        except FootnoteError as error:
            return "", sentence_for(error, texts)


def _names(part: Connectable) -> str:
    return ", ".join(map(env_name, part.setup.fields))


async def _tested(part: Connectable, settings: Settings) -> Sentence:
    """Return what the check says, in time. Raises ``FootnoteError``."""
    try:
        async with asyncio.timeout(TEST_SECONDS):
            return await part.check(settings)
    except TimeoutError:
        raise Unavailable(said("check-slow", seconds=TEST_SECONDS)) from None

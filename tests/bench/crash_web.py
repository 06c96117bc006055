"""The web console in a crash campaign: programs that ask by the JSON API and follow their runs by
its event streams, and people who look at the pages meanwhile.

Each conversation has a person of its own, whom a proxy that is believed names.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from adapters.web.asking import ids_by
from tests.bench.crash_record import Row
from tests.fakes.mortal_postgres import MortalPostgres
from tests.fakes.proxy import Network
from tests.scenario.places import Post, Said
from tests.scenario.web_pages import AGAIN_SECONDS
from tests.scenario.web_place import BUSY_SECONDS, Sent, WebPlace

USER = "X-Campaign-User"
TOLD_AGAIN = 20  # questions, the latest ones


@dataclass
class Watch:
    """The events of a run that a program got from its stream, over however many connections."""

    run: str
    answers: list[Any] = field(default_factory=list)
    removed: bool = False
    resumed: int = 0  # times that it went on where it was
    over: bool = False
    heard: list[str] = field(default_factory=list)  # what became of each connection


class ConsolePlace(WebPlace):
    """Questions go through the JSON API; what people press goes through the pages' forms."""

    def __init__(self, network: Network, postgres: MortalPostgres) -> None:
        super().__init__(network)
        self._postgres = postgres
        self.watches: dict[str, Watch] = {}
        self._program = self.new_client()

    @property
    def settings(self) -> Mapping[str, str]:
        return {**super().settings, "FOOTNOTE_CONSOLE_USER_HEADER": USER}

    def headers(self, sent: Sent) -> dict[str, str]:
        return {**super().headers(sent), USER: f"ada-{sent.root}"}

    async def post_question(self, sent: Sent, thread: str) -> Any:
        asking = {"question": sent.text, "thread": thread}
        headers = {**self.headers(sent), "Idempotency-Key": sent.name}
        taken = await self.until_taken(
            sent, lambda: self._asking().post("/api/questions", json=asking, headers=headers)
        )
        if "run" in taken and taken["run"] not in self.watches:
            self.watches[taken["run"]] = Watch(taken["run"])
            self.begin(self._watch(self.watches[taken["run"]], self.headers(sent)))
        return taken

    def _asking(self) -> httpx.AsyncClient:
        """A program, which keeps no cookies."""
        self._program.cookies.clear()
        return self._program

    async def aclose(self) -> None:
        await self._program.aclose()
        await super().aclose()

    def limit(self, times: int) -> None:
        """The database is the platform: nobody changes a run for a second, so many times."""

        def hold() -> None:
            for _ in range(times):
                with self._postgres.connect() as db, db.transaction():
                    db.execute("LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE")
                    time.sleep(BUSY_SECONDS)

        threading.Thread(target=hold, name="limit").start()

    # ---- following runs

    async def _watch(self, watch: Watch, headers: dict[str, str]) -> None:
        last = ""
        while not watch.over:
            again = {"Last-Event-ID": last} if last else {}
            watch.resumed += bool(last)
            path = f"/api/runs/{watch.run}/events"
            try:
                async with self.client.stream("GET", path, headers={**headers, **again}) as answer:
                    watch.heard.append(str(answer.status_code))
                    watch.removed |= answer.status_code == 404
                    watch.over |= answer.status_code in (204, 404)
                    if answer.status_code == 200:
                        async for id in _ids(answer, watch):
                            last = id
                    watch.heard.append("end")
            except httpx.HTTPError as error:
                watch.heard.append(type(error).__name__)
            await asyncio.sleep(AGAIN_SECONDS)


async def _ids(answer: httpx.Response, watch: Watch) -> AsyncIterator[str]:
    """The ids of events, as they come."""
    kind = ""
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "id":
            yield value
        elif name == "data" and kind == "answer":
            watch.answers.append(json.loads(value))
            watch.over = not _is_pending(watch.answers[-1])
        elif name == "data" and kind == "removed":
            watch.removed = watch.over = True


class WebScene:
    """See ``crash_stage.Scene``."""

    def __init__(self, place: ConsolePlace) -> None:
        self.place = place

    def event_key(self, said: Said) -> str:
        return f"web:{ids_by(f'ada-{said.root}', said.id)[0]}"

    def taken(self, said: Said) -> bool | None:
        return bool(self.place.sent[said.id].run)

    def busy(self) -> bool:
        return not self.place.acknowledged()

    def mention(self) -> str:
        return ""

    def has_thread(self, said: Said) -> bool:
        return bool(self.place.sent[said.root].thread)

    def run_of(self, said: Said, post: Post) -> str:
        return post.id

    @property
    def hears_all(self) -> bool:
        return True  # people try again until they are told that it is done

    def replies(self, root: Said, stops: Sequence[Said]) -> list[Post]:
        return self.place.posts(root)

    def tell_again(self) -> None:
        self.place.tell_again(TOLD_AGAIN)

    def heard(self, root: Said) -> str:
        page = self.place.pages.get(root.root)
        return "nothing" if page is None else ", ".join(page.heard)

    def wrong_of(self, run: Row) -> Sequence[str]:
        """Its stream has brought the answer that was kept, once; before it only some that said
        themselves that they may be amended."""
        watch = self.place.watches[run.id]
        told = [(answer["answer"], _is_pending(answer)) for answer in watch.answers]
        final = [text for text, is_pending in told if not is_pending]
        wanted = [] if run.answer is None else [run.answer["text"]]
        is_right = final == wanted and not (told and told[-1][1])
        return [] if is_right else [f"heard {told}: {watch.heard}"]


def _is_pending(answer: Any) -> bool:
    return bool(answer["verification"] and answer["verification"]["state"] == "pending")

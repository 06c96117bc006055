"""A browser without scripts at the console of a running `footnote serve`, and its event streams."""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socket import SHUT_RDWR
from typing import Any

import httpx

from tests.fakes.screen import Seen, seen
from tests.scenario.gate import until

SECONDS = 60.0


@dataclass
class Told:
    """The events of a stream so far: kinds, data and ids."""

    events: list[tuple[str, Any, str]] = field(default_factory=list)
    ended: bool = False

    def kinds(self) -> list[str]:
        return [kind for kind, _, _ in self.events]

    def until(self, words: str) -> Any:
        """The data of the first event whose HTML holds these words."""

        def found() -> list[Any]:
            return [data for _, data, _ in self.events if words in data.get("html", "")]

        until(lambda: found() or self.ended, SECONDS)
        assert found(), (words, self.events)
        return found()[0]


class Browser:
    """At the console of a program; ``url`` is where that listens."""

    def __init__(self, url: str, **headers: str) -> None:
        told = {"Sec-Fetch-Site": "same-origin", **headers}
        self.client = httpx.Client(
            base_url=url, headers=told, timeout=SECONDS, follow_redirects=True
        )
        self.path = "/"
        self.page = ""

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *exc: object) -> None:
        self.client.close()

    def open(self, path: str) -> Seen:
        answer = self.client.get(path)
        answer.raise_for_status()
        self.path, self.page = answer.url.path, answer.text
        return seen(answer.text)

    def reload(self) -> Seen:
        return self.open(self.path)

    def ask(self, question: str, files: Mapping[str, bytes] | None = None, **fields: Any) -> Seen:
        """Fill in the form of the page that is open, and send it, with the files that are ticked
        and these."""
        form = re.search(r'<form id="ask".*?</form>', self.page, re.DOTALL)
        assert form is not None, self.page
        ticked = re.findall(r'name="again" value="([^"]+)" checked', form[0])
        written = {**_fields(form[0]), "question": question, "again": ticked, **fields}
        parts = [("files", part) for part in (files or {"": b""}).items()]
        return self._send("/ask", written, parts)

    def press(self, action: str, **fields: str) -> Seen:
        """Send a form whose address ends like this."""
        for form in re.findall(r'<form class="press.*?</form>', self.page, re.DOTALL):
            address = str(re.search(r'action="([^"]+)"', form)[1])  # type: ignore[index]
            if address.endswith(action):
                return self._send(address, {**_fields(form), **fields})
        raise AssertionError(f"no form for {action} in:\n{self.page}")

    def _send(self, path: str, fields: dict[str, Any], files: Any = None) -> Seen:
        kind = {} if files else {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self.client.post(path, data=fields, files=files, headers=kind)
        answer.raise_for_status()
        self.path, self.page = answer.url.path, answer.text
        return seen(answer.text)

    def until(self, words: str) -> Seen:
        """Reload until these words are to be seen and nothing is at work."""
        found: list[Seen] = []

        def there() -> bool:
            found[:] = [self.reload()]
            return words in found[0].text and not found[0].busy

        until(there, SECONDS)
        return found[0]

    @contextmanager
    def following(self, path: str, last: str = "") -> Iterator[Told]:
        """An event stream, read beside the block."""
        told = Told()
        headers = {"Last-Event-ID": last} if last else {}
        with self.client.stream("GET", path, headers=headers) as stream:
            assert stream.status_code == 200
            reader = threading.Thread(target=_read, args=(stream, told), daemon=True)
            reader.start()
            try:
                yield told
            finally:
                # Closing it would not wake who reads from it.
                with suppress(OSError):
                    stream.extensions["network_stream"].get_extra_info("socket").shutdown(SHUT_RDWR)
                reader.join(SECONDS)

    def following_thread(self) -> Any:
        """The stream that the open page would follow."""
        found = re.search(r'data-events="([^"]+)" data-since="([^"]*)"', self.page)
        assert found is not None
        return self.following(f"{found[1]}?since={html.unescape(found[2])}")


def _fields(form: str) -> dict[str, str]:
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in pairs}


def _read(stream: httpx.Response, told: Told) -> None:
    kind = id = ""
    try:
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "id":
                id = value
            elif name == "data":
                told.events.append((kind, json.loads(value), id))
                kind = id = ""
    except httpx.HTTPError:
        pass  # the program was killed, or the block has ended
    finally:
        told.ended = True

"""A piece of HTML as a reader sees it: its words, its buttons, and whether it is at work."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

OURS = frozenset(
    re.findall(
        r"\w+",
        "a article aside blockquote body br button circle code dd details div dl dt em fieldset "
        "figcaption figure footer form g h1 h2 h3 h4 h5 h6 head header hr html input kbd label "
        "legend li link main "
        "meta nav noscript ol option p path pre rect s script section select span strong sub "
        "summary sup svg table "
        "tbody td template text textarea th thead time title tr ul use",
    )
)
UNSEEN = ("template", "title", "script", "textarea")  # whose content a page does not show as text
EMPTY = ("br", "hr", "input", "link", "meta")


@dataclass
class Seen:
    """``strange`` are tags, declarations and links that no template of ours has."""

    text: str = ""
    buttons: list[str] = field(default_factory=list)
    busy: bool = False
    strange: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen = Seen()
        self._open: list[str] = []
        self._button: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in OURS:
            self.seen.strange.append(tag)
        self.seen.strange += [
            name for name in given if name.startswith("on") or name in ("style", "srcdoc")
        ]
        if given.get("href"):
            self.seen.links.append(str(given["href"]))
        self.seen.busy |= given.get("aria-busy") == "true"
        if tag == "button":
            self._button = []
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        if tag == "button" and self._button is not None:
            self.seen.buttons.append("".join(self._button).strip())
            self._button = None
        if tag in ("p", "li", "div", "blockquote", "h2", "h3", "td"):
            self.seen.text += "\n"

    def handle_data(self, data: str) -> None:
        if any(tag in UNSEEN for tag in self._open):
            return
        self.seen.text += data
        if self._button is not None:
            self._button.append(data)

    def handle_decl(self, decl: str) -> None:
        if decl.lower() != "doctype html":
            self.seen.strange.append(decl)

    def handle_comment(self, data: str) -> None:
        self.seen.strange.append(data)


def seen(html: str) -> Seen:
    """This HTML as a reader sees it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.seen

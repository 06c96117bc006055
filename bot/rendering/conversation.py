"""Exports a conversation as a Markdown document, for reading and filing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from bot.core.lines import label, one_line, titled
from bot.core.messages import Answer
from bot.core.reader import display_address
from bot.core.texts import DEFAULT, texts_for
from bot.rendering.footnotes import by_number, sources
from bot.rendering.safety import portable, without_pings, without_tags
from bot.storage.archive import Conversation, Held, StoredMessage

# Characters with a meaning in CommonMark, within a line and at its start
# (https://spec.commonmark.org).
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&]|^[-+=](?=\s|[-=]|$))", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))", re.MULTILINE)


def as_markdown(conversation: Conversation) -> str:
    """Questions and answers; under each answer, its sources with all quotes."""
    thread = conversation.thread
    parts = [
        f"# Conversation {_plain(thread.thread)}",
        f"{_plain(thread.platform)} · {_plain(thread.workspace)} · {_plain(thread.channel)} · "
        f"begun {_moment(conversation.began_at)}",
    ]
    for said in conversation.said:
        parts += _message(said)
    return "\n\n".join(parts) + "\n"


def _message(said: StoredMessage) -> Iterator[str]:
    yield f"## {_plain(label(said.author.name))}, {_moment(said.at)}"
    yield _quoted(said.text) if said.text else "*Deleted.*"
    for file in said.attachments:
        yield f"File: {_link(label(file.name), file.url)}"
    if said.run is not None:
        yield from _outcome(said.run)


def _outcome(run: Held) -> Iterator[str]:
    if run.answer is None:
        yield f"*No answer: the run {run.id} is {run.state}.*"
        return
    ended = f", {_moment(run.ended_at)}" if run.ended_at is not None else ""
    yield f"### Footnote{ended}"
    yield from _answer(run.answer)
    yield f"*Run {run.id}: {run.state}, {_plain(run.answer.reasoner)}*"


def answer_markdown(answer: Answer) -> str:
    """One answer with its sources, all quotes and its remarks."""
    return "\n\n".join(_answer(answer)) + "\n"


def _answer(answer: Answer) -> Iterator[str]:
    yield portable(answer.text, answer.targets.values())
    yield from _sources(answer)
    yield from map(_plain, _remarks(answer))


def _sources(answer: Answer) -> Iterator[str]:
    if not answer.citations:
        return
    yield "Sources:"
    headings = {view.number: view.headings for view in sources(answer, 0)}
    for number, cited in by_number(answer.citations):
        url = display_address(cited[0].url)
        lines = [f"- \\[{number}\\] {_link(titled(cited[0].url, cited[0].title) or url, url)}"]
        for heading in headings[number]:
            lines[0] += f" — {_plain(heading)}"
        for via in dict.fromkeys(citation.via for citation in cited if citation.via):
            lines[0] += f" ({_plain(texts_for(DEFAULT)('text-given-by', name=label(via)))})"
        for quote in dict.fromkeys(words for citation in cited for words in citation.proven):
            lines += ["", *(f"  {line}" for line in _quoted(_plain(quote, lines=True)).split("\n"))]
        yield "\n".join(lines)


def _remarks(answer: Answer) -> Iterator[str]:
    """Doubts, disagreements and notes."""
    for doubt in answer.doubts:
        yield f"⚠ {doubt.sentence} — {doubt.reason}"
    for other in answer.disagreements:
        yield f"⚖ {other.sentence} — but [{other.number}] says: “{other.quote}”"
    yield from map(label, answer.notes)


def _link(title: str, url: str) -> str:
    address = one_line(url).replace("<", "%3C").replace(">", "%3E")
    return f"[{_plain(title)}](<{address}>)"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _plain(text: str, *, lines: bool = False) -> str:
    """Text from users, models and pages, escaped so that it is not read as markup."""
    text = "\n".join(map(one_line, text.splitlines())) if lines else one_line(text)
    return _NUMBERED.sub(r"\1\\", _MARKUP.sub(r"\\\1", without_tags(without_pings(text))))


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"

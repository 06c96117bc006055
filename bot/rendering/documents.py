"""Answers and conversations as documents: JSON, Markdown, and references of their sources.

References are BibTeX by the BibLaTeX manual (type ``online``, with ``urldate``), and CSL-JSON by
its schema (https://docs.citationstyles.org/en/stable/specification.html).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from bot.core.lines import Kind, kind_of, label, one_line, titled
from bot.core.messages import Answer, Verification
from bot.core.reader import display_address
from bot.core.texts import DEFAULT, texts_for
from bot.pages.urls import domain
from bot.rendering.footnotes import by_number, link_target, sources
from bot.rendering.safety import portable, unwrapped, without_pings, without_tags
from bot.storage.archive import Conversation, Held, StoredMessage

# ---------------------------------------------------------------- JSON

# Characters that a terminal interprets or that cannot be encoded; JSON itself escapes C0.
_UNSEEN = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printed_json(document: object) -> str:
    """A document as JSON of several lines, safe to print: control characters are escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def answer_document(answer: Answer) -> dict[str, Any]:
    """The document of ``--json``; seconds rounded to milliseconds, money to millionths."""
    targets = answer.targets.values()
    with_words = {citation.number for citation in answer.citations if citation.proven}
    usage = asdict(answer.usage)
    usage["seconds"] = round(usage["seconds"], 3)
    usage["usd"] = round(usage["usd"], 6)
    return {
        "status": answer.status,
        "answer": unwrapped(answer.text, targets),
        "citations": [
            {
                "number": c.number,
                "url": display_address(c.url),
                "kind": kind_of(c.url),
                "title": label(c.title),
                "heading": label(c.heading),
                "quote": words,
                "via": label(c.via),
            }
            for c in answer.citations
            for words in c.proven or (() if c.number in with_words else ("",))
        ],
        "question": answer.question,
        "queries": list(answer.queries),
        "reasoner": answer.reasoner,
        "steps": [
            {
                "kind": s.kind,
                "title": label(s.title),
                "state": s.state,
                "seconds": round(s.seconds, 3),
            }
            for s in answer.steps
        ],
        "usage": usage,
        "doubts": [asdict(doubt) for doubt in answer.doubts],
        "disagreements": [asdict(other) for other in answer.disagreements],
        "changes": [
            {"before": unwrapped(one.before, targets), "after": unwrapped(one.after, targets)}
            for one in answer.changes
        ],
        "corrects": answer.corrects,
        "notes": list(map(label, answer.notes)),
        "suggestions": list(answer.suggestions),
        "missing": list(answer.missing),
        "verification": _verification(answer.verification),
        "run": answer.run,
    }


def _verification(found: Verification | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "state": found.state,
        "problem": found.problem,
        "sentences": [asdict(each) for each in found.sentences],
    }


# ---------------------------------------------------------------- Markdown

# Characters with a meaning in CommonMark, within a line and at its start
# (https://spec.commonmark.org).
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&]|^[-+=](?=\s|[-=]|$))", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))", re.MULTILINE)


def as_markdown(conversation: Conversation, title: str = "") -> str:
    """Questions and answers, below a title or else the thread's id; under each answer, its sources
    with all quotes."""
    thread = conversation.thread
    parts = [
        f"# {_plain(title or f'Conversation {thread.thread}')}",
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


# ---------------------------------------------------------------- references

# Characters with a meaning in TeX.
_TEX = re.compile(r"[\\{}$&#^_~%]")
_TEX_FOR = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
_NO_NAME = re.compile(r"[^a-z0-9]+")
_KINDS: Mapping[Kind, str] = {"conversation": "Message", "correction": "Correction"}


@dataclass(frozen=True, slots=True)
class Reference:
    """A source that answers cite. ``url`` is "" for a document that is not on the web; ``read_at``
    is when it was read, if known.
    """

    name: str
    title: str
    url: str
    site: str
    read_at: datetime | None
    kind: Kind = "web"


def references(
    answers: Iterable[Answer], dates: Mapping[tuple[str, str], datetime]
) -> list[Reference]:
    """The pages that the answers cite, each once, in order. ``dates`` gives the time at which each
    copy of a page (URL and hash) was read.
    """
    found: dict[str, Reference] = {}
    for answer in answers:
        for cited in answer.citations:
            if cited.url in found:
                continue
            site = domain(display_address(cited.url))
            stem = _NO_NAME.sub("", site.lower()) or "document"
            found[cited.url] = Reference(
                name=f"{stem}-{len(found) + 1}",
                title=label(cited.title) or site or label(cited.url),
                url=link_target(cited.url),
                site=site,
                read_at=dates.get((cited.url, cited.page_hash)),
                kind=kind_of(cited.url),
            )
    return list(found.values())


def as_bibtex(references: Sequence[Reference]) -> str:
    """A ``@online`` entry for each web page, a ``@misc`` entry for each other document."""
    return "\n".join(map(_entry, references))


def as_csl(references: Sequence[Reference]) -> str:
    return json.dumps([_item(each) for each in references], ensure_ascii=False, indent=2) + "\n"


def _entry(one: Reference) -> str:
    # ``link_target`` has removed everything else that could end the braces.
    url = one.url.replace("{", "%7B").replace("}", "%7D").replace("%", r"\%").replace("#", r"\#")
    fields = {
        "title": f"{{{_tex(one.title)}}}",
        "organization": _tex(one.site),
        "url": url,
        "note": _KINDS.get(one.kind, ""),
        "urldate": one.read_at.strftime("%Y-%m-%d") if one.read_at else "",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    kind = "online" if one.url else "misc"
    return "\n".join([f"@{kind}{{{one.name},", *lines, "}", ""])


def _tex(text: str) -> str:
    return _TEX.sub(lambda found: _TEX_FOR.get(found[0], f"\\{found[0]}"), text)


def _item(one: Reference) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": one.name,
        "type": "webpage" if one.url else "document",
        "title": one.title,
    }
    if one.url:
        item |= {"container-title": one.site, "URL": one.url}
    if genre := _KINDS.get(one.kind):
        item["genre"] = genre
    if one.read_at:
        at = one.read_at
        item["accessed"] = {"date-parts": [[at.year, at.month, at.day]]}
    return item

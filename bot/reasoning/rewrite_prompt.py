"""Rewriting: the request to the small model, and its reply as a validated ``Rewritten``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, cast, get_args

from bot.core.messages import Attachment, Entry, Message, Transcript
from bot.pages.urls import dedupe_key, domain, hosts_in, links_said
from bot.reasoning.calls import (
    BOOLEAN,
    INTEGER,
    STRING,
    ModelReply,
    Request,
    Unusable,
    clean,
    element,
    json_object,
    line,
    lines,
    list_of,
    middle_out,
    name,
    object_of,
    one_of,
    person,
    prompt,
    shorten,
    title,
    user_turn,
)
from bot.reasoning.evidence import Kind, Rewritten, Scope
from bot.reasoning.tool_loop import today
from bot.reasoning.wording import (
    answers_in,
    asides,
    corrected,
    is_taken,
    language_of,
    last_answer,
    of_thread,
    pages_of,
    which_sources,
    with_numbers,
    with_pages,
)
from bot.search.filters import NO_FILTER, Filter
from bot.search.provider import Freshness, Talk
from bot.text.terms import terms

ENTRIES = 12  # messages of the thread
PERSONS = 1_500  # characters of a person's message
OURS = 700  # characters of our answers: enough for their topic
PICTURE = 3_000  # characters of what a picture shows
THREAD = 9_000  # characters of all messages; the newest are kept
TITLE = 400  # characters of a source's title by which it is recognized
SOURCES = 3_000  # characters of the titles cited by earlier answers
MESSAGE = 20_000  # characters of the newest message
QUERIES = 8
QUERY = 200  # characters
CORRECTION = 500  # characters
MAX_TOKENS = 4_096  # of the reply: a chat reply may be long
STANDS_ALONE = 400  # characters; standalone messages up to this length are unchanged
DOMAINS = 5
PEOPLE = 5  # authors of messages to search for
NAMED = 3  # folders, documents, kinds of files to search in

DEPTHS = ("quick", "standard", "deep")
SCHEMA = object_of(
    kind=one_of(*get_args(Kind)),
    for_us=BOOLEAN,
    question=STRING,
    queries=list_of(STRING),
    knowledge_queries=list_of(STRING),
    links=list_of(STRING),
    sources=list_of(INTEGER),
    whole=BOOLEAN,
    rework=BOOLEAN,
    freshness=one_of(*filter(None, get_args(Freshness))),
    domains=list_of(STRING),
    region=STRING,
    team=BOOLEAN,
    people=list_of(STRING),
    after=STRING,
    before=STRING,
    within=list_of(STRING),
    language=STRING,
    depth=one_of(*DEPTHS),
    long_form=BOOLEAN,
    reply=STRING,
    correction=STRING,
) | {"required": ["kind"]}
"""Other properties are optional, so that defaults cost no tokens: every call waits for this reply.
The API allows at most 24 optional properties, and writes required ones first and the others in this
order (platform.claude.com, "Structured outputs").
"""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_REGION = re.compile(r"[A-Za-z]{2}")
_SAYS_LITTLE = frozenset(("www", "com", "org", "net", "edu", "gov", "docs"))  # of hosts


def rewrite_request(
    model: str, transcript: Transcript, message: Message, instructions: str, now: datetime
) -> Request:
    """Return the request for one message, with the latest part of its thread."""
    left, first = asides(transcript), max(0, len(transcript.entries) - ENTRIES)
    latest = enumerate(transcript.entries[first:], first)
    entries = [_entry(entry, is_aside=at in left) for at, entry in latest]
    while entries and sum(map(len, entries)) > THREAD:
        entries.pop(0)
    older = transcript.entries[: len(transcript.entries) - len(entries)]
    older_sources = "; ".join(filter(None, map(_sources, reversed(older))))
    asked = clean(middle_out(message.text, MESSAGE)).strip()
    parts = [today(now)]
    if entries:
        parts.append(element("conversation", "\n".join(entries)))
    if older_sources:
        parts.append(element("older_sources", shorten(older_sources, SOURCES)))
    if instructions.strip():
        parts.append(element("operator", clean(instructions).strip()))
    if message.attachments:
        names = ", ".join(line(attachment.name, 100) for attachment in message.attachments)
        parts.append(f"Files sent with the newest message: {names}")
    parts += _pictures(message.attachments)
    to = {"to": "thread"} if message.unaddressed else {}
    to |= {"corrects": "last answer"} if message.corrects_run else {}
    parts.append(element("new_message", asked, **{"from": person(message.author.name)}, **to))
    return Request(
        model, MAX_TOKENS, prompt("rewrite"), user_turn("\n\n".join(parts)), schema=SCHEMA
    )


def parse_rewrite(reply: ModelReply, transcript: Transcript, message: Message) -> Rewritten:
    """Parse the reply to a ``Rewritten``. Raises ``Unusable``."""
    given = json_object(reply)
    kind = _kind(given.get("kind"))
    if message.unaddressed and given.get("for_us") is False:
        return Rewritten("chat", message.text, for_us=False)
    question = given.get("question", "")
    if not isinstance(question, str):
        raise Unusable('"question" must be a string.')
    links = _links(given.get("links"), transcript, message)
    numbers = given.get("sources")
    numbers = [n for n in numbers if isinstance(n, int)] if isinstance(numbers, list) else []
    said = {dedupe_key(url) for url in (*links_said(message.text), *message.links)}
    cited = [url for url in links if dedupe_key(url) not in said]
    recalled = [*with_numbers(transcript, numbers), *with_pages(transcript, cited)]
    links = tuple(dict.fromkeys((*links, *pages_of(recalled))))
    if kind == "links":
        files = tuple(file.url for file in message.attachments)
        links = links or tuple(links_said(message.text)) or message.links or files
    chat = str(given.get("reply") or "").strip() if kind == "chat" else ""
    said_so = given.get("correction") if corrected(transcript, message.corrects_run) else ""
    correction = line(said_so, CORRECTION) if isinstance(said_so, str) else ""
    language = _language(given.get("language"), transcript, message)
    asked = " ".join(clean(question or message.text).split())
    answers = answers_in(transcript)
    if kind == "sources" and (recalled or answers):
        return which_sources(recalled or answers[-1:], asked, language)
    if kind == "thread" and answers:
        return of_thread(transcript, asked, language)
    earlier, last = "", last_answer(transcript)
    if given.get("rework") is True and kind != "chat" and last is not None:
        kind, links, earlier, recalled = "links", pages_of([last]), last.text, [last]
        question = question or f"{last.question} {message.text}"
    if kind in ("sources", "thread"):
        kind = "search"
    if (kind == "chat" and not (chat or correction)) or (kind == "links" and not links):
        kind = "search"
    question = " ".join(clean(question).split()) if kind != "chat" else message.text.strip()
    if not question or (not correction and _stands_alone(message, transcript, question)):
        question = " ".join(message.text.split())
    queries = lines(given.get("queries"), QUERY)[:QUERIES]
    knowledge = lines(given.get("knowledge_queries"), QUERY)[:QUERIES]
    if kind == "search":
        queries = queries or knowledge
        if not (queries or links):
            queries = (shorten(" ".join(question.split()), QUERY),)
        knowledge = knowledge or queries
    depth = given.get("depth")
    return Rewritten(
        kind=kind,
        question=question,
        queries=queries,
        knowledge_queries=knowledge,
        links=links,
        language=language,
        depth=depth if depth in DEPTHS else "standard",
        long_form=given.get("long_form") is True,
        reply=chat,
        # An answer is reworked from its passages, those relevant to its question.
        whole=kind == "links" and given.get("whole") is True and not earlier,
        scope=_scope(given, transcript, message) if kind == "search" else Scope(),
        only=_only(given) if kind == "search" else NO_FILTER,
        earlier=earlier,
        recalled=tuple(recalled) if kind == "links" else (),
        correction=correction,
    )


# ---------------------------------------------------------------- the thread


def _entry(entry: Entry, *, is_aside: bool) -> str:
    if entry.role == "footnote":
        about = {"question": entry.question} if entry.question else {}
        sources = {"sources": named} if (named := _sources(entry)) else {}
        text = shorten(clean(entry.text).strip(), OURS)
        return element("message", text, **{"from": "Footnote"}, **about, **sources)
    text = clean(middle_out(entry.text, PERSONS)).strip()
    text = "\n".join((text, *_pictures(entry.files)))
    names = "; ".join(line(file.name, 100) for file in entry.at_hand)
    about = {"files": names} if names else {}
    if is_aside:
        about["to"] = "people"
    return element("message", text, **{"from": person(entry.name)}, **about)


def _pictures(files: Sequence[Attachment]) -> list[str]:
    """Render what the pictures among files show."""
    return [
        element("picture", clean(middle_out(file.shows, PICTURE)).strip(), name=file.name)
        for file in files
        if file.shows
    ]


def _sources(entry: Entry) -> str:
    """Render the footnotes of an answer: number, title and host of each page."""
    pages = {cited.number: cited for cited in reversed(entry.cited)}
    named = []
    for number in sorted(pages):
        cited = pages[number]
        host = domain(cited.url) if cited.url.startswith("http") else ""
        named.append(
            f"[{number}] {title(cited.url, cited.title, 100)}" + (f" ({host})" if host else "")
        )
    return "; ".join(named)


# ---------------------------------------------------------------- the reply


def _kind(value: Any) -> Kind:
    for kind in get_args(Kind):
        if value == kind:
            return cast("Kind", kind)
    raise Unusable('"kind" must be one of: search, links, sources, thread, chat.')


def _stands_alone(message: Message, transcript: Transcript, question: str) -> bool:
    """Return True if a short message is kept unchanged, despite the model's rewording."""
    if len(message.text.strip()) > STANDS_ALONE:
        return False
    return not is_taken(transcript, message, question)


def _links(value: Any, transcript: Transcript, message: Message) -> tuple[str, ...]:
    """Return those of the named links that people sent or our answers cite, and the files of the
    thread that are named.

    The model must not invent addresses, nor must the one that wrote an answer: a page could make it
    write an address with content of the conversation, which would then be fetched.
    """
    people = [entry for entry in transcript.entries if entry.role == "person"]
    sent = [message.text, *(entry.text for entry in people)]
    cited = [citation for entry in transcript.entries for citation in entry.cited]
    files = [file for entry in people for file in entry.at_hand]
    known = {name(file.name, TITLE).casefold(): file.url for file in files}
    known |= {name(c.title, TITLE).casefold(): c.url for c in cited}
    known |= {dedupe_key(c.url): c.url for c in cited}
    known |= {dedupe_key(url): url for text in sent for _, url in hosts_in(text)}
    known |= {dedupe_key(url): url for text in sent for url in links_said(text)}
    known |= {dedupe_key(url): url for url in message.links}
    items = value if isinstance(value, list) else ()
    named = (item.strip() for item in items if isinstance(item, str))
    found = (known.get(_key(url, known)) for url in named)
    return tuple(dict.fromkeys(url for url in found if url is not None))


def _key(named: str, known: dict[str, str]) -> str:
    """Return the key of an address as written by the model: without scheme, with a full stop after
    it, or as the title of a source."""
    if (called := name(named, TITLE).casefold()) in known:
        return called
    said = links_said(named) or [address for _, address in hosts_in(named)] or [named]
    return dedupe_key(named) if dedupe_key(named) in known else dedupe_key(said[0])


def _scope(given: dict[str, Any], transcript: Transcript, message: Message) -> Scope:
    """Return the scope of the search; a host counts only if it was at least named."""
    freshness = given.get("freshness")
    region = given.get("region")
    wanted = given.get("domains")
    people = (entry.text for entry in transcript.entries if entry.role == "person")
    hosts_cited = (domain(c.url) for e in transcript.entries for c in e.cited if _is_web(c.url))
    said = set(terms(" ".join((message.text, *people, *hosts_cited))))
    hosts = (
        domain(f"https://{item.strip().removeprefix('https://').removeprefix('http://')}")
        for item in (wanted if isinstance(wanted, list) else ())
        if isinstance(item, str)
    )
    named = (host for host in hosts if "." in host and _is_named(host, said))
    return Scope(
        freshness=next((f for f in get_args(Freshness) if f and f == freshness), ""),
        domains=tuple(dict.fromkeys(named))[:DOMAINS],
        region=region.upper() if isinstance(region, str) and _REGION.fullmatch(region) else "",
        talk=_talk(given),
    )


def _talk(given: dict[str, Any]) -> Talk:
    """Return the search of conversations requested by a reply."""
    people = given.get("people")
    named = people if isinstance(people, list) else ()
    return Talk(
        first=given.get("team") is True,
        after=_day(given.get("after")),
        before=_day(given.get("before")),
        people=tuple(clean(name).strip() for name in named if isinstance(name, str))[:PEOPLE],
    )


def _only(given: dict[str, Any]) -> Filter:
    """Return the filter of documents requested by a reply."""
    named = tuple(lines(given.get("within"), TITLE)[:NAMED])
    return Filter(named, _day(given.get("after")), _day(given.get("before")))


def _day(value: Any) -> str:
    try:
        return date.fromisoformat(value).isoformat() if isinstance(value, str) else ""
    except ValueError:
        return ""


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _is_named(host: str, said: set[str]) -> bool:
    labels = [label for label in host.split(".")[:-1] if label not in _SAYS_LITTLE]
    return any(said.issuperset(terms(label)) for label in labels if len(label) > 2)


def _language(value: Any, transcript: Transcript, message: Message) -> str:
    if isinstance(value, str) and _LANGUAGE.fullmatch(value.strip()):
        return value.strip()
    return language_of(transcript, message)

"""Functions of the product that read a text which strangers or models write."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import GeneratorType

from adapters.discord import format as discord
from adapters.slack import format as slack
from adapters.slack.incoming import SlackMessage, parse_message
from adapters.slack.mrkdwn import unescape, without_mention
from adapters.web.html.markdown import answer_html
from adapters.web.html.page_text import page_html
from bot.core.messages import Answer, Citation, Entry, Transcript
from bot.core.texts import texts_for
from bot.pages.passages import Passage
from bot.reasoning.closest_passages import choose, quoted, unknown_names
from bot.reasoning.closest_reasoner import question_of as rewrite
from bot.reasoning.evidence import Evidence, Rewritten, Source
from bot.rendering import (
    documents,
    footnotes,
    markdown_parts,
    markdown_tables,
    marks,
    phrases,
    safety,
)
from bot.research.checking import cited_claim, doubt
from bot.research.proof import proof
from bot.search.engines import plain
from bot.text.facts import facts, missing_from
from bot.text.names import names
from tests.unit.product_patterns import product_modules
from tests.unit.samples import NOW, a_message

Reader = Callable[[str], object]

# Packages whose functions of one text have no effects.
_PURE = (
    *("bot.text", "bot.rendering", "bot.reasoning", "bot.core.messages", "bot.service.reception"),
    *(
        "bot.pages",
        "bot.search",
        "bot.research",
        "bot.service.answer_changes",
        "bot.core.errors",
    ),
    *("adapters.slack", "adapters.discord", "adapters.web", "adapters.terminal"),
)
# They start processes or read files; docutils is slow by itself, in a process with a limit.
_NOT_PURE = (
    *("bot.pages.processes", "bot.pages.workers", "bot.pages.pool", "bot.pages.fetch"),
    *(
        "bot.pages.browser",
        "bot.pages.retrieval",
        "bot.pages.browser_process",
        "bot.pages.choosing",
    ),
    *("bot.search.folders", "adapters.web.templating"),
    *("bot.text.patterns", "bot.search.embedder"),
)


def readers_of_text() -> dict[str, Reader]:
    """By name: the pure functions that need one text only."""
    return {
        f"{module.__name__}.{name}": function
        for module in product_modules()
        if module.__name__.startswith(_PURE) and not module.__name__.startswith(_NOT_PURE)
        for name, value in vars(module).items()
        if (function := _of_one_text(value, module.__name__)) is not None
    }


def caches() -> list[Callable[[], None]]:
    """Empties each cache of results by text."""
    return [
        value.cache_clear
        for module in product_modules()
        for value in vars(module).values()
        if hasattr(value, "cache_parameters") and inspect.signature(value).parameters
    ]


def _of_one_text(value: object, module: str) -> Reader | None:
    function = inspect.unwrap(value) if callable(value) else None
    if not inspect.isfunction(function) or function.__module__ != module:
        return None
    if inspect.iscoroutinefunction(function):
        return None
    parameters = inspect.signature(function).parameters.values()
    needed = [
        each.annotation
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    return partial(_of_any_text, function) if needed == ["str"] else None


def _of_any_text(function: Reader, text: str) -> None:
    with suppress(Exception):  # it may want an address, a figure or a page
        found = function(text)
        if isinstance(found, GeneratorType):
            list(found)


# ---------------------------------------------------------------- with arguments

_ENGLISH = texts_for("en")
_URL = "https://example.org/tower"
_CITED = Citation(1, _URL, "Tower", "The tower is 330 m tall.", "hash", 0, 24)
_THREAD = Transcript(
    (
        Entry("person", "Ada", "How tall is the tower?"),
        Entry(
            "footnote",
            "Footnote",
            "The tower is 330 m tall [1].",
            "How tall is the tower?",
            (_CITED,),
        ),
    )
)


def _answer(text: str) -> Answer:
    return Answer(status="answered", text=text, question="How tall?", run="r", citations=(_CITED,))


def _source(text: str) -> tuple[Source, Passage]:
    passage = Passage(0, len(text), text)
    return Source(1, _URL, "Tower", (passage,), "hash", NOW), passage


def _slack_message(text: str) -> SlackMessage:
    """A message with the text in a cell of a table, struck out, forwarded and as its fallback."""
    struck = {"type": "text", "text": text, "style": {"strike": True}}
    line = {"type": "rich_text_quote", "elements": [struck]}
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": text}]]}
    blocks = [{"type": "rich_text", "elements": [line]}, table]
    attachments = [{"is_share": True, "text": text, "author_name": text, "channel_name": text}]
    sent = {"ts": "1.1", "user": "U1", "text": text, "blocks": blocks, "attachments": attachments}
    return parse_message(sent, "C1")


WITH_ARGUMENTS: dict[str, Reader] = {
    "a question": lambda text: rewrite(Transcript(), a_message(text)),
    "a follow-up": lambda text: rewrite(_THREAD, a_message(text)),
    "the choice of passages": lambda text: choose(text, Evidence(sources=(_source(text)[0],))),
    "a closest passage": lambda text: quoted(
        Rewritten("links", "How tall?"), Evidence(sources=(_source(text)[0],))
    ),
    "unknown names": lambda text: unknown_names(text, {}),
    "names": lambda text: list(names(text, "en")),
    "facts missing": lambda text: missing_from(facts("It is 330 m tall, says Ada Lovelace."), text),
    "facts claimed": lambda text: missing_from(facts(text), "It is 330 m tall."),
    "a claim": lambda text: doubt(
        cited_claim(text, [_source("It is 330 m tall.")]).text,
        [_source("It is 330 m tall.")],
        _ENGLISH,
    ),
    "a quote": lambda text: doubt("It is 330 m tall.", [_source(text)], _ENGLISH),
    "a proof": lambda text: proof(text, ["It is 330 m tall."]),
    "a proven claim": lambda text: proof("It is 330 m tall.", [text]),
    "marks": lambda text: marks.normalise(text, {1}),
    "marks that are quoted": lambda text: marks.normalise(text, {1}, lambda words: True),
    "marks renumbered": lambda text: marks.renumbered(text, {1: 2}),
    "links": lambda text: safety.defuse(text, {}),
    "addresses": lambda text: safety.without_autolinks(text, {}),
    "portable": lambda text: safety.portable(text, (_URL,)),
    "parts": lambda text: markdown_parts.split(text, 3_000),
    "phrases": lambda text: list(phrases.cut(text, 300)),
    "tables": lambda text: markdown_tables.with_plain_tables(text, 80),
    "excerpts": lambda text: footnotes.excerpts(text, 300),
    "conversation": lambda text: documents.answer_markdown(_answer(text)),
    "console": lambda text: answer_html(text, {1: _URL}),
    "slack": lambda text: slack.markdown(text, {1: _URL}),
    "slack, a message": lambda text: without_mention(unescape(text, {}), "U1"),
    "slack, parts of a message": lambda text: _slack_message(text).markdown({}),
    "slack, an answer": lambda text: slack.final(_answer(text), _ENGLISH, depth="auto"),
    "discord": lambda text: discord.as_markdown(text, {1: _URL}),
    "discord, an answer": lambda text: discord.format_answer(_answer(text), _ENGLISH),
    "discord, a question": lambda text: discord.echo(text, "Ada", _ENGLISH),
    "a snippet": plain,
    "a page in the console": lambda text: page_html(text),
}

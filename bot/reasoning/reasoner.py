"""Reasoners: their protocols, their declaration, the choice by the settings, and the cost of
replies.

A reasoner decides; it never searches, fetches or stores. The core (``bot.research``) carries out
its actions and maintains the workspace. A package declares a reasoner by a ``Declaration`` in its
entry point group ``footnote.reasoners``; Footnote's own are found in the same way.

Every method must be a pure function of its arguments and of the replies to its model calls, so that
an interrupted run can be replayed from its journal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from bot.core.errors import InvalidSetting
from bot.core.measurements import Observe
from bot.core.messages import Message, Transcript
from bot.core.plugins import Setup, load_parts
from bot.core.settings import Price, Settings
from bot.core.texts import Sentence
from bot.pages.pictures import Picture
from bot.reasoning.calls import ModelCalls, ModelReply, Tokens
from bot.reasoning.evidence import (
    AnswerDelta,
    Claim,
    Evidence,
    Manuscript,
    Paragraph,
    Restated,
    Rewritten,
    Statement,
    SubQuestion,
    Turn,
    Verdict,
    Workspace,
)

if TYPE_CHECKING:
    from bot.reasoning.graphs import Graph, GraphEdit
    from bot.reasoning.model_service import Service

OnAnswer = Callable[[AnswerDelta], None]
Pairs = Sequence[tuple[str, str]]  # an earlier sentence and its present replacement


class Reasoner(Protocol):
    """Makes a message a standalone question, and writes an answer from what was gathered for it.

    Every method raises ``ModelUnavailable``, ``CredentialsRefused``, ``ModelRefused``,
    ``ModelBroken`` or ``BudgetSpent``, and no other errors of its own.
    """

    name: str

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten: ...

    def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]: ...


@runtime_checkable
class Researcher(Reasoner, Protocol):
    """A reasoner that also decides what to search and read; every model is one.

    The best ``opens`` pages of a search are shown to it with the hits: if a turn takes seconds,
    choosing them would cost more than showing one unnecessarily.
    """

    opens: int

    async def see(self, pictures: Sequence[Picture]) -> tuple[str, ...]:
        """Return the text of each of a few pictures and what else they show, as Markdown; "" for
        one that shows nothing. Also raises ``PictureUnread`` if the model does not see."""
        ...

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        """Return the next actions. ``on_answer`` may get the deltas of a ``Reply`` before the turn
        is complete; a ``Restart`` revokes them."""
        ...

    async def plan(self, question: SubQuestion, graph: Graph) -> GraphEdit:
        """Return initial or additional sub-questions; a malformed reply becomes the edit's
        problem."""
        ...

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """Return the paragraphs of a report, 3 to 8 if there is enough material.

        ``evidence`` is from a first overview; the model's memory is used too.
        """
        ...

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """Return 1 to 3 queries, unlike those sent before, for pages to check the current paragraph
        against."""
        ...

    def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """Yield the current paragraph, corrected against the evidence and using nothing else.

        Its heading may come first. What was not found comes last, as a block quote; if nothing was
        found, the whole text is one.
        """
        ...

    async def statements(self, text: str) -> tuple[Statement, ...]:
        """Return the statements of a text to be checked, in order; if many, the most important."""
        ...

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
    ) -> tuple[Verdict | None, ...]:
        """Judge whether the quotes of each claim of a text support it; None if unknown. The text
        (Markdown) answers the question, if that is not "". A claim ``anywhere`` may also rest on
        quotes of the others."""
        ...

    async def compare(self, question: str, pairs: Pairs) -> tuple[bool | None, ...]:
        """Judge whether the earlier and the present sentence of each pair mean the same; None if
        unknown."""
        ...

    async def restate(
        self,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        verdicts: Sequence[Verdict],
        others: Sequence[Claim] = (),
    ) -> tuple[Restated, ...]:
        """Reword unsupported claims of an answer so that their quotes support them, or those of its
        ``others``."""
        ...


ReasonerFactory = Callable[[ModelCalls], Reasoner]


HOUR = 2.0  # times the input price, for cache writes kept for an hour (Claude)


def configured_price(settings: Settings, reply: ModelReply) -> float | None:
    """Return the USD for one reply, including interrupted attempts; None if the settings have no
    price for its model."""
    price = settings.prices.get(reply.model)
    return None if price is None else sum(cost(price, tokens) for tokens in reply.attempts)


def cost(price: Price, tokens: Tokens) -> float:
    """Return the USD for one attempt."""
    hour = HOUR * price.input if price.cache_write_hour is None else price.cache_write_hour
    return (
        tokens.input * price.input
        + tokens.output * price.output
        + max(0, tokens.cache_write - tokens.hour_write) * price.cache_write
        + tokens.hour_write * hour
        + tokens.cache_read * price.cache_read
    ) / 1_000_000


ENTRY_POINTS = "footnote.reasoners"
CLOSEST = "closest"  # used if nothing else is chosen, or the model is away


@dataclass(frozen=True, slots=True)
class Models:
    """The names of the large and the small model at their service."""

    large: str
    small: str


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Declaration(Generic[S]):
    """A reasoner as its package declares it, in a module that loads no SDK.

    ``name`` selects it in FOOTNOTE_REASONER, and before a colon in FOOTNOTE_MODEL. ``settings`` is
    its own subclass of ``Settings``, or that class. ``open`` yields a factory that makes a reasoner
    per run; ``Observe`` records the calls of each model, and the flag is False if the SDK may be
    imported in the background. ``check`` says what works, for `footnote doctor`, and raises
    ``FootnoteError``, which says what to do. ``is_on`` returns True if the settings ask for
    it while FOOTNOTE_REASONER is auto, ``needed`` if doctor must fail when it is unreachable.
    ``models`` returns None if it has none; ``service`` opens their service, for calls outside a
    run. ``price`` returns the USD for a reply, None if unknown; ``setup`` is how the console
    connects it. ``open``, ``models`` and ``service`` raise ``InvalidSetting`` or
    ``CredentialsRefused`` if the settings cannot work.
    """

    name: str
    settings: type[S]
    open: Callable[
        [S, Callable[[str], Observe], bool], AbstractAsyncContextManager[ReasonerFactory]
    ]
    check: Callable[[S], Awaitable[Sentence]]
    is_on: Callable[[S], bool] = lambda settings: False
    needed: Callable[[S], bool] = lambda settings: True
    models: Callable[[S], Models | None] = lambda settings: None
    service: Callable[[S], Service[Any]] | None = None
    price: Callable[[S, ModelReply], float | None] = configured_price
    setup: Setup | None = None


@cache
def reasoners() -> dict[str, Declaration[Any]]:
    """Return all reasoners by name, Footnote's own and those of other packages.

    Raises ``InvalidSetting`` for a package whose reasoner cannot be loaded.
    """
    found = load_parts(ENTRY_POINTS, Declaration, "reasoner")
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def chosen_reasoner(settings: Settings) -> Declaration[Any]:
    """Return the reasoner chosen by the settings. Raises ``InvalidSetting`` for an unknown one."""
    known = reasoners()
    if settings.reasoner != "auto":
        if settings.reasoner not in known:
            names = ", ".join(("auto", *known))
            raise InvalidSetting(
                f"FOOTNOTE_REASONER is {settings.reasoner!r}: set it to one of {names}."
            )
        return known[settings.reasoner]
    named = settings.model.partition(":")[0] if ":" in settings.model else ""
    if named in known:
        return known[named]
    able = (each for each in known.values() if isinstance(settings, each.settings))
    on = next((each for each in able if each.is_on(settings)), None)
    if on is None and named and "model" in settings.model_fields_set:
        services = " or ".join(f"{each.name}:" for each in known.values() if each.service)
        raise InvalidSetting(
            f"FOOTNOTE_MODEL is {settings.model!r}, but there is no reasoner {named!r}: begin it "
            f"with {services}, or unset it to be answered with quotations."
        )
    return on or known[CLOSEST]


def models_of(settings: Settings) -> Models | None:
    """Return the models of the chosen reasoner, or None."""
    return chosen_reasoner(settings).models(settings)


def who_answers(settings: Settings) -> str:
    """Return the name of the large model, or of the reasoner if it has none."""
    models = models_of(settings)
    return models.large if models else chosen_reasoner(settings).name


def price_of(settings: Settings, reply: ModelReply) -> float | None:
    """Return the USD for a reply of any reasoner's model, or None if its price is unknown."""
    prices = (each.price(settings, reply) for each in reasoners().values())
    return next((usd for usd in prices if usd is not None), None)


def without_name(model: str, name: str) -> str:
    """Return a model's name at its service: ``gpt-a`` for ``openai:gpt-a``."""
    return model.removeprefix(f"{name}:")

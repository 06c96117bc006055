"""Results and failures of steps, as the journal stores them for the next attempt."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter

from bot.core.errors import (
    Broken,
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    ModelBroken,
    ModelRefused,
    ModelUnavailable,
    Refused,
    StorageUnavailable,
    Unavailable,
)
from bot.core.messages import OWN_WORDS, Provenance
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Cut,
    Judged,
    Restart,
    Suggested,
    TextDelta,
)
from bot.search.provider import Hit

# A provider's failure begins with its name (``search.blend``), at the start or after a sentence.
_NAMED = re.compile(r"(?:^|(?<=[.!?] ))([a-z][a-z0-9_-]*): ")


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The stored result of a search step. ``problem`` is set if no provider could answer, ``said``
    is its wording for the asker; ``withheld`` is the reason if the query was not sent to the web;
    ``rarity`` and ``missing`` are as in ``search.blend.SearchResult``.
    """

    hits: tuple[Hit, ...]
    failures: tuple[str, ...] = ()
    problem: str = ""
    said: str = ""
    rarity: dict[str, float] = field(default_factory=dict)
    missing: int = 0
    withheld: str = ""


def failures_in(told: Iterable[str]) -> list[tuple[str, str]]:
    """Return the providers named in sentences about failed searches, each with its message."""
    said: dict[str, str] = {}
    for text in told:
        parts = _NAMED.split(text)
        for name, sentence in zip(parts[1::2], parts[2::2], strict=True):
            said.setdefault(name, sentence.strip())
    return list(said.items())


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """The stored result of a read step: where the page is stored, or the ``problem`` and its
    wording for the asker (``said``). ``made_from`` as in ``Page``."""

    url: str
    hash: str = ""
    title: str = ""
    problem: str = ""
    said: str = ""
    made_from: Provenance = OWN_WORDS


@dataclass(frozen=True, slots=True)
class StreamOutcome:
    """The stored result of a streamed model call: its deltas, with adjacent text joined, and its
    reply."""

    deltas: tuple[TextDelta | CitationDelta | Cut | Suggested, ...]
    reply: ModelReply


def keep(kept: list[TextDelta | CitationDelta | Cut | Suggested], part: AnswerDelta) -> None:
    """Add a delta to the list, joining text of the same block; a restart clears the list."""
    last = kept[-1] if kept else None
    if isinstance(part, Restart):
        kept.clear()
    elif (
        isinstance(part, TextDelta)
        and isinstance(last, TextDelta)
        and not part.opens
        and part.verbatim == last.verbatim
    ):
        kept[-1] = replace(last, text=last.text + part.text)
    elif not isinstance(part, Judged):  # which models never send
        kept.append(part)


T = TypeVar("T")

# Kinds of errors, subclasses before their base classes, with the text to show in other languages
# than English.
KINDS: dict[type[FootnoteError], str] = {
    ModelUnavailable: "model-away",
    CredentialsRefused: "model-key-refused",
    ModelRefused: "model-declined",
    ModelBroken: "model-unusable",
    Unavailable: "peer-away",
    Refused: "peer-refused",
    Broken: "reply-unusable",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """A stored error: its kind and its words."""

    kind: str
    sentence: str
    text_id: str = ""
    limit: float = 0.0

    @classmethod
    def of(cls, error: FootnoteError) -> Failure:
        if isinstance(error, BudgetSpent):
            return cls("BudgetSpent", error.sentence, error.text_id, error.limit)
        kind = next((kind for kind in KINDS if isinstance(error, kind)), Broken)
        return cls(kind.__name__, error.sentence)

    @property
    def error(self) -> FootnoteError:
        """Rebuild the error."""
        if self.kind == "BudgetSpent":
            return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)
        kind = next((kind for kind in KINDS if kind.__name__ == self.kind), Broken)
        return kind(self.sentence)


_failure = TypeAdapter(Failure)


class Keeping(Protocol):
    """The part of ``research.run.Run`` that stores results."""

    now: datetime

    async def keep(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        work: Callable[[], Awaitable[T]],
        shape: TypeAdapter[T],
        *,
        title: str,
    ) -> T: ...

    def recorded(self, kind: str, inputs: Mapping[str, Any], shape: TypeAdapter[T]) -> T | None: ...


async def attempted(
    run: Keeping, work: Callable[[], Awaitable[T]], *, inputs: Mapping[str, Any]
) -> T:
    """Do ``work``, or raise its error again if it failed on an earlier attempt; ``inputs`` identify
    the work. Raises what it raises."""
    inputs = {**inputs, "asked": run.now.isoformat()}  # an edited question starts over
    earlier = run.recorded("failure", inputs, _failure)
    if earlier is not None:
        raise earlier.error
    try:
        return await work()
    except StorageUnavailable:
        raise  # it cannot be stored either
    except (BudgetSpent, Unavailable, Refused, Broken) as error:
        failure = Failure.of(error)

        async def kept() -> Failure:
            return failure

        await run.keep("failure", inputs, kept, _failure, title="")
        raise

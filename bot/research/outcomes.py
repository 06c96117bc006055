"""Results and failures of steps as the journal stores them, and how an answer's notes word them."""

from __future__ import annotations

import re
from collections import UserList
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.core.errors import (
    Broken,
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    Invalid,
    InvalidSetting,
    ModelBroken,
    ModelRefused,
    ModelUnavailable,
    Refused,
    Unavailable,
    sentence_for,
)
from bot.core.lines import label, shortened
from bot.core.messages import OWN_WORDS, Attachment, Provenance
from bot.core.texts import DEFAULT, Texts
from bot.pages.urls import display_url
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Cut,
    Judged,
    Restart,
    Scope,
    Suggested,
    TextDelta,
)
from bot.search.conversation_search import day_of
from bot.search.filters import Filter
from bot.search.guarded import without_rest
from bot.search.provider import Hit, Spent, Unread
from bot.storage.overview import StoredSearch

TITLES, TITLE = 3, 60  # of documents named in a note, and the characters of each
# A provider's failure begins with its name (``search.blend``), at the start or after a sentence.
_NAMED = re.compile(r"(?:^|(?<=[.!?] ))([a-z][a-z0-9_-]*): ")


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The stored result of a search step. ``problem`` is set if no provider could answer, ``said``
    is its wording for the asker; ``withheld`` is the reason if the query was not sent to the web;
    ``rarity``, ``missing`` and ``spent`` are as in ``search.blend.SearchResult``.
    """

    hits: tuple[Hit, ...]
    failures: tuple[str, ...] = ()
    problem: str = ""
    said: str = ""
    rarity: dict[str, float] = field(default_factory=dict)
    missing: int = 0
    withheld: str = ""
    spent: tuple[Spent, ...] = ()


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

# Kinds of errors, subclasses before their base classes, with the text that askers are shown. Their
# own sentences are for operators, who can do something about them.
KINDS: dict[type[FootnoteError], str] = {
    ModelUnavailable: "model-away",
    CredentialsRefused: "model-away",
    InvalidSetting: "model-away",
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
        if self.kind == "BudgetSpent":
            return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)
        kind = next((kind for kind in KINDS if kind.__name__ == self.kind), Broken)
        return kind(self.sentence)


stored_failure = TypeAdapter(Failure)


class Notes(UserList[str]):
    """Distinct sentences in the asker's language. ``attachments`` are the message's files, by the
    URL where a person opens them. Reasons without a translation stay in their original words.
    With ``for_operator``, the asker is the operator, as in a terminal."""

    def __init__(
        self, texts: Texts, attachments: Mapping[str, Attachment], *, for_operator: bool = False
    ) -> None:
        super().__init__()
        self._for_operator = for_operator
        self._texts = texts
        self._attachments = attachments
        self._has_unindexed = False
        self.worded: dict[str, str] = {}  # a reason → its wording for the asker
        self.unseen: list[str] = []  # those on what was not read or searched

    def say(self, sentence: str) -> str:
        """Add a sentence unless it is there; returns it."""
        if sentence not in self:
            self.append(sentence)
        return sentence

    def error(self, error: FootnoteError, consequence: str) -> str:
        """Add an error with its consequence for the answer (the id of a text)."""
        return self.say(self._with_consequence(error, consequence))

    def instead(self, error: FootnoteError, consequence: str) -> str:
        """Return the sentences of an error for use elsewhere, and drop the note of the same error
        with another consequence."""
        described = self.described(error)
        self.data = [note for note in self.data if not note.startswith(described)]
        return self._with_consequence(error, consequence)

    def _with_consequence(self, error: FootnoteError, consequence: str) -> str:
        """Return an error and its consequence as sentences in the asker's language."""
        space = "" if self._texts.locale.startswith(("ja", "zh")) else " "
        return f"{self.described(error)}{space}{self._texts(consequence)}"

    def of_search(self, sentence: str) -> str:
        """Return the sentence on failed providers in the asker's language."""
        names = ", ".join(name for name, _ in failures_in([sentence]))
        if self._texts.locale == DEFAULT or not names:
            return without_rest(sentence)
        return self._texts("search-unanswered", names=names)

    def unindexed(self, count: int) -> None:
        """Add a note that ``count`` documents were not searchable yet; only the first call
        counts."""
        if not self._has_unindexed:
            self._has_unindexed = True
            self.say(self._texts("documents-unindexed", count=count))

    def lacking(self, found: Unread, cited: Sequence[str]) -> None:
        """Add a note of documents that are incomplete, or of files that are not read where none is
        cited."""
        if found.partly:
            names = [shortened(label(title), TITLE) for title in found.partly[:TITLES]]
            names += ["…"] * (len(found.partly) > TITLES)
            self.not_seen(self._texts("documents-partly", names="; ".join(names)))
        if found.failed and not cited:
            self.not_seen(self._texts("documents-failed", names="; ".join(found.failed)))
        if found.endings and not cited:
            kinds, count, files = found.kinds, found.count, found.files
            self.not_seen(self._texts("documents-unread", count=count, files=files, kinds=kinds))

    def of_page(self, error: FootnoteError) -> str:
        """Return why a page cannot be read, in the asker's language."""
        if error.text_id or self._texts.locale == DEFAULT:
            return sentence_for(error, self._texts)
        kinds = ((Unavailable, "page-away"), (Refused, "page-refused"))
        text_id = next((id for kind, id in kinds if isinstance(error, kind)), "page-unreadable")
        return self._texts(text_id)

    def unread(self, url: str, reason: str) -> str:
        """Add a note that a link or file of the asker could not be read."""
        reason = self.worded.get(reason, reason)
        file = self._attachments.get(url)
        name = file.name if file else display_url(url)
        if self._texts.locale == DEFAULT:
            reason = _of_it(name, reason)
        elif name in reason:  # elsewhere a pronoun in its place needs the right gender
            return self.not_seen(reason)
        if file:
            return self.not_seen(self._texts("file-not-read", name=name, reason=reason))
        return self.not_seen(self._texts("link-not-read", url=url, reason=reason))

    def not_seen(self, sentence: str) -> str:
        """Add a sentence on what was not read or searched: an answer shows it to all."""
        if sentence not in self:
            self.unseen.append(sentence)
        return self.say(sentence)

    def widened(self, scope: Scope) -> str:
        """Add a note that the search found nothing within the asker's restriction."""
        return self.say(
            self._texts(
                "search-widened",
                freshness=scope.freshness or "any",
                domains=", ".join(scope.domains) or "any",
            )
        )

    def narrowed(self, only: Filter) -> str:
        """Add a note on the filter of documents that the question names."""
        return self.not_seen(self._texts("documents-narrowed", only=self._named(only)))

    def widened_from(self, only: Filter) -> str:
        """Add a note that no document within a filter has anything."""
        return self.not_seen(self._texts("documents-widened", only=self._named(only)))

    def unmatched(self, only: Filter, near: Sequence[str]) -> str:
        """Return a sentence on a filter that means no document; ``near`` are similar names."""
        names = "; ".join(shortened(label(name), TITLE) for name in near) or "none"
        return self._texts("documents-unmatched", only=self._named(only), names=names)

    def _named(self, only: Filter) -> str:
        after, before = (
            day_of(date.fromisoformat(day)) if day else "none" for day in (only.after, only.before)
        )
        dated = ""
        if only.after or only.before:
            dated = self._texts("documents-dated", after=after, before=before)
        return ", ".join(filter(None, (*map(label, only.named), dated)))

    def described(self, error: FootnoteError) -> str:
        """Return an error's sentence for the asker, in their language if there is a translation;
        an operator's own has the cause."""
        if isinstance(error, BudgetSpent) and error.limit:
            return self._texts(error.text_id, limit=error.limit)
        if isinstance(error, Invalid) and error.text_id:
            return sentence_for(error, self._texts)
        if self._for_operator and self._texts.locale == DEFAULT:
            return error.sentence
        text_id = next((id for kind, id in KINDS.items() if isinstance(error, kind)), "")
        return self._texts(text_id) if text_id else error.sentence


def _of_it(name: str, reason: str) -> str:
    """Return a reason without the name it begins with, for use after that name."""
    of_address = reason.removeprefix(f"The address {name} cannot be read: ")
    if of_address != reason:
        return of_address
    rest = reason.removeprefix(f"{name} ")
    return reason if rest == reason else f"it {rest}"


_search = TypeAdapter(SearchOutcome)


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """One provider's results. ``hits`` counts its hits among the best, from ``found`` searches;
    ``failed`` counts its failed searches. ``last_failure`` is its latest error sentence, at
    ``failed_at``."""

    name: str
    found: int = 0
    hits: int = 0
    failed: int = 0
    last_failure: str = ""
    failed_at: datetime | None = None


def health(searches: Iterable[StoredSearch]) -> tuple[ProviderHealth, ...]:
    """Return an entry for each provider in the searches, by name; ``searches`` are latest first."""
    found: dict[str, ProviderHealth] = {}
    for search in searches:
        try:
            outcome = _search.validate_json(search.result)
        except ValidationError:
            continue  # stored by a version of Footnote with another format
        names = [hit.provider for hit in outcome.hits]
        for name in dict.fromkeys(names):
            known = found.get(name, ProviderHealth(name))
            found[name] = replace(known, found=known.found + 1, hits=known.hits + names.count(name))
        for name, sentence in failures_in((*outcome.failures, outcome.problem)):
            known = found.get(name, ProviderHealth(name))
            found[name] = replace(
                known,
                failed=known.failed + 1,
                last_failure=known.last_failure or sentence,
                failed_at=known.failed_at or search.at,
            )
    return tuple(found[name] for name in sorted(found))

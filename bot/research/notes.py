"""Notes in an answer about its own run: a spent budget, a page that could not be read."""

from __future__ import annotations

from collections import UserList
from collections.abc import Mapping

from bot.core.errors import BudgetSpent, FootnoteError, Refused, Unavailable
from bot.core.messages import Attachment
from bot.core.texts import DEFAULT, Texts
from bot.pages.urls import display_url
from bot.reasoning.evidence import Scope
from bot.research.outcomes import KINDS, failures_in
from bot.search.guarded import without_rest


class Notes(UserList[str]):
    """Distinct sentences in the asker's language. ``attachments`` are the message's files, by the
    URL where a person opens them. Reasons without a translation stay in their original words."""

    def __init__(self, texts: Texts, attachments: Mapping[str, Attachment]) -> None:
        super().__init__()
        self._texts = texts
        self._attachments = attachments
        self._has_unindexed = False
        self.worded: dict[str, str] = {}  # a reason → its wording for the asker

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
        space = "" if self._texts.locale.startswith("zh") else " "
        return f"{self.described(error)}{space}{self._texts(consequence)}"

    def price_unknown(self, model: str) -> str:
        """Add a note that the price of a model is unknown."""
        return self.say(self._texts("price-unknown", model=model))

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

    def of_page(self, error: FootnoteError) -> str:
        """Return why a page cannot be read, in the asker's language."""
        if self._texts.locale == DEFAULT:
            return error.sentence
        kinds = ((Unavailable, "page-away"), (Refused, "page-refused"))
        text_id = next((id for kind, id in kinds if isinstance(error, kind)), "page-unreadable")
        return self._texts(text_id)

    def unread(self, url: str, reason: str) -> str:
        """Add a note that a link or file of the asker could not be read."""
        reason = self.worded.get(reason, reason)
        if url in self._attachments:
            name = self._attachments[url].name
            return self.say(self._texts("file-not-read", name=name, reason=_of_it(name, reason)))
        return self.say(
            self._texts("link-not-read", url=url, reason=_of_it(display_url(url), reason))
        )

    def widened(self, scope: Scope) -> str:
        """Add a note that the search found nothing within the asker's restriction."""
        return self.say(
            self._texts(
                "search-widened",
                freshness=scope.freshness or "any",
                domains=", ".join(scope.domains) or "any",
            )
        )

    def described(self, error: FootnoteError) -> str:
        """Return an error's sentence, in the asker's language if there is a translation."""
        if isinstance(error, BudgetSpent) and error.limit:
            return self._texts(error.text_id, limit=error.limit)
        if self._texts.locale == DEFAULT:
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

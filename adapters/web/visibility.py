"""Limits what a visitor sees of a run, by the rights to the documents it uses."""

from __future__ import annotations

import re
from dataclasses import replace

from starlette.requests import Request

from adapters.web.console import Console, texts_of, visitor_of
from adapters.web.reply_state import ReplyState
from adapters.web.turns import Turn
from adapters.web.visitors import Visitor
from bot.core.messages import OWN_WORDS, PlanView, Provenance, Telling, Wording
from bot.core.reader import Reach, Reader, conversations_in, for_reader, telling
from bot.core.texts import Texts
from bot.rights.rights import Rights
from bot.storage.archive import KeptRun
from bot.storage.tables import UNFINISHED

# The URL of a document in JSON text: it is ASCII, without quotation marks and backslashes.
_DOCUMENT = re.compile(r"(?:file:///|mcp:/|correction:/)[!#-\[\]_a-z~]+", re.IGNORECASE)


class Visibility:
    """The current rights of one visitor, read again for each request."""

    def __init__(self, rights: Rights, visitor: Visitor, texts: Texts) -> None:
        self._rights = rights
        self._visitor = visitor
        self._texts = texts

    @property
    def reach(self) -> Reach:
        return self._rights.reach(self._visitor.reader)

    @property
    def told(self) -> Telling:
        """The texts of wordings for the visitor."""
        return telling(self.reach, self._texts("words-out-of-reach"))

    def turn(self, turn: Turn) -> Turn:
        """Return the turn, without its question or reply if the visitor may not read one of their
        sources."""
        state = self.visible_state(turn.reply_state, turn.reader)
        question = self.told(Wording(turn.question, turn.made_from))
        if question != turn.question:
            state = replace(state, plan=None, text="")
        if state is turn.reply_state:
            return turn
        return replace(turn, reply_state=state, question=question)

    def visible_state(self, shown: ReplyState, asked: Reader) -> ReplyState:
        """Return what the visitor may see of a reply; ``asked`` is the reader it was made for. The
        sources of an unfinished run are not known yet, so a visitor who may not read everything
        that it may use sees neither its plan nor its text."""
        reach = self.reach
        answer, plan, text = shown.answer, shown.plan, shown.text
        if answer is not None:
            answer = for_reader(answer, reach, self._texts("answer-out-of-reach"))
        read = _sources_of(plan) if plan is not None else OWN_WORDS
        if not reach.includes(self._rights.reach(asked)) or not reach.covers(read):
            plan, text = None, ""
        if (answer, plan, text) == (shown.answer, shown.plan, shown.text):
            return shown
        return replace(shown, answer=answer, plan=plan, text=text)

    def may_see_run(self, kept: KeptRun, asked: Reader) -> bool:
        """Return True if the visitor may see everything stored about a run."""
        reach, record = self.reach, kept.record
        if reach.is_all or (record.state not in UNFINISHED and record.answer is not None):
            return reach.covers(_made_from(kept))
        # The groups of people in chats are not stored, so it is unknown which documents their runs
        # may use.
        is_known = asked.surface == "console" or reach.has_all_documents
        may_see = is_known and reach.includes(self._rights.reach(asked))
        return may_see and reach.covers(_made_from(kept))


def seeing(console: Console, request: Request) -> Visibility:
    """Return the rights of a request's visitor."""
    return Visibility(console.rights, visitor_of(request), texts_of(request))


def _sources_of(plan: PlanView) -> Provenance:
    """Return the pages that an unfinished run has read."""
    read = (url for step in plan.steps for url in step.sources)
    return Provenance.of((url for _, url in plan.numbered), read)


def _made_from(kept: KeptRun) -> Provenance:
    """Return everything that a run rests on, and all documents that it names anywhere."""
    record, pages = kept.record, (page.url for page in kept.pages)
    made_from = record.message.made_from | Provenance.of(pages)
    if record.answer is not None:
        made_from |= record.answer.rests_on
    results = [step.result for step in kept.steps]
    named = (url for result in results for url in _DOCUMENT.findall(result))
    said = (url for result in results for url in conversations_in(result))
    return made_from | Provenance.of(named, said)

"""An answer that the model writes in the loop, from the pages on the workspace.

A turn without a call is an answer if it cites the workspace; anything else is an empty turn. Where
the endpoint has no citations, it cites by ``[n]`` with the number of a page on the workspace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from bot.reasoning.calls import Citation, ModelReply, Text, ToolCall
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Restart, Source, TextDelta
from bot.reasoning.model.requests import Again, Begins, Ends, Part, Said
from bot.reasoning.model.write import deltas
from bot.reasoning.workspace import Reply

_MARK = re.compile(r"\[(\d{1,6})(?:\.\d{1,6})?\]")


def reply_of(
    reply: ModelReply, sources: Sequence[Source], pages: Mapping[int, Source]
) -> Reply | None:
    """The answer that a turn is; None if it calls a tool or cites nothing.

    ``sources`` are those of the request's search results in their order, ``pages`` what was shown
    of each page by its number on the workspace.
    """
    if any(isinstance(block, ToolCall) for block in reply.content):
        return None
    texts = [block for block in reply.content if isinstance(block, Text)]
    found: list[AnswerDelta] = []
    for block in texts:
        found.append(TextDelta(block.text, opens=True, has_marks=False))
        for citation in block.citations:
            found += cited(citation, sources)
    if any(isinstance(delta, CitationDelta) for delta in found):
        return Reply(tuple(found))
    if not reply.plain:
        return None
    text = "".join(block.text for block in texts)
    marked = _MARK.sub(lambda mark: _numbered(mark, pages), text)
    return Reply((TextDelta(marked, opens=True),)) if marked != text else None


def cited(citation: Citation, sources: Sequence[Source]) -> Iterator[CitationDelta]:
    """One delta for each passage that a citation covers; none for one that leads nowhere."""
    if 0 <= citation.search_result_index < len(sources):
        yield from deltas(citation, sources[citation.search_result_index])


def _numbered(mark: re.Match[str], pages: Mapping[int, Source]) -> str:
    """The mark with the page's citation number instead of that on the workspace."""
    page = pages.get(int(mark[1]))
    return f"[{page.number}]" if page is not None else ""


class AnswerWatch:
    """Hands on the answer while it is written, from its first citation on.

    What comes before a citation may still be a word before a call. ``on_answer`` gets ``Restart``
    when a call comes after all, or the reply is sent again.
    """

    def __init__(self, on_answer: Callable[[AnswerDelta], None], sources: Sequence[Source]) -> None:
        self._on_answer = on_answer
        self._sources = sources
        self._held: list[AnswerDelta] = []
        self._is_answer = False
        self._is_call = False
        self._opens = False
        self._citations: list[CitationDelta] = []

    def __call__(self, part: Part) -> None:
        match part:
            case Again():
                self._retract()
                self._is_call = False
            case _ if self._is_call:
                return
            case Begins(is_call=True):
                self._retract()
                self._is_call = True
            case Begins():
                self._opens = True
            case Said(text) if text:
                self._text(text)
            case Citation():
                self._citations += cited(part, self._sources)
            case Ends() if self._citations:
                self._is_answer = True
                self._hand_on(*self._held, *self._citations)
                self._held, self._citations = [], []

    def _text(self, words: str) -> None:
        delta = TextDelta(words, opens=self._opens, has_marks=False)
        self._opens = False
        if self._is_answer:
            self._hand_on(delta)
        else:
            self._held.append(delta)

    def _hand_on(self, *deltas: AnswerDelta) -> None:
        for delta in deltas:
            self._on_answer(delta)

    def _retract(self) -> None:
        if self._is_answer:
            self._on_answer(Restart())
        self._is_answer = False
        self._held, self._citations = [], []

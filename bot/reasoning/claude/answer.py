"""An answer that the model writes in the loop, from the pages on the workspace.

A turn without a call is an answer if it cites the workspace; anything else is an empty turn. Where
the endpoint has no citations, it cites by ``[n]`` with the number of a page on the workspace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bot.reasoning.claude.calls import Again
from bot.reasoning.claude.messages import Block
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Restart, Source, TextDelta
from bot.reasoning.workspace import Reply

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent

_MARK = re.compile(r"\[(\d{1,6})(?:\.\d{1,6})?\]")


def reply_of(
    content: Sequence[Block],
    sources: Sequence[Source],
    pages: Mapping[int, Source],
    *,
    has_marks: bool,
) -> Reply | None:
    """The answer that a turn's blocks are; None if they call a tool or cite nothing.

    ``sources`` are those of the request's search results in their order, ``pages`` what was shown
    of each page by its number on the workspace; ``has_marks`` whether marks were asked for instead.
    """
    if any(block["type"] == "tool_use" for block in content):
        return None
    deltas: list[AnswerDelta] = []
    for block in content:
        if block["type"] == "text":
            deltas.append(TextDelta(block["text"], opens=True, has_marks=False))
            for citation in block.get("citations") or ():
                deltas += cited(citation, sources)
    if any(isinstance(delta, CitationDelta) for delta in deltas):
        return Reply(tuple(deltas))
    if not has_marks:
        return None
    text = "".join(block["text"] for block in content if block["type"] == "text")
    marked = _MARK.sub(lambda mark: _numbered(mark, pages), text)
    return Reply((TextDelta(marked, opens=True),)) if marked != text else None


def cited(citation: Mapping[str, Any], sources: Sequence[Source]) -> Iterator[CitationDelta]:
    """One delta for each passage that a citation covers; none for one that leads nowhere."""
    try:
        index, first = int(citation["search_result_index"]), int(citation["start_block_index"])
        end = max(int(citation["end_block_index"]), first + 1)
    except (KeyError, TypeError, ValueError):  # an endpoint that left something out
        return
    if 0 <= index < len(sources) and first >= 0:
        for passage in sources[index].passages[first:end]:
            yield CitationDelta(sources[index].number, passage.start, passage.end)


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

    def __call__(self, event: RawMessageStreamEvent | Again) -> None:
        if isinstance(event, Again):
            self._retract()
            self._is_call = False
        elif self._is_call:
            return
        elif event.type == "content_block_start":
            self._opens = True
            if event.content_block.type == "tool_use":
                self._retract()
                self._is_call = True
            elif event.content_block.type == "text" and event.content_block.text:
                self._text(event.content_block.text)
        elif event.type == "content_block_delta":
            if event.delta.type == "text_delta" and event.delta.text:
                self._text(event.delta.text)
            elif event.delta.type == "citations_delta":
                self._citations += cited(event.delta.citation.to_dict(), self._sources)
        elif event.type == "content_block_stop" and self._citations:
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

"""From a reasoner's stream to a text with footnote marks, and what each mark rests on.

Two kinds of stream meet here: one in which citations come beside the text (each covering the
block before it), and one in which the text itself holds ``[n]`` marks. Both leave as the same
value, so that nothing after this point knows the difference.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Cut,
    Evidence,
    Restart,
    TextDelta,
)
from bot.research.links import defuse
from bot.research.marks import as_marks, normalise, numbers_in
from bot.text.control import without_controls
from bot.text.sentences import sentences

# Where a mark goes in a finished sentence: before its last punctuation, so that sentence and mark
# stay together however the text is cut later; in a table row before the closing bar.
_TAIL = re.compile(r"(?:[ \t]*\|[ \t]*|[ \t]*[.!?…:。！？：]*[ \t]*)$")


LONGEST = 100_000  # characters of an answer; an endpoint that never ends is not followed


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """``text[start:end]`` of the written answer rests on these words of the sources."""

    start: int
    end: int
    citations: tuple[CitationDelta, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The answer as written: Markdown with normalised ``[n]`` marks, and its cited spans.

    A sentence with marks but without a span was marked in the text itself. ``cut`` is the limit in
    tokens at which the text was cut off; 0 if it is whole.
    """

    text: str
    spans: tuple[CitedSpan, ...]
    cut: int = 0


async def write(
    stream: AsyncIterator[AnswerDelta], evidence: Evidence, on_text: Callable[[str], None]
) -> Written:
    """Follow a stream to its end; ``on_text`` gets the whole text so far whenever it grows."""
    composer = Composer(evidence)
    async for delta in stream:
        if len(composer.text_so_far()) > LONGEST:
            break
        composer.add(delta)
        on_text(composer.text_so_far())
    written = composer.finish()
    on_text(written.text)
    return written


def unsourced(text: str) -> str:
    """A reply that rests on no source: without marks, links and control characters."""
    composer = Composer(Evidence())
    composer.add(TextDelta(text))
    return composer.finish().text.strip()


class Composer:
    """Puts deltas together, keeping only marks and links that lead to the evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._known = frozenset(source.number for source in evidence.sources)
        self._urls = frozenset(dedupe_key(source.url) for source in evidence.sources)
        self._text = ""
        self._spans: list[CitedSpan] = []
        self._block: list[str] = []
        self._citations: list[CitationDelta] = []
        self._cut = 0

    def add(self, delta: AnswerDelta) -> None:
        if isinstance(delta, Restart):
            self._text = ""
            self._spans, self._block, self._citations = [], [], []
            self._cut = 0
        elif isinstance(delta, Cut):
            self._cut = delta.limit
        elif isinstance(delta, TextDelta):
            if self._citations or delta.opens:
                self._close_block()
            self._block.append(without_controls(delta.text))
        elif delta.number in self._known:
            self._citations.append(delta)

    def text_so_far(self) -> str:
        return self._text + "".join(self._block)

    def finish(self) -> Written:
        self._close_block()
        return Written(self._text, tuple(self._spans), self._cut)

    def _close_block(self) -> None:
        block = defuse(normalise("".join(self._block), self._known), self._urls)
        cited = tuple(dict.fromkeys(self._citations))
        self._block, self._citations = [], []
        if not cited or not block.strip():
            self._text += block
            return
        end = 0
        for sentence in sentences(block):
            self._text += block[end : sentence.start]
            start = len(self._text)
            self._text += marked(block[sentence.start : sentence.end], cited)
            self._spans.append(CitedSpan(start, len(self._text), cited))
            end = sentence.end
        self._text += block[end:]


def marked(sentence: str, cited: tuple[CitationDelta, ...]) -> str:
    """The sentence with the marks of its citations that it does not carry yet."""
    there = numbers_in(sentence)
    marks = as_marks(c.number for c in cited if c.number not in there)
    if not marks or sentence.startswith(("#", "```", "~~~")):
        return sentence
    return at_tail(sentence, marks)


def at_tail(sentence: str, mark: str) -> str:
    """The sentence with a mark before its last punctuation, or the closing bar of a table row."""
    tail = _TAIL.search(sentence)
    at = tail.start() if tail else len(sentence)
    return f"{sentence[:at]} {mark}{sentence[at:]}"

"""The questions that a writer offers to ask next, below its answer: split off while it streams.

A prompt asks for them after the tag ``<ask_next>``, one a line. Nothing from the tag on belongs to
the answer, however the tag is written; the end of the text that may become the tag is held back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import whitespace

MOST = 3
LONGEST = 2_000  # characters kept of what follows the tag

# The tag, also unclosed, escaped, in square brackets, bold, or as a bare word; but not a name of
# code, such as `ask_next` or ask_next().
_TAG = re.compile(
    r"[<\[]\s{0,9}/?\s{0,9}ask[_-]next\b|(?<![\w.`-])ask[_-]next(?![\w(.`-])", re.IGNORECASE
)
# The end of a text that may become the tag's name.
_BEGUN = re.compile(
    r"(?<![\w.`-])a(?:s(?:k(?:[_-](?:n(?:e(?:x(?:t)?)?)?)?)?)?)?\Z",
    re.IGNORECASE,
)
_FEWEST = 3  # letters of a bare name with which a stream may have been cut
_LOOKED_BACK = 16  # characters, in which the name of the tag would be part of a longer one
_MARKUP = "*_`\\>#-"
_LIST_MARK = re.compile(r"^(?:[-*•–]|\d{1,2}[.)、])\s*")
_ENDS = re.compile(r"\n|(?<=[?？])[^\S\n]+|(?<=？)")
_QUESTION = re.compile(r"\w.*[?？؟]$")


@dataclass(slots=True)
class Splitter:
    """Splits the text of one answer, which arrives in pieces."""

    _before: str = ""  # the last characters shown
    _held: str = ""
    _next: str | None = None

    def shown(self, text: str) -> str:
        """Return the words of the answer that a further piece completes."""
        if self._next is not None:
            self._next = f"{self._next}{text}"[:LONGEST]
            return ""
        if text := self._split(self._before + self._held + text)[len(self._before) :]:
            self._before = (self._before + text)[-_LOOKED_BACK:]
        return text

    def _split(self, text: str) -> str:
        # A tag at the very end may still be a longer word, unless it has a bracket.
        tag = _TAG.search(text)
        if tag is not None and (tag.end() < len(text) or tag[0][0] in "<["):
            self._held, self._next = "", text[tag.end() :][:LONGEST]
            return _without_markup(text[: tag.start()])
        kept = text[: _begun(text)]
        self._held = text[max(len(kept), len(self._before)) :]
        return kept

    def ended(self, *, is_last: bool = False) -> str:
        """Return the words held back at the end of a block, or of the stream (``is_last``), unless
        they are the beginning of the tag."""
        begun = self._held.strip(_MARKUP + whitespace)
        if begun and not is_last:
            return ""
        rest, self._held = self._held, ""
        if begun[:1] in ("<", "[") or len(begun) >= _FEWEST:
            return _without_markup(rest[: rest.find(begun)])
        self._before = (self._before + rest)[-_LOOKED_BACK:]
        return rest

    @property
    def is_past_answer(self) -> bool:
        """True once the tag has come."""
        return self._next is not None

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions so far, up to ``MOST``; one without its question mark is cut off."""
        lines = _ENDS.split(_TAG.sub("\n", self._next or ""))
        asked = (_LIST_MARK.sub("", line.strip().lstrip(_MARKUP + "/]: ")) for line in lines)
        return tuple(dict.fromkeys(filter(_QUESTION.match, asked)))[:MOST]


def _begun(text: str) -> int:
    """Return the position from which the end of a text may become the tag, with the markup and
    space before it."""
    name = _BEGUN.search(text)
    before = text[: name.start()] if name else text
    bare = before.rstrip(whitespace + "/")
    before = bare[:-1] if bare.endswith(("<", "[")) else before
    return len(before.rstrip(_MARKUP + whitespace))


def _without_markup(text: str) -> str:
    """Return the text before a tag without the markup that belongs to the tag: bold, an escape, a
    bullet or fence on its line."""
    line = text[text.rfind("\n") + 1 :]
    if not any(char.isalnum() for char in line):
        return text[: len(text) - len(line)].rstrip()
    bare = text.rstrip().rstrip(_MARKUP)
    return (bare if bare[-1:].isspace() else text).rstrip()

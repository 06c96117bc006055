"""A report in the making: paragraphs drafted from memory, and what one is revised from.

The way is that of Wang et al., RAT: Retrieval Augmented Thoughts Elicit Context-Aware Reasoning in
Long-Horizon Generation (2024): draft step by step, then revise each step against text retrieved
for it, with queries made from the task and everything revised so far.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One part of a draft: a topic of a report, written from memory and shown to nobody as it is.

    ``heading`` names the topic ("" for an opening that needs none), ``purpose`` says what a reader
    is to learn from it, ``text`` is the draft in Markdown, without footnotes.
    """

    heading: str
    purpose: str
    text: str

    @property
    def topic(self) -> str:
        """Its name where it needs one."""
        return self.heading or self.purpose or " ".join(self.text.split()[:8])


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A report at one moment: what is revised, the paragraph in hand, the topics still to come.

    ``revised`` are the finished paragraphs as Markdown, each under its heading, without footnote
    marks; a later manuscript of the same report only ever appends to them.
    """

    revised: tuple[str, ...]
    paragraph: Paragraph
    to_come: tuple[str, ...] = ()

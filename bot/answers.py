"""Results of a run: the cited answer, its plan while it works, its cost. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Status = Literal["answered", "partial", "not_found", "failed", "stopped"]
StepState = Literal["waiting", "running", "done", "failed"]
VerificationState = Literal["pending", "done", "failed"]
Judgement = Literal["supported", "partly", "not_supported", "contradicted"]

Span = tuple[int, int]
"""The start and the end of a piece of a text, in characters."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of a run.

    ``input_tokens`` are billed at full price or as cache writes, ``cached_tokens`` were read from
    the prompt cache; ``seconds`` is wall time; ``usd`` follows the price table in the settings.
    """

    model_calls: int = 0
    searches: int = 0
    pages: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Citation:
    """A footnote: the page's number in this run and the words the sentence rests on.

    ``quote`` is verbatim in the stored page with hash ``page_hash``, at characters
    ``start:end`` of its text. ``heading`` is what it stands under ("Page 7 › Trains"), or "".
    ``via`` is who gave the page's text, as in ``bot.pages.page.Page``.

    ``proof`` are the spans of ``quote`` that bear out the sentences which cite it, in order, and
    ``shared`` those of the facts that they have in common. Only the proof is shown beside an
    answer; None, in answers from before there was one, stands for all of the quote.
    """

    number: int
    url: str
    title: str
    quote: str
    page_hash: str
    start: int
    end: int
    heading: str = ""
    via: str = ""
    proof: tuple[Span, ...] | None = None
    shared: tuple[Span, ...] = ()

    @property
    def proven(self) -> tuple[str, ...]:
        """The words that are shown, in one piece for each run of sentences; each is verbatim in
        the stored page. Empty where none may be shown."""
        spans = ((0, len(self.quote)),) if self.proof is None else self.proof
        return tuple(self.quote[start:end] for start, end in spans)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence of the answer that its sources do not bear out, and why."""

    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A cited sentence of the answer, and the words of page ``number`` that say otherwise."""

    sentence: str
    number: int
    quote: str


@dataclass(frozen=True, slots=True)
class Change:
    """A cited sentence of the answer to a standing question as it was and as it is now; "" where
    it was not there. Both have marks of the newer answer."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class VerifiedSentence:
    """A model's verdict on a cited sentence and its quotes, and what became of the sentence.

    ``words`` are those of the sentence that its quotes do not say; ``now`` is the sentence that
    took its place, if it was restated.
    """

    sentence: str
    verdict: Judgement
    words: str = ""
    outcome: Literal["kept", "marked", "restated", "left_out"] = "kept"
    now: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """The state of verifying an answer's sentences against their quotes by a model.

    An answer that is ``pending`` may still be amended. ``problem`` is the sentence why it was not
    verified, or not to the end. ``of`` identifies the text that was written, before any amendment.
    """

    state: VerificationState
    sentences: tuple[VerifiedSentence, ...] = ()
    problem: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class StepView:
    """One line of the plan: what is being done, how far it is, and what it led to.

    ``id`` stays the same while the state changes. ``sources`` are URLs. ``parent`` is the id of
    the line this one belongs under, or "". ``needs`` are the ids of lines that must end first,
    ``found`` the facts that a sub-question has led to. ``link`` leads to the place on the platform
    that the line is about, or is "".
    """

    id: str
    kind: str
    title: str
    state: StepState
    seconds: float = 0.0
    detail: str = ""
    sources: tuple[str, ...] = ()
    parent: str = ""
    needs: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True, slots=True)
class PlanView:
    """The whole state of a run's plan at one moment; posters show the latest and drop the rest.

    ``numbered`` are the pages that have a footnote number by now, each as number and URL.
    """

    title: str
    steps: tuple[StepView, ...]
    numbered: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Before:
    """An earlier answer to the same question: its run, when it was asked (``at``), and the name of
    the channel where (``place``), "" for the place of this question. ``link`` leads there, or "".

    ``sources`` tells what a second look at its cited pages found: all unchanged, some changed, or
    not all of them could be read. ``is_given`` tells that it is the answer; else it was offered.
    ``sentence`` is what people were told of it.
    """

    run: str
    at: datetime
    place: str
    link: str
    sources: Literal["same", "changed", "unread"]
    is_given: bool = False
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run.

    ``text`` is Markdown with ``[n]`` marks that point into ``citations``. ``question`` is the
    standalone question that was researched, ``queries`` what was searched. ``notes`` are sentences
    about the run itself (a budget that ended it, a provider that failed). ``suggestions`` are
    questions that the sources could answer next. ``more`` is further reading, Markdown with the
    same marks: shown after the text, folded where that can be done; "" if there is none.
    ``linked`` are the pages, cited or not, that the text has links to, as number and URL.
    ``missing`` is what of the question stays unproven, in a few words each: a ``partial`` answer
    has some, and one that says no more than that the research ended early has none.
    ``verification`` is None where none was wanted. ``documents`` are the addresses of the
    operator's documents that the run was shown anything of, quoted or not.

    ``corrects`` tells that the message was kept as a correction of the answer before it.

    ``changes`` tell what has changed since a standing question was last answered, ``before`` that
    the question was answered before; the first ``lead`` characters of ``text`` say so to its
    readers.
    """

    status: Status
    text: str
    question: str
    run: str
    citations: tuple[Citation, ...] = ()
    queries: tuple[str, ...] = ()
    reasoner: str = ""
    steps: tuple[StepView, ...] = ()
    usage: Usage = Usage()
    doubts: tuple[Doubt, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    notes: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    more: str = ""
    linked: tuple[tuple[int, str], ...] = ()
    verification: Verification | None = None
    documents: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    lead: int = 0
    before: Before | None = None
    corrects: bool = False

    @property
    def is_repeated(self) -> bool:
        """True if it is an earlier answer, given again instead of research."""
        return self.before is not None and self.before.is_given

    @property
    def current(self) -> str:
        """The text without what it says of changes and of the answer before."""
        return self.text[self.lead :]

    @property
    def rests_on(self) -> frozenset[str]:
        """The addresses of all pages and documents of which the answer may hold something: who may
        not read one of them may not read the answer."""
        shown = {url for step in self.steps for url in step.sources}
        return frozenset({*self.documents, *self.targets.values(), *shown})

    @property
    def targets(self) -> dict[int, str]:
        """The URLs that marks and links in the text may lead to, by their page's number."""
        return dict(self.linked) | {each.number: each.url for each in self.citations}

    @property
    def is_pending(self) -> bool:
        """True if its verification may still amend it."""
        return self.verification is not None and self.verification.state == "pending"

    @property
    def whole(self) -> str:
        """The text and the further reading, as one Markdown text."""
        return "\n\n".join(filter(None, (self.text, self.more)))

"""Results of a run: the cited answer, the plan shown during the work, the cost. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.rights.provenance import Provenance

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
    """A footnote: the page's number in this run and the words that support the sentence.

    ``quote`` is verbatim in the stored page with hash ``page_hash``, at characters ``start:end`` of
    its text. ``heading`` is the heading above it ("Page 7 › Trains"), or "". ``via`` names the
    source of the page's text, as in ``bot.pages.page.Page``.

    ``proof`` lists the spans of ``quote`` that support the sentences citing it, in order;
    ``shared`` lists the spans of the facts they have in common. Only the proof is shown beside an
    answer. None, in answers stored before this field existed, means the whole quote.
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
        """The words to show, one piece for each run of sentences; each is verbatim in the stored
        page. Empty if none may be shown."""
        spans = ((0, len(self.quote)),) if self.proof is None else self.proof
        return tuple(self.quote[start:end] for start, end in spans)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence of the answer that its sources do not support, and why."""

    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A cited sentence of the answer, and the words on page ``number`` that contradict it."""

    sentence: str
    number: int
    quote: str


@dataclass(frozen=True, slots=True)
class Change:
    """A cited sentence in the answer to a standing question, before and now; "" where it was
    absent. Both carry the footnote marks of the newer answer."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class VerifiedSentence:
    """A model's verdict on a cited sentence and its quotes, and what happened to the sentence.

    ``words`` are the sentence's words that its quotes do not support; ``now`` is the sentence that
    replaced it, if it was restated.
    """

    sentence: str
    verdict: Judgement
    words: str = ""
    outcome: Literal["kept", "marked", "restated", "left_out"] = "kept"
    now: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """The state of a model's check of an answer's sentences against their quotes.

    An answer that is ``pending`` may still be amended. ``problem`` says in a sentence why
    verification did not run or did not finish. ``of`` identifies the text that was written, before
    any amendment.
    """

    state: VerificationState
    sentences: tuple[VerifiedSentence, ...] = ()
    problem: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class StepView:
    """One line of the plan: an activity, its state and its results.

    ``id`` stays the same while the state changes. ``sources`` are URLs. ``parent`` is the id of the
    line above this one, or "". ``needs`` are the ids of lines that must end first, ``found`` the
    facts found for a sub-question.
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


@dataclass(frozen=True, slots=True)
class PlanView:
    """A snapshot of a run's whole plan; posters show the latest one and drop the others.

    ``numbered`` lists the pages that already have a footnote number, each as number and URL.
    """

    title: str
    steps: tuple[StepView, ...]
    numbered: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run.

    ``text`` is Markdown with ``[n]`` marks that point into ``citations``. ``question`` is the
    standalone question that was researched, ``queries`` the search queries. ``notes`` are sentences
    about the run itself (a budget that ended it, a provider that failed). ``suggestions`` are
    follow-up questions that the sources could answer, by the writer of the answer.
    ``linked`` are the pages that the text links to, cited or not, as number and URL. ``missing``
    lists the parts of the question that stay unproven, in a few words each. A ``partial`` answer
    has some, unless it only says that the research ended early. ``verification`` is None if it was
    not requested. ``documents`` are the addresses of all of the operator's documents that the run
    saw, quoted or not.

    ``corrects`` is True if the message was stored as a correction of the answer before it.

    ``changes`` lists the changes since a standing question was last answered; the first ``lead``
    characters of ``text`` tell readers about them.
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
    linked: tuple[tuple[int, str], ...] = ()
    verification: Verification | None = None
    documents: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    lead: int = 0
    corrects: bool = False

    @property
    def current(self) -> str:
        """The text without the lead about changes."""
        return self.text[self.lead :]

    @property
    def rests_on(self) -> Provenance:
        """All pages and documents that may have contributed to the answer."""
        shown = (url for step in self.steps for url in step.sources)
        return Provenance.of(self.documents, self.targets.values(), shown)

    @property
    def targets(self) -> dict[int, str]:
        """The URLs that marks and links in the text may point to, by page number."""
        return dict(self.linked) | {each.number: each.url for each in self.citations}

    @property
    def is_pending(self) -> bool:
        """True while verification may still amend the answer."""
        return self.verification is not None and self.verification.state == "pending"

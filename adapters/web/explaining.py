"""The view of a run for its page: the trace, with texts and drawings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from adapters.web.amounts import seconds, usd
from adapters.web.markdown import answer_html
from adapters.web.overview import feedback_counts
from adapters.web.page_text import excerpt_html, line_html
from adapters.web.sources import quote_html
from adapters.web.svg.graph import MARKS, GraphNode, draw
from adapters.web.svg.waterfall import Waterfall, waterfall
from adapters.web.visitors import LOCAL
from bot.core.answers import Verification, VerifiedSentence
from bot.core.lines import one_line, shortened
from bot.core.texts import Texts
from bot.rendering.remarks import words_of
from bot.research.trace import ModelCall, Quote, Span, Trace, TracedPage, TracedSentence

_BORDER = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"(</?h)([4-6])>")

TITLE = 300  # characters of a question at the head of its page
BEST_QUOTES = 3  # quotes of different pages shown unfolded under a sentence


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page, for its table of contents."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check and its result. ``state`` is "good", "doubtful" or "told" (neither)."""

    state: str
    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The small model's verdict on a sentence: the verdict, the words that are not supported, and
    what ``became`` of the sentence; ``now`` is the text that replaced it, if any."""

    state: str
    mark: str
    judged: str
    sentence: str
    words: str
    became: str
    now: str


@dataclass(frozen=True, slots=True)
class Explained:
    """A sentence of the answer with its quotes, rendered for the page."""

    traced: TracedSentence
    html: Markup


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive sentences that rest on the same passages: those that are shown unfolded, and the
    others."""

    sentences: tuple[Explained, ...]
    first: tuple[Quote, ...]
    others: tuple[Quote, ...]

    @property
    def is_doubted(self) -> bool:
        return any(one.traced.doubt for one in self.sentences)

    @property
    def is_disputed(self) -> bool:
        return any(one.traced.disagreement for one in self.sentences)


class RunView:
    """See the module docstring. Templates read its attributes and call its methods."""

    marks = MARKS

    def __init__(self, trace: Trace, texts: Texts, root: str = "") -> None:
        self.trace = trace
        self._texts = texts
        message = trace.record.message
        self.title = shortened(message.text, TITLE)
        same = one_line(trace.understood) == one_line(message.text)
        self.understood = "" if same else trace.understood
        self.state = trace.record.state.replace("_", "-")
        self.place = message.thread.platform
        web = message.thread.platform == "web"
        # The store names an unidentified asker "You"; the page uses the word of its language.
        is_local = web and message.author.id == LOCAL
        self.asker = texts("web-you") if is_local else message.author.name
        path = f"{root}/threads/{message.thread.thread}#run-{trace.record.id}"
        self.thread = path if web else ""
        self.waterfall: Waterfall = waterfall(trace.spans)
        self.sentences = tuple(one for one in trace.sentences if _says_anything(one))
        self.groups = tuple(_groups(self.sentences))
        self.graph = self._drawn_graph()

    # ------------------------------------------------------------ at the head

    @property
    def facts(self) -> tuple[Fact, ...]:
        texts, trace, spent = self._texts, self.trace, self.trace.spent
        answer = trace.answer
        took = (trace.ended_at - trace.record.accepted_at).total_seconds() if trace.ended_at else 0
        took = max(0, took)  # one of two clocks may be slow
        known = [
            ("web-run-took", seconds(took) if took else ""),
            ("web-run-worked", seconds(spent.seconds) if spent.seconds else ""),
            ("web-run-depth", texts(f"web-run-depth-{trace.record.options.depth}")),
            ("web-run-reasoner", answer.reasoner if answer else ""),
            ("web-run-searches", _count(spent.searches)),
            ("web-run-pages-read", _count(spent.pages)),
            ("web-run-calls", _count(spent.model_calls)),
            ("web-run-tokens-in", _count(spent.input_tokens)),
            ("web-run-tokens-cached", _count(spent.cached_tokens)),
            ("web-run-tokens-out", _count(spent.output_tokens)),
            ("web-run-cost", usd(spent.usd) if spent.usd else ""),
            ("web-run-attempts", _count(trace.record.attempt) if trace.record.attempt > 1 else ""),
            ("web-run-feedback", feedback_counts(Counter(trace.feedback.values()))),
        ]
        return tuple(Fact(texts(id), value) for id, value in known if value)

    @property
    def sections(self) -> tuple[Section, ...]:
        trace = self.trace
        there = {
            "answer": bool(trace.answer),
            "checks": bool(self.sentences),
            "verdicts": bool(self.verdicts),
            "graph": bool(self.graph),
            "steps": bool(trace.spans),
            "searches": bool(trace.searches),
            "pages": bool(trace.pages),
            "revisions": bool(trace.revisions),
        }
        return tuple(
            Section(id, self._texts(f"web-run-{id}")) for id, is_there in there.items() if is_there
        )

    # ------------------------------------------------------------ what was checked

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(self._checks())

    def _checks(self) -> Iterator[Check]:
        texts, quotes, answer = self._texts, self.trace.quotes, self.trace.answer
        if answer is None:
            return
        found = sum(quote.is_verbatim is True for quote in quotes)
        there = sum(quote.is_verbatim is not None for quote in quotes)
        if there:
            text = texts("web-run-check-quotes", good=found, all=there)
            yield Check("good" if found == there else "doubtful", _mark(found == there), text)
        if answer.verification is not None:
            yield self._verified(answer.verification)
        cited = sum(bool(one.numbers) for one in self.sentences)
        text = texts("web-run-check-cited", cited=cited, all=len(self.sentences))
        yield Check("told", "•", text)
        if not answer.doubts:
            yield Check("good", _mark(True), texts("web-run-check-no-doubt"))
        for doubt in answer.doubts:
            text = texts("unverified", sentence=words_of(doubt.sentence), reason=doubt.reason)
            yield Check("doubtful", "", text)
        for other in answer.disagreements:
            text = texts(
                "disagrees",
                sentence=words_of(other.sentence),
                number=str(other.number),
                quote=other.quote,
            )
            yield Check("doubtful", "", text)
        for gap in answer.missing:
            yield Check("doubtful", "", texts("web-run-check-missing", what=gap))
        for note in answer.notes:
            yield Check("told", "•", note)

    def _verified(self, found: Verification) -> Check:
        texts = self._texts
        if found.state == "pending":
            return Check("told", "•", texts("web-run-check-verifying"))
        if not found.sentences:
            return Check("told", "•", texts("web-run-check-not-verified", problem=found.problem))
        good = sum(each.verdict == "supported" for each in found.sentences)
        count = len(found.sentences)
        text = texts("web-run-check-verified", good=good, all=count)
        text = f"{text} {found.problem}" if found.problem else text
        return Check("good" if good == count else "doubtful", _mark(good == count), text)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the small model's verdicts on all cited sentences, doubtful ones first."""
        found = self.trace.answer.verification if self.trace.answer else None
        told = [self._verdict(each) for each in found.sentences] if found else []
        return tuple(sorted(told, key=lambda one: one.state == "good"))

    def _verdict(self, one: VerifiedSentence) -> Verdict:
        texts = self._texts
        became = ""
        if one.outcome != "kept":
            became = texts(f"web-run-verdict-{one.outcome.replace('_', '-')}")
        judged = texts(f"web-run-verdict-{one.verdict.replace('_', '-')}")
        is_good = one.verdict == "supported" and one.outcome == "kept"
        words = texts("web-run-verdict-words", words=one.words) if one.words else ""
        state = "good" if is_good else "doubtful"
        return Verdict(state, _mark(is_good), judged, one.sentence, words, became, one.now)

    # ------------------------------------------------------------ sub-questions and steps

    def _drawn_graph(self) -> Markup | str:
        nodes = self.trace.nodes
        if len(nodes) < 2:
            return ""
        drawn = [
            GraphNode(
                node.id,
                one_line(node.title),
                node.state,
                node.needs,
                f"#line-{node.id}",
                self._texts(f"web-run-step-{node.state}"),
            )
            for node in nodes
        ]
        return draw(drawn, self._texts("web-run-graph"))

    @property
    def breaks(self) -> str:
        """Return a sentence about long pauses, if there were any."""
        lost = sum(each.seconds for each in self.waterfall.breaks)
        return self._texts("web-run-paused", seconds=seconds(lost)) if lost else ""

    def waited(self, span: Span) -> str:
        """Return which sub-questions a span waited for, and how long."""
        titles = {each.id: each.title for each in self.trace.spans}
        needed = " · ".join(shortened(titles.get(id, id), 80) for id in span.needs)
        return self._texts("web-run-waited", seconds=seconds(span.waited), lines=needed)

    def words(self, quote: Quote) -> Markup:
        """Return the quoted words that support the sentence citing them; the page marks all."""
        return quote_html(quote.citation)

    def line(self, snippet: str) -> Markup:
        """Render a search result's excerpt of a page."""
        return Markup(line_html(snippet))  # noqa: S704 - sanitized there

    def excerpts(self, page: TracedPage) -> Markup:
        """Render a page's text around the quotes from it."""

        def gap(count: int) -> str:
            return self._texts("web-run-gap", count=count)

        return Markup(excerpt_html(page.kept.text or "", page.quoted, gap))  # noqa: S704 - sanitized there

    def seconds(self, value: float) -> str:
        return seconds(value)

    def tokens(self, call: ModelCall) -> str:
        """Format tokens in and out, and the price if it is known."""
        cached = f" (+{call.cached_tokens:,})" if call.cached_tokens else ""
        price = f" · {usd(call.usd)}" if call.usd else ""
        return f"{call.input_tokens:,}{cached} → {call.output_tokens:,}{price}"


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _mark(is_good: bool) -> str:
    return "✓" if is_good else "⚠"


def _says_anything(sentence: TracedSentence) -> bool:
    """Return True if it is more than the number of an item, or the line under a table's header."""
    return any(char.isalpha() for char in sentence.text)


def _groups(sentences: Sequence[TracedSentence]) -> Iterator[Group]:
    def rests_on(sentence: TracedSentence) -> tuple[str, ...]:
        return tuple(quote.anchor for quote in _best(sentence))

    for anchors, grouped in groupby(sentences, rests_on):
        together = list(grouped)
        if anchors:
            yield _group(together)
        else:
            yield from (_group([one]) for one in together)


def _group(sentences: Sequence[TracedSentence]) -> Group:
    first = _best(sentences[0])
    quotes = dict.fromkeys(quote for one in sentences for quote in one.quotes)
    return Group(
        tuple(Explained(one, _html(one)) for one in sentences),
        first,
        tuple(quote for quote in quotes if quote not in first),
    )


def _best(sentence: TracedSentence) -> tuple[Quote, ...]:
    """Return the best passage of each page that a sentence cites."""
    best: dict[int, Quote] = {}
    for quote in sentence.quotes:
        best.setdefault(quote.citation.number, quote)
    return tuple(best.values())[:BEST_QUOTES]


def _html(sentence: TracedSentence) -> Markup:
    if sentence.kind == "row":
        cells = [cell.strip() for cell in _BORDER.split(sentence.markdown)]
        text = " · ".join(cell for cell in cells if cell)
    else:
        text = sentence.markdown.strip()
    # On this page an answer's headings are one level higher than in a conversation.
    html = _HEADING.sub(lambda found: f"{found[1]}{int(found[2]) - 1}>", answer_html(text, {}))
    return Markup(html)  # noqa: S704 - sanitized there

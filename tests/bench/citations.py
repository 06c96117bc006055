"""Whether the check of answers finds as much after 150 tool calls as after 2.

A scripted researcher searches (the queries of the desk bench and the questions of XQuAD, over the
pages of MuSiQue, XQuAD and a manual in the real index); its real loop lays pages and passages on
the desk. From all of them the real writing request is made. A scripted writer answers it with 5
sentences after 2 calls and 50 after 150, each citing the passage that it is taken from, none word
for word; every other answer begins with two facts at once, and cites the second only. Every tenth
sentence it makes wrong, kind by kind (``KINDS``), with other figures, years and names of the same
desk, those of the same page first.

The check is the product's. Its small model is scripted too: it is right on 90 % of the false
sentences and on 97 % of the true ones, at each depth exactly, by a sentence's number. It goes by
the quotes that the request shows for a sentence: a sentence is true if they have all its facts. As
often as it errs, it restates a false sentence as falsely; else truly, if any quote shown has it.

A false sentence comes through if the last text says it, or a restatement as false, without a
doubt. A true one is doubted if it is marked or missing. Beside the whole check: its first step
alone, a check that marks a sentence when its footnotes have less than ``OVERLAP`` of its words, and
none.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial
from typing import Any
from uuid import uuid4

from bot.core.measurements import nothing_observed
from bot.core.messages import RunOptions
from bot.operation.configuration import load_settings
from bot.reasoning.evidence import Evidence, Rewritten, Search, SubQuestion
from bot.reasoning.reasoner import ReasonerFactory, Researcher, chosen_reasoner
from bot.rendering.marks import without_marks
from bot.research.budget import Account, Budget
from bot.research.checking import check
from bot.research.composer import Checked, write
from bot.research.library import Library
from bot.research.run import Resources, Run, RunQuestion
from bot.research.strategies import READING, iterate
from bot.research.verification import amendments
from bot.search.blend import Search as Blend
from bot.storage.journal import open_journal
from bot.storage.store import Store
from bot.text.sentences import sentences
from bot.text.terms import keywords, terms
from tests.bench.check_items import pages as pages_of
from tests.bench.corpus import _nothing_stored, _Whole, a_store, indexed
from tests.bench.desk import known_hops
from tests.bench.frame import SHARED, options, print_table, tell
from tests.fakes.calls import MemoryCalls
from tests.fakes.claude import FakeClaude, Reply, citation, cited, says, text
from tests.fakes.claude_requests import asked_last, search_results
from tests.fakes.reasoner import Scripted
from tests.fakes.server import serve
from tests.unit.samples import NOW, a_message, a_thread

LENGTHS = {2: 5, 10: 10, 50: 25, 150: 50}
"""Tool calls before an answer is written: its sentences."""
SENTENCES = 1_000  # at each depth
FALSE_EVERY = 10
MISSED_EVERY = 10  # false sentences that the scripted model takes for true
DOUBTED_EVERY = 33  # true ones that it takes for false
OVERLAP = 0.7
KINDS = ("figure", "name", "date", "negation", "other page", "no page", "in a block quote")
OPENERS = ("As the record has it, ", "By this account, ", "As far as is known, ", "In short, ")
REWORDED = "It is safe to say that "

_YEAR = re.compile(r"(?<![\d,.])(?:1\d{3}|20[0-2]\d)(?![\d,.]?\d)")
_FIGURE = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})*(?:\.\d+)?(?![\d,.]?\d)")
_NAME = re.compile(r"(?<=[a-z] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
_VERB = re.compile(r"\b(?:is|was|are|were|has been|had been|can|will)\b")
_PATTERNS = {"figure": _FIGURE, "date": _YEAR, "name": _NAME, "negation": _VERB}
_QUOTE = re.compile(r'<quote number="(\d+)"[^>]*>\n(.*?)\n</quote>', re.S)
_SENTENCE = re.compile(
    r'<sentence number="(\d+)" quotes="([^"]*)"([^>]*)>\n(.*?)\n</sentence>', re.S
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage of the writing request: its place there, and the sentences that may be used."""

    result: int
    block: int
    words: str
    usable: tuple[str, ...]


@dataclass(slots=True)
class Told:
    """A sentence that was written: ``kind`` is "" if it is true, ``facts`` are the sentences of
    pages that it needs, ``truth`` what it should have been. ``is_misjudged`` by the model."""

    text: str
    kind: str
    facts: tuple[str, ...]
    truth: str
    is_misjudged: bool
    is_lead: bool = False


@dataclass(slots=True)
class Tally:
    """What came of the sentences of one depth. ``through`` and ``doubted`` are by way of checking,
    ``missed`` the false ones that came through the whole check, by kind."""

    told: Counter[bool] = field(default_factory=Counter)
    through: Counter[str] = field(default_factory=Counter)
    doubted: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    leads: int = 0
    whole_leads: int = 0  # that cite each of their facts in the end
    disagreements: int = 0  # of other pages with a true sentence
    passages: list[int] = field(default_factory=list)
    verified: int = 0
    calls: int = 0

    def share(self, way: str) -> float:
        """The share of the false sentences that come through one way of checking."""
        return self.through[way] / self.told[False]

    def share_doubted(self, way: str) -> float:
        return self.doubted[way] / self.told[True]


WAYS = ("no check", "word overlap", "first step", "whole check")


def main(argv: list[str]) -> None:
    parser = options("citations", __doc__)
    parser.add_argument("--kinds", action="store_true", help="what came through, kind by kind")
    given = parser.parse_args(argv)
    tallies = asyncio.run(run({2: 5, 10: 10}, 60, 300) if given.quick else run())
    print_table(
        ("tool calls", "passages", "sentences", *(f"through, {way}" for way in WAYS)),
        [
            (
                depth,
                f"{sum(tally.passages) / len(tally.passages):.0f}",
                tally.told.total(),
                *(f"{tally.share(way):.1%}" for way in WAYS),
            )
            for depth, tally in tallies.items()
        ],
    )
    print()
    print_table(
        (
            "tool calls",
            *(f"doubted, {way}" for way in WAYS),
            "disagreed",
            "per call",
            "whole leads",
        ),
        [
            (
                depth,
                *(f"{tally.share_doubted(way):.1%}" for way in WAYS),
                f"{tally.disagreements / tally.told[True]:.1%}",
                f"{tally.verified / tally.calls:.1f}",
                f"{tally.whole_leads} / {tally.leads}",
            )
            for depth, tally in tallies.items()
        ],
    )
    if given.kinds:
        print()
        print_table(
            ("tool calls", *KINDS),
            [
                (depth, *(f"{tally.missed[kind]} / {tally.kinds[kind]}" for kind in KINDS))
                for depth, tally in tallies.items()
            ],
        )


async def run(
    lengths: Mapping[int, int] = LENGTHS,
    count: int = SENTENCES,
    most: int | None = None,
    false_every: int = FALSE_EVERY,
) -> dict[int, Tally]:
    """The tallies of ``count`` sentences at each depth, over the first ``most`` pages; ``lengths``
    are as ``LENGTHS``."""
    texts, queries = _corpus(most)
    tallies: dict[int, Tally] = {}
    fake = FakeClaude(trusting=True, tokens_per_event=500)
    with serve(fake) as url:
        settings = load_settings(anthropic_api_key="sk-test", anthropic_base_url=url)
        opened = chosen_reasoner(settings).open(settings, nothing_observed, True)
        async with indexed(texts) as corpus, a_store() as store, opened as reasoner:
            search = Blend([corpus._documents])  # with the rarity of words, which the index knows
            for depth, length in lengths.items():
                tell(f"after {depth} tool calls")
                chance = random.Random(depth)
                mind = Mind(length, false_every, chance)
                fake.use(mind)
                tally = tallies[depth] = Tally()
                while tally.told.total() < count:
                    asked = chance.sample(queries, depth)
                    evidence = await _gathered(asked, search, store)
                    mind.begin(asked_of(asked))
                    await _answer(mind, evidence, reasoner, tally)
                    fake.requests.clear()
    return tallies


def _corpus(most: int | None) -> tuple[dict[str, str], list[str]]:
    """The pages by title, and the queries."""
    xquad = json.loads((SHARED / "chinese" / "xquad.en.json").read_text(encoding="utf-8"))["data"]
    articles = {
        each["title"].replace("_", " "): "\n\n".join(p["context"] for p in each["paragraphs"])
        for each in xquad
    }
    questions = [
        " ".join([article["title"].replace("_", " "), *keywords(asked["question"])])
        for article in xquad
        for paragraph in article["paragraphs"]
        for asked in paragraph["qas"]
    ]
    hops = [hop for of_question in known_hops().values() for hop in of_question]
    needed = {hop.page: pages_of("multihop")[hop.page] for hop in hops}
    texts = articles | needed | {**pages_of("multihop"), **pages_of("aws.en")}
    return dict(list(texts.items())[:most]), [*(hop.query for hop in hops), *questions]


def asked_of(queries: Sequence[str]) -> str:
    return f"What is known of {queries[0]}?"


async def _gathered(queries: Sequence[str], search: Any, store: Store) -> Evidence:
    """What the loop of a researcher gathers who searches these queries, one a call."""
    record = uuid4().hex
    question = asked_of(queries)
    message = a_message(question, a_thread(record), record)
    await store.accept(record, message, RunOptions(), NOW)
    await store.claim(record, "bench", NOW, timedelta(hours=1))
    most = 10**9
    budget = Budget(3600.0, 1e6, most, pages=most, input_tokens=most, searches=most)
    one = Run(
        RunQuestion(record, message, RunOptions(), NOW),
        Resources(Library(search, _Whole(), _nothing_stored, page_ttl=3600)),
        await open_journal(store.database, record, 1),
        Account(budget, lambda reply: None),
        lambda plan: None,
    )
    searches = [[Search((query,), f"s{at}")] for at, query in enumerate(queries)]
    scripted = Scripted(searches, opens=2)
    asked = SubQuestion(question, "en")
    return await iterate(one, scripted, asked, READING, searches=len(queries))


async def _answer(mind: Mind, evidence: Evidence, reasoner: ReasonerFactory, tally: Tally) -> None:
    """Write one answer, check it, and count what came of its sentences."""
    calls = MemoryCalls(limit=10**6)
    thinking = reasoner(calls)
    assert isinstance(thinking, Researcher)
    question = Rewritten("search", mind.question)
    shown = evidence.for_writing()
    written = await write(thinking.write(question, shown), shown, lambda text: None)
    judge = partial(_judged, evidence, mind.question)
    first = judge(written, {})
    last = first
    async for amendment in amendments(thinking, mind.question, written, first, judge):
        assert not amendment.problem, amendment.problem
        last = amendment.checked
    verifying = [made for made in calls.made if made.kind == "verify"]
    tally.calls += len(verifying)
    tally.verified += len(first.claims)
    tally.passages.append(sum(len(source.passages) for source in evidence.sources))
    held = {key(claim.text): claim.quotes for claim in first.claims}
    overlapping = {each for each, quotes in held.items() if _overlap(each, quotes) >= OVERLAP}
    proofs = {key(claim.text): claim.quotes for claim in last.claims}
    before, after = _undoubted(first), _undoubted(last)
    for told in mind.told:
        is_true = not told.kind
        tally.told[is_true] += 1
        tally.kinds[told.kind] += 1
        own = key(told.text)
        fine = {
            "no check": True,
            "word overlap": own in overlapping,
            "first step": _is_said(told, before, ()),
            "whole check": _is_said(told, after, proofs.get(own, ())),
        }
        for way, is_fine in fine.items():
            tally.through[way] += is_fine and not is_true
            tally.doubted[way] += is_true and not is_fine
        tally.missed[told.kind] += fine["whole check"]
        tally.disagreements += is_true and any(key(d.sentence) == own for d in last.disagreements)
        if told.is_lead and len(told.facts) > 1 and is_true:
            tally.leads += 1
            tally.whole_leads += _has_all(told.facts, proofs.get(own, ()))


def _judged(evidence: Evidence, question: str, written: Any, verdicts: Any) -> Checked:
    return check(written, evidence, question, verdicts=verdicts)


def _undoubted(checked: Checked) -> set[str]:
    """The sentences that a text says without a doubt."""
    said = (checked.text[each.start : each.end] for each in sentences(checked.text))
    doubted = {key(doubt.sentence) for doubt in checked.doubts}
    return {key(without_marks(each)) for each in said} - doubted


def _is_said(told: Told, undoubted: set[str], proofs: Sequence[str]) -> bool:
    """Whether a sentence, or a false one reworded as falsely, is among these; one that cited the
    wrong page is no longer false if its quotes now have its fact."""
    if told.kind == "other page" and _has_all(told.facts, proofs):
        return False
    return key(told.text) in undoubted or (
        bool(told.kind) and key(reworded(told.text)) in undoubted
    )


def _overlap(claim: str, quotes: Sequence[str]) -> float:
    words = set(keywords(claim))
    return len(words & set(terms(" ".join(quotes)))) / max(1, len(words))


@cache
def key(words: str) -> str:
    """A sentence as it is compared: its letters and digits."""
    return " ".join(re.findall(r"[^\W_]+", words))


def reworded(words: str) -> str:
    _, _, rest = words.partition(", ")
    return REWORDED + rest


def _has_all(facts: Sequence[str], quotes: Sequence[str]) -> bool:
    there = [key(quote) for quote in quotes]
    return all(any(key(fact) in quote for quote in there) for fact in facts)


# ---------------------------------------------------------------- the scripted models


class Mind:
    """The writer, the small model that judges, and the one that restates. ``told`` are the
    sentences of the answer; their number decides which are false, and which are misjudged."""

    def __init__(self, length: int, false_every: int, chance: random.Random) -> None:
        self._length = length
        self._false_every = false_every
        self._chance = chance
        self._written = self._false = self._true = self._answers = 0
        self.question = ""
        self.told: list[Told] = []

    def begin(self, question: str) -> None:
        self.question = question
        self.told = []

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        asked = asked_last(request)
        if "<sentence " not in asked:
            return self._write(request)
        return self._restate(asked) if ' verdict="' in asked else self._verify(asked)

    # ------------------------------------------------------------ writing

    def _write(self, request: Mapping[str, Any]) -> Reply:
        self.told = []  # the request may be the second one, with fewer passages
        shown = _shown(request)
        left = self._chance.sample(shown, len(shown))
        blocks: list[Any] = []
        self._answers += 1
        while len(self.told) < self._length and left:
            passage, fact = self._fitting(left)
            is_first = not self.told
            if is_first and self._answers % 2 and left:
                second, other = self._fitting(left)
                both = f"{fact.rstrip('.')}, and {other}"
                blocks += self._say(both, (fact, other), second, shown, is_lead=True)
                blocks += self._say(fact, (fact,), passage, shown)
            else:
                blocks += self._say(fact, (fact,), passage, shown, is_lead=is_first)
        return says(*blocks)

    def _turn(self) -> str:
        """The kind in which the next sentence is to be wrong; "" if it is to be true."""
        is_false = (self._written + 1) % self._false_every == 0
        return KINDS[self._false % len(KINDS)] if is_false else ""

    def _fitting(self, left: list[Shown]) -> tuple[Shown, str]:
        """Take a passage and its sentence that can be wrong in the kind whose turn it is."""
        pattern = _PATTERNS.get(self._turn(), _VERB)
        for passage in reversed(left) if self._turn() in _PATTERNS else ():
            for fact in passage.usable:
                if pattern.search(fact):
                    left.remove(passage)
                    return passage, fact
        passage = left.pop()
        return passage, self._chance.choice(passage.usable)

    def _say(
        self,
        words: str,
        facts: tuple[str, ...],
        passage: Shown,
        shown: Sequence[Shown],
        *,
        is_lead: bool = False,
    ) -> list[Any]:
        """The blocks of a sentence: true, or wrong in the kind whose turn it is."""
        kind = self._turn()
        self._written += 1
        truth = OPENERS[self._written % len(OPENERS)] + words
        said, cites = truth, passage
        others = [each for each in shown if not _has_all(facts, [each.words])] if kind else []
        for step in range(len(KINDS) if kind else 0):
            kind = KINDS[(self._false + step) % len(KINDS)]
            if (made := _wrong(kind, truth, passage, others, self._chance)) is not None:
                said, cites = made
                break
        if kind:
            self._false += 1
            is_misjudged = self._false % MISSED_EVERY == MISSED_EVERY // 2
        else:
            self._true += 1
            is_misjudged = self._true % DOUBTED_EVERY == DOUBTED_EVERY // 2
        self.told.append(Told(said, kind, facts, truth, is_misjudged, is_lead))
        if kind == "no page":
            return [text(f"{said} ")]
        if kind == "in a block quote":
            return [text(f"\n\n> {said}\n\n")]
        return [cited(said, citation(cites.result, cites.block, cites.block + 1)), text(" ")]

    # ------------------------------------------------------------ judging

    def _verify(self, asked: str) -> Reply:
        quotes = {int(number): words for number, words in _QUOTE.findall(asked)}
        found = []
        for number, cites, more, sentence in _SENTENCE.findall(asked):
            told = self._of(sentence)
            own = list(quotes) if "anywhere" in more else _numbers(cites)
            proofs = _having(told.facts, {each: quotes[each] for each in own})
            is_borne_out = told.text == told.truth and all(proofs)
            holds = is_borne_out is not told.is_misjudged
            verdict = "supported" if holds else "contradicted" if _is_denied(told) else "partly"
            said = {"sentence": int(number), "verdict": verdict, "words": ""}
            found.append({**said, "quotes": [each for each in proofs if each]})
        return says(json.dumps({"verdicts": found}))

    def _restate(self, asked: str) -> Reply:
        quotes = {int(number): words for number, words in _QUOTE.findall(asked)}
        found = []
        for number, cites, _, sentence in _SENTENCE.findall(asked):
            told = self._of(sentence)
            named = _having(told.facts, quotes)
            words = told.truth if all(named) else ""
            if told.kind and told.is_misjudged:
                words, named = reworded(told.text), _numbers(cites)[:1]
            found.append({"sentence": int(number), "text": words, "quotes": named})
        return says(json.dumps({"sentences": found}))

    def _of(self, sentence: str) -> Told:
        return next(told for told in self.told if key(told.text) == key(sentence))


def _numbers(cites: str) -> list[int]:
    return [int(each) for each in cites.split(", ") if each]


def _having(facts: Sequence[str], quotes: Mapping[int, str]) -> list[int]:
    """The first quote that has each fact; 0 if none has it."""
    return [next((n for n, said in quotes.items() if key(fact) in key(said)), 0) for fact in facts]


def _is_denied(told: Told) -> bool:
    return told.kind in ("figure", "name", "date", "negation")


def _shown(request: Mapping[str, Any]) -> Sequence[Shown]:
    found = []
    seen: set[str] = set()
    for result, each in enumerate(search_results(request)):
        for block, part in enumerate(each["content"]):
            words = part["text"]
            usable = tuple(
                said
                for said in (words[s.start : s.end] for s in sentences(words))
                if 40 <= len(said) <= 250
                and said[0].isupper()
                and said.endswith(".")
                and "\n" not in said
                and len(sentences(said)) == 1
                and said not in seen
            )
            seen.update(usable)
            if usable:
                found.append(Shown(result, block, words, usable))
    return found


def _wrong(
    kind: str, truth: str, passage: Shown, others: Sequence[Shown], chance: random.Random
) -> tuple[str, Shown] | None:
    """A sentence made wrong, and the passage that it cites; None if it cannot be in that kind."""
    made = None
    if kind in ("figure", "date", "name"):
        made = _exchanged(truth, _PATTERNS[kind], passage, others, chance)
    elif kind == "negation":
        verb = _VERB.search(truth)
        made = verb and f"{truth[: verb.end()]} not{truth[verb.end() :]}"
    elif others and kind == "other page":
        far = [each for each in others if each.result != passage.result]
        return (truth, chance.choice(far)) if far else None
    elif others:  # a figure that no page gives
        made = f"{truth[:-1]}, for {chance.randint(23, 97)}.{chance.randint(1, 9)} million people."
    return (made, passage) if made else None


def _exchanged(
    truth: str,
    pattern: re.Pattern[str],
    passage: Shown,
    others: Sequence[Shown],
    chance: random.Random,
) -> str | None:
    """A sentence with a figure, year or name of another passage, of the same page if there is
    one."""
    there = list(pattern.finditer(truth))
    if not there:
        return None
    old = chance.choice(there)
    same = [each for each in others if each.result == passage.result]
    for near in (same, others):
        found = {new for each in near for new in pattern.findall(each.words)}
        found = {new for new in found if key(new) not in key(passage.words)}
        if found:
            new = chance.choice(sorted(found))
            return f"{truth[: old.start()]}{new}{truth[old.end() :]}"
    return None

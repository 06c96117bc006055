"""A model's verdicts on sentences, and the answer amended by them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import FootnoteError, ModelUnavailable, RunLost, StorageUnavailable
from bot.core.messages import Doubt
from bot.operation.configuration import load_settings
from bot.pages.passages import Passage
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Claim,
    Evidence,
    Restated,
    Source,
    TextDelta,
    Verdict,
)
from bot.research.checking import check
from bot.research.composer import Checked, Composer, Written, claim_of, write
from bot.research.verification import (
    BATCH,
    Amendment,
    amended,
    amendments,
    as_restated,
    compare_pairs,
    is_quoted,
    is_wanted,
    restatable,
)
from bot.text.sentences import Sentence, sentences
from tests.fakes.reasoner import Scripted
from tests.fakes.virtual_time import in_virtual_time
from tests.unit.samples import NOW

WORDS = ("It is tall.", "It is old.", "It is red.", "It is wide.")
PASSAGES = tuple(Passage(50 * n, 50 * n + len(w), w) for n, w in enumerate(WORDS))
PAGES_CITED = Evidence((Source(1, "https://a.example/", "A", PASSAGES, "h", NOW),))

Part = tuple[str, int | None]
"""The streamed text, and the passage that it cites."""


def written(*parts: Part) -> Written:
    async def stream() -> AsyncIterator[AnswerDelta]:
        for text, passage in parts:
            yield TextDelta(text, opens=True)
            if passage is not None:
                at = PASSAGES[passage]
                yield CitationDelta(1, at.start, at.end)

    async def compose() -> Written:
        return await write(stream(), PAGES_CITED, lambda text: None)

    return asyncio.run(compose())


def spanned(answer: Written) -> list[tuple[str, int]]:
    """The cited pieces, each with the passage that it rests on."""
    return [
        (answer.text[span.start : span.end], span.citations[0].start // 50) for span in answer.spans
    ]


TWO: Sequence[Part] = (("It is tall. ", 0), ("It is old.", 1))
RUN: Sequence[Part] = (("It is tall. ", 0), ("And it is high. ", 0), ("It is old.", 1))
LIST: Sequence[Part] = (
    ("What it is:\n\n", None),
    ("- It is tall. ", 0),
    ("And more.\n", 0),
    ("- It is old.\n", 1),
    ("- It is red.\n\n", 2),
    ("That is all.", None),
)
TABLE: Sequence[Part] = (
    ("| What | Is |\n| --- | --- |\n", None),
    ("| it | tall |\n", 0),
    ("| it | old |\n", 1),
    ("\nAnd it is red.", 2),
)


@pytest.mark.parametrize(
    ("parts", "changes", "text"),
    [
        (TWO, {"It is tall.": ""}, "It is old [1]."),
        (TWO, {"It is old.": ""}, "It is tall [1]."),
        (TWO, {"It is tall.": "It was tall."}, "It was tall [1]. It is old [1]."),
        (TWO, {"It is old.": "It was old"}, "It is tall [1]. It was old [1]"),
        (
            TWO,
            {"It is old.": "It [1] was [so](https://e.example/) [7]."},
            "It is tall [1]. It was so [1].",
        ),
        ((("它高。", 0), ("它旧。", 1)), {"它旧。": "它很旧。"}, "它高 [1]。它很旧 [1]。"),
        (TWO, {"It is new.": ""}, "It is tall [1]. It is old [1]."),
        (TWO, {"It is tall.": "", "It is old.": ""}, ""),
        # The mark of a run of sentences stays with those that are left.
        (RUN, {"And it is high.": ""}, "It is tall [1]. It is old [1]."),
        (RUN, {"It is tall.": ""}, "And it is high [1]. It is old [1]."),
        (RUN, {"It is tall.": "Tall it is."}, "Tall it is. And it is high [1]. It is old [1]."),
        (RUN, {"It is tall.": "", "And it is high.": ""}, "It is old [1]."),
        # It is not given to one that did not share it.
        ((("Yes. ", None), *TWO), {"It is tall.": ""}, "Yes. It is old [1]."),
    ],
)
def test_sentences_are_changed_and_their_footnotes_stay(
    parts: Sequence[Part], changes: dict[str, str], text: str
) -> None:
    before = written(*parts)
    after = amended(before, changes)
    assert after.text == text
    of = {piece.replace(" [1]", ""): passage for piece, passage in spanned(before)}
    for piece, passage in spanned(after):
        claim = claim_of(piece)
        was = next((old for old, new in changes.items() if as_restated(old, new) == claim), claim)
        assert of[was] == passage


@pytest.mark.parametrize(
    ("parts", "changes", "text"),
    [
        (LIST, {"- It is old.": ""}, "- It is tall. And more [1].\n- It is red [1].\n"),
        (LIST, {"- It is tall.": ""}, "What it is:\n\n- And more [1].\n- It is old [1].\n"),
        (LIST, {"And more.": ""}, "What it is:\n\n- It is tall [1].\n- It is old [1].\n"),
        (LIST, {"- It is tall.": "", "And more.": ""}, "What it is:\n\n- It is old [1].\n"),
        (LIST, {"- It is red.": ""}, "- It is old [1].\n\nThat is all"),
        (LIST, {"- It is old.": "* It was old."}, "\n- It was old [1].\n"),
        (LIST, {"- It is old.": "", "- It is red.": ""}, "And more [1].\n\nThat is all"),
        (LIST, dict.fromkeys(("- It is tall.", "And more.", "- It is old.", "- It is red."), ""),
         "What it is:\n\nThat is all"),
        (TABLE, {"| it | tall |": "", "| it | old |": ""}, "| --- | --- |\n\nAnd it is red"),
        (TABLE, {"| it | old |": ""}, "| it | tall [1] |\n\nAnd it is red"),
    ],
)  # fmt: skip
def test_lists_and_tables_keep_their_lines(
    parts: Sequence[Part], changes: dict[str, str], text: str
) -> None:
    assert text in amended(written(*parts), changes).text


@pytest.mark.parametrize(
    ("dropped", "left"),
    [
        (["It is tall."], "It is old [1].\n\nIt is red [1]."),
        (["It is old."], "It is tall [1].\n\nIt is red [1]."),
        (["It is red."], "It is tall [1].\n\nIt is old [1].\n\n"),
        (["It is tall.", "It is old."], "It is red [1]."),
        (["It is old.", "It is red."], "It is tall [1].\n\n"),
    ],
)
def test_a_paragraph_that_goes_leaves_no_hole(dropped: list[str], left: str) -> None:
    answer = written(("It is tall.\n\n", 0), ("It is old.\n\n", 1), ("It is red.", 2))
    assert amended(answer, dict.fromkeys(dropped, "")).text == left


def test_marks_that_were_typed_stay_with_their_sentence() -> None:
    answer = Written("It is tall [1]. It is old [1].", ())
    after = amended(answer, {"It is tall.": "It was tall.", "It is old.": ""})
    assert after == Written("It was tall [1].", ())


OTHER = CitationDelta(2, 7, 9)


@pytest.mark.parametrize(
    ("parts", "claim", "text", "cited"),
    [
        (TWO, "It is tall.", "New [1][2]. It is old [1].", ([0, OTHER], [1])),
        (TWO, "It is old.", "It is tall [1]. New [1][2].", ([0], [1, OTHER])),
        # Its neighbours keep the mark that they shared with it.
        (RUN, "It is tall.", "New [1][2]. And it is high [1]. It is old [1].",
         ([0, OTHER], [0], [1])),
        (RUN, "And it is high.", "It is tall [1]. New [1][2]. It is old [1].",
         ([0], [0, OTHER], [1])),
        # One without a footnote gets one.
        ((("Yes. ", None), *TWO), "Yes.", "New [2]. It is tall [1]. It is old [1].",
         ([OTHER], [0], [1])),
    ],
)  # fmt: skip
def test_a_sentence_that_is_put_in_other_words_may_get_another_footnote(
    parts: Sequence[Part],
    claim: str,
    text: str,
    cited: Sequence[Sequence[int | CitationDelta]],
) -> None:
    after = amended(written(*parts), {claim: "New."}, {claim: (OTHER,)})
    assert after.text == text
    assert [list(span.citations) for span in after.spans] == [
        [each if isinstance(each, CitationDelta) else cites(each) for each in one] for one in cited
    ]
    for span, piece in zip(after.spans, text.replace("]. ", "].|").split("|"), strict=True):
        assert after.text[span.start : span.end].strip() == piece


def cites(passage: int) -> CitationDelta:
    return CitationDelta(1, PASSAGES[passage].start, PASSAGES[passage].end)


def test_a_typed_mark_is_added_as_a_mark_alone() -> None:
    answer = Written("It is tall [1]. It is old [1].", ())
    after = amended(answer, {"It is old.": "It was old."}, {"It is old.": (OTHER,)})
    assert after == Written("It is tall [1]. It was old [1][2].", ())


def test_what_is_left_out_or_stays_gets_no_footnote() -> None:
    before = written(*TWO)
    added = {"It is tall.": (OTHER,), "It is old.": (OTHER,)}
    assert amended(before, {}, added) == before
    after = amended(before, {"It is old.": ""}, added)
    assert after.text == "It is tall [1]."
    assert [span.citations for span in after.spans] == [(cites(0),)]


def test_only_running_text_is_put_in_other_words() -> None:
    found = restatable(written(*TABLE, ("\n\n# It is wide\n", 3)))
    assert found == {"And it is red."}


@pytest.mark.parametrize("new", ["", " ", "[1]", "- [1].", "...", "\x00"])
def test_words_that_say_nothing_take_no_place(new: str) -> None:
    assert as_restated("- It is tall.", new) == ""


SENTENCE = st.sampled_from([("Tall", 0), ("Old", 1), ("Red", 2), ("Uncited", None)])
GLUE = st.sampled_from([" ", " ", "\n", "\n\n", "\n- ", "\n\n- "])


@given(
    st.lists(st.tuples(SENTENCE, GLUE), min_size=1, max_size=8),
    st.dictionaries(st.integers(0, 7), st.sampled_from(["", "Now so."]), max_size=4),
)
def test_nothing_but_what_was_changed_changes(
    told: list[tuple[Part, str]], changed: dict[int, str]
) -> None:
    parts: list[Part] = []
    for place, ((word, passage), glue) in enumerate(told):
        before_it = glue if place else ""
        parts += [(before_it, None)] * bool(before_it.strip(" -"))
        parts.append((f"{before_it.lstrip(chr(10))}{word} is number {place}.", passage))
    before = written(*parts)
    of_claim = {claim_of(before.text[s.start : s.end]): s for s in _sentences(before)}
    changes = {
        claim: new
        for number, new in changed.items()
        for claim in of_claim
        if f"number {number}." in claim
    }
    after = amended(before, changes)
    left = [claim_of(after.text[s.start : s.end]) for s in _sentences(after)]
    kept = [claim.removeprefix("- ") for claim in of_claim if claim not in changes]
    assert [claim.removeprefix("- ") for claim in left if "number" in claim] == kept
    assert sum("Now so." in claim for claim in left) == sum(map(bool, changes.values()))
    for piece, passage in spanned(after):
        assert piece.strip()
        assert "Now so" in piece or ("Tall", "Old", "Red")[passage] in piece, piece
    assert "\n\n\n" not in after.text


def _sentences(answer: Written) -> list[Sentence]:
    return list(sentences(answer.text))


QUOTE = "The iron tower was completed in 1889 and painted red."
EVIDENCE = Evidence((Source(1, "https://a.example/", "A", (Passage(0, 53, QUOTE),), "h", NOW),))
QUESTION = "What is the tower like?"
IRON, RED = "It was built of iron.", "It is painted red today."
AWAY = ModelUnavailable("The small model does not answer.")


@dataclass
class Judging(Scripted):
    """A reasoner that ``fails`` when it is asked to verify, or to restate."""

    fails: Exception | None = None
    fails_restating: Exception | None = None
    asked: Sequence[Claim] = ()
    beside: Sequence[Claim] = ()  # shown for verifying,
    others: Sequence[Claim] = ()  # and for restating

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
    ) -> tuple[Verdict | None, ...]:
        self.asked, self.beside = claims, others
        if self.fails is not None:
            raise self.fails
        return await super().verify(question, text, claims, others)

    async def restate(
        self,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        verdicts: Sequence[Verdict],
        others: Sequence[Claim] = (),
    ) -> tuple[Restated, ...]:
        self.others = others
        if self.fails_restating is not None:
            raise self.fails_restating
        return await super().restate(question, answer, claims, verdicts, others)


@dataclass
class Together(Scripted):
    """A reasoner that says nothing until it is asked in so many ``calls`` at once."""

    calls: int = 1
    claims: list[Claim] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
    ) -> tuple[Verdict | None, ...]:
        assert len(claims) <= BATCH
        self.claims += claims
        self.calls -= 1
        if not self.calls:
            self.arrived.set()
        await asyncio.wait_for(self.arrived.wait(), 20)
        return await super().verify(question, text, claims, others)


def composed(*sentences: str) -> Written:
    """An answer whose every sentence cites the one passage."""
    composer = Composer(EVIDENCE)
    for sentence in sentences:
        parts: list[AnswerDelta] = [TextDelta(f"{sentence}\n\n", opens=True)]
        for part in (*parts, CitationDelta(1, 0, 53)):
            composer.add(part)
    return composer.finish()


async def verified(
    reasoner: Scripted, written: Written, evidence: Evidence = EVIDENCE
) -> list[Amendment]:
    def judge(written: Written, verdicts: object = None) -> Checked:
        return check(written, evidence, QUESTION, verdicts=verdicts or {})  # type: ignore[arg-type]

    found = amendments(reasoner, QUESTION, written, judge(written), judge)
    return [each async for each in found]


async def last(reasoner: Scripted, *sentences: str) -> Amendment:
    return (await verified(reasoner, composed(*sentences)))[-1]


def outcomes(amendment: Amendment) -> list[tuple[str, str, str]]:
    return [(each.sentence, each.outcome, each.now) for each in amendment.verification.sentences]


# ---------------------------------------------------------------- whether


@pytest.mark.parametrize(
    ("verify", "claims", "doubts", "wanted"),
    [
        ("off", (IRON, RED), 1, False),
        ("on", (IRON,), 0, True),
        ("on", (IRON,), 1, True),
        ("on", (IRON, QUOTE), 0, True),
        ("on", (QUOTE,), 0, False),
        ("on", (QUOTE, QUOTE), 1, False),
        ("on", (), 0, False),
    ],
)
def test_every_answer_is_verified_but_one_of_quotes_alone(
    verify: str, claims: Sequence[str], doubts: int, wanted: bool
) -> None:
    checked = Checked(
        "",
        (),
        (Doubt(IRON, "so"),) * doubts,
        claims=tuple(Claim(text, (QUOTE,)) for text in claims),
    )
    assert is_wanted(load_settings(verify=verify), checked) == wanted


@pytest.mark.parametrize(
    ("text", "quotes", "quoted"),
    [
        (QUOTE, (QUOTE,), True),
        (QUOTE.rstrip("."), ("It is green.", QUOTE), True),
        (QUOTE, (f"It is old. {QUOTE} It is tall.",), True),
        (f"{QUOTE} It is tall.", (f"It is old. {QUOTE} It is tall.",), True),
        (f"It is old. {QUOTE}", (f"It is old. {QUOTE} It is tall.",), True),
        ("它高330米。", ("它于1889年完工。它高330米。",), True),
        ("- It is tall.", ("- It is old.\n- It is tall.",), True),
        ("It is old. It is tall.", (f"It is old. {QUOTE} It is tall.",), False),
        (f"{QUOTE} It is tall.", (QUOTE, "It is tall."), False),
        ("The iron tower was completed in 1889.", (QUOTE,), False),
        ("Painted red.", (QUOTE,), False),
        ("The iron tower was completed in 1889.", (f"It is untrue that {QUOTE}",), False),
        (
            "the plant closed in 2019",
            ("Though some say the plant closed in 2019, it runs.",),
            False,
        ),
        ("它高330米。", ("没有人说它高330米。",), False),
        (QUOTE, (), False),
    ],
)
def test_only_whole_sentences_of_one_quote_are_quoted(
    text: str, quotes: tuple[str, ...], quoted: bool
) -> None:
    assert is_quoted(Claim(text, quotes)) == quoted


# ---------------------------------------------------------------- verdicts


async def test_an_answer_that_is_borne_out_stays_and_is_amended_once() -> None:
    reasoner = Judging(verdicts={IRON: Verdict("supported"), RED: Verdict("supported")})
    (only,) = await verified(reasoner, composed(IRON, RED))
    assert only.is_last
    assert only.verification.state == "done"
    assert outcomes(only) == [(IRON, "kept", ""), (RED, "kept", "")]


async def test_a_contradicted_sentence_is_left_out_until_it_is_restated() -> None:
    reasoner = Judging(
        verdicts={IRON: Verdict("supported"), RED: Verdict("contradicted")},
        restated={RED: "It was painted red."},
    )
    first, second = await verified(reasoner, composed(IRON, RED))
    assert (first.is_last, first.verification.state) == (False, "pending")
    assert outcomes(first) == [(IRON, "kept", ""), (RED, "left_out", "")]
    assert first.checked.text == "It was built of iron [1]."
    assert (second.is_last, second.verification.state) == (True, "done")
    assert outcomes(second) == [(IRON, "kept", ""), (RED, "restated", "It was painted red.")]
    assert second.checked.text == "It was built of iron [1].\n\nIt was painted red [1]."
    assert second.verification.problem == ""


@pytest.mark.parametrize(
    "said", ["", "It was painted red in 1925.", RED, Restated(RED, (CitationDelta(1, 4, 53),))]
)
async def test_a_contradicted_sentence_that_cannot_be_restated_is_left_out(
    said: str | Restated,
) -> None:
    """Nothing was said, something that the first step doubts, or the same again."""
    reasoner = Judging(
        verdicts={IRON: Verdict("supported"), RED: Verdict("contradicted")}, restated={RED: said}
    )
    amendment = await last(reasoner, IRON, RED)
    assert outcomes(amendment)[1] == (RED, "left_out", "")
    assert amendment.checked.text == "It was built of iron [1]."


@pytest.mark.parametrize("judgement", ["partly", "not_supported"])
async def test_another_unsupported_sentence_stays_marked_if_it_cannot_be_restated(
    judgement: str,
) -> None:
    verdict = Verdict(judgement, "today")  # type: ignore[arg-type]
    reasoner = Judging(verdicts={IRON: Verdict("supported"), RED: verdict})
    first, second = await verified(reasoner, composed(IRON, RED))
    assert outcomes(first) == outcomes(second) == [(IRON, "kept", ""), (RED, "marked", "")]
    assert second.verification.sentences[1].words == "today"


async def test_what_stands_word_for_word_in_a_quote_is_supported_whatever_the_model_says() -> None:
    verdicts = {IRON: Verdict("supported"), QUOTE: Verdict("contradicted")}
    reasoner = Judging(verdicts=verdicts)
    (only,) = await verified(reasoner, composed(QUOTE, IRON))
    assert [each.sentence for each in only.verification.sentences] == [QUOTE, IRON]
    assert [each.verdict for each in only.verification.sentences] == ["supported", "supported"]
    assert [claim.text for claim in reasoner.asked] == [IRON], "a copy is not paid for"


async def test_a_sentence_on_which_no_verdict_came_is_as_the_first_step_left_it() -> None:
    (only,) = await verified(Judging(verdicts={IRON: Verdict("supported")}), composed(IRON, RED))
    assert outcomes(only) == [(IRON, "kept", "")]
    assert only.checked.text.count("[1]") == 2


MOST = 2 * BATCH + 10


@pytest.mark.parametrize("count", [BATCH, BATCH + 1, MOST + 5])
@pytest.mark.parametrize("wrong", ["first", "last"])
async def test_of_a_long_answer_every_sentence_is_judged_and_corrected_in_calls_side_by_side(
    monkeypatch: pytest.MonkeyPatch, count: int, wrong: str
) -> None:
    monkeypatch.setattr("bot.research.verification.MOST", MOST)
    many = [IRON, *(f"It has {number} bolts." for number in range(1, count))]
    judged = many[:MOST]
    amiss = judged[0 if wrong == "first" else -1]
    verdicts = dict.fromkeys(many, Verdict("supported")) | {amiss: Verdict("contradicted")}
    reasoner = Together(verdicts=verdicts, restated={amiss: RED}, calls=-(-len(judged) // BATCH))
    found = await verified(reasoner, composed(*many))
    assert [claim.text for claim in reasoner.claims] == judged
    left_out = [sentence for sentence, outcome, _ in outcomes(found[0]) if outcome == "left_out"]
    assert left_out == [amiss]
    assert (amiss, "restated", RED) in outcomes(found[-1])
    assert len(outcomes(found[-1])) == len(judged)


async def test_a_call_that_fails_leaves_the_verdicts_of_the_others() -> None:
    many = [IRON, *(f"It has {number} bolts." for number in range(1, 2 * BATCH))]

    class Failing(Judging):
        async def verify(
            self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
        ) -> tuple[Verdict | None, ...]:
            if claims[0].text == IRON:
                raise AWAY
            return await super().verify(question, text, claims, others)

    reasoner = Failing(verdicts=dict.fromkeys(many, Verdict("supported")))
    (only,) = await verified(reasoner, composed(*many))
    assert (only.verification.state, only.verification.problem) == ("done", AWAY.sentence)
    assert [each.sentence for each in only.verification.sentences] == many[BATCH:]


STONE = "The bridge is of stone, grey."
BOTH = Evidence(
    (*EVIDENCE.sources, Source(2, "https://b.example/", "B", (Passage(0, 29, STONE),), "h", NOW))
)
ON_QUOTE, ON_STONE = CitationDelta(1, 0, 53), CitationDelta(2, 0, 29)


def on_both(*parts: tuple[str, CitationDelta | None]) -> Written:
    composer = Composer(BOTH)
    for sentence, cited in parts:
        composer.add(TextDelta(f"{sentence}\n\n", opens=True))
        if cited is not None:
            composer.add(cited)
    return composer.finish()


@pytest.mark.parametrize(
    ("lead", "own", "quotes"),
    [
        ("Yes.", None, ()),
        ("The tower is made of iron.", ON_QUOTE, (QUOTE,)),
        ("The tower is made of iron.", ON_STONE, (STONE,)),
    ],
)
async def test_the_first_sentence_is_verified_by_its_own_quotes_and_those_of_the_others(
    lead: str, own: CitationDelta | None, quotes: tuple[str, ...]
) -> None:
    reasoner = Judging(verdicts={lead: Verdict("supported")})
    await verified(reasoner, on_both((lead, own), (RED, ON_QUOTE), ("Grey it is.", ON_STONE)), BOTH)
    assert [(claim.text, claim.quotes, claim.anywhere) for claim in reasoner.asked] == [
        (lead, quotes, True),
        (RED, (QUOTE,), False),
        ("Grey it is.", (STONE,), False),
    ]
    assert {quote for claim in reasoner.beside for quote in claim.quotes} == {QUOTE, STONE}


@pytest.mark.parametrize(
    ("lead", "own", "text"),
    [
        ("**Yes**, both.", None, "**Yes**, both [2]."),
        (
            "The tower is *red*, the bridge grey.",
            ON_QUOTE,
            "The tower is *red*, the bridge grey [1][2].",
        ),
    ],
)
async def test_the_first_sentence_gets_the_footnotes_of_each_step_that_it_states(
    lead: str, own: CitationDelta | None, text: str
) -> None:
    written = on_both((lead, own), (RED, ON_QUOTE), ("Grey it is.", ON_STONE))
    verdicts = {each: Verdict("supported") for each in (RED, "Grey it is.")}
    verdicts[claim_of(lead)] = Verdict("supported", citations=(ON_STONE,))
    (only,) = await verified(Judging(verdicts=verdicts), written, BOTH)
    assert only.checked.text.split("\n\n")[0] == text
    assert only.checked.claims[0].quotes[-1:] == (STONE,)
    assert (only.changes, only.checked.doubts) == ({}, ())


def test_a_footnote_of_another_passage_of_the_same_page_adds_its_quote_alone() -> None:
    words = "It is tall and old."
    answer = written((f"{words} ", 0), ("And old it is.", 1))
    verdicts = {words: Verdict("supported", citations=(cites(1),))}
    (only,) = asyncio.run(verified(Judging(verdicts=verdicts), answer, PAGES_CITED))
    assert only.checked.text == "It is tall and old [1]. And old it is [1]."
    assert only.checked.claims[0].quotes == WORDS[:2]


@pytest.mark.parametrize(
    ("judgement", "new", "left"),
    [
        ("supported", "", ["> It was sold.", "> Nobody knows why."]),
        ("not_supported", "", ["> It was sold ⚠.", "> Nobody knows why."]),
        ("contradicted", "", ["> Nobody knows why."]),
        ("contradicted", "It is red.", ["> It is red [1].", "> Nobody knows why."]),
    ],
)
async def test_a_block_quote_is_amended_within_its_lines(
    judgement: str, new: str, left: list[str]
) -> None:
    sold, why = "> It was sold.", "> Nobody knows why."
    verdicts = dict.fromkeys((RED, why), Verdict("supported"))
    verdicts[sold] = Verdict(judgement)  # type: ignore[arg-type]
    restated: dict[str, str | Restated] = {sold: Restated(new, (ON_QUOTE,))}
    reasoner = Judging(verdicts=verdicts, restated=restated)
    *_, last = await verified(reasoner, on_both((RED, ON_QUOTE), (sold, None), (why, None)), BOTH)
    assert last.checked.text.split("\n\n")[1:] == left


@pytest.mark.parametrize(("judgement", "left"), [("contradicted", ""), ("partly", "No ⚠.")])
async def test_a_first_sentence_without_a_footnote_is_corrected_too_and_gets_one(
    judgement: str, left: str
) -> None:
    verdicts = {"No.": Verdict(judgement), RED: Verdict("supported")}  # type: ignore[arg-type]
    written = on_both(("No.", None), (RED, ON_QUOTE))
    first, last = await verified(Judging(verdicts=verdicts), written, BOTH)
    assert first.checked.text == last.checked.text == f"{left}\n\n{RED[:-1]} [1].".strip()
    restated: dict[str, str | Restated] = {"No.": Restated("It is red.", (ON_QUOTE,))}
    *_, last = await verified(Judging(verdicts=verdicts, restated=restated), written, BOTH)
    assert last.checked.text == f"It is red [1].\n\n{RED[:-1]} [1]."
    assert outcomes(last)[0] == ("No.", "restated", "It is red.")


async def test_a_sentence_that_cites_the_wrong_quote_gets_the_right_one() -> None:
    """The corrector sees the quotes of the whole answer."""
    stone = "The bridge is made of stone."
    written = on_both((IRON, ON_QUOTE), (stone, ON_QUOTE), ("Grey it is.", ON_STONE))
    verdicts = {
        IRON: Verdict("supported"),
        stone: Verdict("not_supported"),
        "Grey it is.": Verdict("supported"),
    }
    restated: dict[str, str | Restated] = {stone: Restated(stone, (ON_STONE,))}
    reasoner = Judging(verdicts=verdicts, restated=restated)
    *_, last = await verified(reasoner, written, BOTH)
    assert last.checked.text.split("\n\n")[1] == "The bridge is made of stone [1][2]."
    assert last.checked.claims[1].quotes == (QUOTE, STONE)
    assert {quote for claim in reasoner.others for quote in claim.quotes} == {QUOTE, STONE}


# ---------------------------------------------------------------- failing


@pytest.mark.parametrize(("error", "problem"), [(AWAY, AWAY.sentence), (None, "no verdict")])
async def test_without_any_verdict_the_answer_stays_and_the_reason_is_told(
    error: FootnoteError | None, problem: str
) -> None:
    written = composed(IRON, RED)
    (only,) = await verified(Judging(fails=error), written)
    assert only.written == written
    assert only.is_last
    assert only.verification.state == "failed"
    assert problem in only.verification.problem


async def test_where_restating_fails_the_verdicts_count() -> None:
    verdicts = {IRON: Verdict("supported"), RED: Verdict("contradicted")}
    _, second = await verified(
        Judging(verdicts=verdicts, fails_restating=AWAY), composed(IRON, RED)
    )
    assert (second.is_last, second.verification.state) == (True, "done")
    assert second.verification.problem == AWAY.sentence
    assert outcomes(second)[1] == (RED, "left_out", "")


@in_virtual_time
async def test_a_model_that_does_not_answer_is_waited_for_so_long() -> None:
    class Slow(Judging):
        async def verify(
            self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
        ) -> tuple[Verdict, ...]:
            await asyncio.Event().wait()
            return ()

    (only,) = await verified(Slow(), composed(IRON, RED))
    assert only.verification.problem == "The small model took more than 30 seconds."


PAIRS = (("It is red.", "Red it is."), ("It is red.", "It is blue."))


@pytest.mark.parametrize(
    ("error", "same"), [(None, (True, False)), (AWAY, (None, None)), (RunLost("Lost."), None)]
)
async def test_versions_of_sentences_are_compared_unless_the_model_is_away(
    error: FootnoteError | None, same: tuple[bool | None, ...] | None
) -> None:
    def compared(before: str, now: str) -> bool:
        if error is not None:
            raise error
        return "blue" not in now

    asking = compare_pairs(Scripted(same=compared), QUESTION, PAIRS)
    if same is not None:
        assert await asking == same
        return
    with pytest.raises(RunLost):
        await asking


@pytest.mark.parametrize("error", [RunLost("It is another's."), StorageUnavailable("Away.")])
async def test_an_attempt_that_cannot_go_on_ends(error: FootnoteError) -> None:
    verdicts = {IRON: Verdict("supported"), RED: Verdict("contradicted")}
    for reasoner in (Judging(fails=error), Judging(verdicts=verdicts, fails_restating=error)):
        with pytest.raises(type(error)):
            await verified(reasoner, composed(IRON, RED))

"""Measures how often a printed quote holds the words it has to prove: XQuAD, English and Chinese.

A claim is a question with its answer; it cites the passage that the answer stands in. Beside each
other: quotes cut from the front, and narrowed to the sentences that bear the claim out. Then all
claims of a paragraph cite one page, whose quotes share the room of one source, as in Slack.

Run: python -m tests.bench quotes [--every N]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.answers import Answer, Citation
from bot.pages.passages import split
from bot.rendering.footnotes import sources
from bot.research.answer.proof import proof
from tests.bench.corpus import SHARED
from tests.bench.table import print_table

LIMITS = (400, 300, 200, 120)  # characters: terminal and console, Slack and Discord, Discord's less
TOGETHER = 300  # characters of all quotes of a source
IN_ONE_ANSWER = 4  # claims of a paragraph that are cited together


@dataclass(frozen=True, slots=True)
class Cited:
    """A claim, the words it rests on, and the passage that holds these, narrowed to its proof."""

    claim: str
    words: str
    citation: Citation


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="quotes", description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    every = parser.parse_args(argv).every
    rows: list[Sequence[object]] = []
    for language in ("en", "zh"):
        began = time.perf_counter()
        paragraphs = list(_paragraphs(language, every))
        spent = time.perf_counter() - began
        flat = [each for found in paragraphs for each in found]
        whole = [replace(each, citation=_whole(each.citation)) for each in flat]
        for limit in LIMITS:
            before = _held(([each], limit, 0) for each in whole)
            after = _held(([each], limit, 0) for each in flat)
            rows.append((f"{language}, {limit} characters", len(flat), *before, *after))
        answers = [found[:IN_ONE_ANSWER] for found in paragraphs]
        joint = [_together(one) for one in answers]
        before = _held(
            (
                ([replace(each, citation=_whole(each.citation)) for each in one], TOGETHER, 0)
                for one in joint
            ),
            fronts=True,
        )
        after = _held((one, TOGETHER, TOGETHER) for one in joint)
        count = sum(map(len, answers))
        rows.append((f"{language}, {TOGETHER} for a page", count, *before, *after))
        print(f"{language}: {1000 * spent / max(len(flat), 1):.1f} ms a claim")
    print_table(["quotes", "claims", "front", "length", "narrowed", "length"], rows)


def _paragraphs(language: str, every: int) -> Iterator[list[Cited]]:
    path = SHARED / "chinese" / f"xquad.{language}.json"
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    for paragraph in paragraphs[::every]:
        passages = split(paragraph["context"])
        found = []
        for asked in paragraph["qas"]:
            at, words = asked["answers"][0]["answer_start"], asked["answers"][0]["text"]
            for passage in passages:
                if passage.start <= at and at + len(words) <= passage.end:
                    claim = f"{asked['question'].rstrip('?？')} {words}"
                    cited = proof(passage.text, [claim])
                    citation = Citation(
                        1, "https://a.example/", "A", passage.text, "", passage.start, passage.end,
                        proof=cited.spans, shared=cited.shared,
                    )  # fmt: skip
                    found.append(Cited(claim, words, citation))
        yield found


def _together(answer: Sequence[Cited]) -> list[Cited]:
    """The claims of one answer: what cites the same passage has one footnote."""
    claims: dict[int, list[str]] = {}
    for each in answer:
        claims.setdefault(each.citation.start, []).append(each.claim)
    found = {
        each.citation.start: proof(each.citation.quote, claims[each.citation.start])
        for each in answer
    }
    return [
        replace(
            each,
            citation=replace(
                each.citation,
                proof=found[each.citation.start].spans,
                shared=found[each.citation.start].shared,
            ),
        )
        for each in answer
    ]


def _whole(citation: Citation) -> Citation:
    return replace(citation, proof=None, shared=())


def _held(
    answers: Iterable[tuple[Sequence[Cited], int, int]], *, fronts: bool = False
) -> tuple[str, str]:
    """The share of claims whose words stand in what is printed, and the mean length of that."""
    held = claims = length = count = 0
    for cited, longest, together in answers:
        answer = Answer("answered", "", "", "", tuple(each.citation for each in cited))
        shown = ""
        for view in sources(answer, longest, longest_source=0 if fronts else together):
            texts = [piece.text for quote in view.quotes for piece in quote.pieces]
            shown = " … ".join(texts)[: longest if fronts else None]
        held += sum("".join(each.words.split()) in "".join(shown.split()) for each in cited)
        claims += len(cited)
        length += len(shown)
        count += 1
    return f"{held / max(claims, 1):.1%}", f"{length / max(count, 1):.0f}"

"""How much of what a follow-up leaves out is in its standalone form, without a model.

TREC CAsT 2019 and 2020: conversations of people with what each turn means, written out by hand.
The topic words of a turn are the content words of that reference that the turn itself lacks.
Counted over the turns that have any: how often all of them are in our standalone question, their
mean share, and how many words were carried along that the reference does without. Over the turns
that already stand alone: how often they come back unchanged. In CAsT 2020 many topic words come
from answers, which the set does not hold: "found before" is the most that can be carried.

Run: python -m tests.bench.rewriting
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.messages import Entry, Transcript
from bot.reasoning.extractive_rewrite import rewrite
from bot.text.terms import keywords, terms
from tests.bench.corpus import SHARED
from tests.bench.table import print_table
from tests.unit.samples import a_message

Turn = tuple[str, str]  # as it was said, as it was meant
Way = Callable[[Sequence[str]], str]  # the turns so far, the last of them to be rewritten


@dataclass(frozen=True, slots=True)
class Row:
    """One way of rewriting one set; rates, and words carried for nothing per turn."""

    data: str
    way: str
    turns: int
    all_words: float
    share: float
    idle_words: float
    standalone: int
    unchanged: float


def main(argv: list[str]) -> None:
    print_table(
        ["set", "way", "turns", "all words", "share", "idle words", "standalone", "unchanged"],
        [
            [
                row.data,
                row.way,
                row.turns,
                f"{row.all_words:.0%}",
                f"{row.share:.0%}",
                f"{row.idle_words:.1f}",
                row.standalone,
                f"{row.unchanged:.0%}",
            ]
            for row in run()
        ],
    )


def run() -> list[Row]:
    """All ways over both sets."""
    ways: dict[str, Way] = {
        "raw turn": lambda said: said[-1],
        "raw + first turn": lambda said: f"{said[-1]} {said[0]}",
        "found before": " ".join,
        "extractive": standalone,
    }
    return [
        score(name, label, conversations, way)
        for name, conversations in (("CAsT 2019", cast_2019()), ("CAsT 2020", cast_2020()))
        for label, way in ways.items()
    ]


def standalone(said: Sequence[str]) -> str:
    """The last turn as the extractive reasoner rewrites it."""
    *before, last = said
    transcript = Transcript(tuple(Entry("person", "Ada", text) for text in before))
    return rewrite(transcript, a_message(last)).question


def score(data: str, label: str, conversations: Sequence[Sequence[Turn]], way: Way) -> Row:
    shares: list[float] = []
    idle: list[int] = []
    unchanged: list[bool] = []
    for conversation in conversations:
        said = [raw for raw, _ in conversation]
        for at, (raw, meant) in enumerate(conversation[1:], start=1):
            ours = way(said[: at + 1])
            wanted = set(keywords(meant)) - set(terms(raw))
            if wanted:
                shares.append(len(wanted & set(terms(ours))) / len(wanted))
                idle.append(len(set(keywords(ours)) - set(terms(raw)) - set(keywords(meant))))
            else:
                unchanged.append(ours.strip() == raw.strip())
    return Row(
        data=data,
        way=label,
        turns=len(shares),
        all_words=sum(share == 1.0 for share in shares) / len(shares),
        share=sum(shares) / len(shares),
        idle_words=sum(idle) / len(idle),
        standalone=len(unchanged),
        unchanged=sum(unchanged) / len(unchanged),
    )


def cast_2019() -> list[list[Turn]]:
    """The conversations of CAsT 2019 whose turns were all resolved."""
    folder = SHARED / "rewriting"
    lines = (folder / "evaluation_topics_annotated_resolved_v1.0.tsv").read_text(encoding="utf-8")
    meant = dict(line.split("\t", 1) for line in lines.splitlines() if line)
    topics = json.loads((folder / "evaluation_topics_v1.0.json").read_text(encoding="utf-8"))
    return [
        [
            (turn["raw_utterance"], meant[f"{topic['number']}_{turn['number']}"])
            for turn in topic["turn"]
        ]
        for topic in topics
        if all(f"{topic['number']}_{turn['number']}" in meant for turn in topic["turn"])
    ]


def cast_2020() -> list[list[Turn]]:
    path = SHARED / "rewriting" / "2020_manual_evaluation_topics_v1.0.json"
    return [
        [(turn["raw_utterance"], turn["manual_rewritten_utterance"]) for turn in topic["turn"]]
        for topic in json.loads(path.read_text(encoding="utf-8"))
    ]

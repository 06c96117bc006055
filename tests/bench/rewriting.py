"""Measures how well a follow-up is made to stand alone: without a model, and by one.

TREC CAsT 2019 and 2020: conversations of people with what each turn means, written out by hand.
The topic words of a turn are the content words of that reference that the turn itself lacks.

Over the turns that have topic words:
  all words   how often all of them are in our standalone question
  recall      their mean share in it
  precision   of the content words we added, the share that the reference has too
  idle        words added that the reference does without, per turn
  ROUGE-1     F1 of all terms of our question against those of the reference
  invented    of the content words we added, the share that neither the earlier turns nor the
              reference has
Over the turns that already stand alone:
  unchanged   how often they come back word for word

Over conversations in pairs:
  new topic   how often the first question of one comes back word for word after all turns of the
              other

Then conversations made from questions whose page is known (tests/bench/follow_ups.py): how often
the index of local documents finds the right page first, and among its first four. What was
measured when the rules were chosen is in bot/handbook/decisions.md.

In CAsT 2020 many topic words come from answers, which the set does not hold: "found before" is the
most that can be carried. Every way sees the same: the earlier turns as they were said.

The model is measured when there is one to ask or a transcript to replay. It is asked through the
code that runs in production (bot/reasoning/model/rewrite.py), about 2,700 input tokens a turn:

  ANTHROPIC_API_KEY=... python -m tests.bench rewriting --limit 5 --record replies.jsonl
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=... FOOTNOTE_SMALL_MODEL=... \
python -m tests.bench rewriting --set 2019
  python -m tests.bench rewriting --transcript replies.jsonl

A transcript's lines are replies to requests, as --record writes them, or questions to turns:
  {"key": "<SHA-256 of the request>", "turn": "2019/31_4", "reply": {"model": ..., ...}}
  {"turn": "2019/31_4", "question": "What are the symptoms of throat cancer?"}
With a transcript, only what it lacks is asked, and only if there is a key; else turns that it
lacks are left out and counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bot.configuration import load_settings
from bot.errors import FootnoteError, ModelUnavailable
from bot.messages import Entry, Transcript
from bot.reasoning.closest.rewrite import rewrite
from bot.text.terms import keywords, terms
from tests.bench.corpus import SHARED
from tests.bench.rewriting_model import Replies, TurnCalls
from tests.bench.rewriting_pages import print_pages
from tests.bench.table import print_table
from tests.unit.samples import a_message

AT_ONCE = 4  # calls to the model
HEADER = (
    *("set", "way", "turns", "all words", "recall", "precision", "idle", "ROUGE-1", "invented"),
    *("standalone", "unchanged", "new topic"),
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation: as it was said, as it was meant. ``id`` is "2019/31_4"."""

    id: str
    said: str
    meant: str


Conversation = Sequence[Turn]
Way = Callable[[Sequence[str]], str]  # the turns so far, the last of them to be rewritten
Questions = dict[str, str]  # the standalone question of each turn, by its id


@dataclass(frozen=True, slots=True)
class Row:
    """One way of rewriting one set; rates, and words per turn. Precision and share of invented
    words are None where nothing was added at all."""

    data: str
    way: str
    turns: int
    all_words: float
    recall: float
    precision: float | None
    idle: float
    rouge: float
    invented: float | None
    standalone: int
    unchanged: float
    new_topic: float | None = None


def main(argv: list[str]) -> None:
    options = _options(argv)
    sets = {"2019": ("CAsT 2019", cast_2019), "2020": ("CAsT 2020", cast_2020)}
    rows: list[Row] = []
    remarks: list[str] = []
    for name, (label, load) in sets.items():
        if options.set in (name, "all"):
            conversations = load()[: options.limit or None]
            rows += [
                replace(score(label, *made), new_topic=of_new_topics(conversations, WAYS[made[0]]))
                for made in without_model(conversations)
            ]
            if options.transcript or os.environ.get("ANTHROPIC_API_KEY"):
                asked = asyncio.run(by_model(conversations, options.transcript, options.record))
                rows += [score(label, asked.label, conversations, asked.questions)]
                remarks.append(f"{label}: {asked.remark}")
    print_rows(rows)
    for remark in remarks:
        print(remark)
    if not options.limit:
        print_pages(options.half)


def print_rows(rows: Sequence[Row]) -> None:
    print_table(
        HEADER,
        [
            [
                row.data,
                row.way,
                row.turns,
                f"{row.all_words:.0%}",
                f"{row.recall:.0%}",
                "-" if row.precision is None else f"{row.precision:.0%}",
                f"{row.idle:.1f}",
                f"{row.rouge:.2f}",
                "-" if row.invented is None else f"{row.invented:.0%}",
                row.standalone,
                f"{row.unchanged:.0%}",
                "-" if row.new_topic is None else f"{row.new_topic:.0%}",
            ]
            for row in rows
        ],
    )


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.bench rewriting",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--set", choices=("2019", "2020", "all"), default="all")
    parser.add_argument("--half", choices=("tune", "held"), default="held", help="of the pages")
    parser.add_argument("--limit", type=int, default=0, help="conversations of each set (0: all)")
    parser.add_argument("--transcript", type=Path, help="replay the replies of this file")
    parser.add_argument("--record", type=Path, help="append the replies that were asked for")
    return parser.parse_args(argv)


# ---------------------------------------------------------------- the ways


def without_model(
    conversations: Sequence[Conversation],
) -> list[tuple[str, Sequence[Conversation], Questions]]:
    """All ways that ask no model: their names, and what each makes of every turn."""
    return [
        (
            label,
            conversations,
            {
                turn.id: way([earlier.said for earlier in turns[: at + 1]])
                for turns in conversations
                for at, turn in enumerate(turns)
            },
        )
        for label, way in WAYS.items()
    ]


def standalone(said: Sequence[str]) -> str:
    """The last turn as it is rewritten without a model."""
    return rewrite(_before(said[:-1]), a_message(said[-1])).question


WAYS: Mapping[str, Way] = {
    "raw turn": lambda said: said[-1],
    "raw + first turn": lambda said: f"{said[-1]} {said[0]}",
    "found before": " ".join,
    "closest passages": standalone,
}


def _before(said: Sequence[str]) -> Transcript:
    return Transcript(tuple(Entry("person", "Ada", text) for text in said))


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions that a model made of the turns it was asked for, and their cost."""

    label: str
    questions: Questions
    remark: str


async def by_model(
    conversations: Sequence[Conversation], transcript: Path | None, record: Path | None
) -> Asked:
    """Rewrite every follow-up through Claude's own rewriting. Raises ``FootnoteError``."""
    from bot.observing import nothing_observed
    from bot.reasoning.declaration import chosen_reasoner

    key = os.environ.get("ANTHROPIC_API_KEY", "")
    given = {"anthropic_api_key": key or "none"}
    if base := os.environ.get("ANTHROPIC_BASE_URL"):
        given["anthropic_base_url"] = base
    if model := os.environ.get("FOOTNOTE_SMALL_MODEL"):
        given["small_model"] = model
    settings = load_settings(**given)
    with ExitStack() as opened:
        file = opened.enter_context(record.open("a", encoding="utf-8")) if record else None
        replies = Replies.read(transcript, file) if transcript else Replies(record=file)
        room = asyncio.Semaphore(AT_ONCE)
        async with chosen_reasoner(settings).open(settings, nothing_observed, True) as make:

            async def ask(said: Sequence[str], turn: Turn) -> tuple[str | None, TurnCalls]:
                calls = TurnCalls(turn.id, replies, asks=bool(key))
                async with room:
                    try:
                        found = await make(calls).rewrite(_before(said), a_message(turn.said))
                    except ModelUnavailable:
                        if key:
                            raise
                        return None, calls
                return found.question, calls

            work = [
                (turn, partial(ask, [earlier.said for earlier in turns[:at]], turn))
                for turns in conversations
                for at, turn in enumerate(turns)
                if at
            ]
            done = await asyncio.gather(*(begin() for _, begin in work))
    questions = {
        turn.id: question
        for (turn, _), (question, _) in zip(work, done, strict=True)
        if question is not None
    }
    made = [reply for _, calls in done for reply in calls.made]
    tokens = sum(r.input_tokens + r.cache_read_tokens + r.cache_write_tokens for r in made)
    output = sum(reply.output_tokens for reply in made)
    models = dict.fromkeys(r.model for r in (*replies.by_key.values(), *replies.by_turn.values()))
    return Asked(
        ", ".join(models) or "model",
        questions,
        f"{len(questions)} of {len(work)} turns rewritten, {len(made)} calls made, "
        f"{tokens:,} input and {output:,} output tokens",
    )


# ---------------------------------------------------------------- measuring


def score(
    data: str, label: str, conversations: Sequence[Conversation], questions: Questions
) -> Row:
    """Measure the questions that a way made of the turns; turns it has none for are left out."""
    recalls: list[float] = []
    rouges: list[float] = []
    added_in_all = wanted_of_added = invented = 0
    unchanged: list[bool] = []
    for turns in conversations:
        for at, turn in enumerate(turns[1:], start=1):
            ours = questions.get(turn.id)
            if ours is None:
                continue
            wanted = set(keywords(turn.meant)) - set(terms(turn.said))
            if not wanted:
                unchanged.append(ours.strip() == turn.said.strip())
                continue
            added = set(keywords(ours)) - set(terms(turn.said))
            before = {term for earlier in turns[:at] for term in terms(earlier.said)}
            recalls.append(len(wanted & set(terms(ours))) / len(wanted))
            rouges.append(rouge_1(ours, turn.meant))
            added_in_all += len(added)
            wanted_of_added += len(added & set(keywords(turn.meant)))
            invented += len(added - before - set(terms(turn.meant)))
    return Row(
        data=data,
        way=label,
        turns=len(recalls),
        all_words=_mean([recall == 1.0 for recall in recalls]),
        recall=_mean(recalls),
        precision=wanted_of_added / added_in_all if added_in_all else None,
        idle=(added_in_all - wanted_of_added) / max(1, len(recalls)),
        rouge=_mean(rouges),
        invented=invented / added_in_all if added_in_all else None,
        standalone=len(unchanged),
        unchanged=_mean(unchanged),
    )


def of_new_topics(conversations: Sequence[Conversation], way: Way) -> float:
    """The share of first questions that stay as they are after another conversation."""
    pairs = zip(conversations, [*conversations[1:], conversations[0]], strict=True)
    return _mean(
        [
            way([*(turn.said for turn in before), after[0].said]) == after[0].said
            for before, after in pairs
        ]
    )


def rouge_1(ours: str, reference: str) -> float:
    """F1 of the terms of two texts, repeats counted (Lin, ROUGE, 2004; our terms are stems)."""
    one, other = Counter(terms(ours)), Counter(terms(reference))
    common = (one & other).total()
    return 2 * common / (one.total() + other.total()) if common else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ---------------------------------------------------------------- the data


def cast_2019() -> list[list[Turn]]:
    """The conversations of CAsT 2019 whose turns were all resolved."""
    folder = SHARED / "rewriting"
    lines = (folder / "evaluation_topics_annotated_resolved_v1.0.tsv").read_text(encoding="utf-8")
    meant = dict(line.split("\t", 1) for line in lines.splitlines() if line)
    topics = json.loads((folder / "evaluation_topics_v1.0.json").read_text(encoding="utf-8"))
    return [
        [
            Turn(
                f"2019/{topic['number']}_{turn['number']}",
                turn["raw_utterance"],
                meant[f"{topic['number']}_{turn['number']}"],
            )
            for turn in topic["turn"]
        ]
        for topic in topics
        if all(f"{topic['number']}_{turn['number']}" in meant for turn in topic["turn"])
    ]


def cast_2020() -> list[list[Turn]]:
    path = SHARED / "rewriting" / "2020_manual_evaluation_topics_v1.0.json"
    return [
        [
            Turn(
                f"2020/{topic['number']}_{turn['number']}",
                turn["raw_utterance"],
                turn["manual_rewritten_utterance"],
            )
            for turn in topic["turn"]
        ]
        for topic in json.loads(path.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (FootnoteError, ValueError) as error:
        sys.exit(str(error))

"""A busy workspace: what people write, at a steady rate, and how soon each event is acknowledged.

An event's time begins when the fake sends it and ends when its acknowledgement is read; how late
the fake itself was in sending it is told apart (``lag``).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tests.bench.chat_stage import CHANNELS, PEOPLE, Serving, Stage
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_delivery import Delivery

RATE = 200  # events a second that reach the app
QUESTIONS = 2  # of people, a second; each is told by two events
REPLIES = 3  # every third of the other messages stands in a thread that Footnote is not in
THREADS = 60
DRAIN_SECONDS = 90.0

TALK = (
    "Has anyone seen the new coffee machine?",
    "The release went out, thanks to everybody who helped with it. "
    "The numbers look good so far, and the graphs are where they always are.",
    "https://example.com/minutes are the minutes of this morning",
    "lunch?",
    "I moved the meeting to Thursday because half of us are away on Wednesday; "
    "tell me if that does not work for you and we will find another day.",
)
ASKED = (
    "How does Footnote resume a run that was interrupted?",
    "What is the journal for?",
    "Which exit codes are there?",
    "How does the check find unsupported claims?",
    "Where does Footnote keep its data?",
)
KINDS = ("talk", "reply", "question", "own post")


@dataclass(frozen=True, slots=True)
class Load:
    """``seconds`` by kind of event, of those acknowledged; ``processor`` is `serve`'s share of a
    core; ``answered`` the questions answered within ``drained`` seconds after the last event."""

    seconds: dict[str, list[float]]
    unacknowledged: int
    lag: list[float]
    rate: float
    processor: float
    asked: int
    answered: int
    drained: float

    @property
    def all(self) -> list[float]:
        return [one for kind in self.seconds.values() for one in kind]

    def share(self, kind: str) -> float:
        return len(self.seconds[kind]) / max(len(self.all), 1)


def put_load(stage: Stage, running: Serving, seconds: float) -> Load:
    """Let people talk for so long, and wait until their questions are answered."""
    slack = stage.slack
    roots = [
        (channel, slack.say(PEOPLE[0], channel, "A thread of people").wait().ts)
        for channel in (CHANNELS * THREADS)[:THREADS]
    ]
    first = len(slack.deliveries)
    began, used = time.perf_counter(), running.processor_seconds()
    questions = list(_talk(stage, roots, began, seconds))
    ended = time.perf_counter()
    processor = (running.processor_seconds() - used) / (ended - began)
    answered = _drained(stage, questions)
    drained = time.perf_counter() - ended
    told = slack.deliveries[first:]
    slack.wait_for(lambda: all(one.tried for one in told), slack.ack_seconds + DRAIN_SECONDS)
    during = [one for one in told if one.made <= ended]
    return Load(
        _by_kind(during),
        sum(not one.acked for one in told),
        [one.attempts[0].sent - one.made for one in during if one.attempts],
        len(during) / (ended - began),
        processor,
        len(questions),
        answered,
        drained,
    )


def _talk(
    stage: Stage, roots: Sequence[tuple[str, str]], began: float, seconds: float
) -> Iterator[tuple[str, str]]:
    """Say things on time; yields channel and ``ts`` of each question."""
    slack = stage.slack
    every = RATE // QUESTIONS
    number = 0
    while number < RATE * seconds:
        delay = began + number / RATE - time.perf_counter()
        if delay > 0:
            time.sleep(delay)
        person = PEOPLE[number % len(PEOPLE)]
        channel = CHANNELS[number // 7 % len(CHANNELS)]
        words = TALK[number % len(TALK)]
        if number % every == 0:
            question = ASKED[number // every % len(ASKED)]
            yield channel, slack.say(person, channel, f"{slack.mention} {question}").ts
            number += 1  # told by two events
        elif number % REPLIES == 0:
            place, root = roots[number % len(roots)]
            slack.say(person, place, words, root)
        else:
            slack.say(person, channel, words)
        number += 1


def _drained(stage: Stage, questions: Sequence[tuple[str, str]]) -> int:
    """The number of questions that are answered in time."""

    def answered() -> int:
        return sum(is_answered(stage.slack, *question) for question in questions)

    with suppress(TimeoutError):
        stage.slack.wait_for(lambda: answered() == len(questions), DRAIN_SECONDS)
    return answered()


def is_answered(slack: FakeSlack, channel: str, ts: str) -> bool:
    """Return True if the answer to a question is there with its buttons, and nothing is at work."""
    session = slack.session(channel, ts)
    if session is not None and session.status == "processing":
        return False
    return any(one.elements() and not one.streaming for one in slack.replies(channel, ts))


def _by_kind(deliveries: Sequence[Delivery]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for one in deliveries:
        if one.ack_seconds is not None:
            found[_kind(one)].append(one.ack_seconds)
    return found


def _kind(delivery: Delivery) -> str:
    event = delivery.payload["event"]
    said = event.get("message") or event
    if said.get("bot_id"):
        return "own post"
    if event["type"] == "app_mention" or said.get("text", "").startswith(
        f"<@{FakeSlack.bot_user}>"
    ):
        return "question"
    return "reply" if said.get("thread_ts") not in (None, said.get("ts")) else "talk"

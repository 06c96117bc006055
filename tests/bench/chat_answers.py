"""Single answers on either platform: when the first sign and the whole answer were to be seen, and
what they cost in calls."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.bench.chat_load import is_answered
from tests.bench.chat_stage import CHANNELS, PEOPLE, Stage
from tests.fakes.claude import Block, Reply, researcher, text
from tests.fakes.discord_server import Channel, Interaction, Message
from tests.fakes.discord_traffic import GLOBAL_LIMIT, LIKE_DISCORD
from tests.fakes.slack_limits import RULES

ANSWER_SECONDS = 120.0
LONG_TOKENS = 1_200  # 20 s of writing at 60 tokens/s
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Called:
    """One call to a platform: its method or route, the channel it is limited by, when it was
    answered, whether it was told to wait."""

    name: str
    channel: str
    at: float
    limited: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """Seconds from the event to the first visible sign, to the first message and to the end."""

    sign: float
    message: float
    finished: float
    messages: int
    calls: tuple[Called, ...] = field(default=())

    def count(self) -> Counter[str]:
        return Counter(call.name for call in self.calls)


# ---------------------------------------------------------------- Slack


def ask_in_slack(stage: Stage, question: str, number: int) -> Answered:
    """A mention in a channel where nothing else happens."""
    slack = stage.slack
    before = len(slack.calls())
    channel = CHANNELS[number % len(CHANNELS)]
    began = time.perf_counter()
    ts = slack.say(PEOPLE[number % len(PEOPLE)], channel, f"{slack.mention} {question}").ts
    slack.wait_for(lambda: is_answered(slack, channel, ts), ANSWER_SECONDS)
    calls = [call for call in slack.calls()[before:] if _place(call.args) == channel]
    done = [call for call in calls if call.ok]
    posts = [call for call in done if call.method.startswith("chat.")]
    return Answered(
        done[0].began + done[0].seconds - began,
        posts[0].began + posts[0].seconds - began,
        posts[-1].began + posts[-1].seconds - began,
        len(slack.replies(channel, ts)),
        tuple(
            Called(call.method, channel, call.began + call.seconds, call.status == 429)
            for call in slack.calls()[before:]
        ),
    )


def _place(args: Mapping[str, Any]) -> str:
    return str(args.get("channel") or args.get("channel_id") or "")


# ---------------------------------------------------------------- Discord


def ask_in_discord(stage: Stage, question: str, number: int) -> Answered:
    """A mention in a text channel, answered in a thread."""
    discord = stage.discord
    before = len(discord.requests())
    began = time.time()
    asked = discord.people.say(stage.ada, stage.general, question, mentions_bot=True)
    discord.wait(lambda: _is_answered(stage, discord.thread_of(asked)), ANSWER_SECONDS)
    return _discord_answer(stage, asked, began, before)


def _is_answered(stage: Stage, thread: Channel | None) -> bool:
    posts = stage.discord.posts(thread) if thread is not None else []
    return any("feedback" in id for post in posts for _, id in post.buttons)


def _discord_answer(stage: Stage, asked: Message, began: float, before: int) -> Answered:
    discord = stage.discord
    thread = discord.thread_of(asked)
    assert thread is not None
    requests = discord.requests()[before:]
    done = [(r.at + r.seconds - began, r) for r in requests if r.status < 300]
    posts = [at for at, r in done if f"/channels/{thread.id}/messages" in r.path]
    opened = [at for at, r in done if r.template.endswith("/threads")]
    return Answered(
        min(opened + posts),
        posts[0],
        posts[-1],
        len(discord.posts(thread)),
        tuple(
            Called(f"{r.method} {r.template}", _major(r.path), r.at + r.seconds, r.status == 429)
            for r in requests
        ),
    )


def _major(path: str) -> str:
    """The id that a bucket is kept for: the first one in the path."""
    return next((part for part in path.split("/") if part.isdecimal()), "")


def interact(stage: Stage, question: str, count: int, rate: float) -> list[float]:
    """Seconds from ``/ask`` to the deferred response, of so many at this rate a second."""
    discord = stage.discord
    discord.wait(discord.registered, 30)
    made: list[Interaction] = []
    began = time.perf_counter()
    for number in range(count):
        delay = began + number / rate - time.perf_counter()
        if delay > 0:
            time.sleep(delay)
        options = {"question": question}
        made.append(discord.people.slash(stage.ada, stage.general, "ask", options))
    discord.wait(lambda: all(one.acknowledged for one in made), 30)
    discord.wait(lambda: _all_answered(stage, count), ANSWER_SECONDS)
    return [one.seconds for one in made if one.seconds is not None]


def _all_answered(stage: Stage, count: int) -> bool:
    threads = stage.discord.threads_in(stage.general)
    return sum(_is_answered(stage, thread) for thread in threads) >= count


# ---------------------------------------------------------------- a slow model


def long_writer(request: Mapping[str, Any]) -> Reply:
    """The researcher of the fakes, but its answer is an essay: paragraphs of cited sentences."""
    reply = researcher(request)
    sentences = [
        {**block, "text": " ".join(block["text"].split())}
        for block in reply.content
        if block.get("citations")
    ]
    if not sentences:
        return reply
    content: list[Block] = []
    while Reply(tuple(content)).tokens < LONG_TOKENS:
        content += [sentences[len(content) // 2 % len(sentences)], text("\n\n")]
    return Reply(tuple(content))


# ---------------------------------------------------------------- what the platforms allow


def most_in(window: float, calls: Iterable[Called]) -> int:
    """The most calls of one channel that fell into so many seconds."""
    most = 0
    by_channel: dict[str, list[float]] = {}
    for call in sorted(calls, key=lambda call: call.at):
        recent = by_channel.setdefault(call.channel, [])
        recent.append(call.at)
        while recent[0] <= call.at - window:
            recent.pop(0)
        most = max(most, len(recent))
    return most


def slack_rows(short: Sequence[Answered], long: Answered) -> list[tuple[object, ...]]:
    """Per method: calls of a short and of a long answer, most in a minute of the long one, and
    what Slack allows a minute."""
    rows: list[tuple[object, ...]] = []
    for method in sorted({call.name for one in (*short, long) for call in one.calls}):
        rule = RULES[method]
        mine = [call for call in long.calls if call.name == method]
        each = sum(one.count()[method] for one in short) / len(short)
        allowed = f"{rule.calls_a_minute} a minute" + (", channel" if rule.by_channel else "")
        rows.append((method, f"{each:.1f}", len(mine), most_in(MINUTE, mine), allowed))
    return rows


def discord_rows(short: Sequence[Answered], long: Answered) -> list[tuple[object, ...]]:
    """The same for Discord's routes; the most within the window of the route's own bucket."""
    rows: list[tuple[object, ...]] = []
    for name in sorted({call.name for one in (*short, long) for call in one.calls}):
        method, _, template = name.partition(" ")
        count, window = LIKE_DISCORD.get((method, template), (GLOBAL_LIMIT, 1.0))
        mine = [call for call in long.calls if call.name == name]
        each = sum(one.count()[name] for one in short) / len(short)
        allowed = f"{count} in {window:g} s"
        rows.append((name, f"{each:.1f}", len(mine), most_in(window, mine), allowed))
    return rows

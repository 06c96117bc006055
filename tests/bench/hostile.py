"""The effect of hostile web servers on people whose questions do not read them.

`footnote serve` is connected to a fake Slack. People ask it to read links of 50 servers that are
made to keep a reader busy, and meanwhile others write, and somebody looks at ``/healthz``. The same
load with honest servers comes first, so that what the machine itself is busy with can be told from
what the servers do. Last, one person's question with slow links runs beside another's with one good
link. Servers are a process of their own.
"""

from __future__ import annotations

import http.client
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from tests.bench.frame import (
    REPOSITORY,
    Running,
    options,
    percentile,
    print_table,
    processor_seconds,
    running,
    tell,
)
from tests.fakes.hostile import KINDS
from tests.fakes.hostile_words import SIGNS, repeated
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import UNLIMITED

PEOPLE = tuple(f"U{number}" for number in range(1, 21))
CHANNELS = tuple(f"C{number}" for number in range(1, 21))
SERVERS = 50
QUESTIONS = 6  # under way at once
LINKS = 20  # in each
LOADS = ("honest", "hostile")  # servers, one after the other
SLOW_LINKS = 12
GOOD_LINKS = 5
SECONDS = 20.0  # for which each load is measured
EVERY = 0.02  # seconds between two looks, and between two events
DRAIN_SECONDS = 120.0

TARGET = "< 100"
HOSTILE_QUESTIONS = 40  # a minute
HOSTILE_TARGET = "p99 < 200"


def main(arguments: list[str]) -> None:
    parser = options("hostile", __doc__)
    parser.add_argument("--kind", choices=KINDS, help="all servers of one kind")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--questions", action="store_true", help="only hostile questions")
    given = parser.parse_args(arguments)
    seconds = 0.3 if given.quick else given.seconds
    if given.questions:
        print_table(("hostile questions", "measured", "target"), hostile_questions(seconds))
        return
    kinds = [given.kind] if given.kind else ["one_byte_chunks"] if given.quick else list(KINDS)
    servers = 2 if given.quick else SERVERS
    rows = []
    with a_web(list(itertools.islice(itertools.cycle(kinds), servers))) as web:
        for name in LOADS[-1:] if given.quick else LOADS:
            ports = web.honest if name == "honest" else web.hostile
            tell(f"{QUESTIONS} questions with {LINKS} links of {name} servers")
            with served() as (slack, serving):
                answered_in(slack, PEOPLE[1], question(web.honest, 1))  # what is slow once
                found = measured(slack, serving, ports, seconds)
            rows += found.rows(name)
        tell("two people's questions")
        rows += beside(web, *((1, 1) if given.quick else (SLOW_LINKS, GOOD_LINKS)))
    print_table(("hostile servers", "measured", "target"), rows)


Row = tuple[str, str, str]

# ---------------------------------------------------------------- the web


@dataclass(frozen=True, slots=True)
class AWeb:
    """Ports of 127.0.0.1."""

    hostile: Sequence[int]
    laborious: Sequence[int]
    honest: Sequence[int]


@contextmanager
def a_web(kinds: Sequence[str]) -> Iterator[AWeb]:
    """Servers of these kinds, and an honest one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.hostile", *kinds],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        *hostile, laborious, honest = json.loads(process.stdout.readline())
        yield AWeb(hostile, [laborious], [honest])
    finally:
        process.kill()
        process.communicate()


@contextmanager
def served() -> Iterator[tuple[FakeSlack, Running]]:
    """A Slack with people, and the real `footnote serve` that is connected to it."""
    with (
        FakeSlack(REPOSITORY / "adapters/slack/manifest.yaml", rate_limits=UNLIMITED) as slack,
        tempfile.TemporaryDirectory() as folder,
    ):
        for user in PEOPLE:
            slack.add_user(user, f"person{user}")
        for channel in CHANNELS:
            slack.add_channel(channel, f"channel-{channel.lower()}", members=PEOPLE)
        settings = {
            "FOOTNOTE_DOCS": str(REPOSITORY / "bot/handbook"),
            "FOOTNOTE_HTTP_PORT": "0",
            "FOOTNOTE_FETCH_ALLOW": "127.0.0.1",
            "FOOTNOTE_PROVIDERS": "local",
            "FOOTNOTE_SLACK_API_URL": slack.api_url,
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "SLACK_SIGNING_SECRET": slack.signing_secret,
        }
        with running(["serve"], settings, folder) as serving:
            serving.until_told("slack is connected.")
            yield slack, serving


def is_answered(slack: FakeSlack, channel: str, ts: str) -> bool:
    """Return True if the answer to a question is there with its buttons, and nothing is at work."""
    session = slack.session(channel, ts)
    if session is not None and session.status == "processing":
        return False
    return any(one.elements() and not one.streaming for one in slack.replies(channel, ts))


_numbers = itertools.count(1)


def question(ports: Sequence[int], links: int) -> str:
    """A question with so many links, all of which are new; each server in its turn."""
    numbers = [next(_numbers) for _ in range(links)]
    return "what do these say about tides? " + " ".join(
        f"http://127.0.0.1:{ports[number % len(ports)]}/{number}" for number in numbers
    )


# ---------------------------------------------------------------- measuring


@dataclass
class Found:
    """``looks`` and ``acks`` in milliseconds; ``share`` is `serve`'s own of a processor."""

    looks: list[float] = field(default_factory=list)
    acks: list[float] = field(default_factory=list)
    missed: int = 0
    asked: int = 0
    share: float = 0.0

    def rows(self, name: str) -> list[Row]:
        target = TARGET if name == "hostile" else ""
        return [
            (f"{name}: /healthz p50/p99/max, ms", three(self.looks), target),
            ("  Slack event p50/p99/max, ms", three(self.acks), target),
            ("  events not acknowledged", f"{self.missed} of {len(self.acks) + self.missed}", "0"),
            ("  questions asked", str(self.asked), ""),
            ("  processor of `serve`", f"{self.share:.0%}", ""),
        ]


def three(values: Sequence[float]) -> str:
    if not values:
        return "none"
    return f"{percentile(values, 0.5):.0f} / {percentile(values, 0.99):.0f} / {max(values):.0f}"


def measured(slack: FakeSlack, serving: Running, ports: Sequence[int], seconds: float) -> Found:
    """Keep so many questions under way for so long, and look at the listener meanwhile."""
    found, ended = Found(), threading.Event()
    looker = threading.Thread(target=look, args=(serving.address, found.looks, ended))
    asked: list[tuple[str, str]] = []
    first = len(slack.deliveries)
    began, used = time.perf_counter(), processor_seconds(serving.pid)
    looker.start()
    number = 0
    while time.perf_counter() < began + seconds:
        place = number % len(CHANNELS)
        if number % 10 == 0:  # else it would be looked at all the time
            open_ = [one for one in asked if not is_answered(slack, *one)]
            for _ in range(QUESTIONS - len(open_)):
                channel = CHANNELS[len(asked) % len(CHANNELS)]
                words = f"{slack.mention} {question(ports, LINKS)}"
                asked.append((channel, slack.say(PEOPLE[0], channel, words).ts))
        slack.say(PEOPLE[place], CHANNELS[place], "lunch?")
        number += 1
        time.sleep(EVERY)
    found.share = (processor_seconds(serving.pid) - used) / (time.perf_counter() - began)
    ended.set()
    looker.join()
    told = slack.deliveries[first:]
    slack.wait_for(lambda: all(one.tried for one in told), slack.ack_seconds + DRAIN_SECONDS)
    found.asked = len(asked)
    for one in told:
        if one.ack_seconds is None:
            found.missed += 1
        else:
            found.acks.append(one.ack_seconds * 1000)
    return found


def look(address: str, taken: list[float], ended: threading.Event) -> None:
    """Milliseconds of ``/healthz``, again and again over one connection."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    while not ended.wait(EVERY):
        began = time.perf_counter()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        taken.append((time.perf_counter() - began) * 1000)
    connection.close()


def beside(web: AWeb, slow_links: int, times: int) -> list[Row]:
    """Until a question with one good link is answered: alone, and while another person's question
    with slow links is under way."""
    rows = []
    with served() as (slack, _):
        answered_in(slack, PEOPLE[1], question(web.honest, 1))  # what is slow once
        rows.append(("one good link, alone: median/max, s", good_links(slack, web, times), ""))
        for name, ports in (("slow servers", web.hostile), ("laborious pages", web.laborious)):
            words = f"{slack.mention} {question(ports, slow_links)}"
            slow = slack.say(PEOPLE[2], CHANNELS[2], words)
            time.sleep(1.0)
            rows.append(
                (f"  beside {slow_links} {name}", good_links(slack, web, times), "the same")
            )
            if is_answered(slack, CHANNELS[2], slow.ts):
                rows.append(("  (which were read before that)", "", ""))
            slack.wait_for(partial(is_answered, slack, CHANNELS[2], slow.ts), DRAIN_SECONDS)
    return rows


def hostile_questions(seconds: float) -> list[Row]:
    """What others notice of so many hostile questions and follow-ups a minute."""
    with served() as (slack, serving):
        found, ended = Found(), threading.Event()
        answered_in(slack, PEOPLE[1], "How are secrets stored?")  # what is slow once
        looker = threading.Thread(target=look, args=(serving.address, found.looks, ended))
        first = len(slack.deliveries)
        waited = []
        looker.start()
        began, used = time.perf_counter(), processor_seconds(serving.pid)
        threads: list[str] = []
        while time.perf_counter() < began + seconds:
            signs = repeated(SIGNS[found.asked % len(SIGNS)])
            if found.asked % 2 and threads:
                slack.say(PEOPLE[0], CHANNELS[0], signs, thread_ts=threads[-1])
            else:
                threads.append(slack.say(PEOPLE[0], CHANNELS[0], f"{slack.mention} {signs}").ts)
            found.asked += 1
            if not found.asked % 10:
                waited.append(answered_in(slack, PEOPLE[1], "How are secrets stored?"))
            time.sleep(max(began + found.asked * 60 / HOSTILE_QUESTIONS - time.perf_counter(), 0))
        found.share = (processor_seconds(serving.pid) - used) / (time.perf_counter() - began)
        ended.set()
        looker.join()
        told = slack.deliveries[first:]
        slack.wait_for(lambda: all(one.tried for one in told), slack.ack_seconds + DRAIN_SECONDS)
        found.missed = sum(one.ack_seconds is None for one in told)
        found.acks = [one.ack_seconds * 1000 for one in told if one.ack_seconds is not None]
        others = f"{statistics.median(waited):.2f} / {max(waited):.2f}" if waited else "none"
        rows = found.rows("questions")
        return [
            (rows[0][0], rows[0][1], HOSTILE_TARGET),
            *rows[1:],
            ("  another person's answer: median/max, s", others, ""),
        ]


def good_links(slack: FakeSlack, web: AWeb, times: int) -> str:
    """Seconds of some questions, one after the other."""
    taken = [answered_in(slack, PEOPLE[1], question(web.honest, 1)) for _ in range(times)]
    return f"{statistics.median(taken):.2f} / {max(taken):.2f}"


def answered_in(slack: FakeSlack, person: str, words: str) -> float:
    began = time.perf_counter()
    ts = slack.say(person, CHANNELS[1], f"{slack.mention} {words}").ts
    slack.wait_for(lambda: is_answered(slack, CHANNELS[1], ts), DRAIN_SECONDS)
    return time.perf_counter() - began

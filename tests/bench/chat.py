"""The real `footnote serve` on both platforms: acknowledgements, first signs, calls, memory.

The fakes run on loopback in this process, `serve` in one of its own. Answers come from the
closest passages over the bundled handbook, so that no model is measured; only "long" is written
by a fake Claude that takes its time. ``--seconds N`` shortens the two loads (30 s each).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time

from tests.bench.chat_answers import (
    LONG_TOKENS,
    Answered,
    ask_in_discord,
    ask_in_slack,
    discord_rows,
    interact,
    long_writer,
    slack_rows,
)
from tests.bench.chat_load import ASKED, RATE, Load, put_load
from tests.bench.chat_stage import CONNECTED, Serving, Stage, complaints, platforms, serving
from tests.bench.table import ms, percentile, print_table
from tests.fakes.claude import FakeClaude
from tests.fakes.server import serve
from tests.fakes.slack_limits import RULES, UNLIMITED

LOAD_SECONDS = 30.0
STARTS = 3
SETTLE_SECONDS = 3.0
SIGNS = 10
INTERACTIONS, INTERACTIONS_A_SECOND = 40, 4.0
FIRST_TOKEN, TOKENS_A_SECOND = 1.5, 60.0
ESSAY = "How does Footnote resume a run that was interrupted, and what is the journal for?"

Row = tuple[str, str, str]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench chat", description=__doc__)
    parser.add_argument("--seconds", type=float, default=LOAD_SECONDS, help="of each load")
    given = parser.parse_args(arguments)
    sys.setswitchinterval(0.0005)  # the fakes' threads share this process
    began = time.perf_counter()
    rows = [*idle(), *under_load(given.seconds)]
    short, rows_of_signs = first_signs()
    rows += rows_of_signs
    long = long_answers()
    rows += [
        (f"long: {LONG_TOKENS} tokens at {TOKENS_A_SECOND:g}/s", _writing(), ""),
        ("long: event to answer, Slack / Discord", _both(long, "finished"), ""),
        ("messages an answer, short", _messages(short), ""),
        ("messages an answer, long", " / ".join(str(one.messages) for one in long), ""),
        ("calls told to wait (429), long", str(_limited(long)), "0"),
        ("answers a minute in Slack's tiers, short", _answers_a_minute(short[-1][0]), ""),
        ("answers a minute in Slack's tiers, long", _answers_a_minute(long[0]), ""),
    ]
    print_table(("chat", "measured", "target"), rows)
    for name, table, at in (("Slack", slack_rows, 0), ("Discord", discord_rows, 1)):
        print()
        header = (f"calls to {name}", "short", "long", "most at once", "allowed")
        print_table(header, table([pair[at] for pair in short], long[at]))
    print(f"\n{time.perf_counter() - began:.0f} s in all")


# ---------------------------------------------------------------- what is measured


def idle() -> list[Row]:
    """Starting, and the memory of doing nothing."""
    took, memory = [], []
    for _ in range(STARTS):
        with platforms(limits=UNLIMITED) as stage, serving(stage) as running:
            took.append([running.took[told] for told in CONNECTED])
            time.sleep(SETTLE_SECONDS)
            memory.append(running.memory())
    rss, pss = (statistics.median(values) for values in zip(*memory, strict=True))
    return [
        ("start until Slack / Discord is connected", _seconds(took), ""),
        ("idle memory, RSS", f"{rss:.0f} MB", "< 160 MB"),
        ("idle memory, PSS", f"{pss:.0f} MB", ""),
    ]


def under_load(seconds: float) -> list[Row]:
    """Acknowledgements at a steady rate, by Socket Mode, then by signed HTTP, then of Discord."""
    rows: list[Row] = []
    with platforms(limits=UNLIMITED) as stage, serving(stage) as running:
        rows += _load_rows("Socket Mode", put_load(stage, running, seconds))
        stage.slack.deliver_to(f"{running.address}/slack/events")
        rows += _load_rows("signed HTTP", put_load(stage, running, seconds))
        rows += _interaction_rows(stage)
        rows.append(("memory after all that, RSS", f"{running.memory()[0]:.0f} MB", ""))
        rows += _complaints(running)
    return rows


def _load_rows(name: str, load: Load) -> list[Row]:
    rows = [
        (f"{name}: events a second", f"{load.rate:.0f}", f"{RATE}"),
        (f"{name}: to acknowledgement, p50", ms(statistics.median(load.all)), ""),
        (f"{name}: to acknowledgement, p99", ms(percentile(load.all, 0.99)), "< 100 ms"),
    ]
    for kind, values in load.seconds.items():
        if values:
            both = f"{ms(statistics.median(values))} / {ms(percentile(values, 0.99))}"
            rows.append((f"  {kind} ({load.share(kind):.1%}), p50 / p99", both, ""))
    return [
        *rows,
        (f"{name}: never acknowledged", str(load.unacknowledged), "0"),
        (f"{name}: questions answered", f"{load.answered} of {load.asked}", "all"),
        (f"{name}: ... after the last event", f"{load.drained:.1f} s", ""),
        (f"{name}: `serve`'s share of a core", f"{load.processor:.0%}", ""),
        (f"{name}: lateness of the fake, p99", ms(percentile(load.lag, 0.99)), ""),
    ]


def _interaction_rows(stage: Stage) -> list[Row]:
    taken = interact(stage, ASKED[0], INTERACTIONS, INTERACTIONS_A_SECOND)
    name = f"Discord: /ask at {INTERACTIONS_A_SECOND:g}/s to deferral"
    return [
        (f"{name}, p50", ms(statistics.median(taken)), ""),
        (f"{name}, p99", ms(percentile(taken, 0.99)), "< 3 s"),
    ]


def _complaints(running: Serving) -> list[Row]:
    told = complaints(running.lines)
    for line in told[:5]:
        print(line, file=sys.stderr)
    return [("lines of warning (on stderr)", str(len(told)), "")]


def first_signs() -> tuple[list[tuple[Answered, Answered]], list[Row]]:
    """One question after another."""
    with platforms(limits=UNLIMITED) as stage, serving(stage):
        stage.discord.wait(stage.discord.registered, 30)
        ask_in_slack(stage, ASKED[0], 0)  # imports, caches, connections
        ask_in_discord(stage, ASKED[0], 0)
        pairs = [
            (
                ask_in_slack(stage, ASKED[number % len(ASKED)], number),
                ask_in_discord(stage, ASKED[number % len(ASKED)], number),
            )
            for number in range(SIGNS)
        ]
    rows = []
    for name, answers in zip(("Slack", "Discord"), zip(*pairs, strict=True), strict=True):
        for what, target in (("sign", "< 500 ms"), ("message", ""), ("finished", "")):
            words = {"sign": "first sign", "message": "first message", "finished": "answer"}[what]
            values = [getattr(answer, what) for answer in answers]
            both = f"{ms(statistics.median(values))} / {ms(max(values))}"
            rows.append((f"{name}: event to {words}, p50 / max", both, target))
    return pairs, rows


def long_answers() -> tuple[Answered, Answered]:
    """The same question on both platforms at once, answered by a model that takes its time.

    The platforms limit as the real ones do.
    """
    claude = FakeClaude(long_writer, first_token=FIRST_TOKEN, rate=TOKENS_A_SECOND, trusting=True)
    found: dict[str, Answered] = {}
    with serve(claude) as url, platforms() as stage:
        settings = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}
        with serving(stage, **settings):
            stage.discord.wait(stage.discord.registered, 30)
            asking = threading.Thread(
                target=lambda: found.update(slack=ask_in_slack(stage, ESSAY, 0))
            )
            asking.start()
            found["discord"] = ask_in_discord(stage, ESSAY, 0)
            asking.join()
    return found["slack"], found["discord"]


# ---------------------------------------------------------------- cells


def _seconds(pairs: list[list[float]]) -> str:
    return " / ".join(f"{statistics.median(side):.2f} s" for side in zip(*pairs, strict=True))


def _both(pair: tuple[Answered, Answered], what: str) -> str:
    return " / ".join(f"{getattr(one, what):.1f} s" for one in pair)


def _messages(pairs: list[tuple[Answered, Answered]]) -> str:
    sides = zip(*pairs, strict=True)
    return " / ".join(f"{statistics.mean(one.messages for one in side):.1f}" for side in sides)


def _writing() -> str:
    return f"{LONG_TOKENS / TOKENS_A_SECOND:.1f} s"


def _answers_a_minute(one: Answered) -> str:
    """The number of such answers a minute that Slack's tiers allow, and the narrowest method.

    Session statuses are left out when there are too many: they hold up no answer.
    """
    posting = {name: count for name, count in one.count().items() if name.startswith("chat.")}
    most, name = min((RULES[name].calls_a_minute / count, name) for name, count in posting.items())
    return f"{most:.0f} ({name})"


def _limited(pair: tuple[Answered, Answered]) -> int:
    return sum(call.limited for one in pair for call in one.calls)


if __name__ == "__main__":
    main(sys.argv[1:])

"""A long random crash campaign: processes are killed and networks broken while people ask.

Real processes on a real PostgreSQL (listeners and workers), strict fakes of Slack, Discord and
Claude, and users of the web console, all behind links that can be cut. Whatever happens, in the
end every accepted question has one answer, no finished model call was made again, no thread is
stuck, threads kept their order, and each change of the answer to a standing question was told once,
by a look that was made once. Exits 1 when that is not so. The plan comes from the seed:
``--seed`` plays it again.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests.bench.crash_blows import Clock, Striker
from tests.bench.crash_judge import Verdict, judge, written_out
from tests.bench.crash_people import People
from tests.bench.crash_plan import Blow, Plan, planned
from tests.bench.crash_record import Record, read_record
from tests.bench.crash_stage import Stage, open_stage
from tests.bench.frame import options, percentile, print_table, tell
from tests.scenario.serving import ForkServer

PLATFORMS = ("slack", "discord", "web")
KILLS = 300
BETWEEN = 2.0  # seconds from one blow to the next, on average
ASKING = 0.8  # the same for what people do
QUIET_SECONDS = 120.0  # that the system gets to come to rest
LOOK_SECONDS, CALM = 0.3, 4  # it has, when so many looks in a row find nothing under way
TOLD_EVERY = 25
ROUNDS = 5  # of looks at all standing questions, until each change is told
PROBES = 20  # threads in which a last question is asked


@dataclass
class Outcome:
    """The result of a campaign. ``struck`` is when each blow fell, as of ``time.time``."""

    verdict: Verdict
    record: Record
    struck: Sequence[tuple[Blow, float]]
    did: Counter[str]
    ended: Counter[str]
    seconds: float


class Campaign:
    """One campaign on a stage that is open. ``limit`` are the seconds after which nothing more is
    done; in so many threads (``probes``) a last question is asked once all is at rest."""

    def __init__(
        self, stage: Stage, plan: Plan, *, limit: float = float("inf"), probes: int = PROBES
    ) -> None:
        self._stage = stage
        self._people = People(list(stage.scenes), stage.standing)
        self._plan = plan
        self._limit = limit
        self._probes = probes

    def run(self) -> Outcome:
        began = time.monotonic()
        self._watch()
        clock = Clock()
        striker = Striker(self._stage, clock)
        for act in self._plan.acts:
            if act.at <= self._limit:
                clock.add(act.at, partial(self._people.do, act))
        for number, blow in enumerate(self._plan.blows, start=1):
            if blow.at <= self._limit:
                clock.add(blow.at, partial(striker.strike, blow))
            if number % TOLD_EVERY == 0:
                clock.add(blow.at, partial(tell, f"{number} of {len(self._plan.blows)} kills"))
        clock.run()
        striker.heal()
        record = self._until_quiet("at rest")
        standing, is_settled = self._stage.standing, False
        for _ in range(ROUNDS):
            if is_settled:
                break
            is_settled = not standing.unsettled()  # and once more, when there is nothing to tell
            standing.look_at_all()
            record = self._until_quiet("all standing questions looked at")
        if self._probes:
            self._probe()
            record = self._until_quiet("the last questions answered")
        verdict = judge(self._stage, self._people, record)
        self._stage.crew.end()
        for line in self._stage.crew.broken:
            verdict.wrong["process broke"].append(line)
        return Outcome(
            verdict,
            record,
            striker.struck,
            self._people.did + self._stage.standing.did,
            self._stage.crew.ended,
            time.monotonic() - began,
        )

    def _watch(self) -> None:
        for _ in range(self._plan.watched):
            self._people.watch()
        if self._plan.watched:
            self._until_quiet("what will be watched is answered")
            self._stage.standing.look_at_all()  # none yet: they are watched from here on

    # ------------------------------------------------------------ coming to rest

    def _probe(self) -> None:
        for number, talk in enumerate(self._people.talks[-self._probes :]):
            if not talk.asked[0].deleted and talk.scene.has_thread(talk.root):
                self._people.follow_up(talk, number / self._probes, probe=True)

    def _until_quiet(self, what: str) -> Record:
        """The record once nothing is under way, or when the time for that is over."""
        tell(f"waiting until {what}")
        end = time.monotonic() + QUIET_SECONDS
        calm = 0
        while True:
            record = read_record(self._stage.postgres)
            going = self._still_going(record)
            calm = 0 if going else calm + 1
            if calm == CALM:
                return record
            if time.monotonic() > end:
                tell(f"no rest: {going}")
                return record
            time.sleep(LOOK_SECONDS)

    def _still_going(self, record: Record) -> list[str]:
        """All work that is under way; empty at rest."""
        places = [talk.root for talk in self._people.all if talk.at_work]
        runs = [*record.runs.values(), *(look for its in record.looks.values() for look in its)]
        return [
            *(f"{scene.place.name} delivers" for scene in self._stage.scenes if scene.busy()),
            *(f"run {run.id} {run.state}" for run in runs if run.ended_at is None),
            *(f"{record.jobs} jobs" for _ in range(min(record.jobs, 1))),
            *(f"{record.due} looks due" for _ in range(min(record.due, 1))),
            *(f"at work in {place}" for place in places),
        ]


# ---------------------------------------------------------------- telling


@dataclass(frozen=True, slots=True)
class Recovered:
    """Seconds after a blow: until any question had its answer, and until all those had that were
    in flight when it fell, whatever else befell them meanwhile."""

    first: float
    last: float


def recovery(outcome: Outcome) -> dict[str, list[Recovered]]:
    """By kind of blow, and all together; blows that fell when nothing was in flight left out."""
    found: dict[str, list[Recovered]] = {}
    runs = [
        (run.accepted_at.timestamp(), run.ended_at.timestamp())
        for run in outcome.record.runs.values()
        if run.ended_at is not None
    ]
    for blow, at in outcome.struck:
        in_flight = [ended - at for accepted, ended in runs if accepted < at < ended]
        if in_flight:
            first = min(ended - at for _, ended in runs if ended > at)
            for kind in (blow.name, "all"):
                found.setdefault(kind, []).append(Recovered(first, max(in_flight)))
    return found


def answering(outcome: Outcome) -> str:
    """Seconds from acceptance to the posted answer, of all questions."""
    took = [
        (run.ended_at - run.accepted_at).total_seconds()
        for run in outcome.record.runs.values()
        if run.ended_at is not None
    ]
    return _both(took) if took else ""


def _both(values: Sequence[float]) -> str:
    return f"{percentile(values, 0.5):.1f} / {percentile(values, 0.99):.1f} s"


def timeline(outcome: Outcome) -> list[str]:
    """Blows, and runs from their acceptance to their end, in order (UTC)."""
    lines = [(at, f"{blow.name} {blow.seconds:.1f} s") for blow, at in outcome.struck]
    for run in outcome.record.runs.values():
        at = run.accepted_at.timestamp()
        took = run.ended_at.timestamp() - at if run.ended_at is not None else float("nan")
        words = f"{run.state} after {took:.1f} s, attempt {run.attempt}"
        lines.append((at, f"run {run.id} {run.event_key} {words}"))
    return [f"{datetime.fromtimestamp(at, UTC):%H:%M:%S.%f} {words}" for at, words in sorted(lines)]


def print_outcome(outcome: Outcome, seed: int) -> None:
    struck = Counter(blow.name for blow, _ in outcome.struck)
    times = {**{kind: [] for kind in sorted(struck)}, **recovery(outcome)}
    rows = [
        (
            kind,
            struck[kind] or len(outcome.struck),
            _both([one.first for one in found]) if found else "",
            _both([one.last for one in found]) if found else "",
        )
        for kind, found in times.items()
    ]
    header = ("blows", "times", "to the next answer, p50 / p99", "to all in flight, p50 / p99")
    print_table(header, rows)
    print(f"\nfrom question to answer, p50 / p99: {answering(outcome)}")
    print()
    print_table(("people", "times"), sorted(outcome.did.items()))
    print()
    print_table(("found", "count"), sorted(outcome.verdict.counts.items()))
    if outcome.ended:
        print()
        print_table(("ended by itself, and started again", "times"), outcome.ended.most_common())
    print()
    wrong = outcome.verdict.wrong
    print_table(("violations", "count"), [(k, len(v)) for k, v in wrong.items()] or [("none", 0)])
    if wrong:
        print(written_out(outcome.verdict), file=sys.stderr)
    print(f"\nseed {seed}; {outcome.seconds:.0f} s in all")


def main(arguments: list[str]) -> None:
    parser = options("crash", __doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, help="of an earlier campaign (new by default)")
    parser.add_argument("--platform", choices=(*PLATFORMS, "all"), default="all")
    parser.add_argument("--seconds-limit", type=float, default=840.0, help="no kills after these")
    parser.add_argument("--keep-logs", type=Path, help="a folder for what the processes said")
    given = parser.parse_args(arguments)
    if given.quick:
        given.kills = 2
    seed = random.randrange(1_000_000) if given.seed is None else given.seed
    platforms = PLATFORMS if given.platform == "all" else (given.platform,)
    tell(f"seed {seed}")
    sys.setswitchinterval(0.0005)  # the fakes' threads share this process
    plan = planned(seed, given.kills, platforms, between=BETWEEN, asking=ASKING)
    with closing(ForkServer()) as fork_server, open_stage(platforms, fork_server) as stage:
        outcome = Campaign(stage, plan, limit=given.seconds_limit).run()
        if given.keep_logs is not None:
            given.keep_logs.mkdir(parents=True, exist_ok=True)
            for log in stage.crew.logs:
                shutil.copy(log, given.keep_logs)
            (given.keep_logs / "timeline").write_text("\n".join(timeline(outcome)))
    print_outcome(outcome, seed)
    if outcome.verdict.wrong:
        sys.exit(1)

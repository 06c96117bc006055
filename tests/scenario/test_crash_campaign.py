"""A short crash campaign; the long one is `python -m tests.bench crash`."""

from __future__ import annotations

from tests.bench.crash import PLATFORMS, Campaign
from tests.bench.crash_judge import written_out
from tests.bench.crash_plan import Act, Blow, Plan
from tests.bench.crash_stage import open_stage
from tests.scenario.serving import ForkServer

# Workers go first: it takes the longest until another one sees that they are gone.
PLAN = Plan(
    (
        Blow(0.6, "kill after a post", "slack", 0.0, 0),
        Blow(1.2, "kill", "postgres", 0.1, 0),
        Blow(1.8, "cut", "worker-postgres", 0.0, 0),
        Blow(2.1, "gone", "claude", 0.5, 0),
        Blow(2.3, "kill", "listener", 0.0, 1),
        Blow(2.5, "cut", "discord", 0.0, 0),
        Blow(2.6, "cut", "slack", 0.0, 0),
        Blow(2.7, "answer lost", "discord", 0.0, 0),
        Blow(0.2, "answer lost", "web", 0.0, 0),
        Blow(0.9, "kill before a post", "web", 0.0, 0),
        Blow(2.4, "gone", "web", 0.3, 0),
    ),
    (
        *(Act(0.2 * number, "ask", 0.07 * number) for number in range(12)),
        *(Act(2.0 + 0.2 * number, "follow up", 0.3 * number) for number in range(3)),
        Act(2.6, "edit", 0.4),
        Act(2.8, "tell again", 0.0),
        *(Act(0.5 + 0.2 * number, "look", 0.11 * number) for number in range(15)),
    ),
    watched=2,
)


def test_whatever_is_killed_each_question_has_one_answer_and_each_change_is_told_once(
    fork_server: ForkServer,
) -> None:
    for _ in range(3):  # on a busy machine all blows may meet a process that is idle
        with open_stage(PLATFORMS, fork_server) as stage:
            outcome = Campaign(stage, PLAN, probes=0).run()
        assert not outcome.verdict.wrong, written_out(outcome.verdict)
        counts = outcome.verdict.counts
        assert counts["answered"] >= 10
        assert counts["changes told"] > 0, "no standing question took part"
        if counts["taken over"]:
            return
    raise AssertionError("nothing was interrupted")

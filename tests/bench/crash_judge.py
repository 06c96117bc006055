"""Judges a crash campaign: one answer to each question, in order, and no call paid for twice."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from bot.storage.standing_questions import CHECK_MARK
from tests.bench.crash_people import Asked, People, Talk
from tests.bench.crash_record import Record, Row
from tests.bench.crash_stage import Stage
from tests.bench.crash_standing import FIRST_EUROS, twice
from tests.scenario.paid import paid
from tests.scenario.places import Post

ENDED = ("answered", "not_found", "stopped")


@dataclass
class Verdict:
    """``wrong`` are violations, by kind; ``counts`` what there was."""

    wrong: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[str] = field(default_factory=Counter)


def judge(stage: Stage, people: People, record: Record) -> Verdict:
    verdict = Verdict()
    for talk in people.all:
        _judge_talk(talk, record, verdict)
    for talk in people.watched:
        _judge_watched(stage, talk, record, verdict)
    verdict.wrong.update(
        {"look made twice": found} if (found := twice(stage.standing.seen())) else {}
    )
    _judge_calls(stage, record, verdict)
    return verdict


# ---------------------------------------------------------------- one answer each


def _judge_talk(talk: Talk, record: Record, verdict: Verdict) -> None:
    visible = {post.id: post for post in talk.scene.replies(talk.root, talk.stops)}
    runs: list[tuple[Asked, Row]] = []
    for asked in talk.asked:
        verdict.counts["questions"] += 1
        run = record.runs.get(talk.scene.event_key(asked.said))
        if run is None:
            _judge_unheard(talk, asked, verdict)
        else:
            verdict.counts["accepted"] += 1
            runs.append((asked, run))
    looks = [look for _, run in runs for look in record.looks.get(run.id, ())]
    owners = {post: run.id for run in [*(run for _, run in runs), *looks] for post in run.posts}
    for post in visible.values():
        _judge_post(talk, post, owners, verdict)
    for asked, run in runs:
        mine = [visible[id] for id in sorted(run.posts) if id in visible]
        _judge_run(talk, asked, run, mine, verdict)
    _judge_order(talk, runs, record, verdict)
    if talk.at_work:
        verdict.wrong["still at work for all to see"].append(str(talk.root))


def _judge_unheard(talk: Talk, asked: Asked, verdict: Verdict) -> None:
    verdict.counts[f"never heard by {talk.scene.place.name}"] += 1
    if talk.scene.taken(asked.said) and not asked.deleted:
        verdict.wrong["acknowledged and lost"].append(_told(talk, asked))


def _judge_post(talk: Talk, post: Post, owners: Mapping[str, str], verdict: Verdict) -> None:
    where = f"{talk.root} {post.id}: {post.text[:200]!r}"
    owner = owners.get(post.id)
    named = talk.scene.run_of(talk.root, post)
    if owner is None or (named and named != owner):
        verdict.wrong["post that no run knows"].append(f"{where} (of {named or '?'})")


def _judge_run(talk: Talk, asked: Asked, run: Row, mine: list[Post], verdict: Verdict) -> None:
    told = f"{_told(talk, asked)} {run.id} {run.state} attempt {run.attempt}"
    if run.removed:
        verdict.counts["removed"] += 1
        if mine or run.state != "removed":
            verdict.wrong["reply to a deleted question"].append(told)
        return
    verdict.counts[run.state] += 1
    verdict.counts["taken over"] += run.attempt > 1
    if run.ended_at is None:
        verdict.wrong["stuck"].append(told)
    elif asked.deleted and talk.scene.hears_all:
        whispers = talk.scene.place.whispers(asked.said)
        verdict.wrong["deletion not heard"].append(f"{told}: {whispers}")
    elif asked.deleted and not mine:
        verdict.counts["gone with their threads"] += 1  # before the deletion was heard of
    elif run.state not in ENDED:
        reason = (run.answer or {}).get("text", "")
        verdict.wrong[f"ended as {run.state}"].append(f"{told}: {reason}")
    elif len(mine) != 1:
        kind = "no answer" if not mine else "more than one answer"
        shown = [post.text[:80] for post in mine]
        verdict.wrong[kind].append(f"{told}: {shown} {talk.scene.heard(talk.root)}")
    else:
        _judge_answer(talk, asked, run, mine[0], told, verdict)
        if not asked.edited:
            for problem in talk.scene.wrong_of(run):
                verdict.wrong["told otherwise"].append(f"{told}: {problem}")


def _judge_answer(
    talk: Talk, asked: Asked, run: Row, post: Post, told: str, verdict: Verdict
) -> None:
    assert run.answer is not None
    if run.answer["reasoner"] != "claude":
        verdict.counts[f"by {run.answer['reasoner']}"] += 1
    if run.state == "stopped":
        return
    wanted = (
        asked.wanted if asked.wanted in run.answer["text"] or not asked.before else asked.before
    )
    if wanted != asked.wanted:
        verdict.counts["edit not heard"] += 1
        if talk.scene.hears_all:
            whispers = talk.scene.place.whispers(asked.said)
            verdict.wrong["edit not heard"].append(f"{told}: {whispers}")
    written = run.answer["text"].count(wanted)
    quoted = sum(wanted in citation["quote"] for citation in run.answer["citations"])
    shown = post.text.count(wanted)
    if not written:
        verdict.wrong["not the answer to it"].append(f"{told}: {run.answer['text'][:300]!r}")
    elif not written <= shown <= written + quoted:
        verdict.wrong["answer shown in part or twice"].append(
            f"{told}: {wanted} {shown} times, not {written} to {written + quoted}"
        )


def _judge_order(
    talk: Talk, runs: Sequence[tuple[Asked, Row]], record: Record, verdict: Verdict
) -> None:
    """Within a thread a run begins its research when the one before it has ended."""
    first: dict[str, datetime] = {}
    for step in record.steps:
        first.setdefault(step.run, step.at)
    in_order = sorted(runs, key=lambda pair: pair[1].message_id)
    for (earlier, one), (later, other) in pairwise(in_order):
        again = earlier.edited or earlier.deleted or later.edited or other.state == "stopped"
        if again or one.ended_at is None or other.id not in first:
            continue
        if first[other.id] < one.ended_at:
            verdict.wrong["out of order"].append(f"{_told(talk, later)} before {one.id} ended")


def _told(talk: Talk, asked: Asked) -> str:
    return f"{talk.scene.event_key(asked.said)}"


# ---------------------------------------------------------------- each change told once


def _judge_watched(stage: Stage, talk: Talk, record: Record, verdict: Verdict) -> None:
    key = talk.scene.event_key(talk.asked[0].said)
    run = record.runs.get(key)
    if run is None:
        return  # it was never heard
    standing = stage.standing
    now = standing.piers.euros[standing.watched[key]]
    wanted = [(euros, euros + 1) for euros in range(FIRST_EUROS, now)]
    visible = {post.id: post for post in talk.scene.replies(talk.root, talk.stops)}
    told = []
    for look in record.looks.get(run.id, ()):
        verdict.counts["changes told"] += 1
        about = f"{look.event_key} {look.id} {look.state} attempt {look.attempt}"
        changes = look.answer["changes"] if look.answer is not None else []
        told += [tuple(map(_euros, (one["before"], one["after"]))) for one in changes]
        mine = [visible[id].text for id in look.posts if id in visible]
        if any(pair not in wanted for pair in told):
            verdict.wrong["told what is no change"].append(f"{about}: {changes}")
        if look.state != "answered" or len(mine) != 1:
            verdict.wrong["change not shown in one post"].append(f"{about}: {mine}")
        elif not all(f"{euros} euros" in mine[0] for pair in told[-1:] for euros in pair):
            verdict.wrong["change not shown"].append(f"{about}: {mine[0]!r}")
        verdict.counts["looks taken over"] += look.attempt > 1
    if told != wanted:
        verdict.wrong["changes not told once each"].append(f"{key}: {told}, not {wanted}")


def _euros(sentence: str) -> int:
    found = re.search(r"(\d+) euros", sentence)
    return int(found[1]) if found else 0


# ---------------------------------------------------------------- nothing paid for twice


def _judge_calls(stage: Stage, record: Record, verdict: Verdict) -> None:
    """A call whose step was kept must not be made again."""
    requests = [one for one in stage.claude.requests if stage.standing.piers.is_told_apart(one)]
    piers = _piers(stage, record)
    known = 0
    # Apart for each pier, whose looks come one after another: calls of two piers have equal tokens.
    for pier in {"", *piers.values()}:
        steps = [step for step in record.steps if piers.get(step.run, "") == pier]
        asked = [one for one in requests if stage.standing.piers.named_in(one) == pier]
        found = paid(asked, steps)
        known += found.known
        if found.again:
            verdict.wrong["finished call asked again"] += found.again
    verdict.counts["model calls"] = len(stage.claude.requests)
    if known < len(requests) / 2:
        verdict.wrong["calls that no step tells of"].append(f"all but {known}")
    again = len(requests) - len({request.key for request in requests})
    verdict.counts["model calls made again, none of them kept"] = again
    verdict.counts["model calls finished"] = sum(
        request.finished for request in stage.claude.requests
    )


def _piers(stage: Stage, record: Record) -> dict[str, str]:
    """The pier that each run asked for, of standing questions and of looks at them."""
    watched = stage.standing.watched
    first = {record.runs[key].id: pier for key, pier in watched.items() if key in record.runs}
    begun = [one for one in stage.standing.seen() if one.state == "begun"]
    looks = {one.run: first[_origin(one.event)] for one in begun if _origin(one.event) in first}
    return first | looks


def _origin(event: str) -> str:
    return event.partition(CHECK_MARK)[0].partition(":")[2]


def written_out(verdict: Verdict) -> str:
    return json.dumps(verdict.wrong, indent=2, ensure_ascii=False)

"""Stages of a run with a time limit each, whose coming to nothing is kept like a result.

A stage that is missed, fails or finds the budget spent leaves a *lapse* in the journal. The next
attempt at the run finds it there instead of trying again, with everything that was done and spent
until then: a resumed run comes out the same, and asks the same of others afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from bot.answers import StepView, Usage
from bot.errors import BudgetSpent, ModelBroken, ModelRefused
from bot.reasoning.evidence import Source
from bot.research.run import Run
from bot.research.suggestions.suggest import Offer


@dataclass(frozen=True, slots=True)
class Used:
    """Everything by which what a run does next depends on what it has done, and its plan.

    ``counted`` are the keys of steps that were paid for. The seconds of ``spent`` mean nothing:
    the journal knows them.
    """

    spent: Usage
    counted: frozenset[str] = frozenset()
    lines: tuple[StepView, ...] = ()
    queries: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    offers: tuple[Offer, ...] = ()
    notes: tuple[str, ...] = ()
    is_answered: bool = False
    unanswered: str = ""

    def since(self, earlier: Used) -> Used:
        """The difference to an earlier moment of the same run."""
        spent, before = asdict(self.spent), asdict(earlier.spent)
        del spent["seconds"]
        return Used(
            spent=Usage(**{name: spent[name] - before[name] for name in spent}),
            counted=self.counted - earlier.counted,
            lines=tuple(line for line in self.lines if line not in earlier.lines),
            queries=self.queries[len(earlier.queries) :],
            sources=self.sources[len(earlier.sources) :],
            offers=self.offers[len(earlier.offers) :],
            notes=self.notes[len(earlier.notes) :],
            is_answered=self.is_answered,
            unanswered=self.unanswered,
        )


NOTHING = Used(Usage())


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lapse:
    """The reason that a stage came to nothing.

    ``problem`` is what the plan says of it, in the asker's language. ``sentence``, ``text_id`` and
    ``limit`` are those of a ``BudgetSpent``. ``used`` is what was done and spent in the stage.
    """

    why: Literal["missed", "failed", "nothing", "budget"]
    problem: str = ""
    sentence: str = ""
    text_id: str = ""
    limit: float = 0.0
    used: Used = NOTHING

    @property
    def budget_spent(self) -> BudgetSpent:
        """The error that it was, where ``why`` is ``budget``."""
        return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)


class Lapsed(Exception):
    """A stage came to nothing; its caller goes on without."""

    def __init__(self, lapse: Lapse) -> None:
        super().__init__(lapse.why)
        self.lapse = lapse


_lapse = TypeAdapter(Lapse)


async def within(
    run: Run,
    seconds: float,
    work: Callable[[], Awaitable[T]],
    *,
    inputs: Mapping[str, str | int],
    title: str,
) -> T:
    """Do ``work`` within ``seconds``; ``inputs`` tell this stage from every other.

    Only one stage of a run is worked on at a time. Raises ``Lapsed`` in the place of
    ``BudgetSpent``, ``ModelRefused`` and ``ModelBroken``, and when the time is over; what was under
    way is then cancelled. Raises what else ``work`` raises.
    """

    async def kept() -> Lapse:
        return lapse

    earlier = run.kept("lapse", inputs, _lapse)
    if earlier is not None:
        restore(run, earlier.used)
        lapse = earlier
    else:
        before = used_by(run)
        try:
            async with asyncio.timeout(seconds):
                return await work()
        except TimeoutError:
            lapse = Lapse("missed", run.texts("report-stage-missed"))
        except BudgetSpent as error:
            problem = run.notes.described(error)
            lapse = Lapse("budget", problem, error.sentence, error.text_id, error.limit)
        except (ModelRefused, ModelBroken) as error:
            lapse = Lapse("failed", run.notes.described(error))
        lapse = replace(lapse, used=used_by(run).since(before))
    await run.keep("lapse", inputs, kept, _lapse, title=title)
    raise Lapsed(lapse)


def used_by(run: Run) -> Used:
    """The work and spending of a run until now."""
    return Used(
        run.usage,
        frozenset(run.account.counted),
        run.steps,
        tuple(run.queries),
        tuple(run.sources),
        tuple(run.offers.values()),
        tuple(run.notes),
        run.is_answered,
        run.unanswered,
    )


def restore(run: Run, used: Used) -> None:
    """Have a run do and spend what an earlier attempt had in a stage that is not done again."""
    run.account.add(used.spent)
    run.account.counted |= used.counted
    for line in used.lines:
        run.show(line)
    run.queries += (text for text in used.queries if text not in run.queries)
    run.sources += used.sources
    for offer in used.offers:
        run.offers.setdefault(offer.url, offer)
    for sentence in used.notes:
        run.note(sentence)
    run.is_answered, run.unanswered = used.is_answered, used.unanswered

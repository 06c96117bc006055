"""Stages of a run with time limits; the failure of a stage is stored like a result.

A stage that runs out of time, fails, or finds the budget spent leaves a *lapse* in the journal,
with everything done and spent until then. The next attempt finds the lapse instead of trying again,
so that a resumed run has the same result and sends the same requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeVar

from pydantic import TypeAdapter

from bot.core.errors import BudgetSpent, ModelBroken, ModelRefused
from bot.core.messages import StepView, Usage
from bot.reasoning.evidence import Source
from bot.research.run import Run


@dataclass(frozen=True, slots=True)
class Used:
    """The state of a run that its next steps depend on, and its plan.

    ``counted`` are the keys of the steps already counted. The seconds of ``spent`` are unused: the
    journal has them.
    """

    spent: Usage
    counted: frozenset[str] = frozenset()
    lines: tuple[StepView, ...] = ()
    queries: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    is_answered: bool = False
    unanswered: str = ""

    def since(self, earlier: Used) -> Used:
        """Return the difference from an earlier moment of the same run."""
        spent, before = asdict(self.spent), asdict(earlier.spent)
        del spent["seconds"]
        return Used(
            spent=Usage(**{name: spent[name] - before[name] for name in spent}),
            counted=self.counted - earlier.counted,
            lines=tuple(line for line in self.lines if line not in earlier.lines),
            queries=self.queries[len(earlier.queries) :],
            sources=self.sources[len(earlier.sources) :],
            notes=self.notes[len(earlier.notes) :],
            is_answered=self.is_answered,
            unanswered=self.unanswered,
        )


NOTHING = Used(Usage())


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lapse:
    """The reason why a stage has no result.

    ``problem`` is the text in the plan, in the asker's language. ``sentence``, ``text_id`` and
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
        """Rebuild the error, if ``why`` is ``budget``."""
        return BudgetSpent(self.sentence, text_id=self.text_id, limit=self.limit)


class Lapsed(Exception):
    """A stage has no result; its caller continues without it."""

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
    """Do ``work`` within ``seconds``; ``inputs`` identify the stage.

    A run works on one stage at a time. Raises ``Lapsed`` instead of ``BudgetSpent``,
    ``ModelRefused`` and ``ModelBroken``, and when the time is over, after cancelling ``work``.
    Raises all other errors of ``work``.
    """

    async def kept() -> Lapse:
        return lapse

    earlier = run.recorded("lapse", inputs, _lapse)
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
    """Return the work and spending of a run until now."""
    return Used(
        run.usage,
        frozenset(run.account.counted),
        run.steps,
        tuple(run.queries),
        tuple(run.sources),
        tuple(run.notes),
        run.is_answered,
        run.unanswered,
    )


def restore(run: Run, used: Used) -> None:
    """Add to a run the work and spending of a stage from an earlier attempt."""
    run.account.add(used.spent)
    run.account.counted |= used.counted
    for line in used.lines:
        run.show(line)
    run.queries += (text for text in used.queries if text not in run.queries)
    run.sources += used.sources
    for sentence in used.notes:
        run.note(sentence)
    run.is_answered, run.unanswered = used.is_answered, used.unanswered

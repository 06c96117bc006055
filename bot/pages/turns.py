"""Turns at a scarce resource, shared fairly among people, and among the runs of each.

Waiting requests are served person by person and run by run, not first come, first served: twelve
slow links in one question delay only their own run, and ten slow files of one person only that
person. A run may take all turns while no other run wants one. If one without a turn has waited for
``PATIENCE``, a turn is given back, and the work done in it is restarted later:

- the latest of the person with several turns, or of that person's run with several;
- if everybody has a single turn, the one held longest, once it was held for as long as the waiting
  one leaves it undisturbed: ``UNDISTURBED``, and twice as long each time that it was interrupted
  itself. So one who has just come waits briefly, and two with slow work do not stop each other for
  ever.

After that, the last turn stays reserved for others for a while.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import NamedTuple

from bot.core.measurements import Load

PATIENCE = 0.5  # seconds; nearly all pages are read in 0.2 s
KEPT_FREE = 3.0  # seconds since a run without a turn last needed one
UNDISTURBED = 1.0  # seconds that a turn is held before it is wanted back for another person


class For(NamedTuple):
    """The person and the run that pages are read for; "" outside of runs."""

    person: str = ""
    run: str = ""


reading_for: ContextVar[For] = ContextVar("reading_for", default=For())  # noqa: B039 - immutable
"""Tasks inherit it."""


class Turn:
    """One turn of ``owner``. ``wanted_back`` completes when somebody else needs the turn."""

    def __init__(self, owner: For) -> None:
        loop = asyncio.get_running_loop()
        self.owner = owner
        self.began = loop.time()
        self.wanted_back: asyncio.Future[None] = loop.create_future()


class _Waiter:
    """A request for a turn; ``seconds`` for which it leaves another person's turn undisturbed."""

    def __init__(self, owner: For, seconds: float) -> None:
        self.owner = owner
        self.seconds = seconds
        self.turn: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self.patience: asyncio.TimerHandle | None = None


class Turns:
    """At most ``size`` concurrent turns. Belongs to one event loop.

    ``can_be_wanted_back``: the code that holds a turn watches ``Turn.wanted_back``.
    """

    def __init__(self, size: int, *, can_be_wanted_back: bool = False) -> None:
        self._size = self._free = size
        self._can_be_wanted_back = can_be_wanted_back
        self._held: list[Turn] = []  # in the order they began
        self._waiting: OrderedDict[For, deque[_Waiter]] = OrderedDict()
        self._kept_until = 0.0  # event loop time; until then, the last turn is for those without
        self._is_kept_for_people = False  # ... for people without a turn, not only for runs
        self._later: asyncio.TimerHandle | None = None

    @property
    def load(self) -> Load:
        return Load(self._size, len(self._held), sum(map(len, self._waiting.values())))

    @asynccontextmanager
    async def turn(self, seconds: float = UNDISTURBED) -> AsyncIterator[Turn]:
        """Hold a turn for the one in ``reading_for`` until the block ends. ``seconds`` are those
        for which it leaves others undisturbed, if everybody has a single turn."""
        turn = await self._begun(reading_for.get(), seconds)
        try:
            yield turn
        finally:
            self._end(turn)

    async def _begun(self, owner: For, seconds: float) -> Turn:
        if self._free and not self._waiting and self._is_open_to(owner):
            return self._begin(owner)
        waiter = _Waiter(owner, seconds)
        self._waiting.setdefault(owner, deque()).append(waiter)
        self._want_back_later(waiter, PATIENCE)
        self._serve()
        try:
            return await waiter.turn
        except asyncio.CancelledError:
            if not waiter.turn.cancelled():  # the turn was granted at the same moment
                self._end(waiter.turn.result())
            else:
                self._leave(waiter)
            raise
        finally:
            if waiter.patience is not None:
                waiter.patience.cancel()

    def _begin(self, owner: For) -> Turn:
        now = asyncio.get_running_loop().time()
        if self._free == 1 and now < self._kept_until:
            self._kept_until = now + KEPT_FREE
        self._free -= 1
        turn = Turn(owner)
        self._held.append(turn)
        return turn

    def _end(self, turn: Turn) -> None:
        self._held.remove(turn)
        self._free += 1
        turn.wanted_back.cancel()
        for owner in [each for each in self._waiting if each.person == turn.owner.person]:
            self._waiting.move_to_end(owner)
        if turn.owner in self._waiting:
            self._waiting.move_to_end(turn.owner)
        self._serve()

    def _leave(self, waiter: _Waiter) -> None:
        waiters = self._waiting.get(waiter.owner)
        if waiters is not None and waiter in waiters:
            waiters.remove(waiter)
            if not waiters:
                del self._waiting[waiter.owner]

    def _is_open_to(self, owner: For) -> bool:
        """True if this run may have a free turn."""
        if self._free > 1 or asyncio.get_running_loop().time() >= self._kept_until:
            return True
        return not self._has_turn(owner.person if self._is_kept_for_people else owner)

    def _has_turn(self, owner: str | For) -> bool:
        """True if a run, or a person, has a turn."""
        return any(owner in (turn.owner, turn.owner.person) for turn in self._held)

    def _serve(self) -> None:
        """Grant free turns: to the people with the fewest turns first, among their runs to those
        with the fewest, among these to the one whose last turn ended longest ago.
        """
        while self._free and self._waiting:
            people = Counter(turn.owner.person for turn in self._held)
            runs = Counter(turn.owner for turn in self._held)
            open_to = filter(self._is_open_to, self._waiting)
            owner = min(open_to, key=lambda each: (people[each.person], runs[each]), default=None)
            if owner is None:
                if self._later is not None:
                    self._later.cancel()
                self._later = asyncio.get_running_loop().call_at(self._kept_until, self._serve)
                return
            waiter = self._waiting[owner][0]
            self._leave(waiter)
            if not waiter.turn.done():  # else it was cancelled
                waiter.turn.set_result(self._begin(owner))

    # ------------------------------------------------------------ giving back

    def _want_back_later(self, waiter: _Waiter, seconds: float) -> None:
        if self._can_be_wanted_back:
            loop = asyncio.get_running_loop()
            waiter.patience = loop.call_later(seconds, self._want_back_for, waiter)

    def _want_back_for(self, waiter: _Waiter) -> None:
        """Ask for a turn to be given back, if the waiter's run still has none."""
        if waiter.turn.done() or self._has_turn(waiter.owner):
            return
        kept = [turn for turn in self._held if not turn.wanted_back.done()]
        without = self._waiting.keys() - {turn.owner for turn in self._held}
        seconds = PATIENCE
        if kept and len(self._held) - len(kept) < len(without):
            if self._has_turn(waiter.owner.person):
                self._want_back_from_run(waiter.owner.person, kept)
            else:
                seconds = self._want_back_from_person(kept, waiter.seconds)
        self._want_back_later(waiter, seconds)

    def _want_back_from_run(self, person: str, kept: list[Turn]) -> None:
        """Ask the person's run with the most turns for its latest one."""
        theirs = [turn for turn in kept if turn.owner.person == person]
        counted = Counter(turn.owner for turn in theirs).most_common(1)
        if counted and counted[0][1] > 1:
            self._want_back([turn for turn in theirs if turn.owner == counted[0][0]][-1])
            self._is_kept_for_people = False

    def _want_back_from_person(self, kept: list[Turn], undisturbed: float) -> float:
        """Ask the person with the most turns for the latest one, or else for the turn that was held
        for long enough; returns the seconds after which to look again."""
        ((person, most),) = Counter(turn.owner.person for turn in kept).most_common(1)
        if most > 1:
            turn = [turn for turn in kept if turn.owner.person == person][-1]
        else:
            turn = kept[0]
            left = turn.began + undisturbed - asyncio.get_running_loop().time()
            if left > 0:
                return left
        self._want_back(turn)
        self._is_kept_for_people = True
        return PATIENCE

    def _want_back(self, turn: Turn) -> None:
        turn.wanted_back.set_result(None)
        self._kept_until = asyncio.get_running_loop().time() + KEPT_FREE

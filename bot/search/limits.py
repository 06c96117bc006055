"""A circuit breaker for a provider. It takes its time from a clock, as ``bot.rate_limit`` does."""

from __future__ import annotations

from bot.rate_limit import Clock


class Breaker:
    """Stops asking a provider that keeps failing, and tries it again with one call at a time.

    Closed → open after ``failures`` in a row → half-open after ``rest`` seconds: one probe is let
    through; its success closes the breaker, its failure opens it again. (M. Nygard, Release It!,
    2nd ed. 2018, "Circuit Breaker".)
    """

    def __init__(self, failures: float, rest: float, clock: Clock) -> None:
        self._most = failures
        self._rest = rest
        self._clock = clock
        self._in_a_row = 0
        self._open_until: float | None = None
        self._probing = False

    def refused_for(self) -> float | None:
        """None when a call may go ahead, else the seconds after which to ask again.

        Whoever goes ahead must report by ``succeeded``, ``failed`` or ``given_up``.
        """
        if self._open_until is None:
            return None
        left = self._open_until - self._clock()
        if left > 0:
            return left
        if self._probing:
            return self._rest
        self._probing = True
        return None

    @property
    def left(self) -> float:
        """Seconds until a call may go ahead again; asking changes nothing."""
        return max(0.0, self._open_until - self._clock()) if self._open_until is not None else 0.0

    def succeeded(self) -> None:
        self._in_a_row = 0
        self._open_until = None
        self._probing = False

    def failed(self, rest: float = 0.0) -> None:
        """Count a failure. ``rest`` above 0 opens at once: the provider asked for that pause."""
        self._in_a_row += 1
        if rest > 0 or self._probing or self._in_a_row >= self._most:
            self._open_until = self._clock() + (rest or self._rest)
        self._probing = False

    def given_up(self) -> None:
        """The call was cancelled: it says nothing about the provider."""
        self._probing = False

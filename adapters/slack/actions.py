"""The buttons under an answer: their names, and what they carry.

Slack sends a pressed button's ``action_id`` and ``value`` back; a value always names its run, so
that a button works after a restart and on any process.
"""

from __future__ import annotations

import re
from typing import Literal

from bot.conversing.presses import Deeper, Feedback, FollowUp, Press, Stop

FEEDBACK = "footnote_feedback"
DEEPER = "footnote_deeper"
STOP = "footnote_stop"
FOLLOW_UP = "footnote_follow_up_"  # followed by the suggestion's number
ANY = re.compile(r"footnote_(?:feedback|deeper|stop|follow_up_\d+)")

_RUN = r"[0-9A-Za-z_-]{1,64}"
_FEEDBACK = re.compile(rf"(?P<verdict>good|bad):(?P<run>{_RUN})")
_FOLLOW_UP = re.compile(rf"(?P<run>{_RUN}):(?P<number>\d{{1,2}})")
_ONE_RUN = re.compile(_RUN)


def feedback_value(run: str, verdict: Literal["good", "bad"]) -> str:
    return f"{verdict}:{run}"


def follow_up_value(run: str, number: int) -> str:
    return f"{run}:{number}"


def follow_up_action(number: int) -> str:
    return f"{FOLLOW_UP}{number}"


def pressed(action_id: str, value: str) -> Press | None:
    """What pressing a button means, or None when it is none of ours or carries nonsense."""
    if action_id == FEEDBACK:
        found = _FEEDBACK.fullmatch(value)
        if found is None:
            return None
        return Feedback(found["run"], "good" if found["verdict"] == "good" else "bad")
    if action_id.startswith(FOLLOW_UP):
        found = _FOLLOW_UP.fullmatch(value)
        return FollowUp(found["run"], int(found["number"])) if found else None
    if not _ONE_RUN.fullmatch(value):
        return None
    if action_id == DEEPER:
        return Deeper(value)
    return Stop(value) if action_id == STOP else None

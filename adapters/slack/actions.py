"""The controls under an answer: their names, and what they carry.

Slack sends the ``action_id`` and ``value`` of what was pressed or chosen back; a value always names
its run, so that a control works after a restart and on any process.
"""

from __future__ import annotations

import re
from typing import Literal

from bot.conversing.buttons import Deeper, Details, Feedback, FollowUp, Press, Stop

# Answers of earlier versions have other buttons, whose names begin with these two.
FEEDBACK = "footnote_feedback"
FOLLOW_UP = "footnote_follow_up"  # of the menu
GOOD = f"{FEEDBACK}_good"
BAD = f"{FEEDBACK}_bad"
DEEPER = "footnote_deeper"
DETAILS = "footnote_details"
STOP = "footnote_stop"
ANY = re.compile(r"footnote_(?:feedback(?:_good|_bad)?|deeper|details|stop|follow_up(?:_\d+)?)")

_RUN = r"[0-9A-Za-z_-]{1,64}"
_FEEDBACK = re.compile(rf"(?P<verdict>good|bad):(?P<run>{_RUN})")
_FOLLOW_UP = re.compile(rf"(?P<run>{_RUN}):(?P<number>\d{{1,2}})")
_ONE_RUN = re.compile(_RUN)


def feedback_value(run: str, verdict: Literal["good", "bad"]) -> str:
    return f"{verdict}:{run}"


def follow_up_value(run: str, number: int) -> str:
    return f"{run}:{number}"


def pressed(action_id: str, value: str) -> Press | None:
    """The meaning of a pressed button; None when it is not Footnote's or carries nonsense."""
    if action_id.startswith(FEEDBACK):
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
    if action_id == DETAILS:
        return Details(value)
    return Stop(value) if action_id == STOP else None

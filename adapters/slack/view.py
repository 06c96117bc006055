"""The state of a reply at a moment."""

from __future__ import annotations

from dataclasses import dataclass

from bot.answers import PlanView


@dataclass(frozen=True, slots=True)
class View:
    """The plan and the text written so far, whole each time."""

    plan: PlanView
    text: str = ""

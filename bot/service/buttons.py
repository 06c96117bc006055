"""People's actions besides asking, on any platform: buttons under an answer, and "forget me".

An adapter decides how a press is encoded (a button's id and value, which ``parse_press`` reads) and
how to reply to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from bot.core.messages import Audience, Author, Message
from bot.core.texts import Texts
from bot.service.reception import AcceptedQuestion, Reception, is_yes
from bot.service.standing_service import DAILY, EVERY
from bot.storage.workspaces import REASONS, Opinion, Reason, Verdict


@dataclass(frozen=True, slots=True)
class Feedback:
    """A person's verdict on an answer, optionally with a reason."""

    run: str
    verdict: Verdict
    reason: Reason = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Ask one of the answer's suggestions; ``number`` counts them from 0."""

    run: str
    number: int


# "deeper" researches the question once more, "retry" answers that of a failed run again in the same
# place, "delete" deletes question and answer for their asker, "watch" makes it a standing question,
# "retract" takes back the correction that the run's message made. "details" shows the presser alone
# the sources and how they were found: adapters format what ``Reception.details`` returns.
DeedOnRun = Literal["deeper", "delete", "details", "retract", "retry", "stop", "watch"]


@dataclass(frozen=True, slots=True)
class OnRun:
    """A press that says only what to do with its run, and with "watch" the ``schedule``."""

    deed: DeedOnRun
    run: str
    schedule: str = DAILY


ASK_WHY = "feedback-ask-why"  # the text that asks a person what was wrong
THANKS = "feedback-thanks"

Press = Feedback | FollowUp | OnRun

RUN = r"[0-9A-Za-z_-]{1,64}"  # the id of a run in a control


def parse_press(text: str) -> Press | None:
    """Return what a control means: "feedback:good:RUN", "feedback:bad:RUN", "reason:REASON:RUN",
    "follow-ups:RUN:NUMBER", or "DEED:RUN" with a deed on a run; None for anything else."""
    deeds: tuple[DeedOnRun, ...] = get_args(DeedOnRun)
    press: Press | None = None
    match text.split(":"):
        case ["feedback", ("good" | "bad") as verdict, run]:
            press = Feedback(run, verdict)
        case ["reason", reason, run] if why := next((r for r in REASONS if r == reason), None):
            press = Feedback(run, "bad", why)
        case ["follow-ups", run, number] if re.fullmatch("[0-9]{1,2}", number):
            press = FollowUp(run, int(number))
        case [deed, run] if known := next((d for d in deeds if d == deed), None):
            press = OnRun(known, run)
    return press if press is not None and re.fullmatch(RUN, press.run) else None


async def carry_out(
    reception: Reception, press: Press, author: Author, *, locale: str, audience: Audience
) -> str | None:
    """Carry out a press other than "details"; returns the id of a text to show only to the presser,
    or None. For ``ASK_WHY`` the adapter offers the ``REASONS``, each as a ``Feedback`` of its own.

    ``locale`` is the presser's; ``audience`` reads in the place of the press. Raises ``Denied``,
    ``Invalid`` and ``StorageUnavailable`` as the methods of ``Reception`` do.
    """
    match press:
        case Feedback(run, verdict, reason, words):
            kept = await reception.feedback(run, author, Opinion(verdict, reason, words))
            if not kept:
                return "question-gone"
            return ASK_WHY if verdict == "bad" and not (reason or words) else THANKS
        case OnRun("stop", run):
            return "stopping" if await reception.stop_run(run) else "nothing-running"
        case OnRun("watch", run, schedule):
            await reception.watch(run, author, schedule, locale=locale, audience=audience)
            return f"watch-pressed-{schedule}" if schedule in EVERY else "watch-pressed"
        case OnRun("retract", run):
            await reception.retract(run, author)
            return "correction-removed"
        case OnRun("delete", run):
            await reception.delete(run, author)
            return None
        case OnRun("retry", run):
            return None if await reception.retry(run, author) else "asked-already"
    asked = await ask_again(reception, press, author, locale=locale, audience=audience)
    return None if asked is None or asked.new else "asked-already"


async def ask_again(
    reception: Reception, press: Press, author: Author, *, locale: str, audience: Audience
) -> AcceptedQuestion | None:
    """Ask the question that a press means, as ``carry_out``; None if it means none."""
    match press:
        case FollowUp(run, number):
            return await reception.follow_up(run, number, author, locale=locale, audience=audience)
        case OnRun("deeper", run):
            return await reception.dig_deeper(run, author, locale=locale, audience=audience)
    return None


async def forget_me(
    reception: Reception, message: Message, word: str, command: str, texts: Texts
) -> str:
    """Forget the author of ``message`` if ``word`` agrees, otherwise explain the effect and that
    ``command`` does it; returns the text to show only to them.

    Raises ``StorageUnavailable``.
    """
    if is_yes(word):
        removed = await reception.forget_author(message)
        return texts("forget-done", messages=removed.messages)
    kept = await reception.count_of_author(message)
    if not kept:
        return texts("forget-nothing")
    return texts("forget-ask", messages=kept.messages, answers=kept.runs, command=command)

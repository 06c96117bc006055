"""People's actions besides asking, on any platform: buttons under an answer, and "forget me".

An adapter decides how a press is encoded (a button's id and value) and how to reply to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.messages import Audience, Author, Message
from bot.core.texts import Texts
from bot.service.reception import AcceptedQuestion, Reception, is_yes
from bot.service.standing_service import DAILY, EVERY
from bot.storage.workspaces import Opinion, Reason, Verdict


@dataclass(frozen=True, slots=True)
class Feedback:
    """A person's verdict on an answer, optionally with a reason."""

    run: str
    verdict: Verdict
    reason: Reason = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Deeper:
    """Research the same question once more, deep."""

    run: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Answer the question of a run that failed again, in the same place."""

    run: str


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Ask one of the answer's suggestions; ``number`` counts them from 0."""

    run: str
    number: int


@dataclass(frozen=True, slots=True)
class Stop:
    """End a run."""

    run: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Make the answer's question a standing question."""

    run: str
    schedule: str = DAILY


@dataclass(frozen=True, slots=True)
class Retract:
    """Take back the correction that a run's message made."""

    run: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a question and its answer, for its asker."""

    run: str


@dataclass(frozen=True, slots=True)
class Details:
    """Show the person who pressed, and no one else, an answer's sources and how it was found.

    The adapter formats it; ``Reception.details`` returns the content.
    """

    run: str


ASK_WHY = "feedback-ask-why"  # the text that asks a person what was wrong
THANKS = "feedback-thanks"

Again = Deeper | FollowUp  # presses that ask a question
Deed = Feedback | Again | Delete | Retry | Stop | Watch | Retract
Press = Deed | Details


async def carry_out(
    reception: Reception, press: Deed, author: Author, *, locale: str, audience: Audience
) -> str | None:
    """Carry out a press; returns the id of a text to show only to the presser, or None. For
    ``ASK_WHY`` the adapter offers the ``REASONS``, each as a ``Feedback`` of its own.

    ``locale`` is the presser's; ``audience`` reads in the place of the press. Raises ``Denied``,
    ``Invalid`` and ``StorageUnavailable`` as the methods of ``Reception`` do.
    """
    match press:
        case Feedback(run, verdict, reason, words):
            kept = await reception.feedback(run, author, Opinion(verdict, reason, words))
            if not kept:
                return "question-gone"
            return ASK_WHY if verdict == "bad" and not (reason or words) else THANKS
        case Stop(run):
            return "stopping" if await reception.stop_run(run) else "nothing-running"
        case Watch(run, schedule):
            await reception.watch(run, author, schedule, locale=locale, audience=audience)
            return f"watch-pressed-{schedule}" if schedule in EVERY else "watch-pressed"
        case Retract(run):
            await reception.retract(run, author)
            return "correction-removed"
        case Delete(run):
            await reception.delete(run, author)
            return None
        case Retry(run):
            return None if await reception.retry(run, author) else "asked-already"
        case Deeper() | FollowUp():
            asked = await ask_again(reception, press, author, locale=locale, audience=audience)
            return None if asked.new else "asked-already"


async def ask_again(
    reception: Reception, press: Again, author: Author, *, locale: str, audience: Audience
) -> AcceptedQuestion:
    """Ask the question that a press means; as ``carry_out``."""
    if isinstance(press, FollowUp):
        return await reception.follow_up(
            press.run, press.number, author, locale=locale, audience=audience
        )
    return await reception.dig_deeper(press.run, author, locale=locale, audience=audience)


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

"""A reply that is rewritten while it works: where streams are not allowed, or one is there already.

One message with the plan and the text so far, changed by chat.update.
"""

from __future__ import annotations

from adapters.slack.calls import Calls
from adapters.slack.delivery import Delivery
from adapters.slack.format import markdown, notification, working_blocks
from adapters.slack.part import Part
from adapters.slack.plan import tasks
from adapters.slack.posted_messages import PostedMessages
from adapters.slack.view import View
from adapters.slack.writing import ready
from bot.rendering.texts import Texts


class Updating:
    """Shows a run by changing its message. Calls are made once; the caller tries again.

    ``note`` is what the message says first; ``stop`` is the run that its button stops, or "" where
    Slack shows a Stop button itself.
    """

    method = "chat.update"

    def __init__(
        self,
        calls: Calls,
        delivery: Delivery,
        record: PostedMessages,
        texts: Texts,
        *,
        note: str = "",
        stop: str = "",
    ) -> None:
        self._calls = calls
        self._delivery = delivery
        self._record = record
        self._texts = texts
        self._note = note
        self._stop = stop
        self._shown: Part | None = None

    async def show(self, view: View) -> bool:
        """Bring the message up to date, which is True.

        Raises ``Refusal``, ``Limited`` and ``Away``.
        """
        part = self._part(view)
        if part == self._shown:
            return True
        await self._delivery.put(0, part, patience=0.0)
        await self._delivery.trim(1, patience=0.0)
        self._shown = part
        return True

    def _part(self, view: View) -> Part:
        urls = dict(view.plan.numbered)
        blocks = working_blocks(
            tasks(view.plan, self._texts),
            markdown(ready(view.text, urls), urls).strip(),
            self._texts,
            stop=self._stop,
            note=self._note,
        )
        return Part(tuple(blocks), notification(self._note or self._texts("working")))

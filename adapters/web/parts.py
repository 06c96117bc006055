"""Renders the changing parts of an unfinished reply, once for all viewers."""

from __future__ import annotations

from collections.abc import Callable

from cachetools import LRUCache

from adapters.web.limits import PARTS_KEPT
from adapters.web.plans import plan_of
from adapters.web.reply_state import ReplyState
from adapters.web.sse import as_line
from adapters.web.templating import Templates
from adapters.web.views import writing
from bot.core.texts import Texts


class Parts:
    """Renders the changed parts of a reply as JSON for events."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._kept: LRUCache[tuple[str, ...], str] = LRUCache(PARTS_KEPT)

    def plan(self, texts: Texts, run: str, now: ReplyState) -> str:
        """Return the plan as HTML, and ``now``, the present activity in words."""

        def made() -> dict[str, str]:
            html = plan_html(self._templates, texts, run, now)
            return {"run": run, "html": html, "now": being_done(now, texts)}

        return self._once(("plan", texts.locale, run, now.mark, str(now.plan is None)), made)

    def text(self, run: str, now: ReplyState) -> str:
        """Return the text of the answer so far, as HTML."""
        name = ("text", run, now.mark, str(bool(now.text)))  # it may be withheld from some viewers
        return self._once(
            name, lambda: {"run": run, "html": writing(run, now, self._templates.root)}
        )

    def _once(self, name: tuple[str, ...], made: Callable[[], dict[str, str]]) -> str:
        kept = self._kept.get(name)
        if kept is None:
            kept = self._kept[name] = as_line(made())
        return kept


def being_done(now: ReplyState, texts: Texts) -> str:
    """Return the present activity in one line; "" between two steps."""
    if now.plan is not None:
        return plan_of(now.plan, texts).now
    return texts("queued", ahead=now.ahead) if now.ahead else texts("working")


def plan_html(templates: Templates, texts: Texts, run: str, now: ReplyState) -> str:
    """Render the plan: a line for each kind of work."""
    plan = plan_of(now.plan, texts, run) if now.plan is not None else None
    return templates.fragment("plan.html", texts, run=run, plan=plan, shown=now)

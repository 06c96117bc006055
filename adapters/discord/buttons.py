"""The controls under a reply: their appearance, and the meaning of a press.

The ``custom_id`` of a control holds everything it needs, so old ones work after a restart:
``footnote:feedback:good:RUN``, ``footnote:feedback:bad:RUN``, ``footnote:deeper:RUN``,
``footnote:details:RUN``, ``footnote:watch:RUN``, ``footnote:retract:RUN``, ``footnote:stop:RUN``;
``footnote:follow-ups:RUN`` is a menu whose options are the numbers of the suggestions, from 0, and
``footnote:why:RUN`` a menu of reasons.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import discord

from adapters.discord.format import Row
from adapters.discord.limits import BUTTON_URL, OPTION_LABEL, PLACEHOLDER
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.texts import Texts
from bot.service.buttons import Deeper, Details, Feedback, FollowUp, Press, Retract, Stop, Watch
from bot.storage.workspaces import REASONS

_OfRun = Deeper | Details | Watch | Retract | Stop
Button = Feedback | _OfRun

# The buttons whose id holds only their run.
_BUTTONS: Mapping[str, type[_OfRun]] = {
    "deeper": Deeper,
    "details": Details,
    "watch": Watch,  # a button always has the default schedule
    "retract": Retract,
    "stop": Stop,
}
TEMPLATE = re.compile(
    rf"footnote:(?:feedback:(?P<verdict>good|bad)|(?P<kind>follow-ups|why|{'|'.join(_BUTTONS)}))"
    r":(?P<run>[0-9A-Za-z_-]{1,64})"
)
_MENU, _WHY = "footnote:follow-ups:", "footnote:why:"
_NUMBER = re.compile(r"[0-9]{1,2}")
FOLLOW_UPS = 3

log = get_logger()

Pressed = Callable[[discord.Interaction[Any], Press], Awaitable[None]]


def encode(press: Button) -> str:
    """Return the ``custom_id`` of the button for a press."""
    if isinstance(press, Feedback):  # without a reason, which is chosen from a menu
        return f"footnote:feedback:{press.verdict}:{press.run}"
    kind = next(kind for kind, deed in _BUTTONS.items() if isinstance(press, deed))
    return f"footnote:{kind}:{press.run}"


def parse(custom_id: str, chosen: Sequence[str] = ()) -> Press | None:
    """Return the meaning of a ``custom_id``, with the options ``chosen`` in a menu; None if it is
    not Footnote's, or nothing was chosen in the menu."""
    match = TEMPLATE.fullmatch(custom_id)
    if match is None:
        return None
    run, kind = match["run"], match["kind"]
    if match["verdict"]:
        return Feedback(run, "good" if match["verdict"] == "good" else "bad")
    if kind == "follow-ups":
        number = _NUMBER.fullmatch(chosen[0]) if chosen else None
        return FollowUp(run, int(number[0])) if number else None
    if kind == "why":
        reason = next((each for each in REASONS if each in chosen[:1]), None)
        return Feedback(run, "bad", reason) if reason else None
    return _BUTTONS[kind](run)


# ---------------------------------------------------------------- looks


def rows_while_working(run: str, texts: Texts) -> tuple[Row, ...]:
    return (Row(_button(Stop(run), texts("stop-button"), discord.ButtonStyle.danger)),)


def rows_for(
    run: str,
    texts: Texts,
    *,
    deeper: bool,
    details: bool,
    corrects: bool = False,
    suggestions: Sequence[str] = (),
) -> tuple[Row, ...]:
    """Return the controls under an answer.

    The first row holds feedback, "Dig deeper" if ``deeper``, and
    details if there are any. Below it, since a row holds five buttons, are "Remove" if
    ``corrects``, and a menu of follow-up questions, shortened to fit.
    """
    looks = discord.ButtonStyle
    first = Row(
        _button(Feedback(run, "good"), texts("feedback-good"), looks.secondary, "👍"),
        _button(Feedback(run, "bad"), texts("feedback-bad"), looks.secondary, "👎"),
    )
    rows = [first]
    if deeper:
        first.add_item(_button(Deeper(run), texts("dig-deeper"), looks.primary, "🔎"))
    if details:
        first.add_item(_button(Details(run), texts("details-button"), looks.secondary))
        first.add_item(_button(Watch(run), texts("watch-button"), looks.secondary))
    if corrects:
        rows.append(Row(_button(Retract(run), texts("correction-remove"), looks.secondary)))
    options = [
        discord.SelectOption(label=label, value=str(number))
        for number, suggestion in enumerate(suggestions[:FOLLOW_UPS])
        if (label := shortened(suggestion, OPTION_LABEL))
    ]
    if options:
        heading = shortened(texts("follow-ups-heading"), PLACEHOLDER)
        menu: discord.ui.Select[discord.ui.LayoutView] = discord.ui.Select(
            custom_id=f"{_MENU}{run}", placeholder=heading, options=options
        )
        rows.append(Row(menu))
    return tuple(rows)


def view_of_reasons(run: str, texts: Texts) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    options = [
        discord.SelectOption(label=texts(f"feedback-{each.replace('_', '-')}"), value=each)
        for each in REASONS
    ]
    heading = shortened(texts("feedback-why"), PLACEHOLDER)
    view.add_item(discord.ui.Select(custom_id=f"{_WHY}{run}", placeholder=heading, options=options))
    return view


def rows_of_link(texts: Texts, page: str) -> tuple[Row, ...]:
    """Return a link to the run page, or nothing if there is none or Discord would not accept its
    URL: it refuses the whole message for a host without a dot."""
    if len(page) > BUTTON_URL or "." not in (urlsplit(page).hostname or ""):
        return ()
    return (Row(discord.ui.Button(url=page, label=texts("web-how"))),)


def runs_in(components: Sequence[dict[str, Any]]) -> set[str]:
    """Return the runs of a message's buttons; ``components`` are as Discord sends them."""
    found = set()
    for row in components:
        for part in (row, *row.get("components", ())):
            press = parse(str(part.get("custom_id", "")))
            if press is not None:
                found.add(press.run)
    return found


def _button(
    press: Button, label: str, style: discord.ButtonStyle, emoji: str | None = None
) -> discord.ui.Button[discord.ui.LayoutView]:
    return discord.ui.Button(custom_id=encode(press), label=label, style=style, emoji=emoji)


# ---------------------------------------------------------------- presses


def dynamic_item(pressed: Pressed) -> type[discord.ui.DynamicItem[Any]]:
    """Return a class for ``client.add_dynamic_items`` that calls ``pressed`` for every use of a
    control of ours, on any message."""

    class FootnoteControl(discord.ui.DynamicItem[discord.ui.Item[Any]], template=TEMPLATE):
        @classmethod
        async def from_custom_id(
            cls,
            interaction: discord.Interaction[Any],
            item: discord.ui.Item[Any],
            match: re.Match[str],
            /,
        ) -> FootnoteControl:
            return cls(item)

        async def callback(self, interaction: discord.Interaction[Any]) -> None:
            data: Any = interaction.data or {}
            press = parse(self.custom_id, data.get("values") or ())
            if press is None:
                log.warning("unknown control", custom_id=self.custom_id)
            else:
                await pressed(interaction, press)

    return FootnoteControl

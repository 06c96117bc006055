"""The controls under a reply, and forms: their appearance, and the meaning of a press.

The ``custom_id`` of a control holds everything it needs, so old ones work after a restart:
``footnote:feedback:good:RUN``, ``footnote:feedback:bad:RUN``, ``footnote:deeper:RUN``,
``footnote:retry:RUN``, ``footnote:details:RUN``, ``footnote:watch:RUN``,
``footnote:retract:RUN``, ``footnote:stop:RUN``;
``footnote:follow-ups:RUN`` is a menu whose options are the numbers of the suggestions, from 0. The
same holds for forms: ``footnote:why:RUN`` and ``footnote:ask:DEPTH``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args
from urllib.parse import urlsplit

import discord
from discord import ui

from adapters.discord.format import Row
from adapters.discord.limits import BUTTON_URL, INPUT, OPTION_LABEL, PLACEHOLDER, UPLOADS
from bot.core.lines import shortened
from bot.core.logs import get_logger
from bot.core.messages import Depth
from bot.core.texts import Texts
from bot.service.access import DEPTHS
from bot.service.buttons import ASK_WHY, RUN, DeedOnRun, Feedback, OnRun, Press, parse_press
from bot.storage.workspaces import LONGEST_WORDS, REASONS, Reason

Button = Feedback | OnRun
TEMPLATE = re.compile(
    rf"footnote:(?:feedback:(?:good|bad)|follow-ups|{'|'.join(get_args(DeedOnRun))}):{RUN}"
)
_FORM = re.compile(rf"footnote:(?:why:(?P<run>{RUN})|ask:(?P<depth>{'|'.join(DEPTHS)}))")
_MENU = "footnote:follow-ups:"
FOLLOW_UPS = 3

log = get_logger()

OnPress = Callable[[discord.Interaction[Any], Press], Awaitable[None]]


def encode(press: Button) -> str:
    """Return the ``custom_id`` of the button for a press."""
    if isinstance(press, Feedback):  # without a reason, for which a form asks
        return f"footnote:feedback:{press.verdict}:{press.run}"
    return f"footnote:{press.deed}:{press.run}"


def parse(custom_id: str, chosen: Sequence[str] = ()) -> Press | None:
    """Return the meaning of a ``custom_id``, with the options ``chosen`` in a menu; None if it is
    not Footnote's, or nothing was chosen in the menu."""
    ours, _, meant = custom_id.partition(":")
    return parse_press(":".join([meant, *chosen[:1]])) if ours == "footnote" else None


# ---------------------------------------------------------------- looks


def rows_while_working(run: str, texts: Texts) -> tuple[Row, ...]:
    return (Row(_button(OnRun("stop", run), texts("stop-button"), discord.ButtonStyle.danger)),)


def rows_of_failed(run: str, texts: Texts, page: str) -> tuple[Row, ...]:
    retry = _button(OnRun("retry", run), texts("retry-button"), discord.ButtonStyle.primary)
    return (Row(retry), *rows_of_link(texts, page))


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
        first.add_item(_button(OnRun("deeper", run), texts("dig-deeper"), looks.primary, "🔎"))
    if details:
        first.add_item(_button(OnRun("details", run), texts("details-button"), looks.secondary))
        first.add_item(_button(OnRun("watch", run), texts("watch-button"), looks.secondary))
    if corrects:
        rows.append(
            Row(_button(OnRun("retract", run), texts("correction-remove"), looks.secondary))
        )
    options = [
        discord.SelectOption(label=label, value=str(number))
        for number, suggestion in enumerate(suggestions[:FOLLOW_UPS])
        if (label := shortened(suggestion, OPTION_LABEL))
    ]
    if options:
        heading = shortened(texts("follow-ups-heading"), PLACEHOLDER)
        menu: ui.Select[ui.LayoutView] = ui.Select(
            custom_id=f"{_MENU}{run}", placeholder=heading, options=options
        )
        rows.append(Row(menu))
    return tuple(rows)


def rows_of_link(texts: Texts, page: str) -> tuple[Row, ...]:
    """Return a link to the run page, or nothing if there is none or Discord would not accept its
    URL: it refuses the whole message for a host without a dot."""
    if len(page) > BUTTON_URL or "." not in (urlsplit(page).hostname or ""):
        return ()
    return (Row(ui.Button(url=page, label=texts("web-how"))),)


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
) -> ui.Button[ui.LayoutView]:
    return ui.Button(custom_id=encode(press), label=label, style=style, emoji=emoji)


# ---------------------------------------------------------------- forms


@dataclass(frozen=True, slots=True)
class Asked:
    """A question written into a form, with its files as Discord sends them."""

    text: str
    depth: Depth
    files: tuple[Any, ...]


def form_of_question(depth: Depth, texts: Texts) -> ui.Modal:
    """Return the form for a question that needs more room than a command's option."""
    form = ui.Modal(title=texts("web-question"), custom_id=f"footnote:ask:{depth}")
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph, custom_id="text", max_length=INPUT
    )
    form.add_item(ui.Label(text=texts("web-overview-question"), component=field))
    files: ui.FileUpload[ui.Modal] = ui.FileUpload(
        custom_id="files", required=False, max_values=UPLOADS
    )
    return form.add_item(ui.Label(text=texts("ask-file"), component=files))


def form_of_reasons(run: str, texts: Texts) -> ui.Modal:
    """Return the form that asks why an answer was not helpful."""
    form = ui.Modal(title=texts("feedback-bad"), custom_id=f"footnote:why:{run}")
    form.add_item(ui.TextDisplay(texts(ASK_WHY)))
    reasons: ui.RadioGroup[ui.Modal] = ui.RadioGroup(custom_id="reason", required=False)
    for each in REASONS:
        reasons.add_option(label=texts(f"feedback-{each.replace('_', '-')}"), value=each)
    form.add_item(ui.Label(text=texts("feedback-why"), component=reasons))
    field: ui.TextInput[ui.Modal] = ui.TextInput(
        style=discord.TextStyle.paragraph,
        custom_id="words",
        max_length=LONGEST_WORDS,
        required=False,
    )
    return form.add_item(ui.Label(text=texts("feedback-words"), component=field))


def parse_form(sent: Mapping[str, Any]) -> Asked | Feedback | None:
    """Return the meaning of a form, as Discord sends it; None if it is not Footnote's."""
    form = _FORM.fullmatch(str(sent.get("custom_id")))
    if form is None:
        return None
    fields = [row["component"] for row in sent["components"] if "component" in row]
    values = {each["custom_id"]: each.get("value", each.get("values")) for each in fields}
    if form["run"]:
        reasons: Iterator[Reason] = (each for each in REASONS if each == values["reason"])
        return Feedback(form["run"], "bad", next(reasons, ""), values["words"] or "")
    known = sent.get("resolved", {}).get("attachments", {})
    files = tuple(known[id] for id in values["files"] or ())
    return Asked(values["text"], cast(Depth, form["depth"]), files)


# ---------------------------------------------------------------- presses


def dynamic_item(pressed: OnPress) -> type[ui.DynamicItem[Any]]:
    """Return a class for ``client.add_dynamic_items`` that calls ``pressed`` for every use of a
    control of ours, on any message."""

    class FootnoteControl(ui.DynamicItem[ui.Item[Any]], template=TEMPLATE):
        @classmethod
        async def from_custom_id(
            cls,
            interaction: discord.Interaction[Any],
            item: ui.Item[Any],
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

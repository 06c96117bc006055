"""SVG elements as text. Everything that goes in is escaped; no styles are written into elements,
which the content security policy would not apply: classes name them, a style sheet says how they
look."""

from __future__ import annotations

from markupsafe import Markup, escape

from bot.text.control import without_controls


def element(name: str, *children: Markup, **attributes: str | float) -> Markup:
    """An element. ``class_`` is the attribute "class", and "_" within a name is "-"; numbers are
    written with at most two decimals."""
    written = "".join(
        f' {_attribute(key)}="{_value(value)}"' for key, value in attributes.items() if value != ""
    )
    return Markup(f"<{name}{written}>{''.join(children)}</{name}>")  # noqa: S704 - all is escaped


def words(text: str) -> Markup:
    """Text as an element's content."""
    return escape(without_controls(text, " "))


def _attribute(key: str) -> str:
    return "viewBox" if key == "view_box" else key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> Markup:
    if isinstance(value, str):
        return words(value)
    return Markup(f"{value:.2f}".rstrip("0").rstrip(".") or "0")  # noqa: S704 - a number


def number(value: float) -> str:
    """A coordinate within a path."""
    return str(_value(value))

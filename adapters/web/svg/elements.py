"""SVG elements as text. All input is escaped. Elements have classes instead of style attributes,
which the content security policy forbids; a style sheet defines their appearance."""

from __future__ import annotations

from markupsafe import Markup, escape

from bot.text.terms import without_controls


def element(name: str, *children: Markup, **attributes: str | float) -> Markup:
    """Return an element. ``class_`` is the attribute "class", and "_" within a name becomes "-";
    numbers have at most two decimals."""
    written = "".join(
        f' {_attribute(key)}="{_value(value)}"' for key, value in attributes.items() if value != ""
    )
    return Markup(f"<{name}{written}>{''.join(children)}</{name}>")  # noqa: S704 - all is escaped


def words(text: str) -> Markup:
    """Escape text as an element's content."""
    return escape(without_controls(text, " "))


def _attribute(key: str) -> str:
    return "viewBox" if key == "view_box" else key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> Markup:
    if isinstance(value, str):
        return words(value)
    return Markup(f"{value:.2f}".rstrip("0").rstrip(".") or "0")  # noqa: S704 - a number


def number(value: float) -> str:
    """Format a coordinate for a path."""
    return str(_value(value))

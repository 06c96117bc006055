"""The request to the small model to write down what pictures show, and its reply."""

from __future__ import annotations

from collections.abc import Sequence

from bot.pages.pictures import Picture
from bot.reasoning.calls import (
    INTEGER,
    STRING,
    ModelReply,
    Request,
    list_of,
    numbered,
    object_of,
    prompt,
    user_turn,
)

SEE = "see"  # the kind of the step
SHOWN_TOKENS = 2_500  # of the reply, for each picture
SHOWN = object_of(pictures=list_of(object_of(picture=INTEGER, text=STRING)))


def picture_request(model: str, pictures: Sequence[Picture]) -> Request:
    """Return the request to read pictures, at most a few: each has its share of the reply."""
    count = len(pictures)
    words = "The picture is above." if count == 1 else f"The {count} pictures are above, in order."
    return Request(
        model,
        500 + SHOWN_TOKENS * count,
        prompt("see"),
        user_turn(words),
        schema=SHOWN,
        pictures=tuple(pictures),
    )


def parse_pictures(reply: ModelReply, count: int) -> tuple[str, ...]:
    """Parse what each picture shows; "" for one that the model does not tell. Raises
    ``Unusable``."""
    found = [""] * count
    for at, item in numbered(reply, "pictures", "picture", count):
        found[at] = str(item.get("text") or "").strip()
    return tuple(found)

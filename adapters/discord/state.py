"""The adapter's post state: stored with a run so that its posts are found again.

A listener gives ``{"message": ID}`` (the question's message) or
``{"interaction": {"id": …, "token": …, "application_id": …}}`` (a deferred command), or both (a
command on a message). The rest is the poster's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bot.posting import PostState

Through = Literal["bot", "interaction"]
ORIGINAL = "@original"  # Discord's name for the first response to an interaction


@dataclass(frozen=True, slots=True)
class Deferred:
    """An interaction that waits for its response. The token may be used for 15 minutes."""

    id: str
    token: str
    application_id: str


@dataclass(frozen=True, slots=True)
class Posted:
    """The posts of a reply so far.

    ``question`` is the message with the question, or that echoes it; ``echoed`` that it is ours.
    ``place`` is the channel or thread where the reply stands ("" before that is settled),
    ``through`` whose right to write there is used. ``posts`` are its messages, in order; ``done``
    that they are an answer. ``turn`` counts how often parts were taken away, ``gaps`` are the text
    ids of what the bot may not do there.
    """

    question: str = ""
    echoed: bool = False
    interaction: Deferred | None = None
    place: str = ""
    through: Through = "bot"
    posts: tuple[str, ...] = ()
    done: bool = False
    turn: int = 0
    gaps: tuple[str, ...] = ()

    def json(self) -> PostState:
        state: dict[str, Any] = {
            "message": self.question,
            "echoed": self.echoed,
            "place": self.place,
            "through": self.through,
            "posts": list(self.posts),
            "done": self.done,
            "turn": self.turn,
            "gaps": list(self.gaps),
        }
        if self.interaction is not None:
            deferred = self.interaction
            state["interaction"] = {
                "id": deferred.id,
                "token": deferred.token,
                "application_id": deferred.application_id,
            }
        return state


def posted(state: PostState | None) -> Posted:
    """The state that a listener gave, or an earlier attempt saved."""
    state = state or {}
    deferred = state.get("interaction")
    return Posted(
        question=str(state.get("message") or ""),
        echoed=bool(state.get("echoed")),
        interaction=None
        if not deferred
        else Deferred(str(deferred["id"]), str(deferred["token"]), str(deferred["application_id"])),
        place=str(state.get("place") or ""),
        through="interaction" if state.get("through") == "interaction" else "bot",
        posts=tuple(str(id) for id in state.get("posts", ())),
        done=bool(state.get("done")),
        turn=int(state.get("turn", 0)),
        gaps=tuple(str(gap) for gap in state.get("gaps", ())),
    )

"""The state of a reply at one moment: the web's post state, stored with its run as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from bot.core.messages import Answer, PlanView
from bot.core.posting import PostState
from bot.storage.store import RunRecord
from bot.storage.tables import UNFINISHED


@dataclass(frozen=True, slots=True)
class ReplyState:
    """The state of a reply, which is unfinished until it has an ``answer``.

    ``turn`` counts the attempts and ``change`` the changes of an attempt; ``mark`` identifies a
    state of the reply. ``ahead`` is the number of the thread's questions that are answered first;
    ``fresh`` tells that an edited question is answered again. ``text`` is the text of the answer so
    far.
    """

    turn: int = 0
    change: int = 0
    mark: str = "0.0"
    ahead: int = 0
    fresh: bool = False
    plan: PlanView | None = None
    text: str = ""
    answer: Answer | None = None

    def json(self) -> PostState:
        state: PostState = _adapter.dump_python(self, mode="json")
        return state


_adapter = TypeAdapter(ReplyState)


def parse_state(state: PostState | None) -> ReplyState:
    """Parse the state that an earlier attempt saved; empty if there was none."""
    return ReplyState() if state is None else _adapter.validate_python(state)


def next_state(before: ReplyState, **changes: object) -> ReplyState:
    """Return the next state of a reply."""
    change = before.change + 1
    mark = f"{before.turn}.{change}"
    return replace(before, **changes, change=change, mark=mark)  # type: ignore[arg-type]


def next_turn(before: ReplyState) -> ReplyState:
    """Return the first state of a new attempt at a reply."""
    turn = before.turn + 1
    return replace(before, turn=turn, change=0, mark=f"{turn}.0")


def state_of(run: RunRecord) -> ReplyState:
    """Return the state of a run's reply, on any platform.

    For a finished run this is its stored answer, which includes the result of its verification even
    if that gave no reason to update the reply.
    """
    state = parse_state(run.post_state) if run.message.thread.platform == "web" else ReplyState()
    ended = run.state not in UNFINISHED
    if ended and run.answer is not None and state.answer != run.answer:
        return replace(state, answer=run.answer, mark=f"{state.mark}.end")
    return state

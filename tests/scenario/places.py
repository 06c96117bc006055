"""A chat platform as a person sees it: what the scenarios need, once for each platform.

A new platform implements ``Place`` and adds itself to ``PLACES`` in ``conftest``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from tests.scenario.program import Program
    from tests.scenario.serving import Serving

Press = Literal["deeper", "good", "bad", "follow-up", "details", "stop"]


Files = Mapping[str, bytes]
NO_FILES: Files = {}
Witness = Callable[[bool], bool]

# What the documents of ``conftest`` answer: 90 days, the security team, 6.50 euros.
# The model understands the first of them before it searches: a plain question needs no rewrite.
KEYS = "Could you tell me how often the master key is rotated?"
WHO = "And who rotates the master key?"
LUNCH = "What does lunch in the canteen cost?"


@dataclass(frozen=True, slots=True)
class Said:
    """A message that a person wrote: ``id`` in ``channel``; ``root`` names its thread."""

    channel: str
    id: str
    root: str


@dataclass(frozen=True, slots=True)
class Post:
    """A message of Footnote's that all can see, with everything that is visible in it.

    ``run`` is the run whose finished answer ends in it, or "".
    """

    id: str
    text: str
    run: str
    working: bool


class Place(Protocol):
    """One workspace or server with a channel, where Ada may ask and everybody can read."""

    name: str
    ready: str  # what `serve` says once it is connected
    searching: str  # how a plan says that a search is or was made
    mention: str  # of Footnote, with a space behind it; "" where every message is for it
    denied: str  # what Ada is told where the list of who may ask is without her
    thanks: str  # what she is told in private for her feedback; "" where the button shows it

    def meet(self, program: Program, serving: Serving) -> None:
        """A program was started; if it does not come to the place, the place comes to it."""
        ...

    @property
    def connections(self) -> int:
        """The number of times that Footnote has connected so far."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings that `serve` needs to connect."""
        ...

    # ---- what Ada does

    def ask(self, text: str, *, locale: str = "en-US", files: Files = NO_FILES) -> Said:
        """Mention Footnote in the channel, with files (name → what they hold) if any."""
        ...

    def say(self, earlier: Said, text: str) -> Said:
        """Write in the thread, without a mention."""
        ...

    def edit(self, said: Said, text: str) -> None: ...

    def delete(self, said: Said) -> None: ...

    def press(self, said: Said, what: Press, *, on: int = -1) -> None:
        """Press a button under one of Footnote's messages in the thread, the last by default."""
        ...

    def stop(self, said: Said) -> None:
        """Stop by the platform's own means: Slack's Stop button, Discord's command."""
        ...

    # ---- what is to be seen

    def posts(self, said: Said) -> list[Post]:
        """Footnote's messages in the thread, in order."""
        ...

    def whispers(self, said: Said) -> str:
        """The messages that Footnote sent to Ada alone, there or in private."""
        ...

    def at_work(self, said: Said) -> bool:
        """Return True if anything still tells that Footnote is working in the thread."""
        ...

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Wait until something is true."""
        ...

    def acknowledged(self) -> bool:
        """Return True if Footnote has taken everything in that the platform told it."""
        ...

    # ---- bad weather

    def tell_again(self) -> None:
        """The platform delivers all events once more."""
        ...

    def lose_connection(self) -> None:
        """The connection by which events come breaks."""
        ...

    def down(self) -> None:
        """Nothing can be posted."""
        ...

    def up(self) -> None: ...

    def limit(self, times: int) -> None:
        """The next calls that post or change anything, of each kind, are told to wait a second."""
        ...

    def cut(self) -> None:
        """The next call that posts takes effect, but its answer is lost."""
        ...

    def watch(self, witness: Witness) -> None:
        """Show every call that changes what is seen to ``witness``: False before it takes effect,
        True after. If it returns False before, the call never arrived."""
        ...


OpenPlace = Callable[[], AbstractContextManager[Place]]


def finished(place: Place, said: Said, count: int = 1) -> bool:
    """Return True if the thread shows so many finished answers, and nothing is being worked on."""
    answers = [post for post in place.posts(said) if post.run]
    return len(answers) >= count and not place.at_work(said)


def whole(place: Place, said: Said) -> str:
    """All that Footnote's messages in a thread show."""
    return "\n---\n".join(post.text for post in place.posts(said))


def until_shown(place: Place, said: Said, words: str, seconds: float = 60.0) -> None:
    """Wait until the thread shows these words of Footnote's."""
    try:
        place.until(lambda: words in whole(place, said), seconds)
    except TimeoutError:
        raise AssertionError(f"not {words!r}, but:\n{whole(place, said)}") from None


def until_answered(place: Place, said: Said, count: int = 1, seconds: float = 60.0) -> list[Post]:
    """The thread's posts, once it shows ``count`` finished answers."""
    try:
        place.until(lambda: finished(place, said, count), seconds)
    except TimeoutError:
        shown = whole(place, said)
        raise AssertionError(f"not {count} finished answers, but:\n{shown}") from None
    return place.posts(said)


def the_answer(place: Place, said: Said) -> str:
    """The one answer of a thread in which nothing else is to be seen."""
    posts = until_answered(place, said)
    assert len(posts) == 1, [post.text for post in posts]
    return posts[0].text

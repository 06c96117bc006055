"""Measures which messages of a thread that address nobody are taken for follow-ups.

``chatter_sets`` has real-looking threads in English, German and Chinese: a question, Footnote's
answer, sometimes talk among people, and messages that may come next, each a follow-up or chatter.
They were written before the rule; the threads "kept" apart were never used to tune it.

  chatter answered     of the messages among people, those that would begin research
  follow-ups missed    of the questions and requests to Footnote, those that would be passed over

With ``--model`` the prompt for the small model decides, one request for each message of the threads
kept apart, in the model that the settings and ANTHROPIC_BASE_URL name; each decision is printed.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.core.messages import Author, Citation, Entry, Message, Transcript
from bot.operation.configuration import load_settings
from bot.reasoning.closest_reasoner import follows_up
from bot.reasoning.reasoner import chosen_reasoner
from tests.bench.frame import options, print_table
from tests.fakes.calls import MemoryCalls
from tests.unit.samples import a_message

SETS = Path(__file__).parent / "chatter_sets"
LANGUAGES = ("en", "de", "zh")
HALVES = ("tune", "kept")
AT_ONCE = 20  # requests of one model at a time
_MENTION = re.compile(r"(?<!\w)@\w")

Rule = Callable[[Transcript, Message], bool]


@dataclass(frozen=True, slots=True)
class Next:
    """A message that may come next in a thread, and whether it is for Footnote."""

    half: str
    is_follow_up: bool
    thread: Transcript
    message: Message

    @property
    def addresses_others(self) -> bool:
        """True if it mentions somebody: adapters see that, and such a message is never answered."""
        return _MENTION.search(self.message.text) is not None


def messages_in(language: str) -> list[Next]:
    threads = json.loads((SETS / f"{language}.json").read_text(encoding="utf-8"))
    found = []
    for thread in threads:
        question = thread["said"][0][1]
        said = Transcript(tuple(_entry(name, text, question) for name, text in thread["said"]))
        for label, name, text in thread["next"]:
            message = replace(a_message(text), author=Author(name, name), unaddressed=True)
            found.append(Next(thread["half"], label == "follow-up", said, message))
    return found


def _entry(name: str, text: str, question: str) -> Entry:
    if name != "Footnote":
        return Entry("person", name, text)
    page = Citation(1, "https://example.org/page", "Page", text, "0" * 64, 0, len(text))
    return Entry("footnote", name, text, question, (page,))


RULES: dict[str, Rule] = {
    "all": lambda thread, message: True,
    "? only": lambda thread, message: message.text.rstrip().endswith(("?", "？")),
    "closest passages": follows_up,
}


def main(arguments: Sequence[str]) -> None:
    parser = options("chatter", __doc__)
    parser.add_argument("--model", action="store_true", help="let the model of the settings decide")
    parser.add_argument("--show", choices=HALVES, help="print the errors of the rule in this half")
    given = parser.parse_args(arguments)
    sets = {language: messages_in(language) for language in LANGUAGES}
    rules, halves = RULES, list(HALVES)
    if given.quick:
        sets = {language: said[::9] for language, said in sets.items()}
    if given.model:
        halves = ["kept"]
        kept = (each for said in sets.values() for each in said if each.half in halves)
        asked = [each for each in kept if not each.addresses_others]
        decided = asyncio.run(_by_model(asked))
        rules = {"model": lambda thread, message: decided[thread, message]}
    rows: list[list[object]] = []
    for language, said in sets.items():
        for half in halves:
            ours = [each for each in said if each.half == half]
            for name, rule in rules.items():
                taken = [_is_taken(rule, each) for each in ours]
                rows.append([f"{language} {half}", name, *_shares(ours, taken)])
                if given.show == half and rule is follows_up:
                    _print_errors(ours, taken)
    print_table(("threads", "rule", "chatter answered", "follow-ups missed"), rows)


async def _by_model(asked: Sequence[Next]) -> dict[tuple[Transcript, Message], bool]:
    settings = load_settings()
    reasoner = chosen_reasoner(settings)
    if reasoner.service is None:
        sys.exit(
            "--model needs a model: set ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL for a person."
        )
    decided = {}
    async with reasoner.open(settings, lambda kind: lambda state, seconds: None, True) as make:
        together = asyncio.Semaphore(AT_ONCE)

        async def decide(number: int, each: Next) -> None:
            async with together:
                rewritten = await make(MemoryCalls()).rewrite(each.thread, each.message)
            decided[each.thread, each.message] = rewritten.for_us
            right = "" if rewritten.for_us == each.is_follow_up else "  (not as labelled)"
            print(f"{number:3} for_us={rewritten.for_us}  {each.message.text}{right}", flush=True)

        await asyncio.gather(*(decide(*each) for each in enumerate(asked, 1)))
    return decided


def _is_taken(rule: Rule, each: Next) -> bool:
    return not each.addresses_others and rule(each.thread, each.message)


def _shares(said: Sequence[Next], taken: Sequence[bool]) -> tuple[str, str]:
    answered = [
        is_taken for each, is_taken in zip(said, taken, strict=True) if not each.is_follow_up
    ]
    missed = [not is_taken for each, is_taken in zip(said, taken, strict=True) if each.is_follow_up]
    return _share(answered), _share(missed)


def _share(those: Sequence[bool]) -> str:
    return f"{sum(those)} of {len(those)} = {sum(those) / max(1, len(those)):.0%}"


def _print_errors(said: Sequence[Next], taken: Sequence[bool]) -> None:
    for each, is_taken in zip(said, taken, strict=True):
        if is_taken != each.is_follow_up:
            print("answered" if is_taken else "missed  ", each.message.text, flush=True)

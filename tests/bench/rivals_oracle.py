"""The model of the comparison with others: it knows what each question needs and what was shown.

A question is a chain of facts, each with the search that finds it and the page that has it. The
oracle searches for the first fact that it has not been shown yet, then with the question as it
stands, then gives up. It tells the facts that it was shown, with their sources where it is asked
for them, and the answer only if it was shown all of them.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bot.text.sentences import sentences
from tests.bench.desk import Hop
from tests.bench.multihop import holds_answer
from tests.bench.tokens import (
    PLAIN_TOOL,
    RESULT,
    chosen_ids,
    hits,
    opened_pages,
    searched,
    shown,
)
from tests.fakes.claude import Block, Reply, cited, researcher, says, text, tool
from tests.fakes.claude_brain import SENTENCE
from tests.fakes.claude_replies import citation
from tests.fakes.claude_requests import asked_last, search_results

# What gpt-researcher's prompts are recognized by, and how they show pages and search results.
CHOOSES, PLANS, REPORTS = (
    "agent_role_prompt",
    "Write 3 search queries",
    "answer the following query",
)
CONTEXT = re.compile(r"^Context: (\[.*\])$", re.M)
SOURCE = re.compile(
    r"Source: (\S+)\nTitle: ([^\n]*)\nContent: (.*?)(?=\s+Source: \S+\nTitle: |\"\n---\n)", re.S
)
NOT_FOUND = "The pages do not say it."


@dataclass(frozen=True, slots=True)
class Task:
    """A question, what it is answered with, and the facts that this rests on, in their order."""

    question: str
    answers: tuple[str, ...]
    hops: tuple[Hop, ...]

    @property
    def conclusion(self) -> str:
        return f"So the answer is {self.answers[0].rstrip('.')}"

    def known(self, evidence: Mapping[str, str]) -> tuple[Hop, ...]:
        """The facts that stand in the evidence (title → text), up to the first that does not."""
        missing = (i for i, hop in enumerate(self.hops) if not stands(hop, evidence))
        return self.hops[: next(missing, len(self.hops))]

    def next_query(self, known: Collection[Hop], tried: Collection[str]) -> str | None:
        """The search for the first fact that is not known, None if all were tried or are known."""
        unknown = self.hops[len(known) : len(known) + 1]
        queries = [query for hop in unknown for query in (hop.query, self.question)]
        return next((query for query in queries if query not in tried), None)


def stands(hop: Hop, evidence: Mapping[str, str]) -> bool:
    return holds_answer(evidence.get(hop.page, ""), (hop.words,))


@dataclass(frozen=True, slots=True)
class Oracle:
    """Replies to the prompts of Footnote, of the plain loop and of gpt-researcher."""

    task: Task

    def __call__(self, request: Mapping[str, Any]) -> Reply:
        names = {each["name"] for each in request.get("tools") or ()}
        said = asked_last(request)
        if "finish" in names:
            return self._research(request)
        if PLAIN_TOOL["name"] in names:
            return self._plain(request, said)
        if CHOOSES in json.dumps(request.get("system") or ""):
            role = {"server": "Researcher", CHOOSES: "You are a careful researcher."}
            return says(json.dumps(role))
        if said.startswith(PLANS):
            return self._plan(said)
        if REPORTS in said:
            return self._report(said)
        if "<sentence number=" in said:
            return self._verify(said)
        if "output_config" in request:
            return researcher(request)
        if not request.get("system"):
            return self._tell({})  # the one call
        return self._write(request)

    # ------------------------------------------------------------ Footnote

    def _research(self, request: Mapping[str, Any]) -> Reply:
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        opened = opened_pages(request)
        known = self.task.known({title: page.text for title, page in opened.items()})
        numbers, chosen = hits(shown(request)), chosen_ids(request)
        wanted = [hop.page for hop in self.task.hops[len(known) : len(known) + 1]]
        ids = [numbers[page] for page in wanted if numbers.get(page, 0) not in {0, *chosen}]
        if ids:
            return says(tool("read", {"ids": ids}, f"toolu_{turn}r"))
        query = self.task.next_query(known, searched(request))
        if query is not None:
            return says(tool("search", {"queries": [query]}, f"toolu_{turn}s"))
        complete = len(known) == len(self.task.hops)
        conclusion = {
            "use": [str(opened[hop.page].number) for hop in known],
            "enough": complete,
            "missing": [] if complete else [self.task.question],
            "findings": [],
            "answer": "",
        }
        return says(tool("finish", conclusion, f"toolu_{turn}f"))

    def _write(self, request: Mapping[str, Any]) -> Reply:
        """Each fact's sentence with a citation of its passage, then the answer with the last."""
        blocks: list[Block] = []
        where: dict[str, Any] = {}
        told = 0
        for hop in self.task.hops:
            for number, result in enumerate(search_results(request)):
                parts = [part["text"] for part in result["content"]]
                found = [i for i, words in enumerate(parts) if holds_answer(words, (hop.words,))]
                titled = RESULT.fullmatch(result["title"])
                if titled is not None and titled[2] == hop.page and found:
                    at = found[0]
                    where = citation(
                        number, at, at + 1, source=result["source"], title=result["title"]
                    ) | {"cited_text": parts[at]}
                    blocks += [cited(sentence(parts[at], hop.words), where), text(" ")]
                    told += 1
                    break
        if told == len(self.task.hops):
            return Reply((*blocks, cited(f"{self.task.conclusion}.", where)))
        return Reply((*blocks, text(f"\n\n> {NOT_FOUND}")))

    def _verify(self, said: str) -> Reply:
        """All that it wrote is true."""
        verdicts = [
            {"sentence": int(number), "verdict": "supported", "words": ""}
            for number, _, _ in SENTENCE.findall(said)
        ]
        return says(json.dumps({"verdicts": verdicts}))

    # ------------------------------------------------------------ the others

    def _plain(self, request: Mapping[str, Any], said: str) -> Reply:
        evidence = {title: page.text for title, page in opened_pages(request).items()}
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        query = self.task.next_query(self.task.known(evidence), searched(request))
        instructed = not said.startswith("<page") and turn > 0
        if query is None or instructed:
            return self._tell(evidence)
        return says(tool(PLAIN_TOOL["name"], {"query": query}, f"toolu_{turn}"))

    def _plan(self, said: str) -> Reply:
        """The searches whose facts can be known from the results shown; three are asked for."""
        found = CONTEXT.search(said)
        results = ast.literal_eval(found[1]) if found else []
        known = self.task.known({each["title"]: each["snippet"] for each in results})
        reached = self.task.hops[: len(known) + 1]
        return says(json.dumps([hop.query for hop in reached][:3]))

    def _report(self, said: str) -> Reply:
        evidence: defaultdict[str, str] = defaultdict(str)
        urls: dict[str, str] = {}
        for url, title, body in SOURCE.findall(said):
            evidence[title] += f"{body}\n"
            urls[title] = url
        return self._tell(evidence, urls)

    def _tell(self, evidence: Mapping[str, str], urls: Mapping[str, str] | None = None) -> Reply:
        """The facts that stand in the evidence, and the answer if all do; linked if URLs are
        given."""
        known = self.task.known(evidence)
        said = [
            sentence(evidence[hop.page], hop.words)
            + (f" ([{hop.page}]({urls[hop.page]}))" if urls else "")
            for hop in known
        ]
        complete = len(known) == len(self.task.hops)
        return says(" ".join([*said, f"{self.task.conclusion}." if complete else NOT_FOUND]))


def sentence(passage: str, words: str) -> str:
    """The sentence of a passage that has these words; the passage if they go beyond one."""
    found = (passage[each.start : each.end] for each in sentences(passage))
    return next((part for part in found if holds_answer(part, (words,))), passage)

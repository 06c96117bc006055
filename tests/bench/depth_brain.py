"""The scripted model of the depth bench: it knows which pages a question's hops need.

It asks for the right things in the right order, whoever asks it, so that only the loops differ: a
page is looked for by its title once the pages it depends on were shown, is read when it stands
among the hits and was not opened with them, and is read once more when what is shown of it holds
nothing of the text that proves its fact. It knows nothing else: a title that depends on an unread
page is not used before; the planner may say how a query for it is put together from words of the
question and answers to come, where these hold all of its words. Every decision costs a thought of
the same length, whatever it judges; where an answer is a call of its own, what was found is told
once before it, in all ways in the same sentences, one a hop of at most 20 words, as Footnote's
prompt asks; and the answer of all ways is the same text. A loop of Footnote's that has been shown
all pages of the whole question answers at once, as its prompt asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from bot.reasoning.model.plan import TOGETHER
from bot.text.terms import keywords
from tests.bench.depth_requests import (
    OpenPage,
    chosen_ids,
    heading,
    hits,
    pages,
    role,
    searched,
    system_text,
    tagged,
    title_of,
)
from tests.bench.depth_tasks import Part, Task
from tests.fakes.claude_brain import researcher
from tests.fakes.claude_replies import Block, Reply, citation, cited, says, text, thinking, tool
from tests.fakes.claude_requests import search_results, user_texts

THOUGHT = (
    "What is shown by now, and what is still missing: the next fact needs a page of its own, "
    "so I look for exactly that one."
)
FEWEST_PARAGRAPHS = 3
FINDING_WORDS = 20  # at most, in one sentence: see bot/reasoning/prompts/iterate.md
SENTENCE = re.compile(r"(?<=[a-z0-9)]{2}[.!?])\s")
ABOUT = re.compile(r"What is to be known of “(.+?)”")
PLAIN_SEARCH = "search_wikipedia"  # the only tool of the plain loop
PLANS, CHOOSES, SUMMARIZES, ANSWERS = (
    "You plan the research.",
    "You choose the page to read.",
    "You summarize what a page says about a question.",
    "You answer the question from what was found.",
)
"""The beginnings of the reference loops' system prompts."""


class Brain:
    """Answers any request of the ways compared. ``tasks`` are all questions that may be asked."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._by_question = {task.question: task for task in tasks}
        self._by_title = {part.title: (part,) for task in tasks for part in task.parts}

    def think(self, request: Mapping[str, Any], mark: str) -> Reply:
        """``mark`` is put where it is sent along with what rests on this reply."""
        system = system_text(request)
        tools = {tool["name"] for tool in request.get("tools") or ()}
        shown = "\n".join(user_texts(request))
        if system.startswith(ANSWERS):
            return says(self._answer(self._task(shown), pages(request)))
        if PLAIN_SEARCH in tools:
            return self._plain(request, shown, mark)
        if system.startswith(PLANS):
            return self._layers(shown)
        if system.startswith(CHOOSES):
            return self._choose(shown)
        if system.startswith(SUMMARIZES):
            return says(finding(self._part(shown)))
        if {"search", "read", "finish"} <= tools:
            return self._loop(request, shown, mark)
        match role(request):
            case "rewrite":
                return self._rewrite(request, shown)
            case "plan":
                return self._plan(request, shown)
            case "draft":
                return self._draft(shown)
            case "query":
                return says(json.dumps({"queries": [heading(shown)]}, ensure_ascii=False))
            case "revise":
                return self._write(request, [self._named(heading(shown))])
            case _:
                return self._write(request, self._task(shown).parts)

    # ------------------------------------------------------------ Footnote

    def _rewrite(self, request: Mapping[str, Any], shown: str) -> Reply:
        answer = json.loads(str(researcher(request).content[0]["text"]))
        task = self._task(shown)
        queries = [part.title for part in task.ready(())]
        if tagged(shown, "new_message").strip() != task.question:
            answer["question"] = task.question
        answer["queries"] = queries
        return says(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))

    def _loop(self, request: Mapping[str, Any], shown: str, mark: str) -> Reply:
        """One turn of a tool loop, for a whole question or for one part of it."""
        about = ABOUT.search(tagged(shown, "question"))
        parts = (self._named(about[1]),) if about else self._task(shown).parts
        open_pages, asked = pages(request), searched(request)
        numbers = hits(shown)
        chosen_before = chosen_ids(request)
        # What still shows nothing after it was chosen once more has no more to show.
        read = {
            part.title: open_pages[part.title].number
            for part in parts
            if part.title in open_pages
            and (
                part.is_shown(open_pages[part.title].text)
                or numbers.get(part.title, 0) in (0, *chosen_before)
            )
        }
        ready = [p for p in parts if p.title not in read and (about or set(p.needs) <= set(read))]
        calls: list[Block] = []
        chosen = [p for p in ready if p.title in numbers][:4]
        if chosen:
            ids = [numbers[part.title] for part in chosen]
            calls.append(tool("read", {"ids": ids}, f"toolu_{mark}_read"))
        wanted = [p.title for p in ready if p not in chosen and p.title not in asked][:4]
        if wanted:
            calls.append(tool("search", {"queries": wanted}, f"toolu_{mark}_search"))
        if not calls and not about and parts and {part.title for part in parts} <= set(read):
            return Reply((*_thought(request), *self._write(request, parts).content))
        if not calls:
            findings = [
                {"text": f"{finding(part)} ({mark})", "pages": [read[part.title]]}
                for part in parts
                if part.title in read
            ]
            missing = [part.title for part in parts if part.title not in read]
            conclusion = {
                "use": [str(number) for number in read.values()],
                "enough": not missing,
                "missing": missing,
                "findings": findings,
                "answer": self._short(parts[-1]) if about else parts[-1].title,
            }
            calls.append(tool("finish", conclusion, f"toolu_{mark}_finish"))
        return Reply((*_thought(request), *calls))

    def _plan(self, request: Mapping[str, Any], shown: str) -> Reply:
        """One sub-question a part, or the first queries of a question with few parts."""
        task = self._task(shown)
        ids = {part.title: chr(ord("a") + at) for at, part in enumerate(task.parts)}
        nodes = [
            {
                "id": ids[part.title],
                "question": about(part),
                "needs": [ids[need] for need in part.needs],
                "queries": _outline(task, part, ids) if part.needs else [part.title],
            }
            for part in task.parts
        ]
        again = any(message["role"] == "assistant" for message in request["messages"])
        queries = []
        if len(nodes) <= TOGETHER:  # not worth cutting, says the prompt
            queries, nodes = [part.title for part in task.parts if not part.needs], []
        edit = {"queries": queries, "nodes": [] if again else nodes, "done": True, "missing": []}
        return Reply((*_thought(request), text(json.dumps(edit, ensure_ascii=False))))

    def _short(self, part: Part) -> str:
        """A part's answer in a few words: what its page says of the title of the part that needs
        it and the question does not; its own title where none does."""
        for task in self._tasks:
            for later in task.parts if part in task.parts else ():
                if part.title in later.needs:
                    return " ".join(_given(task, part, later))
        return part.title

    def _draft(self, shown: str) -> Reply:
        """A paragraph for each part; a report has three at least."""
        parts = self._task(shown).parts
        paragraphs = [
            {"heading": part.title, "purpose": about(part), "text": f"{part.fact}."}
            for part in (*parts, *parts)[: max(len(parts), FEWEST_PARAGRAPHS)]
        ]
        return says(json.dumps({"paragraphs": paragraphs}, ensure_ascii=False))

    def _write(self, request: Mapping[str, Any], parts: Sequence[Part]) -> Reply:
        """Each fact from its own page, tied to the first passage of that page."""
        results = search_results(request)
        blocks: list[Block] = []
        for part in parts:
            for at, result in enumerate(results):
                if title_of(result) == part.title:
                    where = citation(at, 0, 1, source=result["source"], title=result["title"])
                    where["cited_text"] = result["content"][0]["text"]
                    blocks += [cited(f"{part.fact}.", where), text(" ")]
        return Reply(tuple(blocks) or (text("Nothing was found that answers this."),))

    # ------------------------------------------------------------ the reference loops

    def _plain(self, request: Mapping[str, Any], shown: str, mark: str) -> Reply:
        """One query a turn; when all is there, or nothing new can be tried, what was found."""
        task = self._task(shown)
        asked = searched(request)
        read = pages(request)
        wanted = [part.title for part in task.ready(list(read)) if part.title not in asked]
        if not wanted:
            extracted = [finding(part) for part in task.parts if part.title in read]
            return says("\n".join((THOUGHT, *extracted)))
        return says(THOUGHT, tool(PLAIN_SEARCH, {"query": wanted[0]}, f"toolu_{mark}"))

    def _layers(self, shown: str) -> Reply:
        layers = [[about(part) for part in layer] for layer in self._task(shown).layers]
        return says(f"{THOUGHT}\n{json.dumps(layers, ensure_ascii=False)}")

    def _choose(self, shown: str) -> Reply:
        return says(f"{THOUGHT}\n{hits(shown).get(self._part(shown).title, 1)}")

    def _answer(self, task: Task, read: Mapping[str, OpenPage]) -> str:
        return " ".join(f"{part.fact}." for part in task.parts if part.title in read)

    # ------------------------------------------------------------ what is meant

    def proven(self, request: Mapping[str, Any]) -> list[str]:
        """The titles of gold pages of which a request shows some of the text that proves a fact."""
        found = {
            part.title
            for title, page in pages(request).items()
            for part in self._by_title.get(title, ())
            if part.is_shown(page.text)
        }
        return sorted(found)

    def _task(self, shown: str) -> Task:
        """The question asked: in its own element, or anywhere."""
        asked = (tagged(shown, "question") or tagged(shown, "new_message")).strip()
        if asked in self._by_question:
            return self._by_question[asked]
        return next(task for task in self._tasks if task.question in shown)

    def _part(self, shown: str) -> Part:
        found = ABOUT.search(shown)
        assert found is not None, shown[:500]
        return self._named(found[1])

    def _named(self, title: str) -> Part:
        return next(part for task in self._tasks for part in task.parts if part.title == title)


def _outline(task: Task, part: Part, ids: Mapping[str, str]) -> list[str]:
    """The query for a part that needs others, with their ids for what only they can tell; none if
    some of the title's words are told neither by the question nor by them."""
    needs = [need for need in task.parts if need.title in part.needs]
    given = [word for need in needs for word in _given(task, need, part)]
    asked = _words_in(part, set(keywords(task.question)))
    if len({*asked, *given}) < len(_words_in(part)):
        return []
    answers = [f"[{ids[need.title]}]" for need in needs if _given(task, need, part)]
    return [" ".join((*asked, *answers))]


def _given(task: Task, need: Part, later: Part) -> list[str]:
    """The words of a later part's title that a part's page tells and the question does not."""
    return _words_in(later, set(keywords(need.proof)) - set(keywords(task.question)))


def _words_in(part: Part, told: Set[str] | None = None) -> list[str]:
    """The words of a title that tell something, without what tells it from its namesakes; those
    that are told."""
    title = re.sub(r" \(.*?\)", "", part.title)
    kept = set(keywords(title)) & (set(keywords(title)) if told is None else told)
    return [word for word in re.findall(r"\w+", title) if kept.intersection(keywords(word))]


def about(part: Part) -> str:
    """A sub-question for one hop."""
    return f"What is to be known of “{part.title}”?"


def finding(part: Part) -> str:
    """A hop's fact, as short as findings are asked for."""
    words = SENTENCE.split(part.fact)[0].split()[:FINDING_WORDS]
    return " ".join(words)


def _thought(request: Mapping[str, Any]) -> tuple[Block, ...]:
    adaptive = (request.get("thinking") or {}).get("type") == "adaptive"
    return (thinking(THOUGHT) if adaptive else text(THOUGHT),)

"""A small core for tests of reasoners: it searches and reads a shelf of a few pages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bot.pages.passages import split
from bot.reasoning.evidence import (
    Action,
    Evidence,
    Finish,
    Malformed,
    NumberedHit,
    Outcome,
    QueryResult,
    Read,
    ReadResult,
    Search,
    Source,
    SubQuestion,
    Workspace,
    WorkspaceTurn,
)
from bot.reasoning.reasoner import Researcher
from bot.search.provider import Hit
from tests.unit.samples import NOW

LONGEST = 20  # turns

PAGES = {
    "Forth Bridge": (
        "The Forth Bridge is a cantilever railway bridge in Scotland. It was designed by the "
        "engineers John Fowler and Benjamin Baker. It opened on 4 March 1890."
    ),
    "Benjamin Baker": (
        "Benjamin Baker was an English civil engineer. He was born in Frome in 1840. He died in "
        "Pangbourne in 1907."
    ),
    "Frome": "Frome is a town in Somerset, England. It lies on the River Frome.",
    "Tay Bridge": "The Tay Bridge crosses the Firth of Tay at Dundee. The first one fell in 1879.",
    "福斯桥": "福斯桥是苏格兰的一座铁路桥。它于1890年3月4日开通。设计者是约翰·福勒和本杰明·贝克。",
}


@dataclass
class Core:
    """Carries out actions over ``pages`` and keeps the workspace, as the real core does."""

    pages: dict[str, str] = field(default_factory=lambda: dict(PAGES))
    workspace: Workspace = field(default_factory=Workspace)
    shown: dict[str, int] = field(default_factory=dict)  # title → hit number
    numbers: dict[str, int] = field(default_factory=dict)  # title → page number

    def carry_out(self, action: Action) -> Outcome:
        if isinstance(action, Search):
            assert 1 <= len(action.queries) <= 4
            assert all(query.strip() == query and query for query in action.queries)
            if self.workspace.searches_left < 1:
                return Outcome(action.id, problem="No searches are left: read, or finish.")
            self.workspace = replace(self.workspace, searches_left=self.workspace.searches_left - 1)
            return Outcome(action.id, queries=tuple(self._search(q) for q in action.queries))
        if isinstance(action, Read):
            assert 1 <= len(action.ids) <= 4
            return Outcome(action.id, reads=tuple(self._read(n) for n in action.ids))
        if isinstance(action, Malformed):
            return Outcome(action.id, problem=action.problem)
        return Outcome(action.id, problem="Finish alone.")

    def _search(self, query: str) -> QueryResult:
        words = {word.strip("?.,").lower() for word in query.split()}
        scores = {
            title: sum(word in f"{title} {text}".lower() for word in words)
            for title, text in self.pages.items()
        }
        found = sorted((t for t in scores if scores[t]), key=lambda t: -scores[t])
        return QueryResult(query, tuple(self._hit(title) for title in found))

    def _hit(self, title: str) -> NumberedHit:
        number = self.shown.setdefault(title, len(self.shown) + 1)
        hit = Hit(title, f"https://example.org/{number}", self.pages[title][:60], "shelf")
        return NumberedHit(number, hit, self.numbers.get(title))

    def _read(self, number: int) -> ReadResult:
        title = next((t for t, n in self.shown.items() if n == number), None)
        if title is None:
            return ReadResult(number, None, f"There is no hit {number}.")
        page = self.numbers.setdefault(title, len(self.numbers) + 1)
        text = self.pages[title]
        url = f"https://example.org/{number}"
        return ReadResult(number, Source(page, url, title, tuple(split(text)), "h", NOW))

    async def walk(self, reasoner: Researcher, question: SubQuestion) -> Finish:
        """Turns until the reasoner finishes; fails when it does not."""
        for _ in range(LONGEST):
            turn = await reasoner.next_turn(question, self.workspace)
            if len(turn.actions) == 1 and isinstance(turn.actions[0], Finish):
                return turn.actions[0]
            ids = [action.id for action in turn.actions]
            assert len(set(ids)) == len(ids)
            outcomes = tuple(self.carry_out(action) for action in turn.actions)
            nudge = "" if turn.actions else "Call a tool."
            step = WorkspaceTurn(turn, outcomes, nudge)
            self.workspace = replace(self.workspace, turns=(*self.workspace.turns, step))
        raise AssertionError(f"no end after {LONGEST} turns")

    def evidence(self, finish: Finish) -> Evidence:
        sources = {source.number: source for source in self.workspace.sources}
        return Evidence(
            sources=tuple(sources[number] for number in sorted(sources)),
            findings=finish.findings,
            missing=finish.missing,
            enough=finish.enough,
            queries=tuple(result.query for result in self.workspace.results),
        )

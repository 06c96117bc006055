"""A reasoner that does what a test says, and remembers what it saw."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from bot.core.messages import Message, Transcript
from bot.pages.pictures import Picture
from bot.reasoning.evidence import (
    Action,
    AnswerDelta,
    CitationDelta,
    Claim,
    Evidence,
    Finish,
    Manuscript,
    Paragraph,
    Restated,
    Rewritten,
    Statement,
    SubQuestion,
    TextDelta,
    Turn,
    Verdict,
    Workspace,
)
from bot.reasoning.graphs import Graph, GraphEdit
from bot.reasoning.reasoner import OnAnswer, Pairs
from tests.fakes.pictures import seen


def cite_all(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
    """Each source's first passage, cited."""
    deltas: list[AnswerDelta] = []
    for source in evidence.sources:
        for passage in source.passages[:1]:
            deltas.append(TextDelta(f"{passage.text} "))
            deltas.append(CitationDelta(source.number, passage.start, passage.end))
    return deltas or [TextDelta("Nothing was found.")]


@dataclass
class Scripted:
    """``turns`` are played one after another, then it finishes; so are ``edits`` of a plan."""

    turns: Sequence[Sequence[Action]] = ()
    rewritten: Rewritten | None = None
    answer: Callable[[Rewritten, Evidence], list[AnswerDelta]] = cite_all
    name: str = "scripted"
    opens: int = 0
    edits: Sequence[GraphEdit] = ()
    drafts: Sequence[Paragraph] = ()
    workspaces: list[Workspace] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    transcripts: list[Transcript] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # by the claim
    stated: Sequence[Statement] = ()
    restated: dict[str, str | Restated] = field(default_factory=dict)  # by the claim
    same: Callable[[str, str], bool | None] = lambda before, now: None
    saw: list[tuple[Picture, ...]] = field(default_factory=list)
    compared: list[tuple[str, str]] = field(default_factory=list)
    looked_at: list[Evidence] = field(default_factory=list)  # for drafting
    manuscripts: list[Manuscript] = field(default_factory=list)  # each seen when it was revised

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        self.transcripts.append(transcript)
        return self.rewritten or Rewritten("search", message.text)

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
    ) -> Turn:
        self.workspaces.append(workspace)
        played = len(workspace.turns)
        if played < len(self.turns):
            return Turn(tuple(self.turns[played]))
        return Turn((Finish(),))

    async def plan(self, question: SubQuestion, graph: Graph) -> GraphEdit:
        self.graphs.append(graph)
        played = len(graph.turns)
        return self.edits[played] if played < len(self.edits) else GraphEdit(done=True)

    async def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]:
        self.evidence.append(evidence)
        for delta in self.answer(question, evidence):
            yield delta

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        self.looked_at.append(evidence)
        return tuple(self.drafts)

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        return (manuscript.paragraph.topic,)

    async def statements(self, text: str) -> tuple[Statement, ...]:
        return tuple(self.stated)

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
    ) -> tuple[Verdict | None, ...]:
        return tuple(self.verdicts.get(claim.text) for claim in claims)

    async def compare(self, question: str, pairs: Pairs) -> tuple[bool | None, ...]:
        self.compared += pairs
        return tuple(self.same(*pair) for pair in pairs)

    async def see(self, pictures: Sequence[Picture]) -> tuple[str, ...]:
        self.saw.append(tuple(pictures))
        return tuple(seen(each.data) for each in pictures)

    async def restate(
        self,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        verdicts: Sequence[Verdict],
        others: Sequence[Claim] = (),
    ) -> tuple[Restated, ...]:
        said = [self.restated.get(claim.text, "") for claim in claims]
        return tuple(Restated(each) if isinstance(each, str) else each for each in said)

    async def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        self.manuscripts.append(manuscript)
        for delta in self.answer(question, evidence):
            yield delta

"""The loop of a research as a conversation: the rendered workspace, the three tools, and their
calls.

Each turn is rendered from its own data alone, so the turns of workspace n are the beginning of
those of workspace n+1, except for cache points. That keeps the prompt cache valid, and newer models
refuse a thinking block after a changed history.

Strict schemas make well-formed input likely, not certain: an endpoint may not support ``strict``,
and a call may be cut off. Understandable input is accepted; the rest becomes a ``Malformed`` with a
message that the model can act on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from bot.core.reader import display_address
from bot.pages.bm25 import idf, weigh
from bot.pages.passages import Passage
from bot.reasoning.calls import (
    BOOLEAN,
    HEADING_PATH,
    INTEGER,
    STRING,
    CachePoint,
    ModelReply,
    ModelTurn,
    SearchResult,
    Tool,
    ToolCall,
    ToolResult,
    UserBlock,
    UserTurn,
    Words,
    clean,
    cut_around,
    element,
    line,
    list_of,
    middle_out,
    name,
    object_of,
    prompt,
    sendable,
    site,
    title,
)
from bot.reasoning.evidence import (
    Action,
    Finding,
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
from bot.search.conversation_search import day_of
from bot.search.provider import Hit
from bot.text.names import capitalized_runs, name_in
from bot.text.sentences import sentences
from bot.text.terms import keywords, terms, without_controls

TITLE = 200  # characters
SNIPPET, SNIPPET_READ = 200, 2_000  # characters of a snippet that are shown, and examined
SEEN, SEEN_TITLE = 4, 40  # hits shown before that are named again, and characters of their titles
MOST_HITS = 4  # of a query that are shown, besides the pages opened
NEAR = 0.5  # semantic relevance of a hit (``search.provider.Hit``)
BESIDE = 0.65  # share of the best hit's weight of a query's words; below it it is not shown
FLOOR = 0.4  # share of the weight of all words of a query, below which it is not shown either
QUESTION = 8_000  # characters
_PUNCTUATION = '?!.,;:"“”()'
_LITERAL = re.compile(r"\w(?:_|\.|::)\w|^--?\w")
NOT_DONE = "This call was not carried out."


def loop_turns(
    question: SubQuestion, workspace: Workspace, now: datetime
) -> tuple[UserTurn | ModelTurn, ...]:
    """The conversation so far: the question and given results, then each turn and its results."""
    left = workspace.searches_left + sum(_searches(turn) for turn in workspace.turns)
    show = _Show(question.language)
    turns: list[UserTurn | ModelTurn] = [UserTurn(_opening(question, workspace, now, left, show))]
    for turn in workspace.turns:
        left -= _searches(turn)
        turns.append(ModelTurn(sendable(turn.turn.said or ())))
        turns.append(UserTurn(_results(turn, left, show)))
    return with_cache_points(turns)


def with_cache_points(turns: Sequence[UserTurn | ModelTurn]) -> tuple[UserTurn | ModelTurn, ...]:
    """Add cache points after the last two user turns: the newest for the next call, the one before
    because the previous call's cache entry ends there."""
    ours = [at for at, turn in enumerate(turns) if isinstance(turn, UserTurn)][-2:]
    return tuple(
        replace(turn, blocks=(*turn.blocks, CachePoint()))
        if isinstance(turn, UserTurn) and at in ours
        else turn
        for at, turn in enumerate(turns)
    )


def today(now: datetime) -> str:
    """``Today is Thursday, 15 January 2026.``"""
    return f"Today is {now:%A}, {day_of(now)}."


def opening(now: datetime, question: str, language: str) -> list[str]:
    """Return the day, and the question with its language."""
    asked = clean(middle_out(question, QUESTION)).strip()
    return [today(now), element("question", asked, language=language)]


def findings_lines(findings: Sequence[Finding], titles: Mapping[int, str]) -> str:
    """Return one line per finding, with the titles of those of its pages that are in ``titles``."""
    lines = []
    for finding in findings:
        shown = [titles[n] for n in finding.sources if n in titles]
        named = f" ({'; '.join(shown)})" if shown else ""
        lines.append(f"- {clean(finding.text).strip()}{named}")
    return "\n".join(lines)


# ---------------------------------------------------------------- the user's side


def _opening(
    question: SubQuestion, workspace: Workspace, now: datetime, searches: int, show: _Show
) -> tuple[Words | SearchResult, ...]:
    parts = opening(now, question.text, question.language)
    if question.known:
        parts.append(element("known", findings_lines(question.known, {})))
    if question.missing:
        gaps = "\n".join(f"- {line(gap, QUESTION)}" for gap in question.missing)
        parts.append(element("missing", gaps))
    if question.tried is not None:
        parts += [element("tried", clean("; ".join(question.tried))), prompt("exhaustive")]
    remarks = [_left(searches, workspace.pages_given)]
    if not workspace.may_reply:
        remarks.append("This is one part of a larger question: end with `finish` in any case.")
    shown = [block for outcome in workspace.given for block in show.outcome(outcome)]
    return _joined([Words("\n\n".join(parts)), *shown, Words(" ".join(remarks))])


def _results(turn: WorkspaceTurn, searches_left: int, show: _Show) -> tuple[UserBlock, ...]:
    """Return the answer to a turn: one result per call, in the order of the calls, then remarks."""
    outcomes = {outcome.action: outcome for outcome in turn.outcomes}
    blocks: list[UserBlock] = []
    for block in turn.turn.said or ():
        if isinstance(block, ToolCall):
            blocks.append(_tool_result(block.id, outcomes.get(block.id), show))
    remarks = [_left(searches_left, turn.pages_left)] if turn.outcomes else []
    if turn.nudge:
        remarks.append(turn.nudge)
    if remarks:
        blocks.append(Words(" ".join(remarks)))
    return tuple(blocks) or (Words("Go on."),)


def _left(searches: int, pages: int) -> str:
    return f"Left: {_counted(searches, 'search', 'searches')}, {_counted(pages, 'page', 'pages')}."


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _tool_result(id: str, outcome: Outcome | None, show: _Show) -> ToolResult:
    problem = outcome.problem if outcome is not None else NOT_DONE
    if outcome is None or problem:
        return ToolResult(id, (Words(problem),), failed=True)
    return ToolResult(id, _joined(show.outcome(outcome)) or (Words("Nothing came back."),))


class _Show:
    """Renders the outcomes of a workspace in order; each page's passages are numbered from 1.
    ``language`` is the question's."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._passages: Counter[int] = Counter()  # passages shown so far, by page number
        self._told: set[int] = set()  # numbers of hits that had a line, and of pages

    def outcome(self, outcome: Outcome) -> list[Words | SearchResult]:
        if outcome.problem:
            return [Words(clean(outcome.problem))]
        again: set[int] = set()
        opened = {
            read.number: " ".join(passage.text for passage in read.source.passages)
            for read in outcome.reads
            if read.source
        }
        blocks: list[Words | SearchResult] = [
            Words(_query(each, self._told, again, opened, self._language))
            for each in outcome.queries
        ]
        self._told |= opened.keys()
        for result in outcome.reads:
            if result.source is None:
                blocks.append(Words(f"Page {result.number}: {line(result.note, 500)}"))
            else:
                blocks.append(self._page(result, result.source))
                if result.note:
                    blocks.append(Words(f"note: {line(result.note, 500)}"))
        return blocks

    def _page(self, result: ReadResult, source: Source) -> SearchResult:
        first = self._passages[result.number] + 1
        self._passages[result.number] += len(source.passages)
        numbered = enumerate(source.passages, start=first)
        headings = headings_of(source)
        lines = [
            f"{result.number}.{at} {heading}{clean(passage.text).strip()}"
            for (at, passage), heading in zip(numbered, headings, strict=True)
        ] or ["(No passage of this page fits the question.)"]
        extent = " (whole page)" if result.whole else ""
        if source.via:  # a search engine's copy, which may be part of the page
            extent = f" (text supplied by {line(source.via, TITLE)})"
        named = f"{title(source.url, source.title, TITLE)}{extent}"
        return SearchResult(
            address_for_model(source.url),
            f"Page {result.number}: {named}",
            tuple(lines),
            (
                ("number", result.number),
                ("title", named),
                ("site", site(source.url)),
                *validity_tag(source),
            ),
        )


def headings_of(source: Source) -> list[str]:
    """Return the text before each passage: its headings if they have changed, without the title."""
    shown, last = [], name(source.title, HEADING_PATH)
    for passage in source.passages:
        path = name(passage.heading, HEADING_PATH)
        shown.append(f"§ {path}\n" if path and path != last else "")
        last = path
    return shown


def pages_by_number(workspace: Workspace) -> dict[int, Source]:
    """Return everything shown of each page, by its number in the workspace, passages in the order
    shown."""
    pages: dict[int, Source] = {}
    for result in (read for outcome in workspace.outcomes for read in outcome.reads):
        if result.source is not None:
            before = pages[result.number].passages if result.number in pages else ()
            pages[result.number] = replace(
                result.source, passages=(*before, *result.source.passages)
            )
    return pages


def address_for_model(url: str) -> str:
    """Return the address of a page for the model; for a file only its name."""
    url = display_address(url)
    return clean(url if urlsplit(url).hostname else site(url))


def _query(
    result: QueryResult,
    told: set[int],
    again: set[int],
    opened: Mapping[int, str],
    language: str,
) -> str:
    """Return a line for each new hit that fits, the numbers of those opened, and the best hits
    shown before.

    ``told`` are the numbers of hits that have had a line, ``again`` of those already named as shown
    before by other queries of the same search, ``opened`` the texts of the pages opened with it, by
    number.
    """
    weights = weigh(result.query, result.rarity or _rarity_among(result))
    fits = _fitting_hits(result, weights)
    before = told.copy()
    new = [hit for hit in result.hits if hit.number not in before and hit.number not in opened]
    sites = {site(hit.hit.url) for hit in result.hits if urlsplit(hit.hit.url).hostname}
    close = [hit for hit in new if hit.number in fits][:MOST_HITS]
    told.update(hit.number for hit in close)
    lines = [_hit(hit, weights, len(sites) > 1) for hit in close]
    if follow := [str(hit.number) for hit in result.hits if hit.number in opened]:
        lines.append(f"opened: {', '.join(follow)}")
    known = [hit for hit in result.hits if hit.number in fits & before - opened.keys()]
    seen = [hit for hit in known if hit.number not in again][:SEEN]
    if seen:
        again.update(hit.number for hit in seen)
        named = "; ".join(
            f"{hit.number}. {title(hit.hit.url, hit.hit.title, SEEN_TITLE)}" for hit in seen
        )
        lines.append(f"shown before: {named}")
    if result.hits and (lack := _lack(result, weights, opened.values(), language)):
        lines.append(f"note: {lack}")
    if result.note:
        lines.append(f"note: {line(result.note, 500)}")
    if not lines:
        what = "Nothing new" if known else "Nothing close" if result.hits else "Nothing"
        lines.append(f"note: {what} was found.")
    return element("results", "\n".join(lines), query=result.query)


def _rarity_among(result: QueryResult) -> dict[str, float]:
    """Return how rare each word of a query is among its own hits, where no provider knows how rare
    it is in all that was searched."""
    texts = [frozenset(terms(f"{hit.hit.title} {hit.hit.snippet}")) for hit in result.hits]
    counts = {term: sum(term in text for text in texts) for term in ("", *keywords(result.query))}
    return {term: idf(number, len(texts)) for term, number in counts.items()}


def _fitting_hits(result: QueryResult, weights: Mapping[str, float]) -> set[int]:
    """Return the numbers of the hits whose title and snippet have enough of the query's words,
    weighted by rarity, also compared with the best hit, or that are semantically close to it. The
    first hit of an engine that does not tell how rare words are may fit in other words."""
    shares = {hit.number: _weight_in(weights, hit.hit) for hit in result.hits}
    least = FLOOR * sum(weights.values()) if result.rarity else 0.0
    bar = max(least, BESIDE * max(shares.values(), default=0.0))
    near = {hit.number for hit in result.hits if (hit.hit.relevance or 0.0) >= NEAR}
    first = set() if result.rarity else {hit.number for hit in result.hits[:1]}
    return near | first | {number for number, share in shares.items() if share >= bar}


def _lack(
    result: QueryResult, weights: Mapping[str, float], opened: Iterable[str], language: str
) -> str:
    """Return what a query names that its hits do not have, or ""."""
    texts = [*(f"{hit.hit.title} {hit.hit.snippet}" for hit in result.hits), *opened]
    if result.rarity and (lacking := _lacking(result.query, weights, "\n".join(texts))):
        return f"no title or snippet has: {', '.join(lacking)}"
    names = capitalized_runs(result.query, language)
    if names and not any(name_in(hit.hit.title, result.query) for hit in result.hits):
        return f'no page titled "{line(names[0], TITLE)}", or part of it, was found.'
    return ""


def _lacking(query: str, weights: Mapping[str, float], shown: str) -> list[str]:
    """Return the words of a query that may be names, weigh at least the average, and are not in the
    texts ``shown``; and the identifiers ("read_timeout", "app.run") not there verbatim. For other
    words, such as "birthplace", a page has words of its own."""
    bar = sum(weights.values()) / max(1, len(weights))
    unseen = weights.keys() - terms(shown)
    shown = shown.casefold()
    # A word may be several terms, as in Chinese, some of which are part of other words too.
    words = [(word.strip(_PUNCTUATION), set(terms(word))) for word in query.split()]
    return [
        word
        for word, parts in words
        if (not word.islower() and parts and parts <= unseen and _sum_of(weights, parts) >= bar)
        or (_LITERAL.search(word) and word.casefold() not in shown)
    ]


def _sum_of(weights: Mapping[str, float], found: Set[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in found)


def _weight_in(weights: Mapping[str, float], hit: Hit) -> float:
    return _sum_of(weights, frozenset(terms(f"{hit.title} {hit.snippet}")))


def _hit(numbered: NumberedHit, wanted: Mapping[str, float], with_site: bool) -> str:
    """Return ``3. Title — site: sentence``, the one of the snippet that has most of the query's
    words, by the weights ``wanted``."""
    hit = numbered.hit
    named, said = title(hit.url, hit.title, TITLE), line(hit.snippet, SNIPPET_READ)
    each = [said[sentence.start : sentence.end] for sentence in sentences(said)]
    best = max(each, key=lambda text: sum(wanted.get(t, 0.0) for t in {*terms(text)}), default="")
    snippet = cut_around(best, wanted, SNIPPET)
    if snippet.startswith(named.removesuffix("…")):
        named, snippet = snippet, ""  # name a file without a heading by its first line
    shown = f"{numbered.number}. {named}"
    if with_site and urlsplit(hit.url).hostname:
        shown += f" — {line(site(hit.url), 100)}"
    return f"{shown}: {snippet}" if snippet else shown


def page_element(source: Source, body: str) -> str:
    """Return a page and its (cleaned) text, with its site and date of reading."""
    return element("page", body, **dict(page_tag(source)))


def page_tag(source: Source) -> tuple[tuple[str, str | int], ...]:
    """Return the attributes of a page that is shown as text."""
    return (
        ("number", source.number),
        ("title", title(source.url, source.title, TITLE)),
        ("site", site(source.url)),
        ("read", source.fetched_at.date().isoformat()),
        *validity_tag(source),
    )


def validity_tag(source: Source) -> tuple[tuple[str, str], ...]:
    """Return the attributes of a page that is dated, and of one that does not hold: "draft",
    "replaced Travel policy 2025"."""
    said = source.validity
    value = line(f"{said.state} {said.words}", TITLE) if said.state else ""
    return tuple(each for each in (("dated", said.dated), ("validity", value)) if each[1])


def _searches(turn: WorkspaceTurn) -> int:
    """Return the number of searches in a turn that count: refused or unanswered ones do not."""
    free = {o.action for o in turn.outcomes if o.problem or o.unanswered}
    return sum(isinstance(a, Search) and a.id not in free for a in turn.turn.actions)


def _joined(blocks: Sequence[Words | SearchResult]) -> tuple[Words | SearchResult, ...]:
    """The blocks, texts in a row as one."""
    joined: list[Words | SearchResult] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if isinstance(block, Words) and isinstance(last, Words):
            joined[-1] = Words(f"{last.text}\n\n{block.text}")
        else:
            joined.append(block)
    return tuple(joined)


AT_ONCE = 6  # queries of one search, hits of one read
QUERY = 200  # characters
ANSWER = 80  # characters; a longer text is not a short answer
LONGEST_NUMBER = 9  # digits of the number of a hit or page
_LEAD_IN = re.compile(r"[:：]\s*$")
_PASSAGE = re.compile(r"(?:[a-z]+ *)?(\d{1,6})(?:[.:](\d{1,6}))?", re.IGNORECASE)
CUT_OFF = (
    "Your call was cut off at the output limit before it was complete. "
    "Call again, much shorter: fewer items, fewer words."
)

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search",
        (
            "Search 1 to 6 different queries at once, each 2 to 6 keywords for one fact. Returns "
            "numbered hits, with the passages of those that fit best. Counts as one search."
        ),
        object_of(queries=list_of(STRING, minItems=1)),
    ),
    Tool(
        "read",
        (
            "Open 1 to 6 hits by number, or show more of an open page. Returns the passages that "
            "fit the question."
        ),
        object_of(ids=list_of(INTEGER, minItems=1)),
    ),
    Tool(
        "finish",
        "End the research. Call it alone, after you have seen all results.",
        object_of(
            use=list_of(
                STRING,
                description="passages that prove the answer, and those that date its figures: "
                '"3.2"; a whole page: "3"',
            ),
            enough=BOOLEAN | {"description": "they prove the whole answer"},
            missing=list_of(STRING, description="what stays unproven, in a few words each"),
            findings=list_of(
                object_of(
                    text=STRING | {"description": "one short sentence"}, pages=list_of(INTEGER)
                )
            ),
            answer=STRING | {"description": "the answer in a few words, or empty"},
        ),
    ),
)


class _Unclear(Exception):
    """The input cannot be understood; the message says what it should be."""


def actions(reply: ModelReply, pages: Mapping[int, Source]) -> list[Action]:
    """Return the actions of a turn, one for each tool call, in order.

    ``pages`` maps numbers in the workspace to the shown pages: a finish can refer only to these.
    """
    calls = [block for block in reply.content if isinstance(block, ToolCall)]
    found: list[Action] = []
    for call in calls:
        cut = reply.stop_reason == "max_tokens" and call is calls[-1] and call.unparsed
        found.append(Malformed(CUT_OFF, call.id) if cut else _action(call, pages))
    return found


def _action(call: ToolCall, pages: Mapping[int, Source]) -> Action:
    id, name, given = call.id, call.name, call.input
    if call.unparsed:
        return Malformed(f"The input of {name} was not valid JSON. Call it again.", id)
    try:
        match name:
            case "search":
                return Search(_queries(_field(given, "queries", name)), id)
            case "read":
                return Read(_ids(_field(given, "ids", name)), id)
            case "finish":
                return _finish(given, id, pages)
            case _:
                words = f"There is no tool {name!r}. The tools are search, read and finish."
                return Malformed(words, id)
    except _Unclear as unclear:
        return Malformed(str(unclear), id)


def _field(given: Any, name: str, tool: Any) -> Any:
    if not isinstance(given, dict) or name not in given:
        raise _Unclear(f"{tool} needs {name!r}. Call it again with it.")
    return given[name]


def _queries(value: Any) -> tuple[str, ...]:
    queries = _strings([value] if isinstance(value, str) else value)
    if not queries:
        raise _Unclear("queries must be a list of 1 to 6 short strings. Call search again.")
    return tuple(dict.fromkeys(query[:QUERY] for query in queries))[:AT_ONCE]


def _ids(value: Any) -> tuple[int, ...]:
    ids = _integers([value] if isinstance(value, int | str) else value)
    if not ids:
        raise _Unclear("ids must be a list of 1 to 6 hit numbers. Call read again.")
    return tuple(dict.fromkeys(ids))[:AT_ONCE]


def _finish(given: Any, id: str, pages: Mapping[int, Source]) -> Finish:
    enough, value = _field(given, "enough", "finish"), given.get("findings") or []
    if not isinstance(value, list):
        raise _Unclear("findings must be a list of {text, pages}. Call finish again.")
    findings = tuple(finding for item in value if (finding := _finding(item, pages)) is not None)
    missing = given.get("missing") or ()
    return Finish(
        findings=findings,
        enough=enough is True,
        missing=tuple(_strings([missing] if isinstance(missing, str) else missing)),
        id=id,
        answer=_answer(given.get("answer")),
        carrying=_carrying(given.get("use"), pages),
        none_carries=given.get("use") == [] and enough is not True and not findings,
    )


def _carrying(value: Any, pages: Mapping[int, Source]) -> tuple[Source, ...]:
    """Return the named pages, with the named passages (``"3.2"``) or all (``"3"``); references to
    anything not shown are ignored.

    A passage includes its lead-in ("The following is prohibited:").
    """
    named: dict[int, set[int]] = {}
    for item in value if isinstance(value, list | tuple) else [value]:
        found = _PASSAGE.fullmatch(str(item).strip())
        if found is None or int(found[1]) not in pages:
            continue
        number = int(found[1])
        every = range(len(pages[number].passages))
        chosen = [int(found[2]) - 1] if found[2] else every
        named.setdefault(number, set()).update(at for at in chosen if at in every)
    return tuple(
        replace(pages[number], passages=_with_lead_ins(pages[number].passages, chosen))
        for number, chosen in named.items()
        if chosen
    )


def _with_lead_ins(passages: Sequence[Passage], chosen: set[int]) -> tuple[Passage, ...]:
    kept: list[Passage] = []
    for at in range(len(passages) - 1, -1, -1):
        leads_in = bool(kept) and _LEAD_IN.search(passages[at].text) is not None
        if at in chosen or (leads_in and kept[-1] is passages[at + 1]):
            kept.append(passages[at])
    return tuple(reversed(kept))


def _answer(value: Any) -> str:
    """Return a short answer such as a name, figure or date; "" if it is longer, since cutting it
    would change it."""
    (words,) = _strings([value]) or ("",)
    return words if len(words) <= ANSWER else ""


def _finding(item: Any, pages: Mapping[int, Source]) -> Finding | None:
    """Return a finding without invalid page numbers, or None if it is empty."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise _Unclear("Each finding must be {text, pages}. Call finish again.")
    text = " ".join(item["text"].split())
    sources = [pages[n].number for n in _integers(item.get("pages")) if n in pages]
    return Finding(text, tuple(dict.fromkeys(sources))) if text else None


def _strings(value: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    cleaned = (" ".join(without_controls(i, " ").split()) for i in value if isinstance(i, str))
    return [item for item in cleaned if item]


def _integers(value: Any) -> list[int]:
    """Return the integers of a list; "3" and 3.0 count as 3."""
    found: list[int] = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, bool):
            continue
        if isinstance(item, int) or (isinstance(item, float) and item.is_integer()):
            found.append(int(item))
        elif isinstance(item, str) and item.strip().isdecimal() and len(item) <= LONGEST_NUMBER:
            found.append(int(item.strip()))
    return found

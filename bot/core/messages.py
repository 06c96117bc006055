"""Messages, the conversations they belong to, and answers. Frozen values without storage ids."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Literal
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.core.errors import InvalidQuestion
from bot.core.texts import Texts, said
from bot.text.terms import without_controls


@dataclass(frozen=True, slots=True)
class Provenance:
    """The addresses of everything that may have contributed to a text of Footnote's, such as an
    answer, a suggestion or a comparison. Only people who may read all of it may read the text:
    ``bot.core.reader.Reach.covers``. A person's own words have none.
    """

    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, *urls: Iterable[str]) -> Provenance:
        """Return the provenance of a text made from all of these addresses, in a fixed order."""
        return cls(tuple(sorted({url for each in urls for url in each})))

    def __or__(self, other: Provenance) -> Provenance:
        return Provenance.of(self, other)

    def __iter__(self) -> Iterator[str]:
        return iter(self.urls)

    def __contains__(self, url: object) -> bool:
        return url in self.urls

    def __len__(self) -> int:
        return len(self.urls)


OWN_WORDS = Provenance()


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with its provenance, such as a question as Footnote worded it. ``own`` is a person's
    wording of the same, which is told instead where this one may not be."""

    text: str
    made_from: Provenance = OWN_WORDS
    own: Wording | None = None


Telling = Callable[[Wording], str]
"""Returns the text that certain readers may be told of a wording: ``bot.core.reader.telling``."""


def people_only(said: Wording) -> str:
    """The telling for readers of unknown rights: a person's own words, or "…"."""
    return said.text if not said.made_from else people_only(said.own) if said.own else "…"


Status = Literal["answered", "partial", "not_found", "failed", "stopped"]
StepState = Literal["waiting", "running", "done", "failed"]
VerificationState = Literal["pending", "done", "failed"]
Judgement = Literal["supported", "partly", "not_supported", "contradicted"]

Span = tuple[int, int]
"""The start and the end of a piece of a text, in characters."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of a run.

    ``input_tokens`` are billed at full price or as cache writes, ``cached_tokens`` were read from
    the prompt cache; ``seconds`` is wall time; ``usd`` follows the price table in the settings.
    """

    model_calls: int = 0
    searches: int = 0
    pages: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Citation:
    """A footnote: the page's number in this run and the words that support the sentence.

    ``quote`` is verbatim in the stored page with hash ``page_hash``, at characters ``start:end`` of
    its text. ``heading`` is the heading above it ("Page 7 › Trains"), or "". ``via`` names the
    source of the page's text, as in ``bot.pages.page.Page``.

    ``proof`` lists the spans of ``quote`` that support the sentences citing it, in order;
    ``shared`` lists the spans of the facts they have in common. Only the proof is shown beside an
    answer. None, in answers stored before this field existed, means the whole quote.
    """

    number: int
    url: str
    title: str
    quote: str
    page_hash: str
    start: int
    end: int
    heading: str = ""
    via: str = ""
    proof: tuple[Span, ...] | None = None
    shared: tuple[Span, ...] = ()

    @property
    def proven(self) -> tuple[str, ...]:
        """The words to show, one piece for each run of sentences; each is verbatim in the stored
        page. Empty if none may be shown."""
        spans = ((0, len(self.quote)),) if self.proof is None else self.proof
        return tuple(self.quote[start:end] for start, end in spans)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence of the answer that its sources do not support, and why."""

    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A cited sentence of the answer, and the words on page ``number`` that contradict it."""

    sentence: str
    number: int
    quote: str


@dataclass(frozen=True, slots=True)
class Change:
    """A cited sentence in the answer to a standing question, before and now; "" where it was
    absent. Both carry the footnote marks of the newer answer."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class VerifiedSentence:
    """A model's verdict on a cited sentence and its quotes, and what happened to the sentence.

    ``words`` are the sentence's words that its quotes do not support; ``now`` is the sentence that
    replaced it, if it was restated.
    """

    sentence: str
    verdict: Judgement
    words: str = ""
    outcome: Literal["kept", "marked", "restated", "left_out"] = "kept"
    now: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """The state of a model's check of an answer's sentences against their quotes.

    An answer that is ``pending`` may still be amended. ``problem`` says in a sentence why
    verification did not run or did not finish. ``of`` identifies the text that was written, before
    any amendment.
    """

    state: VerificationState
    sentences: tuple[VerifiedSentence, ...] = ()
    problem: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class StepView:
    """One line of the plan: an activity, its state and its results.

    ``id`` stays the same while the state changes. ``sources`` are URLs. ``parent`` is the id of the
    line above this one, or "". ``needs`` are the ids of lines that must end first, ``found`` the
    facts found for a sub-question.
    """

    id: str
    kind: str
    title: str
    state: StepState
    seconds: float = 0.0
    detail: str = ""
    sources: tuple[str, ...] = ()
    parent: str = ""
    needs: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanView:
    """A snapshot of a run's whole plan; posters show the latest one and drop the others.

    ``numbered`` lists the pages that already have a footnote number, each as number and URL.
    """

    title: str
    steps: tuple[StepView, ...]
    numbered: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run.

    ``text`` is Markdown with ``[n]`` marks that point into ``citations``. ``question`` is the
    standalone question that was researched, ``queries`` the search queries. ``notes`` are sentences
    about the run itself (a budget that ended it, a provider that failed), and ``unread`` are those
    of them on what was not read or searched: links and files of the asker, parts of documents,
    documents outside a filter. ``suggestions`` are follow-up questions that the sources could
    answer, by the writer of the answer.
    ``linked`` are the pages that the text links to, cited or not, as number and URL. ``missing``
    lists the parts of the question that stay unproven, in a few words each. A ``partial`` answer
    has some, unless it only says that the research ended early. ``verification`` is None if it was
    not requested. ``documents`` are the addresses of all of the operator's documents that the run
    saw, quoted or not.

    ``cause`` is why a ``failed`` one failed, in an operator's words; its ``text`` is the asker's.
    ``corrects`` is True if the message was stored as a correction of the answer before it.

    ``changes`` lists the changes since a standing question was last answered; the first ``lead``
    characters of ``text`` tell readers about them.
    """

    status: Status
    text: str
    question: str
    run: str
    citations: tuple[Citation, ...] = ()
    queries: tuple[str, ...] = ()
    reasoner: str = ""
    steps: tuple[StepView, ...] = ()
    usage: Usage = Usage()
    doubts: tuple[Doubt, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    linked: tuple[tuple[int, str], ...] = ()
    verification: Verification | None = None
    documents: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    lead: int = 0
    corrects: bool = False
    cause: str = ""

    @property
    def current(self) -> str:
        """The text without the lead about changes."""
        return self.text[self.lead :]

    @property
    def rests_on(self) -> Provenance:
        """All pages and documents that may have contributed to the answer."""
        shown = (url for step in self.steps for url in step.sources)
        return Provenance.of(self.documents, self.targets.values(), shown)

    @property
    def targets(self) -> dict[int, str]:
        """The URLs that marks and links in the text may point to, by page number."""
        return dict(self.linked) | {each.number: each.url for each in self.citations}

    @property
    def is_pending(self) -> bool:
        """True while verification may still amend the answer."""
        return self.verification is not None and self.verification.state == "pending"


Depth = Literal["auto", "quick", "standard", "deep", "exhaustive"]
Style = Literal["auto", "answer", "report", "check"]
Role = Literal["person", "footnote"]

# Who reads an answer in a place: one ``person``, in a private conversation with Footnote; the
# members of a ``channel`` or group; the whole ``workspace``, in a public channel; people from
# outside the team too (``outsiders``); or ``strangers``, where Footnote is not a member. It is
# ``unknown`` if the event does not tell: the platform is asked, and until it answers outsiders may
# read.
Audience = Literal["person", "channel", "workspace", "outsiders", "strangers", "unknown"]

CONSOLE, TERMINAL = "web", "terminal"  # platforms with one reader at a time
MAX_QUESTION = 20_000  # characters
UPLOADED = "upload:"  # prefix of addresses of files that Footnote stores; must never change


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation on one platform. Its key is ``platform:workspace:channel:thread``."""

    platform: str
    workspace: str
    channel: str
    thread: str

    @property
    def key(self) -> str:
        return _joined(self.platform, self.workspace, self.channel, self.thread)

    @property
    def place(self) -> str:
        """The key of all threads of its channel."""
        return _joined(self.platform, self.workspace, self.channel)

    @property
    def home(self) -> str:
        """The key of all threads of its workspace."""
        return _joined(self.platform, self.workspace)


def _joined(*parts: str) -> str:
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a message: the platform's id and the name people know.

    ``roles`` are the platform's ids of the author's groups; ``admin`` is True if the platform lets
    the author administer the workspace. Both are known on arrival only and not stored. ``groups``
    (named by a proxy), ``guest`` (from outside the team; None: not known yet) and the time ``zone``
    (as in ``zone_named``) are also known on arrival only; a question keeps them in its options.
    """

    id: str
    name: str
    roles: tuple[str, ...] = ()
    admin: bool = False
    groups: tuple[str, ...] = ()
    guest: bool | None = False
    zone: str = ""


def zone_named(zone: str) -> tzinfo:
    """The time zone of an IANA name or an offset such as "+0200"; UTC for "" and unknown ones."""
    try:
        if "/" in zone:
            return ZoneInfo(zone)
        return datetime.strptime(zone.removeprefix("UTC"), "%z").tzinfo or UTC
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return UTC


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file sent with a message.

    ``url`` is for people to open; ``download`` is for the adapter to fetch, if it differs. Files
    that Footnote stores have addresses that begin with ``UPLOADED``. ``again`` is True for a file
    from an earlier message of the thread that is read for this one too. ``unread`` is the id of the
    text that says why the file cannot be read, with its name; "" for all that are worth a try.
    ``shows`` is what a picture shows, once a run has read it; it is stored with the picture's page
    only.
    """

    name: str
    media_type: str
    url: str
    download: str = ""
    again: bool = False
    unread: str = ""
    shows: str = ""


def name_of_upload(url: str) -> str:
    """The file name in the address of a file that Footnote stores; "" for other addresses."""
    return unquote(url.rpartition("/")[2]) if url.startswith(UPLOADED) else ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a person, normalized by an adapter.

    ``text`` is plain Markdown without platform escapes. ``event_id`` identifies the message on its
    platform, so that all events about it and their redeliveries find it. ``at`` is timezone-aware.
    ``audience`` are the readers of the place. ``conversations`` is True if the platform may be
    searched on the author's behalf. Both are known on arrival only; a question keeps them in its
    options. ``made_from`` is what the text was made from, if Footnote wrote it
    and the author only pressed a button. An ``unaddressed`` message was written in a thread where
    Footnote was asked, without addressing anybody: it may be for other people. ``corrects_run`` is
    the run to correct whose answer the message was written, whatever its words are, or "".
    """

    event_id: str
    thread: Thread
    author: Author
    text: str
    at: datetime
    links: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    locale: str = "en"
    audience: Audience = "channel"
    conversations: bool = False
    made_from: Provenance = OWN_WORDS
    unaddressed: bool = False
    corrects_run: str = ""

    @property
    def direct(self) -> bool:
        """True in a private conversation with Footnote."""
        return self.audience == "person"


@dataclass(frozen=True, slots=True)
class Entry:
    """One earlier message of a thread as a reasoner sees it.

    For an answer of Footnote, ``question`` is the standalone question, ``run`` the id of its run,
    and ``cited`` its footnotes ordered by number; one that ``corrects`` says that the message
    before it is kept as a correction. ``made_from`` are the documents that may have contributed to
    the text. ``files`` are those that a person sent with it.
    """

    role: Role
    name: str
    text: str
    question: str = ""
    cited: tuple[Citation, ...] = ()
    made_from: Provenance = OWN_WORDS
    files: tuple[Attachment, ...] = ()
    run: str = ""
    corrects: bool = False

    @property
    def at_hand(self) -> tuple[Attachment, ...]:
        """The files that a later question may use; users of the console choose theirs anew."""
        return tuple(
            file for file in self.files if not (file.unread or file.url.startswith(UPLOADED))
        )


@dataclass(frozen=True, slots=True)
class Transcript:
    """The earlier messages of a thread, oldest first, without the one being asked."""

    entries: tuple[Entry, ...] = ()

    def up_to(self, run: str) -> Transcript:
        """Return the thread up to the answer of a run: all of it for "", none if that is not in
        it."""
        if not run:
            return self
        ends = (at for at, entry in enumerate(self.entries, 1) if entry.run == run)
        return Transcript(self.entries[: next(ends, 0)])


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources an asker has chosen, out of those configured and permitted.

    ``providers`` are names of search providers (empty: all), ``collections`` names of document
    collections (None: all), where "" means the documents in no collection. ``within``, ``since``
    and ``until`` are a filter of documents, as in ``search.filters.Filter``.
    """

    providers: tuple[str, ...] = ()
    collections: tuple[str, ...] | None = None
    within: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


EVERYWHERE = Sources()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one run that the asker or the channel chose.

    ``providers`` limits the search to these providers (empty: all that are configured), and
    ``collections``, ``within``, ``since`` and ``until`` to documents, as in ``Sources``.
    ``instructions`` are the operator's on tone and language for this channel; ``daily_usd`` is the
    channel's own daily limit, if it has one. A ``report`` is a long text whose paragraphs are
    drafted and then revised against pages read for them; a ``check`` judges the statements of the
    message instead of answering it.

    ``audience``, ``groups`` and ``guest`` record what was known about the question's place and its
    author on arrival; rights depend on them. The author's time ``zone`` is recorded too.
    ``conversations`` is True if the platform's own messages may be searched, ``unaddressed`` and
    ``corrects_run`` as in ``Message``.

    ``watch`` is the id of the standing question being checked again, or "".
    """

    depth: Depth = "auto"
    providers: tuple[str, ...] = field(default=())
    instructions: str = ""
    style: Style = "auto"
    daily_usd: float | None = None
    audience: Audience = "channel"
    groups: tuple[str, ...] = ()
    guest: bool | None = False
    collections: tuple[str, ...] | None = None
    conversations: bool = False
    watch: str = ""
    zone: str = ""
    unaddressed: bool = False
    corrects_run: str = ""
    within: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    def asked_in(self, message: Message) -> RunOptions:
        """Return the options for a message that has just arrived."""
        author = message.author
        return replace(
            self,
            audience=message.audience,
            groups=author.groups,
            guest=author.guest,
            zone=author.zone or self.zone,
            conversations=message.conversations,
            unaddressed=message.unaddressed,
            corrects_run=message.corrects_run,
        )

    def standing_of(self, author: Author) -> Author:
        """Return the author of a stored question, with the details known on arrival."""
        return replace(author, groups=self.groups, guest=self.guest, zone=self.zone)


def quotation(text: str, *, author: str = "", place: str = "", at: str = "") -> str:
    """Return words of somebody else, in Markdown, as a block quote headed by author, place, date.

    A message that forwards, answers or carries such words has them in its text in this form.
    """
    head = ", ".join(filter(None, (author, place, at)))
    lines = [f"{head}:", *text.strip().splitlines()] if head else text.strip().splitlines()
    return "\n".join(f"> {line}".rstrip() for line in lines)


def unquoted(text: str) -> str:
    """Return a text with its quotations as plain words, without their headings: what is to be
    searched for, where no model reads who said it."""
    lines: list[str] = []
    depth = 0
    for line in text.split("\n"):
        words = line.lstrip("> ")
        begins, depth = depth, line[: len(line) - len(words)].count(">")
        if not (depth > begins and words.endswith(":")):
            lines.append(words if depth else line)
    return "\n".join(lines).strip() or text


def clean_question(text: str) -> str:
    """Return the question without control characters and outer space; raises
    ``InvalidQuestion``."""
    cleaned = without_controls(text, " ").strip()
    if not any(unicodedata.category(char)[0] in "LN" for char in cleaned):
        raise InvalidQuestion(
            "The question is empty: write what you want to know.", said=said("no-question")
        )
    if len(cleaned) > MAX_QUESTION:
        raise InvalidQuestion(
            f"The question has {len(cleaned):,} characters, but at most {MAX_QUESTION:,} can be "
            "read: shorten it, or put the long part into a file and use --docs.",
            said=said("question-too-long", length=len(cleaned), most=MAX_QUESTION),
        )
    return cleaned


def about_files(files: Sequence[Attachment], texts: Texts) -> str:
    """The question for a message that has files and no text; "" without readable ones."""
    names = ", ".join(file.name for file in files if not file.unread)
    return texts("files-question", names=names) if names else ""

"""Questions made from section headings and page titles, without a model.

A heading becomes a question only if it matches a pattern that gives a grammatical one: "Installing
plugins" → "How do I install plugins?". All others give "", which is the common case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bot.text.listed import listed
from bot.text.terms import STOP_WORDS, keywords, terms

LONGEST = 90  # characters of a question
_MOST_WORDS = 12

# ---------------------------------------------------------------- cleaning

_NUMBER = re.compile(
    r"^(?:(?:chapter|section|part|appendix|step|example|table|figure)\s+)?"
    r"(?:\d{1,3}(?:\.\d{1,3})*|[A-Z](?:\.\d{1,3})+|[IVX]+)[.):]?\s+"
    r"|^(?:第\s*[\d一二三四五六七八九十百]+\s*[章节節部回編编條条]|附录\s*\w"
    r"|\d{1,3}(?:\.\d{1,3})*[.、．]?)[\s、:：.]*",
    re.IGNORECASE,
)
_TICKET = re.compile(r"(?:(?<!\s)\s++)?\((?:#\d+(?:\s*(?:and|,)\s*#\d+)*)\)$")
_FURNITURE = re.compile(
    r"(?<![\ue000-\uf8ff¶§\u2060\u200b])(?:[\ue000-\uf8ff¶§\u2060\u200b]|\s#){1,20}$"
)  # permalink signs
_BEGINS = " .,;:–—*…"  # "--option" keeps its dashes
_ENDS = _BEGINS + "-"


def cleaned(heading: str) -> str:
    """Return a heading on one line without its number, permalink sign and Markdown marks."""
    line = " ".join(_FURNITURE.sub("", heading.strip()).split())
    line = re.sub(r"\\([\\`*_{}\[\]()#+.!<>~|-])", r"\1", line).replace("**", "")
    return _TICKET.sub("", _NUMBER.sub("", line)).rstrip(_ENDS).lstrip(_BEGINS)


# ---------------------------------------------------------------- what is never asked about

_NOT_ASKED = re.compile(
    r"\d\.\d|\b(?:19|20)\d\d\b|\bv?\d+\.x\b"
    r"|\b(?:release notes?|releases?|changes?|changelog|what['’]s new|version|deprecat\w+|removed"
    r"|bug ?fix(?:es)?|upgrading|migrat\w+ from|index|table of contents|contents|see also|copyright"
    r"|licen[cs]e|licensing|credits?|acknowledge?ments?|authors?|appendix|bibliography|references"
    r"|further reading|external links|page \d+|figure|table|listing|example \d+|note[sd]?|warnings?"
    r"|disclaimer|about this|this (?:document|manual|guide|book|chapter|section|page|tutorial)"
    r"|documentation|getting (?:help|started)"
    r"|where to go|contribut\w+|sponsor\w*|quick ?start|prerequisites)\b"
    r"|[|→←=<>@{}\\\[\]\"“”«»*]|\w:\w|https?:|www\.|更新日志|^版本|参考文献|外部链接|参见|目录|索引|附录|版权",
    re.IGNORECASE,
)
_SKIPPED = re.compile(
    r"^(?:index|contents|glossary)$"
    r"|\b(?:release notes?|changelog|what['’]s new|version \d|upgrading checklist|deprecat\w+)\b"
    r"|更新日志|更新日誌",
    re.IGNORECASE,
)
# Words that refer to a context missing in the question.
_POINTS = re.compile(
    r"\b(?:this|that|these|those|it|its|they|them|here|above|below|following|previous|next|such"
    r"|same|other|others|another|former|latter|first|second|more|one|ones|we|our|us)\b"
    r"|[这這那其该該此它]|以下|上述|下面|上面|これ|それ|この|その|이것|그것|이런",
    re.IGNORECASE,
)
_SENTENCE_INSIDE = re.compile(r"[;；。!！]|(?<!\bvs)[.?？]\s|,\s.*,\s|:\s")


def is_skipped(heading: str) -> bool:
    """Return True if sections below a heading make no useful questions: release notes, indexes."""
    return _SKIPPED.search(heading) is not None


def is_plain(heading: str) -> bool:
    """Return True if a heading is specific, makes sense alone, and is one short piece of text."""
    return (
        not _NOT_ASKED.search(heading)
        and not _POINTS.search(heading)
        and not _SENTENCE_INSIDE.search(heading)
        and heading.count("(") == heading.count(")")
    )


# ---------------------------------------------------------------- English

_ASKS = re.compile(
    r"(?:what|why|when|where|which|who|whom|whose|how|is|are|do|does|did|can|could|should|must|may"
    r"|will|would|has|have|was|were)\b",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"(?:what|why|when|where|which|who|how)\s+"
    r"(?:is|are|do|does|did|can|should|was|were|has|have|will)\s+\w++.*+"
    r"|what happens (?:if|when)\s++.++",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|can|could|should|would|will|must|may)\b",
    re.IGNORECASE,
)
_A_TERM = re.compile(r"what is an? \w+", re.IGNORECASE)
_VERSUS = re.compile(r"(.{1,100}?)\s++(?:vs\.?|versus)\s++(.+)", re.IGNORECASE)
_DIFFERENCE = re.compile(r"(?:the )?differences? between (.{1,100}?) and (.+)", re.IGNORECASE)
_TO = (
    (re.compile(r"how[ -]to (?P<rest>\w.+)", re.IGNORECASE), "How do I {}?"),
    (re.compile(r"when to (?P<rest>\w.+)", re.IGNORECASE), "When should I {}?"),
    (re.compile(r"where to (?P<rest>\w.+)", re.IGNORECASE), "Where do I {}?"),
    (re.compile(r"what to do (?P<rest>(?:if|when)\s.+)", re.IGNORECASE), "What should I do {}?"),
    (re.compile(r"if (?P<rest>\w+(?: [\w'’-]+){3,})", re.IGNORECASE), "What if {}?"),
)
_HOW_PASSIVE = re.compile(r"how ((?:[\w-]+ ){1,3}?)(is|are) (\w+(?:ed|en|wn|t)\b.*)", re.IGNORECASE)
_HOW_WORKS = re.compile(r"how ((?:[\w-]+ ){1,4})works", re.IGNORECASE)
_HOW_WORK = re.compile(r"how ((?:[\w-]+ ){0,3}[\w-]+s) work", re.IGNORECASE)
_SECOND_INSTRUCTION = re.compile(r"\b(?:and|or) \w+ing\b|,| - ")
_UNKNOWN = re.compile(r"the [\w-]+", re.IGNORECASE)  # "the scripts": which ones?
_PROS = re.compile(
    r"(?:the )?(limitations|drawbacks|disadvantages|advantages|benefits|types|kinds) of (.+)",
    re.IGNORECASE,
)

# Verbs whose -ing form with an object can only be an instruction ("Installing plugins").
_VERBS = listed("""
    add adjust allow append apply arrange assign associate attach authenticate automate avoid
    choose clear collect combine configure connect convert copy create customise
    customize decrypt define delegate delete deploy describe detect determine diagnose disable
    discard display divide download edit embed enable encrypt enforce ensure exclude execute
    expand export extend extract find fix force generate get hide identify ignore implement
    improve include increase initialize insert inspect install integrate invoke launch locate
    maintain manage merge minimize modify move obtain omit open optimize organize override pass
    perform prevent protect provide publish purge recover redirect reduce register remove rename
    repair replace reset resolve restore restrict resume retrieve reuse revert save secure
    select send set share simplify specify split store suppress switch synchronize translate
    troubleshoot undo uninstall update upgrade upload use validate verify view wrap write
""")
# Their -ing forms also name things ("Building blocks", "Running time"): only before these words.
_VERBS_OR_NOUNS = listed("""
    access bind build cache call check compile control convert debug filter format group handle
    host index join limit link list listen load lock log map match measure monitor name order
    package parse print process query read render rewrite route run scale schedule search serve
    sign sort start stop test track tune work
""")
_OPENS_OBJECT = listed("""
    a an the your my all any multiple several different custom from to with in on between only
    existing additional individual actual new as without
""")
_DOUBLED = listed("control debug get log omit reset run set split stop wrap")
_GERUND = re.compile(r"([a-z]+ing)( and [a-z]+ing)? (.+)", re.IGNORECASE)


def _gerunds(verbs: frozenset[str]) -> dict[str, str]:
    forms = {}
    for verb in verbs:
        if verb in _DOUBLED:
            forms[f"{verb}{verb[-1]}ing"] = verb
        elif verb.endswith("e") and not verb.endswith("ee"):
            forms[f"{verb[:-1]}ing"] = verb
        else:
            forms[f"{verb}ing"] = verb
    return forms


_BASES = _gerunds(_VERBS)
_UNSURE_BASES = _gerunds(_VERBS_OR_NOUNS)

_KINDS_THAT_DO = listed("""
    directive command option function task method statement clause operator filter switch flag macro
    subcommand decorator
""")
_KINDS_FOR = listed("setting parameter variable attribute element field property event hook")
_OF_A_KIND = re.compile(r"`?([\w.:/-]+)`? ([A-Za-z]+)")
_IDENTIFIER = re.compile(
    r"--?[a-z][\w-]*|[A-Za-z]+(?:_[A-Za-z0-9]+)+|(?:[a-z_]\w*\.)+[a-z_]\w*|[a-z]+[A-Z]\w+"
)
_CALLABLE = re.compile(
    r"((?:[A-Za-z_]\w*\.)*[a-z_]\w*)\((?!\d\w?\)|s\))[^)]*\)"
)  # but ls(1), file(s)
_MANUAL_PAGE = re.compile(r"([a-z][\w.+-]*)\(\d\w?\)")  # "git-reset(1) Manual Page"
_KNOWN_OPTIONS = listed("--help --version --verbose --quiet -h -v -q")
_PROCESSES = listed("""
    authentication authorization balancing caching compression discovery encryption eviction
    expansion failover garbage-collection inheritance interpolation locking negotiation
    pagination partitioning pooling preemption reloading replication resolution rotation routing
    sandboxing scheduling serialization sharding substitution synchronization throttling
    tokenization vacuuming
""")


@dataclass(frozen=True, slots=True)
class Casing:
    """The terms of words that a page writes in lower case within sentences, and of names."""

    small: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> Casing:
        """Determine the casing of the words of an English text."""
        found = Counter(re.findall(r"(?<=[a-z,] )[A-Za-z][a-z'’-]+", text))
        small = {word for word in found if word.islower() and found[word] >= found[word.title()]}
        names = {word for word in found if word not in small and word.lower() not in small}
        return cls(_terms_of(small), _terms_of(names))

    def is_small(self, word: str) -> bool:
        return self.small.issuperset(terms(word))

    def is_name(self, word: str) -> bool:
        return self.names.issuperset(terms(word)) and not self.is_small(word)


NO_CASING = Casing()


def _terms_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(term for word in words for term in terms(word))


def in_english(heading: str, casing: Casing = NO_CASING) -> str:
    """Return the question that an English heading (see ``cleaned``) answers, or "".

    ``casing`` is that of the page's text, to lower words of a heading In Title Case.
    """
    words = heading.split()
    if not words or len(words) > _MOST_WORDS or not heading.isprintable():
        return ""
    if len(words) > 1 and heading.isupper():
        return ""
    identifier = about_identifier(heading)
    if identifier:
        return identifier
    if not is_plain(heading.rstrip("?")) or len(words) < 2:
        return ""
    plain = _lowered(heading, casing)
    return _fitting(
        _asked(plain)
        or _compared(_opened(plain, casing))
        or _of_a_kind(heading)
        or _instruction(plain)
        or _process(_opened(plain, casing))
    )


def about_identifier(heading: str) -> str:
    """Return the question what the option, function or setting in a heading does, or ""."""
    bare = heading.strip("`")
    if called := _CALLABLE.fullmatch(bare):
        return f"What does `{called[1]}()` do?"
    if (
        not _IDENTIFIER.fullmatch(bare)
        or bare in _KNOWN_OPTIONS
        or re.search(r"\.(?:html?|txt|md|php|org|com)$", bare)
    ):
        return ""
    return f"What does `{bare}` do?" if bare.startswith("-") else f"What is `{bare}` for?"


def about_option(option: str, title: str) -> str:
    """Return the question what an option does in the command with this manual page title, or ""."""
    asked = about_identifier(option)
    if asked and (page := _MANUAL_PAGE.match(title)):
        return asked.replace(" do?", f" do in `{page[1]}`?")
    return asked


def name_in(heading: str) -> str:
    """Return the name in a heading such as "LogFormat directive"; other headings unchanged."""
    found = _OF_A_KIND.fullmatch(heading)
    kinds = _KINDS_THAT_DO | _KINDS_FOR
    return found[1] if found and found[2].lower() in kinds else heading.strip("`")


def without_instruction(heading: str) -> str:
    """Return a heading such as "Installing plugins" without its verb, which is not a topic."""
    found = _GERUND.fullmatch(heading)
    return found[3] if found else heading


def _asked(heading: str) -> str:
    if heading.endswith("?") or _INVERTED.fullmatch(heading):
        if " to " in heading and not _AUXILIARY.search(heading):  # "What to read?"
            return ""
        if _A_TERM.match(heading) or (_ASKS.match(heading) and len(keywords(heading)) > 1):
            return _capital(heading.rstrip("?").strip()) + "?"
        return ""
    for pattern, wording in _TO:
        if found := pattern.fullmatch(heading):
            return wording.format(_as_asker(_small(found["rest"])))
    if found := _HOW_PASSIVE.fullmatch(heading):
        return f"How {found[2]} {found[1]}{found[3]}?"
    if found := _HOW_WORKS.fullmatch(heading):
        return f"How does {found[1]}work?"
    if found := _HOW_WORK.fullmatch(heading):
        return f"How do {found[1]} work?"
    if found := _PROS.fullmatch(heading):
        kind = found[1].lower()
        if kind in ("types", "kinds"):
            return f"What {kind} of {found[2]} are there?"
        return f"What are the {kind} of {found[2]}?"
    return ""


def _compared(heading: str) -> str:
    found = _DIFFERENCE.fullmatch(heading) or _VERSUS.fullmatch(heading)
    if found is None or max(len(side.split()) for side in found.groups()) > 4:
        return ""
    return f"What is the difference between {found[1]} and {found[2]}?"


def _of_a_kind(heading: str) -> str:
    found = _OF_A_KIND.fullmatch(heading)
    if found is None or found[1].lower() in ("the", "a", "this", "each", "or", "and"):
        return ""
    kind = found[2].lower()
    name = f"`{found[1]}`" if _IDENTIFIER.fullmatch(found[1]) else found[1]
    is_name = any(c.isupper() or c in "_-." for c in found[1][1:]) or found[1].islower()
    if kind in _KINDS_THAT_DO and (is_name or kind == "directive"):
        return f"What does the {name} {kind} do?"
    if kind in _KINDS_FOR and _IDENTIFIER.fullmatch(found[1]):
        return f"What is the {name} {kind} for?"
    return ""


def _instruction(heading: str) -> str:
    found = _GERUND.fullmatch(heading)
    if found is None:
        return ""
    first, second, rest = found[1].lower(), (found[2] or "").lower(), found[3]
    verb = _BASES.get(first)
    if verb is None and rest.split()[0].lower() in _OPENS_OBJECT:
        verb = _UNSURE_BASES.get(first)
    if verb is None or _SECOND_INSTRUCTION.search(rest) or _UNKNOWN.fullmatch(rest):
        return ""
    if second:
        other = second.removeprefix(" and ")
        other_verb = _BASES.get(other) or _UNSURE_BASES.get(other)
        if other_verb is None:
            return ""
        verb = f"{verb} and {other_verb}"
    return f"How do I {verb} {_as_asker(rest)}?"


def _process(heading: str) -> str:
    *kind, process = heading.split()
    if process.lower() not in _PROCESSES or len(kind) > 2 or "," in heading:
        return ""
    begins = kind[0].lower() if kind else ""
    is_instruction = begins in _BASES or begins in _UNSURE_BASES  # "Using file rotation"
    return "" if is_instruction else f"How does {heading} work?"


def _as_asker(text: str) -> str:
    """Convert words addressed to the reader to the first person."""
    for theirs, ours in (("yourself", "myself"), ("your", "my"), ("you", "I")):
        text = re.sub(rf"\b{theirs}\b", ours, text, flags=re.IGNORECASE)
    return text


def _lowered(heading: str, casing: Casing) -> str:
    """Return a heading In Title Case with the casing that the page uses within sentences.

    Words not found elsewhere on the page are treated like the others.
    """
    first, *rest = heading.split(" ")
    titled = [word for word in rest if _is_title(word)]
    telling = (word for word in rest if word.lower() not in STOP_WORDS | {"versus", "vs", "vs."})
    if heading.endswith("?") or any(word.islower() for word in telling):
        return heading
    if not any(casing.is_small(word) for word in titled):
        return heading
    return " ".join((first, *(word if casing.is_name(word) else _small(word) for word in rest)))


def _opened(heading: str, casing: Casing) -> str:
    """Return a heading with the casing it has within a sentence."""
    first, _, rest = heading.partition(" ")
    if _is_title(first) and casing.is_small(first):
        return f"{first.lower()} {rest}".rstrip()
    return heading


def _is_title(word: str) -> bool:
    return word[:1].isupper() and word[1:].islower()


def _small(text: str) -> str:
    """Return an instruction without its initial capital, unless it begins with an abbreviation."""
    return text[:1].lower() + text[1:] if _is_title(text.split()[0]) else text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _fitting(question: str) -> str:
    return question if len(question) <= LONGEST else ""

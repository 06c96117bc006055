"""Detects sentences that contradict the words they cite: "not" for "is", "all" for "most".

This module covers what single words show, in all languages with word lists here: opposites, plans
reported as facts, "all" for "most", and figures or dates that belong to another sentence than the
one being retold. Contradictions by word order are detected by rules for one language each
(``relations``, ``scope`` and ``sequence`` for English, ``opposed_chinese``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from bot.text.arithmetic import calculations
from bot.text.facts import Fact, facts, missing_from
from bot.text.language import detect
from bot.text.lazy_regex import lazy_regex
from bot.text.listed import listed
from bot.text.opposed_chinese import opposed_chinese
from bot.text.relations import misplaced
from bot.text.scope import out_of_scope
from bot.text.sentences import sentences
from bot.text.sequence import out_of_order
from bot.text.terms import STOP_WORDS, has_cjk, keywords, terms

NEAR = 60  # characters around two figures that are searched for the words belonging to them
MOST = 0.7  # share of these words that must indicate a swap
ABOUT = 0.4  # share of a claim's keywords in a sentence that it may retell
SAME = 0.03  # relative: tolerance for one quantity in two units
SCOPE = 70  # characters after "planned" that say what was planned
DENIED = 2  # words after "not", one of which it negates
SURE = 0.6  # the same if the claim has no negative word of its own


def _any_of(words: str) -> str:
    return r"\b(?:" + "|".join(listed(words)) + ")"


_NOT = lazy_regex(
    r"(?<!almost )(?<!nearly )\b(?:not|never|no|nobody|nothing|none|neither|nor|without|cannot)\b"
    r"|n['’]t\b"
    r"|不(?!同|仅|僅|断|斷|久|少|平等|过|過|超)|没有|没|沒|未(?!来|來|成年)|从未|從未|并非|無法|无法"
)
_COUNTED = lazy_regex(r"(?P<number>\d[\d,.]{0,24})%? $")
_AT_MOST = lazy_regex(
    r"\b(?:no|not) (?:more|fewer|less|later|earlier|larger|longer|bigger|higher) than\b",
    re.IGNORECASE,
)
_DIGITS = lazy_regex(r"\d+")
_NEGATIVE = lazy_regex(
    _NOT.pattern
    + "|"
    + _any_of(
        "fail refus reject deni declin lack absen unab unlike unpav unknown unfinish few little "
        "only last less least hardly rarely lost lose stop end oppos prevent avoid exclud except "
        "ban prohibit forbid abolish drop miss remov withdr instead otherwise rather far but un "
        "refrain ceas abandon regardless irrespective whatever incomplet inactiv incapab insuffic "
        "ineffect invalid"
    )
    + r"|-free\b|拒|驳|駁|无|無|非|否|失|禁|反|避|免|停|但|缺|少|只|仅|僅|除|低于|难|難",
    re.IGNORECASE,
)
_EASTERN_NEVER = lazy_regex("从未|從未|从不|從不|从没|不必|无需|無需|不用|没有")
_CLAUSE_ENDS = lazy_regex("[，。；\n]")
_EASTERN_NOT = lazy_regex("[不未没沒无無非否]|拒绝|失败|停止|取消|缺|尚|避免|免除")
_OPPOSITES = tuple(
    (lazy_regex(_any_of(one), re.IGNORECASE), lazy_regex(_any_of(other), re.IGNORECASE))
    for one, other in (
        ("highest", "lowest"),
        ("higher", "lower"),
        ("largest biggest", "smallest"),
        ("larger bigger", "smaller"),
        ("longer", "shorter additional extra"),
        ("longest", "shortest"),
        ("oldest", "youngest"),
        ("increas rose rising grew", "decreas fell decline dropp shrank declin"),
        ("encourag", "discourag"),
        ("support favou?r", "oppos reject"),
        ("accept approv", "reject refus"),
        ("welcom prais", "alarm criticis criticiz condemn"),
        ("positive well.received acclaim", "negative poor flop panned"),
        ("majority", "minority"),
        ("allow permit", r"forbid forbad prohibit ban\b banned banning"),
        ("more", "less fewer"),
        (r"most\b(?!.of)", r"least\b(?<!at.least) fewest"),
        ("eastw east", "westw west"),
        ("north", "south"),
        ("open", "closed closing closes closure"),
        (r"won\b winn", "lost lose placed.second finished.second runner nominate"),
        ("the.first its.first his.first her.first", "the.last its.last his.last her.last"),
        ("maximum", "minimum"),
        (r"hot\b hottest warm", "cold"),
        ("free", "paid charge"),
        (r"public\b", "private"),
        ("urban", "rural"),
        (r"success\b successful", "unsuccess fail"),
        ("legal", "illegal"),
        ("possible", "impossible"),
        ("safe", "unsafe dangerous"),
        (r"rich\b richer richest", "poor"),
        ("strong", "weak"),
        (r"early\b", r"late\b"),
        ("mandatory compulsory required", "optional voluntary"),
        ("enabl", "disabl"),
        (r"imports imported importing", r"exports exported exporting"),
        ("arriv", "departs departed departing departure"),
        ("destroy", "preserv surviv"),
        ("gain", "loss"),
        (r"hits?\b", r"flops?\b"),
        ("unhurt unscathed uninjured", "wounded injured hurt"),
        ("posthumous", "during.his.life during.her.life during.their.life"),
    )
)
_EASTERN_OPPOSITES = tuple(
    (lazy_regex(one), lazy_regex(other))
    for one, other in (
        ("上升|增加|增长|提高|上涨", "下降|减少|降低|下跌|没有增加"),
        ("扩建|扩大|新建", "关闭|缩小|拆除"),
        ("获得?.{0,12}批准|通过|同意|接受", "驳回|拒绝|否决|反对"),
        ("支持", "反对"),
        ("向东|往东", "向西|往\\s?西"),
        ("以南", "以北"),
        ("最高|最大|最多", "最低|最小|最少"),
        ("可以拒绝|不予", "应当|必须"),
        ("允许", "禁止"),
        ("成功", "失败"),
        ("首次|第一次", "最后一次"),
        ("更严格", "不像.{0,20}严格"),
        ("不到一半", "一半以上"),
        ("一定", "不太可能|可能"),
        ("赢得|获胜|击败", "落败|输给"),
        ("公开", "保密"),
        ("最长", "最短"),
        ("早于", "晚于"),
        ("多于|高于", "少于|低于"),
    )
)
_ALL = lazy_regex(
    r"(?:^|\b(?:of|in|by|to|from|for|that|on|at) )all\b|\b(?:always|entire(?:ly|ty)?|throughout|"
    r"(?:all|whole) of|the whole|of any kind)\b|(?<!for )(?<!of )(?<!in )\bevery\b"
    r"|所有|全部|整个|整個|任何|唯一|都是|恰好",
    re.IGNORECASE,
)
_SOME = lazy_regex(
    r"\b(?:most|mostly|some|many|several|parts?|partly|partial|in some|almost|nearly|although|"
    r"except|few|\d+%|"
    r"usually|often|majority|one of)\b|\d%|大多|大部分|多数|"
    r"一些|许多|不少|部分|但以|之一|不同程度|除",
    re.IGNORECASE,
)
_PLANNED = lazy_regex(
    r"\b(?:plan(?:s|ned|ning)?|propos\w+|intend\w+|slated|scheduled|expect\w*|nominat\w+|"
    r"announced plans|might|alleg\w+|accus\w+|rumou?r\w*)\b"
    r"|计划|計劃|拟|擬|打算|提议|预计|預計|据称|據稱|提名|有望",
    re.IGNORECASE,
)
_HELD_BACK = lazy_regex(
    _PLANNED.pattern
    + r"|\b(?:will|was to|were to|to be|said|says|according|believed|thought|likely|about to|"
    r"appear\w*|seem\w*|can|would|supposed|if|going to|due|wanted|meant|aim\w*|designed|projected|"
    r"estimated?|argu\w+|potential\w*|contend\w+|in doubt|unclear|doctor|uncertain|unconfirmed|"
    r"not have|need not|option\w*|optional\w*|sought)\b"
    r"|将|將|会|會|据|據|认为|認為|称|稱|估计|似|若|如果|应|能|或|传|说|希望|想|要|宣布|指出",
    re.IGNORECASE,
)
_BORDER = lazy_regex(r"[,;，；、。]\s?|\s(?:and|while|but|to|than|then)\s|而|和|与|后")
_TOLD = lazy_regex(r"[^\W\d_\u3400-\u9fff]{3,}|[\u3400-\u9fff]{2}")
_CLAUSES = lazy_regex(r"[;；]|,\s(?=(?:but|although|though|while|whereas)\b)|，(?=但|尽管|虽然|而)")


@dataclass(frozen=True, slots=True)
class _Retold:
    """A sentence of the quote, and the share of the claim's keywords in it."""

    text: str
    share: float


def opposed(claim: str, quoted: str) -> str:
    """The words of a claim whose opposite its quote says, or ""."""
    language = detect(claim)
    if language == detect(quoted) == "zh":
        return _by_words(claim, quoted) or opposed_chinese(claim, quoted)
    if language == detect(quoted) == "en":
        return (
            _by_words(claim, quoted)
            or misplaced(claim, quoted)
            or out_of_scope(claim, quoted)
            or out_of_order(claim, quoted)
        )
    return _by_words(claim, quoted)


def _by_words(claim: str, quoted: str) -> str:
    retold = _ranked(claim, quoted)
    if not retold or retold[0].share < ABOUT:
        return ""
    best = retold[0]
    reason = _is_opposite(claim, best.text) or _is_plan(claim, best)
    reason = reason or _is_general(claim, best) or _is_negated(claim, retold, quoted)
    if reason or next(calculations(claim), None) is not None:
        return reason
    return _is_elsewhere(claim, retold) or _is_swapped(claim, quoted)


def _ranked(claim: str, quoted: str) -> list[_Retold]:
    words = _words(claim)
    if len(words) < 2:
        return []
    found = [
        _Retold(said, len(words & _terms_of(said)) / len(words)) for said in _sentences(quoted)
    ]
    return sorted(found, key=lambda each: -each.share)


def _words(claim: str) -> frozenset[str]:
    """The keywords of a claim, except its figures and dates."""
    measured = {t for fact in facts(claim) if fact.kind != "name" for t in terms(fact.text)}
    return frozenset(keywords(claim)) - measured


@lru_cache(maxsize=512)
def _sentences(quoted: str) -> tuple[str, ...]:
    return tuple(_split(quoted))


def _split(quoted: str) -> Iterator[str]:
    for sentence in sentences(quoted):
        said = ""
        for part in _CLAUSES.split(quoted[sentence.start : sentence.end]):
            said += part
            if said and said.count("(") <= said.count(")"):  # text in brackets stays whole
                yield said
                said = ""
        if said:
            yield said


@lru_cache(maxsize=512)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _is_opposite(claim: str, said: str) -> str:
    if bool(_NOT.search(claim)) != bool(_NOT.search(said)) and not has_cjk(claim):
        return ""  # "not more" means "less"
    for pair in _EASTERN_OPPOSITES if has_cjk(claim) else _OPPOSITES:
        for mine, theirs in (pair, pair[::-1]):
            there = mine.search(claim)
            count = _COUNTED.search(claim, 0, there.start()) if there else None
            if count and not re.search(rf"(?<!\d){re.escape(count['number'])}(?!\d)", said):
                continue  # "25 fewer than in 2013" is calculated
            if there and theirs.search(said) and not theirs.search(claim) and not mine.search(said):
                return _whole(there)
    return ""


def _whole(match: re.Match[str]) -> str:
    """Extend a match to the end of the word."""
    rest = lazy_regex(r"[A-Za-z]*").match(match.string, match.end())
    return match.group() + (rest.group() if rest else "")


def _is_plan(claim: str, best: _Retold) -> str:
    """A plan, nomination or rumour that the claim reports as a fact."""
    if best.share < SURE or _HELD_BACK.search(claim):
        return ""
    words = _words(claim)
    for planned in _PLANNED.finditer(best.text):
        begin, end = planned.end(), planned.end() + SCOPE
        if planned.group().casefold().startswith("nomination"):  # "an Emmy nomination"
            begin, end = max(0, planned.start() - SCOPE // 2), planned.start()
        scope = _terms_of(best.text[begin:end])
        if len(words & scope) >= min(2, len(words)):
            return planned.group()
    return ""


def _is_general(claim: str, best: _Retold) -> str:
    every = _ALL.search(claim)
    if every is None or _ALL.search(best.text) or _SOME.search(claim):
        return ""
    return every.group() if _SOME.search(best.text) else ""


def _is_negated(claim: str, retold: Sequence[_Retold], quoted: str) -> str:
    """A negation that the claim has dropped or, in Chinese, also one that it has added."""
    best = retold[0]
    claim, said = _AT_MOST.sub("", claim), _AT_MOST.sub("", best.text)
    if missing_from(_measured(claim), quoted):
        return ""  # "130 of them are not": the others
    theirs = _NOT.search(said)
    if has_cjk(claim):
        mine = _EASTERN_NEVER.search(claim)
        if mine is None:
            return ""
        own = next(each for each in _CLAUSE_ENDS.split(claim) if mine.group() in each)
        clauses = _CLAUSE_ENDS.split(quoted)
        near = max(clauses, key=lambda clause: len(_terms_of(clause) & _terms_of(own)))
        return "" if _EASTERN_NOT.search(near) else mine.group()
    is_alone = all(_NOT.search(each.text) for each in retold if each.share >= best.share)
    if theirs and is_alone and best.share >= SURE and not _NEGATIVE.search(claim):
        denied = keywords(said[theirs.end() :])[:DENIED]
        return theirs.group() if _terms_of(claim).intersection(denied) else ""
    return ""


def _is_elsewhere(claim: str, retold: Sequence[_Retold]) -> str:
    """A date or figure found only in other sentences, while the retold one has its own.

    Those other sentences contain no word of the claim that the retold one lacks; otherwise the
    claim may be based on both.
    """
    best = retold[0]
    mine = _measured(claim)
    if best.share < SURE or len(mine) > 2 or missing_from(mine, "\n".join(r.text for r in retold)):
        return ""  # a figure in no sentence is calculated, mostly from several of them
    theirs = _measured(best.text)
    words = _words(claim) - _terms_of(best.text)
    for fact in missing_from(mine, best.text):
        others = [o for o in theirs if o.kind == fact.kind and _is_comparable(o, fact)]
        if not others or not missing_from(others, claim):
            continue
        homes = [each for each in retold if not missing_from([fact], each.text)]
        if homes and not any(words & _terms_of(each.text) for each in homes):
            return fact.text
    return ""


def _is_swapped(claim: str, quoted: str) -> str:
    """Two figures, each in the place that the other has in the quote.

    If the quote reverses the order of the figures, it must reverse the words that belong to them
    too.
    """
    for one, other in pairwise(_measured(claim)):
        if one.kind != other.kind or (one.kind == "figure" and not _is_alike(one, other)):
            continue
        if _is_same(one, other):
            continue
        first, second = claim.find(one.text), claim.find(other.text)
        there = [_place(fact.text, quoted) for fact in (one, other)]
        if not 0 <= first < second or None in there or min(len(one.text), len(other.text)) < 2:
            continue
        between = _BORDER.search(claim, first + len(one.text), second)
        if between is None:
            continue
        behind = _BORDER.search(claim, second + len(other.text))
        left = claim[: between.start()]
        right = claim[between.start() : behind.start() if behind else len(claim)]
        low, high = sorted(place for place in there if place is not None)
        window = quoted[max(0, low - NEAR) : high + NEAR]
        is_turned = there[0] == high
        votes = [
            (_place(a, window) or 0) > (_place(b, window) or 0)
            for a in _content_words(left) - _content_words(right)
            for b in _content_words(right) - _content_words(left)
            if _place(a, window) is not None and _place(b, window) is not None
        ]
        if len(votes) and sum(vote != is_turned for vote in votes) > MOST * len(votes):
            return f"{one.text}, {other.text}"
    return ""


def _is_alike(one: Fact, other: Fact) -> bool:
    if one.unit is None or other.unit is None:
        return one.unit == other.unit
    return one.unit.dimension == other.unit.dimension


def _is_same(one: Fact, other: Fact) -> bool:
    """True if two figures are one quantity in two units."""
    if one.unit is None or other.unit is None or one.unit.factor == other.unit.factor:
        return False
    sizes = [float(max(f.values)) * f.unit.factor for f in (one, other) if f.unit is not None]
    return abs(sizes[0] - sizes[1]) <= SAME * max(sizes)


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word for word in _TOLD.findall(text) if word.casefold() not in STOP_WORDS)


def _place(words: str, text: str) -> int | None:
    """The position of words in a text, if they occur exactly once."""
    found = [m.start() for m in re.finditer(rf"(?<!\d){re.escape(words)}(?!\d)", text)]
    return found[0] if len(found) == 1 else None


def _is_comparable(one: Fact, other: Fact) -> bool:
    if one.kind == "date":
        return True
    return bool(one.unit and other.unit and one.unit.dimension == other.unit.dimension)


def _measured(text: str) -> Sequence[Fact]:
    return [fact for fact in facts(text) if fact.kind != "name"]

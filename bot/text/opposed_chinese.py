"""Detects Chinese sentences that contradict the words they cite, clause by clause.

A clause of the sentence is compared with the clause of the quote that shares most characters with
it: for a negation on one side only, an opposite, "the oldest" for "one of the oldest", two parties
that are swapped, or a different number of the same things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bot.text.lazy_regex import lazy_regex
from bot.text.numerals import CHINESE_NUMBER, chinese_number

ALIKE = 0.55  # share of a clause's character pairs in the clause that it retells
RETOLD = 0.4  # the same if an opposite is in it
DATED = 0.5  # the same for an event, in a sentence with one year
ABSENT = 0.6  # share of a reason's character pairs that are not in the quote
UNKNOWN = 0.3  # share of its characters, not counting particles
COVERED = 0.8  # share of a sentence that consists of pieces of its quote
FEWEST = 2  # pairs that each side of "before" shares with the other side of another sentence
MOST_COUNTED = 20

_BREAKS = lazy_regex("[，。；：！？,;!?\n]")
_SENTENCE_ENDS = lazy_regex("[。；！？\n]")
_NOT = lazy_regex(
    "不(?!同|仅|僅|断|斷|久|少|平等|过是|過是|超过|超過|止|只|但|得不|论|管|动产|動產)"
    "|没|沒|未(?!来|來|成年|知)|无(?!论|論|线|線|人机)|(?<![南北东西除])非(?!洲|裔|常|营利|洲|金属|正式|法)"
)
_DENIED = lazy_regex(
    _NOT.pattern
    + "|拒|驳|駁|否|失|禁|反对|反對|避免|停|缺|少|仅|僅|除|难|難|免|摆脱|防止|取消|撤|弱|低于|离"
)
_OPPOSITES = tuple(
    tuple(map(lazy_regex, pair))
    for pair in (
        ("最新", "最古老|最老|最早"),
        ("很深|深邃", "很浅"),
        ("年轻", "年长|年老|年迈"),
        ("升高|上升|提高|增加|增长|上涨|扩大|上调", "降低|下降|减少|下跌|缩小|降落|下调"),
        ("总是|经常|常常|往往", "很少|从不|偶尔|极少"),
        ("书面", "口头"),
        ("购买|买下|收购", "出售|卖出|卖给"),
        ("内部", "外部"),
        ("多数|大部分|大多", "少数|小部分"),
        ("支持|赞成|拥护", "反对|批判|挑战|抵制"),
        ("允许|准许|可以", "禁止|不得|不可|不能"),
        ("慷慨地?允许|同意|接受|批准", "拒绝|驳回|否决"),
        ("容易|简单", "困难|艰难|复杂"),
        ("更快|较快|略快", "更慢|较慢|略慢"),
        ("高于|超过|多于|大于", "低于|少于|小于|不及|不足"),
        ("最高|最大|最多|最长|最快|最强", "最低|最小|最少|最短|最慢|最弱"),
        ("迅速|快速", "缓慢|慢慢"),
        ("成功", "失败"),
        ("公立|公共|公开", "私立|私人|保密|秘密"),
        ("向东|往东|以东|东部", "向西|往西|以西|西部"),
        ("向南|往南|以南|南部", "向北|往北|以北|北部"),
        ("开始|开放|启用", "结束|关闭|停用"),
        ("积极|正面", "消极|负面"),
        ("承担", "不承担|免除"),
        ("强制|必须|应当", "自愿|任选"),
        ("赢得|战胜|击败|获胜", "输给|败给|落败|惨败"),
        ("进口", "出口"),
        ("富裕|富有", "贫困|贫穷"),
        ("保留|保存", "废除|销毁|拆除"),
    )
)
_MOST = lazy_regex("最(?P<what>[\u4e00-\u9fff]{1,2})")
_ONE_OF = lazy_regex("之一|其中一|第[二三四五六七八九十]")
_ONLY = lazy_regex("(?:只有|仅有)(?![\\d一两二三四五六七八九十几少])|唯一|仅限")
_NARROW = lazy_regex("只|仅|唯|单|独|专|才|除")
_EVERY = lazy_regex("所有|全部|一切|任何|完全|无论|毫无例外|全都|始终|从来")
_WIDE = lazy_regex("所有|全|一切|任何|无论|都|各|每|均|整|皆|凡|总|始终|从")
_BECAUSE = lazy_regex("(?:是因为|因为|由于|原因是|是由于)(?P<why>[^，。；]+?)(?:而|，|$)")
_RELATIVE = lazy_regex("(?P<one>[^，。；]{1,12}?)比(?P<other>[^，。；]{1,12})")
_COUNTED = lazy_regex(
    "(?<![〇零一二两三四五六七八九十百千万亿\\d.第分])(?P<number>[一二两三四五六七八九十]{1,3}|\\d{1,2})"
    "(?P<measure>[名个座支部次条家种栋位项人本场艘届队所]|分之)(?P<noun>[\u4e00-\u9fff\\d]{1,3})?"
)
_PASSIVE = lazy_regex("被|由|受|让|向|对|与|和|跟|、|于")
_SEQUENCE = (
    lazy_regex("先(?:由|是)?(?P<one>[^，]{2,20})[，]?(?:然后|再|后|随后|接着)(?P<other>.{2,20})"),
    lazy_regex(
        "(?P<one>.{3,30}?)(?:之后|以后|(?<![皇王太最背落今先])后(?=[，才再又]))[，]?(?:才|再|又)?(?P<other>.{3,30})"
    ),
    lazy_regex(
        "(?P<other>.{3,30}?)(?:之前|以前|(?<![目当提先面])前(?=[，就便已曾]))[，]?(?:就|便)?(?:已|曾)?(?P<one>.{3,30})"
    ),
    lazy_regex("(?P<one>.{3,30}?)早于(?P<other>.{3,30})"),
    lazy_regex("(?P<other>.{3,30}?)晚于(?P<one>.{3,30})"),
)
_YEAR = lazy_regex("(?<!\\d)(?:距今约?)?(?P<year>\\d{3,5})\\s?年(?P<before>前)?")
_PARTICLES = frozenset("的了是在因为由于它他她们这那也而被有与和就都还能")
_PURPOSE = lazy_regex("由于|因为|以提高|以便|为了|从而|以求|旨在|目的")
_SPACE = lazy_regex("\\s+")


def opposed_chinese(claim: str, quoted: str) -> str:
    """The words of a claim whose opposite its quote says, or ""."""
    claim, quoted = _plain(claim), _plain(quoted)
    for mine in _BREAKS.split(claim):
        near, share = _nearest(mine, quoted)
        if not near:
            continue
        found = (
            (share >= RETOLD and _opposite(mine, near))
            or (share >= ALIKE and _negated(mine, near, quoted))
            or (share >= RETOLD and _highest(mine, near))
        )
        if found:
            return found
    return (
        _every(claim, quoted)
        or _other_count(claim, quoted)
        or _reason(claim, quoted)
        or _other_order(claim, quoted)
        or _turned(claim, quoted)
    )


@lru_cache(maxsize=256)
def _plain(text: str) -> str:
    return _SPACE.sub("", text)


@lru_cache(maxsize=4096)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(text[i : i + 2] for i in range(len(text) - 1))


@lru_cache(maxsize=256)
def _clauses(quoted: str) -> tuple[str, ...]:
    return tuple(clause for clause in _BREAKS.split(quoted) if len(clause) > 1)


def _nearest(clause: str, quoted: str) -> tuple[str, float]:
    """The clause of the quote that a clause retells, and its share of the clause's pairs."""
    pairs = _pairs(clause)
    if len(pairs) < 3:
        return "", 0.0
    near = max(_clauses(quoted), key=lambda each: len(pairs & _pairs(each)), default="")
    return near, len(pairs & _pairs(near)) / len(pairs)


def _opposite(mine: str, near: str) -> str:
    if bool(_NOT.search(mine)) != bool(_NOT.search(near)):
        return ""
    for pair in _OPPOSITES:
        for one, other in (pair, pair[::-1]):
            there = one.search(mine)
            if there and other.search(near) and not one.search(near) and not other.search(mine):
                return there.group()
    return ""


def _negated(mine: str, near: str, quoted: str) -> str:
    here, there = _NOT.search(mine), _NOT.search(near)
    if here and not _DENIED.search(near):
        denied = mine[here.end() : here.end() + 4]
        if f"{here.group()}{denied[:1]}" in quoted or "除外" in quoted:
            return ""
        return here.group() + denied if _pairs(denied) & _pairs(near) or denied[:1] in near else ""
    if there and not _DENIED.search(mine) and not mine.endswith("的"):
        denied = near[there.end() : there.end() + 4]
        return there.group() + denied if _pairs(denied) & _pairs(mine) else ""
    return ""


def _highest(mine: str, near: str) -> str:
    for match in _MOST.finditer(mine):
        if _ONE_OF.search(mine):
            continue
        what = match["what"]
        if match.group() in near and "之一" in near[near.find(match.group()) :]:
            return match.group()
        if re.search(f"第[二三四五六七八九十]{what[0]}", near):
            return match.group()
    return ""


def _every(claim: str, quoted: str) -> str:
    for said, theirs in ((_ONLY, _NARROW), (_EVERY, _WIDE)):
        mine = said.search(claim)
        if mine and not theirs.search(quoted):
            return mine.group()
    return ""


def _other_count(claim: str, quoted: str) -> str:
    there = list(_counts(quoted))
    for number, measure, noun, text in _counts(claim):
        same = [n for n, m, what, _ in there if m == measure and (what[:2] == noun[:2])]
        if same and number not in same:
            return text
    return ""


def _counts(text: str) -> Iterator[tuple[int, str, str, str]]:
    for match in _COUNTED.finditer(text):
        number = match["number"]
        is_han = CHINESE_NUMBER.fullmatch(number) is not None
        value = chinese_number(number) if is_han else int(number)
        if value is not None and 0 < value <= MOST_COUNTED and match["noun"]:
            yield value, match["measure"], match["noun"], match.group()


def _reason(claim: str, quoted: str) -> str:
    match = _BECAUSE.search(claim.rstrip("。"))
    if match is None:
        return ""
    pairs = _pairs(match["why"])
    letters = set(match["why"]) - _PARTICLES
    if any(_PURPOSE.search(each) for each in _SENTENCE_ENDS.split(quoted)):
        return ""
    is_absent = len(pairs - _pairs(quoted)) >= ABSENT * max(1, len(pairs))
    if is_absent and len(letters - set(quoted)) >= UNKNOWN * max(1, len(letters)):
        return match.group()[: match.start("why") - match.start()]
    return ""


# ---------------------------------------------------------------- order


def _other_order(claim: str, quoted: str) -> str:
    for pattern in _SEQUENCE:
        match = pattern.search(claim.rstrip("。"))
        if match is None:
            continue
        one, other = match["one"], match["other"]
        years = _when(one, quoted), _when(other, quoted)
        if years[0] is not None and years[1] is not None and years[0] > years[1]:
            return match.group()[:12]
        for theirs in _SEQUENCE:
            for sentence in _SENTENCE_ENDS.split(quoted):
                there = theirs.search(sentence)
                if there and _is_turned(one, other, there["one"], there["other"]):
                    return match.group()[:12]
        return ""
    return ""


def _is_turned(one: str, other: str, earlier: str, later: str) -> bool:
    one_, other_ = _pairs(one) - _pairs(other), _pairs(other) - _pairs(one)
    straight = len(one_ & _pairs(earlier)) + len(other_ & _pairs(later))
    first, second = len(one_ & _pairs(later)), len(other_ & _pairs(earlier))
    return first >= FEWEST and second >= FEWEST and first + second > 2 * straight


def _when(event: str, quoted: str) -> int | None:
    """The year of an event, negative if before the present: its own, or that of its sentence."""
    own = _years(event)
    if len(own) == 1:
        return own[0]
    pairs = _pairs(event)
    best: list[tuple[int, tuple[int, ...]]] = []
    for sentence in _SENTENCE_ENDS.split(quoted):
        years = _years(sentence)
        shared = len(pairs & _pairs(sentence))
        if len(years) == 1 and shared >= DATED * len(pairs):
            best.append((shared, tuple(years)))
    found = {years[0] for shared, years in best if shared == max(best)[0]}
    return found.pop() if len(found) == 1 else None


def _years(text: str) -> list[int]:
    found = {
        -int(match["year"]) if match["before"] or "距今" in match.group() else int(match["year"])
        for match in _YEAR.finditer(text)
    }
    return sorted(found)


# ---------------------------------------------------------------- places


def _turned(claim: str, quoted: str) -> str:
    """Two parties that are swapped in a sentence made of its quote's words."""
    claim = claim.rstrip("。")
    if relative := _RELATIVE.search(claim):
        one, other = relative["one"][-4:], relative["other"][:4]
        if f"比{one}" in quoted and f"比{other}" not in quoted:
            return relative.group()
    for sentence in _SENTENCE_ENDS.split(quoted):
        segments = list(_segments(claim, sentence))
        if sum(len(s) for s, _ in segments) < COVERED * len(claim) or not 3 <= len(segments) <= 5:
            continue
        first, last = segments[0], segments[-1]
        middle = max(segments[1:-1], key=lambda each: len(each[0]))
        is_whole = claim.startswith(first[0]) and claim.endswith(last[0]) and "，" not in claim
        is_turned = last[1] < middle[1] < first[1] and f"{last[0]}的{first[0]}" not in sentence
        if is_whole and is_turned and not _PASSIVE.search(first[0][-1] + last[0][0]):
            return f"{first[0]}…{last[0]}"
    return ""


def _segments(claim: str, sentence: str) -> Sequence[tuple[str, int]]:
    """The claim in the longest pieces found in a sentence, each with its position there."""
    found = []
    at = 0
    while at < len(claim) - 1:
        size = 2
        if claim[at : at + size] not in sentence:
            at += 1
            continue
        while at + size < len(claim) and claim[at : at + size + 1] in sentence:
            size += 1
        piece = claim[at : at + size]
        found.append((piece, sentence.find(piece)))
        at += size
    return found

"""Completes follow-ups with the topic of their thread, without a model.

A message depends on the thread if it begins like a follow-up ("What about ..."), has a pronoun that
no name before it explains, or names only a part of something ("What are the symptoms?"). It is
completed with the title of the last answer's page, and the subject of the last standalone question:
a name, or the longest run of content words. `python -m tests.bench rewriting` measures how much of
the topic this preserves, and finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from bot.text.dates import dates
from bot.text.lazy_regex import lazy_regex
from bot.text.listed import listed
from bot.text.terms import STOP_WORDS, content_words, fold, has_cjk, keywords, terms

LONGEST = 400  # characters of a message that may depend on the thread
FEW = 2  # specific words, up to which a message may name only a part of something

_TOKEN = lazy_regex(r"[^\W_](?:\w|['’.&/-](?=\w))*|[^\w\s]")
_PRONOUNS = listed("it it's they they're them he he's him she she's her its their theirs his hers")
_POSSESSIVES = listed("its their theirs his hers")
_POINTING = _PRONOUNS | listed("this that these those")
_AUXILIARIES = listed("do does did can could will would should has have had may might")
_BE_OR_DO = frozenset(terms("is are was were do does did"))  # a subject follows
_EMPTY_IT = lazy_regex(
    r"\bit (?:takes?|took|rains?|snows?)\b|\bdoes it mean\b"
    r"|\b(?:is|was) it (?:\w+ )?(?:true|possible|legal|safe|ok|necessary|important|better|worth"
    r"|healthy|normal|bad|good|hard|easy|common) (?:to|that|for|if)\b",
    re.IGNORECASE,
)
"""An "it" that refers to nothing: "How long does it take to boil an egg?"."""

_NO_PRONOUN = lazy_regex(rf"`[^`]*`|{_EMPTY_IT.pattern}|(?<=\w\w )that\b(?! *[?.!])", re.IGNORECASE)
_OPENING = lazy_regex(
    r"^\W*(?:(?:interesting|ok|okay|great|thanks|cool|wow|so|also|now|then)\b\W*)*(?:"
    r"(?:and|but|or|what about|how about|what of|what if|what else|how so|go on)\b"
    r"|(?:tell me |any |some )?more\b|(?:why|how|when|where|who|really)(?: not| come)?\W*$)",
    re.IGNORECASE,
)
_GENERAL = frozenset(
    terms(
        "advantage affect alternative anyone anything argument article author awards bad became "
        "become began begin believe benefit best biggest bought build built buy called came "
        "capital cause change character characteristic choose chosen close come common compare "
        "competitor components compose conditions cons consequences considered cost created "
        "criticism cure current danger day definition describe design details die died diet "
        "differ difference different direct director disadvantage discuss drink eat effect "
        "enabled end everyone everything evidence example explain fact factor famous feature find "
        "first fix found founder function get go goal good grow grown habitat happen held help "
        "history idea impact importance important influence information ingredients interesting "
        "invented issue join keep key kill kind know known largest last learn leave left like "
        "live long look lose lost made main major make many mean meant members method move named "
        "need negative new newest next oldest open opportunities origin outcome paid part pay "
        "people play plot popular population positive possible price problem producer pros "
        "publish purpose question ran rate reason recent relationship requirements result risk "
        "role roots rules run said sang say see seen sell short side sign significance similar "
        "similarity sing sold solution someone something sort source speak spoken spread stage "
        "start steps stop strategies structure subject success sung symptom take term test theme "
        "theory thing think thought time took topic treat treatment tried try type typical use "
        "variant various version want way win work worst write written wrote year "
    )
)
"""Stems of general words, which name no topic."""

# Chinese, Japanese and Korean put the whole before its part and omit known subjects.
_EASTERN_PRONOUN = lazy_regex(
    "[它他她]们|它|(?<!其)他(?!国|人|乡)|她|其(?!他|实|中|它|次|余)|それら?|これら?|彼女たち|彼女|彼ら"
    "|彼(?!岸)|그것들|그것|이것|그들|그녀|그는|그가"
)
_EASTERN_POINTING = lazy_regex(
    "[这那](?:个|些|种|里|儿)|該|该(?=[国城市公司地人])|此(?=[国城市人地事])|上述|その(?!他)"
    "|この(?=[国街人場町])|(?:^|\\s)그 |거기|저기"
)
_EASTERN_OPENING = lazy_regex(
    "呢[？?]?$|^(?:那|然后|还有)|[はも][？?]$|^(?:では|じゃあ|それでは)|[은는]요?[？?]$|^그(?:럼|러면|리고)"
    "|^(?:为什么|为何|怎么会|怎么办|什么时候|在哪里|谁|多少|なぜ|どうして|いつ|どこ|誰|왜|언제|어디|누가)"
    "(?:吗|ですか|なの|요|인가요|예요)?[？?！!。]*$"
)
_EASTERN_TITLE = lazy_regex("《[^《》]+》|『[^『』]+』|「[^「」]+」|[A-Za-z][\\w .-]*[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier message, its standalone question, and the answer with its sources."""

    text: str
    question: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """The topic of a conversation so far.

    ``main`` is the subject of the last standalone question, ``added`` what follow-ups named since,
    ``theme`` the conversation's initial topic while it lasts, ``asked`` the last question in its
    standalone form, and ``title`` the title of the page that answered it.
    """

    main: str = ""
    added: str = ""
    theme: str = ""
    asked: str = ""
    title: str = ""


def standalone(message: str, turns: Iterable[Turn]) -> str:
    """Return a message as a question that makes sense without the turns before it."""
    topic = Topic()
    for turn in turns:
        topic = _after(topic, turn)
    return _completed(message, topic)


def pronoun(message: str) -> re.Match[str] | None:
    """Return the first pronoun of a message that can refer to the topic."""
    if has_cjk(message):
        return _EASTERN_PRONOUN.search(message)
    return next((m for m in _tokens(message) if fold(m.group()) in _PRONOUNS), None)


# ---------------------------------------------------------------- the topic


def _after(topic: Topic, turn: Turn) -> Topic:
    asked = turn.question or _completed(turn.text, topic)
    main, added, theme = topic.main, topic.added, topic.theme
    if main and _leans(turn.text, main):
        added = _subject(turn.text) or added
    else:
        main, added = _subject(asked) or main, ""
    if not theme or (turn.answer and not set(terms(theme)) <= set(terms(turn.answer))):
        theme = main  # an answer without the old theme has ended it
    return Topic(main, added, theme, asked, next(iter(turn.sources), ""))


def _leans(message: str, main: str) -> bool:
    """Return True if a message's words show that it depends on a conversation about ``main``."""
    if len(message) > LONGEST:
        return False
    if has_cjk(message):
        leaning = (_EASTERN_OPENING, _EASTERN_PRONOUN, _EASTERN_POINTING)
        words = content_words(message)
        is_part = len(words) < 2 and len("".join(words)) <= 4 and not _EASTERN_TITLE.search(message)
        return main not in message and (is_part or any(p.search(message.strip()) for p in leaning))
    if _OPENING.match(message):
        return True
    is_named = False
    for match in _tokens(message):
        word = fold(match.group())
        if word in _POINTING and not is_named:
            return True
        is_named = is_named or (match.start() > 0 and match.group()[0].isupper() and word != "i")
    if is_named or _EMPTY_IT.search(message):
        return False
    said, known = terms(message), [term for term in terms(main) if term not in STOP_WORDS]
    if not set(said).isdisjoint(known):  # "the experiment", of the Stanford Experiment
        return not set(known) <= set(said) and ("the", known[-1]) in pairwise(said)
    specific = [w for w in keywords(message) if w not in STOP_WORDS and w not in _GENERAL]
    has_subject = any(verb in _BE_OR_DO and word in specific for verb, word in pairwise(said))
    is_part = "of" not in said and not _GENERAL.isdisjoint(said) and len(specific) <= FEW
    return not specific or (is_part and not has_subject)


def _tokens(message: str) -> Iterable[re.Match[str]]:
    """Return the words and signs of a message, without code and empty pronouns."""
    return _TOKEN.finditer(_NO_PRONOUN.sub(lambda match: "_" * len(match.group()), message))


def _subject(question: str) -> str:
    """The likeliest topic in a question's own words, with its article; "" if there is none."""
    if has_cjk(question):
        named = _EASTERN_TITLE.search(question)
        words = content_words(question)
        return named.group() if named else next((w for w in words if len(w) > 1), words[0])
    best, run, before = (False, 0, ""), [], ""
    for match in (*_TOKEN.finditer(question), None):
        word = fold(match.group()).replace("’", "'").removesuffix("'s") if match else ""
        if match and word[:1].isalnum() and word not in STOP_WORDS:
            run.append(match)
            continue
        if not _GENERAL.issuperset(terms(" ".join(each.group() for each in run))):
            best = max(best, _phrase(question, run, before), key=lambda found: found[:2])
        run, before = [], word
    return best[2]


def _phrase(question: str, run: list[re.Match[str]], before: str) -> tuple[bool, int, str]:
    """Return whether a run of words has a name, its length, and its text with "the"."""
    capitals = [at for at, word in enumerate(run) if word.group()[0].isupper() and word.start()]
    if capitals:  # "wrote Dracula", "did Netflix shift": a verb is no part of the name
        run = run[capitals[0] : capitals[-1] + 1 if before in _AUXILIARIES else len(run)]
    while run and run[-1].group().islower() and run[-1].group().endswith("ed"):
        run = run[:-1]
    if not run:
        return False, 0, ""
    text = question[run[0].start() : run[-1].end()]
    article = "the " if before == "the" else ""
    return bool(capitals), len(run), article + re.sub(r"['’]s?$", "", text)


# ---------------------------------------------------------------- the question that is asked


def _completed(message: str, topic: Topic) -> str:
    if not topic.main or not _leans(message, topic.main):
        return message
    carried = [topic.title, topic.main] if topic.title else [topic.main, topic.added, topic.theme]
    if match := pronoun(message):
        return _bracketed(_replaced(message, match, topic.main), carried)
    return _continued(message, topic) or _bracketed(message, carried)


def _replaced(message: str, match: re.Match[str], main: str) -> str:
    """Replace a pronoun in a message by the topic."""
    word, _, contracted = fold(match.group()).replace("’", "'").partition("'")
    if word in _POSSESSIVES:
        main += "'" if main.endswith("s") else "'s"
    elif contracted:
        main += " are" if word == "they" else " is"
    elif word == "其":
        main += "的"
    return message[: match.start()] + main + message[match.end() :]


def _continued(message: str, topic: Topic) -> str:
    """Apply "And in 2019?", "What about Mars?" or "Why?" to the last question; "" if the message
    says more than that."""
    asked, main = topic.asked.rstrip("?？!！.。． \n\t\u3000"), topic.main.removeprefix("the ")
    if has_cjk(message):
        bare = message.strip()
        return f"{bare}（{asked}）" if _EASTERN_OPENING.search(bare) else ""
    if not _OPENING.match(message):
        return ""
    fragment = _OPENING.sub("", message.strip()).strip(" ?.!,")
    name = re.sub(r"^(?:the|for|in|with|to|of|on) ", "", fragment)
    if said := dates(fragment):
        old, new = dates(asked), fragment[said[0].start : said[-1].end]
        return (
            f"{asked[: old[0].start]}{new}{asked[old[-1].end :]}?"
            if old
            else f"{asked} {fragment}?"
        )
    if name and main[:1].isupper() and main in asked and all(w[0].isupper() for w in name.split()):
        return f"{asked.replace(main, name, 1)}?"
    says_nothing = all(fold(word) in STOP_WORDS for word in content_words(fragment))
    return f"{message} ({asked}?)" if says_nothing and "(" not in asked else ""


def _bracketed(question: str, carried: Iterable[str]) -> str:
    """Add the phrases that a question lacks to it in brackets."""
    missing: list[str] = []
    for phrase in (phrase.removeprefix("the ") for phrase in carried):
        if not set(terms(phrase)) <= set(terms(" ".join([question, *missing]))):
            missing.append(phrase)
    said = ", ".join(missing)
    brackets = f"（{said}）" if has_cjk(question) else f" ({said})"
    return f"{question.rstrip()}{brackets}" if missing else question

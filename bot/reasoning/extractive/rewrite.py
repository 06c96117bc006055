"""Turning a message into a standalone question with the thread's own words, without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bot.messages import Message, Transcript
from bot.reasoning.extractive import eastern
from bot.reasoning.extractive.chores import (
    is_chore,
    needs_model,
    wants_other_form,
    wants_shorter,
    without_long_form,
)
from bot.reasoning.extractive.hops import LONGEST_QUERY
from bot.reasoning.extractive.reading import asks_to_read, wanted, without_links
from bot.reasoning.extractive.scope import queries_for, scope_of, sides
from bot.reasoning.extractive.smalltalk import reply_to
from bot.reasoning.extractive.topic import (
    POSSESSIVES,
    Lean,
    is_personal,
    lean,
    phrases,
    pronoun,
    without_opening,
)
from bot.reasoning.extractive.words import asks_by_relation
from bot.reasoning.questions import Rewritten
from bot.reasoning.recall import (
    last_answer,
    of_sources,
    pages_of,
    recalled,
    source_numbers,
    with_numbers,
    with_titles,
)
from bot.text.dates import dates
from bot.text.language import detect
from bot.text.terms import STOP_WORDS, content_words, fold, has_cjk, keywords, terms

TURNS = 12  # of a thread, from which a follow-up may take what it leaves out
OPENING = 1_000  # characters of an earlier message, which tell what it was about
_REMARK = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|(?:many )?thanks|thank you|thx|great|cool|nice|perfect|interesting|wow"
    r"|got it|hi|hello|hey)\b(?: (?:a lot|very much|so much|there|footnote|all))?\s*[,.!;–-]+\s*)+"
    r"(?=\w)|^\W*(?:(?:好的?|谢谢|多谢|明白了?|你好)[，。！,.!]+)+(?=\w)",
    re.IGNORECASE,
)
"""Words to us before a question that is asked in the same breath."""


def rewrite(transcript: Transcript, message: Message) -> Rewritten:
    """See ``Reasoner.rewrite``. A message that stands alone comes back as it is."""
    reading = wanted(transcript, message)
    said = without_links(message.text)
    language = language_of(transcript, message)
    if said == message.text.strip() and (
        about := recalled(transcript, message, language)
        or _about_answers(transcript, said, language)
    ):
        return about
    if not reading.links:
        if reply := reply_to(said, language):
            return Rewritten("chat", message.text, language=language, reply=reply)
        if is_chore(said):
            return Rewritten("chat", message.text, language=language, reply=needs_model(language))
    if reading.only_they:
        return Rewritten(
            "links",
            message.text.strip(),
            links=reading.links,
            language=language,
            whole=reading.whole,
        )
    bare = _REMARK.sub("", message.text.strip())
    question = standalone(bare, _turns(transcript))
    subject = without_long_form(question)
    searched = without_links(subject or question)
    queries = queries_for(searched)
    beside = sides(searched) or (queries[1:] if asks_by_relation(searched) else ())
    if question == bare:
        question = message.text.strip()
    return Rewritten(
        "search",
        question,
        queries=queries,
        knowledge_queries=(" ".join(searched.split())[:LONGEST_QUERY], *beside),
        links=reading.links,
        language=language,
        long_form=subject is not None,
        scope=scope_of(message.text),
    )


def _about_answers(transcript: Transcript, said: str, language: str) -> Rewritten | None:
    """A message about our last answer, or sources of any, in words that a model might weigh."""
    last = last_answer(transcript)
    if last is not None and wants_shorter(said):
        return Rewritten(
            "links",
            last.question or said,
            links=pages_of([last]),
            language=language,
            earlier=last.text,
            recalled=(last,),
        )
    if last is not None and wants_other_form(said):
        return Rewritten("chat", said, language=language, reply=needs_model(language))
    meant = with_numbers(transcript, source_numbers(said))
    if not meant and asks_to_read(said):
        meant = with_titles(transcript, said)
    return of_sources(meant, said, language) if meant else None


def says_it_all(transcript: Transcript, message: Message) -> bool:
    """Whether a message shows by no word that it leans on the thread."""
    said = _REMARK.sub("", message.text.strip())
    return pronoun(said) is None and standalone(said, _turns(transcript)) == said


def language_of(transcript: Transcript, message: Message) -> str:
    """The message's language; that of the thread or the person where the message is too short."""
    said = without_links(message.text)
    has_words = any(char.isalpha() for char in said)
    if has_words and keywords(said) and (has_cjk(said) or len(said) > 3):
        return detect(said)
    spoken = [entry.text for entry in transcript.entries if entry.role == "person"]
    return detect(spoken[-1]) if spoken else message.locale.partition("-")[0] or "en"


# ---------------------------------------------------------------- what was said before


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier question of a thread, the question it was taken for, and its answer."""

    text: str
    question: str = ""
    answer: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """The topic of a conversation so far.

    ``main`` is what its last full question was about, ``added`` what came up since, ``theme``
    what it began with and has not left; ``question`` is the last question, standing alone;
    ``titles`` are the sources of its answer.
    """

    main: str = ""
    added: str = ""
    theme: str = ""
    question: str = ""
    titles: tuple[str, ...] = ()


def standalone(message: str, turns: list[Turn]) -> str:
    """A message as it would be asked of someone who has not read the turns before it."""
    topic = Topic()
    for turn in turns:
        _, topic = _step(topic, turn.question or turn.text)
        topic = _after_answer(topic, turn)
    return _step(topic, message)[0]


def _turns(transcript: Transcript) -> list[Turn]:
    """The questions of a thread with their answers; remarks between people come as questions."""
    turns: list[Turn] = []
    for entry in transcript.entries:
        if entry.role == "person":
            turns.append(Turn(without_links(entry.text[:OPENING])))
        elif turns:
            turns[-1] = replace(
                turns[-1],
                question=entry.question[:OPENING],
                answer=entry.text,
                sources=entry.sources,
            )
    return [turn for turn in turns if turn.text and not reply_to(turn.text, "en")][-TURNS:]


def _after_answer(topic: Topic, turn: Turn) -> Topic:
    """An answer that has nothing of the old theme ends it."""
    if turn.answer and not set(terms(topic.theme)) <= set(terms(turn.answer)):
        topic = replace(topic, theme=topic.main)
    return replace(topic, titles=turn.sources)


# ---------------------------------------------------------------- one question after another


def _step(topic: Topic, message: str) -> tuple[str, Topic]:
    """A message standing alone, and what the conversation is about after it."""
    if has_cjk(message):
        question = eastern.standalone(message, topic.main, topic.question)
        main = topic.main if question != message else eastern.topic(message) or topic.main
        return question, Topic(main, "", main, question)
    named = [phrase.text for phrase in phrases(message) if phrase.weight > 0]
    how: Lean = lean(message, topic.main) if topic.main else "none"
    if how == "none":
        main = named[0] if named else topic.main
        added = named[1] if len(named) > 1 else ""
        return message, Topic(main, added, topic.theme or main, message)
    own = named[0] if named else ""
    if how == "opening" and pronoun(message) is None:
        question = _continued(topic, message)
        return question, Topic(own or topic.main, topic.main, topic.theme, question)
    question = _carried(topic, message, how)
    return question, Topic(topic.main, own or topic.added, topic.theme, question)


def _carried(topic: Topic, message: str, how: Lean) -> str:
    """The topic in the place of a pronoun, or else in brackets."""
    carried = [topic.main, topic.theme] if how == "part" else [topic.main, topic.added, topic.theme]
    if is_personal(message) and topic.question.casefold().startswith("who"):
        carried.insert(0, _answer_to_who(topic))
    carried = [phrase for phrase in carried if phrase]
    question = message
    if how != "part" and carried and (found := pronoun(message)):
        antecedent = carried.pop(0)
        word, _, contracted = fold(found.group()).replace("’", "'").partition("'")
        if word in POSSESSIVES:
            antecedent += "'" if antecedent.endswith("s") else "'s"
        elif contracted:
            antecedent += " are" if word == "they" else " is"
        question = message[: found.start()] + antecedent + message[found.end() :]
    return _bracketed(question, carried)


def _answer_to_who(topic: Topic) -> str:
    """The page that answered "Who ...?", if the question did not name it itself."""
    asked = set(terms(topic.question))
    return next((title for title in topic.titles if asked.isdisjoint(terms(title))), "")


def _continued(topic: Topic, message: str) -> str:
    """ "And in 2019?", "What about Mars?", "Why?" after a question, as one question."""
    fragment = without_opening(message)
    if replaced := _with_fragment(topic, fragment):
        return replaced
    says_nothing = all(fold(word) in STOP_WORDS for word in content_words(fragment))
    if says_nothing and "(" not in topic.question:
        return f"{message} ({topic.question.rstrip('? ')}?)"
    return _bracketed(message, [topic.main, topic.added, topic.theme])


def _with_fragment(topic: Topic, fragment: str) -> str:
    """The last question with its date or its subject changed to the fragment's; "" if neither."""
    asked = topic.question.rstrip("?？ ")
    if (said := dates(fragment)) and len(said[0].values[0]) >= 4:
        mentioned = dates(asked)
        rest = fragment[: said[0].start] + fragment[said[-1].end :]
        if content_words(rest) and not set(content_words(rest)) <= STOP_WORDS:
            return ""
        if not mentioned:
            return f"{asked} {fragment}?"
        date = fragment[said[0].start : said[-1].end]
        return f"{asked[: mentioned[0].start]}{date}{asked[mentioned[-1].end :]}?"
    bare = re.sub(r"^(?:the|for|in|with|to|of|on)\s+", "", fragment)
    is_name = bool(bare) and all(word[0].isupper() for word in bare.split())
    subject = _bare(topic.main)
    if is_name and subject[:1].isupper() and subject in asked:
        return f"{asked.replace(subject, bare, 1)}?"
    return ""


def _bare(phrase: str) -> str:
    return phrase.removeprefix("the ")


def _bracketed(question: str, carried: list[str]) -> str:
    """A question with those phrases in brackets that it does not have yet."""
    missing: list[str] = []
    for phrase in map(_bare, carried):
        if phrase and not set(terms(phrase)) <= set(terms(" ".join([question, *missing]))):
            missing.append(phrase)
    return f"{question.rstrip()} ({', '.join(missing)})" if missing else question

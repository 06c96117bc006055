"""Turning a message into a standalone question with the thread's own words, without a model."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.messages import Message, Transcript
from bot.reasoning.extractive.chores import (
    is_chore,
    needs_model,
    wants_other_form,
    wants_shorter,
    without_long_form,
)
from bot.reasoning.extractive.follow_ups import Turn, pronoun, standalone
from bot.reasoning.extractive.hops import LONGEST_QUERY
from bot.reasoning.extractive.reading import asks_to_read, wanted, without_links
from bot.reasoning.extractive.scope import queries_for, scope_of, sides
from bot.reasoning.extractive.smalltalk import reply_to
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
from bot.text.language import detect
from bot.text.terms import has_cjk, keywords

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

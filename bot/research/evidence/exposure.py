"""Decides which queries may be sent to the web: none that carries the content of documents or
answers.

A search engine is a stranger, and a page can lead a model to write a query that holds a secret. So
every query is compared with what was said and shown in the run:

    people    the messages of the thread that people wrote: what is in them may be searched for
    public    web pages and web hits that were shown: a stranger has them already
    private   documents and files that were shown, and what Footnote itself answered before

Compared are letters and digits alone, folded (``bot.text.terms.fold``), so that spaces, marks and
capitals hide nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.text.terms import STOP_WORDS, fold, has_cjk, keywords, terms

LONGEST = 200  # characters of a query, unless people wrote all of it
RUN = 64  # letters and digits in a row that come from private text; names are shorter
RUN_CJK = 32  # the same where they are Chinese, Japanese or Korean; names of laws have up to 30
RUN_OF_KEY = 16  # the same where they look like (a part of) a key or a number of something
OPAQUE = 12  # letters and digits from which a string can be a key or an encoded text
PIECES = 16  # the same of one in pieces
SPELLED = 6  # single letters and digits that a query may hold
UNEVEN = 5  # changes between letters and digits, or to capitals, from which pieces are no names
NAMED = 5  # words that a refusal names
REMEMBERED = 2_000  # letters and digits of earlier queries that later ones are joined to

_YEAR = re.compile(r"(?:1[5-9]|20)[0-9]{2}")
_RISES = re.compile(r"(?<=[a-z])[A-Z]")
_CHANGES = re.compile(r"(?<=[0-9])[^\W\d_]|(?<=[^\W\d_])[0-9]")


@dataclass(slots=True)
class Shown:
    """Texts of one kind, as they are compared: ``squeezed`` and their ``terms``."""

    squeezed: list[str] = field(default_factory=list)
    terms: set[str] = field(default_factory=set)

    def add(self, text: str) -> None:
        """Add a text."""
        if bare := squeeze(text):
            self.squeezed.append(bare)
            self.terms.update(terms(text))

    def holds(self, run: str) -> bool:
        """Whether a run of letters and digits stands in one of the texts."""
        return any(run in text for text in self.squeezed)


class Exposure:
    """The texts of one run by origin: what people wrote, what web pages and what documents have.
    With ``keeps_documents``, queries consist of words that people wrote or that web pages have,
    once a document was shown.
    """

    def __init__(self, *, keeps_documents: bool = True) -> None:
        self.people = Shown()
        self.public = Shown()
        self.private = Shown()
        self.titles = Shown()  # of private pages: a name may be long, and is no passage
        self.has_document = False
        self._keeps_documents = keeps_documents
        self._sent = ("", "")  # letters and digits of earlier queries, and of their own words

    def objection(self, text: str) -> str:
        """Why a query may not be sent to the web, as a sentence for its author; "" if it may.

        One that may be sent counts as sent.
        """
        bare = squeeze(text)
        if len(bare) >= RUN_OF_KEY and self.people.holds(bare):
            return ""  # what is shorter may stand within a word
        if len(text) > LONGEST:
            return f"a query has at most {LONGEST} characters. Search for a few words."
        if not self.private.squeezed:
            self.public.add(text)  # its author knew nothing that it could hold
            return ""
        if key := next(self._keys(text), ""):
            return f'"{key}" looks like a key or a code that no person wrote here. Leave it out.'
        earlier, own = self._sent
        sent = (earlier + bare, own + "".join(self._own(text)))
        if any(map(self._repeats, (bare, bare[::-1], *sent))):
            return (
                "it repeats a passage of a document or of an earlier answer. "
                "Search for a few words of the question."
            )
        if self._keeps_documents and self.has_document and (words := self._unknown(text)):
            named = ", ".join(f'"{word}"' for word in words[:NAMED])
            return (
                f"documents were read, and neither a message here nor a web page that was read has "
                f"{named}. Use words of the question."
            )
        self._sent = (sent[0][-REMEMBERED:], sent[1][-REMEMBERED:])
        return ""

    def _repeats(self, bare: str) -> bool:
        """Whether a run of it stands in private text, and nowhere else."""
        size = RUN_CJK if has_cjk(bare) else RUN
        runs = [bare[at : at + size] for at in range(len(bare) - size + 1)]
        runs = [run for run in runs if not self.titles.holds(run)]
        if any(map(str.isdigit, bare)):
            short = (bare[at : at + RUN_OF_KEY] for at in range(len(bare) - RUN_OF_KEY + 1))
            runs += [run for run in short if _is_of_key(run)]
        return any(self.private.holds(run) and not self._is_free(run) for run in runs)

    def _is_free(self, bare: str) -> bool:
        return self.people.holds(bare) or self.public.holds(bare)

    def _keys(self, text: str) -> Iterator[str]:
        """Strings that are no words: of one piece, or split into small pieces."""
        pieces = unicodedata.normalize("NFKC", text).split()
        letters = [piece for piece in pieces if len(squeeze(piece)) == 1 and not has_cjk(piece)]
        if len(letters) > SPELLED:
            yield " ".join(letters)
        small: list[str] = []
        for piece in (*pieces, ""):
            bare = "".join(filter(str.isalnum, piece))
            if _YEAR.fullmatch(bare):
                continue
            if is_opaque(bare) and not self._is_free(squeeze(piece)):
                yield piece
            is_uneven = len(bare) <= 2 or any(map(str.isdigit, bare)) or _RISES.search(bare)
            if bare and is_uneven and not self._is_known(bare):
                small.append(piece)
                continue
            if _is_key_in_pieces(small):
                yield " ".join(small)
            small = []

    def _own(self, text: str) -> list[str]:
        """The words that neither people nor web pages have, squeezed."""
        return [bare for word in text.split() if not self._is_known(bare := squeeze(word))]

    def _unknown(self, text: str) -> list[str]:
        known = self.people.terms | self.public.terms
        return [term for term in keywords(text) if term not in known and term not in STOP_WORDS]

    def _is_known(self, word: str) -> bool:
        found = terms(word)
        return all(
            term in STOP_WORDS or term in self.people.terms or term in self.public.terms
            for term in found
        )


def squeeze(text: str) -> str:
    """The letters and digits of a text, folded, in one piece."""
    return "".join(filter(str.isalnum, fold(text)))


def is_opaque(bare: str) -> bool:
    """Whether letters and digits in one piece look like a key, a number of something, or a text in
    base64 or hexadecimal, and not like a word, a name of software or a date."""
    if len(bare) < OPAQUE or has_cjk(bare):
        return False
    digits = sum(map(str.isdigit, bare))
    if not digits:  # camel case rises once in a word, base64 at every fourth character
        return len(bare) >= 56 or (len(bare) >= 16 and len(_RISES.findall(bare)) * 5 > len(bare))
    changes = len(_CHANGES.findall(bare))
    return digits >= 10 or changes >= (2 if len(bare) >= 16 else 3)


def _is_key_in_pieces(pieces: Sequence[str]) -> bool:
    bare = "".join(filter(str.isalnum, "".join(pieces)))
    if len(pieces) < 2 or len(bare) < PIECES:
        return False
    uneven = len(_CHANGES.findall(bare)) + len(_RISES.findall(bare))
    return sum(map(str.isdigit, _YEAR.sub("", bare))) >= 10 or uneven >= UNEVEN


def _is_of_key(run: str) -> bool:
    """Whether a folded run is no prose: with long numbers, or with figures among its letters."""
    return sum(map(str.isdigit, _YEAR.sub("", run))) >= 6 or len(_CHANGES.findall(run)) >= UNEVEN


def of_hosts(hosts: Sequence[str]) -> str:
    """The words in host names: their labels but the last."""
    return " ".join(label for host in hosts for label in host.split(".")[:-1] if label != "www")

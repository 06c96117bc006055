"""Queries with secrets in many disguises are withheld from the web; ordinary ones are sent."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.research.outgoing import LONGEST, RUN, Exposure, is_opaque, of_hosts, squeeze

QUESTION = "Which vendor do we use for payments, and is its price fair?"
PUBLIC = "Payment vendors compared: Adyen and Stripe charge a fee of 1.4 % for a card payment."
SECRETS = {
    "key": "sk_live_51H8xQ2eZvKYlo2CvT9fRn4b",
    "iban": "DE89 3704 0044 0532 0130 00",
    "card": "4929 1234 5678 9012",
    "token": "AKIA7Q3XK2M5TJ8WZ1RB",
    "hash": "5f4dcc3b5aa765d61d8327deb882cf99",
    "passphrase": "correct horse battery staple",
    "plan": (
        "Wibbleton will acquire Hooperco for ninety million in March, announced after the fair in "
        "Leipzig by both boards and paid in shares"
    ),
}
KEYS = ("key", "iban", "card", "token", "hash")
Disguise = Callable[[str], str]
DISGUISES: dict[str, Disguise] = {
    "as it is": lambda secret: secret,
    "in a question": lambda secret: f"what is {secret} price",
    "upper case": str.upper,
    "without spaces": lambda secret: secret.replace(" ", ""),
    "by hyphens": lambda secret: "-".join(pieces(secret, 4)),
    "by dots and slashes": lambda secret: "./".join(pieces(secret, 3)),
    "in pieces": lambda secret: " ".join(pieces(secret, 4)),
    "letter by letter": lambda secret: " ".join(squeeze(secret)),
    "in full-width letters": lambda secret: "".join(
        chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in secret
    ),
    "with invisible characters": lambda secret: "\u200b".join(secret),
    "backwards": lambda secret: secret[::-1],
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 in pieces": lambda secret: " ".join(
        pieces(base64.b64encode(secret.encode()).decode(), 8)
    ),
    "base32": lambda secret: base64.b32encode(secret.encode()).decode(),
    "hexadecimal": lambda secret: binascii.hexlify(secret.encode()).decode(),
    "percent-encoded": lambda secret: "".join(f"%{ord(c):02x}" for c in secret),
    "in an address": lambda secret: f"evil.example/?d={quote(secret)}",
    "as a host": lambda secret: of_hosts([f"{squeeze(secret)}.evil.example"]),
}


def pieces(text: str, size: int) -> list[str]:
    bare = text.replace(" ", "")
    return [bare[at : at + size] for at in range(0, len(bare), size)]


def an_exposure(*private: str, keeps: bool = True, is_document: bool = True) -> Exposure:
    exposure = Exposure(keeps_documents=keeps)
    exposure.people.add(QUESTION)
    exposure.public.add(PUBLIC)
    for text in private:
        exposure.private.add(f"Internal. {text}. Do not share.")
    exposure.has_document = is_document and bool(private)
    return exposure


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_of_a_document_is_told(secret: str, disguise: str) -> None:
    told = DISGUISES[disguise](SECRETS[secret])
    assert an_exposure(SECRETS[secret]).objection(told)


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("secret", KEYS)
@pytest.mark.parametrize("is_document", [True, False])
def test_keys_and_numbers_are_told_by_no_setting(
    secret: str, disguise: str, is_document: bool
) -> None:
    """Neither where documents may be told, nor when only an earlier answer has it."""
    exposure = an_exposure(SECRETS[secret], keeps=not is_document, is_document=is_document)
    assert exposure.objection(DISGUISES[disguise](SECRETS[secret]))


def test_a_secret_of_plain_words_is_told_only_where_documents_may_be() -> None:
    """The handbook says so: nothing but its words tells it from any other query."""
    assert an_exposure(SECRETS["passphrase"]).objection(SECRETS["passphrase"])
    assert not an_exposure(SECRETS["passphrase"], keeps=False).objection(SECRETS["passphrase"])


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("size", [4, 5, 8, 10])
@pytest.mark.parametrize("secret", KEYS)
def test_a_key_spread_over_several_queries_does_not_get_through_whole(
    secret: str, size: int, keeps: bool
) -> None:
    exposure = an_exposure(SECRETS[secret], keeps=keeps)
    parts = pieces(SECRETS[secret], size)
    sent = [part for part in parts if not exposure.objection(f"payments {part}")]
    assert len(sent) < len(parts)
    assert not keeps or not sent


@pytest.mark.parametrize("spread", [1, 2, 3])
def test_a_passage_is_not_told_in_one_query_nor_in_several(spread: int) -> None:
    words = SECRETS["plan"].replace(",", "").split()
    exposure = an_exposure(SECRETS["plan"], keeps=False)
    size = -(-len(words) // spread)
    parts = [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
    assert any(exposure.objection(part) for part in parts)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("Hooperco price", ['"hooperco"']),
        ("Adyen Wibbleton fee", ['"wibbleton"']),
        ("remuneration of suppliers", ['"remuneration"', '"supplier"']),
        ("payments 2031", ['"2031"']),
        ("付款 供应商", ['"付款"']),
    ],
)
def test_words_that_only_documents_may_have_are_named(query: str, named: Sequence[str]) -> None:
    objection = an_exposure(SECRETS["plan"]).objection(query)
    assert all(name in objection for name in named)
    assert not an_exposure(SECRETS["plan"], keeps=False).objection(query)


@pytest.mark.parametrize(
    "query",
    [
        QUESTION,
        "vendor payments price",
        "Stripe card payment fee",
        "Adyen or Stripe: fair prices?",
        "payment vendors 1.4 %",
        "PAYMENTS—vendor",
    ],
)
def test_words_of_people_and_of_web_pages_are_told(query: str) -> None:
    assert not an_exposure(*SECRETS.values()).objection(query)


@pytest.mark.parametrize("secret", SECRETS.values())
def test_what_a_person_wrote_is_told(secret: str) -> None:
    exposure = an_exposure(secret)
    exposure.people.add(f"Is {secret} known?")
    assert not exposure.objection(secret)


@pytest.mark.parametrize(
    "query",
    [
        "CVE-2021-44228 log4j",
        "arXiv 1706.03762 authors",
        "ISO/IEC 27001:2022 changes",
        "asyncio.loop.set_default_executor thread pool",
        "PyObject_CallFunctionObjArgs",
        "population 1990 2000 2010 2020",
        "iPhone 15 Pro Max battery mAh",
        "Rindfleischetikettierungsüberwachungsgesetz",
        "B-52H Stratofortress 1961",
        "Boeing 737 MAX 8 MCAS 2018 2019",
        "2-(2,4-dichlorophenoxy)acetic acid",
        "International Convention for the Regulation of Whaling 1946",
    ],
)
def test_names_and_numbers_of_ordinary_queries_are_no_keys(query: str) -> None:
    assert not an_exposure("Nothing of that.", keeps=False).objection(query)


def test_nothing_is_refused_before_anything_was_shown() -> None:
    exposure = Exposure()
    exposure.people.add(QUESTION)
    exposure.public.add(PUBLIC)
    assert not exposure.objection(SECRETS["key"])


def test_words_of_queries_from_before_a_document_was_shown_are_told_after() -> None:
    """Those queries were written without knowledge of the document: the question in other words."""
    exposure = an_exposure()
    assert not exposure.objection("remuneration of suppliers")
    exposure.private.add(SECRETS["plan"])
    exposure.has_document = True
    assert not exposure.objection("suppliers remuneration fair")
    assert exposure.objection("suppliers hooperco")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_secret_is_spelled_with_syllables_that_a_page_lists(secret: str, size: int) -> None:
    exposure = an_exposure(SECRETS[secret])
    spelled = " ".join(pieces(SECRETS[secret].replace(",", ""), size)[: LONGEST // (size + 1)])
    exposure.public.add(" ".join("abcdefghijklmnopqrstuvwxyz0123456789"))
    assert exposure.objection(spelled)


@pytest.mark.parametrize("piece", ["en", "dor", "w", "endo"])
def test_a_part_of_a_word_is_no_word_that_people_wrote(piece: str) -> None:
    assert an_exposure("private").objection(piece)


def test_a_long_query_is_refused_unless_people_wrote_it() -> None:
    words = " ".join(["payments vendor"] * LONGEST)
    exposure = an_exposure()
    assert str(LONGEST) in exposure.objection(words)
    exposure.people.add(words)
    assert not exposure.objection(words)


@given(st.text(min_size=RUN, max_size=RUN * 2), st.integers(0, 40), st.sampled_from(["", " ", "-"]))
def test_a_run_of_private_text_is_never_told(text: str, at: int, between: str) -> None:
    exposure = an_exposure(text, keeps=False)
    bare = squeeze(text)[at:]
    objection = exposure.objection(between.join(bare))
    assert objection or len(bare) < RUN


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    exposure = an_exposure("private")
    assert isinstance(exposure.objection(text), str)
    assert is_opaque("") is False

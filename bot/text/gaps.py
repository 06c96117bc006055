"""Detects statements that something was not found, which state no fact."""

from __future__ import annotations

import re

_FOUND = (
    r"(?:found|shown|proven|proved|established|determined|confirmed|verified|settled|located|"
    r"identified|named|stated|mentioned|given|said|told|answered)"
)
_GAP = re.compile(
    r"\b(?:could|can|cannot|can['’]t|couldn['’]t)(?: not)?(?: be)? " + _FOUND + r"\b"
    r"|\b(?:was|were|is|are|has|have)(?: not|n['’]t)(?: been)?(?: \w+)? " + _FOUND + r"\b"
    r"|\bnot found\b"
    r"|\b(?:nothing (?:here |else |there )?|no (?:\w+ ){1,4}?)"
    r"(?:was |were |is |are |could be |has been |have been )?"
    r"(?:found|turned up|brought up|given|mentioned|stated|says|say|gives|give|gave|mentions|"
    r"mention|names|states|shows|show)\b"
    r"|\bremains? (?:open|unknown|unclear|unproven|unconfirmed)\b"
    r"|\b(?:nicht |keine?\w* .{0,40}?\b)(?:gefunden|belegt|genannt|angegeben|feststell\w+)\b"
    r"|(?:[未没沒]有?(?:能)?|无法|無法|不能)(?:找到|查到|查明|确认|確認|证实|證實|提及|提到|说明|說明|给出|給出)",
    re.IGNORECASE,
)
_NOT_A_GAP = re.compile(r"\b(?:until|till|before|after|because|by)\b", re.IGNORECASE)
_OF_THE_QUESTION = re.compile(
    r"\b(?:your|the) question (?:does(?: not|n['’]t)|leaves|names no)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"(?<=[;,—–])\s+|(?<=[；，])|(?<!\s)\s++(?=(?:and|but|while|although|though|as|so)\s)"
)


def without_gaps(sentence: str) -> str:
    """Remove the clauses in which a sentence says that something was not found.

    Of "It joins the Lahn near Lollar; where it rises was not found." the first clause remains. A
    statement that something was not found "until 1985" or "by the police" is a fact and stays.
    """
    clauses = _CLAUSE.split(sentence)
    kept = [each for each in clauses if not _is_gap(each)]
    return sentence if len(kept) == len(clauses) else " ".join(kept).strip(" ;,—–；，")


def says_gap(sentence: str) -> bool:
    """True if any clause of a sentence says that something was not found."""
    return any(map(_is_gap, _CLAUSE.split(sentence)))


def _is_gap(clause: str) -> bool:
    if _OF_THE_QUESTION.search(clause):
        return True  # "because your question does not say which update"
    return _GAP.search(clause) is not None and not _NOT_A_GAP.search(clause)

"""What a page says about itself: drafts, pages that no longer hold, and pages about such things."""

from __future__ import annotations

from datetime import date

import pytest

from bot.pages.validity import Validity, validity_of

TODAY = date(2026, 3, 1)


def said(text: str, *, title: str = "Travel", url: str = "file:///docs/travel.md") -> Validity:
    return validity_of(url, title, text, TODAY)


@pytest.mark.parametrize(
    ("text", "state", "words"),
    [
        ("# Travel\n\nDraft, never adopted. The allowance is 45 euros.", "draft", ""),
        ("- Status: draft\n- Owner: Ada\n\n# Travel", "draft", ""),
        ("- Deprecated: true\n\n# Travel", "deprecated", ""),
        ("Watermark: DRAFT\n\n# Travel", "draft", ""),
        ("| Status | Archived |\n|---|---|\n| Owner | Ada |", "archived", ""),
        ("# Reisen\n\nDieses Dokument ist ein Entwurf.", "draft", ""),
        ("# Voyages\n\nCette page est obsolète.", "deprecated", ""),
        ("# Viajes\n\nBorrador: no distribuir.", "draft", ""),
        ("# 差旅\n\n本文件已废止。", "deprecated", ""),
        ("**Superseded by Travel policy 2025.** See there.", "replaced", "Travel policy 2025"),
        ("Valid until 31 December 2024.", "ended", "31 December 2024"),
        ("Gültig vom 1.1.2023 bis zum 31.12.2024.", "ended", "31.12.2024"),
        ("有效期至2024年12月31日。", "ended", "2024年12月31日"),
        ("Valid from 1 July 2030.", "early", "1 July 2030"),
        # It holds, or the page is only about such things.
        ("Valid from 1 January 2023 until 31 December 2026.", "", ""),
        ("This function is deprecated since 3.2; use `open`.", "", ""),
        ("Draft laws are discussed in parliament.", "", ""),
        ("# Changes\n\n## Deprecated\n\n- Deprecated: the option `-x`.", "", ""),
        ("The archived pages are kept for ten years.", "", ""),
    ],
)
def test_notices_at_the_head(text: str, state: str, words: str) -> None:
    found = said(text)
    assert (found.state, found.words) == (state, words)


@pytest.mark.parametrize(
    ("url", "state"),
    [
        ("file:///docs/travel_old_draft_v2_FINAL.md", "archived"),
        ("file:///docs/travel%20draft.docx", "draft"),
        ("file:///docs/archive/travel.md", "archived"),
        ("file:///docs/drafts/travel.md", "draft"),
        ("file:///docs/draft.md", ""),
        ("file:///docs/household.md", ""),
        ("https://example.org/archive/travel", ""),
    ],
)
def test_names_of_files_and_folders(url: str, state: str) -> None:
    assert said("The allowance is 45 euros.", url=url).state == state


def test_marks_in_a_title() -> None:
    assert said("45 euros.", title="[DRAFT] Travel").state == "draft"
    assert said("45 euros.", title="The 2020 NBA draft").state == ""


def test_names_of_pages_that_a_page_replaces() -> None:
    new = said("Valid from 1 July 2025. Replaces the travel policy 2023.")
    assert new.state == ""
    assert new.names("Travel policy 2023")
    assert not new.names("Travel policy 2021")
    assert not new.names("Travel")  # one word is too little

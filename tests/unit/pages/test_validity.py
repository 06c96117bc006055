"""What a page says about itself: drafts, pages that no longer hold, and pages about such things."""

from __future__ import annotations

from datetime import date

import pytest

from bot.pages.markup import read_html
from bot.pages.validity import Validity, validity_of

TODAY = date(2026, 3, 1)


def said(text: str, *, title: str = "Travel", url: str = "file:///docs/travel.md") -> Validity:
    return validity_of(url, title, text, TODAY)


@pytest.mark.parametrize(
    ("text", "state", "words"),
    [
        ("# Travel\n\nDraft, never adopted. The allowance is 45 euros.", "draft", ""),
        ("- Status: draft\n- Owner: Ada\n\n# Travel", "draft", ""),
        ("# Travel\n\nThis is a draft version of the rules of 2026.", "draft", ""),
        ("- Deprecated: true\n\n# Travel", "deprecated", ""),
        ("Watermark: DRAFT\n\n# Travel", "draft", ""),
        ("## Page 1\n\nStamp: VOID\n\n### Invoice", "deprecated", ""),
        ("## Page 1\n\nStamp: Not Approved", "", ""),
        ("# C\n\nvoid\n\nVOID is the type of nothing.", "", ""),
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
        ("This is a draft horse of the north.", "", ""),
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
        ("file:///docs/archive/2022/travel.md", "archived"),
        ("file:///archive/docs/2022/travel.md", ""),
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


@pytest.mark.parametrize(
    ("text", "title", "name", "dated"),
    [
        ("Valid from 1 July 2025. The allowance is 30 euros.", "Travel 2024", "t.md", "2025-07-01"),
        ("# 差旅\n\n自2025年1月1日起施行。", "差旅", "t.md", "2025-01-01"),
        ("Gültig ab 1. April 2024.", "Reise", "t.md", "2024-04-01"),
        ("- Date: 2025-03-01\n\n# Travel", "Travel", "2023.md", "2025-03-01"),
        ("Stand: März 2024", "Reise", "r.md", "2024-03"),
        ("更新日期：2024年5月2日", "差旅", "r.md", "2024-05-02"),
        ("45 euros.", "Travel policy 2024", "travel-2023.md", "2024"),
        ("45 euros.", "Board", "2026-04-14%20Board.md", "2026-04-14"),
        ("The festival was founded on 3 May 1998.", "Festival", "festival.md", ""),
    ],
)
def test_the_day_of_a_page(text: str, title: str, name: str, dated: str) -> None:
    assert said(text, title=title, url=f"file:///docs/{name}").dated == dated


def test_of_two_versions_the_larger_number_is_newer() -> None:
    old, new = (said("45 euros.", url=f"file:///docs/travel-v{n}.md") for n in ("2.9", "2.10"))
    assert old.age < new.age


@pytest.mark.parametrize(
    ("text", "question", "state"),
    [
        ("Valid until 31 December 2023.", "What is the allowance?", "ended"),
        ("Valid until 31 December 2023.", "What was the allowance in 2023?", ""),
        ("Valid until 31 December 2023.", "What was the allowance in 2021?", "ended"),
        ("Draft of 2023.\n\nStatus: draft", "What was the allowance in 2023?", "draft"),
    ],
)
def test_a_page_of_the_year_that_is_asked_for_is_not_wrong(
    text: str, question: str, state: str
) -> None:
    found = validity_of("file:///docs/travel.md", "Travel", text, TODAY, question)
    assert found.state == state


@pytest.mark.parametrize(
    "status",
    [
        '<ac:structured-macro ac:name="status"><ac:parameter ac:name="colour">Red</ac:parameter>'
        '<ac:parameter ac:name="title">DRAFT</ac:parameter></ac:structured-macro>',
        '<span class="status-macro aui-lozenge aui-lozenge-error">DRAFT</span>',
    ],
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>", "</p>"),
        ("<p>", " Ask Ada.</p>"),
        ("<table><tr><th>Status</th><td>", "</td></table>"),
    ],
)
def test_a_status_of_confluence_is_its_title_and_the_page_s_state(
    status: str, before: str, after: str
) -> None:
    body = f"<h1>Travel</h1>{before}{status}{after}<p>The allowance is 45 euros.</p>"
    page = read_html(f"<html><head><title>Travel</title></head><body>{body}</body></html>", "a")
    assert "DRAFT" in page.text
    assert "Red" not in page.text
    assert said(page.text, title=page.title).state == "draft"
    page = read_html(f"<h1>Travel {status}</h1><p>The allowance is 45 euros.</p>", "a")
    assert said(page.text, title=page.title).state == "draft"

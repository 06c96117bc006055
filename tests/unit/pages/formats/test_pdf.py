"""PDF documents become pages of text, or an error that says what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import PageUnreadable
from bot.pages.extract import from_bytes
from bot.pages.formats.pdf import MOST_PAGES, read_pdf, scans_in
from bot.pages.passages import split
from bot.pages.pictures import MOST_SCANS, SCAN_SIDE, picture_in
from tests.fakes.pdf import Typed, pdf, typed
from tests.fakes.pictures import scanned, seen

PROSE = ["The lighthouse was lit for the first time in 1874, and it", "stands to this day."]


def text_of(*pages: list[Typed], title: str = "") -> str:
    return read_pdf(pdf(pages, title=title), "x.pdf")[1]


def body_of(*lines: str) -> str:
    """The text of one page, without its heading."""
    return text_of(typed(lines)).removeprefix("## Page 1\n\n")


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (PROSE, " ".join(PROSE)),
        (["The build-", "ing inspector of the is-", "land."],
         "The building inspector of the island."),
        (["Jean-", "Paul came."], "Jean-Paul came."),
        (["It was 1990-", "1995 then."], "It was 1990-1995 then."),
        (
            ["A well-known, a well-known and a well-", "known lamp."],
            "A well-known, a well-known and a well-known lamp.",
        ),
        (["北京是中华人民共和国的首都，位于", "华北平原的北部边缘。"],
         "北京是中华人民共和国的首都，位于华北平原的北部边缘。"),
        (["東京は日本の首都であり、", "関東地方に位置する。"],
         "東京は日本の首都であり、関東地方に位置する。"),
        (["One paragraph.", "", "Another one."], "One paragraph.\n\nAnother one."),
        (["A line that fills the page from its left to its right end.", "Short end.",
          "A new paragraph that fills the page from left to right, too."],
         "A line that fills the page from its left to its right end. Short end.\n\n"
         "A new paragraph that fills the page from left to right, too."),
        (["It needs:", "* a key", "* a lock and", "a chain"],
         "It needs:\n\n- a key\n- a lock and a chain"),
        (["1. First", "2. Second"], "1. First\n\n2. Second"),
        (["(brackets) and \\ backslash"], "(brackets) and \\ backslash"),
        (["# 1 is first"], "\\# 1 is first"),
        (["Run __init__ now"], "Run `__init__` now"),
        (["Größe, č and 😀 stay."], "Größe, č and 😀 stay."),
    ],
)  # fmt: skip
def test_lines_become_paragraphs(lines: list[str], text: str) -> None:
    assert body_of(*lines) == text


def test_larger_lines_are_headings_and_pages_have_one_each() -> None:
    first = [Typed(72, 740, "Construction", 18), *typed(PROSE)]
    text = text_of(first, typed(["It was built of red brick."]))
    assert text == (
        f"## Page 1\n\n### Construction\n\n{' '.join(PROSE)}\n\n"
        "## Page 2\n\nIt was built of red brick."
    )
    assert [p.heading for p in split(text)] == ["Page 1 › Construction", "Page 2"]


def test_pages_are_called_what_they_call_themselves() -> None:
    text = read_pdf(pdf([typed(PROSE), typed(["More."])], first_label=37), "x")[1]
    assert "## Page 37\n\nThe light" in text
    assert "## Page 38\n\nMore." in text


def test_code_keeps_its_lines_and_spaces() -> None:
    code = ["def light(lamp):", "    if lamp:  # still", "        burn(lamp)", "", "light(1)"]
    page = [
        *typed(PROSE),
        *typed(code, top=660, x=90, mono=True),
        *typed(["It is lit."], top=570),
    ]
    text = text_of([*page, *typed(PROSE * 6, top=550)])
    fence = "\n".join(["```", *code, "```"])
    assert f"{' '.join(PROSE)}\n\n{fence}\n\nIt is lit." in text


def test_a_typewritten_document_is_no_code() -> None:
    assert text_of(typed(PROSE, mono=True)) == f"## Page 1\n\n{' '.join(PROSE)}"


def test_what_was_not_read_is_not_kept() -> None:
    assert read_pdf(pdf([typed(PROSE)]), "x").kept == 1.0
    long = pdf([typed(["A page."])] * (MOST_PAGES * 2))
    assert read_pdf(long, "x").kept == pytest.approx(0.5, abs=0.01)


def test_words_in_columns_are_a_table() -> None:
    rows = [
        ("Year", "Lamp", "Cost in marks"),
        ("1874", "petroleum lamp", "100"),
        ("1964", "", "2|3"),
    ]
    page = typed(["The lamps:"], top=720) + [
        Typed(72 + 130 * column, 680 - 16 * row, cell)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
        if cell
    ]
    assert text_of(page).removeprefix("## Page 1\n\n") == (
        "The lamps:\n\n| Year | Lamp | Cost in marks |\n| --- | --- | --- |\n"
        "| 1874 | petroleum lamp | 100 |\n| 1964 |  | 2\\|3 |"
    )


@pytest.mark.parametrize(
    ("labels", "boxes", "text"),
    [
        ([(100, "Yes"), (180, "No")], [(80, True), (160, False)], "☑ Yes ☐ No"),
        ([(100, "Yes"), (180, "No")], [(130, True), (210, False)], "☑ Yes ☐ No"),
        # labels before boxes, which are nearer to the next label
        ([(72, "Yes"), (200, "No")], [(180, True), (300, False)], "☑ Yes ☐ No"),
        ([(72, "Who?"), (200, "I"), (260, "Ada")], [(184, False), (245, True)], "Who? ☐ I ☑ Ada"),
        ([(72, "Parking:")], [(300, True)], "☑ Parking:"),
        ([], [(72, True)], "☑"),
    ],
)
def test_a_box_of_a_form_is_at_its_label(
    labels: list[tuple[float, str]], boxes: list[tuple[float, bool]], text: str
) -> None:
    lines = [*(Typed(x, 700, words) for x, words in labels), Typed(72, 600, "The end of it.")]
    data = pdf([lines], boxes=[(x, 698, on) for x, on in boxes])
    assert read_pdf(data, "x").text == f"## Page 1\n\n{text}\n\nThe end of it."


def lines_at(xs: Sequence[float], ys: Sequence[float]) -> str:
    """The rulings of a table with these columns and rows."""
    down = [f"{x} {ys[0]} m {x} {ys[-1]} l S" for x in xs]
    return " ".join([*down, *(f"{xs[0]} {y} m {xs[-1]} {y} l S" for y in ys)])


WRAPPED = [
    Typed(72, 710, "Before it."),
    *(Typed(x, 685, head) for x, head in ((75, "ID"), (145, "Risk"), (305, "Owner"))),
    *typed(["Late delivery", "of pumps"], x=145, top=665),
    Typed(75, 658, "R-1"), *typed(["Nadja", "Kern"], x=305, top=665),
    *typed(["R-", "2"], x=75, top=625), Typed(145, 618, "Fire"), Typed(305, 618, "Urs Graf"),
    Typed(72, 580, "After it."),
]  # fmt: skip


@pytest.mark.parametrize(
    "drawn",
    [
        lines_at([72, 140, 300, 400], [605, 640, 680, 700]),
        # frames of the cells, as in a table of a browser
        " ".join(
            f"{x} {y} {width} {height} re S"
            for y, height in ((605, 35), (640, 40), (680, 20))
            for x, width in ((72, 68), (140, 160), (300, 100))
        ),
    ],
)
def test_wrapped_cells_of_a_ruled_table_stay_in_their_rows(drawn: str) -> None:
    assert read_pdf(pdf([WRAPPED], drawn=drawn), "x").text == (
        "## Page 1\n\nBefore it.\n\n| ID | Risk | Owner |\n| --- | --- | --- |\n"
        "| R-1 | Late delivery of pumps | Nadja Kern |\n| R-2 | Fire | Urs Graf |\n\nAfter it."
    )


@pytest.mark.parametrize("is_figure", [False, True])
def test_rulings_in_a_form_that_is_no_figure_make_a_table(is_figure: bool) -> None:
    form = lines_at([36, 70, 150, 200], [302.5, 320, 340, 350])
    form += " BT /F1 9 Tf 10 10 Td (1) Tj ET" if is_figure else ""
    data = pdf([WRAPPED], drawn="q 2 0 0 2 0 0 cm /X Do Q", form=form)
    assert ("| R-1 | Late delivery of pumps |" in read_pdf(data, "x").text) is not is_figure


PRICES = [
    [["Article"], ["Use"], ["Price"]],
    [["A-1"], ["Doors that stay", "open all day"], ["12", "euros"]],
    [["A-2"], ["Gates"], ["30", "euros"]],
    [["A-3"], ["Roofs of sheds", "and stables"], ["45", "euros"]],
]
ROWS = [700, 680, 644, 608, 572]  # their upper edges, and the lowest edge


def written(rows: Sequence[Sequence[Sequence[str]]], *, by_line: bool = False) -> list[Typed]:
    """A table without rulings as programs write it: cell by cell, or line by line."""
    found = [
        (row, number, Typed(72 + 120 * column, ROWS[row] - 14 - 12 * number, line))
        for row, cells in enumerate(rows)
        for column, lines in enumerate(cells)
        for number, line in enumerate(lines)
    ]
    if by_line:
        found.sort(key=lambda each: each[:2])
    return [
        Typed(72, 730, "Before it."),
        *(each for *_, each in found),
        Typed(72, 540, "After it."),
    ]


@pytest.mark.parametrize(
    ("by_line", "drawn"),
    [
        (False, ""),
        # a rule below each row
        *((by_line, " ".join(f"70 {y} m 400 {y} l S" for y in ROWS[1:])) for by_line in (0, 1)),
        # every second row on a background
        *(
            (by_line, "0.9 g 70 644 330 36 re f 70 572 330 36 re f 0 g")
            for by_line in (False, True)
        ),
    ],
)
def test_wrapped_cells_without_ruled_columns_stay_in_their_rows(by_line: bool, drawn: str) -> None:
    assert read_pdf(pdf([written(PRICES, by_line=by_line)], drawn=drawn), "x").text == (
        "## Page 1\n\nBefore it.\n\n| Article | Use | Price |\n| --- | --- | --- |\n"
        "| A-1 | Doors that stay open all day | 12 euros |\n| A-2 | Gates | 30 euros |\n"
        "| A-3 | Roofs of sheds and stables | 45 euros |\n\nAfter it."
    )


def test_a_last_cell_goes_on_below_its_row() -> None:
    rows = [[cells[0], cells[2][:1], cells[1]] for cells in PRICES]
    assert read_pdf(pdf([written(rows)]), "x").text == (
        "## Page 1\n\nBefore it.\n\n| Article | Price | Use |\n| --- | --- | --- |\n"
        "| A-1 | 12 | Doors that stay open all day |\n| A-2 | 30 | Gates |\n"
        "| A-3 | 45 | Roofs of sheds and stables |\n\nAfter it."
    )


def test_rows_that_are_uncertain_are_not_joined() -> None:
    text = read_pdf(pdf([written(PRICES, by_line=True)]), "x").text
    assert "| A-1 | Doors that stay | 12 |" in text
    assert "Doors that stay open" not in text


def test_a_ruled_cell_that_spans_rows_is_repeated() -> None:
    words = [
        *(Typed(75, y, text) for y, text in ((685, "Depot"), (645, "Rostock"))),
        *(Typed(175, y, text) for y, text in ((685, "Plate"), (665, "HRO 1"), (645, "HRO 2"))),
    ]
    drawn = lines_at([72, 170, 300], [640, 680, 700]) + " 170 660 m 300 660 l S"
    assert read_pdf(pdf([words], drawn=drawn), "x").text == (
        "## Page 1\n\n| Depot | Plate |\n| --- | --- |\n| Rostock | HRO 1 |\n| Rostock | HRO 2 |"
    )


def test_a_frame_is_no_table() -> None:
    words = typed(["A remark in a frame,", "in two lines."])
    assert read_pdf(pdf([words], drawn=lines_at([60, 400], [670, 720])), "x").text == (
        "## Page 1\n\nA remark in a frame, in two lines."
    )


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ((200, 698, "ThinkPad"), "Laptop model: ThinkPad\n\nThe end of it."),
        ((72, 684, "ThinkPad"), "Laptop model: ThinkPad\n\nThe end of it."),
        ((300, 650, "ThinkPad"), "Laptop model:\n\nf0: ThinkPad\n\nThe end of it."),
        ((200, 698, ""), "Laptop model:\n\nThe end of it."),
    ],
)
def test_what_is_filled_in_is_behind_its_label(field: tuple[float, float, str], text: str) -> None:
    data = pdf(
        [[Typed(72, 700, "Laptop model:"), Typed(72, 600, "The end of it.")]], fields=[field]
    )
    assert read_pdf(data, "x").text == f"## Page 1\n\n{text}"


def test_fields_of_a_form_in_a_ruled_table_are_in_its_cells() -> None:
    labels = [Typed(75, 685, "Model"), Typed(75, 645, "Parking"), Typed(200, 645, "needed")]
    data = pdf(
        [labels],
        drawn=lines_at([72, 170, 400], [640, 680, 700]),
        fields=[(175, 682, "ThinkPad")],
        boxes=[(180, 643, True)],
    )
    assert read_pdf(data, "x").text == (
        "## Page 1\n\n| Model | ThinkPad |\n| --- | --- |\n| Parking | ☑ needed |"
    )


def test_a_watermark_is_told_once_and_is_no_title() -> None:
    mark = Typed(150, 300, "D R A F T", size=80, angle=0.9)
    pages = [
        [
            mark,
            Typed(72, 740, "Remote work", size=20),
            *typed([f"Page {n} is set in small letters."]),
        ]
        for n in "ab"
    ]
    reading = read_pdf(pdf(pages), "x")
    assert reading.title == "Remote work"
    assert reading.text == (
        "## Page 1\n\nWatermark: DRAFT\n\n### Remote work\n\nPage a is set in small letters.\n\n"
        "## Page 2\n\n### Remote work\n\nPage b is set in small letters."
    )


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ("/Subtype /Stamp /Name /Draft", "Stamp: Draft\n\nA word."),
        ("/Subtype /Stamp /Name /SBNotApproved", "Stamp: Not Approved\n\nA word."),
        ("/Subtype /Stamp /Name /x1 /Contents (VOID)", "Stamp: VOID\n\nA word."),
        ("/Subtype /Watermark /Contents (DRAFT)", "Stamp: DRAFT\n\nA word."),
        ("/Subtype /Stamp /Name /Draft /F 2", "A word."),  # hidden
        ("/Subtype /FreeText /Contents (Ask\rAda.)", "A word.\n\nAsk Ada."),
        ("/Subtype /FreeText /Contents (Ask Ada.) /F 32", "A word."),  # not on the screen
        ("/Subtype /Text /Contents (Ask Ada.)", "A word."),  # only an icon is seen
    ],
)
def test_stamps_and_notes_on_a_page_are_text(entries: str, text: str) -> None:
    data = pdf([[Typed(72, 700, "A word.")]], notes=[f"/Rect [72 600 172 620] {entries}"])
    assert read_pdf(data, "x").text == f"## Page 1\n\n{text}"


def test_a_note_above_the_text_or_in_a_cell_is_read_there() -> None:
    note = "/Subtype /FreeText /Contents (Ask Ada.) /Rect [180 {} 280 {}]"
    drawn = lines_at([72, 170, 400], [640, 680, 700])
    words = [Typed(75, 685, "Model"), Typed(175, 685, "T"), Typed(75, 645, "Parking")]
    data = pdf([words], drawn=drawn, notes=[note.format(730, 745), note.format(645, 655)])
    assert read_pdf(data, "x").text == (
        "## Page 1\n\nAsk Ada.\n\n| Model | T |\n| --- | --- |\n| Parking | Ask Ada. |"
    )


def test_a_picture_with_a_note_is_still_a_page_without_text() -> None:
    note = "/Subtype /FreeText /Contents (Ask Ada.) /Rect [72 600 172 620]"
    reading = read_pdf(pdf([[]], drawn="0 0 m 9 9 l S", notes=[note]), "x")
    assert (reading.text, reading.omitted) == ("## Page 1\n\nAsk Ada.", {"textless page": 1})


def test_a_watermark_that_crosses_a_line_is_not_part_of_it() -> None:
    mark = Typed(120, 250, "CONFIDENTIAL", size=80, angle=math.pi / 4)
    reading = read_pdf(pdf([[*typed(["The ride costs 29 francs."]), mark]]), "x")
    assert reading.text == "## Page 1\n\nWatermark: CONFIDENTIAL\n\nThe ride costs 29 francs."


def test_a_page_without_text_is_counted() -> None:
    pages: list[list[Typed]] = [[Typed(72, 700, "A word.")], []]
    assert read_pdf(pdf(pages, drawn="0 0 m 9 9 l S"), "x").omitted == {"textless page": 1}
    assert read_pdf(pdf(pages), "x").omitted == {}  # empty


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("רפס", "ספר"),
        ("ספר טוב", "בוט רפס"),
        (".בוט רפס", "ספר טוב."),
        # Latin words and figures are read from left to right
        ("SAP X תכרעמב", "במערכת SAP X"),
        (".me@home.org תבותכל בותכ", "כתוב לכתובת me@home.org."),
        ("X-200 הבאשמ", "משאבה X-200"),
        (".31/12/2025 דע", "עד 31/12/2025."),
        ("25% דע", "עד 25%"),
        # the signs that are seen, and those that the text behind them has
        ("(בוט) רפס", "ספר (טוב)"),
        (")בוט( רפס", "ספר (טוב)"),
        # words within a Latin line
        ("The word םולש means, and םלוע םולש too.", "The word שלום means, and שלום עולם too."),
    ],
)
def test_words_from_right_to_left_are_read_in_their_order(shown: str, read: str) -> None:
    assert read_pdf(pdf([typed([shown])]), "x").text == f"## Page 1\n\n{read}"


def test_two_columns_are_read_one_after_the_other() -> None:
    left = typed(["The left column begins here", "and its last sentence goes on"], x=72)
    right = typed(["in the right one. Then it", "ends."], x=320)
    assert body_text(left + right) == (
        "The left column begins here and its last sentence goes on in the right one. Then it ends."
    )


def body_text(page: list[Typed]) -> str:
    return text_of(page).removeprefix("## Page 1\n\n")


# ---------------------------------------------------------------- several pages


def test_running_headers_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            Typed(72, 760, "Coast Journal 2025", 9),
            *typed([f"Page {word} has text of its own."]),
            Typed(300, 40, f"{number} of 4", 9),
        ]
        for number, word in enumerate(["one", "two", "three", "four"], 1)
    ]
    assert text_of(*pages) == "\n\n".join(
        f"## Page {number}\n\nPage {word} has text of its own."
        for number, word in enumerate(["one", "two", "three", "four"], 1)
    )


def test_figures_in_the_same_place_of_each_page_are_no_page_numbers() -> None:
    pages = [typed([f"In {1900 + 7 * n * n} it had {n * n} boats."]) for n in range(5)]
    assert text_of(*pages).count("boats") == 5


def test_pages_that_are_all_alike_are_kept() -> None:
    assert text_of(*[typed(["The form."])] * 5).count("The form.") == 5


@pytest.mark.parametrize(
    ("first", "second", "pages"),
    [
        ("It begins here and", "ends there. Then more.",
         ("It begins here and ends there.", "Then more.")),
        ("It is divi-", "ded. Then more.", ("It is divided.", "Then more.")),
        ("北京是中华人民共和国的首都，位于", "华北平原的北部边缘。人口超过两千万。",
         ("北京是中华人民共和国的首都，位于华北平原的北部边缘。", "人口超过两千万。")),
        ("It ends here.", "then in lower case.", ("It ends here.", "then in lower case.")),
        ("A title", "A new sentence.", ("A title", "A new sentence.")),
    ],
)  # fmt: skip
def test_a_sentence_belongs_to_the_page_where_it_begins(
    first: str, second: str, pages: tuple[str, str]
) -> None:
    assert text_of(typed([first]), typed([second])) == (
        f"## Page 1\n\n{pages[0]}\n\n## Page 2\n\n{pages[1]}"
    )


# ---------------------------------------------------------------- titles


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("The Light of 北京", "The Light of 北京"),
        ("Microsoft Word - report.doc", "Construction"),
        ("report_final.docx", "Construction"),
        ("Untitled", "Construction"),
        ("", "Construction"),
    ],
)
def test_the_title_is_what_the_document_says_or_its_largest_line(said: str, title: str) -> None:
    page = [Typed(72, 740, "Construction", 18), *typed(PROSE)]
    assert from_bytes(pdf([page], title=said), None, "x/report.pdf").title == title


def test_without_any_title_the_file_name_is_it() -> None:
    assert from_bytes(pdf([typed(PROSE)]), None, "https://a.example/x/report.pdf").title == (
        "report.pdf"
    )


# ---------------------------------------------------------------- what cannot be read


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (pdf([typed(PROSE)], locked=True), "locked with a password; give a version without one"),
        (pdf([[], []]), r"pictures without text; give a version .* \(OCR\)"),
        (b"%PDF-1.7\nnothing", "a broken PDF document; give another copy"),
        (b"%PDF-", "a broken PDF document"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(data: bytes, sentence: str) -> None:
    with pytest.raises(PageUnreadable, match=rf"^https://a\.example/x\.pdf is .*{sentence}"):
        from_bytes(data, "application/pdf", "https://a.example/x.pdf")


def test_a_long_document_says_which_pages_were_not_read() -> None:
    text = text_of(*[typed([f"Words of {n}."]) for n in range(MOST_PAGES + 2)])
    assert f"## Page {MOST_PAGES}\n" in text
    assert text.endswith(f"## Pages {MOST_PAGES + 1} to {MOST_PAGES + 2} were not read")


WHOLE = pdf([[Typed(72, 740, "Light", 18), *typed(PROSE)], typed(["北京是首都。"])], title="T")


@settings(max_examples=60)
@given(st.integers(0, len(WHOLE)), st.binary(max_size=40), st.integers(0, 200))
def test_damaged_documents_are_read_or_refused(at: int, junk: bytes, cut: int) -> None:
    data = b"%PDF-1.7\n" + WHOLE[9:at] + junk + WHOLE[at + cut :]
    try:
        extracted = from_bytes(data, "application/pdf", "x.pdf")
    except PageUnreadable:
        return
    assert extracted.text


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 600), st.floats(0, 780),
            st.text(st.sampled_from("ab .-北|#•1"), min_size=1, max_size=12), st.floats(4, 30),
        ),
        max_size=15,
    )
)  # fmt: skip
def test_type_anywhere_on_a_page_loses_no_letter(
    pieces: list[tuple[float, float, str, float]],
) -> None:
    page = [Typed(x, y, text, size) for x, y, text, size in pieces]
    try:
        text = text_of(page)
    except PageUnreadable:
        return
    expected = sum(piece.text.count("a") + piece.text.count("北") for piece in page)
    seen = text.replace("## Page", "")
    assert seen.count("a") + seen.count("北") <= expected


# ---------------------------------------------------------------- scans


def test_pages_without_text_become_pictures_with_their_labels() -> None:
    found, left = scans_in(scanned(["The first page.", "Die zweite: größer.", "第三頁"]), "x.pdf")
    assert [(label, seen(picture)) for label, picture in found] == [
        ("1", "The first page."),
        ("2", "Die zweite: größer."),
        ("3", "第三頁"),
    ]
    assert left == 0
    for _, data in found:
        picture = picture_in(data)
        assert picture is not None
        assert max(picture.width, picture.height) == SCAN_SIDE


def test_pages_with_text_and_empty_pages_are_no_scans() -> None:
    assert scans_in(pdf([typed(PROSE), []]), "x.pdf") == ([], 0)


def test_scans_beyond_the_limit_are_counted() -> None:
    found, left = scans_in(scanned([f"Page {n}" for n in range(MOST_SCANS + 3)]), "x.pdf")
    assert [seen(found[0][1]), seen(found[-1][1])] == ["Page 0", f"Page {MOST_SCANS - 1}"]
    assert left == 3


def test_a_locked_document_has_no_scans() -> None:
    with pytest.raises(PageUnreadable):
        scans_in(pdf([typed(PROSE)], locked=True), "x.pdf")


@settings(max_examples=30)
@given(st.integers(0, 2_000), st.binary(max_size=40), st.integers(0, 200))
def test_damaged_scans_are_rendered_or_refused(at: int, junk: bytes, cut: int) -> None:
    whole = scanned(["One page"])
    try:
        found, _ = scans_in(b"%PDF-1.7\n" + whole[9:at] + junk + whole[at + cut :], "x.pdf")
    except PageUnreadable:
        return
    assert all(picture_in(picture) for _, picture in found)

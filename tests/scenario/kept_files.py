"""Small files as teams have them, each with questions and what is right and wrong about them.

They were written before the readers were looked at. Of the 120 questions, five expectations and the
Arabic file were corrected after the first answers. A reader that fails one is mended for its kind.
All that they tell is invented.
"""

from __future__ import annotations

import io
import json
import math
import textwrap
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any

import openpyxl  # type: ignore[import-untyped]
from docx import Document
from docx.oxml import parse_xml
from openpyxl.cell.rich_text import CellRichText, TextBlock  # type: ignore[import-untyped]
from openpyxl.cell.text import InlineFont  # type: ignore[import-untyped]
from openpyxl.styles import Font  # type: ignore[import-untyped]
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from tests.fakes.pdf import Typed, pdf, typed


# fmt: off
@dataclass(frozen=True, slots=True)
class Ask:
    """A question, what its answer quotes, and what it must not.

    ``wrong`` stands nowhere in the answer; ``later`` only behind ``right``, if at all.
    """

    question: str
    right: str
    wrong: tuple[str, ...] = ()
    later: str = ""

@dataclass(frozen=True, slots=True)
class Case:
    """A folder of one to four files, by their paths in it; ``attached`` is the only one given."""

    kind: str
    name: str
    files: Mapping[str, str | bytes]
    asks: tuple[Ask, ...]
    attached: str = ""

CASES: list[Case] = []

def case(
    kind: str, name: str, files: Mapping[str, str | bytes], *asks: Ask, attached: str = ""
) -> None:
    CASES.append(Case(kind, name, files, asks, attached))

def text(lines: str) -> str:
    return textwrap.dedent(lines).strip() + "\n"

# Word

_W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
)

def run(words: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{words}</w:t></w:r>'

def word(title: str, *paragraphs: str) -> bytes:
    """A Word file; each paragraph is given as its runs."""
    document = Document()
    document.add_heading(title, 0)
    for paragraph in paragraphs:
        document.element.body[-1].addprevious(parse_xml(f"<w:p {_W}>{paragraph}</w:p>"))
    return _saved(document)

def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()

def control(ticked: bool) -> str:
    sign = "☒" if ticked else "☐"
    return (
        f'<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{int(ticked)}"/></w14:checkbox>'
        f"</w:sdtPr><w:sdtContent>{run(sign)}</w:sdtContent></w:sdt>"
    )

def legacy(ticked: bool) -> str:
    return (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:sizeAuto/>'
        f'<w:default w:val="0"/><w:checked w:val="{int(ticked)}"/></w:checkBox></w:ffData>'
        "</w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )

def wingdings(code: str) -> str:
    return f'<w:r><w:sym w:font="Wingdings" w:char="{code}"/></w:r>'

def sheets(**filled: Callable[[Any], None] | Sequence[Sequence[Any]]) -> bytes:
    """An Excel file: each sheet by its rows, or by a function that fills it."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, fill in filled.items():
        sheet = book.create_sheet(name.replace("_", " "))
        if callable(fill):
            fill(sheet)
        else:
            for row in fill:
                sheet.append(row)
    return _saved(book)

def slides(*fills: Callable[[Any], None]) -> bytes:
    """A PowerPoint file; each function fills a slide with a title and a body."""
    deck = Presentation()
    for fill in fills:
        fill(deck.slides.add_slide(deck.slide_layouts[1]))
    return _saved(deck)

def slide(title: str, *lines: str, notes: str = "", shown: bool = True) -> Callable[[Any], None]:
    def fill(one: Any) -> None:
        one.shapes.title.text = title
        one.placeholders[1].text = "\n".join(lines)
        if notes:
            one.notes_slide.notes_text_frame.text = notes
        if not shown:
            one._element.set("show", "0")

    return fill

def opendocument(body: str, automatic: str = "") -> bytes:
    """An OpenDocument text."""
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(f'xmlns:{n}="{urn}:{n}:1.0"' for n in ("office", "text", "table", "style"))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr("content.xml",
            f"<office:document-content {names}><office:automatic-styles>{automatic}"
            f"</office:automatic-styles><office:body><office:text>{body}</office:text>"
            "</office:body></office:document-content>")
    return file.getvalue()

def mail(sender: str, subject: str, date: str, body: str, **attached: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = sender, "all@example.org"
    message["Subject"], message["Date"] = subject, date
    message.set_content(text(body))
    for name, content in attached.items():
        message.add_attachment(content, filename=name.replace("_", "."))
    return message

# Tick boxes

case("tick boxes", "word-controls", {"handover.docx": word("Handover of the bakery", control(True)
        + run(" Keys handed over"), control(False) + run(" Oven inspected"), control(True) + run(
        " Cash register counted"))},
    Ask("Has the oven been inspected?", "☐ Oven inspected", ("☑ Oven", "☒ Oven")),
    Ask("Was the cash register counted?", "☑ Cash register counted"))
case("tick boxes", "word-legacy", {"intake.docx": word("Intake form of the animal shelter", run(
        "Vaccinated against rabies: ") + legacy(False) + run(" yes ") + legacy(True) + run(" no"),
        run("Neutered: ") + legacy(True) + run(" yes ") + legacy(False) + run(" no"))},
    Ask("Is the animal vaccinated against rabies?", "☐ yes ☑ no", ("rabies: ☑ yes",)))
case("tick boxes", "word-wingdings", {"checklist.docx": word(
        "Opening checklist of the swimming pool", wingdings("F0FE") + run(" Water tested"),
        wingdings("F0A8") + run(" Slide released"))},
    Ask("Is the slide released?", "☐ Slide released", ("☑ Slide",)),
    Ask("Was the water tested?", "☑ Water tested"))
case("tick boxes", "html-inputs", {"station.html": text("""
    <!doctype html><html><head><title>Station equipment</title></head><body><main> <h1>Station
    equipment</h1><form> <p><label><input type="checkbox" checked disabled> Defibrillator on
    site</label></p> <p><label><input type="checkbox" disabled> Lift in service</label></p>
    <p>Fuel: <label><input type="radio" name="f"> diesel</label> <label><input type="radio"
    name="f" checked> biogas</label></p> </form></main></body></html>""")},
    Ask("Is the lift in service?", "☐ Lift in service", ("☑ Lift",)),
    Ask("Which fuel does the station use?", "biogas", ("☑ diesel", "● diesel", "◉ diesel")))
case("tick boxes", "gitlab-export", {"issue-88.html": text("""
    <html><head><title>Move of the archive</title></head><body><article> <h1>Move of the
    archive</h1><ul class="task-list" dir="auto"> <li
    class="task-list-item"><task-button></task-button><input type="checkbox"
    class="task-list-item-checkbox" checked disabled> Rent the van</li> <li
    class="task-list-item"><task-button></task-button><input type="checkbox"
    class="task-list-item-checkbox" disabled> Label the boxes</li> <li
    class="task-list-item"><input type="checkbox" data-inapplicable
    class="task-list-item-checkbox" disabled> <s>Hire guards</s></li>
    </ul></article></body></html>""")},
    Ask("Are the boxes labelled?", "☐ Label the boxes", ("☑ Label",)),
    Ask("Has the van been rented?", "☑ Rent the van"))
case("tick boxes", "notion-export", {"Trade fair 3f9ad1c7b2e84d0a9b6c5d4e3f2a1b0c.html": text("""
    <html><head><title>Trade fair</title></head><body><article class="page sans"> <header><h1
    class="page-title">Trade fair</h1></header><div class="page-body"> <ul
    class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span
    class="to-do-children-checked">Book the stand</span></li></ul> <ul
    class="to-do-list"><li><div class="checkbox checkbox-off"></div> <span
    class="to-do-children-unchecked">Print the flyers</span></li></ul>
    </div></article></body></html>""")},
    Ask("Are the flyers printed?", "☐ Print the flyers", ("☑ Print",)),
    Ask("Is the stand booked?", "☑ Book the stand"))
case("tick boxes", "confluence-export", {"Audit_4411.html": text("""
    <html><head><title>Operations : Audit</title></head><body><div id="main-content"
    class="wiki-content group"><p>Open points of the audit:</p> <ul class="inline-task-list"
    data-inline-tasks-content-id="4411"> <li class="checked" data-inline-task-id="1">Renew the
    certificate</li> <li data-inline-task-id="2">Update the risk
    register</li></ul></div></body></html>""")},
    Ask("Is the risk register updated?", "☐ Update the risk register", ("☑ Update",)),
    Ask("Has the certificate been renewed?", "☑ Renew the certificate"))
case("tick boxes", "markdown", {"launch.md": text("""
    # Launch of the ferry line

    1. [x] Permit of the port
    2. [ ] Insurance of the hull
       - [X] Quote of Nordassekuranz
       - [ ] Signature

    | Task | Done |
    |---|:-:|
    | Paint the hull | [ ] |
    | Train the crew | [x] |""")},
    Ask("Is the insurance of the hull settled?", "☐ Insurance of the hull", ("☑ Insurance",)),
    Ask("Has the hull been painted?", "Paint the hull | ☐", ("Paint the hull | ☑",)))
case("tick boxes", "pdf-form", {"permit.pdf": pdf([[*typed(["Permit for hot work"], top=740), Typed
        (92, 700, "Extinguisher at hand"), Typed(92, 680, "Gas measured")]], boxes=[(72, 698, True
        ), (72, 678, False)])}, Ask("Was the gas measured?", "☐ Gas measured", ("☑ Gas",)),
    Ask("Is an extinguisher at hand?", "☑ Extinguisher at hand"))
def _wingdings_cells(sheet: Any) -> None:
    for row in [("Room", "Cleaned"), ("Aula", "þ"), ("Library", "¨"), ("Gym", "ý")]:
        sheet.append(row)
    for cell in ("B2", "B3", "B4"):
        sheet[cell].font = Font(name="Wingdings")
case("tick boxes", "excel", {"rooms.xlsx": sheets(Cleaning=_wingdings_cells, Keys=[("Key",
        "Returned"), ("Boathouse", True), ("Attic", False)])},
    Ask("Is the library cleaned?", "Library | ☐", ("Library | ☑", "¨")),
    Ask("Was the key of the attic returned?", "FALSE", ("Attic | TRUE", "Attic | 1")))

# Struck-out text
case("struck", "word", {"terms.docx": word("Terms of the climbing hall", run(
        "The day ticket costs ") + run("14 euros", "<w:strike/>") + run(" 17 euros."), run(
        "Shoes may be borrowed for free.", "<w:dstrike/>"), run("Lessons begin at ") + run("18:00"
        , '<w:strike w:val="0"/>') + run(" sharp."))},
    Ask("What does the day ticket of the climbing hall cost?", "17 euros", ("ticket costs 14",)),
    Ask("When do lessons begin?", "18:00", ("\nShoes may be borrowed for free.",)))
case("struck", "word-tracked", {"lease.docx": word("Lease of the workshop", run("The rent is ") +
        '<w:del w:id="1" w:author="P"><w:r><w:delText>820</w:delText></w:r></w:del>' +
        f'<w:ins w:id="2" w:author="P">{run("905")}</w:ins>' + run(" euros a month."))},
    Ask("How much is the rent of the workshop?", "905 euros", ("820905", "rent is 820 euros")))
def _struck_slide(one: Any) -> None:
    one.shapes.title.text = "Regatta"
    paragraph = one.placeholders[1].text_frame.paragraphs[0]
    for words, struck in [("The start is at ", False), ("9:15", True), (" 10:45.", False)]:
        piece = paragraph.add_run()
        piece.text = words
        if struck:
            piece._r.get_or_add_rPr().set("strike", "sngStrike")
case("struck", "powerpoint", {"regatta.pptx": slides(_struck_slide)},
    Ask("When is the start of the regatta?", "10:45", ("start is at 9:15",)))
def _struck_cells(sheet: Any) -> None:
    for row in [("Item", "Price (EUR)"), ("Kayak", 45), ("Canoe", 60), ("Pedalo", None)]:
        sheet.append(row)
    sheet["A3"].font = sheet["B3"].font = Font(strike=True)
    sheet["B4"] = CellRichText(TextBlock(InlineFont(strike=True), "25"), " 32")
case("struck", "excel", {"rental.xlsx": sheets(Rental=_struck_cells)},
    Ask("What is the price of the pedalo?", "32", ("Pedalo | 25 32", "Pedalo | 25 |")),
    Ask("What is the price of a canoe?", "", ("Canoe | 60",)))
case("struck", "html-css", {"menu.html": text("""
    <html><head><title>Menu</title><style>.gone { text-decoration: line-through } .price {
    color: navy }</style></head><body><main><h1>Menu of the mountain hut</h1> <p>The barley soup
    costs <span class="gone">8 francs</span> <span class="price">11 francs</span>.</p> <p
    class="gone">Dogs sleep in the dormitory.</p></main></body></html>""")},
    Ask("What does the barley soup cost?", "11 francs", ("costs 8 francs",)),
    Ask("Where do dogs sleep?", "", ("\nDogs sleep in the dormitory.",)))
case("struck", "html-and-markdown", {"parking.html":
        "<html><head><title>Parking</title></head><body><main><h1>Parking</h1>"
        "<p>Visitors park on <del>deck B</del> <ins>deck D</ins>. The barrier closes at <s>21:00"
        "</s> 22:30.</p></main></body></html>",
        "bikes.md": "# Bikes\n\nThe bike cellar has ~~40~~ 64 places.\n"},
    Ask("On which deck do visitors park?", "deck D", ("park on deck B",)),
    Ask("How many places does the bike cellar have?", "64 places", ("has 40",)))

# Hidden
case("hidden", "slides", {"board.pptx": slides(slide("Harbour project",
        "The quay is finished in October."), slide("Harbour layoffs",
        "The harbour closes berth 7.", shown=False))},
    Ask("When is the quay finished?", "October", ("berth 7",)),
    Ask("Which berth does the harbour close?", "", ("closes berth 7",)))
def _hidden_cells(sheet: Any) -> None:
    for row in [
        ("Vineyard", "Hectares", "Margin"),
        ("Sonnberg", 12, "31 %"),
        ("Kaltenbach", 9, "44 %"),
        ("Rosshang", 17, "29 %"),
    ]:
        sheet.append(row)
    sheet.column_dimensions["C"].hidden = True
    sheet.row_dimensions[3].hidden = True
def _hidden_sheet(sheet: Any) -> None:
    sheet.append(("Grower", "Salary"))
    sheet.append(("Vinzenz", 51200))
    sheet.sheet_state = "hidden"
case("hidden", "excel", {"vineyards.xlsx": sheets(Area=_hidden_cells, Salaries=_hidden_sheet)},
    Ask("How many hectares has the vineyard Rosshang?", "17", ("29 %", "Kaltenbach", "51200")),
    Ask("What is the salary of the grower Vinzenz?", "", ("51200", "51,200")))
case("hidden", "word-text", {"offer.docx": word("Offer for the roof", run(
        "The roof costs 18,400 euros. ") + run("Lowest price 15,900 euros.", "<w:vanish/>"))},
    Ask("What is the price of the roof?", "18,400 euros", ("15,900",)))
case("hidden", "html", {"clinic.html": text("""
    <html><head><title>Clinic</title></head><body><main><h1>Clinic</h1> <p>Visiting hours end at
    19:30.</p> <p style="display:none">Visiting hours end at 17:00.</p> <div hidden>Visiting
    hours end at 16:00.</div> <!-- Visiting hours end at 15:00. --></main></body></html>""")},
    Ask("When do visiting hours end?", "19:30", ("17:00", "16:00", "15:00")))
case("hidden", "obsidian-and-mdx", {"vault/Heron.md": text("""
    ---
    aliases: [HRN]
    ---
    # Heron

    Heron ships on 3 September. %% really November %%

    %%
    The budget of Heron is 70,000 euros.
    %%"""),
        "site/limits.mdx": text("""
    import Note from '../Note.astro'
    export const limit = 12

    # Upload limits

    {/* The upload limit was 40 MB. */}
    <Note type="warning">An upload may have 90 MB.</Note>

    <!-- An upload may have 20 MB. -->""")},
    Ask("When does Heron ship?", "3 September", ("November",)),
    Ask("What is the budget of Heron?", "", ("70,000",)),
    Ask("How large may an upload be?", "90 MB", ("40 MB", "20 MB", "import Note")))

# What does not hold
case("state", "draft", {"dress-code.md":
        "---\nstatus: approved\n---\n# Dress code\n\nHelmets are worn in hall 3.\n",
        "dress-code-new.md":
        "---\nstatus: draft\n---\n# Dress code\n\nHelmets are worn in hall 9.\n"},
    Ask("In which hall are helmets worn?", "hall 3", later="hall 9"))
case("state", "deprecated", {"auth-v1.md": text("""
    # Sign-in

    > [!CAUTION]
    > **Deprecated.** Use sign-in with passkeys.

    The token of the sign-in lives 24 hours."""),
        "auth-v2.md": "# Sign-in with passkeys\n\nThe token of the sign-in lives 15 minutes.\n"},
    Ask("How long does the token of the sign-in live?", "15 minutes", later="24 hours"))
case("state", "archived", {"archive/2022/courier.md":
        "# Courier\n\nThe courier collects parcels at 14:20.\n",
        "office/courier.md": "# Courier\n\nThe courier collects parcels at 16:50.\n"},
    Ask("When does the courier collect parcels?", "16:50", later="14:20"))
case("state", "superseded", {"adr-004.md":
        "# 4. Message broker\n\nStatus: Superseded by ADR 11\n\nThe message broker"
        " is RabbitMQ.\n",
        "adr-011.md": "# 11. Message broker\n\nStatus: Accepted\n\nThe message broker is NATS.\n"},
    Ask("Which message broker do we use?", "NATS", later="RabbitMQ"))
case("state", "expired-german", {"jobticket-alt.md":
        "# Jobticket\n\nGültig bis 31.12.2024.\n\nDer Zuschuss zum Jobticket"
        " beträgt 20 Euro im Monat.\n",
        "jobticket.md": "# Jobticket\n\nGültig ab 1. Januar 2025.\n\nDer Zuschuss zum Jobticket"
        " beträgt 35 Euro im Monat.\n"},
    Ask("Wie hoch ist der Zuschuss zum Jobticket?", "35 Euro", later="20 Euro"))
case("state", "current", {f"fees-{year}.md":
        f"# Fees {year}\n\nEffective from 1 January {year}.\n\n"
        f"The mooring fee is {fee} euros a night.\n" for year, fee in [(2023, 21), (2025, 26), (
        2040, 38)]}, Ask("What is the current mooring fee?", "26 euros", later="21 euros"),
    Ask("What was the mooring fee in 2023?", "21 euros", later="26 euros"))
case("state", "several-values", {"kitchen.md":
        "# Kitchen\n\nThe fire extinguishers are checked every 2 years.\n",
        "safety.docx": word("Safety", run("The fire extinguishers are checked every 18 months."))},
    Ask("How often are the fire extinguishers checked?", "every 2 years"),
    Ask("How often are the fire extinguishers checked?", "every 18 months"))

# Structure
case("structure", "front-matter", {"runbooks/billing.md": text("""
    ---
    title: Billing service
    owner: Hyun-woo Park
    tier: 2
    oncall: "+49 30 5550 114"
    ---
    Restart the billing service with the button in the console."""),
        "runbooks/search.md": "---\ntitle: Search service\nowner: Ilse Brandt\n---\nRebuild it.\n"
        }, Ask("Who is the owner of the billing service?", "Hyun-woo Park", later="Ilse Brandt"))
case("structure", "folders", {"clients/Nordwind/terms.md":
        "# Terms\n\nThe discount is 4 percent.\n",
        "clients/Suedlicht/terms.md": "# Terms\n\nThe discount is 9 percent.\n"},
    Ask("What discount does Suedlicht get?", "9 percent", later="4 percent"))
case("structure", "links-and-pictures", {"welcome.md": text("""
    # Welcome

    The holiday calendar is [here](https://cal.example.org/holidays-2026).

    ![Floor plan: the first-aid room is next to lift 4](floor.png)"""),
        "team.html": "<html><head><title>Team</title></head><body><main><h1>Team</h1><p>The rota "
        'of the night shift is <a href="https://rota.example.org/night">in this file</a>.</p><img '
        'src="o.png" alt="Organisation chart: Mira Stahl leads logistics"></main></body></html>'},
    Ask("Where is the holiday calendar?", "cal.example.org/holidays-2026"),
    Ask("Where is the first-aid room?", "next to lift 4"),
    Ask("Where is the rota of the night shift?", "rota.example.org/night"),
    Ask("Who leads logistics?", "Mira Stahl"))
def _chart(one: Any) -> None:
    one.shapes.title.text = "Beehives by village"
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Talheim", "Obersee", "Grund"]
    data.add_series("Beehives 2025", (114, 87, 203))  # type: ignore[no-untyped-call]
    one.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(6), Inches(4), data
    )
case("structure", "slides", {"bees.pptx": slides(_chart, slide("Honey", "Sales grow.", notes=
        "Say that the jar costs 7.80 euros."))}, Ask("How many beehives are in Obersee?", "87"),
    Ask("What does the jar of honey cost?", "7.80 euros"))
case("structure", "definitions-and-captions", {"terms.html": text("""
    <html><head><title>Terms of the mill</title></head><body><main> <h1>Terms of the
    mill</h1><dl><dt>Middlings</dt><dd>Coarse particles between bran and
    flour.</dd><dt>Tempering</dt><dd>Wetting the grain for 16 hours.</dd></dl> <figure><img
    src="m.png"><figcaption>The roller mill of 1931, built by Haas &amp; Sohn.
    </figcaption></figure><table><caption>Output in tonnes per day</caption>
    <tr><th>Line</th><th>Output</th></tr><tr><td>Rye</td><td>58</td></tr>
    <tr><td>Spelt</td><td>23</td></tr></table></main></body></html>""")},
    Ask("What is tempering?", "Wetting the grain for 16 hours"),
    Ask("Who built the roller mill?", "Haas & Sohn"),
    Ask("What is the output of the line Spelt?", "23"))
def _two_rows(sheet: Any) -> None:
    for row in [
        ("Branch", "Staff", None, "Cars", None),
        (None, "2024", "2025", "2024", "2025"),
        ("Visby", 31, 36, 5, 8),
        ("Kalmar", 22, 19, 4, 3),
    ]:
        sheet.append(row)
    for cells in ("A1:A2", "B1:C1", "D1:E1"):
        sheet.merge_cells(cells)
case("structure", "two-row-header", {"branches.xlsx": sheets(Branches=_two_rows)},
    Ask("How many cars did the branch Kalmar have in 2025?", "Cars", ("Branch | Staff |  | Cars",)
        ), Ask("How many cars did the branch Visby have in 2025?", "Visby | 31 | 36 | 5 | 8"))
case("structure", "merged-html", {"shifts.html": text("""
    <html><head><title>Shifts</title></head><body><main><h1>Shifts</h1><table>
    <tr><th>Line</th><th>Shift</th><th>Foreman</th></tr> <tr><td
    rowspan="2">Bottling</td><td>early</td><td>Okan</td></tr>
    <tr><td>late</td><td>Birgit</td></tr> <tr><td
    rowspan="2">Packing</td><td>early</td><td>Said</td></tr>
    <tr><td>late</td><td>Fenna</td></tr></table></main></body></html>""")},
    Ask("Who is the foreman of the late shift in bottling?", "Bottling | late | Birgit"))
case("structure", "opendocument", {"rules.odt": opendocument(
        '<text:h text:outline-level="1">Rules of the allotment</text:h>'
        '<text:p>Hedges may be <text:span text:style-name="T1">120</text:span> 150 cm high.'
        "</text:p><table:table><table:table-row>" + "".join(
        f"<table:table-cell><text:p>{c}</text:p></table:table-cell>" for c in ("Plot", "Tenant")) +
        "</table:table-row><table:table-row>" + "".join(
        f"<table:table-cell><text:p>{c}</text:p></table:table-cell>" for c in ("17b",
        "Familie Ozols")) + "</table:table-row></table:table>",
        '<style:style style:name="T1" style:family="text"><style:text-properties'
        ' style:text-line-through-style="solid"/></style:style>')},
    Ask("How high may hedges be?", "150 cm", ("be 120 150",)),
    Ask("Who is the tenant of plot 17b?", "Familie Ozols"))

# Sheets and delimited files
def _two_tables(sheet: Any) -> None:
    sheet["A1"] = "Stock of the pharmacy"
    for row, values in enumerate([("Drug", "Packs"), ("Ibuprofen", 340), ("Cetirizine", 95)], 3):
        sheet.cell(row, 1, values[0]), sheet.cell(row, 2, values[1])
    for row, values in enumerate(
        [("Supplier", "Lead time"), ("Medika", "3 days"), ("Farmalux", "8 days")], 3
    ):
        sheet.cell(row, 5, values[0]), sheet.cell(row, 6, values[1])
    sheet["A9"], sheet["B9"] = "Fridge", "Temperature"
    sheet["A10"], sheet["B10"] = "North", "4.1 °C"
case("sheets", "several-tables", {"pharmacy.xlsx": sheets(Stock=_two_tables)},
    Ask("What is the lead time of the supplier Farmalux?", "Farmalux | 8 days"),
    Ask("What is the temperature of the fridge North?", "North | 4.1 °C"))
case("sheets", "formulas", {"budget.xlsx": sheets(Budget=[("Post", "Euro"), ("Music", 700), (
        "Tents", 480), ("Sum", "=SUM(B2:B3)")])},
    Ask("What is the sum of the budget?", "Sum | (formula without a stored value)"))
case("sheets", "tall", {"meters.xlsx": sheets(Meters=[("Meter", "Street", "Reading")] + [(
        f"WZ-{n:04}", f"Lane {n % 37}", 1000 + 7 * n) for n in range(1, 701)])},
    Ask("What is the reading of the meter WZ-0553?", "WZ-0553 | Lane 35 | 4871"))
case("sheets", "csv-preamble", {"export.csv": text("""
    Report: open orders
    Created on;2026-10-02
    Filter;status = open

    Order;Customer;Amount
    A-881;Lindqvist AB;1.240,50
    A-882;"Moreau
    et Fils";310,00""")},
    Ask("Who is the customer of order A-881?", "A-881 | Lindqvist AB | 1.240,50"),
    Ask("What is the amount of the order A-882?", "310,00"))
case("sheets", "cp1250", {"zamestnanci.csv": "Jméno;Oddělení;Linka\nŽofie Dvořáčková;Účtárna;412\n"
        "Řehoř Šťastný;Sklad;507\n".encode("cp1250")},
    Ask("Jakou linku má Řehoř Šťastný?", "Řehoř Šťastný | Sklad | 507"))
case("sheets", "windows-1255", {"shaot.txt":
        "שעות הפתיחה\n\nהספרייה פתוחה בימי שלישי עד שמונה בערב.\n"
        "דמי ההשאלה הם חמישה שקלים לחודש.\n".encode("cp1255")},
    Ask("עד מתי הספרייה פתוחה בימי שלישי?", "עד שמונה בערב"))
case("sheets", "japanese", {"kaisha.csv":
        "部署,担当者,内線\n経理部,佐藤美咲,2210\n営業部,高橋健太,2345\n".encode("cp932"),
        "annai.txt": "社員食堂のご案内\n\n社員食堂は十一時半から営業しています。"
        "定食は六百五十円です。\n".encode("euc_jp")},
    Ask("営業部の担当者は誰ですか", "高橋健太"),
    Ask("社員食堂の定食はいくらですか", "六百五十円"))

# PDF

_ROWS = (
    ("Hazard", "Measure", "Owner"),
    ("H-1 Slippery ramp", "Spread sand each|morning and put up|a sign", "Torben Iversen"),
    ("H-2 Loose cable", "Fix it with clips|along the wall", "Noor Haddad"),
    ("H-3 Noise", "Hand out ear|protection", "Paweł Zając"),
)
def _wrapped_table() -> bytes:
    pieces, lines, y = [Typed(72, 740, "Hazards of the brewery", 16)], [], 710.0
    for row in _ROWS:
        height = 14 * max(len(cell.split("|")) for cell in row) + 8
        for x, cell in zip((76, 216, 386), row, strict=True):
            pieces += [Typed(x, y - 14 - 14 * i, part) for i, part in enumerate(cell.split("|"))]
        lines.append(f"72 {y} m 540 {y} l S")
        y -= height
    lines += [f"72 {y} m 540 {y} l S"] + [f"{x} 710 m {x} {y} l S" for x in (72, 212, 382, 540)]
    return pdf([pieces], drawn="\n".join(lines))
case("pdf", "wrapped-cells", {"hazards.pdf": _wrapped_table()},
    Ask("Who is the owner of the hazard H-2?", "Fix it with clips along the wall | Noor Haddad"),
    Ask("What is the measure against the slippery ramp?", "Spread sand each morning and put up"))
case("pdf", "form-fields", {"application.pdf": pdf([typed(["Application for a stall", "",
        "Name of the stall:", "", "Power needed:"])], fields=[(200, 668, "Waffle Werner"), (200,
        640, "16 A, 400 V")])}, Ask("What is the name of the stall?", "Waffle Werner"),
    Ask("Which power is needed?", "16 A, 400 V"))
case("pdf", "watermark", {"tariff.pdf": pdf([[*typed(["Tariff of the cable car", "",
        "A ride to the summit costs 29 francs.", "Children under six ride free."]), Typed(120, 250
        , "CONFIDENTIAL", 80, angle=math.pi / 4)]])},
    Ask("What does a ride to the summit cost?", "29 francs",
        ("francs. CONFIDENTIAL", "free. CONFIDENTIAL")))
case("pdf", "scan", {"minutes.pdf": pdf([typed(["Minutes of the choir", "",
        "The concert is on 12 June."]), []]), "deed.pdf": pdf([[], []])},
    Ask("When is the concert of the choir?", "12 June"),
    Ask("What does the deed say?", "deed.pdf"))
case("pdf", "arabic", {"arabic.pdf": pdf([[Typed(72, 700, "ساعات العمل في المكتبة"[::-1]), Typed(
        72, 680, "تفتح المكتبة أبوابها في الساعة التاسعة صباحا"[::-1])]])},
    Ask("متى تفتح المكتبة؟", "الساعة التاسعة"))

# Mail and talk
case("talk", "mails", {"venue.eml": mail("Ana Ferreira <ana@example.org>", "Re: Venue",
        "Mon, 04 May 2026 10:00:00 +0200", """
    We take the Orangery for the summer party.

    On Thu, 30 Apr 2026, Jonas Weil wrote:
    > I would take the Old Brewery for the summer party.""", seats_csv="table,seats\nTerrace,46\n")
        .as_bytes(),
        "music.eml": mail("Jonas Weil <jonas@example.org>", "Music",
        "Tue, 05 May 2026 09:00:00 +0200", "The band of the summer party is Polka Dots.").as_bytes
        ()},
    Ask("Which venue do we take for the summer party?", "Orangery", later="Old Brewery"),
    Ask("In Jonas's mails, what is the band of the summer party?", "Polka Dots", ("Orangery",)),
    Ask("How many seats has the terrace?", "46"))
case("talk", "mailbox", {"club.mbox": b"".join(b"From - Mon May 04 10:00:00 2026\n" + one.as_bytes
        () + b"\n" for one in [mail("Ida Lund <ida@example.org>", "Trainer",
        "Mon, 02 Feb 2026 10:00:00 +0100", "The trainer of the juniors is Casper."), mail(
        "Ida Lund <ida@example.org>", "Trainer", "Wed, 09 Sep 2026 10:00:00 +0200",
        "Casper left. The trainer of the juniors is Malou.")])},
    Ask("Since March, who is the trainer of the juniors?", "Malou", ("juniors is Casper",)))
case("talk", "subtitles", {"retro.vtt": text("""
    WEBVTT

    NOTE recorded by the tool

    00:00:02.000 --> 00:00:06.000
    <v Siri Holm>The pilot in Drammen was delayed
    by two weeks.</v>

    00:00:06.500 --> 00:00:09.000
    <v Emre Kaya>I will call the installer.</v>"""),
        "tour.srt": text("""
    1
    00:00:00,500 --> 00:00:03,000
    <i>The furnace reaches</i>

    2
    00:00:03,000 --> 00:00:05,500
    1,150 degrees at night.""")},
    Ask("By how long was the pilot in Drammen delayed?", "two weeks"),
    Ask("Who will call the installer?", "Emre Kaya"),
    Ask("How hot is the furnace at night?", "1,150 degrees"))
case("talk", "chat-exports", {"slack/users.json": json.dumps([{"id": "U7", "name": "greta",
        "profile": {"real_name": "Greta Holt"}}]),
        "slack/kitchen/2026-05-11.json": json.dumps([{"type": "message", "user": "U7", "ts":
        "1778493600.000100", "text":
        "The coffee machine is repaired on Thursday by <https://fix.example.org|Fixo>"}]),
        "discord-raids.json": json.dumps({"guild": {"id": "1", "name": "Guild"}, "channel": {"id":
        "2", "name": "raids"}, "messages": [{"id": "3", "type": "Default", "timestamp":
        "2026-04-02T19:00:00+00:00", "content": "The raid begins at 20:15.", "author": {"name":
        "tarn", "nickname": "Tarn"}, "attachments": [], "embeds": [], "reactions": []}]})},
    Ask("Who repairs the coffee machine?", "Fixo"),
    Ask("Who wrote about the coffee machine?", "Greta Holt"),
    Ask("When does the raid begin?", "20:15"))

# Data and code
case("data", "settings", {"deploy.json": json.dumps({"services": {"ledger": {"image": "ledger:4.2",
        "replicas": 6}, "mailer": {"image": "mailer:1.9", "replicas": 2}}}, indent=2),
        "alerts.yaml": "alerts:\n  disk:\n    threshold: 85\n    # was 70\n  memory:\n"
        "    threshold: 92\n",
        "tool.toml": '[cache]\nbackend = "redis"\nseconds = 340\n\n[queue]\nbackend = "amqp"\n',
        "legacy.ini": "; old\n[printer]\nqueue = floor2\n[scanner]\nqueue = floor5\n"},
    Ask("How many replicas has the mailer?", "replicas: 2"),
    Ask("What is the threshold of the memory alert?", "92"),
    Ask("Which backend has the cache in tool.toml?", "redis"),
    Ask("What is the queue of the scanner?", "floor5"))
case("data", "openapi", {"api.yaml": text("""
    openapi: 3.1.0
    info: {title: Ticket API, version: 2.0.0}
    paths:
      /tickets/{id}/close:
        post:
          summary: Close a ticket
          parameters:
            - {name: reason, in: query, required: true, schema: {type: string}}
          responses:
            "204": {description: The ticket is closed.}
            "409": {description: The ticket is closed already.}
      /tickets:
        get: {summary: List tickets, responses: {"200": {description: A page.}}}""")},
    Ask("Which request closes a ticket?", "/tickets/{id}/close"),
    Ask("What does the status 409 mean in the Ticket API?", "closed already"))
case("data", "code", {"src/limits.py": text('''
            """Limits of the importer."""

            MAX_ROWS = 48_000  # the partner refuses more


            def retry_delay(attempt: int) -> float:
                """Seconds to wait: it doubles from 0.4 up to 26."""
                return min(0.4 * 2**attempt, 26)
            '''),
        "schema.sql": text("""
    -- Rentals of boats
    CREATE TABLE rental (
      id integer PRIMARY KEY,
      deposit numeric(8,2) NOT NULL DEFAULT 75.00, -- euros
      returned_at timestamptz
    );"""),
        "server.log": text("""
    2026-08-14T03:11:52Z INFO  worker-3 job 7714 started
    2026-08-14T03:12:07Z ERROR worker-3 job 7714 failed: disk quota exceeded on vol-19
    2026-08-14T03:12:09Z INFO  worker-1 job 7715 started""")},
    Ask("How many rows may the importer have (MAX_ROWS)?", "48_000"),
    Ask("What is the default deposit of a rental?", "75.00"),
    Ask("Why did job 7714 fail?", "disk quota exceeded on vol-19"))
case("data", "tex-and-rtf", {"thesis.tex": text(r"""
            \documentclass{article}\title{Yields of Oats}\begin{document}\maketitle
            % the yield was 3.9 tonnes in the first draft
            \section{Results}The mean yield was \textbf{4.6}~tonnes per hectare\footnote{Dry mass.}.
            \begin{tabular}{lr}\hline Variety & Protein \\ \hline Hafer A & 11.2\,\% \\
            Hafer B & 13.7\,\% \\ \end{tabular}\end{document}"""),
        "notice.rtf": r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}\f0 Der Aufzug f\'e4hrt ab"
        r" \b 7. April\b0  wieder.\par {\strike Er f\'e4hrt ab M\'e4rz.}}"},
    Ask("What was the mean yield of oats?", "4.6 tonnes", ("3.9",)),
    Ask("What is the protein of Hafer B?", "13.7"),
    Ask("Ab wann fährt der Aufzug wieder?", "7. April", ("\nEr fährt ab März",)))

# Questions

_HANDBOOKS = {
    "handbook-2024.md": "# Handbook 2024\n\n## Leave\n\nEmployees have 26 days of leave.\n",
    "handbook-2025.md": "# Handbook 2025\n\n## Leave\n\nEmployees have 28 days of leave.\n",
}
case("questions", "filters", _HANDBOOKS,
    Ask("How many days of leave do employees have in the 2024 handbook?", "26 days", ("28 days",)),
    Ask("In the 2025 handbook, how many days of leave are there?", "28 days", ("26 days",)),
    Ask("According to handbook-2024.md, how many days of leave are there?", "26 days", ("28 days",
        )))
case("questions", "summary", {"bridge.md": text("""
    # Bridge at Brakel

    The bridge was closed on 3 March because of rust. The repair costs 2.1 million euros.

    ## Detour

    Lorries take the road over Hembsen.""")},
    Ask("Summarize the attached file", "closed on 3 March"),
    Ask("Fasse die Datei bridge.md zusammen", "closed on 3 March"), attached="bridge.md")
case("questions", "since", {"minutes/2026-01-20 Council.md":
        "# Council\n\nDecision: the playground gets a fence.\n",
        "minutes/2026-06-16 Council.md": "# Council\n\nDecision: the playground gets a slide.\n"},
    Ask("What did the council decide on the playground since March 2026?", "slide", ("fence",)),
    Ask("What was decided on the playground in January 2026?", "fence", ("slide",)))
case("questions", "german", {"wlan.md":
        "# WLAN\n\n## Gäste\n\nDas Kennwort für Gäste wechselt jeden Montag. Die"
        " Zugangsdaten vergibt Frau Sobotta am Empfang.\n\n## Drucker\n\nDer Drucker steht im"
        " Erdgeschoss.\n"}, Ask("Wer vergibt die Zugangsdaten fürs WLAN?", "Frau Sobotta"),
    Ask("Wo steht der Drucker?", "Erdgeschoss"))
case("questions", "french", {"conges.html":
        "<html lang=fr><head><title>Congés</title><meta charset=iso-8859-1></head>"
        "<body><main><h1>Congés</h1><p>La demande de congé est à envoyer à Maëlle Kerbrat au moins"
        " trois semaines à l’avance.</p><p>Le télétravail est limité à <del>deux</del> trois jours"
        " par semaine.</p></main></body></html>".replace("’", "'"),
        "frais.csv": "Poste;Plafond\nDéjeuner;19,50 €\nHôtel;128,00 €\n".encode("cp1252")},
    Ask("À qui faut-il envoyer la demande de congé ?", "Maëlle Kerbrat"),
    Ask("Combien de jours de télétravail par semaine ?", "trois jours", ("limité à deux trois",)),
    Ask("Quel est le plafond pour l'hôtel ?", "128,00 €"))
case("questions", "spanish", {"taller.txt":
        "Taller de bicicletas\n\nEl taller abre los sábados de 9:00 a 13:30. La"
        " revisión completa cuesta 42 euros.\n",
        "socios.md": "# Socios\n\n- [x] Cuota pagada: Iker\n- [ ] Cuota pagada: Nuria\n"},
    Ask("¿Cuánto cuesta la revisión completa?", "42 euros"),
    Ask("¿Ha pagado Nuria la cuota?", "☐ Cuota pagada: Nuria", ("☑ Cuota pagada: Nuria",)))
case("questions", "chinese", {"guizhang.txt":
        "实验室规章\n\n进入实验室必须佩戴护目镜。实验室的钥匙由周敏保管。\n".encode("gb18030"),
        "jiage.md": "# 价格\n\n| 项目 | 价格 |\n|---|---|\n| 打印 | 3 元 |\n| 装订 | 12 元 |\n"},
    Ask("实验室的钥匙由谁保管？", "周敏"), Ask("装订的价格是多少？", "12 元"))
case("questions", "unanswerable", {"garden.md":
        "# Garden\n\nThe garden opens at 7:00. The gardener is Lotte.\n"},
    Ask("What is the password of the router?", "", ("7:00", "Lotte")))

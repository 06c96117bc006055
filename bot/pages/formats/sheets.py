"""Converts Excel workbooks (.xlsx) to a heading for each sheet ("## Sheet Prices") and tables.

openpyxl reads the rows as a stream. Cells contain the text shown on the screen, formulas their last
result. Hidden sheets, rows and columns are left out: a reader could not look up a quote from them.

Supports number formats made of digits, grouping, a percent sign and fixed text (ECMA-376, part 1,
section 18.8.31). A number in any other format (fractions, exponents, conditions) is written out in
full.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple

import openpyxl  # type: ignore[import-untyped]
from openpyxl.cell.rich_text import CellRichText, TextBlock  # type: ignore[import-untyped]
from openpyxl.styles.fills import Fill, PatternFill  # type: ignore[import-untyped]
from openpyxl.utils.cell import range_boundaries  # type: ignore[import-untyped]
from openpyxl.worksheet._reader import WorkSheetParser  # type: ignore[import-untyped]

from bot.core.errors import PageUnreadable
from bot.core.texts import said
from bot.pages.formats.packages import (
    LARGEST_PART,
    LARGEST_TREE,
    Package,
    broken,
    open_package,
    whole,
)
from bot.pages.formats.pieces import (
    MOST_CELLS,
    GridWriter,
    Merged,
    PieceWriter,
    chart,
    signs,
    without,
)
from bot.pages.page import Reading, meaningful_title
from bot.pages.page_markdown import CHECKED, UNCHECKED, Blocks, struck

_A_WORKBOOK = said("what-sheets")
MOST_ROWS = 1_048_576  # per sheet: Excel's own limit; a damaged file may state any number
_LARGEST_STRINGS = 50_000_000
"""Bytes of the texts that cells share, which openpyxl keeps in memory."""
_CHUNK = 1_000_000  # bytes
_ROW = re.compile(rb"<(?:\w{1,20}:)?row\b")
_MERGED = re.compile(rb"<(?:\w{1,20}:)?mergeCell\s+ref=\"([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})\"")
_LONGEST_TAG = 100  # bytes of a tag of merged cells
_MOST_COLUMNS = 16_384
_ON = ("1", "true")  # values of an attribute
_NOT_STORED = "(formula without a stored value)"

# openpyxl refuses a workbook with an empty fill, which Excel opens and other programs write
_fill_of = Fill.from_tree
Fill.from_tree = lambda element: _fill_of(element) if len(element) else PatternFill()


def read_sheets(data: bytes, name: str) -> Reading:
    """Read a workbook; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large.
    """
    with open_package(data, name, _A_WORKBOOK) as package:
        _check(package)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about features that openpyxl does not support
                reader = _Reader(data, package)
                reader.read()
        except PageUnreadable:
            raise
        except Exception as error:  # noqa: BLE001 - a library at work on hostile input
            raise broken(name, _A_WORKBOOK, error) from None
        kept = reader.rows / max(reader.rows, _rows(package)) if reader.is_full else 1.0
    return Reading(reader.title, reader.blocks.text(), kept, omitted=+reader.omitted)


def _check(package: Package) -> None:
    """Refuse parts that are too large for openpyxl."""
    for part in package.names():
        if part.endswith((".xml", ".rels")):
            most = LARGEST_TREE
            if "/worksheets/" in part:
                most = LARGEST_PART
            elif part.lower().endswith("sharedstrings.xml"):
                most = _LARGEST_STRINGS
            package.check(part, most)


def _rows(package: Package) -> int:
    """The number of rows of all sheets, used to calculate the share that was kept."""
    count = 0
    for part in package.names():
        if "/worksheets/" in part and part.endswith(".xml"):
            with package.stream(part) as file:
                while chunk := file.read(_CHUNK):
                    count += len(_ROW.findall(chunk))
    return count


def _box_styles(package: Package) -> frozenset[int]:
    """The styles of cells that Excel shows as tick boxes ([MS-XLSX], section 2.6.254)."""
    root = package.tree("xl/styles.xml")
    styles = [] if root is None else root.iterfind("{*}cellXfs/{*}xf")
    return frozenset(
        n for n, xf in enumerate(styles) if next(xf.iter("{*}xfComplement"), None) is not None
    )


class _Reader:
    def __init__(self, data: bytes, package: Package) -> None:
        self._package = package
        self._book = openpyxl.load_workbook(
            BytesIO(data), read_only=True, data_only=True, keep_links=False, rich_text=True
        )
        self._boxes = _box_styles(package)
        fonts = dict(enumerate(self._book._fonts))
        styles = enumerate(self._book._cell_styles)
        of_styles = {n: fonts[each.fontId] for n, each in styles if each.fontId in fonts}
        # those that strike out, or have signs in place of letters
        self._fonts = {
            n: f for n, f in of_styles.items() if f.strike or signs("a", f.name or "") != "a"
        }
        self.title = meaningful_title(self._book.properties.title or "")
        self.blocks = Blocks()
        self.omitted = Counter[str]()
        self.rows = 0
        self._cells = 0

    @property
    def is_full(self) -> bool:
        return self.blocks.full or self._cells >= MOST_CELLS

    def read(self) -> None:
        sheets = [s for s in self._book.worksheets if s.sheet_state == "visible"]
        self.omitted["hidden sheet"] += len(self._book.worksheets) - len(sheets)
        for number, sheet in enumerate(sheets):
            if self.is_full:
                names = ", ".join(each.title for each in sheets[number:])
                self.blocks.heading(2, f"Not read: {names}")
                break
            self._sheet(sheet)

    def _sheet(self, sheet: Any) -> None:
        sheet.reset_dimensions()  # these may be wrong, and make each row 16,384 cells wide
        self.blocks.heading(2, f"Sheet {sheet.title}")
        writer = GridWriter(self.blocks)
        merged = _merged_in(self._package, sheet._worksheet_path)
        hidden_columns: set[int] = set()
        for count, cells, is_hidden, columns in _rows_of(sheet):
            self.rows += bool(cells)
            self._cells += len(cells)
            words = list(self._shown(cells))
            spans: Merged = merged.get(count, {})
            if columns:
                hidden_columns.update(at for at in columns if at < len(words) and words[at])
                words = [text for at, text in enumerate(words) if at not in columns]
                spans = without(columns, spans)
            if is_hidden:
                self.omitted["hidden row"] += any(words)
                writer.leave_out(words, spans)
            else:
                writer.add(words, spans)
            if self.is_full or count >= MOST_ROWS:
                writer.end()
                rest = f"Rows after {count:,} of sheet {sheet.title}"
                self.blocks.heading(2, f"{rest} were not read")
                break
        else:
            writer.end()
            self._around(sheet)
        self.omitted["hidden column"] += len(hidden_columns)

    def _around(self, sheet: Any) -> None:
        """Write the charts of a sheet, and count its comments."""
        related = self._package.relationships(sheet._worksheet_path).values()
        writer = PieceWriter(self.blocks)
        for part in (each.target for each in related if each.kind == "drawing"):
            for each in self._package.relationships(part).values():
                root = self._package.tree(each.target) if each.kind == "chart" else None
                if root is not None:
                    writer.put_all(chart(root))
        for part in (each.target for each in related if each.kind == "comments"):
            root = self._package.tree(part)
            self.omitted["comment"] += 0 if root is None else len(list(root.iter("{*}comment")))

    def _shown(self, row: tuple[Any, ...]) -> Iterator[str]:
        for cell in row:
            value = cell.value
            if value is None:
                yield ""
                continue
            self.omitted["uncalculated formula"] += value is _NOT_STORED
            style, text = cell._style_id, ""
            if isinstance(value, bool) and style in self._boxes:
                text = CHECKED if value else UNCHECKED
            elif isinstance(value, CellRichText):
                text = "".join(
                    struck(str(each))
                    if isinstance(each, TextBlock) and each.font.strike
                    else str(each)
                    for each in value
                )
            else:
                form = cell.number_format if isinstance(value, int | float) else None
                text = cell_text(value, form)
            font = self._fonts.get(style)
            if font is not None and isinstance(value, str):
                text = signs(text, font.name or "")
            yield struck(text) if font is not None and font.strike else text


class _Parser(WorkSheetParser):  # type: ignore[misc]
    """openpyxl's parser, which also tells a formula without a value from an empty cell."""

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["value"] is None and element.find("{*}f") is not None:
            cell["value"] = _NOT_STORED
        return cell


def _rows_of(sheet: Any) -> Iterator[tuple[int, tuple[Any, ...], bool, Collection[int]]]:
    """The rows as ``sheet.iter_rows()`` returns them, with the runs of texts that are in cells:
    their number, whether they are hidden, and the hidden columns, from 0.
    """
    book, at = sheet.parent, 1
    columns: set[int] = set()
    with sheet._get_source() as source:
        parser = _Parser(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
            rich_text=True,
        )
        for number, cells in parser.parse():
            for each in parser.column_dimensions.values():
                if each.get("hidden") in _ON:
                    last = min(whole(each.get("max"), 0), _MOST_COLUMNS)
                    columns.update(range(whole(each.get("min"), 1) - 1, last))
            parser.column_dimensions.clear()  # they precede the rows
            for missing in range(at, number):
                yield missing, (), False, columns
            row = parser.row_dimensions.pop(str(number), {})
            yield number, sheet._get_row(cells), row.get("hidden") in _ON, columns
            at = number + 1


def _merged_in(package: Package, part: str) -> dict[int, dict[int, tuple[int, int]]]:
    """The merged cells of a sheet by row, from 1, which its file has behind all rows."""
    found: dict[int, dict[int, tuple[int, int]]] = {}
    rest = b""
    with package.stream(part) as file:
        while chunk := file.read(_CHUNK):
            for match in _MERGED.finditer(rest + chunk):
                left, top, right, bottom = range_boundaries(match[1].decode())
                found.setdefault(top, {})[left - 1] = right - left + 1, bottom - top + 1
            rest = (rest + chunk)[-_LONGEST_TAG:]
    return found


_PARTS = re.compile(
    r'"(?P<quoted>[^"]*)"'
    r"|\\(?P<escaped>.)"
    r"|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]"
    r"|(?P<figures>[#0,]*[#0][#0,]*(?:\.[#0?]*)?,*|\.[#0?]+)"
    r"|(?P<colour>\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color ?\d+)\])"
    r"|(?P<space>_.|\*.)"
    r"|(?P<plain>[-+ $€£¥()%/:’'])",
    re.IGNORECASE,
)
_GENERAL = re.compile(r"general|@|standard", re.IGNORECASE)
_MOST_DECIMALS = 15  # significant digits that Excel keeps


class _Form(NamedTuple):
    """The format of a number: prefix, suffix and digits."""

    before: str
    after: str
    decimals: int
    most_decimals: int
    grouped: bool
    thousands: int  # how many times the number is divided by 1,000
    percent: bool
    whole_digits: int


def cell_text(value: object, number_format: str | None) -> str:
    """The text that a cell displays, as far as supported; dates and times in ISO 8601."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return _number(value, number_format or "General")
        case datetime():
            if (value.hour, value.minute, value.second) == (0, 0, 0):
                return value.date().isoformat()
            return value.replace(microsecond=0).isoformat(" ")
        case timedelta():
            seconds = round(value.total_seconds())
            hours, rest = divmod(abs(seconds), 3_600)
            return f"{'-' if seconds < 0 else ''}{hours}:{rest // 60:02d}:{rest % 60:02d}"
        case date() | time():
            return value.isoformat()
    return str(value)


def _number(value: float, number_format: str) -> str:
    sections = _sections(number_format)
    form = sections[0]
    signed = value
    if value < 0 and len(sections) > 1:
        form, signed = sections[1], -value  # the section itself defines how negative numbers look
    elif value == 0 and len(sections) > 2:
        form = sections[2]
    if form is None:
        return _plain(value)
    return _written(signed, form)


def _plain(value: float) -> str:
    """A number without a format: 15 significant digits, as in spreadsheets."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.{_MOST_DECIMALS}g}"
    return text if "e" in text or "." not in text else text.rstrip("0").rstrip(".")


def _written(value: float, form: _Form) -> str:
    exact = Decimal(_plain(value)) * (100 if form.percent else 1)
    exact = exact.scaleb(-3 * form.thousands)
    if not exact.is_finite() or abs(exact.adjusted()) > _MOST_DECIMALS * 2:
        return _plain(value)
    precise = Context(prec=3 * _MOST_DECIMALS + form.most_decimals, rounding=ROUND_HALF_UP)
    rounded = exact.quantize(Decimal(1).scaleb(-form.most_decimals), context=precise)
    size = rounded.copy_abs()
    digits = f"{size:,f}" if form.grouped else f"{size:f}"
    whole, point, fraction = digits.partition(".")
    while len(fraction) > form.decimals and fraction.endswith("0"):
        fraction = fraction[:-1]
    whole = whole.rjust(form.whole_digits, "0") if form.whole_digits > 1 else whole
    sign = "-" if rounded < 0 else ""
    return f"{sign}{form.before}{whole}{point if fraction else ''}{fraction}{form.after}".strip()


@lru_cache(maxsize=1_000)
def _sections(number_format: str) -> tuple[_Form | None, ...]:
    """The formats for numbers above, below and at zero, as far as they are defined."""
    sections = re.findall(r'(?:"[^"]*"|\\.|[^;"\\])+', number_format) or ["General"]
    return tuple(map(_form, sections[:3]))


def _form(section: str) -> _Form | None:
    if _GENERAL.fullmatch(section.strip()):
        return None
    before, after, figures, at = "", "", "", 0
    while match := _PARTS.match(section, at):
        at = match.end()
        if match["figures"] is not None:
            if figures:
                return None
            figures = match["figures"]
            continue
        said = match["quoted"] or match["escaped"] or match["currency"] or match["plain"] or ""
        if figures:
            after += said
        else:
            before += said
    if at < len(section) or not figures:
        return None
    thousands = len(figures) - len(figures.rstrip(","))
    whole, _, fraction = figures.rstrip(",").partition(".")
    return _Form(
        before=before,
        after=after,
        decimals=fraction.count("0"),
        most_decimals=len(fraction),
        grouped="," in whole,
        thousands=thousands,
        percent="%" in before + after,
        whole_digits=whole.count("0"),
    )

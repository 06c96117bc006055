"""Reads the pictures that came with a question, and scanned pages of its files, with a model.

What the model writes down becomes the page of the file: it is searched, quoted, cited and deleted
like the text of any other file. Pictures are read before the question is prepared, so that "what
does this error mean?" is searched for with the words of the error. A picture that was read for an
earlier question of the thread is not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.core.errors import Broken, BudgetSpent, ModelRefused, ModelUnavailable, PageUnreadable
from bot.core.lines import one_line
from bot.core.messages import Attachment, Message, Transcript, zone_named
from bot.core.texts import month_day, said
from bot.pages.media import LOOK_AT, may_be_pdf
from bot.pages.page import Page
from bot.pages.pictures import MOST, Picture, PictureUnread, may_be_picture, picture_in
from bot.reasoning.reasoner import Researcher
from bot.research.run import Run, together

SEEN_TOGETHER = 4  # scanned pages shown in one call
SCANNED = "read from a picture"  # in the headings of scanned pages
NOT_READ = "## Pages without text were not read"


class PictureReading:
    """See the module docstring. ``shown`` is what the pictures show, by address, once they are
    read. Without a ``model`` they are not."""

    def __init__(self, run: Run, transcript: Transcript, model: Researcher | None) -> None:
        self.shown: dict[str, str] = {}
        self._run, self._model = run, model
        self._told: set[str] = set()  # the pictures that notes of earlier answers told of, if any
        self._titles = self._titled(transcript)
        run.page_of_file = self._page_of_file

    def _titled(self, transcript: Transcript) -> dict[str, str]:
        """Return the titles of pictures by address: all of the message, then the latest before it,
        as many as may be read."""
        run, message = self._run, self._run.message
        day = message.at.astimezone(zone_named(run.options.zone))
        name = one_line(message.author.name)
        own = run.texts.say(said("picture-sent", name=name, date=month_day(day)))
        pictures = filter(_is_picture, run.files)
        titles = {file.url: one_line(file.name) if file.again else own for file in pictures}
        is_new = True  # it stands below the last answer, whose notes did not tell of it
        for entry in reversed(transcript.entries):
            is_new = is_new and entry.role == "person"
            sent = run.texts("picture-sent-earlier", name=one_line(entry.name))
            for file in filter(_is_picture, entry.files):
                if file.url in titles:
                    titles[file.url] = sent
                elif len(titles) < MOST and (is_new or self._model is not None):
                    titles[file.url] = sent
                    run.attachments[file.url] = file
                    self._told |= set() if is_new else {file.url}
        return titles

    async def read(self, asked: Message, transcript: Transcript) -> tuple[Message, Transcript]:
        """Read the pictures; returns the message and its thread with what they show.

        A note says once in the thread why one was not read. Searches may use the words of pictures
        like those of the message.
        """
        pages = await self._run.read(tuple(self._titles))
        for url, page in zip(self._titles, pages, strict=True):
            if isinstance(page, Page):
                self.shown[url] = page.text.removeprefix(_heading(page.title))
                self._run.hear(page.text)
            elif url not in self._told:
                self._run.notes.unread(url, page)
        entries = (replace(each, files=self._seen_in(each.files)) for each in transcript.entries)
        asked = replace(asked, attachments=self._seen_in(asked.attachments))
        return asked, Transcript(tuple(entries))

    def _seen_in(self, files: Sequence[Attachment]) -> tuple[Attachment, ...]:
        """Return files with what the pictures among them show, without those not read."""
        return tuple(
            replace(file, shows=self.shown.get(file.url, ""))
            for file in files
            if file.url in self.shown or not _is_picture(file)
        )

    # ------------------------------------------------------------ one file

    async def _page_of_file(self, attachment: Attachment, data: bytes) -> Page:
        library, url = self._run.library, attachment.url
        before = await library.read_before(url)
        if before is not None and (url in self._titles or f"({SCANNED})" in before.text):
            return before
        if (picture := picture_in(data)) is not None:
            if url not in [*self._titles, url][:MOST]:
                raise PictureUnread(said("picture-too-many", limit=MOST))
            (text,) = await self._seen([replace(picture, name=attachment.name)])
            if not text:
                raise PictureUnread(said("picture-nothing"))
            return await self._written_down(attachment, self._titles.get(url), text)
        scanned, problem = "", None
        try:
            scanned = await self._scanned(attachment, data)
        except (Broken, ModelRefused, ModelUnavailable) as error:
            problem = error  # its other pages may have text
        try:
            page = await library.page_of_file(attachment, data)
        except PageUnreadable as error:
            if not scanned:
                raise problem or error from None
            return await self._written_down(attachment, None, scanned)
        scanned = NOT_READ if problem else scanned
        text = f"{page.text}\n\n{scanned}" if scanned else page.text
        return Page(page.url, page.title, text, page.fetched_at)

    async def _scanned(self, file: Attachment, data: bytes) -> str:
        """Return what the pages without text of a PDF document show, as Markdown."""
        if self._model is None or not may_be_pdf(data[:LOOK_AT], file.media_type):
            return ""
        scans, left = await self._run.library.scans(file.name, data)
        named = [replace(each, name=f"{file.name}, page {label}") for label, each in scans]
        groups = [named[at : at + SEEN_TOGETHER] for at in range(0, len(named), SEEN_TOGETHER)]
        seen = await together(map(self._seen, groups))
        told = zip(scans, (text for group in seen for text in group), strict=True)
        parts = [f"## Page {label} ({SCANNED})\n\n{text}" for (label, _), text in told if text]
        if parts and left:
            parts.append(f"## {left} more pages without text were not read")
        return "\n\n".join(parts)

    async def _seen(self, pictures: Sequence[Picture]) -> tuple[str, ...]:
        if self._model is None:
            raise PictureUnread(said("picture-no-model"))
        try:
            return await self._model.see(pictures)
        except BudgetSpent as spent:
            raise PictureUnread(spent.said) from spent

    async def _written_down(self, file: Attachment, title: str | None, text: str) -> Page:
        """Return the page of what a model wrote, in the form of any page."""
        title = title or one_line(file.name)
        written = f"{_heading(title)}{text}".encode("utf-8", "replace")
        as_markdown = replace(file, media_type="text/markdown")
        page = await self._run.library.page_of_file(as_markdown, written)
        return replace(page, title=title)


def _heading(title: str) -> str:
    return f"# {title}\n\n"


def _is_picture(file: Attachment) -> bool:
    return not file.unread and may_be_picture(file.media_type, file.name)

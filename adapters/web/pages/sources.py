"""The documents that are searched, for operators: their folders and readers, what became of each
file, a search in the index, and what is added and removed in the console."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.web.access.gate import visitor_of
from adapters.web.access.visibility import (
    Page,
    operator_only,
    seeing,
    set_audit_object,
    with_audit,
)
from adapters.web.console import Console
from adapters.web.display import texts_of
from adapters.web.forms import check_readable, form_of, megabytes, question_form_of
from adapters.web.html.closest import spans_of_words
from adapters.web.html.page_text import page_html
from adapters.web.turns import collection_of
from bot.core.errors import (
    Invalid,
    InvalidSetting,
    PageUnreadable,
    ProviderUnavailable,
    sentence_for,
)
from bot.core.lines import one_line
from bot.core.messages import CONSOLE
from bot.core.readership import Readership
from bot.core.texts import Sentence, Texts
from bot.operation.added_documents import AddedDocuments, NewFolder
from bot.operation.console_access import allows_setup
from bot.pages.media import media_type_of
from bot.pages.passages import split
from bot.research.trace import Quoted
from bot.rights.rights import Root, readers_of
from bot.search.embedder import open_embedder
from bot.search.folders import root_of
from bot.search.index_file import address, innermost
from bot.search.index_report import (
    FILE_STATES,
    FileState,
    FoundFile,
    Tally,
    files_in,
    path_of,
    tallies,
)
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Hit, Query
from bot.search.registry import configured_names, searches_conversations

FILES = 50  # on a page of the list
HITS = 10
LONGEST_QUERY = 400  # characters
BELOW = 3  # the level of the heading above a passage
TEXTS: tuple[FileState, ...] = ("document", "stale", "copy")  # states of files with a text


@dataclass(slots=True)
class Folder:
    """A folder or file that is followed. ``parts`` counts its files by collection ("": in none);
    ``problem`` is why it cannot be looked at, or "". ``origin`` is where it is from: set outside
    of the console, added in it, or its folder of uploaded files."""

    path: str
    origin: Literal["set", "added", "uploads"] = "set"
    address: str = ""
    problem: Sentence = ""
    parts: dict[str, Tally] = field(default_factory=dict)

    @property
    def all(self) -> Tally:
        return sum(self.parts.values(), Tally())

    def below(self, found: FoundFile) -> str:
        """The path of a file in this folder."""
        return path_of(found.url.removeprefix(self.address).lstrip("/")) or Path(self.path).name


class _SourcePages:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._settings = console.settings

    @property
    def _added(self) -> AddedDocuments:
        reception = self._console.reception
        given = self._settings if reception is None else reception.given
        return AddedDocuments(given, self._console.database)

    async def page(
        self, request: Request, status: int = 200, error: str = "", new: NewFolder | None = None
    ) -> Response:
        """Show the page, with what went wrong, or with a folder that may be added."""
        folders, reception = await self._folders(), self._console.reception
        roots, collections, problem = self._collections()
        await asyncio.to_thread(self._count, folders, roots)
        texts = texts_of(request)
        return self._console.page(
            request,
            "sources.html",
            status=status,
            error=error,
            new=new,
            starts=reception is None or reception.restart.is_set(),
            adds=allows_setup(self._settings),
            limit=megabytes(self._settings.fetch_max_bytes),
            folders=folders,
            problem=problem,
            every=sum((folder.all for folder in folders), Tally()),
            states=FILE_STATES,
            readers={each.name: texts.say(readers_of(each)) for each in collections},
            others=list(self._others(texts)),
            moment=partial(datetime.fromtimestamp, tz=UTC),
        )

    async def files(self, request: Request) -> Response:
        """List the files of a folder that are in one state."""
        asked = request.query_params
        state, skip = asked.get("state"), asked.get("skip", "0")
        folders = {each.path: each for each in await self._folders()}
        folder = folders.get(asked.get("folder", ""))
        is_number = skip.isdecimal() and len(skip) < 10
        if folder is None or folder.problem or state not in FILE_STATES or not is_number:
            raise HTTPException(404, texts_of(request)("sources-gone"))
        found = await asyncio.to_thread(
            files_in,
            self._settings.index_path,
            self._present,
            state,
            folder.path,
            FILES + 1,
            int(skip),
        )
        reach = seeing(self._console, request).reach
        return self._console.page(
            request,
            "sources_files.html",
            folder=folder,
            state=state,
            found=[(each, reach.allows(each.url)) for each in found[:FILES]],
            has_text=state in TEXTS,
            removes=folder.origin == "uploads" and allows_setup(self._settings),
            link=self._link,
            query=urlencode({"folder": folder.path, "state": state}),
            skip=int(skip),
            size=FILES,
            is_last=len(found) <= FILES,
        )

    async def search(self, request: Request) -> Response:
        """Search the index as a question does, in what the visitor may read."""
        asked = one_line(request.query_params.get("q", ""))[:LONGEST_QUERY]
        reach, reader = seeing(self._console, request).reach, visitor_of(request).reader
        found, paths = [], self._present
        async with (
            open_embedder(self._settings) as embedder,
            aclosing(LocalDocuments(self._settings.index_path, paths, embedder)) as documents,
        ):
            query = Query(asked if paths else "", HITS, reach=reach)  # no path stands for all
            for hit in await documents.search(query):
                text = (await documents.read(hit.url)).text
                found.append(await asyncio.to_thread(self._passage, hit, text, asked))
        _, collections, _ = self._collections()
        hidden = [each.name for each in collections if not reader.may_search(each)]
        return self._console.page(
            request, "sources_search.html", asked=asked, found=found, hidden=hidden
        )

    async def text(self, request: Request) -> Response:
        """Show the text of a file as it was indexed, with a passage marked."""
        url, at = request.query_params.get("url", ""), request.query_params.get("at", "0-0")
        set_audit_object(request, url)
        if not seeing(self._console, request).reach.allows(url):
            raise HTTPException(403, texts_of(request)("answer-out-of-reach"))
        paths = self._present
        try:
            async with aclosing(LocalDocuments(self._settings.index_path, paths)) as documents:
                page = await documents.read(url if paths else "")
        except (PageUnreadable, ProviderUnavailable) as gone:
            raise HTTPException(404, texts_of(request)("sources-gone")) from gone
        start, _, end = at.partition("-")
        span = (int(n) if n.isdecimal() and len(n) < 12 else 0 for n in (start, end))
        quoted = [Quoted("at", *span)]
        html = await asyncio.to_thread(page_html, page.text, quoted, title=page.title)
        safe = Markup(html)  # noqa: S704 - sanitized
        return self._console.page(
            request, "sources_text.html", page=page, place=self._place(url), html=safe
        )

    async def index(self, request: Request) -> Response:
        """Look for changes now, in all folders or in one."""
        form = await form_of(request)
        known = [path for path in self._settings.docs if path == form.get("folder", path)]
        return await self._indexed(known)

    async def _indexed(self, paths: Sequence[str]) -> Response:
        """Index these paths, or start with them if they are not followed yet, and show the page."""
        if set(paths) <= set(self._settings.docs):
            indexing = self._console.observed.documents
            indexing.again(paths)
            await indexing.wait_until_over()
        else:
            self._console.open_reception().restart.set()
        return RedirectResponse(f"{self._settings.root}/sources", status_code=303)

    # ------------------------------------------------------------ adding and removing

    def changing(self, page: Page) -> Page:
        """Wrap a page that adds or removes documents: what is wrong is said on the page itself."""

        async def changed(request: Request) -> Response:
            texts = texts_of(request)
            if not allows_setup(self._settings):
                raise HTTPException(403, texts("sources-shut", name="FOOTNOTE_CONSOLE_SETUP=on"))
            try:
                return await page(request)
            except Invalid as error:
                return await self.page(request, 422, sentence_for(error, texts))
            except HTTPException as error:
                if error.status_code not in (413, 422):
                    raise
                return await self.page(request, error.status_code, error.detail)

        return changed

    async def upload(self, request: Request) -> Response:
        added, texts = self._added, texts_of(request)
        sent = await question_form_of(request, self._settings.fetch_max_bytes)
        over = "replace" in sent.fields
        if not sent.files:
            raise HTTPException(422, texts("sources-no-file"))
        added.check_names([file.name for file in sent.files], replace=over)
        # As the index does, not as the browser says.
        typed = [replace(file, media_type=media_type_of(file.name) or "") for file in sent.files]
        await check_readable(typed, self._console.workers, texts)
        for file in sent.files:
            await added.save(file.name, file.body, replace=over)
        return await self._indexed([str(added.uploads)])

    async def remove(self, request: Request) -> Response:
        added = self._added
        await added.remove((await form_of(request)).get("name", ""))
        return await self._indexed([str(added.uploads)])

    async def add_folder(self, request: Request) -> Response:
        """Show what is in a folder of the server, and add it once that was confirmed."""
        form, added = await form_of(request), self._added
        path = form.get("path", "").strip()
        new = await asyncio.to_thread(added.check, path, self._settings.docs)
        if "sure" not in form:
            return await self.page(request, new=new)
        await added.add(new)
        return await self._indexed([new.path])

    async def drop_folder(self, request: Request) -> Response:
        await self._added.drop((await form_of(request)).get("path", ""))
        self._console.open_reception().restart.set()
        return RedirectResponse(f"{self._settings.root}/sources", status_code=303)

    # ------------------------------------------------------------ folders

    async def _folders(self) -> list[Folder]:
        added = self._added
        kept, uploads = await added.folders(), str(added.uploads)
        followed = dict.fromkeys((*self._settings.docs, *kept))
        return [
            _folder(path, "uploads" if path == uploads else "added" if path in kept else "set")
            for path in followed
        ]

    def _count(self, folders: Sequence[Folder], roots: Sequence[Root]) -> None:
        """Count the files of the folders, by collection."""
        by_address = {each.address: each for each in folders if not each.problem}
        if not by_address or not self._settings.index_path.exists():
            return

        def group(url: str) -> tuple[str, str]:
            return innermost(url, by_address), collection_of(url, roots)

        paths = [each.path for each in by_address.values()]
        counted = tallies(self._settings.index_path, paths, group)
        for top, collection in sorted(counted):
            by_address[top].parts[collection] = counted[top, collection]

    @property
    def _present(self) -> list[str]:
        """The paths of the documents that are there."""
        return [path for path in self._settings.docs if not _folder(path).problem]

    def _place(self, url: str) -> str:
        """Return a file's path from the folder that is followed."""
        every = {_folder(path).address.rpartition("/")[0] for path in self._present}
        return path_of(url.removeprefix(f"{innermost(url, every)}/"))

    # ------------------------------------------------------------ what is shown of them

    def _collections(self) -> tuple[Sequence[Root], Sequence[Readership], Sentence]:
        """Return where the collections are, the collections, and what is wrong with them, or ""."""
        rights = self._console.rights
        try:
            return rights.roots, rights.collections, ""
        except InvalidSetting as error:
            return (), (), error.said

    def _others(self, texts: Texts) -> Iterator[str]:
        """Say what is searched besides the documents."""
        servers = {each.name: each for each in self._settings.mcp}
        names = [name for name in configured_names(self._settings) if name != "local"]
        for name in names:
            if name in servers:
                readers = texts.say(readers_of(servers[name]))
                yield texts("sources-server", name=name, readers=readers)
        if engines := ", ".join(name for name in names if name not in servers):
            yield texts("searched-providers", names=engines)
        if searches_conversations(self._settings):
            for name in sorted(self._console.observed.connections.keys() - {CONSOLE}):
                yield texts("sources-chat", name=name.capitalize())

    def _link(self, url: str, start: int = 0, end: int = 0) -> str:
        at = {"at": f"{start}-{end}"} if end else {}
        shown = f"{self._settings.root}/sources/text?{urlencode({'url': url, **at})}"
        return shown + "#at" * bool(end)

    def _passage(self, hit: Hit, text: str, asked: str) -> tuple[Hit, str, str, Markup, str]:
        """Return a hit with its path, its heading, its passage with the words marked, and a link to
        its place."""
        every = split(text)
        is_it = (each for each in every if " ".join(each.text.split()) == hit.snippet)
        one = next(is_it, every[0])
        marks = [Quoted("", *span) for span in spans_of_words(one.text, asked)]
        html = page_html(one.text, marks, below=BELOW)
        safe = Markup(html)  # noqa: S704 - sanitized
        href = self._link(hit.url, one.start, one.end)
        return hit, self._place(hit.url), one.heading, safe, href


def _folder(path: str, origin: Literal["set", "added", "uploads"] = "set") -> Folder:
    try:
        return Folder(path, origin, address(root_of(path)))
    except InvalidSetting as gone:
        return Folder(path, origin, problem=gone.said)


def source_pages(console: Console) -> Sequence[BaseRoute]:
    """Return the routes of these pages."""
    pages = _SourcePages(console)
    shown = {"": pages.page, "/files": pages.files, "/search": pages.search, "/text": pages.text}
    changes = {
        "upload": pages.upload,
        "remove": pages.remove,
        "add-folder": pages.add_folder,
        "drop-folder": pages.drop_folder,
    }
    return [
        *(
            Route(f"/sources{path}", with_audit(console, "read", "sources", operator_only(page)))
            for path, page in shown.items()
        ),
        Route("/sources/index", operator_only(pages.index), methods=["POST"]),
        *(
            Route(f"/sources/{name}", operator_only(pages.changing(change)), methods=["POST"])
            for name, change in changes.items()
        ),
    ]

"""Documents that an operator adds in the console of a running `footnote serve`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.scenario.conftest import DOCUMENTS
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked
from tests.scenario.test_serve_indexing import PATIENCE, answer

QUESTION = "How often is the master key rotated?"


def until(serving: Serving, path: str, is_so: Callable[[str], bool]) -> str:
    """Wait for a page that is so; returns it."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        page = httpx.get(f"{serving.http}{path}", timeout=60).text
        if is_so(page):
            return page
        time.sleep(0.05)
    raise AssertionError(f"it never was so: {page}\n{serving.said}")


def change(serving: Serving, verb: str, file: Path | None = None, **fields: str) -> None:
    """Send a form of the page."""
    with httpx.Client(base_url=serving.http, timeout=60) as browser:
        files = {"files": (file.name, file.read_bytes())} if file else None
        ours = {"Origin": serving.http}
        sent = browser.post(f"/sources/{verb}", data=fields, files=files, headers=ours)
        assert sent.status_code == 303, sent.text


def until_started(serving: Serving, times: int) -> None:
    """Wait until it has started so often."""
    ends = time.monotonic() + PATIENCE
    while serving.said.count("web is connected.") < times:
        assert time.monotonic() < ends, serving.said
        time.sleep(0.02)


def is_found(page: str) -> bool:
    return "1 of 1 file is searched." in page


def test_an_upload_is_cited_and_what_is_removed_is_gone(
    fork_server: ForkServer, footnote: Program, documents: Path
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS_POLL": "0"}  # nothing is found by chance
    with ending(start_forked(fork_server, footnote)) as serving:
        serving.until_said("web is connected.")
        assert "No documents yet." in until(serving, "/sources", lambda page: True)
        address = serving.http
        change(serving, "upload", documents / "keys.md")
        until_started(serving, 2)
        until(serving, "/sources", is_found)
        assert serving.http == address
        first = answer(serving, QUESTION)
        assert "90 days" in first["answer"]
        assert "sources/keys.md" in str(first["citations"])
        found = until(serving, "/sources/search?q=master+key", lambda page: "<mark" in page)
        assert "sources/keys.md" in found

        (documents / "keys.md").write_text(DOCUMENTS["keys.md"].replace("90", "45"))
        change(serving, "upload", documents / "keys.md", replace="yes")
        serving.until_said("0 new, 1 changed, 0 removed")
        assert "45 days" in answer(serving, QUESTION)["answer"]
    with ending(start_forked(fork_server, footnote)) as serving:
        until(serving, "/sources", is_found)
        assert "45 days" in answer(serving, QUESTION)["answer"]
        change(serving, "remove", name="keys.md")
        serving.until_said("0 new, 0 changed, 1 removed")
        assert "45 days" not in answer(serving, QUESTION)["answer"]
        page = httpx.get(f"{serving.http}/runs/{first['run']}/pages/1")
        assert "90 days" in page.text, "an answer keeps the page that it quotes"


def test_a_folder_is_added_beside_those_of_the_settings(
    fork_server: ForkServer, footnote: Program, documents: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (documents / "keys.md").rename(other / "keys.md")
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents)}
    with ending(start_forked(fork_server, footnote)) as serving:
        serving.until_said("web is connected.")
        change(serving, "add-folder", path=str(other), sure="yes")
        until_started(serving, 2)
        until(serving, "/sources", lambda page: "5 of 5 files are searched." in page)
        assert "90 days" in answer(serving, QUESTION)["answer"]
    with ending(start_forked(fork_server, footnote)) as serving:
        until(serving, "/sources", lambda page: "5 of 5 files are searched." in page)
        change(serving, "drop-folder", path=str(other))
        until_started(serving, 2)
        until(serving, "/sources", lambda page: "4 of 4 files are searched." in page)
        assert "90 days" not in answer(serving, QUESTION)["answer"]

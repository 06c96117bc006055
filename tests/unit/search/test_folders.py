"""Files that are documents, and the reasons why others are not."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from bot.core.errors import InvalidSetting
from bot.search.folders import Listing, list_documents, root_of


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Title\n\nText.\n", encoding="utf-8")


def names(listing: Listing, folder: Path) -> list[str]:
    return [os.path.relpath(each.path, folder) for each in listing.documents.values()]


def reasons(listing: Listing, folder: Path) -> dict[str, str]:
    return {os.path.relpath(path, folder): reason for path, reason in listing.skipped}


def test_documents_are_found_in_every_folder_in_a_fixed_order(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.txt", "a/b/c.html", "README")
    first = list_documents([tmp_path])
    assert sorted(names(first, tmp_path)) == ["README", "a/b/c.html", "a/z.txt", "b.md"]
    assert list(list_documents([tmp_path]).documents) == list(first.documents)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("a.MD", "text/markdown"),
        ("a.markdown", "text/markdown"),
        ("a.txt", "text/plain"),
        ("a.rst", "text/x-rst"),
        ("a.html", "text/html"),
        ("a.htm", "text/html"),
        ("LICENSE", "text/plain"),
    ],
)
def test_the_suffix_tells_the_kind(tmp_path: Path, name: str, media_type: str) -> None:
    write(tmp_path, name)
    (document,) = list_documents([tmp_path]).documents.values()
    assert document.media_type == media_type
    assert document.url == (tmp_path / name).as_uri()
    assert document.size == (tmp_path / name).stat().st_size


@pytest.mark.parametrize("folder", ["site", "site/_static"])
def test_scripts_and_data_of_a_web_site_are_no_documents(tmp_path: Path, folder: str) -> None:
    write(tmp_path, "site/index.html")
    for name in ("search.js", "search.json", "conf.py"):
        write(tmp_path, f"{folder}/{name}")
    write(tmp_path, "tools/search.js")
    found = {Path(each.path).name for each in list_documents([tmp_path]).documents.values()}
    assert found == {"index.html", "conf.py", "search.js"}


@pytest.mark.parametrize("name", ["a.png", "a.css", "package-lock.json", "a.tar.gz", "a.sqlite"])
def test_other_kinds_are_counted(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    listing = list_documents([tmp_path])
    assert not listing.documents
    assert listing.unread == {(tmp_path.as_uri(), Path(name).suffix): 1}


def test_a_file_named_outright_is_taken_whatever_its_suffix(tmp_path: Path) -> None:
    write(tmp_path, "notes.log", ".hidden.md")
    roots = [tmp_path / "notes.log", tmp_path / ".hidden.md"]
    assert names(list_documents(roots), tmp_path) == ["notes.log", ".hidden.md"]


@pytest.mark.parametrize(
    "name", [".git/a.md", ".env", "node_modules/x/README.md", "x/__pycache__/a.txt", "venv/a.md"]
)
def test_hidden_and_generated_files_are_left_out_silently(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, "kept.md")
    listing = list_documents([tmp_path])
    assert names(listing, tmp_path) == ["kept.md"]
    assert listing.skipped == []


@pytest.mark.parametrize(
    ("page", "is_read"), [("set/index.html", False), ("index.html", True), ("set/index.rst", True)]
)
def test_sources_of_sphinx_beside_their_pages_are_left_out(
    tmp_path: Path, page: str, is_read: bool
) -> None:
    write(tmp_path, page, "set/_sources/index.rst.txt")
    listing = list_documents([tmp_path])
    assert ("set/_sources/index.rst.txt" in names(listing, tmp_path)) == is_read
    assert listing.skipped == []


def test_overlapping_roots_give_each_file_once(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.md", "a/d.md")
    roots = [tmp_path / "a" / "b", tmp_path, tmp_path / "a" / "d.md", tmp_path / "a"]
    assert sorted(names(list_documents(roots), tmp_path)) == ["a/b/c.md", "a/d.md"]


# ---------------------------------------------------------------- links


def test_a_ring_of_links_ends(tmp_path: Path) -> None:
    write(tmp_path, "a/one.md")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "b").symlink_to("a")
    listing = list_documents([tmp_path])
    assert names(listing, tmp_path) == ["a/one.md"]
    assert reasons(listing, tmp_path) == {"a/self": "a link that leads nowhere"}


def test_links_out_of_the_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "secret/key.md")
    (tmp_path / "docs" / "key.md").symlink_to("../secret/key.md")
    (tmp_path / "docs" / "more").symlink_to("../secret")
    listing = list_documents([tmp_path / "docs"])
    assert names(listing, tmp_path) == ["docs/a.md"]
    assert set(reasons(listing, tmp_path).values()) == {
        "a link that leads out of the indexed folders"
    }


def test_a_link_that_may_not_be_followed_is_skipped(tmp_path: Path) -> None:
    """Linux shows nobody outside of it where the first process works."""
    write(tmp_path, "a.md")
    (tmp_path / "b").symlink_to("/proc/1/cwd")
    listing = list_documents([tmp_path])
    assert names(listing, tmp_path) == ["a.md"]
    assert list(reasons(listing, tmp_path)) == ["b"]


def test_a_link_into_another_root_is_followed_once(tmp_path: Path) -> None:
    write(tmp_path, "a/a.md", "b/b.md")
    (tmp_path / "a" / "b.md").symlink_to("../b/b.md")
    listing = list_documents([tmp_path / "a", tmp_path / "b"])
    assert sorted(names(listing, tmp_path)) == ["a/a.md", "b/b.md"]
    assert listing.skipped == []


def test_a_mounted_config_map_is_read_through_its_links(tmp_path: Path) -> None:
    """Kubernetes mounts files as links into a hidden, dated folder that changes on update."""
    write(tmp_path, "..2026_01_01/guide.md")
    (tmp_path / "..data").symlink_to("..2026_01_01")
    (tmp_path / "guide.md").symlink_to("..data/guide.md")
    assert names(list_documents([tmp_path]), tmp_path) == ["guide.md"]


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "docs").symlink_to("real")
    assert root_of(tmp_path / "docs") == tmp_path.resolve() / "real"


# ---------------------------------------------------------------- what cannot be read


def test_a_folder_that_cannot_be_opened_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "open/a.md", "shut/b.md")
    opened = os.open

    def refuse(name: str, flags: int, *, dir_fd: int | None = None) -> int:
        if name == "shut":
            raise PermissionError(13, "Permission denied", name)
        return opened(name, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse)  # permissions do not bind root
    listing = list_documents([tmp_path])
    assert names(listing, tmp_path) == ["open/a.md"]
    assert reasons(listing, tmp_path) == {"shut": "the folder cannot be opened (Permission denied)"}


def test_pipes_and_sockets_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s.md"))
        listing = list_documents([tmp_path])
    assert not listing.documents
    assert set(reasons(listing, tmp_path).values()) == {"it is not a regular file"}


def test_names_of_any_bytes_are_listed_and_printable(tmp_path: Path) -> None:
    raw = os.fsdecode(b"caf\xe9.md")
    write(tmp_path, raw, "Ünïcode 长城 #1?.md", os.fsdecode(b"bad\xff.png"))
    listing = list_documents([tmp_path])
    assert all(url.isascii() for url in listing.documents)
    assert len(listing.documents) == 2
    for path, _ in listing.skipped:
        path.encode("utf-8")


@pytest.mark.parametrize("name", ["none", "none/deeper", "a\x00b", "~nobody-of-that-name/x"])
def test_a_root_that_does_not_exist_is_a_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidSetting, match="no file or folder"):
        root_of(f"{tmp_path}/{name}" if name[0] != "~" else name)

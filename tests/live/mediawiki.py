"""Debian's MediaWiki on loopback: SQLite, PHP's built-in server, filled with pages.

The wiki is installed and filled once for a test run, by whichever worker comes first; each worker
that needs it serves it on a port of its own, so that nobody's server outlives its worker.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import SHARED
from tests.fakes.mediawiki import WIKI_PAGES

MEDIAWIKI = Path("/usr/share/mediawiki")
START_SECONDS = 60.0
SHARED_PAGES = 300

LIVE_PAGES = {
    **WIKI_PAGES,
    "Tide table": (
        "A '''tide table''' lists the times of high water.\n\n"
        '{| class="wikitable"\n! Port !! High water\n'
        "|-\n| Brest || 04:12\n|-\n| Dover || 11:05\n|}\n\n"
        "== See also ==\n* [[Journal of Tides]]\n"
    ),
}

_SETTINGS = """
if ( !getenv( 'LIVE_WIKI_WITHOUT_EXTRACTS' ) ) {
    wfLoadExtension( 'TextExtracts' );
}
$wgArticlePath = '/wiki/$1';
$wgUsePathInfo = true;
$wgServer = getenv( 'LIVE_WIKI_SERVER' ) ?: 'http://127.0.0.1';
$wgJobRunRate = 0;                 // a test's request runs nobody's jobs
$wgParserCacheType = CACHE_NONE;   // several servers read one database: let them not write
$wgMessageCacheType = CACHE_NONE;
$wgShowExceptionDetails = true;
// What the Disambiguator extension does, which Debian does not have: a page property by magic word.
$wgExtensionMessagesFiles['DisambiguationMagic'] = __DIR__ . '/magic.php';
$wgHooks['GetDoubleUnderscoreIDs'][] = static function ( array &$ids ) {
    $ids[] = 'disambiguation';
};
"""

_MAGIC = """<?php
$magicWords = [];
$magicWords['en'] = [ 'disambiguation' => [ 0, '__DISAMBIG__' ] ];
"""

_ROUTER = f"""<?php
$path = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
if ( preg_match( '~^/w/(api|load|index)\\.php~', $path, $match ) ) {{
    $script = $match[1];
}} elseif ( str_starts_with( $path, '/wiki/' ) ) {{
    $script = 'index';
}} else {{
    http_response_code( 404 );
    return true;
}}
$_SERVER['SCRIPT_NAME'] = "/w/$script.php";
$_SERVER['SCRIPT_FILENAME'] = "{MEDIAWIKI}/$script.php";
chdir( '{MEDIAWIKI}' );
require "{MEDIAWIKI}/$script.php";
"""


@dataclass(frozen=True, slots=True)
class LiveWiki:
    """A running wiki: its origin, ``http://127.0.0.1:PORT``, and the titles it was filled with."""

    url: str
    titles: frozenset[str]


@pytest.fixture(scope="session")
def live_wiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWiki]:
    """Debian's MediaWiki; skipped where it is not installed, a failure in CI (tests/conftest)."""
    wiki, pages = _filled_wiki(tmp_path_factory)
    with _served(wiki, {}) as url:
        yield LiveWiki(url, frozenset(pages))


@pytest.fixture(scope="session")
def live_wiki_without_extracts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWiki]:
    """The same wiki without the TextExtracts extension."""
    wiki, pages = _filled_wiki(tmp_path_factory)
    with _served(wiki, {"LIVE_WIKI_WITHOUT_EXTRACTS": "1"}) as url:
        yield LiveWiki(url, frozenset(pages))


def _filled_wiki(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    if not (shutil.which("php") and (MEDIAWIKI / "api.php").exists()):
        pytest.skip("MediaWiki is not installed: run .ci/install-live as root")
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # common to the workers of one test run
    pages = _pages()
    _install_once(folder / "live-wiki", pages)
    return folder / "live-wiki", pages


def _pages() -> dict[str, str]:
    """The tests' own pages, and some from the shared data where it is there."""
    pages = dict(LIVE_PAGES)
    data = SHARED / "data" / "multihop" / "pages.json"
    if data.exists():
        shared = json.loads(data.read_text(encoding="utf-8"))
        pages |= dict(list(shared.items())[:SHARED_PAGES])
    return pages


def _install_once(wiki: Path, pages: Mapping[str, str]) -> None:
    with open(f"{wiki}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (wiki / "ready").exists():
            shutil.rmtree(wiki, ignore_errors=True)
            _install(wiki)
            _import(wiki, pages)
            (wiki / "ready").touch()


def _install(wiki: Path) -> None:
    (wiki / "data").mkdir(parents=True)
    _php(
        wiki,
        "install",
        *("--confpath", str(wiki), "--dbtype", "sqlite", "--dbpath", str(wiki / "data")),
        *("--dbname", "live", "--server", "http://127.0.0.1", "--scriptpath", "/w"),
        *("--lang", "en", "--pass", "correct-horse-battery", "--skins", ""),
        *("Live Wiki", "Admin"),
    )
    with open(wiki / "LocalSettings.php", "a") as settings:
        settings.write(_SETTINGS)
    (wiki / "magic.php").write_text(_MAGIC)
    (wiki / "router.php").write_text(_ROUTER)


def _import(wiki: Path, pages: Mapping[str, str]) -> None:
    folder = wiki / "pages"
    folder.mkdir()
    files = []
    for title, text in pages.items():
        if "/" in title:  # no file can be called so
            _php(wiki, "edit", "--", title, text=text)
            continue
        file = folder / f"{title}.txt"
        file.write_text(text, encoding="utf-8")
        files.append(str(file))
    _php(wiki, "importTextFiles", "--bot", "--", *files)


def _php(wiki: Path, script: str, *arguments: str, text: str | None = None) -> None:
    done = subprocess.run(
        ["php", str(MEDIAWIKI / "maintenance" / f"{script}.php"), *arguments],
        env={**os.environ, "MW_CONFIG_FILE": str(wiki / "LocalSettings.php")}
        if script != "install"
        else None,
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script}.php failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


@contextlib.contextmanager
def _served(wiki: Path, variables: Mapping[str, str]) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "MW_CONFIG_FILE": str(wiki / "LocalSettings.php"),
        "LIVE_WIKI_SERVER": url,
        **variables,
    }
    environment.pop("PHP_CLI_SERVER_WORKERS", None)
    with open(wiki / f"server-{port}.log", "wb") as log:
        server = subprocess.Popen(
            ["php", "-S", f"127.0.0.1:{port}", str(wiki / "router.php")],
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            _wait_for(f"{url}/w/api.php?action=query&meta=siteinfo&format=json", server)
            yield url
        finally:
            server.terminate()
            server.wait(20)


def _wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Nothing tells when PHP's server listens, so it is asked until it answers."""
    ends = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=START_SECONDS) as reply:
                reply.read()
                return
        except OSError:
            if server.poll() is not None or time.monotonic() > ends:
                raise
        time.sleep(0.05)

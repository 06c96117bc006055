"""Packages of documentation, fetched once and unpacked into a cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

from tests.bench.documentation.sets import DocumentationSet
from tests.bench.frame import tell

VARIABLE = "FOOTNOTE_BENCH_DOCUMENTATION"
"""Names the cache folder. Footnote refuses variables of this prefix that it does not know, so it
is taken out of the environment as soon as it is read."""


def cache_folder(given: Path | None) -> Path:
    """The folder of packages, clean copies and indexes: what was given, else the variable, else
    a folder in the user's cache."""
    named = os.environ.pop(VARIABLE, "")
    folder = given or (
        Path(named) if named else user_cache_path("footnote") / "bench-documentation"
    )
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def root_of(docs: DocumentationSet, cache: Path) -> Path:
    """A clean copy of the set's root, fetched and made when it is not there yet.

    Raises ``SystemExit`` when the package cannot be fetched or has no such folder.
    """
    copy = cache / "sets" / docs.name
    if copy.is_dir():
        return copy
    package = _unpacked(docs, cache / "packages")
    source = (package / docs.root).resolve()
    if not source.is_dir():
        raise SystemExit(f"{docs.package} has no folder {docs.root}: correct the set {docs.name}.")
    copy.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=copy.parent) as made:
        clean_copy(source, Path(made, "root"), package.resolve())
        Path(made, "root").rename(copy)
    return copy


def clean_copy(source: Path, target: Path, package: Path) -> None:
    """Copy a folder without links.

    Debian replaces files that several packages or folders share by links. What a link leads to is
    copied in its place if it lies in the package and is not copied anyway; all other links are
    left out.
    """
    target.mkdir()
    for entry in sorted(source.iterdir()):
        place = entry
        if entry.is_symlink():
            found = _behind(entry, package)
            if found is None or found.is_relative_to(source) or source.is_relative_to(found):
                continue
            place = found
        if place.is_dir():
            clean_copy(place, target / entry.name, package)
        else:
            shutil.copy2(place, target / entry.name)


def _behind(link: Path, package: Path) -> Path | None:
    """The target of a link in the package, None outside; absolute ones start at its top."""
    said = Path(os.readlink(link))
    place = package / said.relative_to("/") if said.is_absolute() else link.parent / said
    found = place.resolve()
    return found if found.exists() and found.is_relative_to(package) else None


# ---------------------------------------------------------------- fetching


def _unpacked(docs: DocumentationSet, packages: Path) -> Path:
    folder = packages / docs.package
    if folder.is_dir():
        return folder
    packages.mkdir(parents=True, exist_ok=True)
    tell(f"fetching {docs.package}")
    with tempfile.TemporaryDirectory(dir=packages) as made:
        work = Path(made)
        if docs.registry == "debian":
            _run(["apt-get", "download", docs.package], work)
            _run(["dpkg", "-x", str(next(work.glob("*.deb"))), "unpacked"], work)
        else:
            _run(["npm", "pack", "--silent", docs.package], work)
            with tarfile.open(next(work.glob("*.tgz"))) as archive:
                archive.extractall(work / "unpacked", filter="data")
        (work / "unpacked").rename(folder)
    return folder


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is not installed, which fetches {command[-1]}.") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"`{' '.join(command)}` failed: {error.stderr.strip()}") from None

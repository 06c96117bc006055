"""The repository as a project: version, workflows, links of its own pages."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest
import yaml

import bot
from bot.core.extras import EXTRAS

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = sorted(ROOT.glob("*.md"))


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["dynamic"] == ["version"]
    assert metadata("footnote-bot")["Version"] == bot.__version__


def test_the_changelog_begins_with_the_version() -> None:
    headings = re.findall(r"^## (\S+), ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == bot.__version__


@pytest.mark.parametrize("package", ["bot", "adapters"])
def test_the_packages_say_that_they_are_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_the_wheel_leaves_out_nothing_but_the_readmes_pictures() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (pattern,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]
    assert Path(pattern).parts[:2] == ("bot", "handbook"), "what the console shows is needed"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_commit(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]

    assert used
    assert [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each)] == []


def test_the_checks_run_what_must_pass_on_every_supported_python() -> None:
    checks = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8"))
    run = checks["jobs"]["run"]

    assert run["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert [step["run"] for step in run["steps"] if "run" in step] == [".ci/run"]


def test_what_must_pass_is_the_readmes_command_and_then_the_slow_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, command = re.findall(r"^```sh\n(.*?)\n```$", readme, re.M | re.S)
    lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()

    assert project["tool"]["pytest"]["ini_options"]["addopts"].endswith(" -m 'not slow'")
    assert command.endswith(" && .venv/bin/pytest -n 4"), "all that is not slow"
    assert "set -euo pipefail" in lines
    readmes = lines.index('bash -euo pipefail -c "$test_command"')
    assert readmes < lines.index("bash .ci/install-live"), "it needs Python and pip only"
    assert lines[-1] == '.venv/bin/pytest -n 4 -m "${SLOW:-slow}"'


def test_the_extras_are_those_that_the_code_asks_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    (everything,) = extras.pop("all")

    assert list(extras) == list(EXTRAS)
    assert everything == f"footnote-bot[{','.join(EXTRAS)}]"


def test_the_handbook_tells_what_each_extra_is_for() -> None:
    page = (ROOT / "bot/handbook/getting-started.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^\| `(\w+)` \|", page, re.M)) == {*EXTRAS, "all"}


def test_the_lock_has_what_only_newer_pythons_need() -> None:
    """discord.py needs a package from 3.13 on that older Pythons have in their library."""
    lock = (ROOT / "requirements-test.lock").read_text(encoding="utf-8")

    assert re.search(r"^audioop-lts==\S+ ; python_full_version >= '3.13' \\$", lock, re.M)


@pytest.mark.parametrize("script", [".ci/run", ".ci/lock", ".ci/install-live", "deploy/release"])
def test_a_script_can_be_run(script: str) -> None:
    path = ROOT / script
    subprocess.run(["bash", "-n", str(path)], check=True)

    assert path.stat().st_mode & 0o100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [match.partition("#")[0] for match in re.findall(r"\]\(([^)\s]+)\)", text)]

    assert [
        each for each in targets if not each.startswith("https://") and not (ROOT / each).exists()
    ] == []

"""Installing from a folder of wheels without a network: as the handbook says, as the image does."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.unit.test_deploy import instructions

pytestmark = pytest.mark.skipif("CI" not in os.environ, reason="downloads 60 MB: set CI=1")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "bot" / "handbook" / "air-gap.md"
MOST = 250_000_000  # bytes that the image adds to its base
# Serves, and prints what the console's first page answers.
SERVE = """
ip link set lo up
page='import urllib.request as r; print(r.urlopen("http://127.0.0.1:8080/").read())'
{0}/bin/footnote serve &
for try in $(seq 60); do
    {0}/bin/python -c "$page" && break
    sleep 0.5
done
kill %1
wait %1
"""


@pytest.fixture
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds ``wheels``, gathered as the page says, with the image's extras."""
    outside = tmp_path_factory.mktemp("outside")
    gathering, _, _ = re.findall(
        r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    (extras,) = [line for line in instructions("ARG") if line.startswith("EXTRAS=")]
    assert extras.removeprefix("EXTRAS=").strip('"') in gathering
    command = gathering.replace("deploy/wheels", str(ROOT / "deploy" / "wheels"))
    subprocess.run(["bash", "-euc", command], cwd=outside, check=True)
    return outside


def inside(commands: str, folder: Path, data: Path) -> str:
    """The output of commands in a shell without a network."""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PIP_")}
    environment["FOOTNOTE_DATA_DIR"] = str(data)
    environment["PIP_NO_COMPILE"] = "0"  # pip reads 0 as "do not compile": saves half a minute
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        ["unshare", "--net", "bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_image_and_the_handbooks_commands_install_a_program_that_answers(
    wheels: Path, tmp_path: Path
) -> None:
    """One after the other into one folder, for time: the second finds what the first installed."""
    there, data = tmp_path / "there", tmp_path / "d"
    inside(recipe_into(there, wheels), wheels, data)
    files = [each for each in there.rglob("*") if each.is_file() and not each.is_symlink()]
    size = sum(each.stat().st_size for each in files)
    assert size < MOST, f"{size / 1e6:.0f} MB"
    assert not [each for each in files if each.parent.name == "pip"]
    assert [each for each in files if each.match("anthropic/__pycache__/_client.*.pyc")]
    assert "icon-192.png" in inside(SERVE.format(there), wheels, data)

    _, installing, _ = re.findall(
        r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    installing = installing.replace("/opt/footnote", str(there))
    told = inside(installing, wheels, data)
    assert told.count("Requirement already satisfied") >= 60
    assert "Successfully installed" not in told
    assert "[1]" in told
    with (wheels / "wheels" / "SHA256SUMS").open("a") as sums:
        sums.write(f"{'0' * 64}  needed.txt\n")
    with pytest.raises(AssertionError, match="computed checksum did NOT match"):
        inside(installing, wheels, data)


def recipe_into(there: Path, wheels: Path) -> str:
    """The commands by which the image installs from its wheels, with folders of ours."""
    (recipe,) = [line for line in instructions("RUN") if "deploy/wheels" in line]
    gathering, _, installing = recipe.partition(" && ")
    assert gathering == 'deploy/wheels /tmp/wheels "${EXTRAS}"'
    for place, ours in (
        ("/opt/footnote", str(there)),
        ("/tmp/wheels", str(wheels / "wheels")),
        ("deploy/compiled.py", str(ROOT / "deploy" / "compiled.py")),
    ):
        installing = installing.replace(place, ours)
    return installing

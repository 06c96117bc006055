"""The files in deploy/ match what the program can do."""

from __future__ import annotations

import asyncio
import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
import yaml
from prometheus_client.parser import text_string_to_metric_families
from starlette.routing import Route

from bot import __version__
from bot.cli.command import EXIT_USAGE
from bot.cli.main import app
from bot.core.measurements import Observed
from bot.core.settings import Settings
from bot.operation.configuration import known_names, load_settings, secret_names
from bot.operation.console_access import has_console
from bot.operation.health import Readiness, health_routes, http_endpoint
from bot.operation.http_connection import MOST_CONNECTIONS, OTHER_FILES, SPARE
from bot.operation.metrics import Metrics
from bot.service.dispatch.dispatcher import DRAIN_SECONDS, is_queued
from bot.service.platform import Connection
from bot.storage.database import open_database
from bot.storage.store import open_store
from tests.fakes.postgres import Postgres
from tests.unit.storage.past import Past

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service["image"] == "footnote"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRA_SECONDS = 10  # beyond those of draining, as the handbook asks for
EXAMPLE = {"POSTGRES_PASSWORD": "letters123", "FOOTNOTE_CONSOLE_TOKEN": "a-long-enough-token"}


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check_command(words: list[str]) -> Mapping[str, Any]:
    """The options of a command line of ``footnote``; fails where it would not be understood."""
    group = typer.main.get_command(app)
    context = typer.Context(group, info_name="footnote")
    name, command, rest = group.resolve_command(context, list(words))  # type: ignore[attr-defined]
    made = command.make_context(name, rest, parent=context)
    return dict(made.params)


def filled(text: str) -> str:
    """The text with each ``${NAME:?…}`` filled in as Compose does."""
    return re.sub(r"\$\{(\w+)[^}]*\}", lambda found: EXAMPLE[found[1]], text)


def settings_of(service: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """As the service's container has them, with a .env that holds what compose.yaml asks for."""
    environment = {name: filled(str(v)) for name, v in SERVICES[service]["environment"].items()}
    for name, value in {**EXAMPLE, **environment}.items():
        monkeypatch.setenv(name, value)
    return load_settings()


def seconds_of(text: str) -> int:
    found = re.fullmatch(r"(\d+)(s|m)", text)
    assert found is not None, text
    return int(found[1]) * (60 if found[2] == "m" else 1)


def test_there_are_a_database_a_listener_and_two_workers() -> None:
    assert set(SERVICES) == {"database", "listener", "worker"}
    assert SERVICES["worker"]["deploy"]["replicas"] == 2
    assert re.fullmatch(r"postgres:\d+", SERVICES["database"]["image"]), "a public name"


@pytest.mark.parametrize("name", OURS)
def test_the_command_of_a_service_is_one_that_there_is(name: str) -> None:
    options = check_command(SERVICES[name]["command"])
    assert options["no_work" if name == "listener" else "health_port"]


@pytest.mark.parametrize("name", OURS)
def test_the_settings_of_a_service_are_known_and_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(SERVICES[name]["environment"]) <= set(known_names())
    settings = settings_of(name, monkeypatch)
    assert is_queued(settings)
    assert has_console(settings)
    assert EXAMPLE["POSTGRES_PASSWORD"] in settings.database


def test_all_speak_of_the_same_database(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = SERVICES["database"]["environment"]
    address = urlsplit(settings_of("worker", monkeypatch).database)
    assert address.hostname in SERVICES
    assert address.username == environment["POSTGRES_USER"]
    assert address.password == filled(environment["POSTGRES_PASSWORD"])
    assert address.path == f"/{environment['POSTGRES_DB']}"
    ready = SERVICES["database"]["healthcheck"]["test"]
    assert f"--username={address.username}" in ready
    assert all(SERVICES[name]["depends_on"] == WAITS for name in OURS)


WAITS = {"database": {"condition": "service_healthy"}}


@pytest.mark.parametrize("name", OURS)
def test_a_service_has_time_to_drain(name: str) -> None:
    grace = seconds_of(SERVICES[name]["stop_grace_period"])
    assert grace >= DRAIN_SECONDS + EXTRA_SECONDS


def test_the_port_that_is_published_is_listened_on_and_closed_to_other_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (published,) = SERVICES["listener"]["ports"]
    host, outside, inside = published.split(":")
    assert host == "127.0.0.1"
    assert inside == outside == str(settings_of("listener", monkeypatch).http_port)
    assert "ports" not in SERVICES["worker"]
    assert "ports" not in SERVICES["database"]


# ---------------------------------------------------------------- health


def health_command(name: str) -> list[str]:
    """The command by which Docker checks the health of a service."""
    if name != "image":
        kind, *command = SERVICES[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return list(command)
    return list(json.loads(instruction("HEALTHCHECK").partition("CMD ")[2]))


def address_asked(command: list[str]) -> str:
    found = re.search(r"http://[^']+", command[-1])
    assert found is not None
    return found[0]


@pytest.mark.parametrize("name", ["image", *OURS])
def test_health_is_asked_for_where_it_is_told(name: str) -> None:
    address = urlsplit(address_asked(health_command(name)))
    routes = health_routes(Readiness(None))  # type: ignore[arg-type]
    assert address.path in [route.path for route in routes if isinstance(route, Route)]
    words = SERVICES[name]["command"] if name != "image" else []
    given = check_command(words).get("health_port") if words else None
    ports = SERVICES[name]["environment"] if name != "image" else image_settings()
    assert address.port == int(given or ports["FOOTNOTE_HTTP_PORT"])


@pytest.mark.parametrize("name", ["image", *OURS])
async def test_the_command_that_asks_for_health_tells_life_from_death(
    name: str, tmp_path: Path
) -> None:
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'f.sqlite'}")
    command = health_command(name)
    assert command[0] == "python"
    there = f"http://127.0.0.1:{urlsplit(address_asked(command)).port}"

    async def healthy(address: str) -> bool:
        asked = [sys.executable, *(word.replace(there, address) for word in command[1:])]
        process = await asyncio.create_subprocess_exec(*asked, stderr=subprocess.DEVNULL)
        return await process.wait() == 0

    async with http_endpoint("127.0.0.1", 0, health_routes(Readiness(database))) as address:
        assert await healthy(address)
    assert not await healthy(address)
    await database.close()


# ---------------------------------------------------------------- the image


DOCKERFILE = re.sub(
    r" *\\\n *", " ", (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
).splitlines()


def instructions(name: str) -> list[str]:
    return [line.partition(" ")[2] for line in DOCKERFILE if line.startswith(f"{name} ")]


def instruction(name: str) -> str:
    (found,) = instructions(name)
    return found


def image_settings() -> dict[str, str]:
    pairs = (word.partition("=") for word in shlex.split(instruction("ENV")))
    return {name: value for name, _, value in pairs if name.startswith("FOOTNOTE_")}


def test_the_image_runs_a_python_that_is_enough() -> None:
    """Its base stands in one place, where a digest can be written behind it."""
    assert {line.split()[0] for line in instructions("FROM")} == {"${BASE}"}
    (base,) = [line for line in instructions("ARG") if line.startswith("BASE=")]
    found = re.fullmatch(r"BASE=python:([\d.]+)-slim(@sha256:[0-9a-f]{64})?", base)
    assert found is not None, base
    assert PROJECT["requires-python"] == f">={found[1]}", "the one that the tests run on"


def test_the_image_starts_a_command_that_there_is_and_not_as_root() -> None:
    (entry,) = json.loads(instruction("ENTRYPOINT"))
    assert entry in PROJECT["scripts"]
    check_command(json.loads(instruction("CMD")))
    assert int(instruction("USER")) > 0


def test_the_settings_of_the_image_are_known_and_its_data_outlive_it() -> None:
    settings = image_settings()
    assert set(settings) <= set(known_names())
    folder = settings["FOOTNOTE_DATA_DIR"]
    assert folder == instruction("VOLUME") == instructions("WORKDIR")[-1]


def test_what_is_copied_is_there_and_is_not_kept_out() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        source
        for line in instructions("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    ]
    assert copied
    for source in copied:
        assert (ROOT / source).exists()
        assert any(line == f"!{source}" or line.startswith(f"!{source}/") for line in ignored)
    assert ignored[0] == "*", "a .env never comes into an image"


def test_the_image_has_every_extra_that_works_in_it_and_the_sbom_all() -> None:
    (given,) = [line for line in instructions("ARG") if line.startswith("EXTRAS=")]
    extras = set(PROJECT["optional-dependencies"]) - {"all"}
    left_out = {"browser", "pandoc", "vectors"}
    assert set(re.findall(r"\w+", given.partition("=")[2])) == extras - left_out
    assert '"[all]"' in (DEPLOY / "release").read_text(encoding="utf-8")


def test_the_builder_of_our_own_wheel_is_locked() -> None:
    """tests/live/test_air_gap.py installs what the image has, by hashes and without a network."""
    locked = (DEPLOY / "build.lock").read_text(encoding="utf-8")
    entries = re.findall(r"^[\w-]+==\S+ \\\n    --hash=sha256:[0-9a-f]{64}$", locked, re.MULTILINE)
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (backend,) = pyproject["build-system"]["requires"]
    assert re.split("[>=]", backend)[0] in {entry.partition("==")[0] for entry in entries}


def test_the_data_are_for_nobody_else_in_the_image() -> None:
    (made,) = [line for line in instructions("RUN") if "install --directory" in line]
    assert (
        f"install --directory --mode 0700 --owner footnote --group footnote {instruction('VOLUME')}"
        in made
    )


def test_only_what_an_installation_needs_is_installed_by_its_hashes(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    folder = {"metadata": {"name": "footnote-bot"}, "is_direct": True}
    wheels = [
        {"metadata": {"name": name}, "is_direct": False}
        for name in ("SQLAlchemy", "typing_extensions")
    ]

    def run(*installs: object) -> subprocess.CompletedProcess[str]:
        report.write_text(json.dumps({"install": installs}), encoding="utf-8")
        files = (DEPLOY / "needed.py", report, ROOT / "requirements-test.lock")
        command = [sys.executable, *map(str, files)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    entries = run(folder, *wheels).stdout.split("\n")
    assert [e.partition("==")[0] for e in entries if "==" in e] == [
        "sqlalchemy",
        "typing-extensions",
    ]
    assert sum("--hash=sha256:" in entry for entry in entries) > 2
    other = {"metadata": {"name": "left-pad"}, "is_direct": False}
    failed = run(other)
    assert failed.returncode == 1
    assert failed.stderr == "Not in the lock file: left-pad.\n"


# ---------------------------------------------------------------- systemd


def test_the_unit_starts_a_command_that_there_is_with_time_to_drain() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "footnote.service", encoding="utf-8")
    service = unit["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert Path(program).name in PROJECT["scripts"]
    check_command(words)
    assert int(service["RestartPreventExitStatus"]) == EXIT_USAGE
    assert int(service["TimeoutStopSec"]) >= DRAIN_SECONDS + EXTRA_SECONDS
    name, _, folder = service["Environment"].partition("=")
    assert name in known_names()
    assert folder == f"/var/lib/{service['StateDirectory']}" == service["WorkingDirectory"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_the_unit_is_shut_as_far_as_it_can_be() -> None:
    unit = str(DEPLOY / "footnote.service")
    command = ["systemd-analyze", "security", "--no-pager", "--offline=true", unit]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(r"exposure level for footnote\.service: ([\d.]+)", told)
    assert found is not None, told
    assert float(found[1]) <= 2.0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = (DEPLOY / "footnote.service").read_text(encoding="utf-8")
    assert "Type=notify\n" in unit, "it is told by bot/systemd.py"
    there = tmp_path / "footnote.service"
    there.write_text(unit.replace("/opt/footnote/bin/footnote", sys.executable), encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(there)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout + told.stderr) == (0, "")


def test_the_unit_opens_as_many_files_as_connections_need() -> None:
    unit = (DEPLOY / "footnote.service").read_text(encoding="utf-8")
    (files,) = re.findall(r"^LimitNOFILE=(\d+)$", unit, re.MULTILINE)
    assert int(files) >= MOST_CONNECTIONS + SPARE + OTHER_FILES


# ---------------------------------------------------------------- Kubernetes


def test_the_chart_knows_every_secret_and_has_the_version_of_the_program() -> None:
    """The chart that Helm renders is checked in tests/live."""
    schema = json.loads((DEPLOY / "helm" / "values.schema.json").read_text(encoding="utf-8"))
    assert schema["definitions"]["secretName"]["enum"] == sorted(secret_names())
    assert set(schema["definitions"]["set"]["enum"]) <= set(known_names())
    chart = yaml.safe_load((DEPLOY / "helm" / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["version"] == chart["appVersion"] == __version__


# ---------------------------------------------------------------- alarms


async def _known_metrics(postgres: Postgres) -> dict[str, set[str]]:
    """The names of all metrics that an installation tells, each with the names of its labels."""
    store = await open_store(postgres.migrated())
    observed = Observed()
    observed.calls.add("slack", "chat.postMessage", "429", 0.1)
    observed.model_observer("m")("limited", 1)
    observed.search_observer("brave")("ok", 1)
    observed.record_fetch("ok", 1)
    observed.resting = lambda: {"brave": 3.0}
    observed.connections = {"slack": Connection()}
    past = Past(store, at=datetime.now(UTC) + timedelta(seconds=1))
    metrics = Metrics(store.database, observed)
    await past.answered()
    text = (await metrics.exposition()).decode()
    await store.close()
    known: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        # A family without samples, such as the providers' errors, is known by its name.
        kinds = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
        for ending in kinds.get(family.type, ("",)):
            known.setdefault(family.name + ending, set())
        for sample in family.samples:
            known.setdefault(sample.name, set()).update(sample.labels)
    return known


def _labels(expression: str) -> set[str]:
    """The labels that a PromQL expression selects or groups by."""
    labels = set(re.findall(r"(\w+)(?:=|!=|=~|!~)\"", expression))
    for grouped in re.findall(r"by \(([\w, ]+)\)", expression):
        labels |= set(grouped.split(", "))
    return labels


async def test_alarms_are_about_numbers_and_labels_that_there_are(postgres: Postgres) -> None:
    known = await _known_metrics(postgres)
    document = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))
    rules = document["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 5
    for rule in rules:
        names = re.findall(r"footnote_\w+", rule["expr"])
        assert names or re.search(r"\bup\b", rule["expr"]), rule["alert"]
        assert set(names) <= set(known), rule["alert"]
        labels = {"job", "instance"}.union(*(known[name] for name in names))
        assert _labels(rule["expr"]) <= labels, rule["alert"]


async def test_the_dashboard_shows_every_number_there_is(postgres: Postgres) -> None:
    known = await _known_metrics(postgres)
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert all(panel["title"] and panel["description"] for panel in panels)
    sampled = {name for name, labels in known.items() if labels}
    shown: set[str] = set()
    for expression in (target["expr"] for panel in panels for target in panel["targets"]):
        names = set(re.findall(r"footnote_\w+|process_\w+", expression))
        assert names <= set(known), expression
        # Prometheus itself adds the first three; "le" is a histogram's own.
        labels = {"job", "instance", "le"}.union(*(known[name] for name in names))
        if all(name in sampled for name in names):
            assert _labels(expression) <= labels, expression
        shown |= names
    ours = {re.sub(r"_(bucket|count|sum)$", "", name) for name in known if "footnote_" in name}
    assert ours <= {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown}


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {
            (at["x"] + across, at["y"] + down)
            for across in range(at["w"])
            for down in range(at["h"])
        }
        assert at["x"] + at["w"] <= 24  # Grafana's grid
        assert not cells & taken, panel["title"]
        taken |= cells


def test_alarms_are_scraped_where_the_containers_tell_their_numbers() -> None:
    text = (DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8")
    (target,) = re.findall(r'targets: \["([^"]+)"\]', text)
    assert target == f"listener:{SERVICES['listener']['environment']['FOOTNOTE_HTTP_PORT']}"
    ((service, port),) = re.findall(r"names: \[(\w+)\], type: A, port: (\d+)", text)
    assert check_command(SERVICES[service]["command"])["health_port"] == int(port)

"""The pods of the Helm chart, run as they are described: a user without any privilege, a read-only
root, their volumes, and no network but the one inside of the pod."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.postgres import Postgres
from tests.live.chart import Pod, Rendered, needs_helm
from tests.scenario.serving import Serving

pytestmark = [
    needs_helm,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces"),
]

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-the-console"
# Folders of the host that the mounts of a pod stand in, and that of the tests' database.
STANDS_IN = ("/var/lib", "/run", "/srv")
SOCKETS = "/run/postgres"
# Run within the pod: asks until it is answered by what is wanted, and prints that.
ASK = """
import json, sys, time, urllib.error, urllib.request
address, body, wanted, token = sys.argv[1:]
until = time.monotonic() + 30
while True:
    request = urllib.request.Request(
        address, body.encode() or None,
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            told = answer.read().decode()
    except urllib.error.HTTPError as error:
        told = error.read().decode()
    except OSError as error:
        told = str(error)
    if wanted in told or time.monotonic() > until:
        print(told)
        break
    time.sleep(0.1)
"""


@dataclass(frozen=True)
class Running:
    """A pod at work; it has a network of its own, so what asks it has to be in it."""

    pod: Pod
    serving: Serving

    def answer(self, path: str, wanted: str, body: str = "") -> str:
        """The answer at a path, once it has ``wanted`` in it; an error after 30 s."""
        (port,) = self.pod.container["ports"]
        address = f"http://127.0.0.1:{port['containerPort']}{path}"
        command = ["nsenter", f"--net=/proc/{self.serving.pid}/ns/net", sys.executable, "-c", ASK]
        told = subprocess.run(
            [*command, address, body, wanted, TOKEN], capture_output=True, text=True, check=True
        ).stdout
        assert wanted in told, f"{told}\n{self.serving.said}"
        return told

    def probe(self) -> None:
        for name, wanted in (("startupProbe", "ok"), ("readinessProbe", '"ready"')):
            self.answer(self.pod.container[name]["httpGet"]["path"], wanted)


@contextmanager
def running(
    pod: Pod, folder: Path, secrets: dict[str, str], *, sockets: str = ""
) -> Iterator[Running]:
    """Start a pod; it has to end by itself or in the time that Kubernetes would give it."""
    user = str(pod.spec["securityContext"]["runAsUser"])
    volumes = {each["name"]: folder / each["name"] for each in pod.spec["volumes"]}
    for place in volumes.values():
        place.mkdir(parents=True, exist_ok=True)
        os.chown(place, int(user), int(user))
    for path in pod.files():
        name = Path(path).name
        (volumes["secrets"] / name).write_text(secrets[name], encoding="utf-8")
    mounts = {
        each["mountPath"]: (str(volumes[each["name"]]), each.get("readOnly", False))
        for each in pod.container["volumeMounts"]
    }
    if sockets:
        mounts[SOCKETS] = (sockets, False)
    security = pod.container["securityContext"]
    assert security["readOnlyRootFilesystem"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    log = folder / f"{pod.component}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                *("unshare", "--mount", "--net", "--propagation", "private"),
                *("sh", "-euc", _script(mounts, pod.container["workingDir"]), "sh"),
                *("setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
                *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"),
                *(sys.executable, "-m", "bot", *pod.container["args"]),
            ],
            env={**pod.environment, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    serving = Serving(process.pid, log, process.wait)
    while _network(process.pid) == _network(os.getpid()):  # else what enters it enters ours
        assert process.poll() is None, serving.said
        time.sleep(0.01)
    try:
        yield Running(pod, serving)
        assert serving.end() == 0, serving.said
    finally:
        if serving.alive:
            process.kill()
        process.wait()


def _network(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")


def _script(mounts: dict[str, tuple[str, bool]], working: str) -> str:
    """Makes the mounts of a pod, from a folder each and whether it is read-only, then runs what it
    is given."""
    kept = {path: f"/mnt/{at}" for at, path in enumerate(mounts)}
    lines = ["ip link set lo up", "mount -t tmpfs none /mnt"]  # holds what will be hidden
    for path, (folder, _) in mounts.items():
        lines += [f"mkdir {kept[path]}", f"mount --bind {shlex.quote(folder)} {kept[path]}"]
    python = Path(sys.base_prefix)
    if python.parts[1] == "root":  # where no other user may go
        lines += ["mkdir /mnt/python", f"mount --bind {python} /mnt/python"]
        lines += ["mount -t tmpfs -o mode=755 none /root", f"mkdir -p {python}"]
        lines.append(f"mount --bind /mnt/python {python}")
    is_hidden = any(ROOT.is_relative_to(path) for path in mounts)  # a clone in /tmp
    if is_hidden:
        lines += ["mkdir /mnt/root", f"mount --bind {shlex.quote(str(ROOT))} /mnt/root"]
    lines += [f"mount -t tmpfs -o mode=755 none {each}" for each in STANDS_IN]
    lines.append("mount -o remount,ro,bind /")
    for path, (_, is_read_only) in mounts.items():
        lines += [f"mkdir -p {path}", f"mount --bind {kept[path]} {path}"]
        if is_read_only:
            lines.append(f"mount -o remount,ro,bind {path}")
    if is_hidden:
        root = shlex.quote(str(ROOT))
        lines += [f"mkdir -p {root}", f"mount --bind /mnt/root {root}"]
    lines += [f"mount -o remount,ro {each}" for each in STANDS_IN]
    return "\n".join([*lines, f"cd {working}", 'exec "$@"'])


def test_one_pod_with_sqlite_becomes_ready_and_ends_in_time(tmp_path: Path) -> None:
    pod = Rendered.of({}).pods["listener"]
    with running(pod, tmp_path, {"FOOTNOTE_CONSOLE_TOKEN": TOKEN}) as listener:
        listener.probe()
        assert (tmp_path / "data" / "footnote.sqlite").exists()


def test_a_question_is_taken_by_a_listener_and_answered_by_a_worker(
    postgres: Postgres, tmp_path: Path
) -> None:
    """After the job has made the tables of an empty database."""
    url = postgres.fresh()
    sockets = Path(url.partition("host=")[2])
    sockets.chmod(sockets.stat().st_mode | 0o011)
    values: dict[str, Any] = {
        "secrets": {"FOOTNOTE_DATABASE_URL": {"name": "database", "key": "uri"}},
        "documents": {"existingClaim": "documents"},
    }
    secrets = {
        "FOOTNOTE_CONSOLE_TOKEN": TOKEN,
        "FOOTNOTE_DATABASE_URL": url.replace(str(sockets), SOCKETS),
    }
    chart = Rendered.of(values).pods

    def start(component: str) -> Any:
        folder = tmp_path / component
        (folder / "documents").mkdir(parents=True)
        (folder / "documents" / "leave.md").write_text(
            "# Leave\n\nEvery employee has thirty days of leave a year.\n", encoding="utf-8"
        )
        return running(chart[component], folder, secrets, sockets=str(sockets))

    with start("migrate") as migrating:
        assert migrating.serving.wait() == 0, migrating.serving.said
    with start("listener") as listener, start("worker") as worker:
        listener.probe()
        worker.probe()
        asked = json.dumps({"question": "How many days of leave does an employee have?"})
        run = json.loads(listener.answer("/api/questions", '"run"', asked))["run"]
        answer = json.loads(listener.answer(f"/api/runs/{run}", '"answered"'))
        assert "thirty days" in answer["answer"]["answer"]
        assert worker.serving.alive

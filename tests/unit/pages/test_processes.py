"""Memory limits of Footnote's own processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.processes import data_of, memory_below, text_of

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells and limits this")


@LINUX
def test_the_peak_of_a_process_is_its_own_and_not_that_of_its_parent() -> None:
    large = "x = bytearray(300_000_000); import subprocess, sys; subprocess.run(sys.argv[1:])"
    peak = "from bot.pages.processes import peak_memory; print(peak_memory())"
    command = [sys.executable, "-c", large, sys.executable, "-c", peak]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 1_000_000 < int(told.stdout) < 100_000_000


@LINUX
def test_memory_beyond_the_limit_is_refused() -> None:
    body = (
        "from bot.pages.processes import limit_memory; limit_memory(100_000_000)\n"
        "try: bytearray(200_000_000)\n"
        "except MemoryError: print('refused')"
    )
    told = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, check=True)
    assert told.stdout == "refused\n"


@LINUX
def test_the_memory_of_all_processes_below_one_is_known() -> None:
    code = "x = bytearray(b'1' * 60_000_000); print(flush=True); input()"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    before = memory_below(os.getpid())
    with subprocess.Popen(
        [sys.executable, "-c", inner], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        grown = memory_below(os.getpid()) - before
        process.stdin.close()
    assert 60_000_000 < grown < 300_000_000


@given(st.text(st.characters(), max_size=50))
def test_a_text_goes_through_a_message_as_it_is(text: str) -> None:
    assert text_of(data_of(text)) == text


@pytest.mark.parametrize("data", [b"", b"x", b"a\xff", b"u\x00", b"words"])
def test_data_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        text_of(data)


def test_the_processes_that_index_documents_load_nothing_heavy() -> None:
    # Their memory is limited: what they load before the first document is lost for all documents.
    heavy = "{'pydantic', 'asyncio', 'email', 'httpx2', 'sqlalchemy'}"
    loads = "import sys, bot.pages.tasks, bot.search.document_reading"
    code = f"{loads}; sys.exit(' '.join({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.stderr.strip() == ""

"""The format of log lines, and the values by which those of a run are found."""

from __future__ import annotations

import asyncio
import json

import pytest

from bot.core.logs import Format, about, announce, configure_logging, get_logger, work_on

log = get_logger()


def written(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("format", ["json", "logfmt", "auto"])
def test_a_start_is_a_line_of_the_log_at_every_level(
    capsys: pytest.CaptureFixture[str], format: Format
) -> None:
    configure_logging("error", format)
    announce("slack is connected.")
    log.warning("not told at this level")
    (line,) = written(capsys)
    if format == "json":
        told = json.loads(line)
        assert (told["event"], told["level"]) == ("slack is connected.", "info")
    else:  # what captures it is no terminal
        assert 'event="slack is connected."' in line


def test_a_start_is_told_to_a_person_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "console")
    announce("slack is connected.")
    log.info("claimed", run="r1")
    start, line = written(capsys)
    assert start == "slack is connected."
    assert "claimed" in line
    assert "r1" in line


async def test_lines_of_runs_at_the_same_time_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "json")

    async def work(run_id: str) -> None:
        work_on(about(run_id, f"slack:T1:C1:{run_id}", "T1", 2))
        await asyncio.sleep(0)
        log.info("posted")
        await asyncio.to_thread(log.info, "ended", state="answered")

    await asyncio.gather(asyncio.create_task(work("r1")), asyncio.create_task(work("r2")))
    log.info("between runs")
    *lines, last = [json.loads(line) for line in written(capsys)]
    assert sorted((line["run"], line["event"]) for line in lines) == [
        (run_id, event) for run_id in ("r1", "r2") for event in ("ended", "posted")
    ]
    assert {(line["workspace"], line["attempt"]) for line in lines} == {("T1", 2)}
    threads = {line["run"]: line["thread"] for line in lines}
    assert len(set(threads.values())) == 2
    assert "C1" not in "".join(threads.values())
    assert "run" not in last

"""The web console as a newcomer meets it: `footnote serve` with nothing configured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.fakes.claude import Fail, Reply, researcher
from tests.fakes.postgres import Postgres
from tests.fakes.server import serve
from tests.scenario.browser import Browser
from tests.scenario.gate import Gate, until
from tests.scenario.places import KEYS, WHO
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_alone, start_forked


@pytest.fixture
def documented(footnote: Program, documents: Path) -> Program:
    """The program with documents, without any token."""
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents)}
    return footnote


@pytest.fixture
def thoughtful(documented: Program, gate: Gate) -> Iterator[Program]:
    """The same with Claude, who can be made to wait."""
    with serve(gate) as url:
        documented.settings |= {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url}
        yield documented


CALLS = 3  # that lead to an answer: understanding, a turn over what was opened, writing
Browse = Callable[[Serving], Browser]


@pytest.fixture
def browse() -> Iterator[Browse]:
    """Opens browsers, each at the first page of a console that takes questions."""
    with ExitStack() as stack:

        def open_browser(serving: Serving) -> Browser:
            browser = stack.enter_context(Browser(serving.http))
            # It shows pages before there is somebody who takes questions.
            until(lambda: browser.client.get("/readyz").is_success)
            browser.open("/")
            return browser

        yield open_browser


# ---------------------------------------------------------------- asking


def test_with_nothing_configured_a_question_and_its_follow_up_are_answered(
    browse: Browse, documented: Program
) -> None:
    with ending(start_alone(documented)) as serving:
        serving.until_said("The console is at http://127.0.0.1:")
        browser = browse(serving)
        browser.ask(KEYS)
        assert "90 days" in browser.until("Sources").text
        browser.ask(WHO)
        page = browser.until("rotated every 90 days by the security team")
        assert page.text.count("How was this answered?") == 2
        assert KEYS in browse(serving).open("/").text  # in the list of conversations


def test_a_file_is_read_stays_at_hand_and_goes_with_its_question(
    fork_server: ForkServer, browse: Browse, documented: Program
) -> None:
    fountain = b"# Courtyard\n\nThe fountain is drained every November by Olga Petrova.\n"
    with ending(
        start_forked(fork_server, documented, **{"bot.operation.app.PAGE_TTL": "0"})
    ) as serving:
        browser = browse(serving)
        browser.ask("Who drains the fountain in the courtyard?", {"yard.md": fountain})
        assert "Olga Petrova" in browser.until("Sources").text
        browser.ask("When is the fountain drained?")  # the file is ticked
        assert (
            browser.until("November by").text.count("yard.md") == 5
        )  # two questions, their cards, and the box
        browser.ask("Shorter please", again=[])
        page = browser.until("How was this answered?")
        assert page.text.count("How was this answered?") == 3
        assert "could not read" not in page.text
        kept = browser.client.get(next(link for link in page.links if "/files/" in link))
        assert kept.content == fountain
        browser.press("/delete")
        assert browser.client.get(kept.url).status_code == 404


def test_what_the_form_for_corrections_sends_is_one_in_any_language(
    fork_server: ForkServer, documented: Program
) -> None:
    with ending(start_forked(fork_server, documented)) as serving:
        until(lambda: httpx.get(f"{serving.http}/readyz").is_success)
        with Browser(serving.http, **{"Accept-Language": "de"}) as browser:
            browser.open("/")
            browser.ask(KEYS)
            browser.until("90 days")
            browser.ask("Who repairs the elevator?")
            browser.until("Who repairs the elevator?")
            browser.press("/ask", question="Seit Mai sind es 45 Tage.")
            browser.until(f"Notiert zu „{KEYS}“: Seit Mai sind es 45 Tage.")
            browser.open("/")
            browser.ask(KEYS)
            assert "Seit Mai sind es 45 Tage." in browser.until("90 days").text


# ---------------------------------------------------------------- what failed, tried again


@pytest.mark.parametrize(
    ("end", "repeated"),
    [
        (Fail(401, type="authentication_error"), 1),
        (Reply((), stop_reason="refusal"), CALLS),  # what was recorded is what failed
    ],
    ids=["a call that failed", "a reply that is no answer"],
)
def test_what_is_tried_again_repeats_only_what_failed(
    fork_server: ForkServer,
    browse: Browse,
    thoughtful: Program,
    gate: Gate,
    end: Fail | Reply,
    repeated: int,
) -> None:
    def until_writing(request: Mapping[str, Any]) -> Fail | Reply:
        return researcher(request) if len(gate.research) < CALLS else end

    gate.claude.use(until_writing)
    with ending(start_forked(fork_server, thoughtful)) as serving:
        browser = browse(serving)
        browser.ask(KEYS)
        browser.until("Try again")
        assert len(gate.research) == CALLS
        gate.claude.use(researcher)
        browser.press("/edit", regenerate="1")
        browser.until("90 days")
        assert len(gate.research) == CALLS + repeated


# ---------------------------------------------------------------- crashes and other processes


def test_a_killed_console_goes_on_where_it_was_and_answers_once(
    fork_server: ForkServer, browse: Browse, thoughtful: Program, gate: Gate
) -> None:
    gate.hold(after=1)
    with ending(start_forked(fork_server, thoughtful)) as serving:
        browser = browse(serving)
        browser.ask(KEYS)
        gate.wait_held()
        with browser.following_thread() as told:
            serving.kill()
        assert told.ended
    gate.release()
    with ending(start_forked(fork_server, thoughtful)) as serving:
        again = browse(serving)
        again.path = browser.path
        page = again.until("90 days")
        assert page.text.count("How was this answered?") == 1


def test_a_worker_answers_what_was_asked_at_a_console_that_only_listens(
    fork_server: ForkServer, browse: Browse, thoughtful: Program, gate: Gate, postgres: Postgres
) -> None:
    thoughtful.settings |= {"FOOTNOTE_DATABASE_URL": postgres.migrated()}
    gate.hold(after=1)
    with (
        ending(start_forked(fork_server, thoughtful, "--no-work")) as listener,
        ending(start_forked(fork_server, thoughtful, command="worker")) as worker,
    ):
        worker.until_said("Working on questions from web")
        browser = browse(listener)
        browser.ask(KEYS)
        with browser.following_thread() as told:
            gate.wait_held()
            told.until("data-id")  # a step of the plan
            gate.release()
            assert told.until("90 days")["run"]
        browser.until("90 days")
        with browse(listener).following(f"{browser.path}/events") as told:
            assert told.kinds() == []  # nothing is news of what is over
        assert browser.reload().text.count("How was this answered?") == 1


# ---------------------------------------------------------------- who comes in


def test_without_a_platform_and_without_the_console_serve_says_what_to_set(
    fork_server: ForkServer, footnote: Program
) -> None:
    with ending(start_forked(fork_server, footnote, FOOTNOTE_CONSOLE="off")) as program:
        assert program.wait() == 2
        assert "SLACK_BOT_TOKEN" in program.said
        assert "DISCORD_TOKEN" in program.said


def test_an_open_console_is_refused(fork_server: ForkServer, footnote: Program) -> None:
    with ending(start_forked(fork_server, footnote, FOOTNOTE_HTTP_HOST="0.0.0.0")) as program:
        assert program.wait() == 2
        assert "FOOTNOTE_CONSOLE_TOKEN" in program.said


def test_a_token_is_asked_for_once(
    fork_server: ForkServer, browse: Browse, documented: Program
) -> None:
    token = "a-token-of-the-tests"
    with ending(start_forked(fork_server, documented, FOOTNOTE_CONSOLE_TOKEN=token)) as serving:
        browser = browse(serving)
        assert "Sign in" in browser.reload().text
        wrong = browser.client.post("/sign-in", data={"token": "wrong", "to": "/"})
        assert wrong.status_code == 403
        browser.client.post("/sign-in", data={"token": token, "to": "/"})
        assert "Ask, and get an answer you can check" in browser.open("/").text
        api = f"{serving.http}/api/questions"
        asked = {"json": {"question": KEYS}, "timeout": 30}
        assert httpx.post(api, **asked).status_code == 401  # type: ignore[arg-type]
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.post(api, headers=headers, **asked).status_code == 202  # type: ignore[arg-type]
        assert token not in serving.said


# ---------------------------------------------------------------- for programs


@pytest.mark.slow
def test_the_api_does_what_its_description_says(
    fork_server: ForkServer, browse: Browse, documented: Program
) -> None:
    many = {"adapters.web.console.QUESTIONS": "100000"}
    with (
        ending(start_forked(fork_server, documented, **many)) as serving,
        requests.Session() as session,
    ):
        browser = browse(serving)
        browser.ask(KEYS)
        browser.until("90 days")
        thread = browser.path.rpartition("/")[2]
        names = {"run": _runs_of(serving, thread)[0], "thread": thread}
        schema = schemathesis.openapi.from_url(f"{serving.http}/api/openapi.json")
        tried = 0
        for found in schema.get_all_operations():
            operation = found.ok()  # type: ignore[union-attr]
            tried += 1

            @settings(
                max_examples=12,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(), is_there=st.booleans())
            def holds(case: schemathesis.Case[Any], is_there: bool) -> None:
                if is_there:
                    for name in case.path_parameters:
                        case.path_parameters[name] = names[name]
                # A question of nothing but signs is none, which no schema can say.
                case.call_and_validate(session=session, excluded_checks=[positive_data_acceptance])

            holds()
        assert tried == 5


def _runs_of(serving: Serving, thread: str) -> list[str]:
    told = httpx.get(f"{serving.http}/api/threads/{thread}").json()
    return [run["run"] for run in told["runs"]]

"""Shows plans and answers. Only on a terminal does it need ``screen`` with rich, whose import takes
50 ms."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from adapters.terminal.plain import answer_json, bare, ended_lines, plain
from bot.core.errors import FootnoteError, PageUnreadable, Unavailable
from bot.core.messages import Answer, Attachment, Message, PlanView
from bot.core.posting import PostState, Reply, RunRef
from bot.text.terms import without_controls

if TYPE_CHECKING:
    from adapters.terminal.screen import LivePlan


class TerminalPoster:
    """Shows the runs in ``shown``, and keeps the answers of all runs of this terminal.

    People see the plan and the answer as text, on a terminal formatted; ``as_json`` prints the
    answer as JSON, also of a run that failed.
    """

    amends = False

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.shown: set[str] = set()
        self.answers: dict[str, Answer] = {}
        self.failures: dict[str, FootnoteError] = {}

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        return TerminalReply(self, run.id)

    async def queued(self, run: RunRef, ahead: int) -> None:
        self.tell("Your question waits for the one before it.")

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        """Do nothing: printed text stays printed."""

    async def history(self, run: RunRef) -> Sequence[Message]:
        return ()  # in a terminal, everything is addressed to Footnote

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        raise PageUnreadable(f"{attachment.name} cannot be read: use --docs to have files read.")

    def keep(self, run_id: str, answer: Answer, error: FootnoteError | None = None) -> None:
        """Keep a run's answer and print it; of a failed run print the error, and the answer only as
        JSON; of another run only a note, and its error."""
        self.answers[run_id] = answer
        if error is not None:
            self.failures[run_id] = error
        if run_id not in self.shown:
            self.tell(f"Finished run {run_id}, an earlier question that was interrupted.")
        elif error is None or self.as_json:
            self.show(answer)
        if error is not None:
            self.complain(error)

    def tell(self, sentence: str) -> None:
        """Print a remark on stderr."""
        typer.secho(without_controls(sentence, " "), dim=True, err=True)

    def complain(self, error: FootnoteError) -> None:
        """Print an error and what to do on stderr."""
        typer.secho(without_controls(error.sentence, " "), fg="red", err=True)

    def show(self, answer: Answer) -> None:
        """Print a finished answer to stdout.

        Raises ``Unavailable`` if stdout cannot be written. A closed pipe is not an error.
        """
        try:
            if self.as_json:
                sys.stdout.write(answer_json(answer) + "\n")
            elif sys.stdout.isatty():
                from adapters.terminal.screen import print_answer

                print_answer(answer)
            else:
                sys.stdout.write(f"{plain(answer)}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            # Python's buffered output has no reader either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            raise Unavailable(
                f"The answer could not be written: {error.strerror}. It is kept; ask the same "
                "question again to have it.",
                detail=str(error),
            ) from error


class TerminalReply:
    """The reply of one run: a plan that is updated in place where stderr is a terminal, else each
    step that has ended on a line of its own."""

    def __init__(self, poster: TerminalPoster, run_id: str) -> None:
        self._poster = poster
        self._run_id = run_id
        self._told: set[str] = set()
        self._closed = False
        self._live: LivePlan | None = None
        if sys.stderr.isatty() and not poster.as_json:
            from adapters.terminal.screen import LivePlan

            self._live = LivePlan()

    def progress(self, plan: PlanView) -> None:
        if self._closed:
            return
        if self._live is not None:
            self._live.steps = plan.steps
            return
        for id, line in ended_lines(plan.steps):
            if id not in self._told:
                self._told.add(id)
                self._poster.tell(bare(line))

    def stream(self, text: str) -> None:
        if self._live is not None:
            self._live.text = text

    async def finish(self, answer: Answer) -> None:
        self._close()
        self._poster.keep(self._run_id, answer)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        self._close()
        self._poster.keep(self._run_id, answer, error)

    async def abandon(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._live is not None and not self._closed:
            self._live.close()
        self._closed = True

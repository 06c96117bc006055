"""Posting for ``ask --json``: the answer as JSON on stdout, all else as plain lines on stderr.

Starts without rich, whose import takes some 50 ms.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from adapters.terminal.plain_text import Line, answer_json, bare, ended_lines
from bot.answers import Answer, PlanView
from bot.errors import FootnoteError, PageUnreadable, Unavailable
from bot.messages import Attachment, Message
from bot.posting import PostState, Reply, RunRef
from bot.text.control import without_controls


class JsonPoster:
    """Shows the runs of this terminal that are in ``shown``, and keeps the answers of all."""

    amends = False

    def __init__(self) -> None:
        self.shown: set[str] = set()
        self.answers: dict[str, Answer] = {}
        self.failures: dict[str, FootnoteError] = {}

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        return JsonReply(self, run.id)

    async def queued(self, run: RunRef, ahead: int) -> None:
        self.tell("Your question waits for the one before it.")

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        """Do nothing: printed text stays printed."""

    async def history(self, run: RunRef) -> Sequence[Message]:
        return ()  # all that is said in a terminal is said to Footnote

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        raise PageUnreadable(f"{attachment.name} cannot be read: use --docs to have files read.")

    def keep(self, run_id: str, answer: Answer) -> None:
        """An answer is there: show it, or only say so."""
        self.answers[run_id] = answer
        if run_id in self.shown:
            self.show(answer)
        else:
            self.tell(f"Finished run {run_id}, an earlier question that was interrupted.")

    def fail(self, run_id: str, answer: Answer, error: FootnoteError) -> None:
        """There is no answer, but what says why."""
        self.failures[run_id] = error
        self.keep(run_id, answer)
        self.complain(error)

    def tell(self, sentence: str) -> None:
        """A remark beside the answer, on stderr."""
        sys.stderr.write(f"{without_controls(sentence, ' ')}\n")

    def tell_step(self, line: Line) -> None:
        """A step that has ended."""
        self.tell(bare(line))

    def complain(self, error: FootnoteError) -> None:
        """Print an error and what to do on stderr."""
        self.tell(error.sentence)

    def show(self, answer: Answer) -> None:
        """Print a finished answer to stdout.

        Raises ``Unavailable`` when that cannot be written to. A reader that has gone has seen
        what it wanted.
        """
        try:
            self._print(answer)
            sys.stdout.flush()
        except BrokenPipeError:
            # What Python still holds back has no reader either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            raise Unavailable(
                f"The answer could not be written: {error.strerror}. It is kept; ask the same "
                "question again to have it.",
                detail=str(error),
            ) from error

    def _print(self, answer: Answer) -> None:
        sys.stdout.write(answer_json(answer) + "\n")


class JsonReply:
    """One answer being awaited; each step that has ended is a line on stderr."""

    def __init__(self, poster: JsonPoster, run_id: str) -> None:
        self._poster = poster
        self._run_id = run_id
        self._told: set[str] = set()
        self._closed = False

    def progress(self, plan: PlanView) -> None:
        for id, line in ended_lines(plan.steps):
            if not self._closed and id not in self._told:
                self._told.add(id)
                self._poster.tell_step(line)

    def stream(self, text: str) -> None:
        """The answer is printed whole."""

    async def finish(self, answer: Answer) -> None:
        self._close()
        self._poster.keep(self._run_id, answer)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        self._close()
        self._poster.fail(self._run_id, answer, error)

    async def abandon(self) -> None:
        self._close()

    def _close(self) -> None:
        self._closed = True

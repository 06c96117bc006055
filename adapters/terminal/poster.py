"""The terminal's way out: shows the plan while a run works, then the cited answer.

The answer goes to stdout, everything else to stderr. Where stdout is not a terminal the answer is
plain Markdown; where stderr is not one, each finished step is one line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from adapters.terminal.format import answer_json, ended_lines, plain, plan_lines, rendered
from bot.answers import Answer, PlanView, StepView
from bot.errors import FootnoteError, PageUnreadable, Unavailable
from bot.messages import Attachment, Message
from bot.posting import PostState, RunRef
from bot.research.verbatim import as_words
from bot.text.control import without_controls

REFRESH_PER_SECOND = 12
TEXT_LINES = 12  # of an answer being written; only its end fits above the prompt


class TerminalPoster:
    """Shows the runs of this terminal that are in ``shown``, and keeps the answers of all."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.out = Console(highlight=False, soft_wrap=False)
        self.err = Console(stderr=True, highlight=False)
        self.shown: set[str] = set()
        self.answers: dict[str, Answer] = {}
        self.failures: dict[str, FootnoteError] = {}
        self._as_json = as_json

    async def open(self, run: RunRef, saved: PostState | None) -> TerminalReply:
        return TerminalReply(self, run.id, self._as_json)

    async def queued(self, run: RunRef, ahead: int) -> None:
        self.tell("Your question waits for the one before it.")

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        """What was printed stays printed."""

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

    def tell(self, sentence: str) -> None:
        """A remark beside the answer, on stderr."""
        self.err.print(Text(sentence, style="dim"), soft_wrap=True)

    def complain(self, error: FootnoteError) -> None:
        """What went wrong and what to do, on stderr."""
        sentence = without_controls(error.sentence, " ")
        self.err.print(Text(sentence, style="red"), soft_wrap=True)

    def show(self, answer: Answer) -> None:
        """Print a finished answer to stdout.

        Raises ``Unavailable`` when that cannot be written to. A reader that has gone has seen
        what it wanted.
        """
        try:
            if self.out.is_terminal and not self._as_json:
                self.out.print(rendered(answer))
            else:
                text = answer_json(answer) if self._as_json else plain(answer)
                self.out.file.write(text + "\n")
            self.out.file.flush()
        except BrokenPipeError:
            # What Python still holds back has no reader either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.out.file.fileno())
        except OSError as error:
            raise Unavailable(
                f"The answer could not be written: {error.strerror}. It is kept; ask the same "
                "question again to have it.",
                detail=str(error),
            ) from error


class TerminalReply:
    """One answer being shown."""

    def __init__(self, poster: TerminalPoster, run_id: str, as_json: bool) -> None:
        self._poster = poster
        self._run_id = run_id
        self._as_json = as_json
        self._plan: tuple[StepView, ...] = ()
        self._told: set[str] = set()
        self._text = ""
        self._closed = False
        self._live: Live | None = None
        if poster.err.is_terminal and not as_json:
            self._live = Live(
                get_renderable=self._working,
                console=poster.err,
                refresh_per_second=REFRESH_PER_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def progress(self, plan: PlanView) -> None:
        if self._closed:
            return
        self._plan = plan.steps
        if self._live is None:
            for id, line in ended_lines(plan.steps):
                if id not in self._told:
                    self._told.add(id)
                    self._poster.err.print(line, soft_wrap=True)

    def stream(self, text: str) -> None:
        self._text = text

    async def finish(self, answer: Answer) -> None:
        self._close()
        self._poster.keep(self._run_id, answer)

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        self._close()
        self._poster.failures[self._run_id] = error
        if self._as_json:
            self._poster.keep(self._run_id, answer)
        else:
            self._poster.answers[self._run_id] = answer
        self._poster.complain(error)

    async def abandon(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._live is not None:
            self._live.stop()
            self._live = None
            self._poster.err.print(Group(*(line for line, _ in plan_lines(self._plan))))

    def _working(self) -> RenderableType:
        lines: list[RenderableType] = [
            Spinner("dots", line) if running else line for line, running in plan_lines(self._plan)
        ]
        if self._text:
            last = as_words(self._text).splitlines()[-TEXT_LINES:]
            lines += [Text(), Text("\n".join(last), style="dim")]
        return Group(*lines)

"""The terminal's way out: shows the plan while a run works, then the cited answer.

The answer goes to stdout, everything else to stderr. Where stdout is not a terminal the answer is
plain Markdown; where stderr is not one, each finished step is one line.
"""

from __future__ import annotations

import sys

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from adapters.terminal.format import plan_lines, rendered, text_of
from adapters.terminal.json_poster import JsonPoster, JsonReply
from adapters.terminal.plain_text import Line, plain
from bot.answers import Answer, PlanView, StepView
from bot.errors import FootnoteError
from bot.posting import PostState, RunRef
from bot.rendering.verbatim import as_words
from bot.text.control import without_controls

REFRESH_PER_SECOND = 12
TEXT_LINES = 12  # of an answer being written; only its end fits above the prompt


class TerminalPoster(JsonPoster):
    """Shows plan and answer for a person."""

    def __init__(self) -> None:
        super().__init__()
        self.out = Console(highlight=False, soft_wrap=False)
        self.err = Console(stderr=True, highlight=False)

    async def open(self, run: RunRef, saved: PostState | None) -> TerminalReply:
        return TerminalReply(self, run.id)

    def fail(self, run_id: str, answer: Answer, error: FootnoteError) -> None:
        self.failures[run_id] = error
        self.answers[run_id] = answer
        self.complain(error)

    def tell(self, sentence: str) -> None:
        self.err.print(Text(sentence, style="dim"), soft_wrap=True)

    def tell_step(self, line: Line) -> None:
        self.err.print(text_of(line), soft_wrap=True)

    def complain(self, error: FootnoteError) -> None:
        sentence = without_controls(error.sentence, " ")
        self.err.print(Text(sentence, style="red"), soft_wrap=True)

    def _print(self, answer: Answer) -> None:
        if self.out.is_terminal:
            self.out.print(rendered(answer))
        else:
            sys.stdout.write(f"{plain(answer)}\n")


class TerminalReply(JsonReply):
    """One answer being shown; where lines can be drawn over, its plan is one picture."""

    def __init__(self, poster: TerminalPoster, run_id: str) -> None:
        super().__init__(poster, run_id)
        self._plan: tuple[StepView, ...] = ()
        self._text = ""
        self._console = poster.err
        self._live: Live | None = None
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._working,
                console=self._console,
                refresh_per_second=REFRESH_PER_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def progress(self, plan: PlanView) -> None:
        if self._live is not None:
            self._plan = plan.steps
        else:
            super().progress(plan)

    def stream(self, text: str) -> None:
        self._text = text

    def _close(self) -> None:
        super()._close()
        if self._live is not None:
            self._live.stop()
            self._live = None
            self._console.print(Group(*(line for line, _ in plan_lines(self._plan))))

    def _working(self) -> RenderableType:
        lines: list[RenderableType] = [
            Spinner("dots", line) if running else line for line, running in plan_lines(self._plan)
        ]
        if self._text:
            last = as_words(self._text).splitlines()[-TEXT_LINES:]
            lines += [Text(), Text("\n".join(last), style="dim")]
        return Group(*lines)
